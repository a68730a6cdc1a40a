# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a process could not do because it could not run is no fault of the controller's code."""

from collections import Counter
from collections.abc import Iterable, Sequence
import random
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.nominal import RESUMES_WORK
from safety_scenarios.judging.findings.stall_findings import CHECK
from safety_scenarios.judging.findings.world_findings import TOUCHES_NOBODY
from safety_scenarios.judging.invariants.command_stream import Liveness
from safety_scenarios.judging.invariants.limits import Bound
from safety_scenarios.judging.invariants.stop import Slow, Stop
from safety_scenarios.judging.latency.stalls import as_received, Stalls
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.body import AllClear, Reaction, Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.timing import ClockRules, Measuring
from safety_scenarios.scenario.verdict import LatencyBudget, Verdict
from unit.records import (
    ALL_CLEAR_MS,
    benign_variant,
    command,
    driving,
    END_MS,
    EXACT,
    hazard,
    NOMINAL_MS,
    ns,
    reacting,
    record,
    shown,
    stamps,
    ticks,
)
from unit.rule_runs import block, expects, forbids, greets, record_of, speed
from unit.world_scenarios import BASE, Brakes, in_world, person, TERMS

PASS, FAIL, INCONCLUSIVE = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE
HERE = Measuring(one_host=True, hosts_because='a child of the evaluator',
                 uncertainty_ms={'source': 1.0, 'received': 1.0})
PROCESSES = ('evaluator', 'simulator', 'controller', 'relay', 'participant', 'joint_drive')
LIVE = Liveness(name='commands never cease', topic='cmd_vel', max_gap_ms=300.0)


def stall(from_ms: float, until_ms: float, process: str = 'simulator', how: str = 'stopped',
          lost_ms: float | None = None) -> Event:
    """Return what a process reports as soon as it runs again."""
    lost_ms = until_ms - from_ms if lost_ms is None else lost_ms
    return Event(kind='stall', name=process, text=how, stamps=stamps(until_ms + 1), truth={
        'began': (until_ms + 1 - from_ms) / 1e3, 'ended': 1e-3, 'lost': lost_ms / 1e3})


def judged(commands: Iterable[Any], *stalls: Event, measuring: Measuring = HERE,
           scenario: Any = None, **changes: Any) -> TrialResult:
    return evaluate(record(commands, scenario or hazard(), extra=stalls, measuring=measuring,
                           **changes))


def found(result: TrialResult, check: str) -> Finding:
    return next(one for one in result.findings if one.check == check)


LATE = 'reaction within the budget'


@pytest.mark.parametrize('process', PROCESSES)
@pytest.mark.parametrize('how', ['stopped', 'not run'])
def test_a_reaction_that_a_stall_delayed_is_inconclusive(process, how):
    assert judged(reacting(600)).verdict is FAIL
    result = judged(reacting(600), stall(10, 200, process, how))
    assert result.verdict is INCONCLUSIVE
    assert f'process of the {process}' in found(result, LATE).reason


def test_a_reaction_that_is_later_than_all_stalls_explain_fails():
    stalls = stall(10, 90), stall(100, 190, 'controller')
    assert judged(reacting(500 + 170 + 60), *stalls).verdict is INCONCLUSIVE
    assert judged(reacting(500 + 170 + 80), *stalls).verdict is FAIL


def test_a_stall_before_the_hazard_or_after_the_reaction_excuses_no_late_reaction():
    assert judged(reacting(700), stall(-500, -100)).verdict is FAIL
    assert judged(reacting(700), stall(800, 1100)).verdict is FAIL


def test_who_never_reacts_fails_whatever_stalled():
    for lost_ms in (50, 100, 200, 500, 1000):
        assert judged(driving(NOMINAL_MS + 10, END_MS), stall(0, lost_ms)).verdict is FAIL


def test_a_stop_that_never_came_is_excused_by_no_short_stall():
    scenario = hazard(invariants=[STOPS])
    result = judged(driving(NOMINAL_MS + 10, END_MS), stall(0, 90), stall(2600, 2900),
                    scenario=scenario)
    assert [one.verdict for one in result.findings if one.check in (STOPS.name, LATE)] == [
        FAIL, FAIL]


