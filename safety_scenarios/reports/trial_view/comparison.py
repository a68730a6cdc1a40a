# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Campaigns side by side as a page shows them, and over a number that was varied.

The tests are those of ``campaign.statistics.compare``, the rates and means those of each
campaign's summary.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safety_scenarios.campaign.comparison import Degradation, Step
from safety_scenarios.campaign.statistics.degradation import degradations, is_number, Varying
from safety_scenarios.campaign.statistics.proportions import p_text
from safety_scenarios.errors import counted
from safety_scenarios.reports import comparison_tables
from safety_scenarios.reports.page.source import Source
from safety_scenarios.reports.trial_view.timeline import on_one_line, rounded
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.rounding import down, up
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.studies.matrix.summary import ALL, cell
from safety_scenarios.studies.side_by_side import Campaign

_PLOTS, _SERIES = 60, 24
"""At most so many plots, and lines in one of them."""


def varied(found: Sequence[Degradation]) -> Sequence[Mapping[str, Any]]:
    """
    Return plots: [{title parameter scenario series notes}].

    ``series`` are [{name steps}], steps [{low high trials passed ms n undecided}]; ``passed`` and
    ``ms`` are [value, low, high], each None where there is no number, ``n`` counts trials that
    differ, ``undecided`` those that are INCONCLUSIVE or ERROR.
    """
    return [_plot(one) for one in found[:_PLOTS]]


def _plot(one: Degradation) -> Mapping[str, Any]:
    parameter = on_one_line(one.parameter, 80)
    notes = [f'The campaigns differ in {on_one_line(", ".join(one.besides), 300)} too, so '
             f'that the effect cannot be attributed to one of them.'] if one.besides else []
    if len(one.series) > _SERIES:
        notes.append(f'{counted(len(one.series) - _SERIES, "more scenario")} in campaign.json.')
    return {
        'title': f'{on_one_line(one.scenario, 100)} over {parameter}' if one.scenario
        else f'Campaigns over {parameter}',
        'parameter': parameter, 'scenario': on_one_line(one.scenario, 100), 'notes': notes,
        'series': [{'name': on_one_line(line.name, 120), 'steps': [
            _step(step) for step in line.steps]} for line in one.series[:_SERIES]]}


def _step(step: Step) -> Mapping[str, Any]:
    return {'low': rounded(step.low, 4), 'high': rounded(step.high, 4), 'trials': step.trials,
            'passed': _numbers(step.passed), 'ms': _numbers(step.median_ms), 'n': step.passed.n,
            'undecided': step.undecided}


def _numbers(found: Estimate) -> Sequence[float | int | None]:
    return [rounded(found.value, 4), *_ends(found)]


def _ends(found: Estimate) -> Sequence[float | None]:
    """Return the ends of an interval, rounded outwards."""
    return [None if found.low is None else float(down(found.low, 4)),
            None if found.high is None else float(up(found.high, 4))]


Pair = tuple[TrialResult, TrialResult]
_ALPHA = 0.05
_PAIRS, _FLIPS = 1500, 400
"""At most so many pairs and flips."""


def compared(campaigns: Sequence[Campaign]) -> dict[str, Any]:
    """
    Return all that is shown of some campaigns: the first, and each other against it.

    ===============  =============================================================================
    ``campaigns``    [{name controller verdict trials verdicts missed false_stops exposure_s
                     safety_cost time_lost_s}]: estimates are [value, low, high, n] or None
    ``answers``      [{name sentence is_worse rows notes doubts}] of each but the first; ``rows``
                     are [question, answer, p] as ``compare`` prints them
    ``paired``       [{name scenarios points of}]: points are [scenario's place, ms of the first,
                     ms of this, verdict of the first, of this, trial of the first, of this];
                     ms is None where there was no reaction or none was measured
    ``flips``        [{name of list open_of open}]: pairs of which one passes and the other fails,
                     lost ones first: [scenario, number, verdict, verdict, reason, trial of the
                     first, of this]; ``open``: those with other verdicts of which one is
                     INCONCLUSIVE or ERROR, which tells nothing of a controller
    ``pareto``       [{title x y points}]: axes {name unit}, less is better on both; points
                     {name scenario x y x_range y_range front}; not on the front is what another
                     one beats by more than the intervals
    ===============  =============================================================================
    """
    others = [one for one in campaigns if one.against is not None]
    return {
        'campaigns': [_campaign(one) for one in campaigns],
        'answers': [_answer(campaigns[0], one) for one in others],
        'paired': [_paired(one) for one in others], 'flips': [_flips(one) for one in others],
        'pareto': [plot for plot in _pareto(campaigns) if len(plot['points']) > 1]}


