# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What ROS parameters hold, as the fields of settings want it; without ROS.

YAML of version 1.1, which ROS reads, takes ``off`` for false, ``101`` for a number and ``1.10``
for 1.1, also where a word is meant.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
import re
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.fields import (
    ANY_KEY,
    from_text,
    kinds_of,
    matches,
    names_below,
    Setting,
    suggestion,
)

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
