# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""LeRobot's asynchronous inference: what is sent, what is read, and what its server overlooks."""

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import pickle
import time
from typing import Any

from cases import for_each
import grpc
import numpy
import pytest
from safety_scenarios.controllers.adapters import make_controller
from safety_scenarios.controllers.policies.model import InferenceError, ModelOptions
from safety_scenarios.controllers.policies.policy import policy_class, PolicyController
from safety_scenarios.controllers.policies.servers.lerobot import bytes_field, LeRobotModel, pieces
from safety_scenarios.controllers.policies.servers.messages import read_actions
from safety_scenarios.controllers.policies.servers.server import MAX_ANSWER
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.message import Command, CommandStamps, Message
from safety_scenarios.scenario.settings import ControllerSettings
from unit.controllers.observations import pose, seen
from unit.controllers.policies.lerobot_server import (
    delayed,
    lerobot,
    LeRobotServer,
    message,
    pickled,
    TimedAction,
)

CONTEXT = ControllerSettings(robot=RobotModel(kind='mobile_base', max_speed=1.0))
PERIOD_MS = 20.0
CONTRACT = """
robot: mobile_base
rate_hz: 50
stale_ms: 0
execution: asynchronous
server: {policy_type: act, pretrained_name_or_path: somebody/act, actions_per_chunk: 20}
inputs:
  observation.state: {role: odom, fields: [twist.twist.linear.x]}
  observation.environment_state: {role: human_pose, fields: [pose.position.x]}
prompts: {task: deliver}
outputs:
  actions: {quantity: velocity}
"""
LOADED = {'policy_type': 'act', 'pretrained_name_or_path': 'x', 'actions_per_chunk': 4}
OPTIONS = ModelOptions(timeout_s=0.3, cold_start_s=2.0, allow_pickle=True, server=LOADED)
INPUTS = {'observation.state': numpy.float32([1, 2]), 'task': 'drive',
          'observation.images.front': numpy.zeros((4, 6, 3), 'uint8')}
PERSON = 'observation.environment_state.0'
HORIZON = 20


def odometry(speed: float) -> Any:
    return Message(type='nav_msgs/msg/Odometry', data={
        'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': 'odom'},
        'twist': {'twist': {'linear': {'x': speed}}}})


@contextmanager
def begun(address: str, folder: Any, **parameters: Any) -> Iterator[PolicyController]:
    (folder / 'policy.yaml').write_text(CONTRACT)
    plugin = make_controller(policy_class('lerobot', address), CONTEXT, {
        'contract': str(folder / 'policy.yaml'), 'cold_start_s': 3.0, 'allow_pickle': True,
        **parameters})
    assert isinstance(plugin, PolicyController)
    try:
        plugin.begin_trial()
        yield plugin
    finally:
        plugin.close()


def driven(plugin: PolicyController, for_s: float, person: Any = lambda at_s: 20.0,
           speed: Any = lambda at_s: 0.5) -> list[tuple[float, Command | None]]:
    """Return the commands of each tick in real time, with the time since the beginning (s)."""
    found, begin_s = [], time.monotonic()
    while (at_s := time.monotonic() - begin_s) < for_s:
        observation = seen(time.monotonic_ns() / 1e6, human_pose=pose(person(at_s)),
                           odom=odometry(speed(at_s)))
        found.append((at_s, plugin.decide(observation)))
        time.sleep(max(0.0, begin_s + len(found) * PERIOD_MS / 1e3 - time.monotonic()))
    return found


def stops_for_a_person(observation: Any) -> Any:
    return [[0.0 if observation[PERSON] < 3.0 else 0.5, 0.0]] * HORIZON


def test_it_is_loaded_and_asked_as_lerobots_own_client_does():
    server = LeRobotServer(delayed([[0.1, 0.2], [0.3, 0.4]]))
    with lerobot(server) as address:
        model = LeRobotModel(address, OPTIONS)
        model.open()
        found = model.infer(INPUTS).outputs['actions']
        model.close()
    assert numpy.allclose(found, [[0.1, 0.2], [0.3, 0.4]])
    told = vars(server.setup)
    assert told == {**LOADED, 'device': 'cpu', 'rename_map': {}, 'lerobot_features': {
        'observation.state': {'dtype': 'float32', 'shape': (2,), 'names': [
            'observation.state.0', 'observation.state.1']},
        'observation.images.front': {'dtype': 'image', 'shape': (4, 6, 3), 'names': [
            'height', 'width', 'channels']}}}
    [sent] = server.received
    assert sent.must_go is True and sent.timestep == 0 and abs(sent.timestamp - time.time()) < 60
    assert sent.observation.pop('front').shape == (4, 6, 3)
    assert sent.observation == {'observation.state.0': 1.0, 'observation.state.1': 2.0,
                                'task': 'drive'}


