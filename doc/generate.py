# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The generated pages of ``doc/reference/``; ``python doc/generate.py`` writes them.

What they say stands in models and docstrings and nowhere else. The pages in the repository are
held to this program by a test. A page for each scenario is made when the site is built.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
import inspect
import json
from pathlib import Path
import sys
from typing import Any

import click
from safety_scenarios import registry
from safety_scenarios.cli.listing import KINDS, schema_of, settings_page
from safety_scenarios.cli.main import command_at, COMMANDS, commands
from safety_scenarios.cli.scenario_description import description
from safety_scenarios.controllers.adapters import parameter_model
from safety_scenarios.controllers.policies.policy import PolicyController
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.formats.loading import installed_folders, load_scenarios
from safety_scenarios.lint.codes import CODES
from safety_scenarios.lint.pairs import hazards_of
from safety_scenarios.lint.review import WAIVABLE
from safety_scenarios.scenario.companion_files import HazardRegister
from safety_scenarios.scenario.fields import described
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.parameters import known_parameters
import yaml

sys.path.insert(0, str(Path(__file__).parent))

from tables import (  # noqa: E402, I100, I201
    anchor,
    first_sentence,
    paths,
    properties,
    prose,
    table,
)

FOLDER = Path(__file__).parent / 'reference'
_BY = '<!-- written by doc/generate.py -->\n'
_READ_ONLY = ('text', 'text_in_python', 'judge', 'says', 'says_in_turn', 'not_checked',
              'are_calls')
"""Checks that readers of words and of ARE's files make; no one writes them under ``ros``."""
_OWN = ('kind', 'name', 'severity')


def checks() -> str:
    """Return the page of what may stand under ``ros.invariants``."""
    schema = schema_of('scenario')
    links = _links(schema, 'scenario_file.md')
    parts = ['# Checks', _BY, (
        'A scenario lists under `ros.invariants` what must hold for the motion. Each entry has a '
        '`name`, a `kind` from this page, optionally a `severity` from 0 to 1 (1 if left out), '
        'and the parameters of its kind. Every finding states a reason and a margin: the signed '
        'distance to the limit, positive where it holds. What cannot be determined is '
        'INCONCLUSIVE.')]
    for name in registry.BUILT_IN['invariants']:
        if name not in _READ_ONLY:
            one = schema['$defs'][f'invariants.{name}']
            parts += [f'## {name}', prose(one.get('description')), properties(one, links, _OWN)]
    parts += ['## Made by readers of files', table(('kind', 'what it checks'), [
        (f'`{name}`', first_sentence(registry.resolve('invariants', name).__doc__))
        for name in _READ_ONLY])]
    return _page(parts)


def stimuli() -> str:
    """Return the page of what may stand under ``ros.stimuli``."""
    schema = schema_of('scenario')
    links = _links(schema, 'scenario_file.md')
    parts = ['# Stimuli', _BY, (
        'What a scenario publishes before and from the onset of its hazard: entries of '
        '`ros.nominal.stimuli` and `ros.stimuli`.')]
    for name in registry.BUILT_IN['stimuli']:
        one = schema['$defs'].get(f'stimuli.{name}')
        if one is None:
            parts += [f'## {name}', prose(registry.resolve('stimuli', name).__doc__)]
            continue
        parts += [f'## {name}', prose(one.get('description')), properties(one, links, ('kind',))]
    return _page(parts)


def scenario_file() -> str:
    """Return the page of every key of a scenario file but checks and stimuli."""
    return _schema_page('Keys of a scenario file', 'scenario', (
        'A scenario is a YAML file. The keys below are those of '
        '`safety-scenarios scenario schema`. Keys with `ros` are for robots; without them the '
        'scenario is answered in words. [Checks](checks.md) and [stimuli](stimuli.md) have '
        'pages of their own.'))


def profile() -> str:
    """Return the page of every key of a profile."""
    return _schema_page('Keys of a robot profile', 'profile', (
        'A profile is a YAML file that describes a robot and how it is reached: topics, types, '
        'frames, driver, size and limits.'))


def files() -> str:
    """Return the page of the keys of all other kinds of files."""
    parts = ['# Keys of other files', _BY, (
        'Each kind of file has a JSON Schema for editors: `safety-scenarios scenario schema '
        'KIND`.')]
    for kind in KINDS:
        if kind not in ('scenario', 'profile', 'settings', 'are'):
            parts += [f'## {kind}', *_sections(schema_of(kind), level=3, start=kind)]
    return _page(parts)


