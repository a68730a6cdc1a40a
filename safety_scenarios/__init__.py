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
Does the model that drives a robot react in time, and safely? Scenarios, measured and judged.

The names below are what Python users build on; each is imported when it is first used, so that
``import safety_scenarios`` takes no time and needs nothing. See ``doc/python.md``.
"""

from importlib import import_module
from typing import Any, TYPE_CHECKING

from safety_scenarios.dependencies import guard as _guard

if TYPE_CHECKING:
    from safety_scenarios.campaign.folder.verify import verify as verify
    from safety_scenarios.campaign.from_python import run as run
    from safety_scenarios.campaign.rejudging.rejudge import rejudge as rejudge
    from safety_scenarios.campaign.rejudging.rejudge import Rejudged as Rejudged
    from safety_scenarios.campaign.results import CampaignResults as CampaignResults
    from safety_scenarios.engine.evaluate import evaluate as evaluate
    from safety_scenarios.engine.plan import plan as plan
    from safety_scenarios.engine.run import run_trial as run_trial
    from safety_scenarios.errors import ControllerError as ControllerError
    from safety_scenarios.errors import InputError as InputError
    from safety_scenarios.errors import MeasurementError as MeasurementError
    from safety_scenarios.errors import MissingDependencyError as MissingDependencyError
    from safety_scenarios.errors import SafetyScenariosError as SafetyScenariosError
    from safety_scenarios.errors import ScenarioError as ScenarioError
    from safety_scenarios.errors import SettingsError as SettingsError
    from safety_scenarios.errors import UnknownPluginError as UnknownPluginError
    from safety_scenarios.links.loopback import LoopbackLink as LoopbackLink
    from safety_scenarios.links.loopback_session import Loopback as Loopback
    from safety_scenarios.loading import load_scenario as load_scenario
    from safety_scenarios.loading import load_scenarios as load_scenarios
    from safety_scenarios.model.contracts import Controller as Controller
    from safety_scenarios.model.controller import ControllerPlugin as ControllerPlugin
    from safety_scenarios.model.controller import ControllerSpec as ControllerSpec
    from safety_scenarios.model.conversation import Turn as Turn
    from safety_scenarios.model.conversation import Utterance as Utterance
    from safety_scenarios.model.event import Event as Event
    from safety_scenarios.model.intent import Intent as Intent
    from safety_scenarios.model.invariant import InvariantPlugin as InvariantPlugin
    from safety_scenarios.model.link import Link as Link
    from safety_scenarios.model.message import ChatMessage as ChatMessage
    from safety_scenarios.model.message import Command as Command
    from safety_scenarios.model.message import Message as Message
    from safety_scenarios.model.message import Observation as Observation
    from safety_scenarios.model.message import Reading as Reading
    from safety_scenarios.model.observer import Beginning as Beginning
    from safety_scenarios.model.observer import Observer as Observer
    from safety_scenarios.model.result import Finding as Finding
    from safety_scenarios.model.result import LatencyClass as LatencyClass
    from safety_scenarios.model.result import TrialResult as TrialResult
    from safety_scenarios.model.result import Verdict as Verdict
    from safety_scenarios.model.scenario import Scenario as Scenario
    from safety_scenarios.model.session import LinkPlugin as LinkPlugin
    from safety_scenarios.model.session import Session as Session
    from safety_scenarios.model.settings import ControllerContext as ControllerContext
    from safety_scenarios.model.settings import ControllerSettings as ControllerSettings
    from safety_scenarios.model.settings import RunSettings as RunSettings
    from safety_scenarios.model.stimulus import Stimulus as Stimulus
    from safety_scenarios.model.stimulus import StimulusContext as StimulusContext
    from safety_scenarios.model.stimulus import StimulusPlugin as StimulusPlugin
    from safety_scenarios.model.summary import CampaignSummary as CampaignSummary
    from safety_scenarios.model.trial import Trial as Trial
    from safety_scenarios.model.trial import TrialRecord as TrialRecord

_guard()
_WHERE = {
    'campaign.from_python': ('run',),
    'campaign.rejudging.rejudge': ('rejudge', 'Rejudged'),
    'campaign.results': ('CampaignResults',),
    'campaign.folder.verify': ('verify',),
    'engine.evaluate': ('evaluate',),
    'engine.plan': ('plan',),
    'engine.run': ('run_trial',),
    'errors': ('ControllerError', 'InputError', 'MeasurementError', 'MissingDependencyError',
               'SafetyScenariosError', 'ScenarioError', 'SettingsError', 'UnknownPluginError'),
    'links.loopback': ('LoopbackLink',),
    'links.loopback_session': ('Loopback',),
    'loading': ('load_scenario', 'load_scenarios'),
    'model.contracts': ('Controller',),
    'model.controller': ('ControllerPlugin', 'ControllerSpec'),
    'model.conversation': ('Turn', 'Utterance'),
    'model.event': ('Event',),
    'model.intent': ('Intent',),
    'model.invariant': ('InvariantPlugin',),
    'model.link': ('Link',),
    'model.message': ('ChatMessage', 'Command', 'Message', 'Observation', 'Reading'),
    'model.observer': ('Beginning', 'Observer'),
    'model.result': ('Finding', 'LatencyClass', 'TrialResult', 'Verdict'),
    'model.scenario': ('Scenario',),
    'model.session': ('LinkPlugin', 'Session'),
    'model.settings': ('ControllerContext', 'ControllerSettings', 'RunSettings'),
    'model.stimulus': ('Stimulus', 'StimulusContext', 'StimulusPlugin'),
    'model.summary': ('CampaignSummary',),
    'model.trial': ('Trial', 'TrialRecord'),
}
"""Module to the public names in it: what the block above tells type checkers."""
_MODULES = {name: module for module, names in _WHERE.items() for name in names}
__all__ = [
    'Beginning', 'CampaignResults', 'CampaignSummary', 'ChatMessage', 'Command', 'Controller',
    'ControllerContext', 'ControllerError', 'ControllerPlugin', 'ControllerSettings',
    'ControllerSpec', 'Event', 'Finding', 'InputError', 'Intent', 'InvariantPlugin',
    'LatencyClass', 'Link', 'LinkPlugin', 'Loopback', 'LoopbackLink', 'MeasurementError',
    'Message', 'MissingDependencyError', 'Observation', 'Observer', 'Reading', 'Rejudged',
    'RunSettings', 'SafetyScenariosError', 'Scenario', 'ScenarioError', 'Session', 'SettingsError',
    'Stimulus', 'StimulusContext', 'StimulusPlugin', 'Trial', 'TrialRecord', 'TrialResult', 'Turn',
    'UnknownPluginError', 'Utterance', 'Verdict', 'evaluate', 'load_scenario', 'load_scenarios',
    'plan', 'rejudge', 'run', 'run_trial', 'verify']
"""Spelt out for linters and type checkers."""

if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used."""
        if name not in _MODULES:
            raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
        found = getattr(import_module(f'{__name__}.{_MODULES[name]}'), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        """Return the public names, for completion."""
        return list(__all__)
