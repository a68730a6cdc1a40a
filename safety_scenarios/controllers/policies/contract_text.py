# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The text of a new contract, from what a model declares as its inputs and outputs.

Where name and shape of an input leave open what it reads, ``BLANK`` is to be filled in. A contract
with it is refused.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
import json
import math
import re

from safety_scenarios.controllers.policies.contract import DTYPES, ROLE_TYPES
from safety_scenarios.controllers.policies.model import Tensor, UNNAMED
from safety_scenarios.formats.document.file_contents import BLANK
import yaml

Shape = tuple[int | None, ...]
_BASE, _ARM = 'mobile_base', 'arm'
_FEWEST_PIXELS = 16
_FEWEST_JOINTS = 3
_MOST_FIELDS = 8
"""Of more numbers a blank for each would not help."""
_ACTION = ('action', 'actions', 'cmd', 'vel', 'velocity', 'control', 'twist', 'chunk', 'target')
_PLANE = ('pose.position.x', 'pose.position.y', 'pose.position.z')
_ODOM: Mapping[int, Sequence[str]] = {
    1: ('twist.twist.linear.x',), 2: ('twist.twist.linear.x', 'twist.twist.angular.z'),
    3: ('twist.twist.linear.x', 'twist.twist.linear.y', 'twist.twist.angular.z')}
_FORCE = tuple(f'wrench.{part}.{axis}' for part in ('force', 'torque') for axis in 'xyz')
_UNITS = {'velocity': 'm/s', 'joint_velocity': 'rad/s', 'joint_position': 'rad',
          'joint_delta': 'rad'}


@dataclass(frozen=True, slots=True)
class RobotFacts:
    """What is known of the robot beside the model."""

    kind: str = ''
    """Empty: unknown."""
    joints: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    """Role to its interface type on this robot."""


@dataclass(frozen=True, slots=True)
class NewContract:
    """A contract as text, and what is open in it."""

    text: str
    blanks: tuple[str, ...]
    """Dotted names of the values that have to be filled in."""


def contract_text(name: str, inputs: Mapping[str, Tensor] | None,
                  outputs: Mapping[str, Tensor] | None, robot: RobotFacts,
                  server_keys: Sequence[str] = ()) -> NewContract:
    """
    Return the text of a contract; what cannot be told from the model is left to be filled in.

    :param name: of the model, for the first line
    :param inputs: that the model declares; None: it declares nothing
    :param outputs: the same
    :param server_keys: what its server has to be told
    """
    return _Contract(inputs or {BLANK: Tensor((None,), '')},
                     outputs or {UNNAMED: Tensor((None, None), '')}, robot
                     ).written(name, server_keys)


