# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The first screen: what it came to, what may be claimed, and what to do first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from safety_scenarios.campaign.statistics.proportions import out_of
from safety_scenarios.errors import counted
from safety_scenarios.reports.failures import urgency_of
from safety_scenarios.reports.page.source import (
    Claim,
    limits,
    margin_of,
    NONE,
    Source,
    sure,
    telling,
    with_unit,
)
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.rounding import percent_down, percent_up, up
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.summary import CampaignSummary, Claimable, Rate, ScenarioSummary

_MOST_SCENARIOS = 100
_MOST_RANGES = 6
_LINKS = {'ros': 'over ROS', 'loopback': 'in simulated time, without messages',
          'simulated': 'in the embedded world, in simulated time',
          'recording': 'from a recording', 'bag': 'from a bag',
          'monitor': 'as a monitor received it in operation'}
_UNKNOWN = ('bag', 'monitor', 'recording')
"""Nothing was published there, so that it is not known who sent the messages."""


@dataclass(frozen=True)
class ClaimText:
    """Three lists of sentences."""

    may: tuple[str, ...]
    """Each with its bound; empty where nothing may be claimed."""
    about: tuple[str, ...]
    """What trials the bounds are about."""
    may_not: tuple[str, ...]
    """What they are not about."""


def claims_of(summary: CampaignSummary, results: Sequence[TrialResult],
              settings: Mapping[str, Any], flaws: Sequence[str]) -> ClaimText:
    """
    Return what may be claimed.

    :param settings: those of the campaign, as ``settings.json`` has them
    :param flaws: what in the folder is not as its campaign left it: nothing may be claimed then
    """
    if flaws:
        return ClaimText((), (), ('Anything: this folder is not as its campaign left it.',))
    if not summary.claims:
        why = 'its trials were named one by one (only)' if summary.is_chosen else \
            'not one thing was judged' if summary.sut is not None and summary.sut.doubts \
            else 'there are no trials'
        return ClaimText((), (), (f'Anything: {why}.',))
    return ClaimText(tuple(_may(summary)), tuple(_about(summary, results, settings)),
                     tuple(_may_not(summary, settings)))


def _may(summary: CampaignSummary) -> Iterator[str]:
    names = {row.scenario_id: row.scenario_name for row in summary.scenarios}
    whole = [one for one in summary.claims if one.scenario_id is None]
    single = [one for one in summary.claims if one.scenario_id is not None]
    for one in (*whole, *single[:_MOST_SCENARIOS]):
        who = f'{one.scenarios} scenarios, each as often as it was run' \
            if one.scenario_id is None else f'{names[one.scenario_id]} ({one.scenario_id})'
        yield f'{who}: {_claimable_bound(one)}.'
    if len(single) > _MOST_SCENARIOS:
        yield f'And {len(single) - _MOST_SCENARIOS} more scenarios, in campaign.json.'


def _claimable_bound(one: Claimable) -> str:
    bound = one.bound
    open_ = '; undecided counts as bad' if one.undecided else ''
    made = f'{one.bad} in {out_of(one.trials, bound.n)}{open_}'
    if bound.high is None or bound.high >= 1.0:
        return f'no limit below 100 % of {one.what} ({made})'
    stop = ', at any stop' if 'at any stop' in bound.method else ''
    return (f'at most {percent_up(bound.high)} {one.what} at {100 * bound.confidence:g} % '
            f'({made}{stop})')


def _about(summary: CampaignSummary, results: Sequence[TrialResult],
           settings: Mapping[str, Any]) -> Iterator[str]:
    run = settings.get('settings', {})
    run = run if isinstance(run, Mapping) else {}
    profile = run.get('profile') or 'the robot of the scenario files'
    world = run.get('world')
    world = world.get('kind') if isinstance(world, Mapping) else world
    where = f', world {world}' if world and world != 'none' else ''
    yield (f'{summary.controller}, with {profile}{where}, '
           f'{_LINKS.get(summary.link, summary.link)}.')
    drawn = list(_ranges(results))
    yield ('Trials that these scenario files draw at random'
           + (f': {", ".join(drawn[:_MOST_RANGES])}' if drawn else '')
           + (f' and {len(drawn) - _MOST_RANGES} more' if len(drawn) > _MOST_RANGES else '') + '.')


