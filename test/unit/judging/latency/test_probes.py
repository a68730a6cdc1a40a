# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Probes: one answer each, how long it took by each method, and where the other clock is."""

from cases import for_each
from safety_scenarios.judging.latency.network import clock_offset, ProbeSample, samples
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.timing import Measuring
from unit.judging.latency.probing import answer, calibration, EVERY_MS, probe
from unit.records import fault, ns


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


def held_up(numbers: set[int]) -> list[ProbeSample]:
    """Return ten samples; the answers of ``numbers`` took 300 ms from stamp to arrival."""
    taken = calibration((50.0,), 10)
    events = [event if event.kind != 'command' or int(event.message.data['source']) not in numbers
              else event.model_copy(update={'stamps': event.stamps.model_copy(update={
                  'received_ns': event.stamps.received_ns + ns(300)})})
              for event in taken.events]
    return list(samples(taken.model_copy(update={'events': tuple(events)})))


def test_an_answer_that_was_held_up_on_the_way_is_timed_by_its_arrival():
    """One of ten: the others keep their source stamps, and this one is no fast answer."""
    found = held_up({3})
    assert [sample.elapsed_ns['source'] for sample in found] == [
        ns(350.5) if sample.number == 3 else ns(50.2) for sample in found]
