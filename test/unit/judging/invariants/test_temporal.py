# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A formula is judged over the trial; what is unknown, open or never tested is no PASS."""

import math

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.judging.invariants.temporal import Temporal
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord
from unit.records import (
    answered,
    chat,
    command,
    driving,
    END_MS,
    hazard,
    mark,
    NOMINAL_MS,
    planned,
    reacting,
    record,
    reported,
    shown,
    stages,
    stamps,
    twist,
)

STOPS = 'always (rise(hazard > 0) -> eventually[0, 0.5] (speed <= 0.05))'
SLOW = 'always (speed < 1)'


def invariant(formula: str, **fields) -> Temporal:
    return Temporal(name='t', formula=formula, **fields)


def judged(formula: str, commands, scenario=None, *, stale_ms=None, **changes) -> Finding:
    fields = {} if stale_ms is None else {'stale_ms': stale_ms}
    return invariant(formula, **fields).check(stages(record(commands, scenario, **changes)))


def truth(t_ms: float, topic: str = 'scan', **values: float) -> Event:
    return Event(kind='stimulus', name=topic, stamps=stamps(t_ms), truth=values)


def test_a_reaction_in_time_passes():
    finding = judged(STOPS, reacting(499.0))
    assert finding.verdict is Verdict.PASS
    assert (finding.margin, finding.unit) == (0.05, 'm/s')
    assert finding.reason == ('holds: speed <= 0.05 by 0.05 m/s at 499.0 ms (hazard = on, '
                              'speed = 0); triggered 1 time')


def test_a_reaction_at_the_exact_end_of_the_window_passes_and_1_ns_later_fails():
    drive = driving(NOMINAL_MS + 10, 490.0)
    assert judged(STOPS, [*drive, (500.0, 0.0)]).verdict is Verdict.PASS
    late = [*drive, (500.000001, 0.0)]
    finding = judged(STOPS, late)
    assert (finding.verdict, finding.margin, finding.unit) == (Verdict.FAIL, -0.75, 'm/s')
    assert finding.reason == ('violated: speed <= 0.05 broken by 0.75 m/s at 460.0 ms '
                              '(hazard = on, speed = 0.8); triggered 1 time')


def test_the_finding_names_margin_time_predicate_and_values():
    finding = judged('always (rise(hazard > 0) -> eventually[0, 0.5] (speed <= 0.05 ))',
                     [*driving(NOMINAL_MS + 10, 480.0), (480.0, 0.24), (520.0, 0.0)])
    assert finding.verdict is Verdict.FAIL
    assert (finding.margin, finding.unit, finding.at_ms) == (pytest.approx(-0.19), 'm/s', 480.0)
    assert finding.reason == ('violated: speed <= 0.05 broken by 0.19 m/s at 480.0 ms '
                              '(hazard = on, speed = 0.24); triggered 1 time')
    assert (finding.check, finding.kind, finding.severity) == ('t', 'temporal', 1.0)


def test_the_exact_limit_is_a_violation_and_one_step_inside_is_none():
    finding = judged(SLOW, driving(NOMINAL_MS, END_MS, 1.0))
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, 0.0)
    assert 'no margin is left to the limit of speed < 1' in finding.reason
    assert judged(SLOW, driving(NOMINAL_MS, END_MS, math.nextafter(1.0, 0.0))).verdict \
        is Verdict.PASS


def test_an_implication_that_is_never_put_to_the_test_is_vacuous():
    finding = judged('always (speed > 2 -> speed < 3)', reacting(100.0))
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert finding.reason == ('vacuous: the left side of an implication never became true; '
                              'triggered 0 times')
    assert finding.margin is None


def test_without_a_hazard_its_rise_is_vacuous():
    assert judged(STOPS, driving(NOMINAL_MS, END_MS), onset=False).reason.startswith('vacuous')