def test_what_is_larger_than_2_mb_goes_in_pieces():
    server = LeRobotServer(delayed([[0.0, 0.0]]))
    image = numpy.random.default_rng(0).integers(0, 255, (1000, 1700, 3), 'uint8')
    with lerobot(server) as address:
        model = LeRobotModel(address, OPTIONS)
        model.open()
        model.infer({'observation.images.front': image})
        model.close()
    assert (server.received[0].observation['front'] == image).all()
    assert server.largest == 2 << 20
    assert [piece[1] for piece in pieces(bytes(5 << 20))] == [1, 2, 3]
    assert [piece[1] for piece in pieces(b'small')] == [3]


def test_pickles_are_off_by_default_and_the_message_says_how_they_are_read(tmp_path):
    with pytest.raises(SettingsError, match=r'allow_pickle=true for a server that you trust'), \
            begun('127.0.0.1:1', tmp_path, allow_pickle=False):
        pass


def test_a_contract_that_does_not_say_what_to_load_is_refused():
    model = LeRobotModel('127.0.0.1:1', ModelOptions(allow_pickle=True))
    with pytest.raises(SettingsError, match=r'without server.policy_type, expected'):
        model.open()


class _Command:

    def __init__(self, code: str) -> None:
        self._code = code

    def __reduce__(self) -> Any:
        return exec, (self._code,)


def test_nothing_that_a_pickle_names_is_run(tmp_path):
    flag = tmp_path / 'ran'
    code = f'open({str(flag)!r}, "w").close()'
    with pytest.raises(InferenceError, match='malformed: .*names builtins.exec'):
        read_actions(pickle.dumps([_Command(code)]))
    with pytest.raises(InferenceError, match='names os.system|names posix.system'):
        read_actions(pickle.dumps(os.system))
    assert not flag.exists()


def test_a_pickle_cannot_change_how_the_next_one_is_read():
    good = pickled([TimedAction(1.0, 0, numpy.float32([0.5, 0.0]))])
    # OrderedDict's stand-in gets an attribute by BUILD with a state for slots
    evil = (b'\x80\x02ccollections\nOrderedDict\nN}X\x08\x00\x00\x00__name__X\x01\x00\x00\x00as'
            b'\x86b.')
    with pytest.raises(InferenceError):
        read_actions(evil)
    assert read_actions(good).actions.tolist() == [[0.5, 0.0]]


STATE = pickled([TimedAction(1.0, 0, numpy.float32([0.5, 0.0]))])


@for_each(('data', 'why'), [
    (b'hello', 'no pickled chunk'), (pickled([]), 'no list'), (pickle.dumps({}), 'no list'),
    (pickled([TimedAction(1.0, 0, 'go')]), 'no tensor'),
    (pickled([TimedAction(1.0, 0, numpy.array(['a']))]), 'array'),
    (pickled([TimedAction('now', 0, numpy.zeros(2))]), 'timestamp'),
    (pickled([TimedAction(float('nan'), 0, numpy.zeros(2))]), 'timestamp'),
    (pickled([TimedAction(1.0, 0, numpy.zeros(2)), TimedAction(1.1, 1, numpy.zeros(3))]),
     'several lengths'),
    (pickled([TimedAction(1.0, 0, numpy.zeros(2)), TimedAction(1.1, 5, numpy.zeros(2))]),
     'follow each other'),
    (STATE[:-9], 'no pickled chunk')])
def test_what_is_no_chunk_is_malformed(data, why):
    with pytest.raises(InferenceError, match=f'malformed: .*{why}'):
        read_actions(data)


@for_each('data', [b'\x0a\x05abc', b'\x0a' + b'\xff' * 12, b'\x0d1234', b'\x80'])
def test_what_is_no_message_of_protobuf_is_malformed(data):
    with pytest.raises(InferenceError, match='malformed'):
        bytes_field(1, data)
    assert bytes_field(1, b'\x08\x05' + message(b'x' * 300)) == b'x' * 300


def test_tensors_of_pytorch_are_read_without_it():
    """Bytes that torch 2.10 and lerobot 0.4.4 wrote."""
    folder = Path(__file__).parents[3] / 'data' / 'lerobot'
    found = read_actions((folder / 'actions.pickle').read_bytes())
    expected = numpy.arange(12, dtype='float32').reshape(4, 3) / 4
    assert (found.timestep, found.timestamp) == (7, 1234.5)
    assert (found.actions == expected).all()
    half = read_actions((folder / 'bfloat16.pickle').read_bytes())
    assert (half.actions == expected).all()


