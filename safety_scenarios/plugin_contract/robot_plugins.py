# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Contracts of what is in the world: intents with a body, and kinds of robots."""

from collections.abc import Mapping, Sequence
import importlib.util
from typing import Any, ClassVar
from unittest import SkipTest

import numpy
from safety_scenarios import registry
from safety_scenarios.plugin_contract.contract import PluginContract
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.driver import Commanded, DriverPlugin, Execution
from safety_scenarios.scenario.interfaces import command_message
from safety_scenarios.scenario.message import Command
from safety_scenarios.scenario.robot_kind import RobotKind
from safety_scenarios.scenario.stimulus import (
    BodyIntent,
    Intent,
    LASER_SCAN,
    POSE,
    read_intent,
    StimulusContext,
)
from safety_scenarios.scenario.verdict import Verdict

_ORIGIN = (0.0, 0.0, 0.0)
_TOLERANCE_M = 1e-6
_FOREIGN_M = 0.5
"""So far a distance in a world may be from that of the intent: it is of the closest moment."""
_AGES_NS = (0, 10**9, 10**10)


class IntentContract(PluginContract):
    """An intent with a body in the world; ``scenario`` has a stimulus with it."""

    kind = 'intents'

    @classmethod
    def examples(cls) -> Sequence[tuple[str, BodyIntent]]:
        """Return the topic and the intent of each such stimulus in the scenario."""
        trial = cls.once().records[0].trial
        context = StimulusContext(trial.trial_id, trial.scenario.messages, None)
        found = [(one.topic, intent) for one in (*trial.nominal, *trial.hazard)
                 if isinstance(intent := one.intent(context), BodyIntent)
                 and intent.kind == cls.name]
        assert found, f'scenario: got {trial.scenario.id} without {cls.name}, expected one with it'
        return found

    def test_its_class_has_the_base_of_an_intent_with_a_body(self) -> None:
        """Worlds, sensors and pictures ask the intent itself: nothing knows its class."""
        assert issubclass(self.plugin(), BodyIntent)

    def test_it_can_be_read_from_a_record(self) -> None:
        """Pictures of a trial are drawn from its record, later and elsewhere."""
        for _, intent in self.examples():
            again: Intent = read_intent(intent.model_dump_json())
            assert again == intent and again.bodies() == intent.bodies()

    def test_its_first_body_starts_at_its_distance(self) -> None:
        """The distance is part of the truth by which a reaction is judged."""
        for _, intent in self.examples():
            [body, *_] = intent.bodies()
            place = (body.ahead, body.left, body.heading(body.ahead, body.left, _ORIGIN))
            found = body.distance(place, _ORIGIN)
            assert abs(found - intent.distance) < _TOLERANCE_M, (
                f'distance: got {intent.distance} m, expected {found} m as of its first body')

    def test_without_a_world_it_is_where_its_distance_says(self) -> None:
        """A scanner, a tracker and a picture show one and the same place."""
        for _, intent in self.examples():
            for elapsed_ns in _AGES_NS:
                distance = intent.distance_at(elapsed_ns)
                places = intent.places(distance)
                assert [body for body, _ in places] == list(intent.bodies())
                found = places[0][0].distance(places[0][1], _ORIGIN)
                assert abs(found - distance) < _TOLERANCE_M, (
                    f'after {elapsed_ns} ns: got {found} m by its place, expected {distance} m')

    def test_sensors_without_a_world_show_it(self) -> None:
        """Otherwise no controller could react to it over topics alone."""
        for topic, intent in self.examples():
            shown = intent.show(topic, LASER_SCAN, 'base_link', 10.0, 0)
            ranges = numpy.asarray(shown.message.at('ranges'), float)
            limit = shown.message.at('range_max')
            assert dict(shown.truth)['distance'] == intent.distance_at(0)
            assert (ranges < limit).any() or not intent.bodies()[0].solid.is_seen, (
                f'{topic}: no beam of the scanner meets it')
            pose = intent.show(topic, POSE, 'base_link', 10.0, 0).message
            assert (pose.at('pose.position.x'), pose.at('pose.position.y')) == \
                intent.tracked(intent.distance_at(0))

    def test_a_world_reports_its_distance(self) -> None:
        """A world builds it from its bodies, and reports by its topic how far away it is."""
        if importlib.util.find_spec('mujoco') is None:
            raise SkipTest("the embedded world needs mujoco: pip install 'safety_scenarios[sim]'")
        for record in self.campaign(link='simulated').records:
            applied = {event.name: event.stamps.steady_ns for event in record.events
                       if event.kind == 'stimulus' and event.arguments
                       and read_intent(event.arguments).kind == self.name}
            assert applied, 'no world let it happen'
            for topic, since_ns in applied.items():
                [first, *_] = [event for event in record.events if event.kind == 'state'
                               and event.name == topic and event.stamps.steady_ns >= since_ns]
                wanted = next(one.distance for name, one in self.examples() if name == topic)
                assert abs(first.truth['distance'] - wanted) < _FOREIGN_M, (
                    f'{topic}: got {first.truth["distance"]} m from the world, expected {wanted}')


