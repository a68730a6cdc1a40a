# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The robot of a scenario, and the terms of its protective separation distance."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic.config import JsonDict
from safety_scenarios import registry
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.noun import Noun, PluginName
from safety_scenarios.standards import ssm


class Stopping(Noun):
    """
    How the robot comes to rest once its brakes take hold: a declared model, never a guess.

    - ``worst_case``: full speed for ``time``, then standstill
    - ``half_time``: even deceleration to rest within ``time``
    - ``constant_deceleration``: at ``deceleration``, from whatever speed
    - ``measured``: ``time`` and ``distance`` of the manual or a stop-time test, at top speed
    """

    model: Literal['worst_case', 'half_time', 'constant_deceleration', 'measured']
    time: float | None = Field(default=None, gt=0, le=600, json_schema_extra={'unit': 's'})
    """From the start of braking to standstill, at the robot's top speed (s)."""
    distance: float | None = Field(default=None, gt=0, le=1000, json_schema_extra={'unit': 'm'})
    """Covered in that time (m)."""
    deceleration: float | None = Field(default=None, gt=0, le=1000,
                                       json_schema_extra={'unit': 'm/s^2'})
    """Guaranteed deceleration (m/s^2)."""

    @model_validator(mode='after')
    def _has_its_numbers(self) -> 'Stopping':
        needs = {'constant_deceleration': ('deceleration',), 'measured': ('time', 'distance')}.get(
            self.model, ('time',))
        given = tuple(name for name in ('time', 'distance', 'deceleration')
                      if getattr(self, name) is not None)
        if set(given) != set(needs):
            raise ValueError(f'got {" and ".join(given) or "no number"} with the model '
                             f'{self.model}, expected {" and ".join(needs)} and nothing else')
        return self


FOOTPRINT = 0.3
"""Radius of a base that declares none (m): that of a small one with its load."""


class RobotModel(Noun):
    """The robot that the scenario is written for, SI units."""

    kind: Annotated[str, PluginName('robots')]
    """Kind of robot: what commands it, what its motion is, and when it stands still."""
    max_speed: float = Field(gt=0, json_schema_extra={'unit': 'm/s or rad/s'})
    """Top speed: m/s of a base, rad/s of a joint."""
    stopping: Stopping | None = None
    """How it stops; what a latency costs in metres follows from it."""
    brake_delay: float | None = Field(default=None, ge=0, le=10, json_schema_extra={'unit': 's'})
    """From a command to stop until its brakes take hold (s); part of separation.other_time. An
    embedded world delays every command so, and by no less than its robot file says, or without
    one by 0.03 s of a base and 0.02 s of an arm."""
    radius: float | None = Field(default=None, gt=0, json_schema_extra={'unit': 'm'})
    """Radius of the footprint; where motion is judged 0.3 m if left out."""
    max_yaw_rate: float | None = Field(default=None, gt=0, json_schema_extra={'unit': 'rad/s'})
    """Top rate of turn of a base. Left out: ``max_speed`` is that of its fastest point, which
    turns with it: |v| + |omega| radius."""
    travel: Literal['forward', 'both', 'any'] = 'forward'
    """Directions in which a base may drive. ``forward``: forward only. ``both``: forward and in
    reverse. ``any``: sideways too. In the other directions it may cover at most ``creep``. If the
    driver is declared, forward includes every direction up to 45 degrees to either side."""
    creep: float = Field(default=0.05, gt=0, le=0.5, json_schema_extra={'unit': 'm or rad'})
    """Farthest that its fastest point (m), or a joint (rad), may come after it has stopped."""
    joints: tuple[str, ...] = ()
    """Joint names of an arm, in command order."""

    @model_validator(mode='after')
    def _as_usual_for_its_kind(self) -> 'RobotModel':
        usual: Mapping[str, Any] = registry.resolve('robots', self.kind).defaults
        self.__dict__.update({name: value for name, value in usual.items()
                              if name not in self.model_fields_set})
        return self

    @property
    def footprint(self) -> float:
        """Return the radius of a base's footprint in m, a documented one if none is declared."""
        return FOOTPRINT if self.radius is None else self.radius

    def stopping_s(self, metres_per_unit: float = 1.0) -> float | None:
        """
        Return the declared time from a command to stop at top speed to standstill (s).

        :param metres_per_unit: turns rad/s of an arm's joint into m/s
        :return: None: nobody declared how it stops
        """
        if self.stopping is None:
            return None
        delay_s = self.brake_delay or 0.0
        if self.stopping.deceleration is not None:
            return delay_s + self.max_speed * metres_per_unit / self.stopping.deceleration
        return delay_s + (self.stopping.time or 0.0)

    def deceleration(self, metres_per_unit: float = 1.0) -> float | None:
        """
        Return how hard it brakes as declared (m/s^2, of an arm rad/s^2); None: nobody declared it.

        One number for each model: the even deceleration from top speed that meets the declared
        time, and the distance where there is one. From a lower speed it so has less time.

        :param metres_per_unit: turns rad/s of an arm's joint into m/s
        """
        if self.stopping is None:
            return None
        if self.stopping.deceleration is not None:
            return self.stopping.deceleration / metres_per_unit
        top, distance = self.max_speed * metres_per_unit, self.stopping.distance
        by_time = top / (self.stopping.time or 1.0)
        by_distance = 0.0 if distance is None else top**2 / (2 * distance)
        return max(by_time, by_distance) / metres_per_unit


