# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The rooms of the package in the order in which data goes through them, and what each holds.

A room may import itself and every room above it in ``ROOMS``, and nothing else. What belongs into
a folder inside a room is the first line of its ``__init__``.

``python test/architecture/layers.py`` writes them into ``doc/architecture.md``; the tests beside
this file hold both the code and that page to them.
"""

import ast
from pathlib import Path

PAGE = Path(__file__).parents[2] / 'doc' / 'architecture.md'
PACKAGE = Path(__file__).parents[2] / 'safety_scenarios'
BEGIN, END = '<!-- who may import whom: begin -->', '<!-- who may import whom: end -->'

ROOMS = {
    'errors': 'every exception, and the shape of a message',
    'dependencies': 'what a plain ROS installation may lack, and where that is found',
    'registry': 'the name of a plug-in to its class; a plug-in is imported when it is named',
    'standards': 'published formulas, pure, in SI units',
    'temporal_logic': 'signal temporal logic: parser, evaluator, running robots',
    'scenario': 'what a file says: frozen values, and the protocols of plug-ins',
    'formats': 'a file to a `Scenario`, one folder for each format',
    'lint': 'warnings about a scenario that loads',
    'stimuli': 'what the harness publishes, and the faults of wires',
    'controllers': 'the controllers that come with the package',
    'worlds': 'simulators in this process',
    'trial': 'one trial: plan, main loop, links without ROS, rules, record, journal, MCAP',
    'judging': 'a record to findings and a verdict: pure, but for asking a judge',
    'are': 'everything that Meta ARE needs: scenarios in, traces out, recordings, apps',
    'campaign': 'many trials: run, folder, statistics, judge again',
    'studies': 'questions that many campaigns answer; self-test of the checks',
    'suites': 'a frozen suite: its file, its run, and the card of a controller',
    'reports': 'results to what people and tools read: page, films, tables, live views',
    'ros': 'nodes and the link over ROS topics: the only room that imports rclpy',
    'from_python': '`safety_scenarios.run`: a campaign as one call, and what it came to',
    'pytest_plugin': 'scenarios as tests: marker and fixtures',
    'inspect_tasks': 'scenarios as tasks of Inspect AI, imported by Inspect alone',
    'plugin_contract': 'what a plug-in of each kind promises, as tests for its author',
    'cli': 'arguments and exit codes',
}
"""Room to what it holds, in order."""
ORDER = {room: place for place, room in enumerate(ROOMS)}


def may_import(importer: str, imported: str) -> bool:
    """Return whether a module may import another, by their names below the package."""
    return ORDER[imported.partition('.')[0]] <= ORDER[importer.partition('.')[0]]


def table() -> str:
    """Return the rooms as the table of the page, in order."""
    rows = [f'| {_path(name)} | {holds} |' for name, holds in ROOMS.items()]
    return '\n'.join([BEGIN, '| room | holds |', '|---|---|', *rows,
                      '', 'Folders inside of them, and what belongs there:', '',
                      '| folder | holds |', '|---|---|', *_inner(), END])


def _inner() -> list[str]:
    return [f'| `{path.parent.relative_to(PACKAGE).as_posix()}/` | {_first_line(path)} |'
            for path in sorted(PACKAGE.glob('*/**/__init__.py')) if path.parent.parent != PACKAGE]


def _first_line(path: Path) -> str:
    said = ast.get_docstring(ast.parse(path.read_text(encoding='utf-8'))) or ''
    return said.partition('\n')[0].replace('``', '`').removesuffix('.')


def _path(name: str) -> str:
    return f'`{name}.py`' if (PACKAGE / f'{name}.py').is_file() else f'`{name}/`'


def page() -> str:
    """Return the page with the table as it is here."""
    before, _, rest = PAGE.read_text(encoding='utf-8').partition(BEGIN)
    return before + table() + rest.partition(END)[2]


if __name__ == '__main__':
    PAGE.write_text(page(), encoding='utf-8')