class RobotContract(PluginContract):
    """A kind of robot; ``scenario`` is written for one, and the reference stops it."""

    kind = 'robots'
    robot: ClassVar[Mapping[str, Any]] = {'max_speed': 1.0}
    """The block ``robot`` of a file, but its kind."""

    @classmethod
    def of_robot(cls) -> RobotKind:
        kind: RobotKind = cls.plugin()(RobotModel.model_validate({'kind': cls.name, **cls.robot}))
        return kind

    def test_its_class_has_the_base_of_a_kind(self) -> None:
        """Everything that is asked of a kind has an answer there."""
        assert issubclass(self.plugin(), RobotKind)

    def test_the_reference_stops_it_and_a_blind_controller_does_not(self) -> None:
        """Its stop, its standstill and its driver fit each other, or no verdict is right."""
        for controller, wanted in (('rule_based', Verdict.PASS), ('never_stop', Verdict.FAIL)):
            for result in self.campaign(controller=controller).results:
                assert result.verdict is wanted, (
                    f'{controller}: got {result.verdict.value} ({result.reason}), expected '
                    f'{wanted.value}')

    def test_a_stop_is_a_standstill_and_top_speed_is_none(self) -> None:
        """A limit at which it still moves would pass for a stop."""
        kind = self.of_robot()
        assert not any(kind.stop.velocity), f'stop: got {kind.stop.velocity}, expected zeros'
        assert kind.is_standstill(0.0) and not kind.is_standstill(kind.robot.max_speed)
        assert 0 < kind.pace < kind.robot.max_speed

    def test_its_default_driver_moves_it_and_stops_it(self) -> None:
        """Judged is what the driver executes, not what was commanded."""
        kind = self.of_robot()
        for interface in kind.command_types:
            if interface not in kind.driver_types:
                continue
            moving, standing = (
                _executed(kind, interface, command)
                for command in (kind.command(kind.robot.max_speed / 2), kind.stop))
            assert numpy.nan_to_num(moving.fastest).any(), f'{interface}: it does not move'
            assert not numpy.nan_to_num(standing.fastest).any(), f'{interface}: it does not stop'

    def test_each_of_its_feedback_types_can_be_read(self) -> None:
        """Feedback that reports no motion would leave judging to a prediction."""
        for interface in self.of_robot().feedback_types:
            assert self.of_robot().measured('feedback', interface) is not None, interface

    def test_its_usual_speeds_are_a_range(self) -> None:
        """Lint warns of a robot whose top speed is outside of it."""
        least, most = self.of_robot().usual_top_speed
        assert 0 < least < most


def _executed(kind: RobotKind, interface: str, command: Command) -> Execution:
    """Return what the default driver of an interface makes of a command that comes again."""
    chosen = kind.driver(interface, ())
    assert chosen is not None, f'driver: got none for {interface}, which driver_types names'
    name, parameters = chosen
    joints = kind.robot.joints
    driver: DriverPlugin = registry.resolve('drivers', name).model_validate(
        {'kind': name, 'assumed': True, **parameters})
    if driver.is_joint_space and 'joints' in type(driver).model_fields:
        driver = driver.model_copy(update={'joints': joints})
    message = command_message(interface, command, joints, dict.fromkeys(joints, 0.0))
    commands = [Commanded(at_ns, at_ns, message) for at_ns in range(0, 5 * 10**8, 10**8)]
    return driver.execute(commands, dict.fromkeys(joints, 0.0), 5 * 10**8)
