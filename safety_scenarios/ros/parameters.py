# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Settings models as ROS parameters: name, description, range and type derive from the fields."""

from array import array
from collections.abc import Collection, Iterator, Mapping
import json
import types
from typing import Any, get_args, get_origin, Literal, TypeVar, Union

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from safety_scenarios.errors import refused, SettingsError
from safety_scenarios.formats.profile_file import load_profile
from safety_scenarios.ros.parameter_values import fitting, refuse_unknown
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.fields import (
    described,
    group_in,
    matches,
    nested,
    Setting,
    settings_below,
    values_in,
)
from safety_scenarios.scenario.noun import Noun, PluginName
from safety_scenarios.scenario.profile import Profile
from safety_scenarios.scenario.settings import leaves
from safety_scenarios.trial.parameters import known_parameters, split, to_text

Settings = TypeVar('Settings', bound=Noun)
PROFILE = 'profile'
"""Parameter that names the profile of the robot."""
NOT_PARAMETERS = ('use_sim_time', 'namespace', 'node_name')
"""What ROS itself sets: by -p use_sim_time, -r __ns and -r __node."""


def read_settings(node: Node, model: type[Settings], read_only: bool = True,
                  **more: Any) -> Settings:
    """
    Declare a settings model's fields as parameters and return what they are set to.

    :param read_only: whether they can only be given when the node is started
    :param more: fields that do not come from parameters
    :raises SettingsError: a value of the wrong type or out of range; names the parameter
    """
    values: dict[str, Any] = {}
    given = overrides(node)
    of_profile = _of_profile(node, described(model), given)
    below = {name: value for name, value in of_profile.items() if name not in NOT_PARAMETERS}
    for path, field in _parameters(model, {**below, **given}):
        name = '.'.join(path)
        default = below.get(name, _plain(field.get_default(call_default_factory=True)))
        descriptor = _descriptor(field)
        descriptor.read_only = read_only or name == PROFILE
        value = _declared(node, name, default, descriptor, given, field)
        if field.default is None and value == _plain(None) and name not in {**below, **given}:
            continue
        is_list = isinstance(default, list) or get_origin(field.annotation) is tuple
        values[name] = tuple(value) if is_list else value
    of_node = {name: of_profile[name] for name in NOT_PARAMETERS if name in of_profile}
    return _checked(model, {**nested(values), **of_node, **more})


