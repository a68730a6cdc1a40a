# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario or a plug-in gets wrong is an error of its trial, and loses nothing else."""

from typing import Any

from cases import for_each
from safety_scenarios.campaign.plugin_roles import InvariantPlugin
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.limits import Bound
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.body import Reaction
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from unit.records import benign_variant, hazard, reacting, record, shown, SIGNALS

SLOW = Bound(name='slow', signal='speed', at_most=1.0)
STRAY = Message(type='std_msgs/msg/String', data={'data': 'stop'})


class Raising(InvariantPlugin):
    """A plug-in with a mistake in it."""

    error: Any

    def check(self, trial: Any) -> Any:
        raise self.error


class Forgetful(InvariantPlugin):
    """A plug-in whose author forgot to return the finding."""

    def check(self, trial: JudgedTrial) -> Any:
        return None


def verdicts(result: TrialResult) -> dict[str, Verdict | None]:
    return {finding.check: finding.verdict for finding in result.findings}


@for_each('error', [ZeroDivisionError('x'), KeyError('y'), LookupError(),
                    AssertionError(), AttributeError('z'), RecursionError()])
def test_a_plug_in_that_raises_is_an_error_beside_the_other_findings(error):
    result = evaluate(record(reacting(150), hazard(invariants=(
        Raising(name='broken', error=error, severity=0.4), SLOW))))
    assert result.verdict is Verdict.ERROR
    found = verdicts(result)
    assert (found['broken'], found['slow']) == (Verdict.ERROR, Verdict.PASS)
    assert found['reaction within the budget'] is Verdict.PASS
    assert result.failure_class == 'none'


def test_a_plug_in_that_raises_does_not_hide_a_violation():
    result = evaluate(record(reacting(600), hazard(invariants=(
        Raising(name='broken', error=ValueError('x')),))))
    assert result.verdict is Verdict.FAIL


def test_a_plug_in_that_finds_nothing_is_an_error():
    result = evaluate(record(reacting(150), hazard(invariants=(Forgetful(name='f'), SLOW))))
    assert result.verdict is Verdict.ERROR
    assert verdicts(result)['slow'] is Verdict.PASS


def test_a_command_of_a_type_without_the_field_is_an_error():
    result = evaluate(record([*reacting(150), (-650, STRAY)], hazard(invariants=(SLOW,))))
    assert result.verdict is Verdict.ERROR
    assert "no field 'linear'" in result.reason
    assert verdicts(result)['slow'] is Verdict.ERROR


def test_a_reaction_on_a_field_that_is_missing_is_an_error():
    """The nominal requirement can be read; only the reaction looks where there is nothing."""
    signals = {**SIGNALS, 'lift': Signal(topic='cmd_vel', field='linear.w', unit='m/s')}
    reaction = Reaction(all=(Limit(signal='speed', at_most=0.05),
                             Limit(signal='lift', at_most=0.05)))
    scenario = hazard(signals=signals, reaction=reaction, invariants=(SLOW,))
    result = evaluate(record(reacting(150), scenario))
    assert result.verdict is Verdict.ERROR
    assert "no field 'w'" in result.reason
    assert verdicts(result)['slow'] is Verdict.PASS


def test_a_vector_without_a_reduction_is_an_error():
    signals = {'speed': Signal(topic='cmd_vel', field='linear', unit='m/s')}
    result = evaluate(record(reacting(150), hazard(signals=signals)))
    assert result.verdict is Verdict.ERROR and 'add reduce' in result.reason


def test_a_hazard_that_was_never_sent_is_not_answered():
    shown_never = record(reacting(150))
    events = tuple(event for event in shown_never.events if not event.hazard)
    result = evaluate(shown_never.model_copy(update={'events': events}))
    assert result.verdict is Verdict.ERROR


def sent(at_ms: float, late_ms: float, *, hazardous: bool = False) -> Event:
    """Return a stimulus that left late."""
    return shown(at_ms, 'heartbeat', due_ms=at_ms - late_ms).model_copy(
        update={'hazard': hazardous})


@for_each(('at_ms', 'late_ms', 'late'), [
    (500, 50, False), (500, 50.000001, True), (-650, 51, True), (2499, 51, True),
    (2501, 51, False), (-1001, 51, False), (-999, 51, True)])
@for_each('hazardous', [True, False])
def test_a_stimulus_that_the_harness_sent_late_leaves_the_verdict_open(at_ms, late_ms, late,
                                                                       hazardous):
    """From a second before onset to the all-clear: a gap may be what the controller obeyed."""
    found = record(reacting(150), hazard(invariants=(SLOW,)),
                   extra=[sent(at_ms, late_ms, hazardous=hazardous and at_ms > 0)])
    result = evaluate(found)
    assert result.verdict is (Verdict.INCONCLUSIVE if late else Verdict.PASS)
    if late:
        assert f'heartbeat was sent {late_ms:.0f} ms late' in result.reason


def test_a_hazard_that_the_harness_sent_late_is_inconclusive():
    result = evaluate(record(reacting(150), hazard_at=shown(due_ms=-51)))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert 'scan was sent 51 ms late' in result.reason


def test_a_ros_clock_that_stands_still_is_inconclusive():
    moving = record(reacting(150))
    events = tuple(event.model_copy(update={
        'stamps': event.stamps.model_copy(update={'ros_ns': 0})}) for event in moving.events)
    result = evaluate(moving.model_copy(update={'events': events}))
    assert result.verdict is Verdict.INCONCLUSIVE


def test_a_benign_variant_that_stops_fails_whatever_its_invariants_leave_out():
    stopped = [(-500, 0.8), *((float(at), 0.8 if at < 100 else 0.0) for at in range(0, 3000, 50))]
    result = evaluate(record(stopped, benign_variant(invariants=(SLOW,))))
    assert result.verdict is Verdict.FAIL
    assert any(finding.check == 'keeps working' for finding in result.findings)
