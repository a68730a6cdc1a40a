# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the stimuli of a trial ask of a world: bodies that come, sensors that fail."""

from collections.abc import Collection

from safety_scenarios.ros.worlds.external.bodies import Course, fall_of, models_of
from safety_scenarios.ros.worlds.external.sensors import SCAN
from safety_scenarios.ros.worlds.external.truth import Shown
from safety_scenarios.scenario.intent import Intent, Silence, StreamFault
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.trial.trial import Trial


def bodies_of_trial(trial: Trial) -> dict[tuple[bool, str], list[Shown]]:
    """
    Return what the intents of a trial put there; equal ones put it there once.

    :return: by whether it belongs to the hazard, and the intent as JSON
    """
    context = StimulusContext(trial.trial_id, trial.scenario.messages, None)
    intents: dict[tuple[bool, str], tuple[Intent, bool]] = {}
    for hazard, plugins in ((False, trial.harmless), (True, trial.hazard)):
        for plugin in plugins:
            intent = plugin.intent(context)
            if intent is not None:
                key = hazard, intent.model_dump_json()
                was_seen = intents[key][1] if key in intents else False
                intents[key] = intent, was_seen or plugin.interface() == SCAN
    found: dict[tuple[bool, str], list[Shown]] = {}
    for key, (intent, is_seen) in intents.items():
        bodies = [Shown('', model, Course(body, is_kept=not key[0]),
                        is_glass=body.is_glass and is_seen, fall=fall_of(body, is_seen))
                  for body, model in zip(intent.bodies(), models_of(intent, is_seen),
                                         strict=True)]
        if bodies:
            found[key] = bodies
    return found


def failures_of_trial(trial: Trial, topics: Collection[str]) -> set[str]:
    """
    Return the topics of sensors of the world that are to fail.

    :param topics: those that the world publishes
    """
    context = StimulusContext(trial.trial_id, trial.scenario.messages, None)
    return {plugin.topic for plugin in (*trial.harmless, *trial.hazard) if plugin.topic in topics
            and isinstance(plugin.intent(context), StreamFault | Silence)}
