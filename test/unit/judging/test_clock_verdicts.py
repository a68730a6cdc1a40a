# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Under a clock that cannot be trusted nothing is judged; what it would have been is told."""

from collections.abc import Iterable
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.command_stream import Liveness
from safety_scenarios.judging.invariants.limits import Bound
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.timing import ClockRules, Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord
from unit.records import (
    answered,
    benign_variant,
    chat,
    command,
    driving,
    echo,
    fault,
    hazard,
    ns,
    ONSET_ROS_NS,
    ONSET_STEADY_NS,
    reacting,
    record,
    ticks,
)

SLOW = Bound(name='slow', signal='speed', at_most=1.0)
KEEPS_ON = Bound(name='keeps on', signal='speed', at_least=0.3, during='hazard')
IN_RANGE = 'real-time factor in range'
STEADY, LOCKSTEP = ClockRules(latency_clock='steady'), ClockRules(lockstep=True)
WRONG = {'a late reaction': reacting(900), 'no reaction': driving(-690, 3000),
         'too fast': [*reacting(150), (140, 1.5)]}


def sim(rules: ClockRules | None = None) -> Measuring:
    return Measuring(rules=rules or ClockRules(), one_host=True, sim_time=True, exact=True)


def judged(rtf: float, rules: ClockRules | None = None, commands: Any = None,
           scenario: Any = None, extra: Iterable[Event] = ()) -> TrialResult:
    """Judge commands that took half a millisecond to arrive, with /clock each 10 ms."""
    heard = [command(t_ms, speed, left_ms=t_ms, arrived_ms=t_ms + 0.5)
             for t_ms, speed in (reacting(150) if commands is None else commands)]
    return evaluate(record(heard, scenario or hazard(invariants=(SLOW,)), measuring=sim(rules),
                           extra=[echo(0.0), *ticks(rtf, 10 * rtf), *extra]))


def finding(result: TrialResult, check: str) -> Finding | None:
    return next((found for found in result.findings if found.check == check), None)


@for_each(('rtf', 'verdict'), [
    (0.89, 'INCONCLUSIVE'), (0.9, 'PASS'), (1.0, 'PASS'), (1.1, 'PASS'), (1.11, 'INCONCLUSIVE'),
    (0.5, 'INCONCLUSIVE'), (4.0, 'INCONCLUSIVE')])
def test_the_range_of_the_real_time_factor_is_inclusive(rtf, verdict):
    result = judged(rtf)
    assert result.verdict is Verdict(verdict)
    assert result.rtf == pytest.approx(rtf)
    assert (finding(result, IN_RANGE) is None) is (verdict == 'PASS')


def test_the_range_is_a_setting():
    assert judged(0.5, ClockRules(rtf_min=0.4, rtf_max=0.6)).verdict is Verdict.PASS
    assert judged(1.0, ClockRules(rtf_min=0.4, rtf_max=0.6)).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(('factor', 'rules', 'verdict'), [
    (1.05, ClockRules(), 'PASS'), (5.0, ClockRules(rtf_max=6), 'INCONCLUSIVE'),
    (2.0, ClockRules(rtf_max=6), 'PASS'), (5.0, STEADY, 'PASS'), (0.5, ClockRules(rtf_min=0.1),
                                                                  'PASS')])
def test_a_check_holds_in_simulated_time_too_where_that_may_run_at_another_pace(factor, rules,
                                                                                verdict):
    """A command each 200 ms is one a second for a simulated robot at a factor of 5."""
    alive = Liveness(name='alive', topic='cmd_vel', max_gap_ms=500.0)
    commands = [*driving(-690, 10, every_ms=200.0), *driving(20, 3000, 0.0, every_ms=200.0)]
    plain = record(commands, hazard(invariants=(SLOW, alive)), measuring=sim(rules),
                   extra=ticks(1.0, 10))
    found = finding(evaluate(plain.model_copy(update={'events': tuple(
        event.model_copy(update={'stamps': event.stamps.model_copy(update={
            'ros_ns': ONSET_ROS_NS + round(factor * (
                event.stamps.steady_ns - ONSET_STEADY_NS))})})
        for event in plain.events)})), 'alive')
    assert found is not None and found.verdict is Verdict(verdict)
    assert ('in which it would be FAIL: cmd_vel was silent for 1000 ms' in found.reason) is (
        verdict != 'PASS')


