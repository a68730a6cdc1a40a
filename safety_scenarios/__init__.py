# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Does the model that drives a robot react in time, and safely? Scenarios, measured and judged.

The names below are what Python users build on; each is imported when it is first used, so that
``import safety_scenarios`` takes no time and needs nothing. See ``doc/manual/ci.md``.
"""

from importlib import import_module
from typing import Any, TYPE_CHECKING

from safety_scenarios.dependencies import require as _require

if TYPE_CHECKING:
    from safety_scenarios.campaign.folder.evidence import verify as verify
    from safety_scenarios.campaign.plugin_roles import Controller as Controller
    from safety_scenarios.campaign.rejudging.rejudge import rejudge as rejudge
    from safety_scenarios.campaign.rejudging.rejudge import Rejudged as Rejudged
    from safety_scenarios.errors import ControllerError as ControllerError
    from safety_scenarios.errors import InputError as InputError
    from safety_scenarios.errors import MeasurementError as MeasurementError
    from safety_scenarios.errors import MissingDependencyError as MissingDependencyError
    from safety_scenarios.errors import SafetyScenariosError as SafetyScenariosError
    from safety_scenarios.errors import ScenarioError as ScenarioError
    from safety_scenarios.errors import SettingsError as SettingsError
    from safety_scenarios.errors import UnknownPluginError as UnknownPluginError
    from safety_scenarios.formats.loading import load_scenario as load_scenario
    from safety_scenarios.formats.loading import load_scenarios as load_scenarios
    from safety_scenarios.from_python import CampaignResults as CampaignResults
    from safety_scenarios.from_python import run as run
    from safety_scenarios.judging.evaluate import evaluate as evaluate
    from safety_scenarios.judging.judged_trial import JudgedTrial as JudgedTrial
    from safety_scenarios.scenario.controller import ControllerPlugin as ControllerPlugin
    from safety_scenarios.scenario.controller import ControllerSpec as ControllerSpec
    from safety_scenarios.scenario.conversation import Turn as Turn
    from safety_scenarios.scenario.conversation import Utterance as Utterance
    from safety_scenarios.scenario.driver import DriverPlugin as DriverPlugin
    from safety_scenarios.scenario.event import Event as Event
    from safety_scenarios.scenario.event import Stamps as Stamps
    from safety_scenarios.scenario.invariant import InvariantPlugin as InvariantPlugin
    from safety_scenarios.scenario.message import ChatMessage as ChatMessage
    from safety_scenarios.scenario.message import Command as Command
    from safety_scenarios.scenario.message import CommandStamps as CommandStamps
    from safety_scenarios.scenario.message import Message as Message
    from safety_scenarios.scenario.message import Observation as Observation
    from safety_scenarios.scenario.message import Reading as Reading
    from safety_scenarios.scenario.result import Finding as Finding
    from safety_scenarios.scenario.result import TrialResult as TrialResult
    from safety_scenarios.scenario.robot_kind import RobotKind as RobotKind
    from safety_scenarios.scenario.scenario import Scenario as Scenario
    from safety_scenarios.scenario.settings import ControllerContext as ControllerContext
    from safety_scenarios.scenario.settings import ControllerSettings as ControllerSettings
    from safety_scenarios.scenario.settings import RunSettings as RunSettings
    from safety_scenarios.scenario.stimulus import BodyIntent as BodyIntent
    from safety_scenarios.scenario.stimulus import Intent as Intent
    from safety_scenarios.scenario.stimulus import Stimulus as Stimulus
    from safety_scenarios.scenario.stimulus import StimulusContext as StimulusContext
    from safety_scenarios.scenario.stimulus import StimulusPlugin as StimulusPlugin
    from safety_scenarios.scenario.verdict import LatencyClass as LatencyClass
    from safety_scenarios.scenario.verdict import Verdict as Verdict
    from safety_scenarios.scenario.world_body import Body as Body
    from safety_scenarios.scenario.world_body import Motion as Motion
    from safety_scenarios.scenario.world_body import Solid as Solid
    from safety_scenarios.trial.link import ForwardingLink as ForwardingLink
    from safety_scenarios.trial.link import Link as Link
    from safety_scenarios.trial.link import LinkPlan as LinkPlan
    from safety_scenarios.trial.links.loopback import LoopbackLink as LoopbackLink
    from safety_scenarios.trial.links.loopback_session import Loopback as Loopback
    from safety_scenarios.trial.plan import plan as plan
    from safety_scenarios.trial.run import run_trial as run_trial
    from safety_scenarios.trial.session import Beginning as Beginning
    from safety_scenarios.trial.session import LinkPlugin as LinkPlugin
    from safety_scenarios.trial.session import Observer as Observer
    from safety_scenarios.trial.session import OutputContext as OutputContext
    from safety_scenarios.trial.session import Session as Session
    from safety_scenarios.trial.session import TraceContext as TraceContext
    from safety_scenarios.trial.summary import CampaignSummary as CampaignSummary
    from safety_scenarios.trial.trial import Trial as Trial
    from safety_scenarios.trial.trial import TrialRecord as TrialRecord

_WHERE = {
    'from_python': ('CampaignResults', 'run'),
    'campaign.rejudging.rejudge': ('rejudge', 'Rejudged'),
    'campaign.folder.evidence': ('verify',),
    'judging.evaluate': ('evaluate',),
    'judging.judged_trial': ('JudgedTrial',),
    'trial.plan': ('plan',),
    'trial.run': ('run_trial',),
    'errors': ('ControllerError', 'InputError', 'MeasurementError', 'MissingDependencyError',
               'SafetyScenariosError', 'ScenarioError', 'SettingsError', 'UnknownPluginError'),
    'trial.links.loopback': ('LoopbackLink',),
    'trial.links.loopback_session': ('Loopback',),
    'formats.loading': ('load_scenario', 'load_scenarios'),
    'campaign.plugin_roles': ('Controller',),
    'scenario.controller': ('ControllerPlugin', 'ControllerSpec'),
    'scenario.conversation': ('Turn', 'Utterance'),
    'scenario.event': ('Event', 'Stamps'),
    'scenario.invariant': ('InvariantPlugin',),
    'trial.link': ('ForwardingLink', 'Link', 'LinkPlan'),
    'scenario.message': (
        'ChatMessage', 'Command', 'CommandStamps', 'Message', 'Observation', 'Reading'),
    'scenario.result': ('Finding', 'TrialResult'),
    'scenario.verdict': ('LatencyClass', 'Verdict'),
    'scenario.scenario': ('Scenario',),
    'trial.session': ('Beginning', 'LinkPlugin', 'Observer', 'OutputContext', 'Session',
                      'TraceContext'),
    'scenario.settings': ('ControllerContext', 'ControllerSettings', 'RunSettings'),
    'scenario.stimulus': ('BodyIntent', 'Intent', 'Stimulus', 'StimulusContext',
                          'StimulusPlugin'),
    'trial.summary': ('CampaignSummary',),
    'trial.trial': ('Trial', 'TrialRecord'),
    'scenario.world_body': ('Body', 'Motion', 'Solid'),
    'scenario.robot_kind': ('RobotKind',),
    'scenario.driver': ('DriverPlugin',),
}
"""Module to the public names in it: what the block above tells type checkers."""
_MODULES = {name: module for module, names in _WHERE.items() for name in names}
__all__ = [
    'Beginning', 'Body', 'BodyIntent', 'CampaignResults', 'CampaignSummary', 'ChatMessage',
    'Command', 'CommandStamps', 'Controller', 'ControllerContext', 'ControllerError',
    'ControllerPlugin', 'ControllerSettings', 'ControllerSpec', 'DriverPlugin', 'Event', 'Finding',
    'ForwardingLink', 'InputError', 'Intent', 'InvariantPlugin', 'JudgedTrial', 'LatencyClass',
    'Link', 'LinkPlan', 'LinkPlugin', 'Loopback', 'LoopbackLink', 'MeasurementError', 'Message',
    'MissingDependencyError', 'Motion', 'Observation', 'Observer', 'OutputContext', 'Reading',
    'Rejudged', 'RobotKind', 'RunSettings', 'SafetyScenariosError', 'Scenario', 'ScenarioError',
    'Session', 'SettingsError', 'Solid', 'Stamps', 'Stimulus', 'StimulusContext', 'StimulusPlugin',
    'TraceContext', 'Trial', 'TrialRecord', 'TrialResult', 'Turn', 'UnknownPluginError',
    'Utterance', 'Verdict', 'evaluate', 'load_scenario', 'load_scenarios', 'plan', 'rejudge',
    'run', 'run_trial', 'verify']
"""Spelt out for linters and type checkers."""

if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used."""
        if name not in _MODULES:
            raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
        _require()
        found = getattr(import_module(f'{__name__}.{_MODULES[name]}'), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        """Return the public names, for completion."""
        return list(__all__)