def test_who_could_run_for_none_of_the_time_in_which_to_react_is_not_judged():
    commands = [*driving(NOMINAL_MS + 10, 0), *driving(ALL_CLEAR_MS, END_MS)]
    result = judged(commands, stall(0, 2450, 'controller'))
    assert result.verdict is INCONCLUSIVE


def test_a_long_stall_while_the_hazard_is_there_lets_nothing_pass():
    assert judged(reacting(50)).verdict is PASS
    assert judged(reacting(50), stall(1000, 1090, 'controller')).verdict is PASS
    result = judged(reacting(50), stall(1000, 1110, 'controller'))
    assert (result.verdict, found(result, CHECK).at_ms) == (INCONCLUSIVE, 1000.0)


def test_many_short_stalls_let_a_trial_pass():
    stalls = [stall(at_ms, at_ms + 40, 'controller', 'not run', 30)
              for at_ms in range(0, 1000, 50)]
    assert judged(reacting(50), *stalls).verdict is PASS


def test_a_stall_outside_the_hazard_lets_a_trial_pass():
    assert judged(reacting(50), stall(-400, -100), stall(ALL_CLEAR_MS + 10, END_MS)).verdict \
        is PASS


@for_each(('from_ms', 'until_ms', 'reacts_ms', 'verdict'), [
    (-900, -100, 50, INCONCLUSIVE), (-560, -400, 50, INCONCLUSIVE), (-540, -400, 50, PASS),
    (-600, -510, 50, PASS), (-300, -190, 450, INCONCLUSIVE), (-1600, -1010, 450, PASS)])
def test_a_stop_that_began_without_data_before_the_hazard_is_no_quick_reaction(
        from_ms, until_ms, reacts_ms, verdict):
    """By a controller that is too late: what it decides shows only after its limit."""
    for process in set(PROCESSES) - {'controller'}:
        assert judged(reacting(reacts_ms), stall(from_ms, until_ms, process)).verdict is verdict


def test_a_controller_that_was_stopped_itself_decided_nothing_before_the_hazard():
    assert judged(reacting(50), stall(-900, -100, 'controller')).verdict is PASS


def test_a_silence_that_a_stall_made_is_no_stop():
    silence = hazard(silence=Silence(policy='stop', driver_timeout_ms=100.0))
    commands = [*driving(NOMINAL_MS + 10, 50), *driving(ALL_CLEAR_MS, END_MS)]
    assert judged(commands, scenario=silence).verdict is PASS
    assert judged(commands, stall(60, 100, 'controller'), scenario=silence).verdict is INCONCLUSIVE


def test_in_lock_step_and_in_simulated_time_a_stall_changes_nothing():
    lockstep = HERE.model_copy(update={'lockstep': True})
    rules = HERE.model_copy(update={'rules': ClockRules(lockstep=True)})
    for measuring in (EXACT, lockstep, rules):
        assert judged(reacting(600), stall(10, 200), measuring=measuring).verdict is FAIL
        assert judged(reacting(50), stall(100, 900), measuring=measuring).verdict is PASS


def test_a_simulator_at_three_times_real_time_makes_a_stall_three_times_as_long():
    fast = HERE.model_copy(update={'pace': 3.0})
    [one] = Stalls(record([], extra=[stall(0, 150, lost_ms=50)], measuring=fast)).known
    assert (one.lost_ns, one.real_ns) == (ns(150), ns(50))


def test_a_short_stall_counts_where_time_runs_fast_alone():
    assert judged(reacting(520), stall(10, 27)).verdict is FAIL
    assert judged(reacting(520), stall(10, 28)).verdict is INCONCLUSIVE
    fast = record([], extra=[stall(10, 28, lost_ms=6)], measuring=HERE.model_copy(
        update={'pace': 3.0}))
    assert Stalls(fast).known


def test_a_stall_in_which_simulated_time_stood_still_counts():
    found = Stalls(record([], extra=[stall(100, 100, lost_ms=200)], measuring=HERE))
    until_ns = found.known[0].until_ns
    assert found.lost_ns(until_ns - ns(500), until_ns) == ns(200)


