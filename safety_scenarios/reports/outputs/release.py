# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a campaign came to for the tools of a release review: SARIF, OSCAL and CycloneDX.

SARIF 2.1.0 (OASIS), OSCAL 1.1 assessment results (NIST), CycloneDX 1.6 (ECMA-424). What could not
be judged is an error in SARIF, as code scanning lets warnings pass by default, and not satisfied
in OSCAL: a tool that knows only pass and fail must not take it for a pass.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
import json
from pathlib import Path
import re
from typing import Any, Literal
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from safety_scenarios.campaign.folder.folder import MANIFEST, SETTINGS
from safety_scenarios.campaign.folder.provenance import versions
from safety_scenarios.campaign.rejudging.rejudge import flaw_lines, Rejudging
from safety_scenarios.errors import counted
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.rounding import figures_down, figures_up
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.trial.identity import Artifact, digest
from safety_scenarios.trial.summary import CampaignSummary

Review = Literal['sarif', 'oscal', 'cyclonedx']
REVIEWS: Mapping[Review, str] = {
    'sarif': 'results.sarif', 'oscal': 'assessment-results.json', 'cyclonedx': 'bom.cdx.json'}
"""Format to the name of its file."""
_OURS = 'https://safety-scenarios.invalid/'
"""Begins what the format wants as a URI; nothing is there."""
_UNDECIDED, _NOT_JUDGED, _FLAW = 'undecided', 'not-judged', 'folder-changed'
_RULES = {_UNDECIDED: 'a trial that could not be judged',
          _NOT_JUDGED: 'a planned trial without a record of it',
          _FLAW: 'something in the folder that is not as the campaign left it'}
"""Our own rules. A check of the same name has another id."""
_SARIF_SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json'
_OSCAL, _CYCLONEDX = '1.1.2', '1.6'
_LONGEST = 1000
_OF_LINKS = re.compile(r'[\[\]\\]')
_NOT_IN_TOKENS = re.compile(r'[^A-Za-z0-9_.-]')
_MODELS = ('.onnx', '.pt', '.pth', '.safetensors', '.engine', '.tflite', '.pb')


def review_of(how: Review, folder: Path, found: Rejudging) -> dict[str, Any]:
    """
    Return the document of a campaign that was judged again.

    :param found: of this folder, with no change
    """
    facts = _Facts(folder, found)
    return {'sarif': _sarif, 'oscal': _oscal, 'cyclonedx': _cyclonedx}[how](facts)


class _Facts:
    """What all three documents say."""

    def __init__(self, folder: Path, found: Rejudging) -> None:
        self.summary: CampaignSummary = found.summary
        self.results = [one.after for one in found if not one.after.warmup]
        self.not_judged = [one for one in found.not_judged if one.index >= 0]
        self.flaws = [*flaw_lines(found.flaws),
                      *(found.summary.sut.doubts if found.summary.sut else ())]
        if self.summary.completed < self.summary.planned:
            self.flaws.append(f'{self.summary.completed} of '
                              f'{counted(self.summary.planned, "planned trial")} were completed')
        settings = json.loads((folder / SETTINGS).read_text(encoding='utf-8'))
        self.files = {str(one['id']): str(one['path']) for one in settings.get('scenarios', ())}
        self.started = _moment(settings.get('started'))
        self.version = str(versions()['safety_scenarios'])
        manifest = folder / MANIFEST
        self.manifest = digest(manifest) if manifest.is_file() else ''
        self.settings = settings.get('settings', {})

    def identifier(self, name: str) -> str:
        """Return an id that is the same whenever the same campaign is exported."""
        return str(uuid5(NAMESPACE_URL, f'{_OURS}{self.manifest}/{self.summary.seed}/{name}'))

    @property
    def ended(self) -> str:
        """Return when the last trial ended; empty: its times are simulated."""
        last = datetime.fromtimestamp(max((one.started_system_ns / 1e9 + one.duration_ms / 1e3
                                           for one in self.results), default=0.0), timezone.utc)
        return last.isoformat() if last > datetime.fromisoformat(self.started) else ''

    @property
    def about(self) -> str:
        """Return what was judged how, in one sentence."""
        one = self.summary
        return (f'{one.controller} over the link {one.link} with seed {one.seed}, '
                f'{counted(one.completed, "trial")} of {len(one.scenarios)} scenarios, gate '
                f'{self.settings.get("gate")}, words by {self.settings.get("words")}')


