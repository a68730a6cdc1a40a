# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A bound holds for every command of its phase, limits included; what is unknown never passes."""

import math
from typing import Any

import pytest

from safety_scenarios.invariants.bound import Bound
from safety_scenarios.model.message import Message
from safety_scenarios.model.result import Finding, Verdict
from safety_scenarios.model.signal import Signal
from safety_scenarios.model.trial import TrialRecord
from unit.records import driving, hazard, mark, planned, record, twist

LIMIT = Bound(name='b', signal='speed', at_most=1.0)
DURING = Bound(name='b', signal='speed', at_least=0.3, during='hazard')


def judged(commands: Any, invariant: Bound = LIMIT, **changes: Any) -> Finding:
    return invariant.check(record(commands, hazard(invariants=[invariant]), **changes))


def test_the_exact_limit_holds():
    finding = judged([(-100, 0.5), (100, 1.0)])
    assert (finding.verdict, finding.margin, finding.unit) == (Verdict.PASS, 0.0, 'm/s')


def test_one_step_past_the_limit_fails():
    finding = judged([(-100, 0.5), (100, math.nextafter(1.0, 2.0)), (200, 0.0)])
    assert finding.verdict is Verdict.FAIL
    assert finding.margin is not None and finding.margin < 0
    assert finding.at_ms == 100.0


def test_a_lower_limit_is_inclusive_too():
    assert judged([(-10, 0.3), (100, 0.3)], DURING).verdict is Verdict.PASS
    assert judged([(-10, 0.3), (100, math.nextafter(0.3, 0.0))], DURING).verdict is Verdict.FAIL


def test_the_margin_is_the_smallest_distance():
    both = Bound(name='b', signal='speed', at_least=0.2, at_most=1.0)
    finding = judged([(-100, 0.5), (100, 0.7), (200, 0.3)], both)
    assert (finding.verdict, finding.margin) == (Verdict.PASS, pytest.approx(0.1))
    finding = judged([(-100, 0.5), (100, 1.4), (200, 1.1), (300, 0.1)], both)
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, pytest.approx(-0.4))
    assert finding.at_ms == 100.0


def test_no_command_is_inconclusive():
    assert judged([]).verdict is Verdict.INCONCLUSIVE
    assert judged([], DURING).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('invariant', [LIMIT, DURING])
def test_an_empty_record_is_inconclusive(invariant):
    empty = TrialRecord(trial=planned(hazard()), events=())
    assert invariant.check(empty).verdict is Verdict.INCONCLUSIVE


def test_a_command_on_another_topic_is_no_command():
    stray = record([], extra=[record([(0, 0.5)]).of_kind('command')[0].model_copy(
        update={'name': 'elsewhere'})])
    assert LIMIT.check(stray).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_value_that_is_not_known_is_inconclusive(value):
    finding = judged([(-100, 0.5), (100, value), (200, 0.5)])
    assert (finding.verdict, finding.margin, finding.at_ms) == (Verdict.INCONCLUSIVE, None, 100.0)


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_violation_beside_an_unknown_value_fails(value):
    assert judged([(-100, value), (100, 1.5), (200, value)]).verdict is Verdict.FAIL


@pytest.mark.parametrize('value', [math.inf, -math.inf])
def test_an_infinite_speed_fails_without_a_number(value):
    finding = judged([(100, value)])
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, None)


@pytest.mark.parametrize('limits', [{'at_most': 1.0}, {'at_least': -1.0}])
@pytest.mark.parametrize('value', [math.inf, -math.inf])
def test_an_infinite_value_never_passes(limits, value):
    signed = Bound(name='b', signal='x', **limits)
    scenario = hazard(signals={'x': Signal(topic='cmd_vel', field='linear.x', unit='m/s')},
                      reaction=None, domain='robotic_defer')
    assert signed.check(record([(100, value)], scenario)).verdict is not Verdict.PASS


def test_of_two_commands_at_one_instant_the_worse_counts():
    assert judged([(100, 5.0), (100, 0.0)]).verdict is Verdict.FAIL
    assert judged([(100, 0.0), (100, 5.0)]).verdict is Verdict.FAIL


def test_a_whole_trial_counts_from_its_start_to_its_end():
    assert judged([(-699, 1.5), (100, 0.5)]).verdict is Verdict.FAIL
    assert judged([(100, 0.5), (2999, 1.5)]).verdict is Verdict.FAIL


def test_the_hazard_phase_ends_with_clearance():
    moving = [(-10, 0.8), (100, 0.8)]
    assert judged([*moving, (2500, 0.0)], DURING).verdict is Verdict.FAIL
    assert judged([*moving, (2500.001, 0.0)], DURING).verdict is Verdict.PASS


def test_the_value_in_force_at_onset_counts():
    assert judged([(-300, 0.8), (-10, 0.0), (50, 0.8)], DURING).verdict is Verdict.FAIL
    assert judged([(-300, 0.0), (-10, 0.8), (50, 0.8)], DURING).verdict is Verdict.PASS


def test_a_command_from_before_onset_does_not_answer_for_the_hazard_phase():
    """Silence in the phase: a driver that hears nothing stops the robot."""
    assert judged([(-10, 0.1)], DURING).verdict is Verdict.FAIL
    assert judged([(-10, 0.8)], DURING).verdict is Verdict.INCONCLUSIVE


def test_without_a_clearance_the_hazard_phase_was_not_observed():
    finding = judged(driving(-100, 3000), DURING, clearance_ms=None)
    assert finding.verdict is Verdict.INCONCLUSIVE


def test_without_an_onset_the_hazard_phase_was_not_observed():
    assert judged(driving(-100, 3000), DURING, onset=False).verdict is Verdict.INCONCLUSIVE


def test_a_message_without_the_field_is_a_lookup_error():
    stray = Message(type='std_msgs/msg/String', data={'data': 'stop'})
    with pytest.raises(LookupError, match="no field 'linear'"):
        judged([(100, stray)])


def test_a_faster_turn_does_not_count_as_speed():
    assert judged([(100, twist(0.5, turn=9.0))]).verdict is Verdict.PASS


def test_the_severity_goes_into_the_finding():
    mild = Bound(name='b', signal='speed', at_most=1.0, severity=0.4)
    assert judged([(100, 2.0)], mild).severity == 0.4


def test_a_mark_is_no_command():
    assert LIMIT.check(record([], extra=[mark('cmd_vel', 10)])).verdict is Verdict.INCONCLUSIVE