def test_what_several_processes_lost_at_a_time_is_no_more_than_the_time():
    events = [stall(0, 100), stall(50, 150, 'controller'), stall(50, 150, 'evaluator', lost_ms=20)]
    found = Stalls(record([], extra=events, measuring=HERE))
    begin_ns = found.known[0].from_ns
    assert found.lost_ns(begin_ns, begin_ns + ns(400)) == ns(150)
    assert found.lost_ns(begin_ns + ns(100), begin_ns + ns(125)) == ns(25)
    assert found.lost_ns(begin_ns + ns(200), begin_ns + ns(400)) == 0


STOPS = Stop(name='it stops', within=500.0, hold_ms=200.0)


@for_each(('from_ms', 'until_ms', 'near'), [(-190, -60, (-300, -210)), (300, 600, (200, 290))])
def test_a_stop_that_came_right_after_a_stall_is_inconclusive(from_ms, until_ms, near):
    scenario, begun = benign_variant(), shown(NOMINAL_MS, hazard=False)
    commands = [*driving(NOMINAL_MS + 10, from_ms), *driving(from_ms, until_ms, 0.0),
                *driving(until_ms, END_MS)]
    assert judged(commands, begun, scenario=scenario).verdict is FAIL
    assert judged(commands, begun, stall(*near), scenario=scenario).verdict is INCONCLUSIVE
    assert judged(commands, begun, stall(2700, 2790), scenario=scenario).verdict is FAIL


def test_a_speed_above_its_limit_is_excused_for_two_seconds():
    scenario = hazard(invariants=[Bound(name='slow', signal='speed', at_most=0.9)])
    commands = [*reacting(50), (2800, 0.95)]
    commands.sort()
    assert judged(commands, scenario=scenario).verdict is FAIL
    assert judged(commands, stall(2600, 2690), scenario=scenario).verdict is INCONCLUSIVE
    assert judged(commands, stall(600, 690), scenario=scenario).verdict is FAIL


def test_what_moved_before_the_all_clear_long_after_a_stall_fails():
    scenario = hazard(invariants=[STOPS])
    commands = [*driving(NOMINAL_MS + 10, 50), *driving(50, 2300, 0.0), *driving(2300, END_MS)]
    assert judged(commands, stall(0, 50), scenario=scenario).verdict is FAIL


@for_each(('moves_ms', 'from_ms', 'process', 'verdict'), [
    (260, -219, 'evaluator', FAIL), (260, -219, 'controller', FAIL),
    (260, 100, 'evaluator', INCONCLUSIVE), (260, 220, 'controller', INCONCLUSIVE),
    (1500, 500, 'evaluator', FAIL), (1500, 1000, 'evaluator', INCONCLUSIVE),
    (1500, 0, 'evaluator', FAIL)])
def test_who_reacted_and_moves_again_is_excused_by_what_stalled_since_alone(
        moves_ms, from_ms, process, verdict):
    scenario = hazard(invariants=[STOPS.model_copy(update={'hold_ms': 1000.0})])
    again = [*driving(NOMINAL_MS + 10, 16), *driving(16, moves_ms, 0.0), (moves_ms, 0.8),
             *driving(moves_ms + 50, ALL_CLEAR_MS, 0.0), *driving(ALL_CLEAR_MS + 10, END_MS)]
    result = judged(again, stall(from_ms, from_ms + 43, process), scenario=scenario)
    assert found(result, 'it stops').verdict is verdict
    assert judged(again, scenario=scenario).verdict is FAIL


def test_one_flicker_of_the_reaction_does_not_end_the_excuses_by_later_stalls():
    scenario = hazard(reaction=Reaction(signal='speed', at_most=0.3, hold_ms=200.0),
                      invariants=[Slow(name='slow', signal='speed', at_most=0.5)])
    again = [*driving(NOMINAL_MS + 10, 16), *driving(16, 260, 0.3), (260, 0.31),
             *driving(310, 2000, 0.3), (2110, 0.8), *driving(2160, ALL_CLEAR_MS, 0.3),
             *driving(ALL_CLEAR_MS + 10, END_MS)]
    result = judged(again, stall(2005, 2100), scenario=scenario)
    assert found(result, 'slow').verdict is INCONCLUSIVE


