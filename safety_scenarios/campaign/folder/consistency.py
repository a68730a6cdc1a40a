# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a campaign's folder tells beside its records, held against what they give."""

from collections.abc import Iterator, Mapping
import json
from typing import Any

from safety_scenarios.campaign.folder.reading import Settings
from safety_scenarios.scenario.blocks.traceability import Traceability
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.trial.summary import CampaignSummary

_FIRST = ('verdict', 'exit_code', 'planned', 'completed', 'verdicts', 'interrupted')
"""Of a summary: what matters in any folder, and is told first."""
_MOST = 10
_LONGEST = 80


def other_than_found(told: CampaignSummary, found: CampaignSummary, *,
                     entirely: bool) -> Iterator[str]:
    """
    Yield what a summary tells otherwise than the records give it.

    :param told: as it stands in the folder
    :param entirely: every number of it; False where something else is wrong with the folder, or
        another version wrote it
    """
    got, expected = (json.loads(one.model_dump_json()) for one in (told, found))
    names = [*_FIRST, *(expected.keys() | got.keys()).difference(_FIRST)] if entirely else _FIRST
    different = [text for name in names for text in _different(
        name, got.get(name), expected.get(name))]
    yield from different[:_MOST]
    if len(different) > _MOST:
        yield f'got {len(different) - _MOST} more values, expected others'


def unlike_settings(settings: Settings, result: TrialResult) -> str:
    """Return what ``settings.json`` says of a trial's scenario that its record does not."""
    if settings.scenarios.get(result.scenario_id) is None:
        return ''  # it came from no file, so nothing is said of it
    named = settings.traceability.get(result.scenario_id, Traceability())
    if named == result.traceability:
        return ''
    return (f'scenarios: {result.scenario_id}: got {_labels(named)}, expected '
            f'{_labels(result.traceability)} by the record of {result.trial_id}')


def _labels(named: Traceability) -> str:
    return ', '.join(f'{kind} {label}' for kind, label in named.labels)[:_LONGEST] or 'no label'


def _different(place: str, got: Any, expected: Any) -> Iterator[str]:
    """Yield each number or text that differs, with where it stands."""
    if isinstance(got, Mapping) and isinstance(expected, Mapping):
        for name in sorted(got.keys() | expected.keys()):
            yield from _different(f'{place}.{name}', got.get(name), expected.get(name))
    elif isinstance(got, list) and isinstance(expected, list) and len(got) == len(expected):
        for number, (one, other) in enumerate(zip(got, expected, strict=True)):
            yield from _different(f'{place}[{number}]', one, other)
    elif got != expected:
        yield f'got {place} {str(got)[:_LONGEST]}, expected {str(expected)[:_LONGEST]}'
