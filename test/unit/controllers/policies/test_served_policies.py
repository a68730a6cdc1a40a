# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One policy, in this process and behind servers: the same commands, and every failure in time."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
import json
import logging
from pathlib import Path
import re
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

from cases import for_each
import numpy
import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.controllers.adapters import make_controller
from safety_scenarios.controllers.host import ControllerHost
from safety_scenarios.controllers.policies.model import InferenceError, ModelOptions, Tensor
from safety_scenarios.controllers.policies.policy import policy_class, PolicyController
from safety_scenarios.controllers.policies.python_models import InspectRobotsModel
from safety_scenarios.controllers.policies.servers.messages import read_map
from safety_scenarios.errors import ControllerError, InputError, SettingsError
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.message import Command
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.trial.parameters import (
    is_bundled,
    is_own,
    named_controller,
    read_parameters,
    source_of,
)
from unit.controllers.fake_server import Reply, serving
from unit.controllers.observations import box, pose, seen
from unit.controllers.policies.scripted_servers import actions, openpi, openpi_bytes, xpolicylab

CONTEXT = ControllerSettings(robot=RobotModel(kind='mobile_base', max_speed=1.0))
CONTRACT = """
robot: mobile_base
rate_hz: 20
stale_ms: 0
inputs:
  rays: {role: scan, rays: 8, clip: [0.0, 10.0]}
outputs:
  actions: {quantity: velocity}
"""
WEIGHTS = numpy.linspace(-0.5, 0.5, 2 * 4 * 8, dtype='float32').reshape(8, 8)
"""Eight rays to four actions of two values."""


def chunk(rays: Any) -> Any:
    return (numpy.asarray(rays, 'float32') @ WEIGHTS).reshape(4, 2)


@pytest.fixture
def contract(tmp_path) -> str:
    path = tmp_path / 'policy.yaml'
    path.write_text(CONTRACT)
    return str(path)


@contextmanager
def begun(name: str, contract: str, **parameters: Any) -> Iterator[PolicyController]:
    kind, _, address = name.partition(':')
    plugin = make_controller(policy_class(kind, address), CONTEXT, {
        'contract': contract, 'cold_start_s': 3.0, **parameters})
    assert isinstance(plugin, PolicyController)
    try:
        yield plugin
    finally:
        plugin.close()


def commands(name: str, contract: str) -> list[tuple[float, ...]]:
    """Return what a policy commands while something comes nearer."""
    with begun(name, contract) as plugin:
        return [plugin.decide(seen(50.0 * count, scan=box(6.0 - 0.25 * count))).velocity
                for count in range(20)]


def onnx_file(folder: Any) -> str:
    onnx = pytest.importorskip('onnx', reason='writes the policy for this test')
    pytest.importorskip('onnxruntime', reason='the extra policy is not installed')
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node('MatMul', ['rays', 'weights'], ['flat']),
         helper.make_node('Reshape', ['flat', 'shape'], ['actions'])], 'policy',
        [helper.make_tensor_value_info('rays', onnx.TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info('actions', onnx.TensorProto.FLOAT, [1, 4, 2])],
        [onnx.numpy_helper.from_array(WEIGHTS, 'weights'),
         onnx.numpy_helper.from_array(numpy.array([1, 4, 2], 'int64'), 'shape')])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    path = folder / 'policy.onnx'
    onnx.save(model, str(path))
    return str(path)


@contextmanager
def answering_http() -> Iterator[str]:
    """Serve the policy as others do: it answers with plain numbers."""
    with serving(Reply(b'')) as http:
        def take(request: Any) -> Reply:
            rays = read_map(request.body['rays'])
            return Reply(json.dumps(json.dumps({'actions': chunk(rays).tolist()})).encode())
        http.take = take  # type: ignore[method-assign]
        yield f'act:{http.base_url}/act'


