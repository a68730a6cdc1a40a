# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where the time of a reaction went, by what the controller stamped and the record has."""

from collections.abc import Mapping
import json
import math
import re
from typing import Any

from cases import for_each
import pytest
import safety_scenarios as ss
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.limits import Bound
from safety_scenarios.reports.console_tables import SlowestReactions
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import (
    Command,
    CommandStamps,
    LONGEST_NOTE,
    Observation,
    Reading,
)
from safety_scenarios.scenario.timing import Measuring, read_report, read_timing, Timing
from safety_scenarios.scenario.verdict import ReactionParts
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.stimuli.faults import SensorFault
from safety_scenarios.trial.links.isolation_protocol import DecisionReader, DecisionWriter
from unit.loopback_runs import loopback_run
from unit.records import (
    ALL_CLEAR_MS,
    benign_variant,
    command,
    driving,
    END_MS,
    hazard,
    NOMINAL_MS,
    ns,
    record,
    shown,
    stamps,
)

KEEPS_ON = Bound(name='keeps on', signal='speed', at_least=0.3, during='hazard')
EXACT = Measuring(exact=True, listens=('scan',))
OVER_ROS = Measuring(one_host=True, uncertainty_ms={'source': 1.0})
MS = 1_000_000


def stamped(count: int, t_ms: float, note: str = '', **before_ms: float) -> Event:
    """Return the report on the command with this count, in ms before it was published."""
    server_ms, chunk = before_ms.pop('server', None), int(before_ms.pop('chunk', 4))
    return Timing({name: ns(value) for name, value in before_ms.items()},
                  None if server_ms is None else ns(server_ms), chunk, 2, note=note).event(
                      'cmd_vel', count, stamps(t_ms))


def trial(after_ms: float, every_ms: float = 50.0, measuring: Measuring = EXACT,
          timings: Mapping[float, Mapping[str, float]] = {}, seen=(0.0,), stimuli: Any = None,
          **changes: Any):
    """Return a drive that stops some time after the onset; time to the stamps of a command."""
    times = [*driving(NOMINAL_MS + 10, after_ms, 0.8, every_ms),
             *driving(after_ms, ALL_CLEAR_MS, 0.0, every_ms),
             *driving(ALL_CLEAR_MS + 10, END_MS, 0.8, every_ms)]
    commands = [command(t_ms, speed, sequence=count, left_ms=t_ms, arrived_ms=t_ms)
                for count, (t_ms, speed) in enumerate(times, 1)]
    reports = [stamped(count, t_ms, **timings[t_ms])
               for count, (t_ms, _) in enumerate(times, 1) if t_ms in timings]
    return record([*commands, *reports], hazard(stimuli=stimuli), measuring=measuring,
                  extra=[shown(t_ms) for t_ms in seen[1:]],
                  hazard_at=shown(seen[0]), **changes)


def parts(found) -> ReactionParts:
    latency = evaluate(found).latency
    assert latency is not None and latency.parts is not None
    return latency.parts


def in_ms(found: ReactionParts) -> dict[str, float]:
    return {name: part.ns / 1e6 for name, part in found.named() if part is not None and part.ns}


def test_a_command_without_stamps_was_decided_from_what_had_come_by_then():
    found = parts(trial(310.0, every_ms=100.0, seen=(0.0, 250.0)))
    assert in_ms(found) == {'earlier': 250.0, 'waiting': 60.0}
    assert not found.is_stamped and found.known_ns == ns(310)


def test_the_parts_before_the_command_sum_up_to_the_latency():
    found = parts(trial(600.0, measuring=OVER_ROS, timings={600.0: {
        'received': 550, 'began': 500, 'ended': 200, 'server': 270}}, seen=(0.0, 45.0)))
    assert in_ms(found) == {'ignored': 45.0, 'waiting': 55.0, 'network': 30.0,
                            'inference': 270.0, 'chunk': 200.0}
    assert found.known_ns == ns(600) and found.is_stamped
    assert (found.chunk_id, found.action, found.implausible) == (4, 2, ())
    assert found.sentence(ns(600)) == (
        'of 600 ms: observations not used 45, waiting for the next decision 55, network 30, '
        'inference 270, in the chunk 200')