_METRES: JsonDict = {'unit': 'm'}
_ROUNDING = 1e-9
"""Share of a speed that rounding may add."""


class Separation(Noun):
    """
    What speed and separation monitoring needs to know besides the robot's stopping model.

    Symbols of ISO/TS 15066:2016, 5.5.4. Distances are from the robot's hazard boundary to the
    nearest point of the body, all speeds along the line between the two.
    """

    signal: str = Field(min_length=1)
    """Signal with the commanded speed."""
    metres_per_unit: float = Field(default=1.0, gt=0, le=100)
    """Turns it into m/s toward the person: 1 for m/s, the arm's radius in m for rad/s."""
    approach_speed: float = Field(ge=0, le=100, json_schema_extra={'unit': 'm/s'})
    """v_h, of the person (or of another robot) toward this robot (m/s): 1.6 walking, 0 stands."""
    approach_stopping: float | None = Field(default=None, ge=0, le=1000, json_schema_extra=_METRES)
    """Only for another robot that brakes too: what it covers while braking (m)."""
    reach: float = Field(default=0.0, ge=0, le=100, json_schema_extra=_METRES)
    """Taken off every distance: from the robot's origin to its hazard boundary, and from the
    person's centre to the skin, where the distance is told from centre to centre (m)."""
    intrusion: float = Field(default=0.0, ge=0, le=100, json_schema_extra=_METRES)
    """C, how far a body part gets before it is detected (m)."""
    other_uncertainty: float = Field(default=0.0, ge=0, le=100, json_schema_extra=_METRES)
    """Z_d, of the measured position of the person (m)."""
    robot_uncertainty: float = Field(default=0.0, ge=0, le=100, json_schema_extra=_METRES)
    """Z_r, of the robot's own position (m)."""
    other_time: float = Field(ge=0, le=60, json_schema_extra={'unit': 's'})
    """Sensing, transport and actuation until braking begins: all but the controller (s)."""
    distance: str | None = None
    """Feedback signal with the measured distance (m); left out: the scripted one, less what the
    robot was commanded to travel since onset."""

    def top_speed(self, robot: RobotModel) -> float:
        """Return the fastest that the robot comes toward the person (m/s)."""
        return robot.max_speed * self.metres_per_unit

    def covers(self, robot: RobotModel, speed: float) -> bool:
        """Tell whether a speed (m/s) is one that the robot's stopping is declared for."""
        return speed <= self.top_speed(robot) * (1 + _ROUNDING)

    def required(self, robot: RobotModel, speed: float, controller_s: float) -> ssm.Separation:
        """
        Return the protective separation distance with its terms.

        :param speed: of the robot toward the person (m/s)
        :param controller_s: the controller's share of the reaction time (s)
        :raises InputError: a speed above the robot's top speed, for which no stopping is declared
        """
        return self._required(self._declared(robot, speed), controller_s + self.other_time,
                              self.stopping(robot), self._margins)

    def needed(self, robot: RobotModel, speeds: Iterable[float]) -> list[float]:
        """
        Return the protective separation distance (m) at each of some speeds of the robot (m/s).

        Without a share of the controller; a speed above the robot's top speed counts as that.
        """
        top, stopping, margins = self.top_speed(robot), self.stopping(robot), self._margins
        return [self._required(min(speed, top), self.other_time, stopping, margins).total
                for speed in speeds]

    def _required(self, speed: float, reaction_time: float, stopping: ssm.Stopping,
                  margins: ssm.Margins) -> ssm.Separation:
        found = ssm.protective_separation(
            human_speed=self.approach_speed, robot_speed=speed, reaction_time=reaction_time,
            stopping=stopping, margins=margins)
        if self.approach_stopping is None:
            return found
        return ssm.Separation(
            human=self.approach_speed * reaction_time + self.approach_stopping,
            reaction=found.reaction, stopping=found.stopping, margins=found.margins)

    def budget_s(self, robot: RobotModel, distance: float) -> float:
        """
        Return how long the controller may take at top speed (s); <= 0: no controller can win.

        :param distance: at onset, between hazard boundary and body (m)
        """
        speed, stopping = self.top_speed(robot), self.stopping(robot)
        if self.approach_stopping is not None:
            return ssm.budget_two_robots(
                distance=distance, speeds=(self.approach_speed, speed),
                stopping_distances=(self.approach_stopping, stopping.distance(speed)),
                margins=self._margins.total, other_time=self.other_time)
        return ssm.budget_walking_person(
            distance=distance, human_speed=self.approach_speed, robot_speed=speed,
            stopping_time=stopping.time(speed), stopping_distance=stopping.distance(speed),
            margins=self._margins.total, other_time=self.other_time)

    def stopping_time(self, robot: RobotModel, speed: float) -> float:
        """Return T_s (s) from a speed (m/s), with the errors of ``required``."""
        return self.stopping(robot).time(self._declared(robot, speed))

    def _declared(self, robot: RobotModel, speed: float) -> float:
        """Return a speed without what rounding added to the top speed."""
        if not self.covers(robot, speed):
            raise InputError(f'speed: got {speed:g}, expected at most {self.top_speed(robot):g} '
                             f'm/s, for which ros.robot.stopping is declared')
        return min(speed, self.top_speed(robot))

    def stopping(self, robot: RobotModel) -> ssm.Stopping:
        """
        Return the robot's stopping model, valid up to its top speed.

        :raises LookupError: the robot has none
        """
        declared, speed = robot.stopping, self.top_speed(robot)
        if declared is None:
            raise LookupError('ros.robot.stopping is missing')
        if declared.model == 'constant_deceleration':
            return ssm.ConstantDeceleration(deceleration=declared.deceleration or 0.0)
        duration = declared.time or 0.0
        if declared.model == 'measured':
            return ssm.Measured(duration=duration, path=declared.distance or 0.0, speed=speed)
        form = ssm.WorstCase if declared.model == 'worst_case' else ssm.HalfTime
        return form(duration=duration, speed=speed)

    @property
    def _margins(self) -> ssm.Margins:
        return ssm.Margins(intrusion=self.intrusion, operator=self.other_uncertainty,
                           robot=self.robot_uncertainty)


