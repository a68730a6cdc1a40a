# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The configuration of an arm as it took effect: controller, parameters, files and settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from safety_scenarios.campaign.folder.folder import settings_of
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.dotted_names import flat
from safety_scenarios.scenario.settings import EXTERNAL, RunSettings
from safety_scenarios.studies.matrix.file import is_label, MAY_DIFFER
from safety_scenarios.trial.identity import Identity

_HASH = 'SHA-256 of '


@dataclass(frozen=True)
class Effective:
    """What tells an arm from others, by name to value; what has its default is left out."""

    shown: Mapping[str, str]
    judged: Mapping[str, str]
    """Without what makes no other controller: equal ones are one arm, whatever their names. A
    model counts by its content, not by the name of its file."""

    @classmethod
    def of(cls, spec: ControllerSpec, identity: Identity | None,
           settings: RunSettings) -> 'Effective':
        """Return it as plan and settings of a campaign say it."""
        files = () if identity is None else identity.artifacts
        default = dict(flat(RunSettings().model_dump(mode='json')))
        chosen = {name: str(value) for name, value in flat(settings.model_dump(mode='json'))
                  if name.partition('.')[0] in MAY_DIFFER and default.get(name) != value
                  and name not in ('controller', 'controller_parameters')}
        own = {f'controller.{name}': str(value) for name, value in spec.parameters.items()}
        shown = {'controller': spec.name, **own,
                 **{f'{_HASH}{one.name}': one.sha256 for one in files}, **chosen}
        is_file = any(one.given_by == 'controller' for one in files)
        judged = {
            'controller': spec.name.partition(':')[0] if is_file else spec.name,
            **{name: value for name, value in own.items() if not any(
                one.given_by == name for one in files)},
            'files': ' '.join(sorted(one.sha256 for one in files)),
            **{name: value for name, value in chosen.items()
               if spec.name == EXTERNAL or not is_label(name)}}
        return cls(shown, judged)


def effective_in(folder: Path) -> Effective:
    """
    Return that of a campaign that was run.

    :raises SettingsError: the folder is none of a campaign
    """
    settings = settings_of(folder)
    return Effective.of(settings.controller, settings.sut, settings.run)