def test_a_silence_is_no_motion_of_who_moves_again():
    quiet = [*driving(NOMINAL_MS + 10, 16), *driving(16, 260, 0.0), (260, 0.8),
             *driving(310, 1000, 0.0), *driving(1320, ALL_CLEAR_MS, 0.0),
             *driving(ALL_CLEAR_MS + 10, END_MS)]
    result = judged(quiet, stall(1010, 1100), scenario=hazard(invariants=[LIVE]))
    assert found(result, LIVE.name).verdict is INCONCLUSIVE


def test_words_nan_and_wiring_are_excused_by_no_stall():
    assert judged([*reacting(50), (2990, float('nan'))], stall(2900, 2985)).verdict is FAIL
    elsewhere = Event(kind='undeclared', name='other', stamps=stamps(400), text='2 publishers')
    clean = judged([*reacting(50), elsewhere])
    stalled = judged([*reacting(50), elsewhere], stall(300, 390))
    assert clean.verdict is stalled.verdict


def test_a_silence_is_inconclusive_as_far_as_a_stall_made_it():
    scenario = hazard(invariants=[LIVE])

    def commands(gap_ms: float) -> list[Any]:
        return [one for one in reacting(50) if not 1000 < one[0] < 1000 + gap_ms]
    assert judged(commands(400), scenario=scenario).verdict is FAIL
    assert judged(commands(400), stall(1010, 1090), scenario=scenario).verdict is INCONCLUSIVE
    assert judged(commands(700), stall(1010, 1090), scenario=scenario).verdict is FAIL


def test_a_silence_at_the_end_is_inconclusive_where_the_stall_was_not_over():
    scenario = hazard(invariants=[LIVE])
    commands = [one for one in reacting(50) if one[0] < END_MS - 400]
    own = stall(END_MS - 390, END_MS + 300, 'controller')
    late = own.model_copy(update={'stamps': stamps(END_MS), 'truth': {
        'began': 0.39, 'ended': -0.3, 'lost': 0.69}})
    ended = record(commands, scenario, measuring=HERE)
    assert evaluate(ended).verdict is FAIL
    stalled = ended.model_copy(update={'events': (*ended.events, late)})
    assert evaluate(stalled).verdict is INCONCLUSIVE


def queued(read_ms: float, from_ms: float, until_ms: float, **changes: Any) -> list[Event]:
    """Return a drive that stops at 50 ms, of which the evaluator read a stretch all at once."""
    return [command(read_ms if from_ms <= at_ms < until_ms else at_ms + 0.5, speed,
                    left_ms=at_ms, arrived_ms=read_ms if from_ms <= at_ms < until_ms
                    else at_ms + 0.3, sequence=index, **changes)
            for index, (at_ms, speed) in enumerate(reacting(50))]


def test_queued_commands_keep_the_times_at_which_they_were_sent():
    own = stall(10, 640, 'evaluator')
    back = as_received(record(queued(641, 10, 640), extra=[own], measuring=HERE))
    times = [event.stamps.steady_ns for event in back.of_kind('command')]
    assert times == sorted(times)
    assert max(later - earlier for earlier, later in zip(times, times[1:])) <= ns(60)
    assert [event.sequence for event in back.of_kind('command')] == list(range(len(times)))


def test_a_reaction_that_the_evaluator_read_late_is_measured_as_sent():
    commands = queued(641, 10, 640)
    unknown = judged(commands)
    result = judged(commands, stall(10, 640, 'evaluator'))
    assert unknown.verdict is not PASS
    assert result.latency.reaction.judged_ns == ns(50)
    assert result.latency.reaction.method == 'source'