@contextmanager
def answering_openpi() -> Iterator[str]:
    def answer(observation: Mapping[str, Any]) -> bytes:
        return openpi_bytes({'actions': chunk(observation['rays']),
                             'server_timing': {'infer_ms': 1.0}})
    with openpi(answer) as address:
        yield f'openpi:{address}'


class OwnPolicy:
    """A policy in code of the user's own."""

    def infer(self, inputs: Mapping[str, Any]) -> Any:
        return chunk(inputs['rays'])


def own_function(inputs: Mapping[str, Any]) -> Any:
    return {'actions': chunk(inputs['rays'])}


def test_a_policy_commands_the_same_in_this_process_and_behind_each_server(tmp_path, contract):
    expected = commands(f'onnx:{onnx_file(tmp_path)}', contract)
    assert len(set(expected)) == 20
    with answering_http() as http, answering_openpi() as websocket:
        for name in (http, websocket, f'python:{__name__}:OwnPolicy',
                     f'python:{__name__}:own_function'):
            assert numpy.allclose(commands(name, contract), expected, atol=1e-6), name


def test_the_server_of_openpi_itself_serves_it(tmp_path, contract):
    server = pytest.importorskip('openpi_server', reason=(
        'pip install --no-deps openpi-client==0.1.2 openpi-server==0.1.0, which ask for an older '
        'numpy than they need'))

    class Served:

        def infer(self, observation: Mapping[str, Any]) -> dict[str, Any]:
            return {'actions': chunk(observation['rays'])}
    serves: Future[Any] = Future()

    async def run() -> None:
        import asyncio

        import websockets.asyncio.server as sockets
        policy = server.WebsocketPolicyServer(Served(), metadata={'model': 'tiny'})
        async with sockets.serve(policy._handler, '127.0.0.1', 0, compression=None,
                                 max_size=None) as made:
            end = asyncio.Event()
            serves.set_result((asyncio.get_running_loop(), end, made.sockets[0].getsockname()[1]))
            await end.wait()

    import asyncio
    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    loop, end, port = serves.result(5)
    try:
        found = commands(f'openpi:ws://127.0.0.1:{port}', contract)
        expected = commands(f'python:{__name__}:OwnPolicy', contract)
        assert numpy.allclose(found, expected, atol=1e-6)
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join()


def test_the_time_of_the_server_is_in_the_stamps_of_the_command(contract):
    with openpi(actions((0.5, 0.0), infer_ms=30.0, delay_s=0.05)) as address, \
            begun(f'openpi:{address}', contract) as plugin:
        stamps = plugin.decide(seen(0.0, scan=box(3.0))).stamps
        assert stamps.server_ns == 30_000_000
        assert stamps.ended_ns - stamps.began_ns >= 50_000_000


@for_each(('rows', 'said'), [
    ([[float('nan'), 0.0]], 'not finite'), ([[0.5, 0.0, 0.0]], r'shape \[1, 3\]'), ([], 'shape'),
    ([['fast', 'left']], 'array of numbers')], ids=str)
def test_an_answer_that_is_no_action_is_an_error_of_the_policy(tmp_path, rows, said):
    contract = tmp_path / 'policy.yaml'
    contract.write_text(CONTRACT)
    with openpi(actions((0.5, 0.0)), lambda _: openpi_bytes({'actions': rows})) as address, \
            begun(f'openpi:{address}', str(contract)) as plugin, \
            pytest.raises(ControllerError, match=said):
        plugin.decide(seen(0.0, scan=box(3.0)))


@for_each('execution', ['synchronous', 'asynchronous'])
def test_closing_ends_what_the_server_never_answers(tmp_path, execution):
    contract = tmp_path / 'policy.yaml'
    contract.write_text(CONTRACT)
    ended = threading.Event()

    def never(_: Any) -> bytes:
        ended.wait(3.0)
        return openpi_bytes({})
    with openpi(actions((0.5, 0.0)), never) as address:
        with begun(f'openpi:{address}', str(contract), execution=execution,
                   timeout_ms=100.0 if execution == 'synchronous' else 60_000.0) as plugin:
            began_s = time.monotonic()
            plugin.decide(seen(0.0, scan=box(3.0)))
            time.sleep(0.05)
        assert time.monotonic() - began_s < 1.0
        ended.set()


