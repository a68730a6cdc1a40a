# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The file: the template filled in, with style, program and data inside it.

What others wrote (names, answers, errors) is shown as text and nothing else: the template escapes
it, data goes in as base64, and characters that nobody sees or that turn the line around become
visible signs here.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
import hashlib
from importlib.util import find_spec
import json
import os
from pathlib import Path
import re
from typing import Any
import zlib

from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.reports.failures import condition_lines
from safety_scenarios.reports.page import first_screen, tables
from safety_scenarios.reports.page.first_screen import claims_of
from safety_scenarios.reports.page.source import margin_of, Source, with_unit
from safety_scenarios.scenario.rounding import percent_up
from safety_scenarios.scenario.settings import RunSettings

SWITCH = 'SAFETY_SCENARIOS_REPORT'
"""Environment variable: ``off`` lets a campaign end without a page."""
LONGEST = 4000
"""Characters of one text that the page shows; the record has the rest."""
_UNSEEN = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f'
                     '\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]')
_NEEDED = ('jinja2', 'plotly')
_PICTURES = 0x2400
"""Where Unicode has a picture of each control character of ASCII."""


def visible(text: str) -> str:
    """Return a text in which every character can be seen, and which ends before it is a book."""
    cut = text if len(text) <= LONGEST else \
        f'{text[:LONGEST]}... ({len(text)} characters; the record has all of them)'
    return _UNSEEN.sub(lambda found: _sign(found[0]), cut)


def _sign(letter: str) -> str:
    number = ord(letter)
    if number < 0x20 and letter != '\r':
        return chr(_PICTURES + number)
    return '' if letter == '\r' else f'[U+{number:04X}]'


def visible_in(data: Any) -> Any:
    """Return JSON data with each text in it as ``visible`` has it."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, Mapping):
        return {visible(str(name)): visible_in(value) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [visible_in(value) for value in data]
    return data


def compact(data: Any) -> str:
    """Return JSON in ASCII without a blank; no NaN, which browsers do not read."""
    return json.dumps(data, separators=(',', ':'), allow_nan=False, default=str)


def packed(text: str | bytes, level: int = 9) -> str:
    """Return a text gzipped and in base64, as ``SafetyScenarios.unpack`` of the page reads it."""
    data = text.encode() if isinstance(text, str) else text
    made = zlib.compressobj(level, zlib.DEFLATED, 31)
    return base64.b64encode(made.compress(data) + made.flush()).decode('ascii')


_HERE = Path(__file__).parent
_PROGRAMS = ('report.js', 'trial.js', 'comparison.js')
_STYLES = ('report.css', 'trial.css', 'comparison.css')
MOST_INSIDE = 2_650_000
"""Characters of drawn trials in the page itself; with all the rest a page stays below 5 MB."""
LOADED = 'SafetyScenarios.loaded('
"""How a file beside the page begins."""
_BLOCK = 16
"""Trials that are packed together: what they have in common is stored once."""
_FEW = 100
"""Trials up to which a page is written quickly rather than small."""
_ADVICE = "pip install 'safety_scenarios[report]', or pip install jinja2 plotly"


@dataclass(frozen=True)
class Page:
    """The page, and what it loads from beside it when a trial is opened."""

    html: str
    beside: Mapping[str, str] = field(default_factory=dict)
    """Name of a file in the folder beside the page to its text."""


def is_wanted() -> bool:
    """Return whether the environment lets a campaign write a page."""
    return os.environ.get(SWITCH, '').lower() != 'off'


def will_be_written(settings: RunSettings) -> bool:
    """Return whether a campaign with these settings writes the page when it has ended."""
    return 'page' in settings.outputs and is_wanted() and all(map(find_spec, _NEEDED))


def require() -> None:
    """
    See that the page can be written.

    :raises MissingDependencyError: jinja2 or plotly is not installed
    """
    for name in _NEEDED:
        if find_spec(name) is None:
            raise MissingDependencyError('report.html', name, _ADVICE)


def render(sources: Sequence[Source], comparison: Mapping[str, Any] | None = None, *,
           varied: Sequence[Mapping[str, Any]] = (), beside: str = 'report_data',
           made: str = '', matrix: Mapping[str, Any] | None = None) -> Page:
    """
    Return the page of one campaign, or of several against each other.

    :param comparison: how several compare, as ``comparison.js`` draws it
    :param varied: trials over what was varied, as ``showVaried`` of ``comparison.js`` draws them
    :param beside: the folder of files that the page loads, by its name relative to the page
    :param made: when and by what it was made
    :param matrix: what its arms came to, which the sources are, as ``matrix_tables`` has it
    :raises MissingDependencyError: jinja2 or plotly is not installed
    """
    require()
    import jinja2
    from markupsafe import Markup
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined, finalize=_escaped)
    environment.filters['visible'] = visible
    environment.filters['percent_up'] = percent_up
    level = 9 if sum(len(source.results) for source in sources) > _FEW else 1
    inside, outside, where = _placed(sources)
    program = '\n'.join(_texts(_PROGRAMS))
    plotly = _plotly()
    data = {'campaigns': [_data(source, places) for source, places in zip(sources, where)],
            'beside': beside, 'comparison': comparison, 'varied': varied}
    html = environment.get_template('report.html.j2').render(
        sources=[_content(source, number) for number, source in enumerate(sources)],
        made=made, title=', '.join(source.name for source in sources), matrix=matrix,
        metres=tables.METRES, has_comparison=comparison is not None,
        has_varied=bool(varied),
        style=Markup('\n'.join(_texts(_STYLES))),
        program=Markup(program),
        hashes=[_csp(program), _csp(plotly)], loads=bool(outside),
        films=any(source.films for source in sources),
        data=packed(compact(visible_in(data)), level), plotly=packed(plotly, level),
        blocks=[packed(block, level) for block in inside])
    return Page(html, {f'{number}.js': f'{LOADED}{number},"{packed(block, level)}");\n'
                       for number, block in enumerate(outside)})


def _escaped(value: Any) -> Any:
    """Return what an expression of the template is written as; our own markup stays."""
    return visible(value) if type(value) is str else value


def _texts(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        path = _HERE / name
        if path.exists():
            yield path.read_text(encoding='utf-8')


def _plotly() -> str:
    found = find_spec('plotly')
    assert found is not None and found.origin is not None
    return (Path(found.origin).parent / 'package_data' / 'plotly.min.js').read_text(
        encoding='utf-8')


def _csp(text: str) -> str:
    """Return the hash by which a page's policy lets one program run, and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _placed(sources: Sequence[Source]) -> \
        tuple[list[bytes], list[bytes], Sequence[Mapping[str, tuple[int, int]]]]:
    """
    Return blocks inside the page, blocks beside it, and in which block each trial is.

    The worst trials come first, so that what does not fit inside are trials that passed. A block
    beside the page has a number below 0.
    """
    inside: list[bytes] = []
    outside: list[bytes] = []
    where: list[dict[str, tuple[int, int]]] = [{} for _ in sources]
    used = 0
    waiting = sorted(((number, result) for number, source in enumerate(sources)
                      for result in source.results if result.trial_id in source.views),
                     key=lambda pair: (-pair[1].verdict.rank, pair[1].scenario_id, pair[0]))
    for begin in range(0, len(waiting), _BLOCK):
        some = waiting[begin:begin + _BLOCK]
        block = b'[' + b','.join(zlib.decompress(sources[number].views[result.trial_id])
                                 for number, result in some) + b']'
        size = len(zlib.compress(block, 6)) * 4 // 3
        fits = used + size <= MOST_INSIDE
        used += size if fits else 0
        mine = inside if fits else outside
        at = len(mine) if fits else -1 - len(mine)
        mine.append(block)
        for place, (number, result) in enumerate(some):
            where[number][result.trial_id] = (at, place)
    return inside, outside, where


