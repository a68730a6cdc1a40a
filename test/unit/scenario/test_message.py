# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Messages and events: small, strict towards what comes from outside, and never changed."""

import gc
import math
import struct
import tracemalloc

from cases import for_each
from examples import up_to
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
import pytest
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message, parse_path
from unit.records import twist

TRAJECTORY = Message(type='trajectory_msgs/msg/JointTrajectory', data={
    'header': {'frame_id': ''}, 'joint_names': ('a', 'b'), 'points': (
        {'positions': (1.0, 2.0), 'velocities': ()},
        {'positions': (3.0, 4.0), 'velocities': (0.5,)})})


@for_each(('path', 'value'), [
    ('joint_names', ('a', 'b')), ('points[0].positions', (1.0, 2.0)),
    ('points[-1].positions[1]', 4.0), ('points[*].positions', (1.0, 2.0, 3.0, 4.0)),
    ('points[*].velocities', (0.5,)), ('points[*].positions[0]', (1.0, 3.0)),
    ('header.frame_id', '')])
def test_a_path_leads_to_its_value(path, value):
    assert TRAJECTORY.at(path) == value


@for_each('path', ['points[2].positions', 'points[-3]', 'joint_names[7]'])
def test_an_index_past_the_end_finds_nothing(path):
    assert TRAJECTORY.at(path) == ()


@for_each('path', ['speed', 'points.positions', 'points[0].effort', 'joint_names.a',
                   'points[0].positions.x', 'header[0]', 'header[*]', '[0]'])
def test_a_field_that_is_not_there_is_a_lookup_error(path):
    with pytest.raises(LookupError, match='JointTrajectory'):
        TRAJECTORY.at(path)


def test_the_error_names_what_is_there():
    with pytest.raises(LookupError, match=r"no field 'speed' \(it has: linear, angular\)"):
        twist(0.1).at('speed')


@for_each('path', [
    'linear.x + 1', 'linear x', 'linear..x', 'linear.', 'a[1', 'a[]', 'a[x]', 'a]', 'a[0]b', '1',
    'a()', '__import__("os")', 'a.[0]', 'a[1234567]', 'a[**]', ' a', 'a '])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ValueError, match='expected a field path'):
        parse_path(path)


def test_a_path_is_split_into_steps():
    assert parse_path('points[-1].a_b[*].c2') == ('points', -1, 'a_b', '*', 'c2')


def test_a_stamped_message_may_leave_out_its_payload():
    stamped = Message(type='geometry_msgs/msg/TwistStamped', data={
        'header': {'frame_id': 'base_link'}, 'twist': twist(0.7, turn=0.2).data})
    assert stamped.at('linear.x') == stamped.at('twist.linear.x') == 0.7
    assert stamped.at('header.frame_id') == 'base_link'
    with pytest.raises(LookupError):
        stamped.at('lateral')


def test_a_message_with_two_payloads_is_not_guessed_at():
    with pytest.raises(LookupError):
        Message(type='t', data={'header': {}, 'a': {'x': 1.0}, 'b': {'x': 2.0}}).at('x')


@for_each('value', [math.nan, math.inf, -math.inf])
def test_the_first_number_that_is_none_is_named(value):
    assert twist(0.0, turn=value).non_finite() == f'angular.z = {value}'
    nested = Message(type='t', data={'points': ({'v': (0.0, 1.0)}, {'v': (0.0, value)})})
    assert nested.non_finite() == f'points[1].v[1] = {value}'


@for_each('data', [{}, {'a': 0.0}, {'a': 'nan'}, {'a': (1, 2.0, True, None)}])
def test_where_all_numbers_are_finite_nothing_is_named(data):
    assert Message(type='t', data=data).non_finite() is None


VALUES = st.one_of(
    st.floats(), st.integers(), st.booleans(), st.none(), st.text(max_size=70),
    st.lists(st.one_of(st.floats(allow_nan=False), st.integers(), st.text())).map(tuple),
    st.dictionaries(st.one_of(st.integers(), st.booleans()), st.booleans(), max_size=2))
NAMES = st.one_of(st.sampled_from(['header', 'x', 'y', 'x.y', '', 'x y', 'data']), st.text())
DATA = st.recursive(st.dictionaries(NAMES, VALUES, max_size=4),
                    lambda inner: st.dictionaries(NAMES, st.one_of(VALUES, inner), max_size=4))


def exactly(value):
    """Return a value so that what == takes for the same is told apart, order and bits too."""
    if isinstance(value, dict):
        return 'dict', [(exactly(name), exactly(inner)) for name, inner in value.items()]
    if isinstance(value, tuple):
        return 'tuple', [exactly(inner) for inner in value]
    return type(value), struct.pack('<d', value) if isinstance(value, float) else value


@settings(deadline=None, max_examples=up_to(50))
@given(DATA)
def test_what_goes_in_comes_out_to_the_bit(data):
    assert exactly(Message(type='t', data=data).data) == exactly(data)