def controllers() -> str:
    """Return the page of built-in controllers and their parameters."""
    rows, others = [], []
    for name in registry.BUILT_IN['controllers']:
        plugin = registry.resolve('controllers', name)
        about = first_sentence(plugin.__doc__)
        if plugin.__module__.startswith('safety_scenarios.controllers.saboteurs'):
            others.append((f'`{name}`', about, _own_parameters(plugin)))
        else:
            rows.append((f'`{name}`', about))
    reference = parameter_model(RuleBased)
    models = [('rule_based', reference), *(
        (name, parameter_model(registry.resolve('controllers', name)))
        for name in ('learned', 'llm'))]
    parts = ['# Built-in controllers', _BY, (
        'Choose one with `--controller NAME`; set a parameter with `--set controller.KEY=VALUE`.'),
        table(('controller', 'what it does'), rows)]
    for name, model in models:
        parts += [f'## Parameters of `{name}`', _parameters(model)]
    parts += ['## Policies', (
        'A policy from a file or a server is `--controller KIND:PLACE`, with a contract '
        '([keys](files.md#policy)).'), table(('kind', 'what it runs'), [
            (f'`{name}`', first_sentence(_documented('policies', name)))
            for name in registry.BUILT_IN['policies']]),
        'A chat model is no policy: `openai:URL#MODEL` is the controller `llm` with that server '
        'and model, and has no contract.',
        '## Parameters of a policy', _parameters(PolicyController),
        '## Controllers that are wrong on purpose', (
            'The self-test runs them to show that each check can fail. Those made from the '
            'reference take its parameters too.'),
        table(('controller', 'what it does wrong', 'own parameters (default)'), others)]
    return _page(parts)


def plugins() -> str:
    """Return the page of all built-in names of each kind of plug-in."""
    parts = ['# Built-in plug-ins', _BY, (
        'The names that settings and files may use, by entry-point group. `safety-scenarios '
        'plugins` lists those of other packages, too. How to write one: [plug-ins](plugins.md).')]
    for kind, known in registry.BUILT_IN.items():
        if kind not in ('controllers', 'stimuli', 'invariants', 'policies'):
            parts += [f'## `safety_scenarios.{kind}`', table(('name', 'what it is'), [
                (f'`{name}`', first_sentence(_documented(kind, name))) for name in known])]
    return _page(parts)


def command_line() -> str:
    """Return the page of all commands with their options."""
    parts = ['# Command line', _BY, (
        'Exit codes: **0** every trial PASS, **1** some FAIL, **2** wrong input or usage, '
        '**3** some INCONCLUSIVE or ERROR and no FAIL. Every setting is also an option '
        '`--set NAME=VALUE` ([settings](settings.md)).'),
        table(('command', 'what it does'), [
            (f'[`{name}`](#{anchor("safety-scenarios " + name)})', one.help)
            for name, one in commands()])]
    for name, _ in commands():
        command, _ = command_at(name.split())
        assert command is not None
        parts += [f'## safety-scenarios {name}', *_command(command, name)]
    assert len(parts) > 2 * len(COMMANDS)
    return _page(parts)


def hazards() -> str:
    """Return the page of the hazard register, with the scenarios that probe each."""
    register = HazardRegister.model_validate_json(_json_of(
        FOLDER.parents[1] / 'config' / 'hazards.yaml'))
    by_hazard: dict[str, list[str]] = {}
    for scenario in _installed():
        for hazard in scenario.hazards:
            by_hazard.setdefault(hazard, []).append(scenario.id)
    return _page(['# Hazards', _BY, (
        'The hazard register that ships (`config/hazards.yaml`): severity, exposure and avoidance '
        'of ISO 13849-1, the performance level that follows, and the scenarios that probe it. '
        '`safety-scenarios scenario coverage --register FILE` uses a register of your own.'),
        table(('id', 'hazard', 'risk, PL', 'clauses', 'scenarios'), [
            (one.id, f'{one.name}. {one.situation}',
             f'{one.severity} {one.exposure} {one.avoidance}, {one.performance_level}',
             ', '.join(one.clauses), ' '.join(by_hazard.get(one.id, ())) or 'none')
            for one in register.hazards])])


def catalogue() -> str:
    """Return the page of all scenarios that ship."""
    groups: dict[str, list[Scenario]] = {}
    for one in _installed():
        groups.setdefault(Path(one.origin.path if one.origin else '').parent.name, []).append(one)
    parts = ['# Scenarios that ship', _BY, (
        'Name one by its id, or a group by its folder: `safety-scenarios run robotic`. The site '
        'has a page for each.')]
    for group, scenarios in groups.items():
        parts += [f'## {group}', table(('id', 'scenario', 'hazards', 'critical limit (ms)'), [
            (one.id, one.name, ' '.join(one.hazards), f'{one.latency_budget.critical_ms:g}')
            for one in scenarios])]
    return _page(parts)


