# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a campaign is evidence for, and what it may claim of how often trials fail.

The item has the parts of the Goal Structuring Notation (goals, contexts, assumptions, solutions)
with the names that SACM gives them, and how they hang together. No claim is made over a trial that
nobody could judge: a scenario with an INCONCLUSIVE or ERROR trial has no bound, whatever the
others came to, and a folder that is not as its campaign left it supports nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from safety_scenarios.campaign.folder.folder import MANIFEST, settings_of
from safety_scenarios.campaign.folder.many import started_in
from safety_scenarios.campaign.folder.provenance import versions
from safety_scenarios.campaign.folder.signing import is_signed
from safety_scenarios.campaign.rejudging.rejudge import flaw_lines, Rejudging
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    clustered,
    distinct,
    no_narrower,
    zero_failure_n,
)
from safety_scenarios.campaign.statistics.sequential import anytime_over_clusters
from safety_scenarios.errors import counted
from safety_scenarios.reports.page.source import Claim
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.rounding import percent_up
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.trial.identity import digest
from safety_scenarios.trial.summary import BOUNDS, CampaignSummary, Rate, ScenarioSummary

_CONFIDENCE = 0.95
_AIMS = (0.05, 0.01, 0.001)
"""Failure rates that people ask for."""
CHANGED = 'this folder is not as its campaign must have left it'
ALIKE = 'a sequential test counted trials that came out alike as several'


def claim_of(summary: CampaignSummary, results: Sequence[TrialResult],
             flaws: Sequence[str] = ()) -> Claim:
    """
    Return the share of failing trials with what bounds it.

    Nothing is claimed where a trial is missing, or could not be judged, or where the folder is not
    as its campaign left it. Trials alike to the last digit make no bound narrower: repeating
    what does not vary shows nothing new.

    :param flaws: what is wrong with the folder
    """
    trials = [result for result in results if not result.warmup]
    failed = sum(result.verdict is Verdict.FAIL for result in trials)
    differing = distinct(trials, summary.link)
    why = _withheld(summary, trials, flaws)
    share = None if why else _share(summary, trials, differing)
    if not why and share is None:
        why = ALIKE
    scenarios = len(_strata(trials))
    return Claim(failed, len(trials), len(differing), scenarios, share, why or _about(scenarios),
                 {f'{aim:.3g}': zero_failure_n(aim, _CONFIDENCE) for aim in _AIMS}
                 if scenarios == 1 else {})


def unclaimed(found: Any, why: str, *, is_bound: bool = False) -> Any:
    """
    Return a summary, or a part of one, in which no number has an interval.

    :param why: what stands in place of the intervals, in the method of each number
    :param is_bound: a number is nothing but the end of its interval, and goes with it
    """
    if isinstance(found, Estimate):
        return found.model_copy(update={
            'value': None if is_bound else found.value, 'low': None, 'high': None,
            'method': f'{found.method}; no interval: {why}'})
    if isinstance(found, ScenarioSummary):
        found = found.model_copy(update={'separation': None})  # what a bound would cost
    if isinstance(found, Noun):
        return found.model_copy(update={
            name: unclaimed(getattr(found, name), why, is_bound=name in BOUNDS)
            for name in type(found).model_fields})
    if isinstance(found, Mapping):
        return {name: unclaimed(value, why) for name, value in found.items()}
    return tuple(unclaimed(one, why) for one in found) if isinstance(found, tuple) else found


def _strata(trials: Sequence[TrialResult]) -> Mapping[str, tuple[int, int]]:
    """Return for each scenario how many trials failed, and how many there are."""
    found: dict[str, tuple[int, int]] = {}
    for trial in trials:
        failed, made = found.get(trial.scenario_id, (0, 0))
        found[trial.scenario_id] = (failed + (trial.verdict is Verdict.FAIL), made + 1)
    return found