def _of_profile(node: Node, model: type[Settings], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return dotted name to value of what the profile says, which stands below the parameters."""
    field = model.model_fields.get(PROFILE)
    if field is None or not issubclass(model, Profile):
        return {}
    name = _declared(node, PROFILE, '', _descriptor(field), given, field)
    found = load_profile(name).model_dump(exclude_unset=True) if name else {}
    return {'.'.join(path): list(value) if isinstance(value, tuple) else value
            for path, value in _values(found) if value is not None}


def with_values(settings: Settings, **values: Any) -> Settings:
    """
    Return settings with other values, which are checked.

    :raises SettingsError: a wrong value; names the parameter
    """
    return _checked(type(settings), {**settings.model_dump(), **values})


def _checked(model: type[Settings], values: Mapping[str, Any]) -> Settings:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = '.'.join(str(step) for step in first['loc'])
        raise SettingsError(refused(f'parameter {place}' if place else 'parameters',
                                    first)) from None


def read_plugin_parameters(node: Node, model: type[ControllerPlugin],
                           settings: Noun) -> tuple[str, ...]:
    """
    Declare a controller's parameters beside the settings, and return what is set as ``KEY=VALUE``.

    Each is a ROS parameter of its own name, unless a setting has that name. What
    ``controller_parameters`` says of one goes before it.

    :param settings: of the node, with a field ``controller_parameters``
    :raises SettingsError: a value of the wrong type or out of range; names the parameter
    """
    fields, texts, given = known_parameters(described(model)), list[str](), overrides(node)
    own = {'.'.join(path) for path, _ in leaves(type(settings))}
    said = split(settings.controller_parameters, model, 'controller_parameters: ')
    for name, shown in (*((name, name) for name in fields),
                        *((old, new) for old, new in model.old_names.items())):
        if name in own:
            continue
        field = fields[shown]
        default = None if field.is_required() else _plain(field.get_default(
            call_default_factory=True))
        if not isinstance(default, (bool, int, float, str)):
            default = None
        descriptor = _descriptor(field)
        descriptor.dynamic_typing = descriptor.dynamic_typing or default is None
        value = _declared(node, name, default, descriptor, given, field)
        if value is not None and value != default and shown not in said:
            texts.append(to_text(shown, value))
    return (*settings.controller_parameters, *texts)


def overrides(node: Node) -> dict[str, Any]:
    """
    Return what a node was given, by parameter, whether it declares it or not; None: an empty list.

    rclpy shows it to others only by declaring it all, which an empty list makes impossible.
    """
    return {name: list(value) if isinstance(value, (list, tuple, array)) else value
            for name, parameter in node._parameter_overrides.items()
            for value in [parameter.value]}


def refuse_unknown_parameters(node: Node, model: type[Noun], plugin: type[Noun] | None = None,
                              elsewhere: Mapping[str, str] | None = None,
                              more: Collection[str] = ()) -> None:
    """
    Refuse parameters that neither the settings nor the controller have.

    :param plugin: the controller, where its parameters are the node's too
    :param more: other names that are known
    :param elsewhere: as in ``refuse_unknown``
    :raises SettingsError: with the nearest name
    """
    known = names_of(model) | set(more)
    if plugin is not None:
        known |= {*known_parameters(plugin), *plugin.old_names}
    refuse_unknown(overrides(node), known, elsewhere)


def names_of(model: type[Noun]) -> set[str]:
    """Return the names of the parameters that a settings model's fields are."""
    return {'.'.join(path) for path, _ in _parameters(model, None)}


def _parameters(model: type[Noun], given: Collection[str] | None) -> \
        Iterator[tuple[tuple[str, ...], FieldInfo]]:
    """
    Yield path and field of each parameter.

    What may be left out as a whole, such as how a robot stops, and what is below the keys of a
    mapping, such as a topic of the robot, has parameters only where it is given.

    :param given: names; None: as if all were, with ``*`` for the keys of a mapping
    """
    mappings = (((name,), field) for name, field in model.model_fields.items()
                if values_in(field.annotation) is not None)
    for path, field in (*leaves(model), *mappings):
        if path[0] in NOT_PARAMETERS:
            continue
        if group_in(field.annotation) is None and values_in(field.annotation) is None:
            yield path, field
            continue
        for setting in settings_below('.'.join(path), field.annotation, field):
            names = [setting.name] if given is None else [
                name for name in sorted(given) if matches(name, setting.name)]
            yield from ((tuple(name.split('.')), _below(setting)) for name in names)


def _below(setting: Setting) -> FieldInfo:
    field = FieldInfo.merge_field_infos(setting.field)
    field.annotation = setting.annotation
    if values_in(setting.field.annotation) is not None:
        field.default = field.default_factory = None
    return field


def _declared(node: Node, name: str, default: Any, descriptor: ParameterDescriptor,
              given: Mapping[str, Any], field: FieldInfo) -> Any:
    """
    Declare a parameter as what it was given, in the type of its field, and return that.

    One that is declared already has the value that it was set to since.
    """
    if node.has_parameter(name):
        return fitting(name, node.get_parameter(name).value, field.annotation)
    value = fitting(name, given[name], field.annotation) if name in given else default
    if isinstance(value, tuple):
        value = list(value)
    declared = float(value) if isinstance(default, float) and type(value) is int else value
    try:
        node.declare_parameter(name, declared, descriptor, ignore_override=True)
    except (InvalidParameterTypeException, InvalidParameterValueException) as error:
        raise SettingsError(f'parameter {name}: {error}') from None
    return value


def declare_values(node: Node, settings: Noun, leave_out: Collection[str] = ()) -> None:
    """
    Declare settings as read-only parameters with the values that they have.

    Given to another node by a file, they give it the same settings.
    """
    values = {'.'.join(path): value for path, value in _values(settings.model_dump())
              if path[0] not in (*NOT_PARAMETERS, *leave_out)}
    for path, field in _parameters(described(type(settings)), values):
        if path[0] in (*NOT_PARAMETERS, *leave_out):
            continue
        node.declare_parameter('.'.join(path), _plain(values['.'.join(path)]), _descriptor(field))


def to_arguments(settings: Noun) -> list[str]:
    """Return ``-p name:=value`` arguments that give another node the same settings."""
    arguments = []
    for path, value in _values(settings.model_dump(mode='json')):
        if value is not None and value != [] and path[0] not in NOT_PARAMETERS:
            text = json.dumps(value, ensure_ascii=False) if isinstance(value, (list, str)) \
                else str(value).lower() if isinstance(value, bool) else repr(value)
            arguments += ['-p', f'{".".join(path)}:={text}']
    return arguments


def _values(data: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> \
        Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from _values(value, (*prefix, name))
        else:
            yield (*prefix, name), value


def _plain(default: Any) -> Any:
    return [str(item) for item in default] if isinstance(default, tuple) else \
        0.0 if default is None else default


def _descriptor(field: FieldInfo) -> ParameterDescriptor:
    description = ParameterDescriptor(description=field.description or '', read_only=True,
                                      dynamic_typing=field.annotation not in (int, bool))
    choices = [*_choices(field.annotation), *(
        name for one in field.metadata if isinstance(one, PluginName) for name in one.choices)]
    if choices:
        description.additional_constraints = f'one of {", ".join(choices)}'
    low = _bound(field, 'ge', 'gt')
    high = _bound(field, 'le', 'lt')
    if low is not None and high is not None:
        if field.annotation is int:
            description.integer_range = [IntegerRange(from_value=int(low), to_value=int(high))]
        elif field.annotation is float:
            description.floating_point_range = [
                FloatingPointRange(from_value=float(low), to_value=float(high))]
    return description


def _choices(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return [str(choice) for choice in get_args(annotation)]
    if get_origin(annotation) in (Union, types.UnionType):
        return [choice for inner in get_args(annotation) for choice in _choices(inner)]
    return []


def _bound(field: FieldInfo, *names: str) -> float | None:
    for constraint in field.metadata:
        for name in names:
            value = getattr(constraint, name, None)
            if value is not None:
                return float(value)
    return None