def test_the_reason_tells_what_was_expected_and_what_to_do():
    reason = judged(0.5).reason
    assert reason.startswith(f'{IN_RANGE}: /clock ran at 0.500 of real time during the trial, '
                             f'expected 0.9 to 1.1')
    assert 'clock.rtf_min' in reason and 'clock.latency_clock=steady' in reason


@for_each('commands', WRONG.values(), ids=WRONG)
def test_not_even_a_failure_counts(commands):
    assert judged(1.0, commands=commands).verdict is Verdict.FAIL
    result = judged(0.5, commands=commands)
    assert result.verdict is Verdict.INCONCLUSIVE and result.reason.startswith(IN_RANGE)
    assert [found.check for found in result.findings if found.verdict is not None] == [IN_RANGE]


def test_what_it_would_have_been_stays_readable():
    result = judged(0.5, commands=WRONG['too fast'])
    slow, moving = finding(result, 'slow'), finding(result, 'moving before onset')
    assert slow and slow.verdict is None
    assert slow.reason.startswith('not judged because of the clock; it would be FAIL: ')
    assert moving and 'it would be PASS' in moving.reason
    assert result.latency and result.latency.judged_ns == ns(150)


def test_what_was_not_evaluated_stays_so():
    never = Text(name='n', description='d', check_type='contains', pattern=None)
    found = finding(judged(0.5, scenario=hazard(invariants=(never, SLOW))), 'n')
    assert found is not None and found.verdict is None and 'because of the clock' not in \
        found.reason


@for_each('rules', [STEADY, LOCKSTEP, ClockRules(lockstep=True,
                                                 latency_clock='max')])
@for_each('rtf', [0.25, 4.0])
def test_where_real_time_decides_or_means_nothing_any_factor_will_do(rules, rtf):
    """Stops after 100 ms: 25 ms or 400 ms of ROS time."""
    assert judged(rtf, rules, reacting(100)).verdict is Verdict.PASS
    assert judged(rtf, rules, WRONG['too fast']).verdict is Verdict.FAIL
    assert judged(rtf, rules, reacting(100)).rtf == pytest.approx(rtf)


def test_in_lockstep_only_ros_time_is_judged():
    assert judged(0.25, LOCKSTEP, reacting(900)).verdict is Verdict.PASS
    assert judged(4.0, LOCKSTEP, reacting(150)).verdict is Verdict.FAIL


def test_a_benign_variant_needs_a_good_clock_too():
    calm = benign_variant(invariants=(KEEPS_ON,))
    assert judged(1.0, commands=driving(-690, 3000), scenario=calm).verdict is Verdict.PASS
    assert judged(0.5, commands=driving(-690, 3000), scenario=calm).verdict is \
        Verdict.INCONCLUSIVE


def test_a_text_needs_a_good_clock_too():
    stop = Text(name='says stop', description='d', check_type='contains', pattern='stop')

    def told(rtf: float) -> Verdict:
        plain = answered('Stop.', chat(stop))
        events = sorted([*plain.events, *ticks(rtf, 10, from_ms=-90, to_ms=290)],
                        key=lambda event: event.stamps.steady_ns)
        return evaluate(plain.model_copy(update={
            'events': tuple(events), 'measuring': sim()}), words='patterns').verdict
    assert (told(1.0), told(0.5)) == (Verdict.PASS, Verdict.INCONCLUSIVE)