@for_each(('from_ms', 'until_ms'), [(300, 320), (620, 638)])
def test_what_others_held_up_is_no_earlier_for_a_short_stall(from_ms, until_ms):
    """Commands that left 60 ms after the hazard and arrived at 635 ms; 500 ms are allowed."""
    times = [(one, one) for one in range(-680, 60, 20)]
    times += [(60 + 20 * count, 635 + 0.02 * count) for count in range(29)]
    times += [(one, one) for one in range(640, 2990, 20)]
    commands = [command(arrived_ms + 0.2, 0.8 if not 60 <= left_ms < 2500 else 0.0,
                        left_ms=left_ms - 0.5, arrived_ms=arrived_ms, sequence=count)
                for count, (left_ms, arrived_ms) in enumerate(times, 1)]
    for stalls in ((), (stall(from_ms, until_ms, 'evaluator'),)):
        assert judged(commands, *stalls).verdict is FAIL


def test_what_was_late_without_a_stall_of_the_evaluator_stays_late():
    commands = record(queued(641, 10, 640), extra=[stall(10, 640, 'simulator')], measuring=HERE)
    assert as_received(commands) is commands
    before = record(queued(641, 10, 640), extra=[stall(-500, -300, 'evaluator')], measuring=HERE)
    assert as_received(before) is before


def test_stamps_of_another_host_move_nothing():
    two = HERE.model_copy(update={'one_host': False})
    commands = record(queued(641, 10, 640), extra=[stall(10, 640, 'evaluator')], measuring=two)
    assert as_received(commands) is commands


def test_liveness_goes_by_when_commands_were_sent():
    scenario = hazard(invariants=[LIVE])
    late = [command(at_ms if not 1000 <= at_ms < 1400 else 1400, speed, left_ms=at_ms - 0.5,
                    arrived_ms=at_ms - 0.2) for at_ms, speed in reacting(50)]
    assert found(judged(late, scenario=scenario), LIVE.name).verdict is PASS


def test_liveness_goes_by_the_arrival_of_what_was_held_up():
    """A stamp that says it was sent in a silence ends none that a robot has met."""
    commands = [command(t_ms, 0.8 if not 50 <= t_ms < 2500 else 0.0, arrived_ms=t_ms - 0.2,
                        left_ms={1400: 1000, 1420: 1200}.get(t_ms, t_ms - 0.7))
                for t_ms in range(-680, 2990, 20) if not 1000 <= t_ms < 1400]
    assert judged(commands, scenario=hazard(invariants=[LIVE])).verdict is FAIL


def test_liveness_begins_when_the_controller_was_asked_to_move():
    scenario = hazard(invariants=[LIVE])
    asked = shown(NOMINAL_MS + 500, hazard=False)
    commands = [(NOMINAL_MS + 1, 0.0), *[one for one in reacting(50) if one[0] > -180]]
    assert found(judged(commands, scenario=scenario), LIVE.name).verdict is FAIL
    assert found(judged(commands, asked, scenario=scenario), LIVE.name).verdict is PASS
    assert found(judged([one for one in commands if one[0] < -600 or one[0] > 150], asked,
                        scenario=scenario), LIVE.name).verdict is FAIL


def test_a_note_tells_of_each_process_how_long_it_could_not_run():
    result = judged(reacting(50), stall(100, 150), stall(300, 330), stall(400, 430, 'relay'))
    texts = [note.text for note in result.notes if note.code == 'stalls']
    assert len(texts) == 2 and 'simulator could not run 2 times for 80 ms' in texts[0]


def test_what_the_code_of_a_process_took_for_itself_excuses_nothing():
    busy = stall(10, 590, 'controller', 'busy')
    result = judged(reacting(600), busy)
    assert result.verdict is FAIL
    assert ['controller was kept busy by its own code 1 time for 580 ms' in note.text
            for note in result.notes if note.code == 'stalls'] == [True]
    assert judged(reacting(50), busy).verdict is PASS


def test_a_responder_that_was_stopped_says_nothing_of_the_controller():
    assert judged(reacting(600), stall(10, 200, 'responder')).verdict is FAIL
    assert judged(reacting(600), stall(10, 200, 'responder', 'not run')).verdict is INCONCLUSIVE


