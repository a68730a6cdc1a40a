# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the harness itself adds: known delays recovered, and what could not be is told."""

from typing import Any

from cases import for_each
import pytest
from safety_scenarios.campaign.calibration import (
    calibrate,
    calibration_trial,
    DELAYS_MS,
    PROBES_EACH,
    RATE_HZ,
)
from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.timing import ANSWER, Calibration, Measuring, PROBE
from safety_scenarios.stimuli.messages import Probe
from safety_scenarios.trial.run import run_trial
from unit.judging.latency.probing import calibration, reference
from unit.records import fault, ns
from unit.scripted import ScriptedLink

TWO = (0.0, 50.0)


def found(*arguments: Any, **changes: Any) -> Calibration:
    return calibrate(calibration(*arguments, **changes), {'cpu': 'abacus'})


def values(estimates: tuple[Any, Any] | None) -> tuple[float, float]:
    assert estimates is not None
    return tuple(round(estimate.value, 6) for estimate in estimates)


def test_the_floor_is_what_an_answer_at_once_takes():
    result = found(TWO, 40, error_ms=lambda number: 0.3)
    assert result.method == 'source' and values(result.floor_ms) == (0.5, 0.5)
    assert result.floor_ms is not None and result.floor_ms[0].n == 20


def test_each_known_delay_is_recovered_with_its_error_by_each_method():
    """Out 0.2, error 0.3, back 0.3, Python 0.5, publish 0.1 ms."""
    result = found((0.0, 5.0, 50.0), 30, error_ms=lambda number: 0.3)
    assert [(known.delay_ms, known.sent, known.lost) for known in result.delays] == [
        (0.0, 10, 0), (5.0, 10, 0), (50.0, 10, 0)]
    for known in result.delays:
        assert {method: values(pair) for method, pair in known.error_ms.items()} == {
            'source': (0.5, 0.5), 'received': (0.8, 0.8), 'callback': (1.4, 1.4)}


def test_median_and_99th_percentile_are_of_the_errors():
    result = found((50.0,), 300, error_ms=lambda number: number / 100)
    [known] = result.delays
    assert values(known.error_ms['source']) == (1.695, 3.17)
    assert [estimate.n for estimate in known.error_ms['source']] == [300, 300]


def test_twice_the_root_mean_square_is_the_uncertainty():
    assert found(TWO, 40, error_ms=lambda number: 0.3).uncertainty_ms == {
        'source': 1.0, 'received': 1.6, 'callback': 2.8}


def test_an_answer_too_early_is_as_wrong_as_one_too_late():
    early = found((50.0,), 20, out_ms=0.0, error_ms=lambda number: -0.4)
    assert early.uncertainty_ms['source'] == 0.8


def rare(every: int, ms: float) -> Any:
    return lambda number: ms if number % every == 0 else 0.0


def test_one_error_in_twenty_is_in_the_root_mean_square():
    result = found((50.0,), 20, out_ms=0.0, error_ms=rare(20, 10.0))
    assert result.uncertainty_ms['source'] == pytest.approx(2 * (100 / 20)**0.5, abs=1e-6)


@pytest.mark.parametrize('error_ms', [10.0, -10.0])
def test_two_in_twenty_are_the_95th_percentile(error_ms):
    result = found((50.0,), 20, out_ms=0.0, error_ms=rare(10, error_ms))
    assert result.uncertainty_ms['source'] == 10.0 > 2 * (200 / 20)**0.5


def test_answers_at_once_are_the_floor_and_not_the_uncertainty():
    """On the floor a slow host shows; it is no error against a delay that was asked for."""
    late = found(TWO, 40, out_ms=0.0, error_ms=lambda number: 9.0 if number % 2 == 0 else 0.0)
    assert values(late.floor_ms) == (9.0, 9.0) and late.uncertainty_ms['source'] == 0.0


def test_without_a_probe_that_asks_for_no_delay_there_is_no_floor():
    assert found((50.0,), 10).floor_ms is None


def test_lost_probes_are_counted_and_told():
    result = found(TWO, 80, lost=(0, 1, 3))
    assert [(known.delay_ms, known.sent, known.lost) for known in result.delays] == [
        (0.0, 40, 1), (50.0, 40, 2)]
    assert '3 of 80 probes were not answered' in result.notes


def test_a_lost_probe_is_later_than_any_other():
    result = found(TWO, 80, lost=(0,))
    assert result.floor_ms is not None
    assert (result.floor_ms[1].value, result.floor_ms[1].n) == (None, 40)
    assert result.floor_ms[0].value is not None


@for_each(('count', 'lost', 'enough'), [
    (40, (), True), (40, (1,), True), (40, (1, 3), False), (80, (1, 3), True),
    (80, (1, 3, 5), False), (20, (), True), (20, (1,), False), (18, (), False)])
def test_at_least_ten_answers_and_19_of_20_are_needed_for_each_delay(count, lost, enough):
    if enough:
        assert found(TWO, count, lost=lost).uncertainty_ms['source']
        return
    with pytest.raises(MeasurementError, match='were not answered'):
        found(TWO, count, lost=lost)


def test_a_delay_of_which_nothing_came_back_is_refused_though_the_others_did():
    """Else there would be a floor, and no uncertainty at all."""
    with pytest.raises(MeasurementError, match='20 of 20 probes with a delay of 50 ms'):
        found(TWO, 40, lost=range(1, 40, 2))


def test_a_calibration_that_nobody_answered_is_refused():
    with pytest.raises(MeasurementError, match='20 of 20 probes'):
        found(TWO, 40, lost=range(40))
    with pytest.raises(MeasurementError, match='no probe was sent'):
        found(TWO, 0)