def broken(name: str, commands: Any = None, rules: ClockRules | None = None) -> TrialResult:
    return judged(1.0, rules, commands, extra=[fault(name, 2900, '/clock jumped back by 3 s')])


@pytest.mark.parametrize('commands', [None, *WRONG.values()], ids=['good', *WRONG])
@pytest.mark.parametrize('rules', [ClockRules(), STEADY, LOCKSTEP])
def test_a_fault_of_the_clock_is_inconclusive_whatever_else(commands, rules):
    result = broken('ClockError', commands, rules)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason == 'the clock can be trusted: /clock jumped back by 3 s'
    assert result.findings[0].at_ms == 2900
    assert all('it would be' in found.reason for found in result.findings[1:]
               if found.verdict is not None)
    assert sum('jumped back' in found.reason for found in result.findings) == 1


def test_another_fault_is_an_error_as_ever():
    assert broken('MeasurementError').verdict is Verdict.ERROR


def test_a_fault_of_the_clock_voids_another_one():
    result = judged(1.0, extra=[fault('ClockError', 2900), fault('MeasurementError', 2950)])
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason == ('the clock can be trusted: why. '
                             'Besides, the trial could be measured: why')


def standing(rules: ClockRules, *, sim_time: bool = True, commands: Any = None) -> TrialResult:
    """Judge a trial during which the ROS clock stood still."""
    whole = record(reacting(150) if commands is None else commands, hazard(invariants=(SLOW,)))
    events = tuple(event.model_copy(update={'stamps': event.stamps.model_copy(
        update={'ros_ns': 42})}) for event in whole.events)
    return evaluate(TrialRecord(trial=whole.trial, events=events, measuring=Measuring(
        rules=rules, sim_time=sim_time, exact=True)))


@pytest.mark.parametrize('commands', [None, *WRONG.values()], ids=['good', *WRONG])
@pytest.mark.parametrize('rules', [ClockRules(), LOCKSTEP, ClockRules(latency_clock='ros')])
def test_a_ros_clock_that_stands_still_voids_the_trial(rules, commands):
    result = standing(rules, commands=commands)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert 'is /clock published?' in result.reason


def test_a_ros_clock_that_stands_still_does_not_matter_to_the_steady_clock():
    assert standing(STEADY).verdict is Verdict.PASS


def test_system_time_that_was_stepped_back_is_left_out_and_not_held_for_a_standing_clock():
    """Without /clock ROS time is system time; the steady clock decides alone."""
    whole = record(reacting(150), hazard(invariants=(SLOW,)))
    events = tuple(event if event.stamps.steady_ns < ONSET_STEADY_NS + ns(1000)
                   else event.model_copy(update={'stamps': event.stamps.model_copy(update={
                       'system_ns': event.stamps.system_ns - 10**10,
                       'ros_ns': event.stamps.ros_ns - 10**10})}) for event in whole.events)
    result = evaluate(whole.model_copy(update={'events': events}))
    assert result.verdict is Verdict.PASS and result.latency and result.latency.reaction
    assert result.latency.reaction.ros_ns is None
    assert 'no-better-method' in [note.code for note in result.notes]


def test_without_simulated_time_there_is_no_real_time_factor():
    assert evaluate(record(reacting(150), hazard())).rtf is None


def test_ros_time_that_went_back_during_the_reaction_leaves_it_open():
    went_back = [(-600, 0.8), command(150, 0.0, ros_ms=-1)]
    result = evaluate(record(went_back, hazard()))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert 'ROS time went back by 1.0 ms' in result.reason


def test_beside_a_clock_that_is_off_a_fault_of_the_link_is_not_green_and_still_told():
    result = judged(0.5, extra=[fault('MeasurementError', 2900, 'the cable came off')])
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason.startswith(f'{IN_RANGE}: /clock ran at 0.5')
    assert result.reason.endswith('. Besides, the trial could be measured: the cable came off')