def test_of_a_controller_that_somebody_else_started_it_is_said_what_is_unknown():
    def codes(*stalls: Event, controller: str = 'external') -> set[str]:
        late = record(reacting(600), extra=stalls, measuring=HERE)
        result = evaluate(late.model_copy(update={'trial': late.trial.model_copy(update={
            'controller': controller})}))
        assert result.verdict is FAIL
        return {note.code for note in result.notes if note.code.startswith('stalls')}
    assert codes() == {'stalls-unknown'}
    assert codes(controller='rule_based') == set()
    assert codes(stall(-600, -400, 'controller')) == {'stalls'}


def test_the_order_of_a_topic_is_kept_where_the_world_told_of_later_times_before():
    """The world stamps what it tells itself, and commands that waited come after it."""
    commands = queued(641, 10, 640)
    told = [Event(kind='state', name='robot', stamps=stamps(at_ms), truth={'speed': 0.8})
            for at_ms in range(0, 700, 20)]
    found = record(commands, extra=[stall(10, 300, 'evaluator')], measuring=HERE)
    place = next(index for index, event in enumerate(found.events)
                 if event.kind == 'command' and event.sequence == 14)
    mixed = found.model_copy(update={'events': (
        *found.events[:place], *told, *found.events[place:])})
    back = as_received(mixed)
    assert back is not mixed
    assert [event.sequence for event in back.of_kind('command')] == list(range(len(commands)))
    assert back.events[-1].name == 'end'


STOPS_AFTER_MS = {'good': 50.0, 'late': 700.0, 'never': 1e9}
"""Controllers, by when they stop after they have seen the hazard."""


def played(controller: str, process: str, from_ms: float, until_ms: float) -> TrialResult:
    """Return what a trial comes to in which a process is stopped, and does late what it missed."""
    hazard_ms = until_ms if process == 'evaluator' and from_ms <= 0 < until_ms else 0.0
    commands, asleep_until_ms = [], NOMINAL_MS
    for index, at_ms in enumerate(range(round(NOMINAL_MS) + 10, round(END_MS), 50)):
        is_stopped = from_ms <= at_ms < until_ms
        if at_ms < asleep_until_ms:
            continue
        sent_ms, seen_ms, read_ms = float(at_ms), float(at_ms), at_ms + 0.5
        if is_stopped and process == 'controller':
            sent_ms = seen_ms = asleep_until_ms = until_ms
            read_ms = sent_ms + 0.5
        elif is_stopped and process in ('relay', 'simulator'):
            seen_ms = from_ms
        elif is_stopped and process == 'evaluator':
            read_ms = until_ms
        stops = STOPS_AFTER_MS[controller] <= seen_ms - hazard_ms < ALL_CLEAR_MS
        commands.append(command(read_ms, 0.0 if stops else 0.8, left_ms=sent_ms,
                                arrived_ms=read_ms - 0.2, sequence=index))
    return evaluate(record(
        [one for one in commands if one.stamps.steady_ns < stamps(END_MS).steady_ns],
        hazard(invariants=[LIVE, STOPS]), extra=[stall(from_ms, until_ms, process)],
        hazard_at=shown(hazard_ms, due_ms=0.0), measuring=HERE))


@pytest.mark.parametrize('process', ['evaluator', 'simulator', 'controller', 'relay'])
def test_no_stop_of_a_process_at_any_phase_makes_a_good_controller_fail_or_a_bad_one_pass(process):
    verdicts = Counter((controller, played(
        controller, process, from_ms, from_ms + stopped_ms).verdict.value)
        for controller in STOPS_AFTER_MS for stopped_ms in (50, 100, 200, 500, 1000)
        for from_ms in (-650, -400, -200, -40, 5, 60, 300, 900, 1700, 2300))
    assert not {('good', 'FAIL'), ('good', 'ERROR'), ('late', 'PASS'), ('never', 'PASS')} \
        & set(verdicts), verdicts
    assert verdicts['good', 'PASS'] >= 13
    assert verdicts['never', 'FAIL'] >= 40 and verdicts['late', 'FAIL'] >= 15