def _campaign(one: Campaign) -> Mapping[str, Any]:
    summary = one.summary
    world = summary.world
    return {
        'name': on_one_line(one.name, 120), 'controller': on_one_line(summary.controller, 120),
        'verdict': summary.verdict.value, 'trials': summary.completed,
        'verdicts': summary.verdicts, 'missed': _estimate(summary.missed.share),
        'missed_of': [summary.missed.count, summary.missed.of],
        'false_stops': _estimate(summary.false_stops.share),
        'false_stops_of': [summary.false_stops.count, summary.false_stops.of],
        **({} if world is None else {
            'exposure_s': _estimate(world.exposure_s), 'safety_cost': _estimate(world.safety_cost),
            'time_lost_s': _estimate(world.time_lost_s)})}


def _estimate(found: Estimate) -> Sequence[float | int | None] | None:
    return None if found.value is None else [*_numbers(found), found.n]


def _answer(first: Campaign, one: Campaign) -> Mapping[str, Any]:
    found = one.against
    assert found is not None
    return {'name': on_one_line(one.name, 120), 'sentence': on_one_line(_sentence(first, one)),
            'is_worse': bool(found.regressions),
            'rows': [[on_one_line(cell, 600) for cell in row]
                     for row in comparison_tables.comparison_rows(found)],
            'notes': [on_one_line(text, 600) for text in (
                *filter(None, [one.warning]), *comparison_tables.notes(found))],
            'doubts': [on_one_line(text, 600) for text in found.doubts]}


def _sentence(first: Campaign, one: Campaign) -> str:
    """Return whether the second is safer than the first, as far as that can be told."""
    found = one.against
    assert found is not None
    if found.regressions:
        return (f'{one.name} is significantly worse than {first.name}: '
                f'{"; ".join(found.regressions)}.')
    if not found.decided:
        return 'Nothing could be compared: no pair of trials is PASS or FAIL in both.'
    fewer, sooner = found.failures_difference.value, found.median_difference_ms.high
    bounds = found.failures_bounds  # no proof of better, if the undecided trials may hide it
    if bounds.value is None or bounds.high is None or (any(found.undecided) and bounds.high >= 0):
        fewer = None
    better = [text for text, is_better in (
        (f'fails significantly less often, over scenarios ({p_text(found.failures_p)})',
         fewer is not None and fewer < 0 and found.arms * found.failures_p < _ALPHA),
        (f'reacts significantly earlier, over scenarios ({p_text(found.latency_p)})',
         sooner is not None and sooner < 0 and found.arms * found.latency_p < _ALPHA))
        if is_better]  # of each of two questions one side alone: together no more than p
    doubt = f' But: {"; ".join(found.doubts)}.' if found.doubts else ''
    if better:
        return f'{one.name} {" and ".join(better)} than {first.name}.{doubt}'
    if found.doubts:
        return (f'Whether {one.name} is worse than {first.name} cannot be determined: '
                f'{"; ".join(found.doubts)}.')
    return (f'{one.name} is not significantly worse than {first.name} (5 %) in '
            f'{counted(found.decided, "pair")} of trials; that is no proof that it is as safe.')