def _withheld(summary: CampaignSummary, trials: Sequence[TrialResult],
              flaws: Sequence[str]) -> str:
    """Return why nothing may be claimed; empty if something may."""
    if flaws:
        return CHANGED
    if not trials:
        return 'no trial was run'
    if summary.interrupted or summary.completed < summary.planned:
        return f'{summary.completed} of {counted(summary.planned, "planned trial")} were completed'
    if summary.sut is not None and any(summary.sut.doubts):
        return 'it is unknown whether all trials were of the same controller'
    undecided = sum(not trial.is_decided for trial in trials)
    if undecided:
        return f'{undecided} of {counted(len(trials), "trial")} could not be judged'
    return ''


def _share(summary: CampaignSummary, trials: Sequence[TrialResult],
           differing: Sequence[TrialResult]) -> Estimate | None:
    """Return the share of failures: with its upper bound alone where there was none."""
    early = [row for row in summary.scenarios if row.stopped_early is not None]
    if early:
        if len(differing) < len(trials):
            return None  # the test counted trials that show nothing new
        if len(summary.scenarios) == 1:
            return summary.scenarios[0].failed
        rows: dict[str, list[bool]] = {}
        for trial in trials:
            rows.setdefault(trial.scenario_id, []).append(trial.verdict is Verdict.FAIL)
        return anytime_over_clusters(list(rows.values()), _CONFIDENCE)
    return no_narrower(*(_fixed(list(_strata(some).values())) for some in (trials, differing)))


def _fixed(strata: Sequence[tuple[int, int]]) -> Estimate:
    """
    Return the share of failures of a number of trials that was fixed beforehand.

    The upper end of a two-sided 90 % interval is the one-sided 95 % bound.
    """
    failed = sum(count for count, _ in strata)
    if len(strata) == 1:
        return clopper_pearson(*strata[0], _CONFIDENCE, 'two' if failed else 'upper')
    if failed:
        return clustered(strata, _CONFIDENCE)
    found = clustered(strata, 2 * _CONFIDENCE - 1)
    return found.model_copy(update={'confidence': _CONFIDENCE, 'low': None, 'method':
                                    found.method.replace('two-sided', 'one-sided upper')})


def _about(scenarios: int) -> str:
    if scenarios == 1:
        return 'in trials of this scenario if they are independent'
    return f'in scenarios like these {scenarios}'


FORMAT = 'safety_scenarios.evidence/1'
Status = Literal['supported', 'refuted', 'undecided']
_DECLARED: Mapping[Status, str] = {
    'supported': 'asserted', 'refuted': 'defeated', 'undecided': 'needsSupport'}
"""SACM's assertionDeclaration."""
_MOST_OPEN = 1000
"""Undecided trials that are listed one by one; their number is always whole."""


@dataclass
class _Item:
    """The parts so far, and how they hang together."""

    elements: list[dict[str, Any]] = field(default_factory=list)
    relations: list[dict[str, str]] = field(default_factory=list)

    def add(self, identifier: str, gsn: str, sacm: str, below: str = '', **more: Any) -> None:
        """Add a part, and how it hangs below another."""
        self.elements.append({'id': identifier, 'gsn': gsn, 'sacm': sacm, **more})
        if below:
            supports = gsn in ('goal', 'solution')
            self.relations.append({
                'gsn': 'supportedBy' if supports else 'inContextOf',
                'sacm': {'goal': 'AssertedInference', 'solution': 'AssertedEvidence'}.get(
                    gsn, 'AssertedContext'), 'source': identifier, 'target': below})


