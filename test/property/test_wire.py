# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What each fault of a wire does to any stream of messages: what it says, and nothing else."""

from collections import Counter
import json
import math
from typing import Any

from cases import for_each
from examples import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
import pytest
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.wire_fault import OF_TIME, WireFault
from safety_scenarios.stimuli.wire import altered, Packet, schedule, timing, Way, Wire

thorough = settings(deadline=None, max_examples=up_to(100), derandomize=True)
seeds = st.integers(0, 2**31 - 1)
shares = st.floats(0.01, 1.0)
times = st.lists(st.integers(1, 200_000_000), min_size=1, max_size=60).map(
    lambda gaps: [sum(gaps[:place]) for place in range(1, len(gaps) + 1)])
"""Strictly rising, as the moments are at which messages come."""
readings = st.floats(width=32, allow_nan=True, allow_infinity=True)


def numbers(size=8):
    return st.lists(readings, min_size=1, max_size=size).map(tuple)


@st.composite
def scans(draw: Any) -> Packet:
    data = {'header': {'frame_id': 'laser'}, 'angle_min': -1.5, 'angle_increment': 0.01,
            'range_min': 0.1, 'range_max': 12.0, 'scan_time': 0.05, 'ranges': draw(numbers()),
            'intensities': draw(numbers()), 'count': draw(st.integers(0, 9)), 'word': 'as it was',
            'pose': {'position': {axis: draw(readings) for axis in 'xyz'},
                     'covariance': (1.0,) * 36}}
    return Packet(Message(type='test_msgs/msg/Scan', data=data),
                  draw(st.integers(10**18, 2 * 10**18)))


def fault(kind: str, **numbers: Any) -> WireFault:
    return WireFault(kind=kind, **numbers)  # type: ignore[arg-type]


def passed(what: WireFault, moments: list[int]) -> list[tuple[int, int]]:
    """Return (when, which) of what comes out of a stream of 0, 1, 2, ..."""
    once, again = [[out for number, now_ns in enumerate(moments)
                    for out in one.take(number, now_ns)] for one in (timing(what), timing(what))]
    assert once == again, 'the same seed gives the same'
    dues = [due_ns for due_ns, _ in once]
    assert dues == sorted(dues), 'what comes out is in the order of its times'
    assert all(due_ns >= moments[number] for due_ns, number in once), 'nothing is early'
    return once


@thorough
@given(times)
def test_what_is_frozen_is_the_first_message_each_time_that_one_comes(moments):
    assert passed(fault('freeze'), moments) == [(now_ns, 0) for now_ns in moments]
    frozen = timing(fault('freeze'), last=-1)
    assert [frozen.take(number, now_ns) for number, now_ns in enumerate(moments)] == [
        [(now_ns, -1)] for now_ns in moments], 'or the last one before the fault'


@thorough
@given(times, shares, seeds)
def test_what_is_dropped_is_lost_and_all_else_comes_on_time(moments, share, seed):
    found = passed(fault('drop', share=share, seed=seed), moments)
    assert [due_ns for due_ns, _ in found] == [moments[number] for _, number in found]
    kept = [number for _, number in found]
    assert kept == sorted(set(kept)) and 0 not in kept
    assert share < 1 or not kept


@thorough
@given(times, shares, seeds, st.integers(1, 30))
def test_so_many_are_lost_and_no_more(moments, share, seed, most):
    """The same ones as without an end, until so many are."""
    found = passed(fault('drop', share=share, seed=seed, messages=most), moments)
    lost = sorted(set(range(len(moments))) - {number for _, number in found})
    endless = {number for _, number in passed(fault('drop', share=share, seed=seed), moments)}
    assert lost == sorted(set(range(len(moments))) - endless)[:most]


@pytest.mark.parametrize('share', [0.1, 0.5, 0.9])
@pytest.mark.parametrize('kind', ['drop', 'duplicate'])
def test_chance_hits_its_share(kind, share):
    count = 20_000
    found = passed(fault(kind, share=share), list(range(count)))
    hits = abs(len(found) - count)
    assert abs(hits - share * count) < 5 * math.sqrt(count * share * (1 - share))


@thorough
@given(times, st.floats(0.001, 5_000))
def test_what_is_delayed_comes_later_by_the_same_and_all_of_it(moments, delay_ms):
    found = passed(fault('delay', delay_ms=delay_ms), moments)
    assert found == [(now_ns + round(delay_ms * 1e6), number)
                     for number, now_ns in enumerate(moments)]


