# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The tables of the page, as cells of text."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
import json
from typing import Any

from safety_scenarios.errors import shortened
from safety_scenarios.reports.failures import urgency_of
from safety_scenarios.reports.page.source import ends, interval, NONE, Source
from safety_scenarios.reports.traceability import rows_of, UNNAMED
from safety_scenarios.scenario.blocks.traceability import expected_in
from safety_scenarios.scenario.rounding import percent_up, up
from safety_scenarios.scenario.timing import METHODS
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.trial.summary import Preflight, ScenarioSummary

_STATUS = {'ok': 'pass', 'warn': 'inconclusive', 'error': 'error'}
_DEFAULTS = ('scenarios', 'controller', 'trials', 'warmup', 'seed', 'link', 'world', 'gate',
             'words', 'real_time_factor', 'calibration', 'latency_clock')
"""Settings that most readers ask for; the folder has all of them."""
_LONG = 1200


def scenario_rows(source: Source) -> list[Mapping[str, Any]]:
    """Return one row for each scenario, the worst verdict first."""
    rows = sorted(source.summary.scenarios, key=lambda row: -row.verdict.rank)
    return [_scenario(source, row) for row in rows]


def _scenario(source: Source, row: ScenarioSummary) -> Mapping[str, Any]:
    about = source.scenarios.get(row.scenario_id, {})
    cost = row.separation or row.separation_seen
    has = bool(row.latency_ms)
    p95 = source.p95_ms.get(row.scenario_id)
    world = row.world
    worst = min((result for result in source.counted if result.scenario_id == row.scenario_id),
                key=urgency_of)
    facts = worst.scenario
    return {
        'id': row.scenario_id, 'name': row.scenario_name, 'expects': expected_in(row.domain),
        'domain': row.domain, 'verdict': row.verdict.value, 'trial': worst.trial_id,
        'passed': f'{row.verdicts.get("PASS", 0)} of {row.trials}', 'reason': row.reason,
        'failed': percent_up(row.failed.high) if row.failed.high is not None else NONE,
        'classes': [(name, count) for name, count in row.latency_classes.items()],
        'p50': _latency(row.median_ms) if has else NONE,
        'p95': NONE if p95 is None or not has else _latency(p95),
        'max': NONE if not has else 'no reaction' if row.worst_ms is None
        else f'{row.worst_ms:.1f}',
        'bound': 'not yet' if has and row.upper_ms.high is None else
        up(row.upper_ms.high, 1) if has and row.upper_ms.high is not None else NONE,
        'left': NONE if cost is None or cost.margin is None else f'{cost.margin:+.2f}',
        'gap': NONE if world is None or world.min_gap_m is None else f'{world.min_gap_m:.2f}',
        'chance': NONE if row.chance is None else percent_up(row.chance),
        'description': about.get('description', ''), 'expected': about.get('expected_action', ''),
        'tags': about.get('tags', ()), 'severity': about.get('severity'),
        'hazards': row.traceability.hazards, 'clauses': row.traceability.clauses,
        'requirements': row.traceability.requirements,
        'notes': [*(() if facts is None else facts.lines[1:]), *row.claims[-1:],
                  *row.notes.values(), *([row.stopped_early] if row.stopped_early else []),
                  *_robot(row)],
    }


def _latency(found: Estimate) -> str:
    """Return a quantile of latencies with its interval; it may be a reaction that never came."""
    return 'no reaction' if found.value is None else interval(found)


def _robot(row: ScenarioSummary) -> Iterator[str]:
    found = row.confirmed
    if found is not None:
        worst = 'not each time' if found.worst_ms is None else \
            f'at the latest {found.worst_ms:.1f} ms'
        yield (f'The robot itself showed the safe state {worst} (median '
               f'{interval(found.median_ms)} ms)')
    if row.not_measured:
        yield f'{row.not_measured} latencies could not be measured and are in no number'


