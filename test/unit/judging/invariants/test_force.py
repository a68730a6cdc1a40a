# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Contact: nothing pushes on into it, a measured force goes down; what was not told is open."""

import math
from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.judging.invariants.collaboration import Force
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from steps import growth
from unit.records import (
    ALL_CLEAR_MS,
    command,
    driving,
    END_MS,
    hazard,
    NOMINAL_MS,
    reacting,
    record,
    reported,
    shown,
    SIGNALS,
    stages,
    twist,
)

FIELDS: dict[str, Any] = {'name': 'f', 'at_most': 40.0, 'signal': 'speed', 'push_at_most': 0.05,
                          'within': 150.0}
FORCE = Force(**FIELDS)
MEASURED = Force(**FIELDS, measured='felt')
NEWTON = Signal(topic='wrench_felt', field='linear.x', unit='N')


def touching(force: float = 60.0, from_ms: float = 0.0, to_ms: float = ALL_CLEAR_MS,
             topic: str = 'wrench', before: float = 5.0) -> list[Event]:
    """Return what the stimuli show: a light force, and a strong one during the hazard."""
    return [shown(t_ms, topic, hazard=from_ms <= t_ms < to_ms,
                  force=force if from_ms <= t_ms < to_ms else before)
            for t_ms, _ in driving(NOMINAL_MS, END_MS, every_ms=10.0)]


def judged(commands: Any, forces: list[Event] | None = None, invariant: Force = FORCE,
           silence: Silence | None = None, **changes: Any) -> Finding:
    ahead = Signal(topic='cmd_vel', field='linear.x', unit='m/s')
    scenario = hazard(signals={**SIGNALS, 'felt': NEWTON, 'ahead': ahead}, silence=silence,
                      feedback=('wrench_felt',))
    return invariant.check(stages(record(
        commands, scenario, hazard_at=shown(0.0, 'bumper'),
        extra=touching() if forces is None else forces, **changes)))


def felt(*levels: tuple[float, float, Any], every_ms: float = 10.0) -> list[Event]:
    """Return feedback of a force: (from, to, N) each."""
    return [reported(t_ms, level, topic='wrench_felt') for from_ms, to_ms, level in levels
            for t_ms, _ in driving(from_ms, to_ms, every_ms=every_ms)]


def touched(until_ms: float, level: float = 60.0, **changes: Any) -> list[Event]:
    return felt((NOMINAL_MS, 0, 5.0), (0, until_ms, level), (until_ms, END_MS, 5.0), **changes)


def test_a_stop_in_time_does_not_push():
    finding = judged(reacting(100, 0.02))
    assert (finding.verdict, finding.unit) == (Verdict.PASS, 'm/s')
    assert finding.margin == pytest.approx(0.03)


def test_the_fastest_in_the_contact_is_the_margin():
    finding = judged([(-100, 0.8), (100, 0.0), (700, 0.04), (900, 0.01), (2400, 0.0)])
    assert finding.margin == pytest.approx(0.01)


def test_the_exact_time_is_in_time_and_a_nanosecond_more_is_not():
    assert judged(reacting(150)).verdict is Verdict.PASS
    finding = judged(reacting(150.000001))
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 150.0)
    assert finding.margin == pytest.approx(-0.75)
    assert '0.75 m/s too fast 150 ms after it began' in finding.reason


def test_the_exact_speed_is_no_push_and_a_hair_more_is_one():
    assert judged(reacting(100, 0.05)).margin == 0.0
    assert judged(reacting(100, 0.05)).verdict is Verdict.PASS
    assert judged(reacting(100, math.nextafter(0.05, 1))).verdict is Verdict.FAIL


@for_each(('within', 'limit'), [('target', 200.0), ('critical', 500.0), (90, 90.0)])
def test_the_time_is_one_of_the_budget_or_a_number(within, limit):
    invariant = Force(**{**FIELDS, 'within': within})
    assert judged(reacting(limit), invariant=invariant).verdict is Verdict.PASS
    assert judged(reacting(limit + 1), invariant=invariant).verdict is Verdict.FAIL


def test_pushing_again_while_the_contact_lasts_fails_and_after_it_is_right():
    stopped = [(-100, 0.8), (100, 0.0)]
    finding = judged([*stopped, (2499, 0.8)])
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 2499.0)
    assert judged([*stopped, (2500, 0.8)]).verdict is Verdict.PASS


def test_what_the_hazard_shows_ends_with_all_clear_even_if_nothing_is_shown_after_it():
    last = [event for event in touching() if event.hazard]
    assert judged([(-100, 0.8), (100, 0.0), (2600, 0.8)], last).verdict is Verdict.PASS
    assert judged([(-100, 0.8), (100, 0.0), (2499, 0.8)], last).verdict is Verdict.FAIL