def _sarif(facts: _Facts) -> dict[str, Any]:
    rows = list(_sarif_results(facts))
    rules = {row['ruleId']: row.pop('rule') for row in rows}
    notices = [{'level': 'error', 'descriptor': {'id': _FLAW}, 'message': _message(text)}
               for text in facts.flaws]
    return {'$schema': _SARIF_SCHEMA, 'version': '2.1.0', 'runs': [{
        'tool': {'driver': {
            'name': 'safety_scenarios', 'version': facts.version,
            'rules': [{'id': name, 'shortDescription': {'text': text}}
                      for name, text in sorted(rules.items())]}},
        'automationDetails': {'id': f'safety_scenarios/{facts.summary.controller}/'},
        'invocations': [{
            'executionSuccessful': not facts.flaws, 'startTimeUtc': _utc(facts.started),
            **({'endTimeUtc': _utc(facts.ended)} if facts.ended else {}),
            'exitCode': facts.summary.exit_code, 'toolExecutionNotifications': notices}],
        'results': rows,
        'properties': {'about': facts.about, 'verdicts': dict(facts.summary.verdicts),
                       'manifest_sha256': facts.manifest}}]}


def _sarif_results(facts: _Facts) -> Iterator[dict[str, Any]]:
    """
    Yield one result of each scenario and check that failed, or that was not decided.

    Then one of each scenario with trials that have no record, and one of each flaw of the folder.
    """
    found: dict[tuple[str, str], list[tuple[TrialResult, str]]] = {}
    for result in facts.results:
        failed = {one.check: one.reason for one in result.findings if one.verdict is Verdict.FAIL}
        if result.verdict is Verdict.FAIL:
            for check, reason in (failed or {'verdict': result.reason}).items():
                found.setdefault((result.scenario_id, _rule_of(check)), []).append(
                    (result, reason))
        elif not result.is_decided:
            found.setdefault((result.scenario_id, _UNDECIDED), []).append((result, result.reason))
    trials = {name: sum(one.scenario_id == name for one in facts.results)
              for name in {one.scenario_id for one in facts.results}}
    for (scenario, check), some in sorted(found.items()):
        first, reason = some[0]
        is_open = check == _UNDECIDED
        yield {
            'ruleId': check, 'level': 'error', 'kind': 'fail',
            'rule': _RULES.get(check, check),
            'message': _message(
                f'{scenario} ({first.scenario_name}): {facts.summary.controller}: '
                f'{"could not be judged" if is_open else "failed"} in {len(some)} of '
                f'{counted(trials[scenario], "trial")}, such as {first.trial_id}: {reason}'),
            **_at(facts.files.get(scenario, ''), scenario, check),
            'properties': {'trials': [one.trial_id for one, _ in some[:100]],
                           'hazards': list(first.traceability.hazards)}}
    for scenario in sorted({one.scenario_id for one in facts.not_judged}):
        names = [one.trial_id for one in facts.not_judged if one.scenario_id == scenario]
        yield {
            'ruleId': _NOT_JUDGED, 'level': 'error', 'kind': 'fail', 'rule': _RULES[_NOT_JUDGED],
            'message': _message(
                f'{scenario}: {facts.summary.controller}: '
                f'{counted(len(names), "planned trial")} without a record, such as {names[0]}'),
            **_at(facts.files.get(scenario, ''), scenario, _NOT_JUDGED),
            'properties': {'trials': names[:100]}}
    for text in facts.flaws:
        yield {
            'ruleId': _FLAW, 'level': 'error', 'kind': 'fail', 'rule': _RULES[_FLAW],
            'message': _message(text), **_at(MANIFEST, text, _FLAW)}


def _rule_of(check: str) -> str:
    """Return the id of a check's rule, which is none of our own."""
    return f'check: {check}' if check in _RULES or check.startswith('check: ') else check


def _at(path: str, scenario: str, rule: str) -> dict[str, Any]:
    """Return the place of a result, and what it is known by from campaign to campaign."""
    return {
        'locations': [{'physicalLocation': {
            'artifactLocation': _location(path), 'region': {'startLine': 1}}}],
        'partialFingerprints': {'scenarioAndCheck/v1': _lasting_id(scenario, rule)}}