@thorough
@given(times, st.floats(0.001, 5_000), seeds)
def test_jitter_keeps_its_bounds_its_order_and_every_message(moments, jitter_ms, seed):
    found = passed(fault('jitter', jitter_ms=jitter_ms, seed=seed), moments)
    assert [number for _, number in found] == list(range(len(moments)))
    late = [due_ns - moments[number] for due_ns, number in found]
    assert all(0 <= one <= round(jitter_ms * 1e6) for one in late)
    assert late[0] == round(jitter_ms * 1e6)


@thorough
@given(times, shares, st.integers(1, 5), seeds)
def test_a_duplicate_comes_right_behind_and_nothing_is_lost(moments, share, copies, seed):
    found = passed(fault('duplicate', share=share, copies=copies, seed=seed), moments)
    assert set(Counter(number for _, number in found).values()) <= {1, 1 + copies}
    assert [number for _, number in found] == sorted(number for _, number in found)
    assert {number for _, number in found} == set(range(len(moments)))
    assert all(due_ns == moments[number] for due_ns, number in found)
    assert len(found) > len(moments)


@thorough
@given(times, shares, seeds)
def test_what_is_overtaken_is_so_by_one_message_and_nothing_is_lost(moments, share, seed):
    way = Way([fault('reorder', share=share, seed=seed)])
    found = [out for number, now_ns in enumerate(moments) for out in way.take(number, now_ns)]
    found += way.held(moments[-1])
    order = [number for _, number in found]
    assert sorted(order) == list(range(len(moments)))
    assert all(abs(place - number) <= 1 for place, number in enumerate(order))
    assert order[:2] == ([1, 0] if len(moments) > 1 else [0])
    assert all(due_ns == moments[max(number, place)] if place != number else
               due_ns == moments[number] for place, (due_ns, number) in enumerate(found[:-1]))


@thorough
@given(times, st.floats(0.5, 200))
def test_a_throttle_lets_no_more_pass_than_its_rate_and_no_fewer_than_it_must(moments, most_hz):
    found = passed(fault('throttle', most_hz=most_hz), moments)
    period_ns, numbers = round(1e9 / most_hz), [number for _, number in found]
    assert numbers == sorted(set(numbers)) and 0 not in numbers
    assert all(due_ns == moments[number] for due_ns, number in found)
    dues = [moments[0], *(due_ns for due_ns, _ in found)]
    for begin in range(len(dues)):
        for end in range(begin + 1, len(dues)):
            assert end - begin <= (dues[end] - dues[begin]) / period_ns + 0.26
    for number in set(range(1, len(moments))) - set(numbers):
        before = max(due_ns for due_ns in dues if due_ns <= moments[number])
        assert moments[number] - before < 1.25 * period_ns, 'it was lost without need'