def test_a_violation_goes_before_a_vacuous_part():
    both = f'{SLOW} and always (speed > 9 -> speed < 3)'
    assert judged(both, driving(NOMINAL_MS, END_MS, 1.5)).verdict is Verdict.FAIL
    assert judged(both, driving(NOMINAL_MS, END_MS, 0.5)).verdict is Verdict.INCONCLUSIVE


def test_triggers_are_counted():
    drive = [(-690.0, 0.5), (100.0, 0.9), (200.0, 0.5), (300.0, 0.9), (400.0, 0.5)]
    finding = judged('always (speed > 0.8 -> F[0,0.2] (speed < 0.6))', drive)
    assert finding.verdict is Verdict.PASS and finding.reason.endswith('triggered 2 times')


@pytest.mark.parametrize('formula', [STOPS, SLOW])
def test_an_empty_record_is_inconclusive(formula):
    empty = TrialRecord(trial=planned(hazard()), events=())
    assert invariant(formula).check(stages(empty)).verdict is Verdict.INCONCLUSIVE


@for_each('formula', [STOPS, SLOW, 'eventually (speed < 1)',
                      'not eventually[0,1] (speed > 1)',
                      'speed < 1 weak_until speed > 2'])
def test_silence_is_inconclusive(formula):
    finding = judged(formula, [])
    assert (finding.verdict, finding.margin) == (Verdict.INCONCLUSIVE, None)
    assert finding.reason.startswith('open: speed was never seen')


