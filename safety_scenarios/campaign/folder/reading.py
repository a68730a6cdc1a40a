# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Reading what a campaign has left: its settings with its plan, and its own summary."""

from collections.abc import Mapping
from dataclasses import dataclass, field
import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from safety_scenarios.campaign.folder.folder import refuse_pipes, SETTINGS, SUMMARY
from safety_scenarios.errors import SettingsError, TraceError
from safety_scenarios.scenario.blocks.traceability import Traceability
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.identity import Identity
from safety_scenarios.trial.record.planned_trial import PlannedTrial
from safety_scenarios.trial.summary import CampaignSummary


@dataclass(frozen=True)
class Settings:
    """What of a campaign's ``settings.json`` judging needs."""

    run: RunSettings
    raw: Mapping[str, Any]
    """The same as it stands there, with what this version adds left out."""
    controller: ControllerSpec
    source: str | None
    """SHA-256 of the controller's source; None when nobody knows it."""
    scenarios: Mapping[str, str | None]
    """Id to SHA-256 of those that came from files."""
    plan: tuple[PlannedTrial, ...] | None
    """None where it was taken out of the file."""
    version: str | None
    """Of this package, when the campaign was run."""
    onset: str = ''
    """When the hazard is there, if a recording of somebody else was judged."""
    sut: Identity | None = None
    """What told the controller from others before the first trial."""
    traceability: Mapping[str, Traceability] = field(default_factory=dict)
    """Id to what a scenario is evidence for, of those that came from files."""


def settings_of(folder: Path) -> Settings:
    """
    Return what a campaign was run with.

    :raises SettingsError: the folder is not that of a campaign
    """
    path = folder / SETTINGS
    refuse_pipes(folder)
    try:
        data = json.loads(path.read_text(encoding='utf-8'))
        return Settings(RunSettings.model_validate_json(json.dumps(data['settings'])),
                        data['settings'], _spec(data),
                        data.get('controller', {}).get('sha256'),
                        {str(found['id']): found.get('sha256') for found in data['scenarios']},
                        None if 'plan' not in data else tuple(
                            PlannedTrial.model_validate(found) for found in data['plan']),
                        data.get('versions', {}).get('safety_scenarios'),
                        onset=str(data.get('recording', {}).get('onset', '')),
                        sut=None if 'sut' not in data else
                        Identity.model_validate_json(json.dumps(data['sut'])),
                        traceability={str(found['id']): Traceability.model_validate_json(
                            json.dumps(found.get('traceability') or {}))
                            for found in data['scenarios']})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingsError(f'{path}: cannot be read: {str(error)[:300]}. Name the folder of a '
                            f'campaign') from None


def _spec(data: Mapping[str, Any]) -> ControllerSpec:
    """Return which controller it was."""
    known = {'name': data['settings']['controller'], **data.get('controller', {})}
    return ControllerSpec.model_validate(
        {name: known[name] for name in ControllerSpec.model_fields if name in known})


def ended(folder: Path) -> CampaignSummary | None:
    """
    Return the summary that the campaign wrote, None if it never came to that.

    :raises TraceError: it cannot be read
    """
    path = folder / SUMMARY
    if not path.exists():
        return None
    try:
        return CampaignSummary.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise TraceError(f'{path}: cannot be read: {str(error)[:300]}') from None
