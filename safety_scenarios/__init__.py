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

"""Does the model that drives a robot react in time, and safely? Scenarios, measured and judged."""

from safety_scenarios.engine.evaluate import evaluate
from safety_scenarios.engine.plan import plan
from safety_scenarios.engine.run import run_trial
from safety_scenarios.errors import InputError, SafetyScenariosError, ScenarioError
from safety_scenarios.loading import load_scenario, load_scenarios
from safety_scenarios.model.event import Event
from safety_scenarios.model.result import Finding, LatencyClass, TrialResult, Verdict
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.summary import CampaignSummary
from safety_scenarios.model.trial import Trial, TrialRecord

__all__ = [
    'CampaignSummary', 'Event', 'Finding', 'InputError', 'LatencyClass', 'SafetyScenariosError',
    'Scenario', 'ScenarioError', 'Trial', 'TrialRecord', 'TrialResult', 'Verdict', 'evaluate',
    'load_scenario', 'load_scenarios', 'plan', 'run_trial']
