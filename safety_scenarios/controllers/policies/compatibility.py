# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether a contract fits a robot, and a model its contract: every difference, with both sides."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safety_scenarios.controllers.policies.actions import ACTION_TYPES, PolicyActions
from safety_scenarios.controllers.policies.contract import (
    ActionOutput,
    DTYPES,
    InputPart,
    PolicyContract,
    wrong_lengths,
)
from safety_scenarios.controllers.policies.inputs import PolicyInputs
from safety_scenarios.controllers.policies.model import (
    batched,
    is_number_type,
    PolicyModel,
    Tensor,
    zeros,
)
from safety_scenarios.errors import (
    ControllerError,
    counted,
    described,
    did_you_mean,
    SafetyScenariosError,
)
from safety_scenarios.scenario.blocks.robot import RobotModel

_BASE_VALUES = 2
"""Ahead, and the rate of turn."""
_LONGEST = 200
"""Characters that are kept of what a model raises: the last, which say most in onnxruntime."""
_TEXT = 'str'
"""Type of a tensor of texts."""


def robot_problems(contract: PolicyContract, robot: RobotModel) -> Iterator[str]:
    """Yield why a robot cannot be commanded as a contract says."""
    if contract.robot != robot.kind:
        yield (f'robot: the contract is for the kind {contract.robot}, the robot is of the kind '
               f'{robot.kind}. Choose a robot or a policy of the other kind')
        return
    count, output = len(robot.joints), contract.action
    if output.kind == 'arm':
        if not count:
            yield ('robot: the policy commands joints, and the robot has no joint names. List '
                   'them in robot.joints')
            return
        if contract.joints and contract.joints != count:
            yield (f'joints: the contract has {contract.joints}, the robot has {count}: '
                   f'{", ".join(robot.joints)}. Choose a robot with as many joints')
            return
    name = f'outputs.{contract.action_name}'
    columns, needed = len(output.columns), count if output.kind == 'arm' else _BASE_VALUES
    if columns > needed or (output.kind == 'arm' and columns and columns != needed):
        yield (f'{name}.columns: the contract uses {columns} values of an action, the robot takes '
               f'{needed}')
        return
    yield from _wrong_lengths(name, output, columns or needed,
                              output.kind != 'arm' and not columns)
    for place, part in contract.parts():
        yield from _wrong_joints(f'inputs.{place}', part, count)


def _wrong_joints(name: str, part: InputPart, count: int) -> Iterator[str]:
    if not part.joints:
        return
    if not count:
        yield f'{name}: it reads joints of {part.role}, and the robot has no joint names'
        return
    yield from _wrong_lengths(name, part, count)


def _wrong_lengths(name: str, values: InputPart | ActionOutput, expected: int,
                   may_be_one: bool = False) -> Iterator[str]:
    """
    Yield which of the lists has another length than there are values.

    :param may_be_one: an action may have one value, too; the model says whether it has
    """
    for field, given in wrong_lengths(values, {expected, 1} if may_be_one else {expected}):
        yield (f'{name}.{field}: the contract has {counted(given, "number")}, the robot needs '
               f'{expected}, or one without brackets')


def model_problems(model: PolicyModel, contract: PolicyContract, robot: RobotModel,
                   horizon: int = 0) -> Iterator[str]:
    """
    Yield why an opened model does not fit its contract on a robot.

    :param horizon: actions that each chunk must have at least; 0: any number
    """
    inputs = PolicyInputs(contract, robot)
    found = [*_wrong_inputs(model.inputs(), contract, inputs.shapes),
             *_wrong_outputs(model.outputs(), contract, robot, horizon),
             *_wrong_states(model.inputs() or {}, model.outputs() or {}, contract)]
    yield from found
    if model.is_file and not found:  # it may declare less than it needs
        try:
            rehearse(model, {**inputs.neutral(), **contract.prompts,
                             **first_states(model, contract)},
                     PolicyActions(contract, robot, horizon))
        except ControllerError as error:
            yield str(error)


def first_states(model: PolicyModel, contract: PolicyContract) -> dict[str, Any]:
    """Return the recurrent states at the beginning."""
    declared = model.inputs() or {}
    return {name: zeros(state.shape, declared[name].dtype if name in declared else '')
            for name, state in contract.states.items()}


def rehearse(model: PolicyModel, given: Mapping[str, Any], actions: PolicyActions) -> None:
    """
    Ask a model once, before anything moves.

    :param given: its inputs, in which all numbers are zeros
    :raises InferenceError: a server gives no answer
    :raises ControllerError: the model fails, or its answer is no action of the robot
    """
    try:
        outputs = model.infer(given).outputs
    except SafetyScenariosError:
        raise
    except Exception as error:  # of onnxruntime, or of the user's code
        shapes = ', '.join(f'{name} {list(value.shape)}' for name, value in given.items()
                           if not isinstance(value, str))
        text = described(error)
        raise ControllerError(
            f'the model failed when it was asked once before the trial, with zeros of the shapes '
            f'{shapes}: {text if len(text) <= _LONGEST else f"...{text[-_LONGEST:]}"}') from error
    actions.chunk(outputs, is_rehearsal=True)
    actions.states(outputs, is_rehearsal=True)


