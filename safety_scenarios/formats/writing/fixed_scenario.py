# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The text of a scenario file in which everything that was drawn is fixed."""

from collections.abc import Mapping, Sequence
import copy
from textwrap import wrap
from typing import Any

from safety_scenarios.scenario.blocks.vary import steps_to
import yaml

_WIDTH = 99


def fixed_text(data: Mapping[str, Any], values: Mapping[str, Any], *, scenario_id: str,
               name: str, comment: Sequence[str] = (), onset_ms: float | None = None) -> str:
    """
    Return the text of a format-1 file as it is in one trial.

    :param data: the original file as plain data
    :param values: of its draws, by name; every draw has one, and none is left in the text
    :param comment: lines at the top
    :param onset_ms: when the hazard comes; None: drawn as before
    """
    found: dict[str, Any] = _plain(data)
    ros = found['ros']
    kept: list[Sequence[str]] = []
    for draw_name, draw in ros.pop('vary', {}).items():
        value = _plain(values[draw_name])
        if draw.get('keeps'):
            kept.append(value)
        for path in draw.get('sets', ()):
            _put(ros, steps_to(path)[1:], copy.deepcopy(value))
    for topics in kept:  # after every path was followed: they count what the file has
        ros['stimuli'] = [one for one in ros['stimuli'] if one.get('topic') in topics]
    if onset_ms is not None:
        ros['nominal']['duration_ms'] = [onset_ms, onset_ms]
    found |= {'id': scenario_id, 'name': name}
    lines = [line for text in comment for line in
             wrap(text, _WIDTH, initial_indent='# ', subsequent_indent='#   ')]
    return '\n'.join([*lines, yaml.dump(found, Dumper=_NoAliases, sort_keys=False,
                                        allow_unicode=True, width=_WIDTH)])


class _NoAliases(yaml.SafeDumper):
    """Writes each value in full, with the simple ones of a list on one line."""

    def ignore_aliases(self, data: Any) -> bool:
        """Return that nothing is named by an anchor."""
        return True


def _plain(value: Any) -> Any:
    """Return a value as YAML has it: dicts, lists and what is simple."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def _put(block: Any, steps: Sequence[str | int], value: Any) -> None:
    """Put a value where the steps lead; mappings on the way that are left out are made."""
    for step in steps[:-1]:
        if isinstance(block, dict) and step not in block:
            block[step] = {}
        block = block[step]
    block[steps[-1]] = value
