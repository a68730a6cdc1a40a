# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which topic of a scenario a controller hears by which of the names it knows."""

from collections.abc import Iterator, Mapping, Sequence

from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.simulated_robot import simulated_robot


def shown_topics(scenario: Scenario) -> tuple[str, ...]:
    """Return every topic on which a scenario or its robot shows something, as topic:type."""
    body = scenario.body
    shown = _shown(scenario, body) if isinstance(body, RobotBody) else ()
    return tuple(dict.fromkeys(f'{topic}:{interface}' for topic, interface in shown))


def _shown(scenario: Scenario, body: RobotBody) -> Iterator[tuple[str, str]]:
    for plugin in body.published:
        interface = plugin.interface()
        if interface is not None:
            yield plugin.topic, interface
    robot = simulated_robot(scenario)
    if robot is not None:
        yield from robot.feedback.items()
    if body.world is not None and body.world.camera is not None:
        yield from body.world.camera.interfaces.items()


def heard_as(inputs: Mapping[str, str], shown: Sequence[str]) -> Mapping[str, str]:
    """
    Return the name of each input to the topic that is heard by it.

    An input whose name no topic has is the one of its type whose last part is its name. Where
    several could be meant none is, and a type alone means nothing: a pose may be a goal.

    :param inputs: relative topic name to interface type
    :param shown: topics as topic:type
    """
    topics = dict(entry.partition(':')[::2] for entry in shown)
    found = {name: name for name in inputs}
    for name, interface in inputs.items():
        if name in topics:
            continue
        meant = [topic for topic, kind in topics.items()
                 if kind == interface and topic.rpartition('/')[2] == name]
        if len(meant) == 1:
            found[name] = meant[0]
    return found