def _ranges(results: Sequence[TrialResult]) -> Iterator[str]:
    """Yield what was drawn with the range in which these trials had it."""
    found: dict[str, list[Any]] = {}
    for result in results:
        for name, value in result.drawn.items():
            found.setdefault(name, []).append(value)
    for name, values in sorted(found.items()):
        numbers = [value for value in values if isinstance(value, (int, float))
                   and not isinstance(value, bool)]
        yield f'{name} {_short(min(numbers))} to {_short(max(numbers))}' \
            if len(numbers) == len(values) \
            else f'{name} of {counted(len(set(map(str, values))), "kind")}'


def _short(value: float) -> str:
    return f'{value:.0f}' if abs(value) >= 100 else f'{value:.3g}'


def _may_not(summary: CampaignSummary, settings: Mapping[str, Any]) -> Iterator[str]:
    run = settings.get('settings', {})
    hil = run.get('hil', {}) if isinstance(run, Mapping) else {}
    is_real = isinstance(hil, Mapping) and bool(hil.get('enabled'))
    yield 'Another robot, controller build, sensor, or a range that no scenario draws.'
    if len(summary.scenarios) > 1:
        for what, rate in (('missed hazards', summary.missed),
                           ('false stops', summary.false_stops)):
            if rate.of and rate.share.high is not None:
                yield (f'Other scenarios of this kind: up to {percent_up(rate.share.high)} '
                       f'{what} are not excluded (two-sided 95 %).')
    else:
        yield 'Other scenarios.'
    if not is_real:
        yield ('A real robot: nothing here was measured on hardware.' if summary.link == 'ros'
               else 'A real robot: nothing here shows whether it was one.'
               if summary.link in _UNKNOWN
               else 'A real robot or real messages: times are simulated.')
    yield ('Trials that a person or a search chose: only trials that a scenario draws count. All '
           'bounds together: each holds at 95 % by itself.')


_MOST_FIXES = 3
_BY_CHANCE = 0.5
"""Chance level above which who does not look passes more often than not."""
_UNLIKELY = 0.05
"""Below it nobody passes all trials by chance."""
_MARKS = {Verdict.PASS: '✓', Verdict.INCONCLUSIVE: '?', Verdict.ERROR: '!', Verdict.FAIL: '✗'}


def headline(source: Source) -> Mapping[str, Any]:
    """
    Return verdict, sentence and bound.

    Its tone is that of a pass only where every trial was run, and every check of each was judged.
    """
    remarks = list(_remarks(source))
    tone = source.verdict.value.lower()
    return {'verdict': source.verdict.value, 'mark': _MARKS[source.verdict],
            'tone': 'partly' if tone == 'pass' and remarks else tone,
            'sentence': _sentence(source), 'bound': _bound(source.claim),
            'method': '' if source.claim.share is None else source.claim.share.method,
            'remarks': remarks}


def _sentence(source: Source) -> str:
    summary, claim = source.summary, source.claim
    who = summary.controller
    where = f'{counted(claim.trials, "trial")} in {counted(claim.scenarios, "scenario")}'
    verdict = source.verdict
    if verdict is Verdict.FAIL:
        return f'{who} failed {claim.failed} of {where}: {_errors(summary)}.'
    if verdict is Verdict.PASS:
        weak = ', as a controller could that acts without looking' if _all_by_chance(source) \
            else ''
        return f'{who} passed {_all(claim.trials)} {where}{weak}.'
    undecided = summary.missed.undecided + summary.false_stops.undecided
    passed = claim.trials - claim.failed - undecided
    said = f'{undecided} of {where} could not be judged; {passed} passed'
    if source.trust.flaws or not undecided:  # then it is not the trials that leave it open
        said = claim.why
    if verdict is Verdict.ERROR:
        return f'Whether {who} is safe was not measured: {said}.'
    return f'This does not show whether {who} is safe: {said}.'


def _all(count: int) -> str:
    return 'its' if count == 1 else 'both of' if count == 2 else 'all'


def _errors(summary: CampaignSummary) -> str:
    """Return both kinds of errors in words, or that there was nothing to get wrong."""
    missed, stops = summary.missed, summary.false_stops
    said = [f'it missed {missed.count} of {missed.of} hazards'] if missed.of else []
    said += [f'{"" if said else "it "}stopped without need in {stops.count} of {stops.of} '
             f'harmless situations'] if stops.of else []
    if summary.failed_otherwise is not None:
        said.append(f'failed {summary.failed_otherwise.count} of '
                    f'{counted(summary.failed_otherwise.of, "harmless situation")} in another way')
    said += [f'no {what} {"could be judged" if rate.undecided else "was in these scenarios"}'
             for rate, what in ((missed, 'hazard'), (stops, 'harmless situation')) if not rate.of]
    return ', and '.join(said)