def _paired(one: Campaign) -> Mapping[str, Any]:
    measured = [pair for pair in one.pairs if all(side.is_measured for side in pair)]
    flipped = [pair for pair in measured if pair[0].verdict is not pair[1].verdict]
    others = [pair for pair in measured if pair[0].verdict is pair[1].verdict]
    room = max(0, _PAIRS - len(flipped))
    kept = [*flipped[:_PAIRS], *others[::max(1, -(-len(others) // max(1, room)))][:room]]
    scenarios = list(dict.fromkeys(pair[0].scenario_id for pair in kept))
    return {
        'name': on_one_line(one.name, 120), 'of': len(measured),
        'scenarios': [on_one_line(name, 100) for name in scenarios],
        'points': [[scenarios.index(before.scenario_id), _ms(before), _ms(after),
                    before.verdict.value, after.verdict.value, before.trial_id, after.trial_id]
                   for before, after in kept]}


def _flips(one: Campaign) -> Mapping[str, Any]:
    """Return the pairs with other verdicts: those that have become worse first."""
    found = sorted((pair for pair in one.pairs if pair[0].verdict is not pair[1].verdict),
                   key=lambda pair: pair[0].verdict.rank - pair[1].verdict.rank)
    decided = [pair for pair in found if _is_decided(pair)]
    open_ = [pair for pair in found if not _is_decided(pair)]
    return {'name': on_one_line(one.name, 120), 'of': len(decided),
            'list': [_flip(*pair) for pair in decided[:_FLIPS]], 'open_of': len(open_),
            'open': [_flip(*pair) for pair in open_[:_FLIPS]]}


def _is_decided(pair: Pair) -> bool:
    return all(side.is_decided for side in pair)


def _flip(before: TrialResult, after: TrialResult) -> Sequence[Any]:
    return [on_one_line(before.scenario_id, 100), before.index + 1, before.verdict.value,
            after.verdict.value, on_one_line(max(
                (before, after), key=lambda side: side.verdict.rank).reason, 300),
            before.trial_id, after.trial_id]


def _ms(result: TrialResult) -> float | int | None:
    judged_ns = result.latency.judged_ns if result.latency else None
    return None if judged_ns is None else rounded(judged_ns / 1e6, 2)


def _pareto(campaigns: Sequence[Campaign]) -> Iterator[dict[str, Any]]:
    """Yield safety against what it costs, each plot with the points that no other one beats."""
    whole = [(one, cell(ALL, one.name, [result for result in one.results if not result.warmup],
                        one.summary.link)) for one in campaigns]
    yield _chart('Hazards missed and reaction', ('reaction, median', 'ms'),
                 ('hazards missed', '1'),
                 [(one.name, None, found.median_ms, found.missed.share) for one, found in whole])
    yield _chart('Hazards missed and task time', ('task time, median', 's'),
                 ('hazards missed', '1'),
                 [(one.name, None, found.task_s, found.missed.share) for one, found in whole])
    yield _chart('Hazards missed and false stops', ('false stops', '1'), ('hazards missed', '1'),
                 [(one.name, None, one.summary.false_stops.share, one.summary.missed.share)
                  for one in campaigns])
    yield _chart('Safety cost and time lost', ('time lost by standing, mean', 's'),
                 ('safety cost, mean', 's'),
                 [(one.name, None, one.summary.world.time_lost_s, one.summary.world.safety_cost)
                  for one in campaigns if one.summary.world is not None])
    yield _chart('Exposure to risk and task time, scenario by scenario',
                 ('task time, median', 's'), ('beyond a safety limit, mean', 's'),
                 [(one.name, row.scenario_id, row.world.task_s, row.world.exposure_s)
                  for one in campaigns for row in one.summary.scenarios if row.world is not None])


def _chart(title: str, x: tuple[str, str], y: tuple[str, str],
           found: Sequence[tuple[str, str | None, Estimate, Estimate | float | None]]) -> \
        dict[str, Any]:
    points = [{'name': on_one_line(name, 120), 'scenario': scenario, 'x': rounded(cost.value, 4),
               'y': rounded(_middle(risk), 4), 'x_range': _range(cost), 'y_range': _range(risk)}
              for name, scenario, cost, risk in found
              if cost.value is not None and _middle(risk) is not None]
    return {'title': title, 'x': {'name': x[0], 'unit': x[1]}, 'y': {'name': y[0], 'unit': y[1]},
            'points': [{**one, 'front': not any(_beats(other, one) for other in points)}
                       for one in points]}


def _middle(risk: Estimate | float | None) -> float | None:
    return risk.value if isinstance(risk, Estimate) else risk


def _range(found: Estimate | float | None) -> Sequence[float | int | None] | None:
    if not isinstance(found, Estimate) or found.low is None or found.high is None:
        return None
    return _ends(found)


def _beats(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether one is no worse on both axes, and better on one by more than noise."""
    return bool(one['scenario'] == other['scenario'] and one['x'] <= other['x']
                and one['y'] <= other['y'] and any(
                    one[axis] and other[axis] and one[axis][1] < other[axis][0]
                    for axis in ('x_range', 'y_range')))


_UNTOLD = ('seed', 'trials', 'warmup', 'domain_id', 'connect_timeout_s', 'hil',
           'server', 'judge', 'selection', 'sequential')
"""Numbers among the settings that nobody expects a controller to depend on."""


def over_what_varied(sources: Sequence[Source],
                     varying: Sequence[Varying] | None = None) -> Sequence[Mapping[str, Any]]:
    """
    Return trials over what was drawn for each, and over what the campaigns differ in.

    Nothing of folders that are not as their campaigns left them: a plot would look like evidence.

    :param varying: the campaigns with the numbers that count; None: all in which they differ
    """
    if any(source.trust.flaws for source in sources):
        return ()
    if varying is not None:
        return varied(list(degradations(varying)))
    names = [source.name for source in sources]
    names = [name if names.count(name) == 1 else f'{name} ({number})'
             for number, name in enumerate(names, 1)]
    return varied(list(degradations([
        Varying(name, source.results, source.summary, {
            **_numeric_settings(source.settings.get('settings')),
            **_numeric_settings(source.summary.spec.parameters if source.summary.spec else None)})
        for name, source in zip(names, sources, strict=True)])))


def _numeric_settings(data: Any, before: str = '') -> Mapping[str, float]:
    """Return the numbers among settings, by their names with dots."""
    found: dict[str, float] = {}
    for name, value in data.items() if isinstance(data, Mapping) else ():
        if not before and name in _UNTOLD:
            continue
        if isinstance(value, Mapping):
            found |= _numeric_settings(value, f'{before}{name}.')
        elif is_number(value):
            found[f'{before}{name}'] = float(value)
    return found