def test_a_policy_that_is_code_runs_apart_and_its_file_is_named(contract):
    name = f'python:{__name__}:OwnPolicy'
    assert not is_bundled(name) and not is_own(name)
    assert is_bundled('openpi:ws://127.0.0.1:8000')
    target, file = source_of(name)
    assert target == f'{__name__}:OwnPolicy' and str(file) == sys.modules[__name__].__file__
    with pytest.raises(SettingsError, match='expected a class or an object with infer'), \
            begun(f'python:{__name__}:CONTRACT', contract):
        pass


def test_a_file_of_torch_needs_the_extra_or_leave_to_run_code(
        tmp_path, contract, monkeypatch, capsys):
    file, output = tmp_path / 'policy.pt', tmp_path / 'results'
    file.write_bytes(b'')
    monkeypatch.setattr('safety_scenarios.controllers.policies.model_files.find_spec',
                        lambda name: None)
    monkeypatch.delitem(sys.modules, 'torch', raising=False)
    for kind, allowed, expected in (('torch', 'false', 'allow_pickle=true'),
                                    ('torch', 'true', 'safety_scenarios[torch]'),
                                    ('torchscript', 'false', 'safety_scenarios[torch]')):
        with pytest.raises(InputError, match=re.escape(expected)), \
                begun(f'{kind}:{file}', contract, allow_pickle=allowed == 'true'):
            pass
        values = (f'controller.contract={contract}', f'controller.allow_pickle={allowed}')
        assert main(['run', 'SCN-R-104', '--link', 'loopback', '--controller', f'{kind}:{file}',
                     *(word for value in values for word in ('--set', value)), '--output',
                     str(output)]) == 2
        assert expected in capsys.readouterr().err and not output.exists()


class TakesText:
    """A module of PyTorch, as far as a policy knows one, with the arguments rays and prompt."""

    forward = SimpleNamespace(schema=SimpleNamespace(arguments=[
        SimpleNamespace(name=name, type=kind)
        for name, kind in (('self', 'Takes'), ('rays', 'Tensor'), ('prompt', 'str'))]))

    def __init__(self) -> None:
        self.__dict__['eval'] = lambda: None

    def __call__(self, rays: Any, prompt: str) -> Any:
        assert rays.shape == (1, 8)
        return {'actions': chunk(rays * len(prompt))}


def test_a_module_of_torch_takes_a_prompt_as_a_text(tmp_path, contract, monkeypatch):
    monkeypatch.setitem(sys.modules, 'torch', SimpleNamespace(
        __version__='2', set_num_threads=lambda count: None, from_numpy=lambda array: array,
        inference_mode=nullcontext, Tensor=(),
        jit=SimpleNamespace(load=lambda address, map_location: TakesText())))
    file = tmp_path / 'policy.pt'
    file.write_bytes(b'')
    with pytest.raises(SettingsError, match="the model has the input 'prompt'"), \
            begun(f'torchscript:{file}', contract):
        pass
    Path(contract).write_text(f'{CONTRACT}prompts: {{prompt: Go}}')
    with begun(f'torchscript:{file}', contract) as plugin:
        assert plugin.decide(seen(scan=box(6.0))).velocity is not None
    Path(contract).write_text(CONTRACT.replace('  rays', '  prompt') + 'prompts: {rays: Go}')
    with pytest.raises(SettingsError, match='gives float32, the model expects str. Name it under '
                                            'prompts'), begun(f'torchscript:{file}', contract):
        pass