def test_a_calibration_with_a_fault_is_refused_with_its_reason():
    with pytest.raises(MeasurementError, match='the responder died'):
        found(TWO, 40, extra=[fault('ControllerError', -300, 'the responder died')])


@for_each(('changes', 'method', 'reason'), [
    ({}, 'source', None),
    ({'measuring': Measuring(hosts_because='two machines')}, 'received', 'two machines'),
    ({'ahead_ms': 30.0}, 'received', 'another clock'),
    ({'bare': True}, 'callback', 'the middleware gives no stamps')])
def test_the_best_method_is_the_one_that_all_answers_allow(changes, method, reason):
    result = found(TWO, 40, **changes)
    assert result.method == method and method in result.uncertainty_ms
    told = [note for note in result.notes if 'no source stamps' in note]
    assert bool(told) is (reason is not None) and (reason or '') in ''.join(told)
    assert 'source' not in result.uncertainty_ms or method == 'source'


def test_one_answer_without_a_stamp_leaves_the_next_best_method():
    whole = calibration(TWO, 40)
    answers = [event for event in whole.events if event.name == ANSWER]
    bare = answers[20].model_copy(update={'stamps': answers[20].stamps.model_copy(
        update={'source_ns': None})})
    result = calibrate(whole.model_copy(update={'events': tuple(
        bare if event is answers[20] else event for event in whole.events)}), {})
    assert result.method == 'received'


@pytest.mark.parametrize(('each', 'enough'), [(298, False), (299, True)])
def test_a_sample_too_small_for_a_claim_says_so(each, enough):
    notes = found(TWO, 2 * each).notes
    assert any('n too small for a p99 claim' in note for note in notes) is not enough


def test_the_full_form_is_large_enough_and_the_short_one_is_not():
    assert PROBES_EACH['full'] >= 299 > PROBES_EACH['short']


def test_how_late_stimuli_left_is_told():
    result = found((50.0,), 100, late_ms=lambda number: 4.0 if number == 7 else 0.0)
    assert result.late_ms is not None and result.late_ms.value == 4.0
    assert result.uncertainty_ms['source'] == 0.4


def test_what_it_was_measured_on_is_kept():
    assert found(TWO, 40).host == {'cpu': 'abacus'}


class Responding(ScriptedLink):
    """Answers probes after their delay and 0.25 ms of transport each way, in simulated time."""

    def __init__(self, *, after: float = 0.0) -> None:
        super().__init__()
        self._due: list[tuple[int, Event]] = []
        self._after_ns = ns(after)

    def send(self, stimulus, *, hazard, scheduled_ns):
        if stimulus.topic == PROBE:
            number, delay = stimulus.message.at('source'), stimulus.message.at('time_ref')
            delay_ns = delay['sec'] * 10**9 + delay['nanosec'] + self._after_ns
            arrival_ns = self.now_ns + ns(0.5) + delay_ns
            self._due.append((arrival_ns, number))
            self._due.sort()
        return super().send(stimulus, hazard=hazard, scheduled_ns=scheduled_ns)

    def receive_until(self, steady_ns):
        if self._due and self._due[0][0] <= steady_ns:
            self.now_ns, number = max(self.now_ns, self._due[0][0]), self._due.pop(0)[1]
            return [Event(kind='command', name=ANSWER, stamps=self._stamps(),
                          message=reference(int(number), 0))]
        self.now_ns = max(self.now_ns, steady_ns)
        return []


@pytest.mark.parametrize('form', ['short', 'full'])
def test_a_whole_calibration_recovers_the_delays_of_its_probes(form):
    delays = DELAYS_MS[form]
    trial = calibration_trial(
        Probe(rate_hz=RATE_HZ, first=1_000_000), Probe(rate_hz=RATE_HZ, delays_ms=delays),
        ANSWER, PROBES_EACH[form] * len(delays), max(delays))
    result = calibrate(run_trial(trial, Responding(after=0.1)), {})
    assert [(known.delay_ms, known.sent, known.lost) for known in result.delays] == [
        (delay_ms, PROBES_EACH[form], 0) for delay_ms in delays]
    assert all(values(known.error_ms['callback']) == (0.6, 0.6) for known in result.delays)
    assert result.uncertainty_ms == {'callback': 1.2} and result.method == 'callback'
    assert result.late_ms is not None and result.late_ms.value == 0.0


def test_a_calibration_waits_for_the_last_answer():
    """Its last probe asks for the longest delay."""
    trial = calibration_trial(Probe(rate_hz=RATE_HZ, first=100),
                              Probe(rate_hz=RATE_HZ, delays_ms=(0.0, 2000.0)), ANSWER, 40,
                              2000.0)
    result = calibrate(run_trial(trial, Responding()), {})
    assert [known.lost for known in result.delays] == [0, 0]


def test_a_calibration_without_a_responder_is_refused():
    trial = calibration_trial(Probe(rate_hz=RATE_HZ, first=100), Probe(rate_hz=RATE_HZ), ANSWER,
                              8, 0.0)
    with pytest.raises(MeasurementError):
        calibrate(run_trial(trial, ScriptedLink()), {})


def test_the_error_from_the_schedule_counts_what_the_probes_were_late():
    """A sender that is held up sends its worst probes late: their lateness is not forgotten."""
    result = found((50.0,), 300, late_ms=rare(50, 40.0))
    [known] = result.delays
    assert values(known.error_ms['source']) == (0.2, 0.2)
    assert values(known.from_schedule_ms) == (0.2, 40.2)