class _Contract:
    """Writes one contract."""

    def __init__(self, inputs: Mapping[str, Tensor], outputs: Mapping[str, Tensor],
                 robot: RobotFacts) -> None:
        self._inputs, self._robot = inputs, robot
        self._states = dict(_states(inputs, outputs))
        self._blanks: list[str] = []
        free = {name: one for name, one in outputs.items()
                if name not in self._states.values() and one.dtype != 'str'}
        plain = [name for name in free if _words(name) & {*_ACTION}]
        self._action = (plain or [*free] or [UNNAMED])[0]
        self._others = [name for name in free if name != self._action]
        action = free.get(self._action)
        self._shape = _sizes(action, (None, None))
        values = self._shape[-1] if self._shape else 1
        self._values = values
        self._kind = robot.kind or self._guessed_kind()
        self._joints = len(robot.joints) or (
            values or 0 if self._kind == _ARM and values is not None else 0)

    def _guessed_kind(self) -> str:
        """Return the kind of robot where names and shapes make it plain; empty: they do not."""
        words = _words(self._action) | {word for name in self._inputs for word in _words(name)}
        if self._values is None:
            return ''
        if words & {'joint', 'joints', 'qpos', 'qvel'} and self._values >= _FEWEST_JOINTS:
            return _ARM
        is_base = words & {'cmd', 'twist', 'odom', 'scan', 'lidar', 'laser', 'ranges'}
        return _BASE if is_base and self._values <= 2 else ''

    def written(self, name: str, server_keys: Sequence[str]) -> NewContract:
        """Return the whole file."""
        lines = [
            f'# How {name} is connected to a robot (doc/reference/policies.md). Names, shapes and '
            'types are',
            '# those that the model declares. Check the lines with "edit"; each '
            f'{BLANK} must be replaced',
            '# before the contract can be used.',
            *self._kind_lines(), *self._server_lines(server_keys),
            'inputs:  # input of the model: what goes in',
            *(f'  {line}' for one, tensor in self._inputs.items()
              if one not in self._states and not _is_text(one, tensor)
              for line in self._input(one, tensor)),
            *self._prompts(), *self._state_lines(),
            'outputs:  # output of the model: the action', *self._output(),
            *self._timing()]
        return NewContract('\n'.join(lines) + '\n', tuple(self._blanks))

    def _blank(self, name: str) -> str:
        self._blanks.append(name)
        return json.dumps(BLANK)

    def _kind_lines(self) -> Iterator[str]:
        if self._kind:
            yield f'robot: {self._kind}' + (
                '' if self._robot.kind else '  # edit: guessed from names and shapes')
        else:
            yield f'robot: {self._blank("robot")}  # edit: mobile_base or arm'
        if self._kind == _ARM and self._joints:
            yield f'joints: {self._joints}' + (
                '' if self._robot.joints else '  # edit: as many as an action has values')

    def _server_lines(self, keys: Sequence[str]) -> Iterator[str]:
        if keys:
            yield 'server:  # edit: what the server loads'
        yield from (f'  {key}: {self._blank(f"server.{key}")}' for key in keys)

    def _input(self, name: str, tensor: Tensor) -> Iterator[str]:
        place = f'inputs.{name}'
        if name == BLANK:
            self._blanks.append('inputs')
            yield '# edit: the model declares no inputs; one line for each'
        shape = _unbatched(_sizes(tensor))
        parts = list(self._part(name, tensor, shape, lambda what: self._blank(f'{place}.{what}')))
        notes = [part for part in parts if part.startswith('#')]
        parts = [part for part in parts if not part.startswith('#')]
        if tensor.dtype not in ('', 'float32'):
            parts.append(f'dtype: {tensor.dtype}')
            if tensor.dtype == 'uint8' and not any(one.startswith(('size', 'clip'))
                                                   for one in parts):
                parts.append('clip: [0.0, 255.0]')
            if tensor.dtype not in DTYPES:
                notes.append(f'# edit: a contract gives {", ".join(DTYPES)}: convert the model')
        note = '; '.join(one.removeprefix('# ').removeprefix('edit: ') for one in notes)
        yield f'{_key(name)}: {{{", ".join(parts)}}}  # {_tensor_text(tensor)}' + (
            f'; edit: {note}' if note else '')

    def _part(self, name: str, tensor: Tensor, shape: Shape,
              blank: Callable[[str], str]) -> Iterator[str]:
        """Yield the entries of one input, and comments about them."""
        words = _words(name)
        image = _image(shape, words)
        if image is not None:
            yield from self._image_part(image, tensor.dtype, blank)
        elif len(shape) == 1:
            yield from self._vector(words, shape[0], blank)
        else:
            yield from (f'role: {blank("role")}', f'fields: [{blank("fields")}]',
                        '# edit: a contract gives vectors and images, not this shape')

    def _role(self, role: str) -> Iterator[str]:
        yield f'role: {role}'
        wanted = self._robot.types.get(role, '')
        if wanted and wanted != ROLE_TYPES.get(role):
            yield f'type: {wanted}'

    def _image_part(self, image: 'tuple[str, int, int | None, int | None, int]', dtype: str,
                    blank: Callable[[str], str]) -> Iterator[str]:
        layout, channels, height, width, history = image
        yield from self._role('image')
        yield f'size: [{height or blank("size")}, {width or blank("size")}]'
        yield f'layout: {layout}'
        if channels == 1:
            yield 'channels: mono'
        if history > 1:
            yield f'history: {history}'
        if dtype.startswith('float'):
            yield 'std: 255.0'
            yield '# edit: pixels are 0 to 255; std 255 makes them 0 to 1. Add mean if needed'
        yield '# edit: a second camera needs a role of its own, with its type'

    def _vector(self, words: set[str], count: int | None,
                blank: Callable[[str], str]) -> Iterator[str]:
        joints = self._joints
        if words & {'scan', 'lidar', 'laser', 'ranges', 'rays'}:
            yield from self._role('scan')
            yield f'rays: {blank("rays") if count is None else count}'
            yield f'clip: [0.0, {blank("clip")}]'
            yield '# edit: greatest range in training (m), and sector if it is not all around'
        elif words & {'joint', 'joints', 'qpos', 'qvel'} and (not joints or count == joints):
            yield from self._role('joint_states')
            yield 'joints: ' + ('velocity' if words & {'qvel', 'velocity', 'velocities', 'vel'}
                                else 'effort' if words & {'effort', 'efforts', 'torque'}
                                else 'position')
            yield '# edit: unit, if it is not rad'
        elif words & {'wrench', 'force', 'ft'} and count in (3, 6):
            yield from self._fields('wrench', _FORCE[:count])
        elif words & {'person', 'human', 'pedestrian'} and count in (2, 3):
            yield from self._fields('human_pose', _PLANE[:count])
            yield 'frame: base_link'
        elif words & {'odom', 'odometry', 'velocity', 'twist', 'speed', 'vel'} \
                and self._kind != _ARM and count is not None and count in _ODOM:
            yield from self._fields('odom', _ODOM[count])
            yield '# edit: order and meaning of the numbers'
        elif words & {'contact', 'bumper', 'estop'} and count == 1:
            yield from self._fields('estop' if 'estop' in words else 'contact', ('data',))
        else:
            yield f'role: {blank("role")}'
            places = [blank('fields') for _ in range(count or 1)] \
                if (count or 1) <= _MOST_FIELDS else [blank('fields')]
            yield f'fields: [{", ".join(places)}]'
            yield (f'# edit: where {"its" if count is None else count} numbers come from: '
                   f'a role such as {", ".join([*ROLE_TYPES][:4])}, odom, and fields, rays, '
                   f'joints or age; several roles: a list of such entries')

    def _fields(self, role: str, paths: Sequence[str]) -> Iterator[str]:
        yield from self._role(role)
        yield f'fields: [{", ".join(paths)}]'

    def _prompts(self) -> Iterator[str]:
        texts = [name for name, tensor in self._inputs.items()
                 if name not in self._states and _is_text(name, tensor)]
        if texts:
            yield 'prompts:  # edit: the text that the model reads with each observation'
            yield from (f'  {_key(name)}: {self._blank(f"prompts.{name}")}' for name in texts)

    def _state_lines(self) -> Iterator[str]:
        if self._states:
            yield 'states:  # edit: what the model gets back of its last inference'
        for name, output in self._states.items():
            sizes = [str(one or self._blank(f'states.{name}.shape'))
                     for one in _sizes(self._inputs[name])]
            yield f'  {_key(name)}: {{output: {_key(output)}, shape: [{", ".join(sizes)}]}}'

    def _output(self) -> Iterator[str]:
        name, words = self._action, _words(self._action)
        place = f'outputs.{name}'
        quantity = 'velocity' if self._kind == _BASE else '' if self._kind != _ARM else \
            'joint_delta' if words & {'delta', 'deltas'} else \
            'joint_velocity' if words & {'velocity', 'velocities', 'qvel', 'vel'} else \
            'joint_position' if words & {'position', 'positions', 'qpos', 'target'} else ''
        needed = self._joints if self._kind == _ARM else 2 if self._kind == _BASE else 0
        parts = [f'quantity: {quantity or self._blank(f"{place}.quantity")}']
        notes = [] if quantity else ['velocity of a base; joint_velocity, joint_position or '
                                     'joint_delta of an arm']
        if quantity:
            parts.append(f'unit: {_UNITS[quantity]}')
            notes.append('the unit that the model gives')
        if needed and self._values is not None and self._values > needed:
            parts.append(f'columns: [{", ".join(map(str, range(needed)))}]')
            notes.append(f'which {needed} of the {self._values} values of an action')
        if self._others:
            notes.append(f'or the output {", ".join(map(_key, self._others))}')
        yield (
            f'  {_key(name)}: {{{", ".join(parts)}}}  # {_tensor_text(Tensor(self._shape, ""))}; '
            f'edit: {"; ".join(notes)}')

    def _timing(self) -> Iterator[str]:
        yield (f'rate_hz: {self._blank("rate_hz")}  # edit: Hz, at which actions follow each '
               f'other in training')
        length = self._shape[-2] if len(self._shape) > 1 else 1
        if length is not None and length > 1:
            yield (f'action_horizon: {length}  # edit: actions of each chunk that are executed '
                   f'before the model is asked again')
        yield 'stale_ms: 250  # edit: a reading counts as missing when it is older'
        yield 'on_missing: stop  # edit: or hold, or wait'