def _by_chance(source: Source) -> list[ScenarioSummary]:
    """Return the scenarios of which a controller may well pass every trial without looking."""
    return [row for row in source.summary.scenarios if row.chance is not None
            and row.chance > _BY_CHANCE and row.chance**row.failed.n > _UNLIKELY]


def _all_by_chance(source: Source) -> bool:
    """Return whether it may well pass every hazard; trials that came out alike are one."""
    hazards = {result.scenario_id for result in source.counted if not result.is_benign}
    levels = [0.0 if row.chance is None else row.chance**row.failed.n
              for row in source.summary.scenarios if row.scenario_id in hazards]
    return bool(_by_chance(source)) and prod(levels) > _UNLIKELY


def _bound(claim: Claim) -> str:
    """Return the claim in one sentence; it never promises more than the interval."""
    share = claim.share
    if share is None or share.high is None:
        why = claim.why if share is None else share.method
        return f'No failure rate is claimed: {why}.'
    alike = '' if claim.distinct == claim.trials else \
        f' ({claim.distinct} of them differ in what is judged, no bound is narrower than theirs)'
    made = f'{counted(claim.failed, "failure")} in {counted(claim.trials, "trial")}{alike}'
    much = f'at most {percent_up(share.high)}' if not claim.failed else \
        f'between {percent_down(share.low or 0.0)} and {percent_up(share.high)}'
    return f'{made}: {much} fail at {sure(share.confidence)}, {claim.why}.'


def _remarks(source: Source) -> Iterator[str]:
    """Yield why the verdict is not all that there is to say."""
    summary = source.summary
    if source.trust.is_as_written:
        yield 'These verdicts were not judged again: safety-scenarios report DIR judges them'
    yield from (f'Not as the campaign left it: {text}' for text in source.trust.flaws[:5])
    if len(source.trust.flaws) > 5:
        yield f'and {counted(len(source.trust.flaws) - 5, "more thing")} in this folder'
    if summary.repaired:
        yield (f'The folder was repaired after a crash: '
               f'{counted(len(summary.repaired), "change")}, the last one '
               f'{summary.repaired[-1][:200]}')
    if summary.interrupted or summary.completed < summary.planned:
        yield (f'{summary.completed} of {counted(summary.planned, "planned trial")} were '
               f'completed')
    if summary.is_in_harness:
        yield ('The controller ran in the process of the harness (isolate was off), where its '
               'code could reach the plan and change verdicts')
    if summary.readable:
        yield ("The controller could read this campaign's files, such as the plan of its trial "
               f'({summary.readable})')
    if summary.sut is not None:
        yield from (f'Not one thing was judged: {text}' for text in summary.sut.doubts)
    open_ = [result for result in source.counted if not result.is_decided]
    if open_:
        yield f'{counted(len(open_), "trial")} could not be judged: neither passed nor failed'
    skipped = [result for result in source.counted
               if any(finding.verdict is None for finding in result.findings)]
    if skipped:
        yield f'In {counted(len(skipped), "trial")} a check was not evaluated'
    if summary.failed_otherwise is not None:
        yield (f'Harmless situations that failed, but not by a stop or a refusal: '
               f'{summary.failed_otherwise}')
    weak = _by_chance(source)
    if weak:
        most = max(weak, key=lambda row: row.chance or 0.0)
        yield (f'In {counted(len(weak), "scenario")} a pass shows little: a controller that acts '
               f'without looking could do the same. In {most.scenario_name} it would pass up to '
               f'{percent_up(most.chance or 0.0)} of all trials')
    if source.counted and all(result.is_benign for result in source.counted):
        yield 'No trial had a hazard: nothing here shows that it reacts to one'
    if summary.by_patterns:
        yield (f'{counted(summary.by_patterns, "trial")} passed although the words were '
               f'read by patterns only')


def tiles(source: Source) -> list[Mapping[str, Any]]:
    """Return the figures beside the verdict: what, how much, and how sure."""
    summary = source.summary
    names = {row.scenario_id: row.scenario_name for row in summary.scenarios}
    return [_rate('Hazards missed', summary.missed, 'trials with a hazard', names),
            _rate('False stops', summary.false_stops, 'trials without a hazard', names),
            _task(source), _margin(source), _latency(source)]