def _content(source: Source, number: int) -> Mapping[str, Any]:
    """Return what the template says of one campaign."""
    return {
        'n': number, 'name': source.name, 'summary': source.summary, 'trust': source.trust,
        'claim': source.claim, 'headline': first_screen.headline(source),
        'tiles': first_screen.tiles(source), 'fixes': first_screen.fixes(source),
        'scenarios': tables.scenario_rows(source), 'metres': tables.metre_rows(source),
        'traces': tables.trace_rows(source),
        'preflight': tables.preflight_rows(source.summary.preflight),
        'calibration': tables.calibration(source), 'kills': tables.kill_rows(source),
        'matrix': source.kill_matrix, 'interlocks': tables.interlock_rows(source),
        'provenance': tables.provenance(source), 'sure': tables.sure_rows(source),
        'claims': claims_of(source.summary, source.counted, source.settings,
                            source.trust.flaws),
        'conditions': [list(condition_lines(one)) for one in source.conditions],
        'is_world': any(row.world is not None for row in source.summary.scenarios),
        'started': str(source.settings.get('started', ''))[:16].replace('T', ' '),
    }


def _data(source: Source, where: Mapping[str, tuple[int, int]]) -> Mapping[str, Any]:
    """Return what the program of the page filters, sorts and draws."""
    scenarios = list(dict.fromkeys(result.scenario_id for result in source.results))
    number = {name: index for index, name in enumerate(scenarios)}
    names = {result.scenario_id: result.scenario_name for result in source.results}
    reasons = list(dict.fromkeys(result.reason for result in source.results))
    at = {reason: index for index, reason in enumerate(reasons)}
    return {
        'name': source.name,
        'scenarios': [{'id': name, 'name': names[name],
                       'budget': source.scenarios.get(name, {}).get('latency_budget')}
                      for name in scenarios],
        'reasons': reasons, 'films': source.films,
        'trials': [_trial(result, number, at, where.get(result.trial_id))
                   for result in source.results]}


def _trial(result: Any, number: Mapping[str, int], at: Mapping[str, int],
           place: tuple[int, int] | None) -> Sequence[Any]:
    """Return the cells of one trial; ``report.js`` names them in this order."""
    latency = result.latency
    judged = None if latency is None or latency.judged_ns is None else latency.judged_ns
    finding = margin_of(result)
    margin = None if finding is None else finding.margin
    unit = None if finding is None else finding.unit
    return (result.trial_id, number[result.scenario_id], result.index, int(result.warmup),
            result.verdict.value, at[result.reason],
            None if judged is None else round(judged / 1e6, 1),
            None if latency is None else latency.latency_class.value,
            int(result.is_measured),
            None if margin is None else with_unit(margin, unit), margin, result.seed, place,
            None if result.scores is None else
            f'{result.scores.rubric}: {result.scores.overall:.2f} overall; ' + ', '.join(
                f'{one.name} {one.score:.2f}' for one in result.scores.dimensions))
