# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Probes and the network: how long each way took by each method, and where the other clock is."""

from collections.abc import Collection, Mapping
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.observation import CARRIED
from safety_scenarios.judging.latency.network import clock_offset, ProbeSample, samples
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import Verdict
from unit.judging.latency.probing import answer, calibration, EVERY_MS, probe
from unit.records import command, fault, hazard, mark, ns, record, reported

TWO = Measuring(hosts_because='the endpoints carry different host ids',
                uncertainty_ms={'received': 1.0})
KNOWN = TWO.model_copy(update={'acknowledged': True})
ONE = TWO.model_copy(update={'one_host': True})
AHEAD_MS = 3000.0
"""The other host's clock; none of the stamps of both may be compared."""
STOPS = Silence(policy='stop', driver_timeout_ms=100.0)
PASS, FAIL, INCONCLUSIVE = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE


def stream(reacts_ms: float = 50.0, *, late: Mapping[int, float] | None = None,
           lost: Collection[int] = (), until_ms: float = 3000.0, ppm: float = 0.0,
           speed: float = 0.0) -> list[Event]:
    """
    Return a command each 50 ms from -700 ms on, which take 2 ms.

    :param late: time at which one left, in ms, to how much longer it took
    :param lost: when those left that never came
    """
    waits = late or {}
    found = [command(
        at_ms + 2 + waits.get(at_ms, 0), 0.8 if at_ms < reacts_ms else speed,
        left_ms=at_ms + AHEAD_MS + at_ms * ppm / 1e6, arrived_ms=at_ms + 2 + waits.get(at_ms, 0),
        sequence=at_ms // 50 + 100) for at_ms in range(-700, round(until_ms), 50)
        if at_ms not in lost]
    return sorted(found, key=lambda event: event.stamps.steady_ns)


def judged(commands: list[Event], measuring: Measuring = TWO, silence: Silence | None = None,
           **changes: Any) -> TrialResult:
    return evaluate(record(commands, hazard(silence=silence or Silence()), measuring=measuring,
                           **changes))


def reached(*gap: int) -> list[Event]:
    """Return the acknowledgements of a responder, but for those within a gap (ms)."""
    return [mark('calibration/probe', at_ms).model_copy(update={'kind': 'reached'})
            for at_ms in range(-700, 3001, 50) if not gap or not gap[0] < at_ms < gap[1]]


def why(result: TrialResult) -> str:
    """Return what is said of the network, empty: nothing."""
    return next((one.reason for one in result.findings if one.check == CARRIED), '')


def held_up(from_ms: int, to_ms: int) -> dict[int, float]:
    """Return how late each message is of a stretch that arrives at its end."""
    return {at_ms: to_ms - at_ms for at_ms in range(from_ms, to_ms, 50)}


@pytest.mark.parametrize('ppm', [200.0, -200.0])
def test_a_clock_that_is_off_and_drifts_changes_nothing(ppm):
    assert judged(stream(ppm=ppm)).verdict is PASS
    assert judged(stream(reacts_ms=9999, ppm=ppm)).verdict is FAIL
    assert not why(judged(stream(ppm=ppm)))


def test_what_came_late_and_decides_nothing_is_judged():
    late = {600: 40.0, 650: 45.0}
    assert judged(stream(late=late)).verdict is PASS
    assert judged(stream(9999, late=late)).verdict is FAIL


def test_a_reaction_that_only_the_network_made_late_is_no_fail():
    late = held_up(50, 800)
    assert judged(stream(late=late), ONE).verdict is FAIL
    result = judged(stream(late=late))
    assert result.verdict is INCONCLUSIVE
    assert 'came 750 ms later' in why(result)
    assert 'FAIL as the messages arrived, and PASS as they left' in why(result)


def test_who_never_stops_is_not_found_out_through_a_network_that_held_up_the_hazard_too():
    result = judged(stream(9999, late=held_up(0, 300)))
    assert result.verdict is INCONCLUSIVE
    assert 'how late the hazard came there is unknown' in why(result)


def test_a_silence_that_the_network_made_stops_no_robot():
    late = held_up(0, 300)
    assert judged(stream(late=late), ONE, STOPS).verdict is PASS
    assert judged(stream(late=late), silence=STOPS).verdict is INCONCLUSIVE
    assert judged(stream(until_ms=1), ONE, STOPS).verdict is PASS
    result = judged(stream(until_ms=1), silence=STOPS)
    assert result.verdict is INCONCLUSIVE
    assert 'a network that is cut looks the same as a controller that stops sending' in why(result)


def test_a_silence_is_the_controllers_while_others_are_heard_from_its_host():
    reports = [reported(at_ms, 0.8, left_ms=at_ms + AHEAD_MS - 1, arrived_ms=at_ms)
               for at_ms in range(-700, 3000, 80)]
    assert judged([*stream(until_ms=1), *reports], silence=STOPS).verdict is PASS
    assert judged([*stream(until_ms=1), *reached()], KNOWN, STOPS).verdict is PASS
    assert judged([*stream(until_ms=1), *reached()], KNOWN).verdict is FAIL


@pytest.mark.parametrize(('lost', 'verdict'), [
    ((1000,), FAIL), ((1000, 1050, 1100), INCONCLUSIVE)])
def test_what_is_lost_for_long_may_have_been_the_stop(lost, verdict):
    result = judged(stream(9999, lost=lost))
    assert result.verdict is verdict
    assert ('3 messages were lost between two hosts' in why(result)) is (verdict is INCONCLUSIVE)


def test_a_hazard_that_nobody_knows_to_have_arrived_is_neither_missed_nor_answered():
    assert 'delivery-unknown' in {note.code for note in judged(stream()).notes}
    found = judged([*stream(), *reached()], KNOWN)
    assert 'delivery-unknown' not in {note.code for note in found.notes}
    for reacts_ms, verdict in ((50.0, PASS), (9999.0, FAIL)):
        assert judged([*stream(reacts_ms), *reached()], KNOWN).verdict is verdict
        result = judged([*stream(reacts_ms), *reached(0, 400)], KNOWN)
        assert result.verdict is INCONCLUSIVE
        assert 'for 400 ms nothing reached the other host' in why(result)
        assert judged([*stream(reacts_ms), *reached(-600, -300)], KNOWN).verdict is verdict


@for_each('gap', [(-701, 3001), (-550, 3001), (-701, 2900), (-10, 2400)])
def test_a_wire_that_was_cut_from_the_beginning_or_to_the_end_hides_the_hazard(gap):
    for reacts_ms in (50.0, 9999.0):
        assert judged([*stream(reacts_ms), *reached(*gap)], KNOWN).verdict is INCONCLUSIVE


def test_what_would_have_been_found_stays_readable():
    result = judged(stream(9999, lost=(1000, 1050, 1100)))
    assert any('not judged because of the network; it would be FAIL' in one.reason
               for one in result.findings)


def test_who_commands_twice_may_have_commanded_again_unless_the_other_host_was_heard():
    """Go and stop arrive, and then nothing: another go would look the same on a cut network."""
    twice = [command(at_ms + 2, speed, left_ms=at_ms + AHEAD_MS, arrived_ms=at_ms + 2,
                     sequence=number) for number, (at_ms, speed) in enumerate(
                         [(-600, 0.8), (50, 0.0)])]
    result = judged(twice)
    assert result.verdict is INCONCLUSIVE
    assert 'nothing was received from the other host' in why(result)
    assert judged(twice, ONE).verdict is PASS
    assert judged(twice, KNOWN, extra=reached()).verdict is PASS
    assert judged(twice, KNOWN, extra=reached(1000, 1500)).verdict is INCONCLUSIVE


def probed(*arguments: object, **changes: object) -> list[ProbeSample]:
    return list(samples(calibration(*arguments, **changes)))


def test_each_probe_knows_its_number_its_delay_and_how_late_it_left():
    found = probed((0.0, 50.0), 5, late_ms=lambda number: number / 10)
    assert [sample.number for sample in found] == [0, 1, 2, 3, 4]
    assert [sample.delay_ns for sample in found] == [0, ns(50), 0, ns(50), 0]
    assert [sample.late_ns for sample in found] == [ns(number / 10) for number in range(5)]


def test_an_answer_is_timed_by_every_method_that_its_stamps_allow():
    """Out 0.2, error 1, back 0.3, Python 0.5 ms; the evaluator wrote its time down 0.1 early."""
    [sample] = probed((50.0,), 1, error_ms=lambda number: 1.0)
    assert sample.elapsed_ns == {'source': ns(51.2), 'received': ns(51.5), 'callback': ns(52.1)}


def test_a_probe_that_left_late_is_timed_from_when_it_left():
    [sample] = probed((50.0,), 1, late_ms=lambda number: 9.0)
    assert sample.elapsed_ns['source'] == ns(50.2)


def test_on_two_hosts_the_source_stamps_say_nothing():
    [sample] = probed((50.0,), 1, ahead_ms=400.0, measuring=Measuring())
    assert sample.elapsed_ns == {'received': ns(50.5), 'callback': ns(51.1)}


def test_without_stamps_the_callback_is_left():
    [sample] = probed((50.0,), 1, bare=True)
    assert sample.elapsed_ns == {'callback': ns(51.1)}


def test_a_probe_without_an_answer_is_a_sample_without_one():
    found = probed((0.0,), 4, lost=(1, 2))
    assert [sample.answer is None for sample in found] == [False, True, True, False]
    assert found[1].elapsed_ns == {}


def with_more(*more: Event) -> list[ProbeSample]:
    record = calibration((0.0,), 2)
    events = sorted([*record.events, *more], key=lambda event: event.stamps.steady_ns)
    return list(samples(record.model_copy(update={'events': tuple(events)})))


def test_answers_find_their_probes_by_number_in_whatever_order():
    found = probed((80.0, 0.0), 6)
    assert [sample.elapsed_ns['source'] for sample in found] == [ns(80.2), ns(0.2)] * 3


def test_the_first_of_two_answers_counts():
    again = answer(0, there_ms=5, left_ms=5, arrived_ms=5.2, heard_ms=6)
    assert with_more(again)[0].elapsed_ns == with_more()[0].elapsed_ns


def test_probes_before_onset_and_answers_to_nobody_are_left_out():
    early = probe(1_000_000, 0.0, -1_000_000 * EVERY_MS - 100, hazardous=False)
    stray = answer(1_000_000, there_ms=-99, left_ms=-98, arrived_ms=-97, heard_ms=-96)
    assert [sample.number for sample in with_more(early, stray)] == [0, 1]


def test_a_step_leaves_only_the_steady_clock():
    record = calibration((50.0,), 1)
    events = tuple(event if event.name != 'end' else event.model_copy(update={
        'stamps': event.stamps.model_copy(update={
            'system_ns': event.stamps.system_ns + 10**10})}) for event in record.events)
    [sample] = samples(record.model_copy(update={'events': events}))
    assert sample.elapsed_ns == {'callback': ns(51.1)}


def test_a_record_without_probes_has_no_samples():
    assert list(samples(calibration((0.0,), 0, extra=[fault('MeasurementError', -300)]))) == []


def ways(ahead: int, *trips: tuple[int, int]) -> list[tuple[int, int, int, int]]:
    """Return the four times of probes that took (there, back) ns; the other thinks for 10."""
    return [(1000 * k, 1000 * k + out + ahead, 1000 * k + out + 10 + ahead,
             1000 * k + out + 10 + back) for k, (out, back) in enumerate(trips)]


def test_equal_ways_give_the_offset_itself():
    found = clock_offset(ways(500, (100, 100), (140, 140)))
    assert found is not None
    assert (found.offset_ns, found.bound_ns, found.probes) == (500, 100, 2)
    assert (found.outbound_ns, found.inbound_ns) == (120, 120)


def test_unequal_ways_are_within_the_bound():
    """Out 300 ns, back 100: the middle is 100 off, and the bound says 200."""
    found = clock_offset(ways(500, (300, 100)))
    assert found is not None
    assert (found.offset_ns, found.bound_ns) == (600, 200)


def test_the_quickest_trip_of_either_way_narrows_the_bound():
    found = clock_offset(ways(0, (300, 20), (10, 400), (500, 500)))
    assert found is not None
    assert (found.offset_ns, found.bound_ns) == (-5, 15)


def test_a_bound_of_half_a_nanosecond_is_rounded_up():
    found = clock_offset(ways(0, (4, 3)))
    assert found is not None and (found.offset_ns, found.bound_ns) == (0, 4)


@for_each('ahead', [0, -10**18, 10**18, 3])
def test_an_offset_may_be_anything(ahead):
    found = clock_offset(ways(ahead, (100, 100)))
    assert found is not None and found.offset_ns == ahead


def test_the_spread_is_what_single_messages_took_longer_than_the_median():
    found = clock_offset(ways(0, *[(100, 100)] * 10, *[(140, 100)] * 9, (900, 100)))
    assert found is not None and (found.outbound_ns, found.spread_ns) == (120, 780)
    assert found.split_bound_ns == found.bound_ns + 780


def test_without_probes_there_is_no_offset():
    assert clock_offset([]) is None


def test_probes_that_no_offset_fits_give_none():
    """A clock was stepped between them: the answer left before the probe had come."""
    assert clock_offset([*ways(0, (10, 10)), *ways(1000, (10, 10))]) is None
    assert clock_offset(ways(0, (10, -11))) is None
    touching = clock_offset(ways(0, (10, -10)))
    assert touching is not None and touching.bound_ns == 0


def delayed(numbers: set[int]) -> list[ProbeSample]:
    """Return ten samples; the answers of ``numbers`` took 300 ms from stamp to arrival."""
    taken = calibration((50.0,), 10)
    events = [event if event.kind != 'command' or int(event.message.data['source']) not in numbers
              else event.model_copy(update={'stamps': event.stamps.model_copy(update={
                  'received_ns': event.stamps.received_ns + ns(300)})})
              for event in taken.events]
    return list(samples(taken.model_copy(update={'events': tuple(events)})))


def test_an_answer_that_was_held_up_on_the_way_is_timed_by_its_arrival():
    """One of ten: the others keep their source stamps, and this one is no fast answer."""
    found = delayed({3})
    assert [sample.elapsed_ns['source'] for sample in found] == [
        ns(350.5) if sample.number == 3 else ns(50.2) for sample in found]