def _sizes(tensor: Tensor | None, unknown: Shape = (None,)) -> Shape:
    return unknown if tensor is None or tensor.shape is None else tensor.shape


def _words(name: str) -> set[str]:
    return {*re.split(r'[^a-z]+', re.sub(r'(?<=[a-z])(?=[A-Z])', '_', name).lower())} - {''}


def _is_text(name: str, tensor: Tensor) -> bool:
    return tensor.dtype == 'str' or (not tensor.dtype and bool(
        _words(name) & {'prompt', 'instruction', 'text', 'task', 'language'}))


def _unbatched(shape: Shape) -> Shape:
    """Return a shape without a dimension for a batch."""
    return shape[1:] if len(shape) > 1 and shape[0] in (None, 1) else shape


def _image(shape: Shape, words: set[str]) -> tuple[str, int, int | None, int | None, int] | None:
    """Return layout, channels, height, width and history of an image; None: it is none."""
    history = 1
    if len(shape) == 4 and shape[0] is not None:
        history, shape = shape[0], shape[1:]
    if len(shape) != 3:
        return None
    named = bool(words & {'image', 'img', 'camera', 'rgb', 'pixels', 'cam'})
    first, middle, last = shape
    for layout, channels, height, width in (('chw', first, middle, last),
                                            ('hwc', last, first, middle)):
        if channels in (1, 3) and (named or all(
                size is not None and size >= _FEWEST_PIXELS for size in (height, width))):
            return layout, channels, height, width, history
    return None


