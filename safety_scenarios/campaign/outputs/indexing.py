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
Campaigns over time: trends and flakiness, by DuckDB over one Parquet file a campaign.

Needs pyarrow and DuckDB (extra ``table``). DuckDB groups and joins; what of it is a statistic
comes from ``stats``, as everywhere else.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
import hashlib
import json
from pathlib import Path
from typing import Any

from safety_scenarios.campaign.folder.folder import digest, PAGE, SETTINGS, TRIALS
from safety_scenarios.campaign.folder.many import campaigns_in, least_margins, Listed
from safety_scenarios.campaign.outputs.comparable import judged_alike
from safety_scenarios.campaign.outputs.exporting import refuse_inside, whole
from safety_scenarios.errors import MissingDependencyError, SettingsError
from safety_scenarios.reports.index_page import (
    Flaky,
    index_html,
    IndexPage,
    IndexRow,
    Point,
    Trend,
)
from safety_scenarios.reports.tables.columns import Campaign, Cell, TABLES
from safety_scenarios.reports.tables.rows import rows_of
from safety_scenarios.stats.distinct import distinct, no_narrower
from safety_scenarios.stats.flakiness import flakiness
from safety_scenarios.stats.proportions import clustered
from safety_scenarios.stats.quantiles import quantile

INDEX, KEPT = 'index.html', 'index_tables'
_MARGINS = (('least_margin_m', 'm'), ('least_margin_s', 's'))
_LATENCIES = """
SELECT scenario_id, controller, number, list(latency_ms) AS found,
       list(latency_ms) FILTER (differs) AS differing
FROM trials JOIN campaigns USING (campaign) LEFT JOIN differing USING (campaign, trial_id)
WHERE NOT warmup AND latency_measured
GROUP BY scenario_id, controller, number ORDER BY scenario_id, controller, number"""
_LEAST = """
SELECT scenario_id, controller, number, min({column}) AS least, count({column}) AS n
FROM trials JOIN campaigns USING (campaign)
WHERE NOT warmup GROUP BY scenario_id, controller, number HAVING n > 0
ORDER BY scenario_id, controller, number"""
_NOT_PASSED = """
SELECT controller, number, scenario_id, count(*) FILTER (verdict <> 'PASS') AS bad,
       count(*) AS made, count(*) FILTER (differs AND verdict <> 'PASS') AS differing_bad,
       count(*) FILTER (differs) AS differing
FROM trials JOIN campaigns USING (campaign) LEFT JOIN differing USING (campaign, trial_id)
WHERE NOT warmup GROUP BY controller, number, scenario_id
ORDER BY controller, number, scenario_id"""
_REPEATED = """
SELECT scenario_id, min(index), min(seed), list(verdict ORDER BY number),
       list(campaign ORDER BY number)
FROM trials JOIN campaigns USING (campaign) JOIN plan USING (campaign, trial_id)
WHERE NOT warmup AND planned <> '' GROUP BY scenario_id, planned, alike HAVING count(*) > 1
ORDER BY scenario_id, min(index), min(seed), planned, alike"""


@dataclass(frozen=True)
class _Told:
    """What the queries came to."""

    trends: tuple[Trend, ...]
    repeats: Mapping[str, Sequence[Sequence[str]]]
    flaky: tuple[Flaky, ...]


def write_index(folder: Path, output: Path | None = None) -> tuple[Path, Sequence[Listed]]:
    """
    Write the page of all campaigns in a folder, and return where it is, and what was found.

    :param output: the file; by default ``index.html`` in the folder
    :raises SettingsError: the folder is that of one campaign, or holds none
    :raises MissingDependencyError: without the extra
    """
    _needed()
    found = campaigns_in(folder)
    if not found:
        raise SettingsError(f'{folder}: got no campaign in it, expected one at least')
    path = folder / INDEX if output is None else output
    refuse_inside(path, [one.folder for one in found])
    counted, notes = _distinct(found)
    notes += _unidentified(counted)
    told = _told(counted, path.parent / KEPT) if counted else _Told((), {}, ())
    page = IndexPage(
        title=folder.resolve().name, rows=tuple(_row(one, path.parent) for one in found),
        trends=told.trends, flakiness=flakiness(told.repeats),
        flaky_by_scenario={name: flakiness({name: trials})
                           for name, trials in told.repeats.items()},
        flaky=told.flaky, notes=tuple(notes), counted=tuple(one.name for one in counted))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f'output: got {path}, whose folder cannot be made: '
                            f'{error.strerror}') from None
    return whole(path, lambda place: _write(place, index_html(page))), found