def _lasting_id(scenario: str, check: str) -> str:
    """Return what stays the same of a result from campaign to campaign."""
    return str(uuid5(NAMESPACE_URL, f'{_OURS}{scenario}/{check}'))


def _location(path: str) -> dict[str, Any]:
    """Return where a scenario's file is: of an installed one its place in the repository."""
    installed = path.partition('://')[2].partition('/')[2] if '://' in path else path
    return {'uri': quote((installed or 'scenario').encode(errors='surrogatepass')),
            'uriBaseId': '%SRCROOT%'}


def _moment(text: object) -> str:
    """Return a time as it was written; 1970, where it is none or has no offset from UTC."""
    with suppress(ValueError):
        if datetime.fromisoformat(str(text)).tzinfo is not None:
            return str(text)
    return '1970-01-01T00:00:00+00:00'


def _utc(text: str) -> str:
    return datetime.fromisoformat(text).astimezone(timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')


def _message(text: str) -> dict[str, str]:
    """Return a plain text as SARIF reads it: no placeholder and no link (3.11.5 and 3.11.6)."""
    escaped = _short(text).replace('{', '{{').replace('}', '}}')
    return {'text': _OF_LINKS.sub(r'\\\g<0>', escaped) if '](' in escaped else escaped}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST - 3] + '...'


def _oscal(facts: _Facts) -> dict[str, Any]:
    groups = _by_hazard(facts.results)
    observations = [_observation(facts, name, some) for name, some in groups.items()]
    return {'assessment-results': {
        'uuid': facts.identifier('assessment-results'),
        'metadata': {'title': f'Safety scenarios: {facts.summary.controller}',
                     'last-modified': facts.ended or facts.started, 'version': facts.version,
                     'oscal-version': _OSCAL},
        'import-ap': {'href': f'{_OURS}plan', 'remarks': facts.about},
        'results': [{
            'uuid': facts.identifier('result'), 'title': f'Campaign of {facts.summary.controller}',
            'description': facts.about, 'start': facts.started,
            **({'end': facts.ended} if facts.ended else {}),
            'reviewed-controls': {'control-selections': [{
                'description': 'Every hazard that a scenario of the campaign names.',
                'include-all': {}}]},
            'observations': observations,
            'findings': [_finding(facts, name, some) for name, some in groups.items()],
            **({'remarks': '; '.join(facts.flaws)} if facts.flaws else {})}]}}


def _by_hazard(results: Sequence[TrialResult]) -> dict[str, list[TrialResult]]:
    """Return the trials about each hazard; without one, those of the scenario."""
    found: dict[str, list[TrialResult]] = {}
    for result in results:
        for name in result.traceability.hazards or (result.scenario_id,):
            found.setdefault(name, []).append(result)
    return dict(sorted(found.items()))


def _counts(some: Sequence[TrialResult]) -> str:
    return ', '.join(f'{sum(one.verdict is verdict for one in some)} {verdict.value}'
                     for verdict in Verdict)


def _observation(facts: _Facts, name: str, some: Sequence[TrialResult]) -> dict[str, Any]:
    scenarios = sorted({one.scenario_id for one in some})
    return {
        'uuid': facts.identifier(f'observation/{name}'), 'title': f'Trials about {name}',
        'description': _short(f'{counted(len(some), "trial")} of {" ".join(scenarios)}: '
                              f'{_counts(some)}'),
        'methods': ['TEST'], 'collected': facts.ended or facts.started,
        'props': [{'name': verdict.value.lower(), 'ns': _OURS,
                   'value': str(sum(one.verdict is verdict for one in some))}
                  for verdict in Verdict]}


def _finding(facts: _Facts, name: str, some: Sequence[TrialResult]) -> dict[str, Any]:
    worst = Verdict.worst(one.verdict for one in some)
    is_satisfied = worst is Verdict.PASS and not facts.flaws
    reason = 'fail' if worst is Verdict.FAIL else 'pass' if is_satisfied else 'other'
    token = _NOT_IN_TOKENS.sub('_', name)
    kind = 'Hazard' if any(name in one.traceability.hazards for one in some) else 'Scenario'
    return {
        'uuid': facts.identifier(f'finding/{name}'), 'title': f'{kind} {name}',
        'description': f'{_counts(some)}. INCONCLUSIVE and ERROR show nothing, and are not '
                       f'satisfied.',
        'target': {'type': 'objective-id',
                   'target-id': token if token[:1].isalpha() else f'_{token}',
                   'status': {'state': 'satisfied' if is_satisfied else 'not-satisfied',
                              'reason': reason}},
        'related-observations': [{'observation-uuid': facts.identifier(f'observation/{name}')}]}