def test_a_chat_model_is_the_controller_llm_at_its_server():
    pytest.importorskip('openai', reason='the extra llm is not installed')
    made = named_controller('openai:http://127.0.0.1:8080/v1#smol')
    plugin = made()
    assert (plugin.base_url, plugin.model) == ('http://127.0.0.1:8080/v1', 'smol')
    assert issubclass(made, named_controller('llm')) and made.takes_real_time
    assert is_bundled('openai:http://127.0.0.1:8080/v1#smol')
    assert source_of('openai:http://127.0.0.1:8080/v1#smol') == source_of('llm')
    for wrong in ('openai:http://127.0.0.1:8080/v1', 'openai:#smol', 'openai:ftp://host#smol',
                  'openai:http://me:secret@host/v1#smol', 'openai:http://host/v1?key=secret#smol',
                  'openai:http://host/v1?key=secret', 'openai:http://me:secret@host/v1'):
        with pytest.raises(SettingsError) as caught:
            named_controller(wrong)
        assert 'secret' not in str(caught.value)


@pytest.mark.parametrize(('text', 'both'), [
    ('model=other', ("'other'", "'smol'")), ('server.model=other', ("'other'", "'smol'")),
    ('base_url=http://other/v1', ("'http://other/v1'", "'http://127.0.0.1:8080/v1'"))])
def test_a_chat_model_is_named_in_one_place(text, both):
    pytest.importorskip('openai', reason='the extra llm is not installed')
    made = named_controller('openai:http://127.0.0.1:8080/v1#smol')
    read_parameters(['model=smol'], made)
    with pytest.raises(SettingsError, match='Set it in one place') as caught:
        read_parameters([text], made)
    assert all(one in str(caught.value) for one in both)


@pytest.mark.parametrize('query', [
    'api_key=hush', 'auth=hush', 'authorization=hush', 'url=http://u:hush@127.0.0.1:9',
    'urls=["http://u:hush@h"]', 'url=http://h/?token%3Dhush', 'options={"password":"hush"}'])
def test_credentials_in_the_name_of_a_policy_are_refused_before_they_are_recorded(query):
    with pytest.raises(SettingsError, match='expected it in the environment') as caught:
        policy_class('inspect-robots', f'noop?{query}')
    assert 'hush' not in str(caught.value)


def test_a_server_is_no_controller_where_time_stands_still():
    assert policy_class('openpi', 'ws://127.0.0.1:8000').takes_real_time
    assert not policy_class('python', 'a:b').takes_real_time


class Counting:
    """Commands by how many observations it was given since it was reset."""

    def __init__(self) -> None:
        self.count = 0

    def infer(self, inputs: Mapping[str, Any]) -> Any:
        self.count += 1
        return [[0.1 * self.count, 0.0]] * 2

    def reset(self) -> None:
        self.count = 0


class Stateless(Counting):
    """Has no recurrent state."""


def nothing(inputs: Mapping[str, Any]) -> Any:
    return None


@for_each('execution', ['synchronous', 'asynchronous'])
def test_a_trial_begins_with_a_reset_and_without_the_plan_of_the_one_before(contract, execution):
    with begun(f'python:{__name__}:Counting', contract, execution=execution) as plugin:
        host = ControllerHost(plugin)
        for trial in range(2):
            host.begin_trial(time.monotonic_ns())
            found: list[float] = []
            while len(found) < 3:
                now_ns = time.monotonic_ns()
                host.receive('scan', box(3.0), now_ns, None)
                message = host.tick(now_ns, now_ns)
                found += [] if message is None else [message.at('linear.x')]
            assert found[0] == pytest.approx(0.1), trial


def test_the_policy_that_ships_is_reset_too():
    learned = make_controller(named_controller('learned'), CONTEXT, {})
    before = learned._policy._memory.episode
    learned.begin_trial()
    assert learned._policy._memory.episode == before + 1