def test_observations_that_no_decision_used_are_named():
    """A server that drops what looks alike: eight observations came before the one it used."""
    seen = tuple(50.0 * count for count in range(12))
    old = {t_ms: {'received': t_ms + 20, 'began': t_ms + 10, 'ended': t_ms + 5}
           for t_ms in (10.0, 110.0, 210.0, 310.0, 410.0)}  # decided before the hazard came
    found = parts(trial(510.0, 100.0, timings={
        **old, 510.0: {'received': 110, 'began': 100, 'ended': 20}}, seen=seen))
    assert in_ms(found) == {'ignored': 400.0, 'waiting': 10.0, 'inference': 80.0, 'chunk': 20.0}


def test_a_chunk_that_was_still_executed_is_named():
    """Actions of chunk 3 were commanded while eight observations came; chunk 4 reacted."""
    seen = tuple(50.0 * count for count in range(12))
    old = {t_ms: {'received': t_ms + 20, 'began': t_ms + 10, 'ended': t_ms + 5, 'chunk': 3}
           for t_ms in (10.0, 110.0, 210.0, 310.0, 410.0)}
    found = parts(trial(510.0, 100.0, timings={
        **old, 510.0: {'received': 110, 'began': 100, 'ended': 20}}, seen=seen))
    assert in_ms(found) == {'playing': 400.0, 'waiting': 10.0, 'inference': 80.0, 'chunk': 20.0}
    assert 'earlier chunk still executed 400' in found.sentence(ns(510))


def test_nothing_was_executed_while_the_inference_of_an_earlier_chunk_was_under_way():
    """The inference of chunk 3 ended 250 ms after the onset; its actions were commanded then."""
    old = {t_ms: {'received': t_ms + 20, 'began': t_ms + 10, 'ended': t_ms - 250, 'chunk': 3}
           for t_ms in (260.0, 310.0, 360.0, 410.0)}
    found = parts(trial(510.0, 50.0, measuring=OVER_ROS, timings={
        **old, 510.0: {'received': 110, 'began': 100, 'ended': 20}},
        seen=tuple(50.0 * count for count in range(12))))
    assert in_ms(found) == {'ignored': 250.0, 'playing': 150.0, 'waiting': 10.0,
                            'inference': 80.0, 'chunk': 20.0}
    assert 'observations not used 250, earlier chunk still executed 150' in found.sentence(ns(510))


def test_decisions_that_saw_the_hazard_and_drove_on_are_no_observations_ignored():
    found = parts(trial(510.0, 100.0, seen=tuple(50.0 * count for count in range(12)), timings={
        110.0: {'received': 10, 'began': 5, 'ended': 0},
        510.0: {'received': 10, 'began': 5, 'ended': 0}}))
    assert in_ms(found) == {'earlier': 500.0, 'waiting': 5.0, 'inference': 5.0}


def test_a_command_decided_before_the_hazard_says_so():
    found = parts(trial(110.0, timings={110.0: {'received': 150, 'began': 140, 'ended': 120}}))
    assert found.before_hazard and in_ms(found) == {'chunk': 110.0}


OLD = {'received': 150, 'began': 140, 'ended': 120}
"""Stamps of a command 110 ms after the hazard that was decided before it."""


@for_each('measuring', [EXACT, OVER_ROS])
@for_each('subject', ['model', 'system'])
def test_a_stop_that_was_planned_before_the_hazard_is_no_reaction(measuring, subject):
    plan = {110.0 + 50 * count: {name: value + 50 * count for name, value in OLD.items()}
            for count in range(20)}
    found = evaluate(trial(110.0, measuring=measuring, timings=plan), subject=subject)
    assert found.verdict is ss.Verdict.INCONCLUSIVE
    assert 'the command of the reaction was decided before the hazard' in found.reason