def evidence_item(folder: Path, found: Rejudging) -> dict[str, Any]:
    """
    Return the item of a campaign that was judged again.

    :param found: of this folder, with no change
    :raises SettingsError: the folder is not that of a campaign
    """
    summary = found.summary
    results = [trial.after for trial in found if not trial.after.warmup]
    flaws = list(flaw_lines(found.flaws))
    sut = summary.sut
    flaws += [] if sut is None else sut.doubts
    item = _Item()
    unseen = {result.scenario_id for result in results if _not_evaluated([result])}
    strata = [_strata(some) for some in (results, distinct(results, summary.link))]
    status = _status(summary.verdict, bool(flaws or unseen))
    item.add('G1', 'goal', 'Claim', status=status, assertionDeclaration=_DECLARED[status],
             verdict=summary.verdict.value,
             statement=f'{summary.controller} held every check in every trial of '
                       f'{counted(len(summary.scenarios), "scenario")}',
             rates={name: _rate_fields(rate, flaws) for name, rate in (
                 ('hazards_missed', summary.missed), ('false_stops', summary.false_stops))})
    for number, text in enumerate(_contexts(folder, summary), 1):
        item.add(f'C{number}', 'context', 'ArtifactReference', 'G1', statement=text)
    for number, text in enumerate(_assumptions(summary), 1):
        item.add(f'A{number}', 'assumption', 'Claim', 'G1', assertionDeclaration='assumed',
                 statement=text)
    for number, row in enumerate(summary.scenarios, 2):
        item.add(f'G{number}', 'goal', 'Claim', 'G1', **_claim(
            summary, row, flaws, [one[row.scenario_id] for one in strata],
            row.scenario_id in unseen))
    item.add('Sn1', 'solution', 'ArtifactReference', 'G1', **_solution(folder))
    for number in range(2, len(summary.scenarios) + 2):
        item.relations.append({'gsn': 'supportedBy', 'sacm': 'AssertedEvidence', 'source': 'Sn1',
                               'target': f'G{number}'})
    open_ = [result for result in results if not result.is_decided]
    return {
        'format': FORMAT, 'tool': {'name': 'safety_scenarios',
                                   'version': versions()['safety_scenarios']},
        'elements': item.elements, 'relations': item.relations,
        'undecided': {'trials': len(open_), 'listed': [
            {'trial_id': result.trial_id, 'verdict': result.verdict.value,
             'reason': result.reason} for result in open_[:_MOST_OPEN]]},
        'not_evaluated': _not_evaluated(results),
        'flaws': flaws}


def _status(verdict: Verdict, is_flawed: bool) -> Status:
    if verdict is Verdict.FAIL:
        return 'refuted'
    return 'supported' if verdict is Verdict.PASS and not is_flawed else 'undecided'


def _claim(summary: CampaignSummary, row: ScenarioSummary, flaws: Sequence[str],
           strata: Sequence[tuple[int, int]], is_unseen: bool) -> dict[str, Any]:
    """
    Return the claim about one scenario, with a bound only where every trial was decided.

    :param strata: failures and trials, of all and of those that differ
    :param is_unseen: a check was not evaluated in some trial: it is unknown whether all held
    """
    counts = {verdict.value: row.verdicts.get(verdict.value, 0) for verdict in Verdict}
    open_ = counts['INCONCLUSIVE'] + counts['ERROR']
    why = [f'{open_} of {counted(row.trials, "trial")} INCONCLUSIVE or ERROR'] if open_ else []
    why += ['the folder is not as its campaign left it, see flaws'] if flaws else []
    why += ['the campaign was interrupted'] if summary.interrupted else []
    differing = strata[1][1]
    why += [ALIKE] if row.stopped_early and differing < row.trials else []
    status: Status = 'refuted' if counts['FAIL'] else \
        'undecided' if why or is_unseen else 'supported'
    bound = None if why else row.failed if row.stopped_early else \
        no_narrower(*(clopper_pearson(*one, sided='upper') for one in strata))
    who = f'{summary.controller} in {row.scenario_id} ({row.scenario_name})'
    failed = f'{counted(counts["FAIL"], "failure")} in {counted(row.trials, "trial")}'
    if bound is None or bound.high is None:
        shown = f'{failed}, and no bound' if counts['FAIL'] else 'nothing'
        statement, bound = f'{who}: {shown} is claimed, because ' + '; '.join(
            why or ['the trials carry no bound']), None
    else:
        alike = '' if differing == row.trials else \
            f' ({differing} of them differ in what is judged, no bound is narrower than theirs)'
        statement = (f'{who}: {failed}{alike}, at most {percent_up(bound.high)} at '
                     f'{bound.confidence:.0%} confidence')
    named = row.traceability
    return {'status': status, 'assertionDeclaration': _DECLARED[status], 'statement': statement,
            'scenario_id': row.scenario_id, 'trials': row.trials, 'verdicts': counts,
            'bound': _bound(bound), 'why_no_bound': why,
            'latency_p99_bound': None if why else _bound(row.upper_ms),
            **({'stopped_early': row.stopped_early} if row.stopped_early else {}),
            'hazards': list(named.hazards), 'requirements': list(named.requirements),
            'clauses': list(named.clauses)}