def test_a_server_that_cannot_begin_anew_is_a_named_failure_until_it_can(contract):
    requests: list[Any] = []
    with xpolicylab(lambda _: {'actions': [[0.5, 0.0]]}, requests) as address, \
            begun(f'xpolicylab:{address}', contract, timeout_ms=100.0) as plugin:
        assert plugin.decide(seen(0.0, scan=box(3.0))).velocity == (0.5, 0.0)
        plugin._model.reset = failing = Failing(plugin._model.reset)  # type: ignore[method-assign]
        plugin.begin_trial()
        first, second = (plugin.decide(seen(50.0 * count, scan=box(3.0))) for count in (1, 2))
        assert (first.velocity, first.stamps.note) == ((0.0, 0.0), 'dropped')
        assert (second.velocity, second.stamps.note) == ((0.5, 0.0), None) and failing.count == 2


class Failing:
    """Fails the first time."""

    def __init__(self, reset: Callable[[], None]) -> None:
        self.reset, self.count = reset, 0

    def __call__(self) -> None:
        self.count += 1
        if self.count == 1:
            raise InferenceError('dropped', 'the connection was closed before the answer came')
        self.reset()


def test_a_state_that_the_model_does_not_give_is_found_at_the_start(contract):
    Path(contract).write_text(CONTRACT + 'states: {h_in: {output: h_out, shape: [2]}}\n')
    with pytest.raises(ControllerError, match="did not give the state 'h_out'"), \
            begun(f'python:{__name__}:Stateless', contract):
        pass


def test_code_that_returns_nothing_is_named(contract):
    with pytest.raises(ControllerError, match='infer returned None, expected a map of arrays'), \
            begun(f'python:{__name__}:nothing', contract):
        pass


def test_a_horizon_holds_for_each_chunk(contract):
    with openpi(actions((0.5, 0.0), (0.5, 0.0)), actions((0.5, 0.0))) as address, \
            begun(f'openpi:{address}', contract, action_horizon=2) as plugin, \
            pytest.raises(ControllerError, match='is 2, and the policy gave a chunk of 1 action'):
        plugin.decide(seen(0.0, scan=box(3.0)))


def test_a_missing_reading_stops_the_robot_and_asks_nobody(contract):
    with openpi(actions((0.5, 0.0))) as address, \
            begun(f'openpi:{address}', contract) as plugin:
        stopped = plugin.decide(seen(0.0, human_pose=pose(3.0)))
        assert isinstance(stopped, Command) and stopped.velocity == (0.0, 0.0)
        assert stopped.stamps.note == 'no scan'


@for_each(('what', 'velocity'), [('stop', (0.0, 0.0)), ('hold', (0.5, 0.0)), ('wait', ())])
def test_a_fallback_says_why_it_is_one_and_the_log_how_often(tmp_path, what, velocity):
    contract = tmp_path / 'policy.yaml'
    contract.write_text(CONTRACT + f'on_missing: {what}\n')
    answers = [actions((0.5, 0.0))] * 2, [lambda _: 'Traceback\nRuntimeError: no CUDA'] * 3
    logger, handler = logging.getLogger('safety_scenarios'), Kept()
    logger.addHandler(handler)
    try:
        with openpi(*answers[0], *answers[1], actions((0.25, 0.0))) as address, \
                begun(f'openpi:{address}', str(contract)) as plugin:
            found = [plugin.decide(seen(50.0 * count, scan=box(3.0))) for count in range(5)]
    finally:
        logger.removeHandler(handler)
    assert found[0].stamps.note is None and found[4].velocity == (0.25, 0.0)
    first, second = (one.stamps for one in found[1:3])
    assert first.ended_ns is not None and second.ended_ns is None, 'of the lost question, once'
    assert {one.velocity for one in found[1:4]} == {velocity}
    assert {one.stamps.note for one in found[1:4]} == {'server_error'}
    said = [one for one in handler.texts if 'server_error' in one]
    assert len(said) == 2 and 'no CUDA' in said[0] and '5 inferences; 3 x server_error' in said[1]