def _states(inputs: Mapping[str, Tensor],
            outputs: Mapping[str, Tensor]) -> Iterator[tuple[str, str]]:
    """Yield each input that is recurrent state, with the output that it comes from."""
    for name, tensor in inputs.items():
        for output, given in outputs.items():
            if '' != _bare(name) == _bare(output) and given.shape == tensor.shape \
                    and not _words(name) & {*_ACTION}:
                yield name, output
                break


def _bare(name: str) -> str:
    """Return a name without what tells an input from the output of the same state, as h0, hn."""
    parted = re.sub(r'\b([hc])(0|n)\b', r'\1_\2', name.lower())
    return '_'.join(word for word in re.split(r'[^a-z0-9]+', parted)
                    if word not in ('in', 'out', 'next', 'new', 'prev', 'last', 'input', 'output',
                                    '0', 'n'))


def _key(name: str) -> str:
    """Return a name as YAML reads it: in quotes, where it could mean something else."""
    if re.fullmatch(r'[A-Za-z_][\w./-]*', name) and yaml.safe_load(name) == name:
        return name
    return yaml.safe_dump(name, default_style='"', width=math.inf).rstrip('\n')


def _tensor_text(tensor: Tensor) -> str:
    sizes = ', '.join('any' if size is None else str(size) for size in _sizes(tensor))
    return f'[{sizes}] {tensor.dtype}'.rstrip()
