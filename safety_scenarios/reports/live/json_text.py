# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Events, verdicts and campaigns as JSON objects, and any text as one that can be shown."""

from collections.abc import Mapping
import json
from typing import Any

from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import Trial

EVENT, VERDICT, CAMPAIGN = ('safety_scenarios/event/1', 'safety_scenarios/verdict/1',
                            'safety_scenarios/campaign/1')
"""What the key ``schema`` of each object says."""
_LONGEST = 4000
"""Characters of one text; the whole is in the record."""
_MOST_FINDINGS = 50
_WORTH = frozenset(('mark', 'fault', 'say', 'tool_call', 'tool_result', 'call', 'call_state',
                    'undeclared', 'output', 'response', 'lost', 'reached', 'stall'))
"""Kinds of events of which each is told; commands, feedback and truth are streams, and are not."""


def is_worth_telling(event: Event) -> bool:
    """Return whether an event is told one by one; of a stimulus that is decided elsewhere."""
    return event.kind in _WORTH


def shown(text: str, most: int = _LONGEST) -> str:
    """
    Return a text as one line in which nothing acts: control characters become escapes.

    Those that change the direction of writing too: they would let a name look like another one.
    """
    cut = text if len(text) <= most else text[:most - 3] + '...'
    return ''.join(one if one.isprintable() else _escape(one) for one in cut)


def _escape(one: str) -> str:
    if one in '\n\r\t':
        return ' '
    return f'\\u{ord(one):04x}' if ord(one) < 0x10000 else f'\\U{ord(one):08x}'


def number_of(trial: Trial | TrialResult) -> str:
    """Return which of the trials of its scenario it is, in words."""
    return f'warm-up {-trial.index}' if trial.warmup else f'trial {trial.index + 1}'


def of_event(trial: Trial, event: Event, since_ns: int) -> Mapping[str, Any]:
    """
    Return an event worth telling as a JSON object; what it does not have is left out.

    :param since_ns: steady time since the trial's first event
    """
    stamps = event.stamps
    found: dict[str, Any] = {
        'schema': EVENT, 'trial': trial.trial_id, 'scenario': trial.scenario.id,
        'kind': event.kind, 'name': event.name, 't_ms': round(since_ns / 1e6, 3),
        'steady_ns': stamps.steady_ns, 'system_ns': stamps.system_ns, 'ros_ns': stamps.ros_ns}
    for key in ('text', 'agent', 'symbol', 'arguments'):
        value = getattr(event, key)
        if value is not None:
            found[key] = _cut(value)
    if event.kind == 'stimulus':
        found['hazard'] = event.hazard
        found.update({key: value for key, value in event.truth.items() if key == 'distance'})
    return found


def of_result(result: TrialResult, ended: int, planned: int) -> Mapping[str, Any]:
    """Return what a trial came to as a JSON object: of its findings those that do not pass."""
    latency = result.latency
    reaction = None if latency is None else latency.reaction
    return {
        'schema': VERDICT, 'trial': result.trial_id, 'scenario': result.scenario_id,
        'scenario_name': _cut(result.scenario_name), 'index': result.index,
        'warmup': result.warmup, 'controller': _cut(result.controller), 'seed': result.seed,
        'verdict': result.verdict.value, 'reason': _cut(result.reason),
        'latency_ms': None if reaction is None else reaction.judged_ns / 1e6,
        'uncertainty_ms': None if reaction is None else reaction.uncertainty_ns / 1e6,
        'latency_class': None if latency is None else latency.latency_class.value,
        'margin': None if (worst := _worst(result)) is None else worst[0],
        'margin_unit': None if worst is None else worst[1],
        'findings': [{
            'check': finding.check, 'kind': finding.kind, 'verdict': finding.verdict.value,
            'reason': _cut(finding.reason), 'margin': finding.margin, 'unit': finding.unit,
            'at_ms': finding.at_ms} for finding in result.findings
            if finding.verdict not in (None, Verdict.PASS) and finding.verdict][:_MOST_FINDINGS],
        'ended': ended, 'planned': planned}


def _worst(result: TrialResult) -> tuple[float, str | None] | None:
    """Return the least margin in the unit of the finding that decides, None without a number."""
    known = [(finding.margin, finding.unit) for finding in result.findings
             if finding.margin is not None and finding.verdict is result.verdict]
    units = {unit for _, unit in known}
    return min(known, key=lambda one: one[0]) if len(units) == 1 else None


def of_summary(summary: CampaignSummary) -> Mapping[str, Any]:
    """Return what a campaign came to as a JSON object."""
    return {
        'schema': CAMPAIGN, 'controller': _cut(summary.controller), 'link': summary.link,
        'verdict': summary.verdict.value, 'verdicts': summary.verdicts,
        'completed': summary.completed, 'planned': summary.planned,
        'interrupted': summary.interrupted, 'exit_code': summary.exit_code}


def to_text(found: Mapping[str, Any]) -> str:
    """
    Return an object as JSON in ASCII, in which no character acts.

    What is no number in JSON (an infinite margin) is null.
    """
    return json.dumps(_finite(found))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not -1e308 < value < 1e308:
        return None
    return value


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST - 3] + '...'
