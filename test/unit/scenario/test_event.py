# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An event is small, strict towards what comes from outside, and never changed."""

import gc
import math
import tracemalloc

from pydantic import ValidationError
import pytest
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message
from unit.records import twist

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


def test_what_comes_from_outside_is_validated():
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