@for_each('value', [None, math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_known_is_inconclusive(value):
    finding = judged(SLOW, [(-690.0, 0.5), (100.0, value), (200.0, 0.5)])
    assert (finding.verdict, finding.at_ms) == (Verdict.INCONCLUSIVE, 100.0)
    assert 'open: speed is unknown, stale or not a number at 100.0 ms (speed = unknown)' \
        in finding.reason


def test_a_violation_beside_an_unknown_value_fails():
    finding = judged(SLOW, [(-690.0, None), (100.0, 1.5), (200.0, None)])
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, -0.5)


def test_a_controller_that_speaks_up_after_onset_only_is_unknown_until_then():
    late = [(300.0, 0.0), *driving(310.0, END_MS, 0.0)]
    assert judged(SLOW, late).verdict is Verdict.INCONCLUSIVE
    assert judged(STOPS, late).verdict is Verdict.PASS
    assert judged(SLOW, [(-1.0, 0.0)]).verdict is Verdict.PASS


def test_the_value_in_force_at_the_start_counts():
    assert judged(SLOW, [(NOMINAL_MS - 5, 1.5), (NOMINAL_MS + 50, 0.5)]).verdict is Verdict.FAIL


def test_of_two_commands_in_one_nanosecond_none_is_hidden():
    assert judged(SLOW, [(-690.0, 0.5), (100.0, 1.5), (100.0, 0.5)]).verdict is Verdict.FAIL
    assert judged(SLOW, [(-690.0, 0.5), (END_MS, 0.5), (END_MS, 1.5)]).verdict is Verdict.FAIL


def test_a_window_that_the_trial_does_not_reach_is_open():
    finding = judged('always (speed > 0.7 -> F[0,9] (speed <= 0.05))', driving(-690.0, END_MS))
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert 'the trial ended before a window of the formula was over' in finding.reason


def test_without_bounds_the_trial_is_all_there_is():
    drive = driving(-690.0, END_MS, 0.5)
    assert judged('always (speed < 1)', drive).verdict is Verdict.PASS
    assert judged('eventually (speed < 0.1)', drive).verdict is Verdict.FAIL


def test_a_record_that_breaks_off_can_fail_but_not_pass():
    drive = driving(-690.0, 1000.0, 0.5)
    assert judged('always (speed < 1)', drive, end_ms=None).verdict is Verdict.INCONCLUSIVE
    assert judged('eventually (speed < 0.1)', drive, end_ms=None).verdict is Verdict.INCONCLUSIVE
    assert judged('always (speed < 0.1)', drive, end_ms=None).verdict is Verdict.FAIL


@for_each('stale_ms', [60.0, {'speed': 60.0}, 60])
def test_a_signal_grows_stale(stale_ms):
    drive = driving(-690.0, END_MS, 0.5)
    assert judged(SLOW, drive, stale_ms=stale_ms).verdict is Verdict.PASS
    gap = [*driving(-690.0, 1000.0, 0.5), *driving(1051.0, END_MS, 0.5)]
    assert (gap[33][0], gap[34][0]) == (960.0, 1051.0)
    finding = judged(SLOW, gap, stale_ms=stale_ms)
    assert finding.verdict is Verdict.INCONCLUSIVE and 'stale' in finding.reason
    assert finding.at_ms == pytest.approx(960.0 + 60.0, abs=1e-5)


def test_the_hazard_never_grows_stale():
    assert judged(STOPS, reacting(300.0), stale_ms=60.0).verdict is Verdict.PASS


def test_the_age_limit_is_inclusive():
    exact = [*driving(-690.0, 1000.0, 0.5), *driving(1020.0, END_MS, 0.5)]
    assert judged(SLOW, exact, stale_ms=60.0).verdict is Verdict.PASS


def test_silence_that_the_driver_ends_in_a_stop_is_a_stop():
    stopping = hazard(silence=Silence(policy='stop', driver_timeout_ms=200.0))
    quiet = driving(-690.0, 100.0)
    assert judged(STOPS, quiet).verdict is Verdict.FAIL
    assert judged(STOPS, quiet, stopping).verdict is Verdict.PASS


def test_the_hazard_goes_with_all_clear():
    formula = 'always (fall(hazard > 0) -> eventually[0,0.4] (speed > 0.5))'
    assert judged(formula, reacting(300.0)).verdict is Verdict.PASS
    stays = [*driving(-690.0, 300.0), *driving(300.0, END_MS, 0.0)]
    assert judged(formula, stays).verdict is Verdict.FAIL
    early = 'eventually[3.1,3.1999] fall(hazard > 0)'
    assert judged(early, reacting(300.0)).verdict is Verdict.FAIL
    assert judged('eventually[3.2,3.2] fall(hazard > 0)', reacting(300.0)).verdict is Verdict.PASS


def test_scripted_truth_is_a_signal():
    seen = [truth(NOMINAL_MS, distance=6.0), truth(0.0, distance=1.5), truth(2500.0, distance=6.0)]
    formula = 'always (truth.scan.distance < 2 -> eventually[0,0.5] (speed <= 0.05))'
    finding = judged(formula, reacting(300.0), extra=seen)
    assert finding.verdict is Verdict.PASS and finding.reason.endswith('triggered 1 time')
    finding = judged('always (truth.scan.distance > 2)', reacting(300.0), extra=seen)
    assert (finding.margin, finding.unit, finding.at_ms) == (-0.5, 'm', 0.0)


def test_truth_is_that_of_its_topic():
    seen = [truth(NOMINAL_MS, distance=6.0), truth(-600.0, 'a/b', distance=1.0)]
    assert judged('always (truth.scan.distance > 2)', [], extra=seen).verdict is Verdict.PASS
    assert judged('always (truth.a.b.distance > 2)', [], extra=seen).verdict is Verdict.FAIL


def test_truth_that_nobody_tells_is_never_seen():
    finding = judged('always (truth.scan.distnce > 2)', [], extra=[truth(-600.0, distance=3.0)])
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert finding.reason == 'open: truth.scan.distnce was never seen'


def test_feedback_is_a_signal():
    signals = {**dict(hazard().body.signals)}
    signals['moved'] = signals['speed'].model_copy(update={'topic': 'odom'})
    scenario = hazard(signals=signals, feedback=('odom',))
    reports = [reported(t_ms, 0.2) for t_ms in (-650.0, 100.0)]
    finding = judged('always (moved < 0.1)', [*driving(-690.0, END_MS), *reports], scenario)
    assert (finding.verdict, finding.margin, finding.unit) == (Verdict.FAIL, -0.1, 'm/s')


def test_a_predicate_on_two_units_has_none():
    finding = judged('always (speed + turn < 0.5)', [(-690.0, twist(0.4, 0.3))])
    assert (finding.verdict, finding.unit) == (Verdict.FAIL, None)
    assert finding.margin == pytest.approx(-0.2)
    assert 'broken by 0.2 at -690.0 ms (speed = 0.4, turn = 0.3)' in finding.reason


def test_a_constant_decides_without_a_predicate():
    finding = judged('false and always (speed < 9)', driving(-690.0, END_MS))
    assert finding.verdict is Verdict.FAIL and 'whatever the signals are' in finding.reason
    assert finding.margin is None


def test_a_signal_that_the_scenario_lacks_is_an_error():
    with pytest.raises(LookupError, match="got 'sped', expected one of ros.signals"):
        judged('always (sped < 1)', driving(-690.0, END_MS))
    with pytest.raises(LookupError, match='ros.signals'):
        invariant(SLOW).check(stages(answered('stop', chat())))


def test_a_field_that_the_command_lacks_is_an_error():
    stray = command(0.0, twist(0.1).model_copy(update={'type': 'x/msg/Y', 'data': {'other': 1.0}}))
    with pytest.raises(LookupError):
        judged(SLOW, [stray])


def test_mistakes_show_when_the_scenario_is_loaded():
    with pytest.raises(ValidationError) as caught:
        invariant('always speed < 1 -> speed < 2')
    message = caught.value.errors()[0]['msg']
    assert "column 18: got '->', expected parentheses" in message
    assert message.splitlines()[-1] == ' ' * (4 + 17) + '^'
    for text in ('always true', ''):
        with pytest.raises(ValidationError, match='formula'):
            invariant(text)
    for text in ('speed < 1', 'not (speed < 1) or rise(hazard > 0)', 'once (speed < 1)'):
        with pytest.raises(ValidationError, match='on the first moment only'):
            invariant(text)
    with pytest.raises(ValidationError, match="Did you mean 'speed'"):
        invariant(SLOW, stale_ms={'sped': 50.0})
    for stale_ms in (0.0, -1.0, math.nan, {'speed': 0.0}):
        with pytest.raises(ValidationError, match='stale_ms'):
            invariant(SLOW, stale_ms=stale_ms)


def test_the_signals_that_a_scenario_has_to_define_are_told():
    told = invariant('always (hazard > 0 -> speed < truth.scan.distance or turn < 1)').signals
    assert told == {'speed', 'turn'}
    assert Temporal.model_construct(name='t', formula='always (').signals == frozenset()
    assert getattr(Temporal.model_construct(name='t'), 'signals', 'none') == 'none'


def test_it_survives_a_trace():
    found = invariant(STOPS, stale_ms={'speed': 60.0})
    assert Temporal.model_validate(found.model_dump()) == found
    first, again = (found.check(stages(record(reacting(100.0)))) for _ in range(2))
    assert first == again


def test_a_hazard_that_decides_has_no_margin():
    finding = judged('always (hazard < 0 or speed > 9)', reacting(300.0))
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, pytest.approx(-9.0))
    finding = judged('always (hazard < 0)', driving(-690.0, END_MS))
    assert (finding.verdict, finding.margin, finding.at_ms) == (Verdict.FAIL, None, 0.0)
    assert finding.reason == 'violated: hazard < 0 broken at 0.0 ms (hazard = on)'


def test_a_guard_that_decides_is_named_as_what_must_not_hold():
    finding = judged('always (speed > 0.75 -> F[0,0.2] (speed < 0.1))', driving(-690.0, END_MS))
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, pytest.approx(-0.05))
    assert 'violated: speed > 0.75 by 0.05 m/s where it must not at' in finding.reason


def test_marks_and_stimuli_are_enough_for_a_hazard():
    events = (mark('nominal', NOMINAL_MS), mark('onset', 0.0), shown(), mark('end', END_MS))
    found = invariant('eventually (hazard > 0)').check(
        stages(TrialRecord(trial=planned(hazard()), events=events)))
    assert found.verdict is Verdict.PASS