def metre_rows(source: Source) -> Sequence[Sequence[str]]:
    """Return what each latency costs in metres."""
    rows = []
    for row in source.summary.scenarios:
        cost = row.separation or row.separation_seen
        if cost is None:
            continue
        rows.append((row.scenario_name, 'bound of p99' if row.separation else 'least seen',
                     f'{cost.latency_ms:.1f}', f'{cost.speed:.2f}', f'{cost.human:.2f}',
                     f'{cost.reaction:.2f}', f'{cost.stopping:.2f}', f'{cost.margins:.2f}',
                     f'{cost.required:.2f}',
                     NONE if cost.available is None else f'{cost.available:.2f}',
                     NONE if cost.margin is None else f'{cost.margin:+.2f}',
                     f'+{cost.per_second / 10:.2f}'))
    return rows


METRES = ('scenario', 'by', 'within ms', 'at m/s', 'person S_h', 'reaction S_r', 'stopping S_s',
          'margins C+Z', 'needs S_p m', 'has m', 'left m', '100 ms more cost m')


def trace_rows(source: Source) -> list[Mapping[str, Any]]:
    """Return which hazard, requirement and clause which scenario is evidence for."""
    named = {row.scenario_id: row.traceability for row in source.summary.scenarios}
    return [{'kind': row.kind, 'label': row.label,
             'verdict': '' if row.verdict is None else row.verdict.value,
             'covered': 'names nothing' if row.kind == UNNAMED else
             'yes' if row.is_covered else f'no: {row.why}',
             'scenarios': row.scenarios,
             'trials': f'{row.counts["PASS"]} of {sum(row.counts.values())} passed'}
            for row in rows_of(named, source.results)]


def preflight_rows(found: Sequence[Preflight]) -> list[Sequence[str]]:
    """Return status, question, answer and scenarios, what is not in order first."""
    answers: dict[tuple[str, str, str], list[str]] = {}
    for one in found:
        for row in one.rows:
            answers.setdefault((row.status, row.check, row.detail), []).append(one.scenario_id)
    order = list(_STATUS)
    return [(status, _STATUS[status], check, detail,
             'all' if len(who) == len(found) else ' '.join(who))
            for (status, check, detail), who in sorted(
                answers.items(), key=lambda pair: (-order.index(pair[0][0]), pair[0][1:]))]


def calibration(source: Source) -> Mapping[str, Any] | None:
    """Return what the harness itself adds; None where times are exact, or it was switched off."""
    found = source.summary.calibration
    if found is None:
        return None
    methods = [method for method in METHODS if method in found.uncertainty_ms]
    rows = [(f'waits {known.delay_ms:g} ms' if known.delay_ms else 'answers at once (floor)',
             f'{known.sent - known.lost} of {known.sent}',
             *(' / '.join(interval(one, 3) for one in known.error_ms[method])
               if method in known.error_ms else NONE for method in methods))
            for known in found.delays]
    return {'method': found.method, 'uncertainty': f'{found.uncertainty_ms[found.method]:.2f}',
            'head': ['controller', 'answered',
                     *(f'error by {method}: p50 / p99 (ms)' for method in methods)],
            'rows': rows, 'notes': found.notes}


def kill_rows(source: Source) -> Sequence[Mapping[str, Any]]:
    """Return for each check how many controllers that are wrong on purpose it fails."""
    matrix = source.kill_matrix
    if matrix is None:
        return []
    rows = []
    for scenario in matrix.scenarios:
        tried = [cell.saboteur for cell in scenario.trials
                 if cell.verdicts and not cell.as_reference]
        for row in scenario.rows:
            killed = [name for name in row.killed if name in tried]
            rows.append({'scenario': f'{scenario.scenario_name} ({scenario.scenario_id})',
                         'check': row.check, 'kind': row.kind, 'count': len(killed),
                         'of': len(tried), 'killed': killed})
    return rows