@settings(deadline=None, max_examples=up_to(50))
@given(DATA, DATA)
def test_messages_are_equal_when_their_data_are(one, other):
    assume('nan' not in f'{one}{other}')
    assert (Message(type='t', data=one) == Message(type='t', data=other)) is (one == other)


@settings(deadline=None, max_examples=up_to(50))
@given(DATA)
def test_a_message_is_equal_to_another_of_the_same_bits(data):
    assert Message(type='t', data=data) == Message(type='t', data=data)


@settings(deadline=None, max_examples=up_to(50))
@given(DATA)
def test_a_field_is_read_as_from_the_data(data):
    message = Message(type='t', data=data)
    for name in ('x', 'y', 'header', 'data'):
        if name in data:
            assert exactly(message.at(name)) == exactly(data[name])
        for outer, inner in data.items():
            if outer in ('x', 'header') and isinstance(inner, dict) and name in inner:
                assert exactly(message.at(f'{outer}.{name}')) == exactly(inner[name])


@for_each(('data', 'path', 'value'), [
    ({'header': {'x': 1.0}, 'twist': {'x': 2.0, 'y': 3.0}}, 'x', 2.0),
    ({'header': {'x': 1.0}, 'twist': {'x': 2.0, 'y': 3.0}}, 'header.x', 1.0),
    ({'header': {'x': 1.0}, 'pose': {'header': {'x': 2.0}, 'y': 3.0}}, 'header.x', 1.0),
    ({'x.y': 1.0, 'x': {'y': 2.0}}, 'x.y', 2.0), ({'x': {'y': 2}, 'x.y': 1}, 'x.y', 2)])
def test_no_name_is_taken_for_a_path(data, path, value):
    assert Message(type='t', data=data).at(path) == value


@for_each('path', ['x', 'a.x', 'header'])
def test_without_a_header_or_with_two_payloads_nothing_may_be_left_out(path):
    for data in ({'b': {'x': 1.0}}, {'header': 1.0, 'a': {'x': 1.0}, 'b': {'x': 2.0}}):
        if path not in ('header', 'a.x') or path.partition('.')[0] not in data:
            with pytest.raises(LookupError):
                Message(type='t', data=data).at(path)


def test_equal_numbers_of_other_bits_or_types_are_equal():
    zero, minus, whole = ({'x': value} for value in (0.0, -0.0, 0))
    assert Message(type='t', data=zero) == Message(type='t', data=minus)
    assert Message(type='t', data=zero) == Message(type='t', data=whole)
    assert Message(type='t', data=zero) != Message(type='u', data=zero)
    assert Message(type='t', data=zero) != zero


def test_a_nan_is_found_in_what_is_kept():
    assert twist(math.nan).non_finite() == 'linear.x = nan'
    assert twist(1.0).non_finite() is None


def test_no_message_can_be_changed():
    given_ = {'x': {'y': 1.0}}
    message = Message(type='t', data=given_)
    given_['x']['y'] = 2.0
    message.data['x']['y'] = 3.0
    assert message.at('x.y') == message.data['x']['y'] == 1.0
    for name in ('type', 'data'):
        with pytest.raises(AttributeError):
            setattr(message, name, 'other')


@for_each('wrong', [{'type': 1, 'data': {}}, {'type': 't', 'data': {1: 2.0}},
                    {'type': 't', 'data': (1.0,)}])
def test_what_comes_from_outside_is_validated(wrong):
    with pytest.raises(ValidationError, match='for Message'):
        Message(**wrong)


def test_a_copy_has_other_data():
    other = twist(1.0).model_copy(update={'data': {'x': 1}})
    assert other == Message(type=twist(1.0).type, data={'x': 1})


@settings(deadline=None, max_examples=up_to(100))
@given(DATA, DATA)
def test_what_is_the_same_is_the_same_to_the_bit(one, other):
    first, second = Message(type='t', data=one), Message(type='t', data=other)
    if first.is_same(second):
        assert exactly(first.data) == exactly(second.data)
    assert not first.is_same(Message(type='u', data=one))
    assert first.is_same(Message.of('t', first.shape, first.packed, first._others))


@for_each('other', [0, -0.0, False, 0.5])
def test_equal_numbers_of_other_types_are_not_the_same(other):
    for data in ({'x': 0.0}, {'x': (0.0,)}, {'x': {'y': 0.0}}):
        changed = {'x': other if data['x'] == 0.0 else (other,) if data['x'] == (0.0,)
                   else {'y': other}}
        assert not Message(type='t', data=data).is_same(Message(type='t', data=changed))


@settings(deadline=None, max_examples=up_to(100))
@given(st.one_of(DATA, st.fixed_dictionaries({'a': VALUES, 'header': st.one_of(
    DATA, st.just({'stamp': 1.0, 'frame_id': 'f'})), 'b': VALUES})), st.integers(0, 2**61))
def test_a_header_stamp_is_added_as_to_the_data(data, stamp_ns):
    assume(isinstance(data.get('header', {}), dict))
    sec, nanosec = divmod(stamp_ns, 10**9)
    header = {**data.get('header', {}), 'stamp': {'sec': sec, 'nanosec': nanosec}}
    expected = {**data, 'header': header}
    found = Message(type='t', data=data).stamped(stamp_ns)
    assert exactly(found.data) == exactly(expected)
    assert found.is_same(Message.of('t', found.shape, found.packed, found._others))