def _rate_fields(rate: Rate, flaws: Sequence[str]) -> dict[str, Any]:
    """Return a rate over scenarios; no bound where a trial beside it was not decided."""
    why = [f'{counted(rate.undecided, "trial")} INCONCLUSIVE or ERROR'] if rate.undecided else []
    why += ['the folder is not as its campaign left it'] if flaws else []
    return {'count': rate.count, 'of': rate.of, 'undecided': rate.undecided,
            'bound': None if why else _bound(rate.share), 'why_no_bound': why}


def _bound(found: Estimate | None) -> dict[str, Any] | None:
    if found is None or found.high is None:
        return None
    return {'at_most': found.high, 'unit': found.unit, 'confidence': found.confidence,
            'n': found.n, 'method': found.method}


def _contexts(folder: Path, summary: CampaignSummary) -> Iterator[str]:
    settings = settings_of(folder)
    raw = settings.raw
    yield (f'Run over the link {summary.link} with seed {summary.seed}; {summary.completed} of '
           f'{counted(summary.planned, "planned trial")} completed; judged by the gate '
           f'{raw.get("gate")}, answers in words by {raw.get("words")}')
    yield (f'Run from {started_in(folder) or "an unknown time"} on, by version '
           f'{settings.version or "unknown"} of safety_scenarios')
    for line in summary.sut.lines if summary.sut else ():
        yield f'Judged: {line}'
    for name, sha256 in sorted(settings.scenarios.items()):
        yield f'Scenario {name}: SHA-256 of its file {sha256 or "unknown, it came from no file"}'


def _assumptions(summary: CampaignSummary) -> Iterator[str]:
    """Yield what the bounds rest on and the campaign does not show."""
    yield ('The trials of one scenario are independent draws of what its file varies; a bound is '
           'about such trials, and about no situation that no scenario has')
    yield ('Each bound holds at its confidence by itself: that several hold together is less '
           'certain')
    if summary.link != 'ros':
        yield ('Times are simulated: neither messages nor thinking take any, so that latencies '
               'are no claim about real hardware')
    elif summary.calibration is None:
        yield 'The harness was not calibrated before the campaign'
    else:
        method = summary.calibration.method
        known = summary.calibration.uncertainty_ms.get(method)
        yield (f'Latencies by {method} are uncertain by '
               + ('an unknown time' if known is None else f'{known:.3f} ms (k = 2)'))
    if summary.sut is None or summary.sut.unidentified:
        yield 'What was judged is what shall be used: nothing in the folder identifies its build'
    if summary.by_patterns:
        yield (f'In {counted(summary.by_patterns, "passed trial")} the words were read by '
               f'patterns only')
    if any(row.stopped_early for row in summary.scenarios):
        yield 'The number of trials was not fixed beforehand; the bounds hold at any stop'
    for row in summary.scenarios:
        for text in (*row.claims[-1:], *row.notes.values()):
            yield f'{row.scenario_id}: {text}'


def _solution(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    return {'statement': 'Folder of the campaign: the record of each trial, from which every '
                         'verdict can be computed again',
            'location': folder.resolve().name,
            'digest': {'file': MANIFEST, 'sha256': digest(path)} if path.is_file() else None,
            'covers': 'the manifest has the SHA-256 of every other file but logs and report',
            'signed': is_signed(folder),
            'check': 'safety-scenarios campaign verify FOLDER; safety-scenarios evaluate FOLDER'}


def _not_evaluated(results: Sequence[TrialResult]) -> dict[str, int]:
    """Return how often each check was not evaluated: it is unknown whether it held."""
    found: dict[str, int] = {}
    for result in results:
        for finding in result.findings:
            if finding.verdict is None:
                found[finding.check] = found.get(finding.check, 0) + 1
    return dict(sorted(found.items()))
