# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Settings models as ROS parameters: name, description, range and type derive from the fields.

YAML of version 1.1, which ROS reads, takes ``off`` for false, ``101`` for a number and ``1.10``
for 1.1, also where a word is meant.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
import json
import re
import types
from typing import Any, get_args, get_origin, Literal, TypeVar, Union

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from safety_scenarios.errors import refused, SettingsError
from safety_scenarios.formats.profile_file import load_profile
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.fields import (
    ANY_KEY,
    described,
    from_text,
    group_in,
    kinds_of,
    matches,
    names_below,
    nested,
    Setting,
    settings_below,
    suggestion,
    values_in,
)
from safety_scenarios.scenario.noun import Noun, PluginName
from safety_scenarios.scenario.profile import Profile
from safety_scenarios.scenario.settings import leaves
from safety_scenarios.trial.parameters import known_parameters, split, to_text

_YAML_WORDS = {True: ('on', 'yes', 'true', 'y'), False: ('off', 'no', 'false', 'n')}
"""What YAML 1.1 reads as a truth value."""
_OF_ROS = ('use_sim_time', 'start_type_description_service')
_OF_ROS_BELOW = 'qos_overrides.'
"""Parameters that rclpy itself declares for a node, or that belong to its topics."""
_INSTEAD = {'namespace': 'Set it by -r __ns:=/NAME', 'node_name': 'Set it by -r __node:=NAME'}


def fitting(name: str, value: Any, annotation: Any) -> Any:
    """
    Return what a parameter holds as the type of its field, where that leaves no doubt.

    What fits no better is returned as it is, for the field itself to refuse.

    :param value: as ROS gives it; None for an empty list, whose type nobody knows
    :raises SettingsError: YAML has read something else than what was written
    """
    kinds = set(kinds_of(annotation))
    if get_origin(annotation) is tuple:
        return tuple(_items(name, value, annotation)) if str in get_args(annotation) \
            else _listed(name, value, annotation)
    if value is None:
        raise SettingsError(f'parameter {name}: got an empty list, expected one value')
    is_text = str in kinds or any(isinstance(kind, str) for kind in kinds)
    if isinstance(value, bool):
        wants_other = bool not in kinds and Any not in kinds and (is_text or kinds & {int, float})
        return _word(name, value, kinds) if wants_other else value
    if isinstance(value, str):
        return _listed(name, value, annotation) if Any in kinds else \
            value if is_text else _from_text(value, kinds)
    if isinstance(value, (int, float)) and is_text and not kinds & {int, float}:
        return _as_text(name, value, kinds)
    if isinstance(value, float) and int in kinds and float not in kinds and value.is_integer():
        return int(value)
    return value


def _listed(name: str, value: Any, annotation: Any) -> Any:
    """Return a list that is none of texts alone, such as one of numbers."""
    if isinstance(value, str):
        return from_text(Setting(name, annotation, FieldInfo()), value, 'parameter ')
    return tuple(value or ()) if isinstance(value, (list, tuple)) else value or ()


def _items(name: str, value: Any, annotation: Any) -> Iterator[str]:
    """Yield the texts of a list: ROS may know it as one text, or as one item."""
    if value is None:
        return
    if isinstance(value, str):
        yield from from_text(Setting(name, annotation, FieldInfo()), value, 'parameter ')
        return
    for item in [value] if isinstance(value, (bool, int, float)) else value:
        yield item if isinstance(item, str) else _as_text(name, item, set())


def _word(name: str, value: bool, kinds: Collection[Any]) -> str:
    words = [kind for kind in kinds if isinstance(kind, str)]
    meant = [word for word in words if word.lower() in _YAML_WORDS[value]]
    if len(meant) == 1:
        return meant[0]
    expected, advice = 'a number', 'Write it in digits'
    if words:
        expected, advice = f'one of {", ".join(sorted(words))}', 'Write one of them'
    elif str in kinds or not kinds:
        expected = 'text'
        advice = f'Put it into quotes, as in -p \'{name}:="{_YAML_WORDS[value][0]}"\''
    raise SettingsError(f'parameter {name}: got {str(value).lower()}, as which YAML reads '
                        f'{", ".join(_YAML_WORDS[value][:2])}, expected {expected}. {advice}')


def _from_text(value: str, kinds: Collection[Any]) -> Any:
    text = value.strip()
    if bool in kinds:
        return next((truth for truth, words in _YAML_WORDS.items() if text.lower() in words),
                    value)
    if int in kinds and re.fullmatch(r'[+-]?[0-9]+', text):
        return int(text)
    if float in kinds and re.fullmatch(r'[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?', text):
        return float(text)
    return value


def _as_text(name: str, value: Any, kinds: Collection[Any]) -> str:
    """Return a whole number as text; of others nobody knows how they were written."""
    if isinstance(value, bool):
        return _word(name, value, kinds)
    if isinstance(value, float):
        raise SettingsError(f'parameter {name}: got the number {value!r}, expected text. Put it '
                            f'into quotes, as in -p \'{name}:="{value!r}"\'')
    return str(value)


def refuse_unknown(names: Iterable[str], known: Iterable[str],
                   elsewhere: Mapping[str, str] | None = None) -> None:
    """
    Refuse parameters that would have no effect, because nobody declares them.

    :param names: of all parameters that the node was given
    :param known: names that the node declares; ``*`` in one stands for the key of a mapping
    :param elsewhere: what to do instead, by the names for which that is known
    :raises SettingsError: with the nearest name
    """
    known, wrong = sorted(known), []
    patterns = [one for one in known if ANY_KEY in one]
    for name in sorted(set(names) - set(known) - set(_OF_ROS)):
        if name.startswith(_OF_ROS_BELOW) or any(matches(name, one) for one in patterns):
            continue
        advice = {**_INSTEAD, **(elsewhere or {})}.get(name)
        below = sorted(names_below(name, known), key=lambda one: not one.endswith(_FIRST))
        group = f' It is the name of a group. Set one of its values: ' \
            f'{", ".join(below[:_MOST_SHOWN])}' if below else ''
        listed = f' Expected one of {", ".join(known)}' if len(known) <= _MOST_SHOWN else \
            ' --help lists them all'
        wrong.append(f'parameter {name}: got an unknown parameter.'
                     + (f' {advice}' if advice else
                        group or suggestion(name, known, listed)))
    if wrong:
        raise SettingsError('\n'.join(wrong))


_MOST_SHOWN = 12
"""Names that a message lists."""
_FIRST = ('.kind', '.topic')
"""What is most often meant by the name of a group."""


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
    of_profile = _profile_values(node, described(model), given)
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


def _profile_values(node: Node, model: type[Settings], given: Mapping[str, Any]) -> dict[str, Any]:
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