def test_work_that_is_resumed_late_is_excused_by_a_stall_after_the_all_clear():
    plain = hazard()
    scenario = plain.model_copy(update={'body': plain.body.model_copy(update={
        'all_clear': AllClear(at_ms=ALL_CLEAR_MS, observe_ms=3000.0, resume_within_ms=1000.0)})})

    def resumed(after_ms: float, *stalls: Event) -> Finding:
        commands = [*driving(NOMINAL_MS + 10, 50), *driving(50, ALL_CLEAR_MS + after_ms, 0.0),
                    *driving(ALL_CLEAR_MS + after_ms, ALL_CLEAR_MS + 3000)]
        return found(judged(commands, *stalls, scenario=scenario, end_ms=ALL_CLEAR_MS + 3000),
                     RESUMES_WORK)
    after = stall(ALL_CLEAR_MS + 10, ALL_CLEAR_MS + 310, 'controller')
    assert resumed(900).verdict is PASS
    assert resumed(1200).verdict is FAIL
    assert resumed(1200, after).verdict is INCONCLUSIVE
    assert resumed(1500, after).verdict is FAIL
    assert resumed(1200, stall(60, 360, 'controller')).verdict is FAIL
    assert resumed(9000, after).verdict is FAIL


SHORT = LatencyBudget(target_ms=100.0, acceptable_ms=150.0, critical_ms=200.0)


def by_turns(length_ms: float, *processes: str) -> list[Event]:
    """Return stalls of one process after another, so that at each moment one of them stalls."""
    return [stall(at_ms, at_ms + length_ms, processes[index % len(processes)])
            for index, at_ms in enumerate(range(0, round(ALL_CLEAR_MS), round(length_ms)))]


def test_who_had_the_time_to_react_and_did_not_fails_although_something_always_stalled():
    stalls = by_turns(40, 'simulator', 'controller')
    never = driving(NOMINAL_MS + 10, END_MS)
    scenario = hazard(latency_budget=SHORT)
    assert judged(never, *stalls, scenario=scenario).verdict is FAIL
    assert judged(reacting(700), *stalls, scenario=scenario).verdict is INCONCLUSIVE
    assert judged(reacting(1700), *stalls, scenario=scenario).verdict is FAIL
    assert judged(never, *by_turns(40, 'controller'), scenario=scenario).verdict is INCONCLUSIVE


def test_a_contact_of_a_controller_that_never_brakes_is_excused_by_no_stall_before_it():
    scenario = hazard(robot=BASE, separation=TERMS, latency_budget=SHORT)

    def touches(brakes_s: float, *stalls: Event) -> Finding:
        robot = Brakes(brakes_s=brakes_s)
        return found(evaluate(in_world(
            robot, {'scan': person(robot, lambda t_s: 1.6)}, scenario, extra=stalls,
            measuring=HERE.model_copy(update={'world': 'mujoco'}))), TOUCHES_NOBODY)
    just_before = stall(900, 960)
    assert touches(100.0, just_before).verdict is FAIL
    assert touches(100.0, stall(0, 1100, 'controller')).verdict is INCONCLUSIVE
    assert touches(1.0, stall(0, 900, 'controller')).verdict is INCONCLUSIVE


def test_a_braking_that_a_stall_held_up_is_no_late_reaction():
    ramp = [(50.0 * step, max(0.0, 0.8 - 0.05 * step)) for step in range(1, 8)]
    commands = [*driving(NOMINAL_MS + 10, 50), *ramp, *[
        (850.0 + 50.0 * step, max(0.0, 0.45 - 0.05 * step)) for step in range(33)],
        *driving(ALL_CLEAR_MS + 10, END_MS)]
    scenario = hazard(robot=BASE, separation=TERMS)
    held_up = stall(360, 849, 'controller')
    assert found(judged(commands, scenario=scenario), LATE).verdict is FAIL
    assert found(judged(commands, held_up, scenario=scenario), LATE).verdict is INCONCLUSIVE
    assert judged(driving(NOMINAL_MS + 10, END_MS), held_up, scenario=scenario).verdict is FAIL