def test_a_server_that_is_quick_is_asked_again_at_half_of_the_chunk_and_newer_ones_are_sent(
        tmp_path):
    server = LeRobotServer(delayed([[0.5, 0.0]] * HORIZON, 0.0, 0.05))
    with lerobot(server) as address, begun(address, tmp_path) as plugin:
        at_first = len(server.received)
        commands = driven(plugin, 1.0, speed=lambda at_s: 10 * at_s)  # never like the last
    told = [one.velocity for _, one in commands if one is not None]
    assert len(told) > 35 and set(told) == {(0.5, 0.0)}
    steps = [one.timestep for one in server.used[1:]]
    # the first, then from half of it on, and what was sent while that was computed
    assert steps[0] == 0 and 10 <= steps[1] <= 12, steps
    assert len(server.received) - at_first > len(steps)


def test_overlapping_chunks_are_merged_by_the_steps_of_their_observations(tmp_path):
    chunks = iter(range(1000))

    def policy(observation: Any) -> Any:
        number = next(chunks)
        return [[0.0 if number == 0 else 0.1 * number, 0.0]] * HORIZON
    server = LeRobotServer(policy)
    with lerobot(server) as address, begun(address, tmp_path,
                                           ensembling='weighted_average') as plugin:
        commands = driven(plugin, 0.55, speed=lambda at_s: 10 * at_s)
    told = [round(one.velocity[0], 4) for _, one in commands if one is not None]
    assert told[0] == 0.1  # of chunk 1: number 0 was the question of the cold start
    assert 0.17 in told, told  # 0.3 of the old one and 0.7 of the new


def test_a_person_whom_the_filter_hides_is_seen_when_the_chunk_is_used_up(tmp_path):
    """The hazard of huggingface/lerobot#1557: 20 actions at 50 Hz are 400 ms."""
    server = LeRobotServer(stops_for_a_person)
    with lerobot(server) as address, begun(address, tmp_path, queue_threshold=1.0) as plugin:
        commands = driven(plugin, 1.2, person=lambda at_s: 20.0 if at_s < 0.5 else 1.0)
        used = len(server.used)
    stopped_s, stop = next((at_s, one) for at_s, one in commands
                           if one is not None and one.velocity == (0.0, 0.0))
    stamps = stop.stamps
    assert isinstance(stamps, CommandStamps) and stamps.note is None
    assert 0.6 < stopped_s < 1.0  # seen from 0.5 s on; the second chunk ends after 800 ms
    assert used <= 5  # in 1.2 s: of the cold start, and when nothing was left
    assert 15 <= stamps.skipped <= 21
    assert 0.3e9 < stamps.skipped_ns < 0.45e9
    assert stamps.ended_ns >= stamps.began_ns >= stamps.queued_ns


def test_a_chunk_has_the_stamps_of_the_observation_that_it_was_computed_from(tmp_path):
    server = LeRobotServer(delayed([[0.5, 0.0]] * HORIZON, 0.0, 0.0, 0.15))
    with lerobot(server) as address, begun(address, tmp_path) as plugin:
        commands = driven(plugin, 0.8, speed=lambda at_s: 10 * at_s)
    told = [one.stamps for _, one in commands if one is not None and one.stamps is not None]
    late = next(one for one in told if one.chunk == 1)
    assert 0.14e9 < late.ended_ns - late.began_ns < 0.3e9
    assert late.index >= 7  # 150 ms of the chunk were over when it came
    after = next((one for one in told if one.chunk == 2), None)
    if after is not None:  # it was computed from what waited meanwhile
        assert after.began_ns >= late.ended_ns


@for_each(('answer', 'name'), [
    (message(b'hello'), 'malformed'), (b'\x0a\xff', 'malformed'),
    (message(STATE), 'malformed'), (b'', 'no_actions')])
def test_each_failure_has_a_name_and_the_robot_stops(tmp_path_factory, answer, name):
    asked: list[Any] = []

    def policy(observation: Any) -> Any:
        asked.append(observation)
        return [[0.5, 0.0]] * 4 if len(asked) == 1 else answer
    with lerobot(LeRobotServer(policy, 0.05)) as address, begun(
            address, tmp_path_factory.mktemp('one'), timeout_ms=150) as plugin:
        commands = driven(plugin, 0.4)
    told = [one for _, one in commands if one is not None]
    assert told and {one.velocity for one in told} == {(0.0, 0.0)}
    assert {one.stamps.note for one in told} == {name}


class Full(LeRobotServer):
    """Has no memory left on its GPU, or makes an answer that is too large."""

    detail = ''

    def actions(self, request: bytes, context: Any) -> bytes:
        if not self.detail:
            return bytes(MAX_ANSWER + 1)
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, self.detail)


@for_each(('detail', 'name', 'said'), [
    ('CUDA out of memory', 'server_error', 'CUDA out of memory'),
    ('', 'too_large', 'more than 64 MiB')])