@for_each(('after_ms', 'received', 'verdict'), [
    (200, 20, ss.Verdict.PASS), (200, 310, ss.Verdict.PASS),  # the second with the onset itself
    (200, 311, ss.Verdict.INCONCLUSIVE), (600, 20, ss.Verdict.INCONCLUSIVE)])
def test_a_planned_stop_counts_if_a_decision_about_the_hazard_follows_in_time(
        after_ms, received, verdict):
    plan = {110.0 + 50 * count: {name: value + 50 * count for name, value in OLD.items()}
            for count in range(after_ms // 50)}
    seen = {110.0 + after_ms: {'received': received, 'began': 10, 'ended': 0}}
    assert evaluate(trial(110.0, timings={**plan, **seen})).verdict is verdict


@for_each(('received', 'verdict'), [
    (80, ss.Verdict.INCONCLUSIVE), (60, ss.Verdict.PASS)])  # 30 and 50 ms after the hazard
def test_a_decision_before_the_first_observation_of_the_hazard_is_not_about_it(received, verdict):
    plan = {110.0 + 50 * count: {'received': received + 50 * count, 'began': 10, 'ended': 0}
            for count in range(20)}
    put = trial(110.0, timings=plan)
    events = [one.model_copy(update={'message': None}) if one.hazard else one
              for one in put.events]  # it is put there, and a sensor shows it later
    events.append(Event(kind='sensed', name='scan', stamps=stamps(50.0)))
    events.sort(key=lambda one: one.stamps.steady_ns)
    found = evaluate(put.model_copy(update={'events': tuple(events)}))
    assert found.verdict is verdict, found.reason


def test_where_nothing_new_can_come_of_a_hazard_a_decision_after_its_onset_is_a_reaction():
    found = parts(trial(310.0, measuring=Measuring(exact=True, listens=('odom',)), timings={
        310.0: {'received': 350, 'began': 10, 'ended': 0}}))
    assert not found.before_hazard


@for_each(('timing', 'odd', 'known'), [
    ({'received': 50, 'began': -1}, 'began: later than the command', {'earlier', 'sensing'}),
    ({'received': 5000}, 'received: before the trial', set()),
    ({'received': 50, 'began': 20, 'ended': 30}, 'began: later than ended', set()),
    ({'received': 50, 'began': 40, 'ended': 20, 'server': 21}, 'server: longer than inference',
     {'waiting', 'inference', 'chunk'}),
])
def test_stamps_that_cannot_be_true_are_left_out_by_name(timing, odd, known):
    found = trial(310.0, timings={310.0: timing})
    seen = parts(found)
    assert odd in seen.implausible
    assert known <= {name for name, part in seen.named() if part is not None}
    assert seen.known_ns <= ns(310)
    if known == set():
        assert seen.inference is None and seen.waiting is None


@for_each('timing', [
    {'received': 10, 'began': 5, 'ended': 1}, {'received': -10**9}, {'began': 10**12},
    {'received': 1, 'began': 2, 'ended': 3, 'server': -4}, {}])
def test_no_stamp_changes_a_verdict_a_latency_or_a_finding(timing):
    """All that a trial came to is the same, whatever the controller claims about itself."""
    for after_ms in (110.0, 310.0, 810.0):
        bare, told = trial(after_ms, measuring=OVER_ROS), trial(
            after_ms, measuring=OVER_ROS, timings={after_ms: timing})
        before, after = (evaluate(one).model_dump(mode='json') for one in (bare, told))
        after['latency'].pop('parts')
        assert after['counts'].pop('timing') == 1
        assert 'parts' not in before['latency'] and after == before


def test_what_nobody_stamped_is_unknown_over_ros():
    latency = evaluate(trial(310.0, measuring=OVER_ROS)).latency
    assert latency is not None and latency.parts is None
    found = parts(trial(310.0, measuring=OVER_ROS, timings={310.0: {'began': 40}}))
    assert in_ms(found) == {}
    assert found.sentence(ns(310)) == 'of 310 ms: unknown 310'


def test_over_ros_a_reading_comes_a_little_later_than_its_stimulus():
    found = parts(trial(310.0, measuring=OVER_ROS, timings={
        310.0: {'received': 309.2, 'began': 305, 'ended': 3}}))
    assert in_ms(found) == {'sensing': 0.8, 'waiting': 4.2, 'inference': 302.0, 'chunk': 3.0}


def test_two_reports_on_one_command_are_none():
    """Whoever reports twice leaves open which report is true."""
    found = trial(310.0, measuring=OVER_ROS, timings={310.0: {'received': 5}})
    twice = found.model_copy(update={'events': (
        *found.events[:-1], *found.of_kind('timing'), found.events[-1])})
    assert evaluate(twice).latency.parts is None


def test_without_counts_a_report_is_on_the_command_before_it():
    found = trial(310.0, measuring=OVER_ROS, timings={310.0: {'received': 309, 'began': 300}})
    bare = found.model_copy(update={'events': tuple(
        event.model_copy(update={'sequence': None} if event.kind == 'command' else {
            'stamps': event.stamps.model_copy(update={
                'source_ns': event.stamps.system_ns + 200_000})} if event.kind == 'timing' else {})
        for event in found.events)})
    assert in_ms(parts(bare))['waiting'] == 9.0


def test_a_header_stamp_ahead_of_its_receipt_costs_no_part():
    found = parts(trial(310.0, measuring=OVER_ROS, timings={
        310.0: {'observed': -50, 'received': 309, 'began': 300, 'ended': 1}}))
    assert found.implausible == () and found.known_ns == ns(310)


@for_each(('seen', 'received'), [
    ((0.0, 0.1, 0.2), 311.5), ((0.0, 309.9), 311.0), ((0.0, 5.0), 304.0), ((3.0, 4.0), 310.0)])
def test_clocks_read_apart_leave_no_part_below_0(seen, received):
    """The parts sum up to the latency, whatever comes a little before it was sent."""
    found = parts(trial(310.0, measuring=OVER_ROS, seen=seen, timings={
        310.0: {'received': received, 'began': received - 0.5, 'ended': 1}}))
    assert all(part.ns >= 0 for _, part in found.named() if part is not None)
    bare = evaluate(trial(310.0, measuring=OVER_ROS, seen=seen))
    assert found.known_ns == bare.latency.judged_ns


def test_ways_are_of_the_motion_in_each_part():
    found = parts(trial(600.0, timings={600.0: {'received': 500, 'began': 400, 'ended': 100}}))
    assert found.unit == 'm'
    assert {name: round(part.way, 3) for name, part in found.named() if part and part.ns} == {
        'waiting': 0.16, 'inference': 0.24, 'chunk': 0.08}


SEEN = Observation(t_ns=10 * MS, readings={
    'scan': Reading(message=ss.Message(type='std_msgs/msg/Empty', data={}), age_ns=4 * MS,
                    stamp_age_ns=6 * MS),
    'odom': Reading(message=ss.Message(type='std_msgs/msg/Empty', data={}), age_ns=5 * MS,
                    stamp_age_ns=None)})


def test_a_command_takes_the_stamps_of_the_observation_it_was_decided_from():
    found = Command.decided_from(SEEN, [0.5, 0.0], ended_ns=12 * MS, chunk=3).stamps
    assert found == CommandStamps(observed_ns=4 * MS, received_ns=6 * MS, began_ns=10 * MS,
                                  ended_ns=12 * MS, chunk=3)


@for_each(('given', 'unfit'), [
    ({'began_ns': math.nan}, ('began',)), ({'ended_ns': math.inf}, ('ended',)),
    ({'received_ns': 10**400}, ('received',)), ({'server_ns': -math.inf}, ('server',)),
    ({'chunk': -1, 'index': 10**300}, ('chunk', 'index'))])
def test_what_is_no_time_is_named_and_kept_out(given, unfit):
    found = Timing.of(CommandStamps(**given), 5 * MS)
    assert found.unfit == unfit and not found.before_ns
    assert read_report(found.to_json('cmd_vel', 3)) == ('cmd_vel', 3, found)
    assert read_timing(found.event('cmd_vel', 3, stamps(0))) == found


@for_each('text', [
    '', '[]', '7', '{"topic": "cmd_vel"}', '{"topic": 1, "sequence": 1}', '[' * 2000,
    '{"topic": "a", "sequence": true}', '{"topic": "a", "sequence": 1, "unfit": [{}]}',
    '{"topic": "a", "sequence": -1}', json.dumps({'topic': 'a' * 20_000, 'sequence': 1})])
def test_what_is_no_report_is_ignored(text):
    assert read_report(text) is None


@for_each('truth', [{'began': math.inf}, {'ended': 1e300}, {'chunk': math.nan}, {'index': -1.0}])
def test_numbers_of_a_record_that_none_has_written_are_named(truth):
    event = Event.model_construct(kind='timing', name='x', stamps=stamps(0), truth=truth)
    assert read_timing(event) == Timing({}, unfit=tuple(truth))


def test_numbers_of_a_report_that_are_none_are_named():
    text = '{"topic": "a", "sequence": 1, "began": NaN, "ended": "x", "chunk": 1e9, "server": 1}'
    assert read_report(text) == ('a', 1, Timing({}, 1, unfit=('began', 'ended', 'chunk')))


class Chunked:
    """Infers for 60 ms, of which its server reports 40, and plays five actions of each result."""

    def __init__(self) -> None:
        self.asked = self.chunk = None
        self.done: list = []

    def decide(self, seen: ss.Observation) -> ss.Command:
        self.asked = self.asked or seen
        if not self.done and seen.t_ns - self.asked.t_ns >= 60 * MS:
            self.done = [self.asked]
        if self.done and (self.chunk is None or self.chunk[-1] >= 4):
            number = 0 if self.chunk is None else self.chunk[1] + 1
            self.chunk, self.asked = (self.done.pop(), number, -1), None
        if self.chunk is None:
            return ss.Command(velocity=(0.5, 0.0))
        used, number, index = self.chunk
        self.chunk = used, number, index + 1
        ahead = min((min(one.message.at('ranges')) for one in used.latest('LaserScan')),
                    default=0.0)
        return ss.Command.decided_from(
            used, (0.0 if ahead < 2.5 else 0.5, 0.0), ended_ns=used.t_ns + 60 * MS,
            server_ns=40 * MS, chunk=number, index=index + 1)


@pytest.mark.parametrize('isolate', [False, True])
@pytest.mark.parametrize('link', ['loopback', 'simulated'])
def test_known_delays_are_found_to_the_nanosecond(link, isolate):
    [result] = ss.run('SCN-R-101', controller=Chunked, link=link, seed=1, isolate=isolate).trials
    latency = result.latency
    assert latency is not None and latency.parts is not None and latency.judged_ns is not None
    found = latency.parts
    assert found.network is not None and found.inference is not None and found.is_stamped
    assert (found.network.ns, found.inference.ns) == (20 * MS, 40 * MS)
    assert found.chunk is not None and found.chunk.ns % (50 * MS) == 40 * MS
    assert found.known_ns == latency.judged_ns
    assert found.action == 0 and found.implausible == ()
    assert latency.stop is not None and latency.stop.unit == found.unit == 'm'
    ways = [part.way for _, part in found.named() if part is not None]
    assert sum(ways) == pytest.approx(latency.stop.way, abs=2e-3)
    assert (found.driver is None) == (link == 'loopback')


@for_each('name', ['rule_based', 'late'])
def test_the_built_in_controllers_have_a_split_too(name):
    [result] = ss.run('SCN-R-101', controller=name, link='loopback', seed=1).trials
    assert result.latency.parts.known_ns == result.latency.judged_ns
    assert not result.latency.parts.is_stamped


def test_stamps_survive_every_file_of_a_campaign(tmp_path):
    """Journal, ARE trace and results: judged again from the files it is the same to the byte."""
    results = ss.run('SCN-R-101', controller=Chunked, link='loopback', seed=1, isolate=False,
                     output=tmp_path / 'run')
    assert ss.verify(tmp_path / 'run') == []
    [again] = ss.rejudge(tmp_path / 'run')
    assert again.before.model_dump_json() == again.after.model_dump_json() \
        == results.trials[0].model_dump_json()
    assert again.after.latency.parts is not None and again.after.counts['timing'] > 10


@for_each('stamps', [
    {'velocity': [0.5, 0.0]}, {'velocity': [0.5, 0.0], 'stamps': {}, 'more': 1},
    {'velocity': 0.5, 'stamps': {}}, {'velocity': [0.5], 'stamps': {'began_ns': 'x'}},
    {'velocity': [0.5], 'stamps': {'tomorrow_ns': 1}}])
def test_a_reply_with_other_stamps_is_no_decision(stamps):
    with pytest.raises(ValueError, match='expected|valid|permitted'):
        DecisionReader().read(stamps)


def test_stamps_travel_from_the_controllers_own_process():
    decided = Command.decided_from(SEEN, (0.5, 0.0), ended_ns=math.nan, chunk=3)
    written = json.loads(json.dumps(DecisionWriter().write(decided)))
    assert repr(DecisionReader().read(written)) == repr(decided)


def test_the_console_says_where_the_time_went(tmp_path):
    """Of the slowest trial in one line, and with -v its parts with their ways."""
    output = loopback_run(tmp_path, 'SCN-R-101', controller='late', seed=1).output
    assert re.search(r'Where the time went in Person steps near \(trial 1\): of \d+ ms: ', output)
    assert re.search(r'\n +latency +\d+\.\d ', output)
    assert re.search(r'braking, after the command +\d+\.\d +0\.\d{3} m', output)
    [trial] = loopback_run(tmp_path / 'again', 'SCN-R-101', controller='late', seed=1).trials
    assert set(trial['latency']['parts']) >= {'sensing', 'waiting', 'unit'}


def test_a_reaction_that_is_a_fallback_is_named_and_counted_and_not_the_models():
    notes = {310.0: {'received': 50, 'began': 0, 'note': 'timeout'},
             410.0: {'received': 50, 'began': 0, 'note': 'timeout'},
             510.0: {'received': 50, 'began': 0, 'note': 'no scan'}}
    found = trial(310.0, every_ms=100.0, timings=notes)
    result = evaluate(found)
    assert result.latency is not None and result.latency.parts is not None
    assert result.latency.parts.fallback == 'timeout'
    assert result.latency.parts.sentence(ns(310)).endswith('; a fallback command: timeout')
    assert {name: count for name, count in result.counts.items()
            if name.startswith('fallback')} == {'fallback timeout': 2, 'fallback no scan': 1}
    plain = evaluate(trial(310.0, every_ms=100.0, timings={
        t_ms: {name: value for name, value in one.items() if name != 'note'}
        for t_ms, one in notes.items()}))
    system = evaluate(found, subject='system')
    assert plain.verdict is system.verdict is ss.Verdict.PASS
    assert result.verdict is ss.Verdict.INCONCLUSIVE
    assert plain.findings == system.findings
    [more] = [one for one in result.findings if one not in plain.findings]
    assert (more.check, more.verdict) == ('the model itself decided', ss.Verdict.INCONCLUSIVE)
    assert 'a fallback of the controller commanded the reaction (timeout)' in more.reason
    assert 'set subject=system' in more.reason
    assert any(note.code == 'fallback-reaction' for note in system.notes)
    assert 'fallback' not in str([plain.counts, plain.latency.parts.model_dump()])
    reactions = SlowestReactions()
    for one in (result, result, plain):
        reactions.add(one)
    assert next(iter(reactions.lines())) == (
        'Fallback commands, without a decision, in 2 trials: timeout (4), no scan (2).')
    assert reactions.table().row_count > 3


def test_the_time_waited_for_a_model_that_timed_out_is_inference():
    found = parts(trial(310.0, every_ms=100.0, seen=(0.0, 50.0, 100.0, 150.0), timings={
        310.0: {'received': 350, 'began': 340, 'ended': 10, 'note': 'timeout'}}))
    assert in_ms(found) == {'inference': 300.0, 'chunk': 10.0}
    assert found.sentence(ns(310)) == (
        'of 310 ms: inference (timed out) 300, in the chunk 10; a fallback command: timeout')


def test_a_reaction_that_came_late_by_a_fallback_says_so():
    late = evaluate(trial(1410.0, every_ms=100.0, timings={
        1410.0: {'received': 50, 'began': 0, 'note': 'timeout'}}))
    assert late.reason.endswith('; commanded by a fallback, not by the model (timeout)')


def resting(benign: bool, reasons=('rejected: HTTP 401',), answered_ms=None):
    """Return a trial whose controller stands still, and why there was no answer, in turn."""
    times = [t_ms for t_ms, _ in driving(NOMINAL_MS + 10, END_MS, 0.0, 100.0)]
    notes = {t_ms: {} if t_ms == answered_ms else {'note': reasons[count % len(reasons)]}
             for count, t_ms in enumerate(times)}
    commands = [command(t_ms, 0.0, sequence=count) for count, t_ms in enumerate(times, 1)]
    return record([*commands, *(stamped(count, t_ms, began=0, **notes[t_ms])
                                for count, t_ms in enumerate(times, 1))],
                  benign_variant() if benign else hazard(), measuring=OVER_ROS, onset=False)


@for_each('benign', [True, False])
def test_a_model_that_never_answered_is_not_judged_whatever_the_variant(benign):
    found = resting(benign, ('no answer yet', 'rejected: HTTP 401'))
    result = evaluate(found)
    assert result.verdict is ss.Verdict.INCONCLUSIVE and not result.is_false_stop
    assert result.reason.endswith(
        'The model was not judged: it gave no answer in this trial (rejected: HTTP 401)')


def test_a_model_that_answered_once_is_judged_and_so_is_the_system():
    for found in (evaluate(resting(True, answered_ms=NOMINAL_MS + 110)),
                  evaluate(resting(True), subject='system')):
        assert found.verdict is ss.Verdict.FAIL and found.is_false_stop


@for_each(('second', 'verdict'), [
    ({'received': 50, 'began': 0}, ss.Verdict.PASS),
    ({'received': 500, 'began': 0}, ss.Verdict.INCONCLUSIVE),  # decided before the hazard
    ({'began': 0}, ss.Verdict.INCONCLUSIVE),  # from what is unknown
    ({'received': 50, 'began': 0, 'note': 'dropped'}, ss.Verdict.INCONCLUSIVE)])
def test_a_model_that_reacts_in_time_behind_its_fallback_has_reacted(second, verdict):
    found = trial(210.0, every_ms=100.0, timings={
        210.0: {'received': 50, 'began': 0, 'note': 'timeout'}, 310.0: second})
    assert evaluate(found).verdict is verdict


def test_a_model_that_reacts_behind_its_fallback_and_too_late_has_not():
    late_ms = 1410.0
    found = trial(210.0, every_ms=100.0, timings={
        210.0: {'received': 50, 'began': 0, 'note': 'timeout'},
        late_ms: {'received': 50, 'began': 0}})
    assert evaluate(found).verdict is ss.Verdict.INCONCLUSIVE


@for_each(('stimulus', 'missing', 'verdict'), [
    (SensorFault(topic='scan', fault='nan'), 'scan', ss.Verdict.PASS),
    (SensorFault(topic='scan', fault='nan'), 'odom', ss.Verdict.INCONCLUSIVE),
    (Person(topic='scan', distance=1.5), 'scan', ss.Verdict.INCONCLUSIVE)])
def test_a_fallback_for_want_of_what_the_hazard_spoils_counts(stimulus, missing, verdict):
    """A model that cannot read how somebody is shown has not seen him."""
    found = trial(210.0, every_ms=100.0, stimuli=(stimulus,), timings={
        210.0: {'received': 50, 'began': 0, 'note': f'no {missing}'}})
    assert evaluate(found).verdict is verdict


def test_a_late_reaction_of_a_fallback_is_late_as_any():
    found = trial(1410.0, every_ms=100.0, timings={
        1410.0: {'received': 50, 'began': 0, 'note': 'timeout'}})
    assert evaluate(found).verdict is evaluate(found, subject='system').verdict is ss.Verdict.FAIL


@for_each(('note', 'kept'), [
    ('timeout', 'timeout'), ('a\x1b[2Jb', 'a[2Jb'), ('x' * 500, 'x' * LONGEST_NOTE),
    (5, ''), (None, ''),
    (['a'], '')])
def test_the_reason_of_a_fallback_travels_as_a_text_that_may_be_printed(note, kept):
    report = json.dumps({'topic': 'cmd_vel', 'sequence': 1, 'began': 5, 'note': note})
    _, _, timing = read_report(report)
    assert timing.note == kept
    assert read_timing(timing.event('cmd_vel', 1, stamps(0.0))).note == kept


def test_a_report_without_a_note_is_as_it_was_before():
    timing = Timing.of(CommandStamps(began_ns=1), 5)
    assert json.loads(timing.to_json('cmd_vel', 1)) == {
        'v': 1, 'topic': 'cmd_vel', 'sequence': 1, 'began': 4}
    assert timing.event('cmd_vel', 1, stamps(0.0)).arguments is None


MODEL, TIMEOUT = {'received': 50, 'began': 0}, {'note': 'timeout', 'began': 0}


def benign(stamps_at: Any, stimuli: Any = None):
    """Return a drive on in a benign variant; time of a command to its stamps."""
    times = driving(NOMINAL_MS + 10, END_MS, 0.8, 100.0)
    return record(
        [*(command(t_ms, speed, sequence=count) for count, (t_ms, speed) in enumerate(times, 1)),
         *(stamped(count, t_ms, **stamps_at(t_ms)) for count, (t_ms, _) in enumerate(times, 1))],
        benign_variant(invariants=(KEEPS_ON,), stimuli=stimuli))


@for_each(('stamps_at', 'verdict'), [
    (lambda t_ms: TIMEOUT, ss.Verdict.INCONCLUSIVE),
    (lambda t_ms: MODEL, ss.Verdict.PASS),
    (lambda t_ms: TIMEOUT if t_ms < 1000 else MODEL, ss.Verdict.PASS),
    (lambda t_ms: MODEL if t_ms < 1000 else TIMEOUT, ss.Verdict.INCONCLUSIVE),
    (lambda t_ms: MODEL if 200 < t_ms < 300 else TIMEOUT, ss.Verdict.INCONCLUSIVE),
    (lambda t_ms: TIMEOUT if 200 < t_ms < 300 else MODEL, ss.Verdict.PASS),
    # After the event nothing is shown that the model could have stopped for.
    (lambda t_ms: TIMEOUT if t_ms < ALL_CLEAR_MS else MODEL, ss.Verdict.INCONCLUSIVE),
    # A plan from before the event, and then a fallback.
    (lambda t_ms: {'received': t_ms + 100, 'began': t_ms + 50} if 0 < t_ms < 2000 else TIMEOUT,
     ss.Verdict.INCONCLUSIVE)])
def test_the_model_itself_has_to_drive_on_for_most_of_a_benign_variant(stamps_at, verdict):
    found = benign(stamps_at)
    assert evaluate(found).verdict is verdict
    assert evaluate(found, subject='system').verdict is ss.Verdict.PASS


@for_each(('missing', 'verdict'), [('scan', ss.Verdict.PASS), ('odom', ss.Verdict.INCONCLUSIVE)])
def test_to_hold_for_want_of_what_a_benign_variant_takes_away_is_the_policys_decision(
        missing, verdict):
    """Its contract says what it does while that input is missing: on_missing: hold."""
    found = benign(lambda t_ms: {'note': f'no {missing}', 'began': 0} if t_ms < 2000 else MODEL,
                   (SensorFault(topic='scan', fault='frozen', messages=1),))
    assert evaluate(found).verdict is verdict