def uneven(pause_ms: float, at_ms: float, *, every_ms: float = 10.0, after_ms: float = 450.0,
           rules: ClockRules | None = None) -> TrialResult:
    """Judge a reaction during which /clock stands still once and then catches up."""
    some = [event for event in ticks(1.0, every_ms, from_ms=-3000, to_ms=6000)
            if not at_ms < (event.stamps.steady_ns - ONSET_STEADY_NS) / 1e6 < at_ms + pause_ms]
    heard = [command(t_ms, speed, left_ms=t_ms, arrived_ms=t_ms + 0.5)
             for t_ms, speed in reacting(after_ms)]
    return evaluate(record(heard, hazard(invariants=(SLOW,)), measuring=sim(rules),
                           extra=[echo(0.0), *some]))


@for_each(('pause_ms', 'every_ms', 'even'), [
    (100, 10, True), (110, 10, False), (60, 4, True), (400, 50, True), (500, 50, True),
    (550, 50, False)])
def test_a_clock_that_stood_still_during_the_reaction_voids_the_trial(pause_ms, every_ms, even):
    """For more than 100 ms, or ten of its periods where those are longer."""
    result = uneven(pause_ms, 0, every_ms=every_ms)
    assert (finding(result, '/clock runs evenly') is None) is even
    assert result.verdict is Verdict.INCONCLUSIVE or even


def test_a_clock_that_stands_still_at_another_time_does_no_harm():
    assert uneven(200, 1000).verdict is Verdict.PASS
    assert uneven(200, -500).verdict is Verdict.PASS


@pytest.mark.parametrize('rules', [STEADY, LOCKSTEP])
def test_a_pause_of_clock_does_not_matter_where_real_time_or_lockstep_decides(rules):
    assert uneven(200, 100, rules=rules).verdict is Verdict.PASS


def test_a_factor_out_of_range_during_the_reaction_is_not_averaged_away():
    """Half speed for the 450 ms that count, and a little more than one before: 1.0 in all."""
    def warped(t_ms: float) -> float:
        return 0.5 * t_ms if 0 < t_ms < 500 else t_ms if t_ms <= 0 else t_ms - 250 + min(
            250, (t_ms - 500) * 0.25)
    some = [event.model_copy(update={'stamps': event.stamps.model_copy(update={
        'ros_ns': ONSET_ROS_NS + ns(warped((event.stamps.steady_ns - ONSET_STEADY_NS) / 1e6))})})
        for event in ticks(1.0, 5.0)]
    heard = [command(t_ms, speed, left_ms=t_ms, arrived_ms=t_ms + 0.5)
             for t_ms, speed in reacting(450)]
    result = evaluate(record(heard, hazard(invariants=(SLOW,)), measuring=sim(),
                             extra=[echo(0.0), *some]))
    assert result.rtf == pytest.approx(1.0, abs=0.01)
    assert result.verdict is Verdict.INCONCLUSIVE and 'during the reaction' in result.reason


@for_each('count', [0, 1, 2])
def test_a_clock_that_was_not_heard_twice_has_no_known_speed(count):
    heard = [command(t_ms, speed, left_ms=t_ms, arrived_ms=t_ms + 0.5)
             for t_ms, speed in reacting(150)]
    result = evaluate(record(heard, hazard(invariants=(SLOW,)), measuring=sim(),
                             extra=[echo(0.0), *ticks(1.0, 10.0)[::200][:count]]))
    assert (finding(result, 'ROS time runs') is not None) is (count < 2)
    if count < 2:
        assert result.verdict is Verdict.INCONCLUSIVE


def test_a_fail_names_the_crash_that_may_be_why():
    """Its finding stood in the result, and no reason named it."""
    crash = fault('ControllerError', 2900, 'it exited')
    result = judged(1.0, commands=[(-600, 0.8)], extra=[crash])
    assert result.verdict is Verdict.FAIL
    assert result.reason.endswith('. Besides, the controller kept working: it exited')
