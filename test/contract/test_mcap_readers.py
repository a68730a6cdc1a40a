# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Readers that others wrote find in a recording what was sent; ROS itself agrees on every byte."""

from contextlib import closing
import json
import math
from pathlib import Path
import random
import struct
import sys

from cases import for_each
import pytest
from safety_scenarios import registry
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.ros.link.convert import definition
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial

pytest.importorskip('mcap', reason='the extra mcap is not installed')
pytest.importorskip('rosbags', reason='the extra mcap is not installed')
from mcap.reader import make_reader  # noqa: E402, I100
import numpy  # noqa: E402, I100
from rosbags.highlevel import AnyReader  # noqa: E402, I100
from rosbags.interfaces import Nodetype  # noqa: E402, I100
from rosbags.rosbag2 import Reader  # noqa: E402, I100
from rosbags.typesys import get_types_from_msg  # noqa: E402, I100
from safety_scenarios.trial.mcap.cdr import UnfitError  # noqa: E402, I100
from safety_scenarios.trial.mcap.reading import interface, standard  # noqa: E402, I100
from safety_scenarios.trial.mcap.recording import McapWriter  # noqa: E402, I100

EVENTS, TRIAL = '/safety_scenarios/events', '/safety_scenarios/trial'
SCENARIOS = ('SCN-R-101', 'SCN-R-102', 'SCN-C-101')
STANDARD = sorted(name for name in standard().fielddefs if '/msg/' in name)
WHOLE = {'bool': (0, 1), 'byte': (0, 255), 'char': (0, 255)} | {
    f'int{bits}': (-2**(bits - 1), 2**(bits - 1) - 1) for bits in (8, 16, 32, 64)} | {
    f'uint{bits}': (0, 2**bits - 1) for bits in (8, 16, 32, 64)}
FLOATS = (0.0, -0.0, 0.5, -1.25, 1e30, math.inf, -math.inf, math.nan)


@pytest.fixture(scope='module')
def recordings(tmp_path_factory):
    """Run three shipped scenarios in Loopback, recorded as they run."""
    settings = RunSettings(scenarios=SCENARIOS, link='loopback')
    prompt = registry.resolve('stimuli', 'prompt')()
    root, found = tmp_path_factory.mktemp('recordings'), []
    with Loopback(plan_link(settings), Path()) as session:
        for trial in plan(load_scenarios(SCENARIOS).scenarios, controller='rule_based', trials=1,
                          seed=1, prompt=prompt):
            folder = root / trial.trial_id
            with session.open_link(trial.scenario) as link, \
                    closing(McapWriter(folder, trial)) as writer:
                record = run_trial(trial, link, [writer])
                writer.finish(record.measuring)
            found.append((folder, record))
    return found


def counts(record):
    """Return how many messages each topic of a recording must have."""
    wanted = {EVENTS: len(record.events), TRIAL: 2}
    for event in record.events:
        if event.message is not None or event.kind == 'response':
            wanted[f'/{event.name}'] = wanted.get(f'/{event.name}', 0) + 1
    return wanted


def plain(value):
    """Return what a reader decoded as plain data."""
    if isinstance(value, (list, tuple, numpy.ndarray)):
        return [plain(item) for item in value]
    names = getattr(value, '__dataclass_fields__', None) or getattr(value, '__slots__', None)
    if names is not None and not isinstance(value, (str, int, float, bytes, numpy.generic)):
        return {name: plain(getattr(value, name)) for name in names
                if name != 'structure_needs_at_least_one_member' and not name.startswith('__')}
    return value.item() if isinstance(value, numpy.generic) else value


def holds(decoded, data) -> bool:
    """Return whether decoded data shows the data, floats rounded to float32 at most."""
    if isinstance(data, dict):
        return all(name in decoded and holds(decoded[name], inner) for name, inner in data.items())
    if isinstance(data, tuple):
        return len(decoded) == len(data) and all(map(holds, decoded, data))
    if isinstance(data, float):
        return decoded == pytest.approx(data, rel=1e-6, nan_ok=True)
    return decoded == data


@pytest.mark.thorough
@pytest.mark.slow
def test_rosbags_reads_every_message_of_every_topic(recordings):
    store = standard()
    for folder, record in recordings:
        for opened in (Reader(folder), AnyReader([folder])):
            with opened as reader:
                assert {one.topic: one.msgcount for one in reader.connections} == counts(record)
                assert reader.message_count == sum(counts(record).values())
                times = [stamp for _, stamp, _ in reader.messages()]
                assert reader.start_time == min(times) and reader.end_time == max(times) + 1
        with Reader(folder) as reader:
            sent = {}
            for connection, _, raw in reader.messages():
                message = store.deserialize_cdr(raw, connection.msgtype)
                sent.setdefault(connection.topic, []).append(plain(message))
            assert reader.ros_distro is None
            assert {one.ext.offered_qos_profiles[0].reliability.name
                    for one in reader.connections} == {'RELIABLE'}
        for topic in counts(record).keys() - {EVENTS, TRIAL}:
            events = [event for event in record.events
                      if f'/{event.name}' == topic and event.kind != 'echo']
            assert len(events) == len(sent[topic])
            for event, message in zip(events, sent[topic], strict=True):
                assert holds(message, event.message.data if event.message else
                             {'data': event.text})
        told = [json.loads(line['data']) for line in sent[EVENTS]]  # equal times in any order
        assert [line['name'] for line in sorted(told, key=lambda line: line['n'])] \
            == [event.name for event in record.events]


