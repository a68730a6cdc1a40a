# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the harness itself adds to a latency: probes of known delay, through the real link."""

from collections.abc import Iterator, Mapping, Sequence
import math

from safety_scenarios.campaign.statistics.quantiles import enough_for, quantile
from safety_scenarios.errors import MeasurementError
from safety_scenarios.judging.latency.clocks import Clocks
from safety_scenarios.judging.latency.network import ProbeSample, samples
from safety_scenarios.judging.latency.stream import WakeUps
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import AllClear, Nominal, Requirement, RobotBody
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.scenario import Constraint, Scenario
from safety_scenarios.scenario.settings import DEFAULT_ROBOT
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.scenario.timing import (
    Calibration,
    DelayRecovery,
    Method,
    METHODS,
    PROBE_TYPE,
)
from safety_scenarios.scenario.verdict import Estimate, LatencyBudget
from safety_scenarios.trial.trial import Timeline, Trial, TrialRecord

RATE_HZ = 37.0
"""Probes a second: about that of stimuli, and no divisor of the delays, so that phases mix."""
DELAYS_MS = {'short': (0.0, 50.0), 'full': (0.0, 5.0, 50.0, 200.0)}
PROBES_EACH = {'short': 40, 'full': 300}
"""Probes of each delay: 299 are needed for a claim about the 99th percentile."""
_LEAST, _LOST_SHARE = 10, 0.05
"""With fewer answers, or more lost ones, a floor would be a guess."""
_LEAD_MS = 300.0
"""Endpoints and caches are warm by then."""
_PATIENCE_MS = 300.0
"""For the answers to the last probes."""
_LONGEST_MS = 10_000.0
"""Longer than any known delay; nothing is judged by it."""


def calibration_trial(before: StimulusPlugin, probes: StimulusPlugin, answer: str, count: int,
                      longest_ms: float) -> Trial:
    """
    Return a trial that sends ``count`` probes on a fixed schedule, answered or not.

    :param before: probes that show that the responder is there
    :param answer: topic of the answers
    :param longest_ms: the longest delay asked for
    """
    last_ms = (count - 0.5) * 1e3 / RATE_HZ
    ros = RobotBody(
        robot=DEFAULT_ROBOT,
        nominal=Nominal(duration_ms=(_LEAD_MS, _LEAD_MS), stimuli=(before,),
                        require=Requirement(signal='delay', at_least=0.0, within_ms=_LONGEST_MS)),
        stimuli=(probes,), all_clear=AllClear(at_ms=last_ms + longest_ms + _PATIENCE_MS),
        commands=(CommandTopic(topic=answer, message=PROBE_TYPE),),
        signals={'delay': Signal(topic=answer, field='time_ref.nanosec', unit='1')})
    scenario = Scenario(
        id='calibration', name='calibration', domain='robotic_defer',
        description='Probes of known delay.', expected_action='Answer each after its delay.',
        messages=(ChatMessage(role='user', content='probe'),),
        latency_budget=LatencyBudget(target_ms=1.0, acceptable_ms=1.0, critical_ms=_LONGEST_MS),
        constraint=Constraint(description='calibration', time_pressure='immediate',
                              consequence_of_delay='none'), body=ros)
    return Trial(
        trial_id='calibration', scenario=scenario, controller='responder', index=0, seed=0,
        onset_delay_ns=round(_LEAD_MS * 1e6), nominal_timeout_ns=round(_LONGEST_MS * 1e6),
        nominal=(before,), hazard=(probes,), all_clear_ns=round(last_ms * 1e6),
        end_ns=round((last_ms + longest_ms + _PATIENCE_MS) * 1e6))


