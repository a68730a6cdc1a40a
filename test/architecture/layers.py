# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
The folders of the package, what each holds, and which others it may import.

What belongs into a folder inside of one of them is the first line of its ``__init__``.

``python test/architecture/layers.py`` writes them into ``doc/architecture.md``; the tests beside
this file hold both the code and that page to them.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / 'doc' / 'architecture.md'
PACKAGE = Path(__file__).parents[2] / 'safety_scenarios'
BEGIN, END = '<!-- who may import whom: begin -->', '<!-- who may import whom: end -->'
_PLUG_IN = ('errors', 'model')
_PURE = ('errors', 'model', 'standards', 'temporal_logic', 'motion', 'latency', 'stats')
_PLUG_INS = ('formats', 'stimuli', 'controllers', 'invariants', 'traces', 'reports')


@dataclass(frozen=True)
class Layer:
    """One folder, or one module at the top of the package."""

    holds: str
    may_import: tuple[str, ...]
    inside: bool = False
    """Whether its own modules may import each other; else only private and exempted ones."""


LAYERS = {
    'errors': Layer('what can go wrong, and how a message says it', ()),
    'dependencies': Layer('what a plain ROS installation may lack, and where that is found',
                          ('errors',)),
    'standards': Layer('published formulas, pure, in SI units', ('errors',)),
    'model': Layer('the nouns: frozen values; no files, no clock, no ROS',
                   ('errors', 'standards'), inside=True),
    'language_models': Layer('clients of OpenAI-compatible servers', ()),
    'registry': Layer('the name of a plug-in to its class; nothing is imported until it is named',
                      _PLUG_IN),
    'temporal_logic': Layer('signal temporal logic: parser, offline evaluator, online monitor',
                            ('errors',), inside=True),
    'words': Layer('a text read before any pattern: its letters, and what its clauses take back',
                   (), inside=True),
    'wire': Layer('what may be wrong on the way of messages: pure, of a seed and of what comes in',
                  _PLUG_IN, inside=True),
    'stimuli': Layer('what the harness publishes', (*_PLUG_IN, 'wire')),
    'controllers': Layer('the controllers that come with the package',
                         (*_PLUG_IN, 'language_models')),
    'drivers': Layer('what a driver makes of commands: set-points, or a rejection', _PLUG_IN),
    'motion': Layer('what is executed to how the robot moves: fastest point, standstill, braking',
                    _PLUG_IN, inside=True),
    'invariants': Layer('what must hold, one invariant in a file',
                        (*_PLUG_IN, 'standards', 'temporal_logic', 'motion', 'words')),
    'latency': Layer('which command answers which stimulus, and how fast',
                     (*_PLUG_IN, 'motion')),
    'stats': Layer('many results to one summary', _PLUG_IN),
    'formats': Layer('a file to a `Scenario`, one folder for each format',
                     (*_PLUG_IN, 'standards')),
    'traces': Layer('a record to a file that other tools read, and back', _PLUG_IN),
    'film': Layer('a trial as pictures: what its record shows, and how that is drawn',
                  (*_PLUG_IN, 'motion'), inside=True),
    'reports': Layer('results and summaries to what people read', (*_PLUG_IN, 'film')),
    'live': Layer('a campaign while it runs: what is seen of it, and where that is shown',
                  (*_PLUG_IN, 'reports'), inside=True),
    'lint': Layer('what is odd about a scenario that loads',
                  (*_PLUG_IN, 'standards', 'temporal_logic'), inside=True),
    'llm_judge': Layer('asks a language model between trials; its words go into the record',
                       (*_PLUG_IN, 'language_models'), inside=True),
    'scenario_packs': Layer('where installed scenarios are, by the ament resource index',
                            ('errors',)),
    'scenario_files': Layer('a folder or a glob to the files of scenarios, and what is left out',
                            ('errors', 'formats')),
    'rubrics': Layer('the name of a rubric to what it scores by',
                     (*_PLUG_IN, 'formats', 'scenario_packs')),
    'scenario_reading': Layer('the bytes of one file to a scenario, or to what is wrong with them',
                              (*_PLUG_IN, 'registry', 'formats', 'rubrics')),
    'scenario_schema': Layer('the JSON Schema of scenario files, with every plug-in',
                             ('model', 'registry', 'formats')),
    'loading': Layer('a path, a glob or an id to scenarios',
                     (*_PLUG_IN, 'registry', 'formats', 'scenario_packs', 'scenario_files',
                      'scenario_reading', 'scenario_schema')),
    'engine': Layer('the verbs of one trial: plan, run, converse, evaluate, calibrate; the rules',
                    (*_PLUG_IN, 'latency', 'stats', 'motion', 'words'), inside=True),
    'simulators': Layer('worlds in this process, one folder for each simulator',
                        (*_PLUG_IN, 'standards', 'formats', 'scenario_packs', 'wire'),
                        inside=True),
    'links': Layer('where stimuli go and commands come from, where that needs no ROS',
                   ('registry', *_PLUG_IN, 'formats', 'controllers', 'simulators'), inside=True),
    'campaign': Layer('the verbs of many trials: run, judge again, repair, verify, self-test',
                      ('registry', 'rubrics', 'loading', 'engine', 'links', 'live', 'llm_judge',
                       'film', *_PURE, *_PLUG_INS), inside=True),
    'are': Layer('plug-ins for ARE, which runs them in an environment of its own', _PLUG_IN,
                 inside=True),
    'ros': Layer('nodes and the link over ROS topics: the only folder that imports rclpy',
                 ('registry', 'loading', 'engine', 'links', 'live', 'llm_judge', 'campaign',
                  'simulators', 'wire', *_PURE, *_PLUG_INS), inside=True),
    'pytest_plugin': Layer('scenarios as tests: marker and fixtures', ('errors', 'campaign')),
    'cli': Layer('arguments and exit codes',
                 ('registry', 'rubrics', 'loading', 'scenario_schema', 'engine', 'links', 'live',
                  'llm_judge', 'campaign', 'ros', 'lint', 'film', *_PURE, *_PLUG_INS),
                 inside=True),
}
SHARED = ('formats.document',)
"""Folders inside a folder that all of it may import; the others are one plug-in each."""
EXEMPT = {('controllers.saboteurs', 'controllers.rule_based'),
          ('controllers.faulty_streams', 'controllers.saboteurs'),
          ('controllers.word_saboteurs', 'controllers.saboteurs'),
          ('controllers.word_saboteurs', 'controllers.rule_based'),
          ('controllers.driver_saboteurs', 'controllers.saboteurs'),
          ('controllers.stop_trajectory', 'controllers.rule_based'),
          ('controllers.blind', 'controllers.rule_based'),
          ('controllers.blind', 'controllers.saboteurs'),
          ('controllers.motion_saboteurs', 'controllers.saboteurs'),
          ('controllers.llm', 'controllers.rule_based'),
          ('controllers.rule_based', 'controllers.agents_dialogue'),
          ('controllers.saboteurs', 'controllers.agents_dialogue'),
          ('controllers.wiring_saboteurs', 'controllers.saboteurs'),
          ('controllers.agents_saboteurs', 'controllers.agents_dialogue'),
          ('controllers.agents_saboteurs', 'controllers.saboteurs'),
          ('controllers.fickle', 'controllers.agents_dialogue'),
          ('controllers.fickle', 'controllers.saboteurs'),
          ('invariants.text_in_python', 'invariants.text'),
          ('latency.pairing', 'latency.clocks'), ('latency.probes', 'latency.clocks'),
          ('latency.clocks', 'latency.load'),
          ('reports.comparison_rows', 'reports.world_tables'),
          ('reports.console_report', 'reports.comparison_rows'),
          ('reports.console_report', 'reports.plain_text'),
          ('reports.console_report', 'reports.world_tables'),
          ('reports.console_report', 'reports.screen'),
          ('reports.html.tables', 'reports.matrix'),
          ('reports.index_page', 'reports.plain_text'), ('reports.plots', 'reports.plain_text'),
          ('reports.trial_view.comparison', 'reports.comparison_rows'),
          ('reports.trial_view.terminal', 'reports.plain_text'),
          ('stats.agreement', 'stats.proportions'), ('stats.flakiness', 'stats.proportions'),
          ('stats.summarise', 'stats.proportions'), ('stats.summarise', 'stats.quantiles'),
          ('stats.summarise', 'stats.tolerance'), ('stats.summarise', 'stats.sequential'),
          ('stats.summarise', 'stats.weighed'), ('stats.summarise', 'stats.distinct'),
          ('stats.worlds', 'stats.distinct'), ('stats.compare', 'stats.distinct'),
          ('stats.degradation', 'stats.distinct'),
          ('stats.degradation', 'stats.proportions'), ('stats.degradation', 'stats.summarise'),
          ('stats.summarise', 'stats.worlds'), ('stats.compare', 'stats.worlds'),
          ('stats.worlds', 'stats.means'), ('stats.worlds', 'stats.paired'),
          ('stats.worlds', 'stats.proportions'), ('stats.worlds', 'stats.quantiles'),
          ('stats.tolerance', 'stats.quantiles'), ('stats.compare', 'stats.effect'),
          ('stats.compare', 'stats.paired'), ('stats.compare', 'stats.proportions'),
          ('stats.compare', 'stats.pair_tests'), ('stats.pair_tests', 'stats.distinct'),
          ('stats.pair_tests', 'stats.paired')}
"""(importer, imported): siblings that may, each because one is made of the other."""


def may_import(importer: str, imported: str) -> bool:
    """Return whether a module may import another, by their names below the package."""
    folder, other = importer.partition('.')[0], imported.partition('.')[0]
    layer = LAYERS[folder]
    if other != folder:
        return other in layer.may_import
    same_plug_in = _home(importer) != folder and _home(importer) == _home(imported)
    return layer.inside or same_plug_in or _home(imported) in SHARED \
        or imported.rpartition('.')[2].startswith('_') or (importer, imported) in EXEMPT


def _home(module: str) -> str:
    """Return ``formats.are`` for ``formats.are.reader``."""
    return module.rpartition('.')[0]


def table() -> str:
    """Return the layers as the table of the page, the lowest first."""
    rows = [f'| {_path(name)} | {layer.holds} | '
            f'{", ".join(f"`{other}`" for other in layer.may_import) or "nothing"} |'
            for name, layer in LAYERS.items()]
    return '\n'.join([BEGIN, '| folder | holds | may import |', '|---|---|---|', *rows,
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
