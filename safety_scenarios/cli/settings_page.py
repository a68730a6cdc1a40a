# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``doc/reference/settings.md``: every setting with its default, its values and its meaning."""

from collections.abc import Iterator
import json
from typing import Any, get_args, get_origin, Literal

from pydantic_core import PydanticUndefined
from safety_scenarios.scenario.documented_schema import described
from safety_scenarios.scenario.dotted_names import NO_OPTIONS, Setting, settings_of, SHORT_NAMES
from safety_scenarios.scenario.settings import RunSettings

_HEAD = """# Settings

Each value has one name, the same everywhere:

| where | how |
|---|---|
| command line | `safety-scenarios run robotic --set world.robot=tb4` |
| launch file | `ros2 launch safety_scenarios eval.launch.py set:=world.robot=tb4` |
| ROS parameter of `evaluator_node` | `-p world.robot:=tb4` |
| Python | `safety_scenarios.run('robotic', set={'world.robot': 'tb4'})` |
| `settings.json` in the folder of a campaign | `{"world": {"robot": "tb4"}}` |

A list has its items separated by commas, and `--set` adds to it if it is repeated; items with
blanks stand in brackets: `--set 'selection.tag=["near miss", arm]'`. A `*` in a name stands for a
key of your own. Parameters of the controller are `controller.KEY`; [controllers](controllers.md)
lists them. The settings that people type most often are options of their own: OPTIONS.

This page is written by `safety-scenarios scenario schema settings --markdown`.
"""
_ROW = '| setting | default | values | meaning |\n|---|---|---|---|'


def settings_page() -> str:
    """Return the page in Markdown."""
    groups: dict[str, list[Setting]] = {'': []}
    for setting in settings_of(described(RunSettings)):
        group, dot, _ = setting.name.partition('.')
        groups.setdefault(group if dot else '', []).append(setting)
    options = ', '.join(f'`--{name.replace("_", "-")}`' for name in SHORT_NAMES
                        if name not in ('scenarios', *NO_OPTIONS))
    return '\n'.join([_HEAD.replace('OPTIONS', options), *_tables(groups)])


def _tables(groups: dict[str, list[Setting]]) -> Iterator[str]:
    for group, settings in groups.items():
        yield f'## `{group}`\n' if group else '## Without a group\n'
        yield _ROW
        yield from map(_row, settings)
        yield ''


def _row(setting: Setting) -> str:
    about = ' '.join((setting.field.description or '').split())
    cells = (f'`{setting.name}`', _default(setting), _values(setting), about)
    return '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |'


def _default(setting: Setting) -> str:
    value: Any = RunSettings()
    for step in setting.name.split('.'):
        if isinstance(value, dict) or value is None:
            value = setting.field.default
            break
        value = getattr(value, step, None)
    if value in ('', (), None) or value is PydanticUndefined or isinstance(value, dict):
        return ''
    if isinstance(value, tuple):
        return f'`{",".join(map(str, value))}`'
    return f'`{json.dumps(value) if isinstance(value, bool) else value}`'


def _values(setting: Setting) -> str:
    """Return what a value may be: words, or a range with its unit."""
    if get_origin(setting.annotation) is Literal:
        return ', '.join(f'`{word}`' if word != '' else 'empty'
                         for word in get_args(setting.annotation))
    if setting.annotation is bool:
        return '`true`, `false`'
    found = {name: value for name in ('ge', 'gt', 'le', 'lt')
             for one in setting.field.metadata
             if (value := getattr(one, name, None)) is not None}
    signs = {'ge': '>=', 'gt': '>', 'le': '<=', 'lt': '<'}
    extra = setting.field.json_schema_extra
    unit = extra.get('unit', '') if isinstance(extra, dict) else ''
    limits = ', '.join(f'{signs[name]} {value}' for name, value in found.items())
    kind = 'list' if get_origin(setting.annotation) is tuple else ''
    return ' '.join(filter(None, (kind, limits, str(unit) if limits or not kind else f'({unit})')))