def _wrong_inputs(declared: Mapping[str, Tensor] | None, contract: PolicyContract,
                  shapes: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    if declared is None:
        return
    given: dict[str, tuple[tuple[int, ...], str]] = {
        **{name: (shape, contract.inputs[name][0].dtype) for name, shape in shapes.items()},
        **dict.fromkeys(contract.prompts, ((), _TEXT)),
        **{name: (state.shape, '') for name, state in contract.states.items()}}
    for name in sorted(declared.keys() - given.keys()):
        yield (f'the model has the input {name!r}, expected it under inputs, prompts or '
               f'states of the contract.{did_you_mean(name, given)}')
    for name in sorted(given.keys() - declared.keys()):
        yield (f'the contract has the input {name!r}, expected one of the model: '
               f'{", ".join(declared)}.{did_you_mean(name, declared)}')
    for name in sorted(given.keys() & declared.keys()):
        (shape, dtype), tensor = given[name], declared[name]
        if dtype and tensor.dtype and dtype != tensor.dtype:
            advice = f'Name it under {"prompts" if tensor.dtype == _TEXT else "inputs"}' \
                if _TEXT in (dtype, tensor.dtype) else 'Set dtype' if tensor.dtype in DTYPES \
                else f'A contract gives {", ".join(DTYPES)}: convert the model'
            yield (f'inputs.{name}: the contract gives {dtype}, the model expects '
                   f'{tensor.dtype}. {advice}')
        elif batched(shape, tensor) is None:
            yield (f'inputs.{name}: the contract gives shape {list(shape)}, the model '
                   f'expects {shape_text(tensor.shape)}')


def _wrong_states(inputs: Mapping[str, Tensor], outputs: Mapping[str, Tensor],
                  contract: PolicyContract) -> Iterator[str]:
    """Yield which state is of a type that cannot be given, or not of the one that comes back."""
    for name, state in contract.states.items():
        taken = inputs[name].dtype if name in inputs else ''
        given = outputs[state.output].dtype if state.output in outputs else ''
        if taken and not is_number_type(taken):
            yield (f'states.{name}: the model expects {taken}, expected a type of numbers that '
                   f'numpy has, such as float32. Convert the model')
        elif taken and given and taken != given:
            yield (f'states.{name}: the model expects {taken}, and gives {given} as '
                   f'{state.output!r}, expected the same type. Convert the model, or choose '
                   f'another output')


def _wrong_outputs(declared: Mapping[str, Tensor] | None, contract: PolicyContract,
                   robot: RobotModel, horizon: int) -> Iterator[str]:
    if declared is None:
        return
    states = {state.output: state.shape for state in contract.states.values()}
    for name in (contract.action_name, *states):
        if name not in declared:
            yield (f'the contract has the output {name!r}, expected one of the model: '
                   f'{", ".join(declared)}.{did_you_mean(name, declared)}')
        elif name in states and batched(states[name], declared[name]) is None:
            yield (f'states: the contract gives the output {name!r} shape '
                   f'{list(states[name])}, the model has {shape_text(declared[name].shape)}')
    action = declared.get(contract.action_name)
    if action is not None:
        yield from _wrong_action(action, contract, robot, horizon)


def _wrong_action(tensor: Tensor, contract: PolicyContract, robot: RobotModel,
                  horizon: int) -> Iterator[str]:
    name, output = f'outputs.{contract.action_name}', contract.action
    if tensor.dtype and not is_number_type(tensor.dtype, ACTION_TYPES):
        yield (f'{name}: the model gives {"texts" if tensor.dtype == _TEXT else tensor.dtype}, '
               f'expected numbers')
        return
    shape = tensor.shape
    if shape is None:
        return
    values = shape[-1] if shape else 1
    needed = len(robot.joints) if output.kind == 'arm' else _BASE_VALUES
    if output.columns:
        if values is not None and values <= max(output.columns):
            yield (f'{name}.columns: the contract uses the value {max(output.columns)} of an '
                   f'action, counted from 0, and the model gives {values}: shape '
                   f'{shape_text(shape)}')
    elif values is not None and values != needed and (output.kind == 'arm' or values != 1):
        yield (f'{name}: the contract declares {output.quantity}, {needed} values an action, and '
               f'the model gives {values}: shape {shape_text(shape)}. Set columns, or choose '
               f'another output')
    elif values is not None:
        yield from (f'{name}.{field}: the contract has {counted(given, "number")}, and the model '
                    f'gives {counted(values, "value")} an action'
                    for field, given in wrong_lengths(output, {values}))
    length = shape[-2] if len(shape) > 1 else 1
    if length is not None and length < horizon:
        yield (f'{name}: action_horizon or replan_interval is {horizon}, and the model gives '
               f'{length} {"action" if length == 1 else "actions"} a chunk: shape '
               f'{shape_text(shape)}. Set at most {length}')


def chunk_length(declared: Mapping[str, Tensor] | None, contract: PolicyContract) -> int | None:
    """Return how many actions the model declares for a chunk; None: it does not."""
    action = (declared or {}).get(contract.action_name)
    if action is None or action.shape is None:
        return None
    return action.shape[-2] if len(action.shape) > 1 else 1


def shape_text(shape: Sequence[int | None] | None) -> str:
    """Return the shape of a tensor as text."""
    return 'any' if shape is None else \
        '[' + ', '.join('any' if size is None else str(size) for size in shape) + ']'