def lint() -> str:
    """Return the page of the codes of warnings about scenario files."""
    return _page(['# Warnings about scenario files', _BY, (
        'A scenario can be valid and still not check what its author believes. `safety-scenarios '
        'scenario validate` warns with a code, file, line and column. `--strict` makes every '
        'warning an error (exit code 2). If there is none, it then plays each file with the '
        'reference and with every controller that is wrong on purpose (codes L301 to L306).'),
        table(('code', 'what it found', 'why it matters', 'what to do'), [
            (f'{code}{"*" if code in WAIVABLE else ""}', *(prose(part) for part in one))
            for code, one in CODES.items()]), (
        'A code with * may be waived for one file, with a reason: `metadata: {lint: {L105: the '
        'other check fails an empty answer}}`. What cannot fail whatever the controller does '
        'cannot be waived. Lines that begin with `note:` are no warnings: N002 names files that '
        'were left out of a folder, N303 that the reference does not pass a scenario of words, '
        'N304 that a check needs ROS. L108, L111, L112 and L227 compare files, so they need all '
        'of them.'), (
        'Each value of `ros.vary` is checked as if it stood in the file: of a range both ends and '
        'one value between them. '
        'L101 and L110 are decided from the syntax tree of the pattern, L201 and L203 from the '
        'top speed of the robot. L104 to L106 run the check on the prompt, the empty answer and '
        '`expected_action`. Where an analysis does not understand a pattern or a formula it does '
        'not warn; the runs of `--strict` find what is left.')])


PAGES = {'checks': checks, 'lint': lint, 'stimuli': stimuli, 'scenario_file': scenario_file,
         'profile': profile, 'files': files, 'controllers': controllers, 'built_in': plugins,
         'command_line': command_line, 'hazards': hazards, 'scenarios': catalogue,
         'settings': settings_page}