def calibrate(record: TrialRecord, host: Mapping[str, object]) -> Calibration:
    """
    Return floor, error and uncertainty from the record of a calibration trial.

    The expanded uncertainty of a method is twice the root mean square of its errors against the
    known delays, or their 95th percentile if that is larger. It takes the way to the responder and
    the responder's own lateness for errors of the harness, and so errs on the wide side. On a busy
    host, whose load comes in bursts, so few probes do not meet the worst of it: there, what all
    threads of the harness met in waking up is added twice, as in a trial (``Timeline.busy_ns``).

    :raises MeasurementError: the record has a fault, or too few probes were answered
    """
    for fault in record.of_kind('fault'):
        raise MeasurementError(f'calibration: {fault.text}')
    found = list(samples(record))
    delays = tuple(_recovered_delay(delay_ns, found) for delay_ns in
                   sorted({sample.delay_ns for sample in found}))
    if not delays:
        raise MeasurementError('calibration: no probe was sent')
    for known in delays:
        if known.sent - known.lost < _LEAST or known.lost > _LOST_SHARE * known.sent:
            raise MeasurementError(f'calibration: {known.lost} of {known.sent} probes with a '
                                   f'delay of {known.delay_ms:g} ms were not answered. Lower the '
                                   f'load of the host')
    method = _best(found)
    notes = list(_notes(record, found, delays))
    floor = next((known.error_ms.get(method) for known in delays if not known.delay_ms), None)
    wake_ups = WakeUps(record)
    busy_ms = round(wake_ups.busy_ns() / 1e6, 6)
    if busy_ms:
        notes.append(f'the host was busy: threads woke up as much as {busy_ms:.2f} ms later than '
                     f'usual, which is part of the uncertainty. Lower the load')
    return Calibration(
        wake_ups_ms=wake_ups.usual(), busy_ms=busy_ms,
        method=method, floor_ms=floor, delays=delays,
        late_ms=_quantile([sample.late_ns / 1e6 for sample in found], 0.99),
        uncertainty_ms=_uncertainty(found, busy_ms), host=dict(host), notes=tuple(notes))


def _best(found: Sequence[ProbeSample]) -> Method:
    answered = [sample for sample in found if sample.answer is not None]
    return next(method for method in METHODS
                if all(method in sample.elapsed_ns for sample in answered))


def _recovered_delay(delay_ns: int, found: Sequence[ProbeSample]) -> DelayRecovery:
    mine = [sample for sample in found if sample.delay_ns == delay_ns]
    errors: dict[str, tuple[Estimate, Estimate]] = {}
    for method in METHODS:
        values = [_error_ms(sample, method) for sample in mine]
        if any(value is not None for value in values):
            errors[method] = (_quantile(values, 0.5), _quantile(values, 0.99))
    best: Method = next((method for method in METHODS if method in errors), 'callback')
    scheduled = [None if (error := _error_ms(sample, best)) is None
                 else error + sample.late_ns / 1e6 for sample in mine]
    return DelayRecovery(delay_ms=delay_ns / 1e6, sent=len(mine),
                         lost=sum(sample.answer is None for sample in mine), error_ms=errors,
                         from_schedule_ms=(_quantile(scheduled, 0.5), _quantile(scheduled, 0.99)))


def _quantile(values: Sequence[float | None], p: float) -> Estimate:
    """Return a quantile of probes without an interval: a load lasts longer than one of them."""
    found = quantile(values, p, 'ms')
    return found.model_copy(update={
        'low': None, 'high': None,
        'method': f'{found.method.partition(":")[0]}: no interval: probes in a row are alike'})


def _error_ms(sample: ProbeSample, method: Method) -> float | None:
    elapsed_ns = sample.elapsed_ns.get(method)
    return None if elapsed_ns is None else (elapsed_ns - sample.delay_ns) / 1e6


def _uncertainty(found: Sequence[ProbeSample], busy_ms: float) -> dict[str, float]:
    result: dict[str, float] = {}
    for method in METHODS:
        errors = sorted(abs(error) for sample in found if sample.delay_ns
                        and (error := _error_ms(sample, method)) is not None)
        if errors:
            rms = math.sqrt(math.fsum(error * error for error in errors) / len(errors))
            own_ms = max(2 * rms, errors[int(0.95 * (len(errors) - 1))])
            result[method] = round(math.hypot(own_ms, 2 * busy_ms), 6)
    return result


def _notes(record: TrialRecord, found: Sequence[ProbeSample],
           delays: Sequence[DelayRecovery]) -> Iterator[str]:
    lost = sum(known.lost for known in delays)
    if lost:
        yield f'{lost} of {len(found)} probes were not answered'
    small = enough_for(min(known.sent for known in delays), 0.99, 0.95)
    if small:
        yield small
    answer = next(sample.answer for sample in found if sample.answer is not None)
    _, reason = Clocks(Timeline(record)).allowed(answer)
    if reason:
        yield f'no source stamps: {reason}'