def _cyclonedx(facts: _Facts) -> dict[str, Any]:
    sut = facts.summary.sut
    artifacts = sut.artifacts if sut is not None else ()
    is_model = any(_is_model(one) for one in artifacts)
    name = facts.summary.controller
    main: dict[str, Any] = {
        'type': 'machine-learning-model' if is_model else 'application', 'bom-ref': 'controller',
        'name': name, 'version': (sut.version if sut and sut.version else 'unknown'),
        'description': facts.about,
        **({'hashes': [_hash(sut.source)]} if sut and sut.source and not artifacts else {}),
        **({'modelCard': _model_card(facts)} if is_model else {}),
        'properties': [
            {'name': f'safety_scenarios:{key}', 'value': str(value)} for key, value in (
                *facts.summary.verdicts.items(), ('verdict', facts.summary.verdict.value),
                ('manifest_sha256', facts.manifest), ('flaws', '; '.join(facts.flaws) or 'none'))]}
    return {
        'bomFormat': 'CycloneDX', 'specVersion': _CYCLONEDX, 'version': 1,
        'serialNumber': f'urn:uuid:{facts.identifier("bom")}',
        'metadata': {
            'timestamp': facts.ended or facts.started, 'component': main, 'tools': {'components': [
                {'type': 'application', 'name': 'safety_scenarios', 'version': facts.version}]}},
        'components': [_component(one) for one in artifacts],
        'dependencies': [{'ref': 'controller', 'dependsOn': [_ref(one) for one in artifacts]},
                         *({'ref': _ref(one)} for one in artifacts)]}


def _is_model(artifact: Artifact) -> bool:
    return artifact.name.lower().endswith(_MODELS)


def _ref(artifact: Artifact) -> str:
    return f'sha256:{artifact.sha256}:{artifact.name}'


def _hash(sha256: str) -> dict[str, str]:
    return {'alg': 'SHA-256', 'content': sha256}


def _component(artifact: Artifact) -> dict[str, Any]:
    kind = 'machine-learning-model' if _is_model(artifact) else 'file'
    return {'type': kind, 'bom-ref': _ref(artifact), 'name': artifact.name,
            'hashes': [_hash(artifact.sha256)], 'properties': [
                {'name': 'safety_scenarios:given_by', 'value': artifact.given_by},
                {'name': 'safety_scenarios:bytes', 'value': str(artifact.size)}]}


def _model_card(facts: _Facts) -> dict[str, Any]:
    """Return the figures of the campaign, with intervals, as a model card has them."""
    one = facts.summary
    measured = [_metric('hazards missed (share)', one.missed.share),
                _metric('false stops (share)', one.false_stops.share),
                *(_metric('reaction, upper bound of p99 (ms)', row.upper_ms, row.scenario_id)
                  for row in one.scenarios)]
    undecided = sum(not result.is_decided for result in facts.results)
    return {
        'modelParameters': {'task': 'robot control'},
        'quantitativeAnalysis': {'performanceMetrics': [
            found for found in measured if found is not None]},
        'considerations': {
            'useCases': [facts.about],
            'technicalLimitations': [
                *([f'{counted(undecided, "trial")} could not be judged'] if undecided else []),
                *facts.flaws, 'The figures are about the scenarios that were run, and no others']}}


def _metric(name: str, estimate: Estimate, part: str = '') -> dict[str, Any] | None:
    if estimate.value is None:
        return None
    bounds = {key: rounded(value, 6) for key, value, rounded in (
        ('lowerBound', estimate.low, figures_down), ('upperBound', estimate.high, figures_up))
        if value is not None}
    return {'type': name, 'value': f'{estimate.value:.6g}', 'slice': part or
            f'n={estimate.n}', **({'confidenceInterval': bounds} if bounds else {})}
