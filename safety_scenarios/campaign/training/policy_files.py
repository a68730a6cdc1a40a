# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From a name and a seed to the three files of a policy: model, contract and model card.

The same network gives the same bytes of a model, in ONNX.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy
from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.training.imitation import (
    Effort,
    FULL,
    NEEDED,
    one_thread,
    package,
    Tell,
    train,
)
from safety_scenarios.campaign.training.model_card import judge_policy, model_card, sha256
from safety_scenarios.campaign.training.network import Layers, Network
from safety_scenarios.controllers.policies.contract import load_contract
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.scenario.scenario import Scenario

_OPSET, _IR_VERSION = 17, 8
"""Read by onnxruntime 1.12 and newer."""
_NAME = 'safety_scenarios'


def onnx_bytes(network: Network, output: str, metadata: Mapping[str, str]) -> bytes:
    """
    Return the content of an ONNX file.

    :param metadata: goes into the file, such as the hash of the contract
    :raises MissingDependencyError: without the extra train
    """
    onnx, helper, numbers = map(package, ('onnx', 'onnx.helper', 'onnx.numpy_helper'))
    nodes, constants = list[Any](), list[Any]()

    def constant(name: str, values: Any) -> str:
        constants.append(numbers.from_array(
            numpy.ascontiguousarray(values, dtype=numpy.float32), name))
        return name

    def layers(prefix: str, source: str, part: Layers) -> str:
        for place, (weight, bias) in enumerate(zip(part.weights, part.biases, strict=True)):
            summed = f'{prefix}_{place}'
            nodes.append(helper.make_node('Gemm', [
                source, constant(f'{summed}_weight', weight), constant(f'{summed}_bias', bias)],
                [summed]))
            source = summed
            if place < len(part.weights) - 1:
                nodes.append(helper.make_node('Relu', [summed], [f'{summed}_relu']))
                source = f'{summed}_relu'
        return source

    def clipped(source: str, least: float, name: str) -> str:
        nodes.append(helper.make_node('Clip', [
            source, constant(f'{name}_least', least), constant(f'{name}_most', 1.0)], [name]))
        return name

    units = clipped(layers('speed', network.speed_input, network.speed), 0.0, 'units')
    share = output if network.sense is None else 'share'
    steps = numpy.array(network.steps)[:, None]
    nodes.append(helper.make_node('MatMul', [units, constant('steps', steps)], [share]))
    if network.sense is not None:
        senses = clipped(layers('sense', network.sense_input, network.sense), -1.0, 'senses')
        nodes.append(helper.make_node('Mul', [share, senses], [output]))
    graph = helper.make_graph(
        nodes, _NAME, [_vector(onnx, name, size) for name, size in _inputs(network)],
        [_vector(onnx, output, 1 if network.sense is None else len(network.sense.biases[-1]))],
        constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', _OPSET)],
                              ir_version=_IR_VERSION, producer_name=_NAME)
    helper.set_model_props(model, dict(sorted(metadata.items())))
    package('onnx.checker').check_model(model)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def _inputs(network: Network) -> Iterator[tuple[str, int]]:
    yield network.speed_input, len(network.speed.weights[0])
    if network.sense is not None:
        yield network.sense_input, len(network.sense.weights[0])


def _vector(onnx: Any, name: str, size: int) -> Any:
    return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, size])


POLICIES = 'base', 'arm'
MODEL, CONTRACT, CARD = 'policy.onnx', 'policy.yaml', 'card.md'
_FOLDERS = 'robotic', 'worlds'
"""Of scenarios: those that are learned from, and others by which a policy is judged as well."""
_NOT_TRAINED_WITH = frozenset({'SCN-R-110', 'SCN-R-D-110', 'SCN-R-111', 'SCN-R-D-111'})
"""Scenarios that a policy is judged by and has never seen: what it can do with others."""
_TEST_TRIALS, QUICK_TEST_TRIALS = 5, 1


def write_policy(name: str, seed: int, output: Path, effort: Effort = FULL,
                 tell: Tell = lambda line: None, test_trials: int = _TEST_TRIALS) -> str:
    """
    Train a policy, judge it and write its files; return the hash of the model.

    :param name: base or arm
    :param output: a folder that is new or empty
    :param tell: takes a line of progress
    :param test_trials: trials of each scenario and link by which the policy is judged
    :raises SettingsError: there are files in that folder
    :raises MissingDependencyError: without the extra train
    :raises TraceError: a file cannot be written
    """
    for needed in NEEDED:
        package(needed)
    _refuse_files_in(output)
    source = contract_file(name)
    contract, contract_text = load_contract(source), source.read_bytes()
    scenarios, others = (tuple(_for_robot(contract.robot, folder)) for folder in _FOLDERS)
    learned_from = [one for one in scenarios if one.id not in _NOT_TRAINED_WITH]
    trained = train(contract, learned_from, seed, effort, tell)
    model = onnx_bytes(trained.network, contract.action_name, {
        'contract_sha256': sha256(contract_text), 'seed': str(seed)})
    with TemporaryDirectory() as folder:
        place = Path(folder)
        write_whole(place / MODEL, model)
        write_whole(place / CONTRACT, contract_text)
        with one_thread():
            judged = tuple(judge_policy(f'onnx:{place / MODEL}', scenarios, others,
                                        test_trials, tell))
        card = model_card(name, contract, trained, model, contract_text, judged, learned_from)
    write_whole(output / MODEL, model)
    write_whole(output / CONTRACT, contract_text)
    write_whole(output / CARD, card)
    return sha256(model)


def contract_file(name: str) -> Path:
    """Return the installed contract of a policy, which is written beside what is trained."""
    return share_folder() / 'config' / 'policies' / f'{name}.yaml'


def _for_robot(kind: str, folder: str) -> Iterator[Scenario]:
    for scenario in load_scenarios([folder]).scenarios:
        robot = scenario.body.robot
        if robot is not None and robot.kind == kind:
            yield scenario


def _refuse_files_in(output: Path) -> None:
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise SettingsError(f'output: got {output}, where there are files already, expected a '
                            f'new or an empty folder. Name another one')