class SeparationCost(Noun):
    """
    What the latency of one trial costs: the protective separation distance that it asks for.

    Computed from the upper bound of the latency (its value plus its uncertainty) and the fastest
    speed that was commanded from when the hazard came until the reaction; SI units.
    """

    latency_ms: float
    """Upper bound of the controller's latency."""
    speed: float
    """v_r, the fastest commanded toward the person before the reaction (m/s)."""
    approach_speed: float
    """v_h (m/s)."""
    human: float
    """S_h: covered by the person until the robot stands (m)."""
    reaction: float
    """S_r: covered by the robot before it brakes (m)."""
    stopping: float
    """S_s: covered by the robot while it brakes (m)."""
    margins: float
    """C + Z_d + Z_r (m)."""
    stopping_time: float
    """T_s, from the start of braking to standstill (s)."""
    required: float
    """S_p, the sum of the four (m)."""
    per_second: float
    """dS_p/dT: what each further second of latency costs (m/s)."""
    available: float | None
    """The distance at onset (m), None when nothing tells it."""

    def at_latency(self, latency_ms: float) -> 'SeparationCost':
        """Return the cost of another latency, all else equal: each term is linear in it."""
        more_s = (latency_ms - self.latency_ms) / 1e3
        return self.model_copy(update={
            'latency_ms': latency_ms, 'human': self.human + self.approach_speed * more_s,
            'reaction': self.reaction + self.speed * more_s,
            'required': self.required + self.per_second * more_s})

    @property
    def margin(self) -> float | None:
        """Return what is left of the distance at onset (m); negative: it was not enough."""
        return None if self.available is None else self.available - self.required