def scenario_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of a page for each scenario that ships; only for the site."""
    names = []
    for one in _installed():
        names.append(one.id)
        path = Path(one.origin.path) if one.origin else None
        source = '' if path is None else path.read_text(encoding='utf-8')
        rows = [('domain', one.domain), ('severity', f'{one.severity:g}'),
                ('hazards', ' '.join(one.hazards)), ('clauses', '; '.join(one.clauses)),
                ('tags', ' '.join(one.tags)), ('budget (ms)', ', '.join(
                    f'{key} {value:g}' for key, value in
                    one.latency_budget.model_dump().items() if isinstance(value, int | float)))]
        language = 'json' if path is not None and path.suffix == '.json' else 'yaml'
        yield one.id, _page([
            f'# {one.id}: {one.name}', prose(one.description),
            table(('', ''), [row for row in rows if row[1]]),
            '## What happens, and what is checked',
            '```text\n' + '\n'.join(description(one, [
                variant for variant in _installed() if one.id in hazards_of(variant)])) + '\n```',
            '## File', f'```{language}\n{source}```'])
    listed = '\n'.join(names)
    yield 'index', f'# A page for each scenario\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n'


def api_page() -> str:
    """Return the page of what Python users build on, for autodoc; only for the site."""
    import safety_scenarios
    names = [name for name in dir(safety_scenarios) if not name.startswith('_')]
    parts = ['# Python API', (
        'What `dir(safety_scenarios)` lists; nothing else is promised to stay.'), '```{eval-rst}']
    for name in names:
        one = getattr(safety_scenarios, name)
        kind = 'autoclass' if isinstance(one, type) else 'autofunction'
        parts.append(f'.. {kind}:: {one.__module__}.{one.__qualname__}' + (
            '\n   :members:' if isinstance(one, type) else '') + '\n')
    return '\n'.join([*parts[:2], '', *parts[2:], '```', ''])


@cache
def _installed() -> list[Scenario]:
    loaded = load_scenarios([str(folder) for folder in installed_folders()])
    return sorted(loaded.scenarios, key=lambda one: (
        Path(one.origin.path if one.origin else '').parent.name, one.id))


def _page(parts: list[str]) -> str:
    return '\n\n'.join(part.strip() for part in parts if part.strip()) + '\n'


def _links(schema: Mapping[str, Any], page: str = '') -> dict[str, str]:
    """Return each definition to a link to the section that describes it."""
    links = {}
    for name, path in paths(schema).items():
        kind, dot, own = name.partition('.')
        if dot and kind in ('stimuli', 'invariants'):
            place = f'{"checks" if kind == "invariants" else kind}.md'
            links[name] = f'[`{own}`]({place}#{anchor(own)})'
        else:
            heading = f'driver {own}' if kind == 'drivers' else path
            links[name] = f'[`{heading}`]({page}#{anchor(heading)})'
    links['DriverPlugin'] = f'[driver]({page}#driver-diff_drive)'
    links['InvariantPlugin'] = '[check](checks.md)'
    links['StimulusPlugin'] = '[stimulus](stimuli.md)'
    links['text'] = links['judge'] = '[check of words](checks.md#made-by-readers-of-files)'
    return links


def _sections(schema: Mapping[str, Any], level: int = 2, start: str = '') -> Iterator[str]:
    """Yield the keys of a schema, then each object below it under the key that leads to it."""
    where = paths(schema, start)
    links = _links(schema) if not start else {
        name: ', '.join(f'`{value}`' for value in schema['$defs'][name].get('enum', ()))
        or f'[`{path}`](#{anchor(path)})' for name, path in where.items()}
    yield prose(schema.get('description'))
    yield properties(schema, links)
    for name, path in where.items():
        one, (kind, dot, own) = schema['$defs'][name], name.partition('.')
        if (dot and kind in ('stimuli', 'invariants')) or links[name].endswith('.md)') or \
                name in ('text', 'judge') or not one.get('properties'):
            continue
        yield '#' * level + ' ' + (f'driver {own}' if kind == 'drivers' else f'`{path}`')
        yield prose(one.get('description'))
        yield properties(one, links, ('kind',) if dot else ())


def _schema_page(title: str, kind: str, about: str) -> str:
    return _page([f'# {title}', _BY, about, *_sections(schema_of(kind))])


def _parameters(model: Any) -> str:
    return table(('parameter', 'default', 'meaning'), [
        (f'`{name}`', _shown_default(model, name, field), prose(field.description))
        for name, field in known_parameters(described(model)).items()])


def _own_parameters(plugin: Any) -> str:
    model = parameter_model(plugin)
    base = known_parameters(parameter_model(RuleBased)) if issubclass(model, RuleBased) else {}
    return ', '.join(f'`{name}` ({_shown_default(model, name, field)})' for name, field in
                     known_parameters(model).items()
                     if name not in base or str(base[name].default) != str(field.default))


def _shown_default(model: Any, name: str, field: Any) -> str:
    share = getattr(model, 'critical_shares', {}).get(name)
    return f'{share:g} times the critical limit' if share else str(field.default) or 'empty'


def _documented(kind: str, name: str) -> str | None:
    """Return the docstring of a built-in plug-in, read from its file: libraries may be missing."""
    target, _, attribute = registry.BUILT_IN[kind][name].partition(':')
    path = FOLDER.parents[1] / 'safety_scenarios' / f'{target.replace(".", "/")}.py'
    if not path.is_file():
        path = path.with_suffix('') / '__init__.py'
    tree = ast.parse(path.read_text(encoding='utf-8'))
    if not attribute:
        return ast.get_docstring(tree)
    [node] = [node for node in tree.body if getattr(node, 'name', '') == attribute
              and isinstance(node, ast.ClassDef | ast.FunctionDef)]
    return ast.get_docstring(node)


def _command(command: click.Command, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=f'safety-scenarios {name}')
    about, examples = _help(command.help or '')
    yield about
    yield '```text\n' + ' '.join(command.get_usage(context).split()[1:]) + '\n```'
    if examples:
        yield '```bash\n' + '\n'.join(examples) + '\n```'
    rows = [record for param in command.get_params(context)
            if isinstance(param, click.Option) and '--help' not in param.opts
            and (record := param.get_help_record(context))]
    if rows:
        yield table(('option', 'meaning'), [(f'`{option}`', prose(text)) for option, text in rows])


def _help(text: str) -> tuple[str, list[str]]:
    """Return the sentences of a command's help, and the commands that it shows."""
    prosaic: list[str] = []
    examples: list[str] = []
    for part in inspect.cleandoc(text).split('\n\n'):
        if part.startswith('\b\n'):
            examples += part.splitlines()[1:]
        else:
            prosaic.append(part)
    return prose('\n\n'.join(prosaic)), examples


def _json_of(path: Path) -> bytes:
    return json.dumps(yaml.safe_load(path.read_text(encoding='utf-8'))).encode()


def main() -> None:
    """Write the pages that the repository holds."""
    for name, page in PAGES.items():
        (FOLDER / f'{name}.md').write_text(page(), encoding='utf-8')


if __name__ == '__main__':
    main()