@for_each('every_ms', [20, 50, 75, 99])
def test_a_throttle_keeps_its_rate_for_as_long_as_it_lasts(every_ms):
    """A message may come a little early, and not each of them."""
    moments = [number * every_ms * 1_000_000 for number in range(100_000 // every_ms)]
    found = passed(fault('throttle', most_hz=10.0), moments)
    assert 880 <= len(found) <= 1000


def measured(packet: Packet) -> list[float]:
    data = packet.message.data
    return [*data['ranges'], *data['intensities'], *data['pose']['position'].values()]


def rest(packet: Packet) -> str:
    """Return all of a message but what is measured, as text: NaN is NaN."""
    data = dict(packet.message.data)
    del data['ranges'], data['intensities']
    data['pose'] = {**data['pose'], 'position': list(data['pose']['position'])}
    return repr((packet.message.type, data, packet.stamp_ns))


def same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other)


def of_content(what: WireFault, packet: Packet, index: int = 0, elapsed_ns: int = 0) -> Packet:
    before = repr(packet)
    found = altered(what, packet, index, elapsed_ns)
    assert same(found, altered(what, packet, index, elapsed_ns)), 'the same seed gives the same'
    assert repr(packet) == before, 'a message is never changed, only replaced'
    return found


@thorough
@given(scans(), st.floats(-100, 100).filter(bool))
def test_a_bias_is_added_to_all_that_is_measured_and_to_nothing_else(packet, offset):
    found = of_content(fault('bias', offset=offset), packet)
    assert same(measured(found), [value + offset for value in measured(packet)])
    assert rest(found) == rest(packet)


@thorough
@given(scans(), st.floats(0.001, 10))
def test_a_quantised_value_is_the_nearest_multiple(packet, step):
    found = of_content(fault('quantise', step=step), packet)
    for before, after in zip(measured(packet), measured(found), strict=True):
        if math.isfinite(before):
            assert abs(after - before) <= step / 2 * (1 + 1e-9) + abs(before) * 1e-12
            assert abs(after / step - round(after / step)) <= abs(after / step) * 1e-12
        else:
            assert same(before, after)
    assert rest(found) == rest(packet)


@thorough
@given(scans(), st.floats(0.001, 10), seeds, st.integers(0, 10**6))
def test_noise_differs_from_message_to_message_and_is_of_what_is_measured(packet, sigma, seed,
                                                                          index):
    what = fault('noise', sigma=sigma, seed=seed)
    found, next_one = of_content(what, packet, index), of_content(what, packet, index + 1)
    for before, after in zip(measured(packet), measured(found), strict=True):
        assert math.isfinite(before) == math.isfinite(after)
        assert not math.isfinite(before) or abs(after - before) <= 10 * sigma + abs(before) * 1e-6
    assert rest(found) == rest(next_one) == rest(packet)


def test_noise_has_the_deviation_that_it_was_given_and_no_mean():
    packet = Packet(Message(type='a/msg/B', data={'ranges': (2.0,) * 5_000}), None)
    off = [value - 2.0 for index in range(4)
           for value in of_content(fault('noise', sigma=0.5), packet, index).message.at('ranges')]
    mean = sum(off) / len(off)
    assert abs(mean) < 5 * 0.5 / math.sqrt(len(off))
    deviation = math.sqrt(sum((one - mean)**2 for one in off) / len(off))
    assert deviation == pytest.approx(0.5, rel=0.03)
    assert len({*off}) > 19_000, 'no two messages have the same noise'


@thorough
@given(scans())
def test_nan_is_in_all_that_is_measured(packet):
    found = of_content(fault('nan'), packet)
    assert all(map(math.isnan, measured(found)))
    only = of_content(fault('nan', fields=('ranges',)), packet)
    assert all(map(math.isnan, only.message.at('ranges')))
    assert same({**only.message.data, 'ranges': ()}, {**packet.message.data, 'ranges': ()})


@thorough
@given(scans(), st.floats(0.001, 500_000), st.floats(-1000, 1000).filter(bool),
       st.floats(-1000, 1000), st.integers(0, 10**12))
def test_a_stamp_is_off_by_what_was_said_and_the_message_is_as_it_was(packet, ms, s, ppm,
                                                                      elapsed_ns):
    for what, by_ns in ((fault('stale', age_ms=ms), -ms * 1e6),
                        (fault('future', ahead_ms=ms), ms * 1e6),
                        (fault('foreign_clock', offset_s=s, drift_ppm=ppm),
                         s * 1e9 + ppm * 1e-6 * elapsed_ns)):
        found = of_content(what, packet, 0, elapsed_ns)
        assert abs(found.stamp_ns - packet.stamp_ns - by_ns) <= 1
        assert same(found.message, packet.message)
        written = Packet(packet.message.stamped(packet.stamp_ns), packet.stamp_ns)
        moved = of_content(what, written, 0, elapsed_ns)
        assert same(moved.message, packet.message.stamped(found.stamp_ns))
        bare = Packet(packet.message, None)
        assert same(of_content(what, bare, 0, elapsed_ns), bare), 'without a header it has none'


@thorough
@given(scans())
def test_a_wrong_frame_is_in_the_header_and_nowhere_else(packet):
    found = of_content(fault('wrong_frame', frame='map'), packet)
    assert found.message.at('header.frame_id') == 'map'
    assert same({**found.message.data, 'header': 0}, {**packet.message.data, 'header': 0})
    listed = Packet(Message(type='tf2_msgs/msg/TFMessage', data={'transforms': (
        {'header': {'frame_id': 'odom'}, 'child_frame_id': 'base_link'},)}), None)
    [one] = of_content(fault('wrong_frame', frame='map'), listed).message.data['transforms']
    assert one == {'header': {'frame_id': 'map'}, 'child_frame_id': 'base_link'}


@thorough
@given(scans(), st.floats(0, 0.999))
def test_a_truncated_list_is_the_begin_of_what_it_was(packet, keep):
    found = of_content(fault('truncated', keep=keep), packet)
    for name in ('ranges', 'intensities'):
        before, after = packet.message.at(name), found.message.at(name)
        assert len(after) == math.floor(keep * len(before)) and same(after, before[:len(after)])
    data = {**found.message.data, 'ranges': 0, 'intensities': 0}
    assert same(data, {**packet.message.data, 'ranges': 0, 'intensities': 0})


@thorough
@given(scans(), st.floats(0.001, 5000).filter(lambda factor: factor != 1))
def test_another_modality_is_as_defined(packet, factor):
    units = of_content(fault('wrong_modality', how='units', factor=factor), packet)
    assert same(measured(units), [value * factor for value in measured(packet)])
    empty = of_content(fault('wrong_modality', how='empty'), packet).message
    assert empty.at('ranges') == empty.at('intensities') == ()
    assert set(empty.at('pose.position').values()) == {0.0} and empty.at('count') == 0
    assert empty.at('pose.covariance') == (1.0,) * 36
    axes = of_content(fault('wrong_modality', how='axes'), packet).message
    x, y, z = packet.message.at('pose.position').values()
    assert same(list(axes.at('pose.position').values()), [y, x, -z])
    assert same(axes.at('ranges'), packet.message.at('ranges')[::-1])
    for found in (units.message, empty, axes):
        assert found.at('header') == {'frame_id': 'laser'} and found.at('range_max') == 12.0


SOME = [fault('drop', share=0.3), fault('delay', delay_ms=30), fault('jitter', jitter_ms=50),
        fault('duplicate', share=0.5), fault('reorder', share=0.5), fault('throttle', most_hz=7),
        fault('noise', sigma=0.1), fault('bias', offset=1), fault('stale', age_ms=500)]


@thorough
@given(times, st.lists(st.sampled_from(SOME), min_size=1, max_size=4))
def test_several_faults_in_a_row_invent_nothing_and_keep_time_in_order(moments, faults):
    wire = Wire(faults)
    sent = [Packet(Message(type='a/msg/B', data={'n': number, 'x': 0.5}), now_ns)
            for number, now_ns in enumerate(moments)]
    found = [(due_ns, packet.message.at('n')) for packet in sent
             for due_ns, packet in wire.take(packet, packet.stamp_ns)]
    found += [(due_ns, packet.message.at('n')) for due_ns, packet in wire.held(moments[-1])]
    assert all(due_ns >= moments[number] for due_ns, number in found)
    kinds = {one.kind for one in faults}
    counts = Counter(number for _, number in found)
    if not kinds & {'drop', 'throttle'}:
        assert set(counts) == set(range(len(moments)))
    if 'duplicate' not in kinds:
        assert set(counts.values()) <= {1}


@for_each('what', SOME[:6], ids=str)
def test_a_schedule_is_what_comes_of_a_stream_at_that_rate(what):
    found = [schedule(what, 20.0).at(place) for place in range(40)]
    moments = [round(number * 1e9 / 20.0) for number in range(400)]
    assert found == passed(what, moments)[:40]


@for_each(('numbers', 'said'), [
    ({'kind': 'delay'}, 'delay_ms: missing, delay needs it'),
    ({'kind': 'delay', 'delay_ms': 10, 'share': 0.5}, 'share: got it with delay, expected'),
    ({'kind': 'delay', 'delay_ms': 10, 'seed': 3}, 'seed: got it with delay'),
    ({'kind': 'freeze', 'share': 0.5}, 'share: got it with freeze, expected messages'),
    ({'kind': 'drop', 'share': 0.0}, 'greater than 0'),
    ({'kind': 'drop', 'share': 1.5}, 'less than or equal to 1'),
    ({'kind': 'noise', 'sigma': math.nan}, 'finite'),
    ({'kind': 'bias', 'offset': 0.0}, 'offset: got 0, which changes nothing'),
    ({'kind': 'foreign_clock', 'offset_s': 0.0}, 'offset_s: got 0 without drift_ppm'),
    ({'kind': 'wrong_modality', 'how': 'empty', 'factor': 2.0}, 'expected it with how: units'),
    ({'kind': 'wrong_modality', 'how': 'units', 'factor': 1.0}, 'factor: got 1'),
    ({'kind': 'truncated', 'keep': 1.0}, 'less than 1'),
    ({'kind': 'nan', 'fields': ('ranges[3]',)}, "fields: got 'ranges[3]'"),
    ({'kind': 'magic'}, "Input should be 'freeze'")])
def test_numbers_that_make_no_sense_are_refused(numbers, said):
    with pytest.raises(ValidationError, match='(?s).*') as refused:
        WireFault.model_validate(numbers)
    assert said in str(refused.value)


def test_a_fault_says_itself_and_nothing_that_it_has_not():
    for kind in WireFault.kinds:
        one = next((some for some in SOME if some.kind == kind), None)
        if one is not None:
            assert json.loads(one.model_dump_json()) == {**one.given, 'kind': kind}
            assert WireFault.model_validate_json(one.model_dump_json()) == one
    assert OF_TIME < set(WireFault.kinds)