def test_a_server_without_memory_is_told_from_an_answer_that_is_too_large(detail, name, said):
    server = Full(delayed([[0.5, 0.0]]))
    server.detail = detail
    with lerobot(server) as address:
        model = LeRobotModel(address, OPTIONS)
        model.open()
        with pytest.raises(InferenceError, match=said) as caught:
            model.infer(INPUTS)
        model.close()
    assert caught.value.name == name


def test_a_proxy_of_the_environment_is_not_between_the_two(monkeypatch):
    monkeypatch.setenv('http_proxy', 'http://127.0.0.1:9')
    with lerobot(LeRobotServer(delayed([[0.5, 0.0]]))) as address:
        model = LeRobotModel(address, OPTIONS)
        model.open()
        assert model.infer(INPUTS).outputs['actions'].tolist() == [[0.5, 0.0]]
        model.close()


def test_an_answer_that_is_late_is_a_timeout_and_the_next_one_counts(tmp_path):
    server = LeRobotServer(delayed([[0.5, 0.0]] * HORIZON, 0.0, 0.4, 0.0))
    with lerobot(server) as address, begun(address, tmp_path, timeout_ms=150) as plugin:
        commands = driven(plugin, 0.8)
    told = [(one.stamps.note, one.velocity) for _, one in commands if one is not None]
    assert told[0] == ('timeout', (0.0, 0.0)) and told[-1] == (None, (0.5, 0.0)), told
    waited = next(one.stamps for _, one in commands if one is not None)
    assert waited.ended_ns - waited.began_ns >= 150e6, 'the wait is in the stamps'


def test_a_server_that_dies_is_dropped_and_then_refused(tmp_path):
    server = LeRobotServer(delayed([[0.5, 0.0]] * 4))
    with lerobot(server) as address:
        context = begun(address, tmp_path, timeout_ms=200)
        plugin = context.__enter__()
        driven(plugin, 0.1)
    try:
        notes = {one.stamps.note for _, one in driven(plugin, 0.5)
                 if one is not None and one.stamps is not None and one.stamps.note}
        assert {'dropped', 'refused'} & notes and notes <= {'dropped', 'refused', 'timeout'}, notes
    finally:
        context.__exit__(None, None, None)


def test_another_episode_begins_without_what_was_sent_before(tmp_path):
    server = LeRobotServer(delayed([[0.5, 0.0]] * 4))
    with lerobot(server) as address, begun(address, tmp_path) as plugin:
        driven(plugin, 0.1)
        before = server.readies
        began_s = time.monotonic()
        plugin.begin_trial()
        assert time.monotonic() - began_s < 0.25 and server.readies == before + 1
        assert any(one is not None for _, one in driven(plugin, 0.2))


@for_each(('more', 'said'), [
    ({}, 'in its log'),
    ({'observation.environment_state': numpy.zeros(1)},
     'images.NAME and task alone, not observation.environment_state')], ids=str)
def test_inputs_that_the_server_does_not_pass_on_are_named_where_no_actions_come(more, said):
    with lerobot(LeRobotServer(lambda _: b'')) as address:
        model = LeRobotModel(address, OPTIONS)
        model.open()
        with pytest.raises(InferenceError, match=f'{said}$'):
            model.infer({**INPUTS, **more})
        model.close()


def test_the_server_is_asked_for_the_next_chunk_at_once_and_not_with_the_next_tick(tmp_path):
    server = LeRobotServer(stops_for_a_person, waits_s=5.0)
    with lerobot(server) as address, begun(address, tmp_path) as plugin:
        before, end_s = server.asked, time.monotonic() + 5.0
        while server.asked == before and time.monotonic() < end_s:
            driven(plugin, PERIOD_MS / 1e3)
        while server.asked < before + 2 and time.monotonic() < end_s:
            time.sleep(0.01)  # without a tick
        assert server.asked == before + 2


def inference_ms(folder: Any, delay_ms: float) -> float:
    """Return how long inference takes by the stamps, with a server that takes so long."""
    server = LeRobotServer(delayed([[0.5, 0.0]] * 4, 0.0, delay_ms / 1e3))
    with lerobot(server) as address, begun(address, folder, timeout_ms=2000) as plugin:
        found = next(one for _, one in driven(plugin, delay_ms / 1e3 + 0.3) if one is not None)
    return (found.stamps.ended_ns - found.stamps.began_ns) / 1e6


@for_each('delay_ms', [50.0, 300.0])
def test_the_inference_part_of_the_stamps_is_the_scripted_delay(tmp_path_factory, delay_ms):
    assert delay_ms <= inference_ms(tmp_path_factory.mktemp('one'), delay_ms) < delay_ms + 60


@pytest.mark.thorough
@for_each('delay_ms', [100.0, 200.0, 400.0, 800.0])
def test_the_inference_part_is_each_scripted_delay(tmp_path_factory, delay_ms):
    assert delay_ms <= inference_ms(tmp_path_factory.mktemp('one'), delay_ms) < delay_ms + 20