def test_a_failure_ended_when_it_came_and_not_when_it_was_noticed(contract):
    is_asked = threading.Event()

    def fails(_: Any) -> str:
        is_asked.wait(3.0)
        return 'RuntimeError: no CUDA'
    with openpi(actions((0.5, 0.0)), fails) as address, \
            begun(f'openpi:{address}', contract, execution='asynchronous',
                  timeout_ms=10_000.0) as plugin:
        began_ns = time.monotonic_ns()
        plugin.decide(seen(0.0, scan=box(3.0)))
        asked = plugin._memory.asked
        assert asked is not None and asked.future is not None
        is_asked.set()
        assert asked.future.exception(5.0) is not None
        failed_ns = time.monotonic_ns()
        time.sleep(0.05)
        stamps = plugin.decide(seen(50.0, scan=box(3.0))).stamps
        assert stamps.note == 'server_error'
        assert began_ns < stamps.ended_ns <= failed_ns


class Kept(logging.Handler):
    """Keeps what is logged at the level of a warning."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def test_names_that_only_resemble_those_of_secrets_are_arguments():
    InspectRobotsModel('p?max_tokens=256&num_keypoints=17&author=x&cfg={"tokenizer":1}',
                       ModelOptions())
    for name in ('key', 'hf_token', 'x-api-key', 'Authorization', 'auth'):
        with pytest.raises(SettingsError, match=name):
            InspectRobotsModel(f'p?{name}=1', ModelOptions())


def test_a_policy_of_inspect_robots_is_found_by_its_name(contract):
    robots = pytest.importorskip('inspect_robots', reason='the extra inspect-robots is missing')
    from inspect_robots.policy import PolicyInfo
    from inspect_robots.registry import policy
    from inspect_robots.spaces import Box, CameraSpec, ObservationSpace, StateField, StateSpec
    from inspect_robots.types import Action, ActionChunk
    seen_by_it: list[Any] = []

    class Scripted:

        def __init__(self, scale: float = 0.0) -> None:
            self.scale = scale
            self.info = PolicyInfo('scripted', Box((2,)), ObservationSpace(
                state_keys=frozenset({'rays'})))

        def reset(self, scene: Any) -> None:
            seen_by_it.append(scene)

        def act(self, observation: Any) -> Any:
            seen_by_it.append(observation)
            return ActionChunk([Action(self.scale * row) for row in
                                chunk(observation.state['rays'])], inference_latency_s=0.01)
    policy('scripted_here')(Scripted)
    assert robots is not None
    with_prompt = Path(contract).with_name('with_prompt.yaml')
    with_prompt.write_text(CONTRACT + 'prompts: {instruction: drive}\n')
    found = commands('inspect-robots:scripted_here?scale=1.0', str(with_prompt))
    expected = commands(f'python:{__name__}:OwnPolicy', contract)
    assert numpy.allclose(found, expected, atol=1e-6)
    assert seen_by_it[1].instruction == 'drive' and not seen_by_it[1].images
    looking = Scripted()
    looking.info = PolicyInfo('looking', Box((2,)), ObservationSpace(
        (CameraSpec('wrist_cam', 48, 64),), state=StateSpec((StateField('joint_pos', (7,)),))))
    policy('looking_here')(lambda: looking)
    model = InspectRobotsModel('looking_here', ModelOptions())
    model.open()
    assert model.inputs() == {
        'wrist_cam': Tensor((48, 64, 3), 'uint8'), 'joint_pos': Tensor((7,), ''),
        'instruction': Tensor(None, 'str')}
    assert policy_class('inspect-robots', 'scripted_here').takes_real_time
    assert not is_bundled('inspect-robots:scripted_here')
    for name, said in (('scripted_her', "Did you mean 'scripted_here'"),
                       ('scripted_here?api_key=hush', 'expected it in the environment'),
                       ('scripted_here?speed=2', 'cannot be made: TypeError')):
        with pytest.raises(SettingsError, match=said) as caught, \
                begun(f'inspect-robots:{name}', contract):
            pass
        assert 'hush' not in str(caught.value)