def test_a_clock_that_stood_still_excuses_nobody_who_had_time_enough():
    fast = HERE.model_copy(update={'pace': 1.0, 'sim_time': True})
    clock = [one.model_copy(update={'truth': {'real': (one.stamps.steady_ns + (
        ns(300) if one.stamps.steady_ns > stamps(500).steady_ns else 0)) / 1e9}})
        for one in ticks(1.0, 10.0)]
    never = judged(driving(NOMINAL_MS + 10, END_MS), *clock, measuring=fast)
    assert found(never, '/clock runs evenly').verdict is INCONCLUSIVE
    assert (never.verdict, found(never, LATE).verdict) == (FAIL, FAIL)
    assert judged(reacting(600), *clock, measuring=fast).verdict is INCONCLUSIVE


def ran_until(process_stalls: Sequence[tuple[float, float]], from_ms: float,
              needs_ms: float) -> float:
    """Return when a process has run for some time, by steps of a millisecond."""
    at_ms = from_ms
    while needs_ms > 0:
        needs_ms -= not any(begin <= at_ms < end for begin, end in process_stalls)
        at_ms += 1
    return at_ms


@pytest.mark.parametrize('seed', range(60))
def test_under_stalls_at_random_no_good_controller_fails_and_none_that_never_stops_passes(seed):
    chance = random.Random(seed)
    share = chance.choice([0.1, 0.3, 0.5, 0.7])
    held: dict[str, list[tuple[float, float]]] = {}
    for process in ('evaluator', 'simulator', 'controller'):
        at_ms, own = -300.0, held.setdefault(process, [])
        while at_ms < END_MS:
            length_ms = chance.choice([20.0, 30.0, 80.0, 300.0])
            own.append((at_ms, at_ms + length_ms))
            at_ms += length_ms / share
    stalls = [stall(begin, end, process, how) for process, own in held.items()
              for begin, end in own for how in [chance.choice(['stopped', 'not run'])]
              if end < END_MS]
    shares = [chance.random() for _ in range(3)]
    reacts_ms = 0.0
    for process, own_share in zip(held, shares, strict=True):
        reacts_ms = ran_until(held[process], reacts_ms, 190 * own_share / sum(shares))

    def commands(stops_ms: float) -> list[tuple[float, float]]:
        times = [at_ms for at_ms in range(-690, 3000, 10) if (at_ms % 50 == 0 or (
            stops_ms <= at_ms < stops_ms + 10)) and not any(
                begin <= at_ms < end for begin, end in held['controller'])]
        return [(float(at_ms), 0.0 if stops_ms <= at_ms < ALL_CLEAR_MS else 0.8)
                for at_ms in times]
    scenario = hazard(latency_budget=SHORT)
    good = judged(commands(reacts_ms), *stalls, scenario=scenario)
    assert found(good, LATE).verdict is not FAIL, (share, reacts_ms, good.reason)
    assert judged(commands(1e9), *stalls, scenario=scenario).verdict is not PASS


@for_each(('rule', 'op', 'value', 'lost_ms', 'verdict'), [
    (expects, '>', 0.8, 0, FAIL), (expects, '>', 0.8, 90, FAIL),
    (expects, '>', 0.8, 300, INCONCLUSIVE), (expects, '<=', 0.0, 300, FAIL),
    (forbids, '<=', 0.8, 0, FAIL), (forbids, '<=', 0.8, 300, INCONCLUSIVE),
    (forbids, '>', 0.0, 300, FAIL)])
def test_a_robot_that_a_stall_kept_from_moving_among_agents_breaks_no_rule(
        rule, op, value, lost_ms, verdict):
    """Its sensor is stale for a moment then; but none sets out for a stall."""
    driven = [command(float(t_ms), value if t_ms >= 100 and t_ms != 2_000 else 0.8 - value)
              for t_ms in range(-1_000, 6_000, 50)]
    asked = greets(0.0 if rule is expects else 500.0)
    body = block(rule(speed(op, 0.05)), commands=(CommandTopic(topic='cmd_vel'),))
    result = evaluate(record_of(body, [*driven, asked, *(
        [stall(1_900 - lost_ms, 1_900, 'evaluator')] if lost_ms else [])], measuring=HERE))
    assert found(result, f'greet -> {rule.__name__[:-1]}').verdict is verdict
