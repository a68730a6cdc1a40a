# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The robot a scenario is written for."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from safety_scenarios import registry
from safety_scenarios.scenario.noun import Noun, PluginName


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