def _write(place: Path, text: str) -> None:
    place.write_text(text, encoding='utf-8')


def _needed() -> None:
    try:
        import duckdb  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            'an index of campaigns', error.name or 'duckdb',
            "pip install 'safety_scenarios[table]', or pip install pyarrow duckdb") from None


def _distinct(found: Sequence[Listed]) -> tuple[list[Listed], list[str]]:
    """Return the campaigns that have ended whole, a copy of one only once; and what is left."""
    by_content: dict[tuple[str, str], Listed] = {}
    notes = []
    for one in found:
        if one.summary is None:
            continue
        # In simulated time two campaigns may agree to the byte, but for when they were started.
        content = digest(one.folder / SETTINGS), digest(one.folder / TRIALS)
        first = by_content.setdefault(content, one)
        if first is not one:
            notes.append(f'{one.name} is a copy of {first.name}: it is in no trend')
    return list(by_content.values()), notes


def _unidentified(campaigns: Sequence[Listed]) -> list[str]:
    """Return of which campaigns nobody knows whether they judged the same build."""
    names = [one.name for one in campaigns if one.settings and one.settings.source is None
             and (one.settings.sut is None or one.settings.sut.unidentified)]
    return [f'Nothing identifies what was judged in {", ".join(names[:20])}'
            + (f' and {len(names) - 20} more' if len(names) > 20 else '')
            + ': what is flaky there may be another build'] if names else []


def _told(campaigns: Sequence[Listed], kept: Path) -> _Told:
    import duckdb
    import pyarrow
    from pyarrow import dataset
    plan = [(one.name, trial.trial_id, trial.sha256) for one in campaigns
            for trial in (one.settings.plan if one.settings else None) or ()]
    differing = [(one.name, result.trial_id) for one in campaigns if one.summary
                 for result in distinct(one.results, one.summary.link)]
    tables = {
        'differing': pyarrow.table({
            'campaign': pyarrow.array([name for name, _ in differing], pyarrow.string()),
            'trial_id': pyarrow.array([name for _, name in differing], pyarrow.string()),
            'differs': pyarrow.array([True] * len(differing), pyarrow.bool_())}),
        'campaigns': pyarrow.table({
            'campaign': [one.name for one in campaigns], 'number': list(range(len(campaigns))),
            'alike': [_alike(one) for one in campaigns]}),
        'plan': pyarrow.table({name: [row[at] for row in plan] for at, name in enumerate((
            'campaign', 'trial_id', 'planned'))} if plan else {
                name: pyarrow.array([], pyarrow.string())
                for name in ('campaign', 'trial_id', 'planned')}),
        'trials': dataset.dataset([str(path) for path in _parquet(campaigns, kept)],
                                  format='parquet')}
    with duckdb.connect(config={'autoinstall_known_extensions': 'false',
                                'autoload_known_extensions': 'false'}) as base:
        for name, table in tables.items():
            base.register(name, table)
        early = {number for number, one in enumerate(campaigns)
                 if one.settings and one.settings.run.sequential.sprt_p1}
        trends = [*_not_passed(base.execute(_NOT_PASSED).fetchall(), early),
                  *_latencies(base.execute(_LATENCIES).fetchall(), early)]
        for column, unit in _MARGINS:
            trends += _least(base.execute(_LEAST.format(column=column)).fetchall(), unit)
        repeated = base.execute(_REPEATED).fetchall()
    repeats: dict[str, list[Sequence[str]]] = {}
    for name, _, _, verdicts, _ in repeated:
        repeats.setdefault(name, []).append(verdicts)
    return _Told(tuple(trends), repeats, tuple(
        Flaky(name, index, seed, tuple(zip(where, verdicts)))
        for name, index, seed, verdicts, where in repeated if len(set(verdicts)) > 1))