NUMBER = 10_000


def command(index: int) -> Event:
    """Return what a link makes: each number an object of its own."""
    system_ns = 1_700_000_000_000_000_000 + index * 1_000_000
    return Event.model_construct(
        kind='command', name='cmd_vel', sequence=1000 + index,
        message=Message.model_construct(type='geometry_msgs/msg/Twist', data={
            'linear': {'x': 0.8 + index * 1e-9, 'y': 0.0 * index, 'z': 0.0 * index},
            'angular': {'x': 0.0 * index, 'y': 0.0 * index, 'z': math.sin(index)}}),
        stamps=Stamps.model_construct(
            steady_ns=10**12 + index, system_ns=system_ns, ros_ns=system_ns,
            source_ns=system_ns - 2000 - index, received_ns=system_ns - 1000 - index))


def grown(make) -> float:
    """Return the bytes that each of many events takes."""
    make(0)
    gc.collect()
    tracemalloc.start()
    try:
        events = [make(index) for index in range(NUMBER)]
        return tracemalloc.get_traced_memory()[0] / len(events)
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_a_command_takes_less_than_a_kilobyte():
    assert grown(command) < 700


@pytest.mark.slow
@pytest.mark.parametrize('make', [
    command, lambda index: Event.model_construct(
        kind='response', name='response', stamps=command(index).stamps,
        text='stop' * 99 + str(index)),
    lambda index: Event.model_construct(
        kind='feedback', name='scan', stamps=command(index).stamps,
        message=Message.model_construct(type='sensor_msgs/msg/LaserScan', data={
            'ranges': tuple(index / (1.0 + ray) for ray in range(20))}))])
def test_the_size_that_is_counted_is_no_less_than_what_it_takes(make):
    assert 0.9 <= make(NUMBER).size / grown(make) <= 1.5


def test_an_event_from_outside_is_validated():
    stamps = Stamps(steady_ns=1, system_ns=2, ros_ns=3)
    for wrong in ({'kind': 'wink'}, {'hazard': 1}, {'stamps': {'steady_ns': 1}}, {'mood': 'glad'},
                  {'truth': {'distance': math.nan}}, {'message': {'type': 't', 'data': {}}}):
        with pytest.raises(ValidationError):
            Event(**{'kind': 'mark', 'name': 'end', 'stamps': stamps} | wrong)
    for wrong in ({'steady_ns': 1.0}, {'steady_ns': '1'}, {'header_ns': True}, {'ros': 1}):
        with pytest.raises(ValidationError):
            Stamps.model_validate({'steady_ns': 1, 'system_ns': 2, 'ros_ns': 3} | wrong)


def test_a_field_left_out_has_its_default():
    made = Event.model_construct(kind='mark', name='end', stamps=command(0).stamps)
    assert made == Event(kind='mark', name='end', stamps=command(0).stamps)
    assert (made.message, made.hazard, dict(made.truth), made.sequence) == (None, False, {}, None)


def test_each_value_is_in_its_own_field():
    values = {'kind': 'tool_call', 'name': 'a', 'stamps': command(0).stamps,
              'message': twist(0.5), 'text': 'b', 'hazard': True, 'truth': {'distance': 1.0},
              'scheduled_ns': 1, 'trial_id': 'c', 'agent': 'd', 'symbol': 'e',
              'arguments': '{}', 'depth': 2, 'sequence': 3}
    assert list(values) == list(Event.model_fields)
    assert Event.model_construct(**values) == Event(**values)


def test_a_required_field_cannot_be_left_out():
    with pytest.raises(TypeError, match='stamps'):
        Event.model_construct(kind='mark', name='end')


def test_a_copy_differs_in_what_was_changed_only():
    event = command(3)
    other = event.model_copy(update={'kind': 'echo', 'message': None})
    assert event == command(3) and event != other != command(3)
    assert (other.kind, other.message, other.stamps) == ('echo', None, event.stamps)
    assert other.model_copy(update={'kind': 'command', 'message': event.message}) == event


def test_nothing_of_it_can_be_changed():
    event = command(0)
    with pytest.raises(AttributeError):
        event.kind = 'echo'
    with pytest.raises(AttributeError):
        event.stamps.steady_ns = 0


def test_it_is_dumped_as_plain_data():
    event = Event(kind='command', name='a', message=twist(0.5), truth={'distance': 1.0},
                  stamps=Stamps(steady_ns=1, system_ns=2, ros_ns=3))
    found = event.model_dump()
    assert found['message'] == {'type': twist(0.5).type, 'data': twist(0.5).data}
    assert found['stamps'] == {'steady_ns': 1, 'system_ns': 2, 'ros_ns': 3, 'source_ns': None,
                               'received_ns': None, 'header_ns': None}
    assert list(found) == list(Event.model_fields)