def interlock_rows(source: Source) -> Sequence[Mapping[str, Any]]:
    """Return the run log of hardware in the loop, each line with the trial that it fell into."""
    spans = sorted((result.started_system_ns,
                    result.started_system_ns + round(result.duration_ms * 1e6), result.trial_id)
                   for result in source.results)
    rows, armed = [], False
    begin = next((line['system_ns'] for line in source.interlocks
                  if isinstance(line.get('system_ns'), int)), 0)
    for line in source.interlocks:
        what, at = str(line.get('what', '?')), line.get('system_ns')
        armed = {'armed': True, 'disarmed': False, 'withdrawn': False,
                 'opened': False}.get(what, armed)
        inside = [name for low, high, name in spans if isinstance(at, int) and low <= at <= high]
        fields = {name: value for name, value in line.items()
                  if name not in ('what', 'system_ns', 'steady_ns')}
        rows.append({'at': f'{(at - begin) / 1e9:.3f}' if isinstance(at, int) else '?',
                     'utc': _utc(at), 'what': what, 'armed': armed,
                     'trial': inside[0] if inside else '', 'fields': _words(fields)})
    return rows


def _utc(at_ns: Any) -> str:
    try:
        return datetime.fromtimestamp(at_ns / 1e9, timezone.utc).isoformat(
            timespec='milliseconds').replace('+00:00', 'Z')
    except (TypeError, ValueError, OverflowError, OSError):
        return '?'


def provenance(source: Source) -> list[tuple[str, str]]:
    """Return what the result depends on, by name."""
    raw, trust, sut = source.settings, source.trust, source.summary.sut
    run = raw.get('settings', {})
    rows = [('controller', source.summary.controller),
            ('its source, SHA-256', str(raw.get('controller', {}).get('sha256') or 'not known'))]
    if sut is not None:
        rows += [('what was judged', text) for text in sut.lines]
        rows += [('what was judged', text) for text in (sut.unidentified,) if text]
        rows += [(f'node {node.name}', _words({
            'interfaces': node.interfaces, 'parameters': node.parameters,
            **({'note': node.note} if node.note else {})})) for node in sut.nodes]
    rows += [('seed', str(source.summary.seed))]
    rows += [('the same trials again', source.summary.command)] if source.summary.command else []
    rows += [('started', str(raw.get('started', 'not known'))),
             ('settings', _words({name: run[name] for name in _DEFAULTS if name in run}))]
    rows += [(f'git: {name}', _words(value)) for name, value in raw.get('git', {}).items()
             if value]
    rows += [(name, _words(raw[name])) for name in ('versions', 'ros', 'host') if raw.get(name)]
    rows += [(f'scenario {one.get("id")}', f'{one.get("path")}, SHA-256 {one.get("sha256")}')
             for one in raw.get('scenarios', ())]
    return [*rows, ('manifest, SHA-256', trust.manifest or 'there is none'),
            ('signature', trust.signature), ('verdicts', trust.judged)]


def _words(data: Any) -> str:
    text = ', '.join(f'{name} {json.dumps(value, ensure_ascii=False, default=str)}'
                     for name, value in data.items() if value is not None) \
        if isinstance(data, Mapping) else json.dumps(data, ensure_ascii=False, default=str)
    return shortened(text, _LONG)


def sure_rows(source: Source) -> Sequence[Sequence[str]]:
    """Return every rate with its interval, method and number of trials."""
    summary = source.summary
    named = [('hazards missed', summary.missed.share), ('false stops', summary.false_stops.share)]
    if source.claim.share is not None:
        named.insert(0, ('trials that fail', source.claim.share))
    rows = [(name, NONE if one.value is None else f'{100 * one.value:.1f} %',
             NONE if one.value is None else
             ends(one.model_copy(update={end: None if value is None else 100 * value
                                         for end, value in (('low', one.low), ('high', one.high),
                                                            ('value', one.value))})).strip()
             + ' %', str(one.n), f'{100 * one.confidence:g} %', one.method) for name, one in named]
    world = summary.world
    for name, found in () if world is None else (
            ('time beyond a safety limit', world.exposure_s),
            ('safety cost: that time, weighted by the excess', world.safety_cost),
            ('time lost by standing', world.time_lost_s),
            ('progress: m of the route, or cycles', world.progress_per_min),
            ('predicted less true stopping distance', world.prediction_gap_m)):
        rows.append((name, NONE if found.value is None else f'{found.value:.3f} {found.unit}',
                     ends(found, 3).strip() or NONE, str(found.n), f'{100 * found.confidence:g} %',
                     found.method))
    return rows
