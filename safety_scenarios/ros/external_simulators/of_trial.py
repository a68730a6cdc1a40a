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

"""What the stimuli of a trial ask of a world: bodies that come, sensors that fail."""

from collections.abc import Collection

from safety_scenarios.model.intent import Intent, ObstacleAt, Silence, StreamFault
from safety_scenarios.model.stimulus import StimulusContext
from safety_scenarios.model.trial import Trial
from safety_scenarios.ros.external_simulators.bodies import bodies_of
from safety_scenarios.ros.external_simulators.course import Course
from safety_scenarios.ros.external_simulators.falls import fall_of
from safety_scenarios.ros.external_simulators.sensors import SCAN
from safety_scenarios.ros.external_simulators.truth import Shown


def bodies_of_trial(trial: Trial) -> dict[tuple[bool, str], list[Shown]]:
    """
    Return what the intents of a trial put there; equal ones put it there once.

    :return: by whether it belongs to the hazard, and the intent as JSON
    """
    context = StimulusContext(trial.trial_id, trial.scenario.messages, None)
    intents: dict[tuple[bool, str], tuple[Intent, bool]] = {}
    for hazard, plugins in ((False, trial.nominal), (True, trial.hazard)):
        for plugin in plugins:
            intent = plugin.intent(context)
            if intent is not None:
                key = hazard, intent.model_dump_json()
                was_seen = intents[key][1] if key in intents else False
                intents[key] = intent, was_seen or plugin.interface() == SCAN
    found: dict[tuple[bool, str], list[Shown]] = {}
    for key, (intent, is_seen) in intents.items():
        is_glass = isinstance(intent, ObstacleAt) and intent.is_glass and is_seen
        bodies = [Shown('', body, Course(intent, place, is_kept=not key[0]), is_glass=is_glass,
                        fall=fall_of(intent, is_seen))
                  for place, body in enumerate(bodies_of(intent, is_seen))]
        if bodies:
            found[key] = bodies
    return found


def failures_of_trial(trial: Trial, topics: Collection[str]) -> set[str]:
    """
    Return the topics of sensors of the world that are to fail.

    :param topics: those that the world publishes
    """
    context = StimulusContext(trial.trial_id, trial.scenario.messages, None)
    return {plugin.topic for plugin in (*trial.nominal, *trial.hazard) if plugin.topic in topics
            and isinstance(plugin.intent(context), StreamFault | Silence)}