def _rate(name: str, rate: Rate, what: str, names: Mapping[str, str]) -> Mapping[str, Any]:
    share = rate.share
    beside = f'; {rate.undecided} more could not be judged' if rate.undecided else ''
    has_interval = bool(rate.of) and share.low is not None and share.high is not None
    worst = f'. Worst: {names.get(rate.worst, rate.worst)}{rate.also}' if rate.worst else ''
    return {'name': name, 'value': f'{rate.count} of {rate.of}' if rate.of else NONE,
            'tone': 'fail' if rate.count else '',
            'more': f'{what}{beside}; {limits(rate)}{worst}',
            'bar': [share.low, share.value, share.high] if has_interval else None}


def _task(source: Source) -> Mapping[str, Any]:
    world = source.summary.world
    if world is None:
        return {'name': 'Task time', 'value': NONE, 'tone': '',
                'more': 'No simulator published the progress of the work, so the cost of safety '
                        'is unknown'}
    times = [row.world.task_s for row in source.summary.scenarios if row.world is not None]
    slowest = max((one.value for one in times if one.value is not None), default=None)
    lost, done = world.time_lost_s, world.task_done
    text = 'time lost by standing: ' + (
        'unknown' if lost.value is None else f'{lost.value:.2f} s a trial'
        + ('' if lost.high is None else
           f' (at most {up(lost.high, 1)} s at {sure(lost.confidence)})'))
    share = 'unknown' if done.value is None else \
        f'{round(done.value * done.n)} of {done.n} done'
    return {'name': 'Task time', 'tone': '',
            'value': share if slowest is None else f'{slowest:.1f} s',
            'more': text if slowest is None else
            f'median of the slowest scenario with a goal; work {share}; {text}'}


def _margin(source: Source) -> Mapping[str, Any]:
    """Return the least room that was left: what was too little first, then who came near."""
    found = [(result, finding) for result in source.counted
             if (finding := margin_of(result)) is not None]
    if not found:
        return {'name': 'Worst margin', 'value': NONE, 'tone': '', 'more': 'no check has a number'}
    result, finding = min(found, key=lambda pair: (
        (pair[1].margin or 0.0) > 0, telling(pair[1]), pair[1].margin or 0.0))
    margin = finding.margin or 0.0
    return {'name': 'Worst margin', 'value': with_unit(margin, finding.unit),
            'trial': result.trial_id, 'tone': 'fail' if margin <= 0 else '',
            'more': f'{result.scenario_name}: {finding.check}'}


def _latency(source: Source) -> Mapping[str, Any]:
    rows = [row for row in source.summary.scenarios if row.latency_ms]
    unseen = sum(row.not_measured for row in source.summary.scenarios if not row.latency_ms)
    if not rows:
        return {'name': 'Slowest reaction', 'value': NONE, 'tone': '',
                'more': f'in {counted(unseen, "trial")} it could not be measured' if unseen else
                'none was asked for'}
    silent = [row for row in rows if row.worst_ms is None]
    if silent:
        return {'name': 'Slowest reaction', 'value': 'none came', 'tone': 'fail',
                'more': f'in {silent[0].scenario_name}: a hazard without any reaction'}
    row = max(rows, key=lambda one: one.worst_ms or 0.0)
    claims = [one.upper_ms.high for one in rows if one.upper_ms.high is not None]
    is_bounded = claims and len(claims) == len(rows) and not unseen
    more = f'99 of 100 within {up(max(claims), 0)} ms' if is_bounded \
        else 'of these trials; no claim about others, which takes 299 trials of each scenario'
    return {'name': 'Slowest reaction', 'value': f'{row.worst_ms:.0f} ms', 'tone': '',
            'more': f'{row.scenario_name}; {more}'}


def fixes(source: Source) -> list[Mapping[str, Any]]:
    """Return the scenarios to look at first, each with its worst trial and how many are as bad."""
    by_scenario: dict[str, list[TrialResult]] = {}
    for result in source.counted:
        if result.verdict is not Verdict.PASS:
            by_scenario.setdefault(result.scenario_id, []).append(result)
    worst = [(one := min(found, key=urgency_of),
              sum(other.verdict is one.verdict for other in found))
             for found in by_scenario.values()]
    worst.sort(key=lambda pair: (*urgency_of(pair[0])[:2], -pair[1], urgency_of(pair[0])[2:]))
    trials = {row.scenario_id: row.trials for row in source.summary.scenarios}
    return [{'scenario': result.scenario_name, 'id': result.scenario_id,
             'verdict': result.verdict.value, 'reason': result.reason,
             'trial': result.trial_id, 'count': f'{count} of {trials.get(result.scenario_id, 0)}',
             'more': len(worst) - _MOST_FIXES} for result, count in worst[:_MOST_FIXES]]