def test_a_retreat_is_no_push_by_a_signal_with_a_sign():
    back = [(-100, 0.8), (100, -0.3), (2400, -0.3)]
    signed = Force(**{**FIELDS, 'signal': 'ahead'})
    assert judged(back, invariant=signed).verdict is Verdict.PASS
    assert judged(back).verdict is Verdict.FAIL


def test_a_force_of_the_exact_limit_is_no_contact():
    assert 'no contact above' in judged(reacting(100), touching(40.0)).reason
    assert judged(reacting(100), touching(math.nextafter(40.0, 50))).verdict is Verdict.PASS


def test_without_a_contact_nothing_is_judged():
    finding = judged(driving(-100, 3000), touching(12.0))
    assert finding.verdict is Verdict.INCONCLUSIVE and 'no contact above 40 N' in finding.reason
    assert judged(driving(-100, 3000), []).verdict is Verdict.INCONCLUSIVE


def test_a_contact_that_is_over_before_the_time_leaves_nothing_to_judge():
    assert judged(driving(-100, 3000), touching(to_ms=150.0)).verdict is Verdict.INCONCLUSIVE
    assert judged(driving(-100, 3000), touching(to_ms=160.0)).verdict is Verdict.FAIL


def test_a_second_contact_is_judged_from_its_own_beginning():
    twice = [shown(t_ms, 'wrench', force=60.0 if t_ms < 400 or 1000 <= t_ms < 1400 else 5.0)
             for t_ms, _ in driving(0, ALL_CLEAR_MS, every_ms=10.0)]
    between = [(-100, 0.8), (100, 0.0), (500, 0.8), (1100, 0.0), (2400, 0.0)]
    assert judged(between, twice).verdict is Verdict.PASS
    late = [(-100, 0.8), (100, 0.0), (500, 0.8), (1200, 0.0), (2400, 0.0)]
    finding = judged(late, twice)
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 1150.0)


def test_of_two_topics_the_greater_force_counts():
    light = touching(5.0, topic='wrist')
    assert judged(driving(-100, 3000), [*touching(), *light]).verdict is Verdict.FAIL
    assert judged(reacting(100), [*touching(), *light]).verdict is Verdict.PASS


def test_no_command_in_the_contact_never_passes():
    assert judged([]).verdict is Verdict.INCONCLUSIVE
    assert judged([(-100, 0.0)]).verdict is Verdict.INCONCLUSIVE
    assert judged([(-100, 0.8)]).verdict is Verdict.FAIL
    assert judged([(2600, 0.0)]).verdict is Verdict.INCONCLUSIVE
    assert judged([(400, 0.0), (2400, 0.0)]).verdict is Verdict.INCONCLUSIVE


def test_a_silence_that_stops_the_robot_does_not_push():
    drives = [(-100, 0.8), (20, 0.8)]
    for timeout_ms, verdict in ((130.0, Verdict.PASS), (131.0, Verdict.FAIL)):
        stop = Silence(policy='stop', driver_timeout_ms=timeout_ms)
        assert judged(drives, silence=stop).verdict is verdict


@pytest.mark.parametrize('changes', [{'onset': False}, {'all_clear_ms': None}])
def test_a_hazard_that_was_not_observed_whole_is_inconclusive(changes):
    assert judged(reacting(100), **changes).verdict is Verdict.INCONCLUSIVE


@for_each('value', [math.nan, None])
@for_each('t_ms', [120, 150, 700])
def test_an_unknown_speed_in_the_contact_never_passes(value, t_ms):
    commands = [(-100, 0.8), (100, 0.0), (t_ms, value), (2400, 0.0)]
    assert judged(commands).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_push_beside_an_unknown_speed_fails(value):
    assert judged([(-100, 0.8), (100, value), (700, 0.8)]).verdict is Verdict.FAIL


@pytest.mark.parametrize('value', [math.inf, -math.inf])
def test_an_infinite_speed_fails_without_a_number(value):
    signed = Force(**{**FIELDS, 'signal': 'ahead'})
    finding = judged([(-100, 0.8), (100, 0.0), (700, value)], invariant=signed)
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, None)


def test_a_measured_force_that_goes_down_in_time_passes_with_the_time_left():
    finding = judged(reacting(100), touched(140), MEASURED)
    assert (finding.verdict, finding.margin, finding.unit) == (
        Verdict.PASS, pytest.approx(0.01), 's')
    assert 'for 140 ms' in finding.reason