def _parquet(campaigns: Sequence[Listed], kept: Path) -> Sequence[Path]:
    """Write a file of each campaign's trials; what an earlier index left is removed."""
    from safety_scenarios.reports.tables.parquet import write_parquet
    columns, paths = TABLES['trials'], []
    try:
        kept.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f'{kept}: cannot be made: {error.strerror}') from None
    for one in campaigns:
        assert one.summary is not None
        rows = list(rows_of('trials', Campaign(one.name, one.summary.link, one.results)))
        name = hashlib.sha256(one.name.encode()).hexdigest()

        def write(place: Path, rows: Sequence[Sequence[Cell]] = rows) -> None:
            write_parquet(place, columns, rows)
        paths.append(whole(kept / f'{name}.parquet', write))
    for path in set(kept.glob('*.parquet')) - set(paths):
        if len(path.stem) == 64:
            path.unlink(missing_ok=True)
    return paths


def _alike(one: Listed) -> str:
    """
    Return what two campaigns must share for a trial of both to be the same one.

    The same controller, as far as anybody knows, over the same link, judged by the same version
    with the same settings; whether the plan is the same is asked of each trial.
    """
    settings = one.settings
    assert settings is not None and one.summary is not None
    return json.dumps([
        settings.controller.model_dump(mode='json'), settings.source, settings.version,
        None if settings.sut is None else settings.sut.at_start.model_dump(mode='json'),
        one.summary.link, judged_alike(settings)], sort_keys=True)


def _not_passed(rows: Iterable[tuple[Any, ...]], early: set[int]) -> list[Trend]:
    counts: dict[str, dict[int, list[tuple[tuple[int, int], tuple[int, int]]]]] = {}
    for controller, number, _, bad, made, *differing in rows:
        counts.setdefault(controller, {}).setdefault(number, []).append(
            ((bad, made), (differing[0], differing[1])))
    trends = []
    for controller, campaigns in counts.items():
        shares = {number: no_narrower(*(clustered(list(some)) for some in zip(*pairs)))
                  for number, pairs in campaigns.items()}
        trends.append(Trend('all scenarios', controller, 'share of trials that did not pass', '1',
                            tuple(_point(number, share.value, share.n, early, share.low,
                                         share.high) for number, share in shares.items())))
    return trends


def _latencies(rows: Iterable[tuple[Any, ...]], early: set[int]) -> list[Trend]:
    trends: dict[tuple[str, str], list[Point]] = {}
    for name, controller, number, found, differing in rows:
        median = no_narrower(*(quantile(some, 0.5, 'ms') for some in (found, differing or ())))
        trends.setdefault((name, controller), []).append(_point(
            number, median.value, median.n, early, median.low, median.high,
            sum(value is None for value in found)))
    return [Trend(*of, 'median latency', 'ms', tuple(points)) for of, points in trends.items()]


def _least(rows: Iterable[tuple[Any, ...]], unit: str) -> list[Trend]:
    trends: dict[tuple[str, str], list[Point]] = {}
    for name, controller, number, least, n in rows:
        trends.setdefault((name, controller), []).append(Point(number, least, n))
    return [Trend(*of, 'least margin', unit, tuple(points)) for of, points in trends.items()]


def _point(number: int, value: float | None, n: int, early: set[int], low: float | None,
           high: float | None, censored: int = 0) -> Point:
    """Return a point; a sequential test that chose the number of trials leaves no interval."""
    if number in early:
        low = high = None
    return Point(number, value, n, low, high, censored)


def _row(one: Listed, beside: Path) -> IndexRow:
    margins = least_margins(one.results)
    report = one.folder / PAGE
    return IndexRow(
        name=one.name, started=one.when, controller=one.controller, state=one.state,
        scenarios=len({result.scenario_id for result in one.results}),
        verdict=one.summary.verdict.value if one.summary else '',
        verdicts=one.summary.verdicts if one.summary else {},
        made=None if one.state in ('broken', 'judged again') else len(one.results),
        planned=one.planned,
        margins=', '.join(f'{value:.3g} {unit}' for unit, value in margins.items()
                          if unit in ('m', 's')),
        problem=one.problem, report=_link(report, beside) if report.is_file() else '')


def _link(report: Path, beside: Path) -> str:
    """Return the way from the page to a report, as a URL; empty where there is none."""
    from urllib.parse import quote
    try:
        way = report.resolve().relative_to(beside.resolve())
    except ValueError:
        return report.resolve().as_uri()
    return './' + quote(way.as_posix())