def test_the_bare_mcap_reader_finds_profile_index_and_schemas(recordings):
    for folder, record in recordings:
        with (folder / f'{folder.name}_0.mcap').open('rb') as stream:
            reader = make_reader(stream, validate_crcs=True)
            summary = reader.get_summary()
            assert reader.get_header().profile == 'ros2'
            assert {channel.message_encoding for channel in summary.channels.values()} == {'cdr'}
            assert {schema.encoding for schema in summary.schemas.values()} == {'ros2msg'}
            assert {summary.channels[channel].topic: count for channel, count in
                    summary.statistics.channel_message_counts.items()} == counts(record)
            assert len(list(reader.iter_messages())) == sum(counts(record).values())


@pytest.mark.slow
@pytest.mark.thorough
def test_the_ros2_decoder_of_mcap_reads_every_message_by_its_schema(recordings):
    ros2 = pytest.importorskip('mcap_ros2.decoder', reason='mcap-ros2-support is not installed')
    for folder, record in recordings:
        sent = {}
        with (folder / f'{folder.name}_0.mcap').open('rb') as stream:
            reader = make_reader(stream, decoder_factories=[ros2.DecoderFactory()])
            for _, channel, _, message in reader.iter_decoded_messages(log_time_order=False):
                sent.setdefault(channel.topic, []).append(plain(message))
        assert {topic: len(messages) for topic, messages in sent.items()} == counts(record)
        for event in record.events:
            if event.message is not None:
                assert holds(sent[f'/{event.name}'].pop(0), event.message.data)


def values(name, types, chance):
    """Return random plain data of a type, with the extreme values of every number."""
    return {field: value(descriptor, types, chance) for field, descriptor in types[name][1]
            if field != 'structure_needs_at_least_one_member'}


def value(descriptor, types, chance):
    node, detail = descriptor
    if node == Nodetype.NAME:
        return values(detail, types, chance)
    if node != Nodetype.BASE:
        element, count = detail
        length = count if node == Nodetype.ARRAY else chance.randrange(min(count or 4, 4))
        return tuple(value(element, types, chance) for _ in range(length))
    name = detail[0]
    if name == 'string':
        return chance.choice(('', 'x', 'ünï', 'longer text'))[:detail[1] or None]
    if name == 'float64':
        return chance.choice((*FLOATS, chance.random()))
    if name == 'float32':
        return struct.unpack('f', struct.pack('f', chance.choice((*FLOATS, chance.random()))))[0]
    number = chance.choice((*WHOLE[name], chance.randint(*WHOLE[name])))
    return (number,) if name == 'byte' else bool(number) if name == 'bool' else number


def as_object(data, name, store):
    """Return plain data as rosbags' message object."""
    made = {}
    for field, (node, detail) in store.fielddefs[name][1]:
        item = data.get(field, 0)
        if node == Nodetype.NAME:
            item = as_object(item, detail, store)
        elif node == Nodetype.BASE and detail[0] == 'byte':
            item = struct.unpack('b', bytes(item))[0]
        elif node != Nodetype.BASE:
            kind, element = detail[0]
            if kind == Nodetype.NAME:
                item = [as_object(inner, element, store) for inner in item]
            elif element[0] == 'byte':
                item = numpy.array([inner[0] for inner in item], dtype='uint8')
            elif element[0] != 'string':
                item = numpy.array(item, dtype={'char': 'uint8'}.get(element[0], element[0]))
            else:
                item = list(item)
        made[field] = item
    return store.types[name](**made)


@for_each('name', STANDARD)
def test_rosbags_writes_the_same_bytes_for_every_standard_type(name):
    store, chance = standard(), random.Random(name)
    codec = interface(name, None).codec
    for _ in range(5):
        data = values(name, store.fielddefs, chance)
        sent = codec.encode(data)
        assert sent == bytes(store.serialize_cdr(as_object(data, name, store), name,
                                                 little_endian=True))
        assert repr(codec.decode(sent)) == repr(data)


def installed():
    share = Path(sys.prefix, 'share')
    return sorted(f'{path.parent.parent.name}/msg/{path.stem}'
                  for path in share.glob('*_msgs/msg/*.msg'))


def test_ros_itself_agrees_on_every_installed_type():
    pytest.importorskip('rclpy', reason='ROS is not installed')
    from rclpy.serialization import deserialize_message, serialize_message
    from safety_scenarios.ros.link.convert import from_ros, interface_class
    names = [name for name in installed() if definition(name) is not None]
    if not names:
        pytest.skip('the .msg files of ROS are not in this Python environment')
    chance, agreed = random.Random(1), 0
    for name in names:
        known = interface(name, definition)
        if known is None:
            continue
        types = get_types_from_msg(known.schema, name)
        for data in ({}, values(name, types, chance), values(name, types, chance)):
            sent = known.codec.encode(data)
            message = deserialize_message(sent, interface_class(name))
            assert repr(from_ros(message).data) == repr(known.codec.decode(sent)), name
            again = serialize_message(message)
            assert repr(known.codec.decode(again)) == repr(known.codec.decode(sent)), name
            agreed += 1
    assert agreed > 100


def test_ros_refuses_what_does_not_fit():
    pytest.importorskip('rclpy', reason='ROS is not installed')
    from safety_scenarios.errors import MeasurementError
    from safety_scenarios.ros.link.convert import to_ros
    from safety_scenarios.scenario.message import Message
    codec = interface('geometry_msgs/msg/Twist', None).codec
    for data in ({'linear': {'w': 1.0}}, {'linear': {'x': 'fast'}}):
        with pytest.raises(UnfitError):
            codec.encode(data)
        with pytest.raises(MeasurementError):
            to_ros(Message(type='geometry_msgs/msg/Twist', data=data))