def test_a_measured_force_that_stays_fails_with_what_is_too_much():
    assert judged(reacting(100), touched(150), MEASURED).verdict is Verdict.PASS
    finding = judged(reacting(100), touched(160), MEASURED)
    assert (finding.verdict, finding.margin, finding.unit) == (Verdict.FAIL, -20.0, 'N')
    assert finding.at_ms == 150.0


def test_the_peak_of_the_impact_is_not_what_is_judged():
    sinking = felt((NOMINAL_MS, 0, 5.0), (0, 100, 500.0), (100, 300, 45.0), (300, END_MS, 5.0))
    finding = judged(reacting(100), sinking, MEASURED)
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, -5.0)


def test_a_measured_force_that_nobody_reports_is_inconclusive():
    assert judged(reacting(100), touching(), MEASURED).verdict is Verdict.INCONCLUSIVE


def test_a_contact_may_hide_where_the_feedback_is_silent():
    gap = felt((NOMINAL_MS, 0, 5.0), (0, 100, 60.0), (100, 400, 5.0))
    finding = judged(reacting(100), gap, MEASURED)
    assert finding.verdict is Verdict.INCONCLUSIVE and 'silent for 2110 ms' in finding.reason
    sparse = touched(100, every_ms=100.0)
    assert judged(reacting(100), sparse, MEASURED).verdict is Verdict.PASS


def test_a_force_that_is_reported_until_silence_lasts():
    silent = felt((NOMINAL_MS, 0, 5.0), (0, 100, 60.0))
    assert judged(reacting(100), silent, MEASURED).verdict is Verdict.FAIL


@for_each('filter_ms', [0.0, 50.0])
@for_each('value', [math.nan, math.inf, None])
def test_a_measured_force_that_is_no_number_never_passes(filter_ms, value):
    invariant = Force(**FIELDS, measured='felt', filter_ms=filter_ms)
    odd = reported(120.0, 0.0, topic='wrench_felt').model_copy(update={
        'message': twist(value if value is not None else None)})
    if value is None:
        odd = odd.model_copy(update={'message': odd.message.model_copy(
            update={'data': {'linear': {'x': ()}}})})
    assert judged(reacting(100), [*touched(120), odd], invariant).verdict is Verdict.INCONCLUSIVE


def test_a_filter_takes_away_a_short_spike():
    spike = felt((NOMINAL_MS, 0, 5.0), (0, 100, 60.0), (100, 600, 5.0), (600, 610, 300.0),
                 (610, END_MS, 5.0))
    quick = {**FIELDS, 'within': 8.0, 'measured': 'felt'}
    assert judged(reacting(100), spike, Force(**quick)).verdict is Verdict.FAIL
    calm = felt((NOMINAL_MS, 600, 5.0), (600, 610, 300.0), (610, END_MS, 5.0))
    assert 'no contact' in judged(reacting(100), calm, Force(**quick, filter_ms=100.0)).reason


def test_a_filtered_force_is_the_mean_of_what_was_held():
    """60 N from 0 ms on: the mean over 100 ms passes 40 N after 64 ms, and falls as slowly."""
    invariant = Force(**{**FIELDS, 'within': 200.0}, measured='felt', filter_ms=100.0)
    steps = felt((NOMINAL_MS, 0, 0.0), (0, 200, 60.0), (200, END_MS, 0.0), every_ms=1.0)
    finding = judged(reacting(100), steps, invariant)
    assert finding.verdict is Verdict.PASS
    assert 'for 167 ms' in finding.reason


def test_ten_thousand_contacts_are_judged_with_their_verdict():
    flicker = [shown(index / 5, 'wrench', force=60.0 if index % 2 else 5.0)
               for index in range(12_000)]
    brief = Force(**{**FIELDS, 'within': 0.1})
    assert judged(driving(-100, 2500, 0.0, every_ms=0.3), flicker, brief).verdict is Verdict.PASS


def test_twice_the_contacts_take_twice_the_steps():
    def check(count):
        flicker = [shown(index / 5, 'wrench', force=60.0 if index % 2 else 5.0)
                   for index in range(count)]
        judged(driving(-100, 2500, 0.0, every_ms=2600 / count), flicker,
               Force(**{**FIELDS, 'within': 0.1}))
    assert growth(check, 500) < 2.2


@for_each('changes', [
    {'within': 0}, {'within': math.nan}, {'at_most': -1.0}, {'push_at_most': -0.1},
    {'filter_ms': 10.0}, {'filter_ms': -1.0, 'measured': 'felt'}])
def test_limits_that_are_none_are_refused(changes):
    with pytest.raises(ValidationError):
        Force(**{**FIELDS, **changes})


def test_a_command_on_another_topic_is_no_command():
    stray = command(200.0, 0.0, topic='elsewhere')
    assert judged([stray]).verdict is Verdict.INCONCLUSIVE
