# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Speed and separation monitoring: protective separation, its inverse, and the budgets it leaves.

Source: ISO/TS 15066:2016, 5.5.4 (now in ISO 10218-2:2025), in the form of Marvel and Norcross
(2017, doi 10.1016/j.rcim.2016.08.001)::

    S_p = S_h + S_r + S_s + C + Z_d + Z_r

Valid along the line between the nearest points of hazard (arm, tool and workpiece) and body. Every
input must be an over-estimate. The reaction time is that of the whole robot system, from the
sensor to the start of braking: the controller under test is one part of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
import math

from safety_scenarios.errors import InputError
from safety_scenarios.standards._inputs import (
    check_finite,
    check_not_negative,
    check_positive,
    check_samples,
    nanoseconds,
)

WALKING_SPEED = 1.6
"""A person walks up (m/s): the whole body; what to use when the speed is not measured."""

_SLOWEST = 1e-12
"""m/s; below it two bodies stand, for dividing by it would overflow."""


@dataclass(frozen=True, kw_only=True)
class WorstCase:
    """
    Full speed until standstill: S_s = v T_s. To be used when no braking profile is known.

    :param duration: from start of braking to standstill (s) at ``speed``
    :param speed: fastest speed for which the duration holds (m/s); slower is over-estimated
    """

    duration: float
    speed: float

    def __post_init__(self) -> None:
        check_not_negative(duration=self.duration, speed=self.speed)

    def time(self, speed: float) -> float:
        """Return the stopping time in s; a faster speed is an InputError."""
        _check_covered(speed, self.speed)
        return self.duration

    def distance(self, speed: float) -> float:
        """Return the stopping distance in m; a faster speed is an InputError."""
        return speed * self.time(speed)


class HalfTime(WorstCase):
    """
    Constant deceleration, known by its duration: S_s = v T_s / 2.

    Too short for a robot that coasts before it brakes. Its parameters are those of the worst case.
    """

    def distance(self, speed: float) -> float:
        return super().distance(speed) / 2.0


@dataclass(frozen=True, kw_only=True)
class ConstantDeceleration:
    """
    Constant deceleration, known by itself: T_s = v / a, S_s = v^2 / (2 a).

    Too short for a robot that coasts before it brakes.

    :param deceleration: a (m/s2), > 0
    """

    deceleration: float

    def __post_init__(self) -> None:
        check_positive(deceleration=self.deceleration)

    def time(self, speed: float) -> float:
        """Return the stopping time in s."""
        check_not_negative(speed=speed)
        return speed / self.deceleration

    def distance(self, speed: float) -> float:
        """Return the stopping distance in m."""
        check_not_negative(speed=speed)
        return speed**2 / (2.0 * self.deceleration)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """
    Time and distance from the robot's manual or a measurement, taken whole for slower speeds.

    :param duration: from start of braking to standstill (s)
    :param path: distance on the way (m)
    :param speed: speed at which both were measured (m/s)
    """

    duration: float
    path: float
    speed: float

    def __post_init__(self) -> None:
        check_not_negative(duration=self.duration, path=self.path, speed=self.speed)

    def time(self, speed: float) -> float:
        """Return the stopping time in s; a speed above the measured one is an InputError."""
        _check_covered(speed, self.speed)
        return self.duration

    def distance(self, speed: float) -> float:
        """Return the stopping distance in m; a speed above the measured one is an InputError."""
        _check_covered(speed, self.speed)
        return self.path


Stopping = WorstCase | HalfTime | ConstantDeceleration | Measured
"""How the robot stops: chosen by the user, never by us, because real profiles are not linear."""


@dataclass(frozen=True, kw_only=True)
class Margins:
    """
    What is added whatever the speeds are (m).

    :param intrusion: C, how far a body part gets into the field before it is detected
    :param operator: Z_d, position uncertainty of the person (sensor)
    :param robot: Z_r, position uncertainty of the robot
    """

    intrusion: float
    operator: float
    robot: float

    def __post_init__(self) -> None:
        check_not_negative(intrusion=self.intrusion, operator=self.operator, robot=self.robot)

    @property
    def total(self) -> float:
        """C + Z_d + Z_r (m)."""
        return self.intrusion + self.operator + self.robot


@dataclass(frozen=True, kw_only=True)
class Separation:
    """
    The protective separation distance by its terms (m).

    :param human: S_h, the person's approach until the robot stands
    :param reaction: S_r, the robot's before it brakes
    :param stopping: S_s, the robot's while it brakes
    :param margins: C, Z_d and Z_r
    """

    human: float
    reaction: float
    stopping: float
    margins: Margins

    @property
    def total(self) -> float:
        """S_p (m)."""
        return self.human + self.reaction + self.stopping + self.margins.total


def protective_separation(*, human_speed: float, robot_speed: float, reaction_time: float,
                          stopping: Stopping, margins: Margins) -> Separation:
    """
    Return S_p for speeds that stay constant until the robot brakes.

    Negative speeds (a retreat) count as 0 and never shorten S_p: a person may turn, and a robot
    may be halted by something else. One that retreats still needs its time to stop.

    :param human_speed: directed toward the robot (m/s)
    :param robot_speed: directed toward the person (m/s)
    :param reaction_time: T_r, from sensing to the start of braking (s)
    :raises InputError: NaN, infinity, a negative time, or a speed that ``stopping`` does not cover
    """
    check_finite(human_speed=human_speed, robot_speed=robot_speed)
    check_not_negative(reaction_time=reaction_time)
    toward = max(0.0, robot_speed)
    until_standstill = reaction_time + stopping.time(abs(robot_speed))
    return Separation(
        human=max(0.0, human_speed) * until_standstill, reaction=toward * reaction_time,
        stopping=stopping.distance(toward), margins=margins)


def separation_in_log(*, times_ns: Sequence[int], human_speeds: Sequence[float],
                      robot_speeds: Sequence[float], start_ns: int, reaction_time: float,
                      stopping: Stopping, margins: Margins) -> Separation:
    """
    Return S_p at one moment of a log, never below the integral of its speeds.

    Each interval counts with the larger of the speeds at its two ends, which is an upper bound for
    speeds that rise or fall between samples; one that peaks between two samples was not sampled
    often enough. Braking starts from the largest robot speed around its start.

    :param times_ns: ascending stamps of one clock, with the speeds at each, as in
        :func:`protective_separation`
    :param start_ns: the moment t0 at which S_p is wanted
    :raises InputError: as there, or a log that does not reach from t0 until the robot stands
    """
    check_samples(times_ns, human_speeds=human_speeds, robot_speeds=robot_speeds)
    check_not_negative(reaction_time=reaction_time)
    braking_ns = start_ns + nanoseconds(reaction_time)
    _check_reach(times_ns, start_ns, braking_ns)
    at_braking = [speed for (since, until), pair in zip(
        pairwise(times_ns), pairwise(robot_speeds)) if since <= braking_ns <= until
        for speed in pair]
    standstill_ns = braking_ns + nanoseconds(max(stopping.time(abs(speed))
                                                 for speed in at_braking))
    _check_reach(times_ns, start_ns, standstill_ns)
    return Separation(
        human=_path_bound(times_ns, human_speeds, start_ns, standstill_ns),
        reaction=_path_bound(times_ns, robot_speeds, start_ns, braking_ns),
        stopping=max(stopping.distance(max(0.0, speed)) for speed in at_braking),
        margins=margins)


def permitted_speed(*, distance: float, human_speed: float, reaction_time: float,
                    deceleration: float, margins: Margins) -> float:
    """
    Return the fastest robot speed (m/s) whose S_p fits into a measured separation.

    The inverse of :func:`protective_separation` with :class:`ConstantDeceleration`; 0 when margins
    and the person's approach alone fill the distance.

    :param distance: separation (m)
    :param human_speed: directed toward the robot (m/s); a retreat counts as 0
    :raises InputError: a negative or non-finite input, deceleration not > 0
    """
    check_finite(human_speed=human_speed)
    check_not_negative(distance=distance, reaction_time=reaction_time)
    check_positive(deceleration=deceleration)
    toward = max(0.0, human_speed)
    free = distance - margins.total - toward * reaction_time
    if free <= 0.0:
        return 0.0
    linear = toward / deceleration + reaction_time
    # The root as a quotient: the usual difference loses its digits where it is small.
    return 2.0 * free / (linear + math.sqrt(linear**2 + 2.0 * free / deceleration))


def latency_sensitivity(*, human_speed: float, robot_speed: float) -> float:
    """
    Return dS_p / dT_r (m/s): how much separation each second of reaction time costs.

    :param human_speed: directed toward the robot (m/s); a retreat counts as 0
    :param robot_speed: directed toward the person (m/s); a retreat counts as 0
    :raises InputError: NaN or infinity
    """
    check_finite(human_speed=human_speed, robot_speed=robot_speed)
    return max(0.0, human_speed) + max(0.0, robot_speed)


def unseen_approach(silence: float, human_speed: float = WALKING_SPEED) -> float:
    """
    Return how far (m) a person comes while nobody notices that a source fell silent.

    :param silence: timeout after which the silence is noticed (s)
    :raises InputError: a negative or non-finite input
    """
    check_not_negative(silence=silence, human_speed=human_speed)
    return silence * human_speed


def budget_walking_person(*, distance: float, human_speed: float, robot_speed: float,
                          stopping_time: float, stopping_distance: float, margins: float,
                          other_time: float) -> float:
    """
    Return the longest controller reaction time (s) for a person who walks toward the robot.

    Not positive when nobody can win: such a scenario must be refused.

    :param distance: separation at which the person is first published (m)
    :param human_speed: directed speed toward the robot (m/s); 1.6 for walking
    :param robot_speed: directed speed toward the person (m/s)
    :param stopping_time: from start of braking to standstill (s)
    :param stopping_distance: distance covered while braking (m)
    :param margins: intrusion distance plus both position uncertainties (m)
    :param other_time: sensing, transport and actuation, everything but the controller (s)
    :raises InputError: a negative or non-finite input, or two speeds of zero
    """
    check_not_negative(
        distance=distance, human_speed=human_speed, robot_speed=robot_speed,
        stopping_time=stopping_time, stopping_distance=stopping_distance, margins=margins,
        other_time=other_time)
    free = distance - margins - stopping_distance - human_speed * stopping_time
    return _time_to_close(free, human_speed, robot_speed) - other_time


def budget_static(*, distance: float, robot_speed: float, stopping_distance: float,
                  margins: float, other_time: float) -> float:
    """
    Return the longest controller reaction time (s) for a person or an obstacle that stands still.

    Parameters and errors as in :func:`budget_walking_person`.
    """
    return budget_walking_person(
        distance=distance, human_speed=0.0, robot_speed=robot_speed, stopping_time=0.0,
        stopping_distance=stopping_distance, margins=margins, other_time=other_time)


def budget_two_robots(*, distance: float, speeds: tuple[float, float],
                      stopping_distances: tuple[float, float], margins: float,
                      other_time: float) -> float:
    """
    Return the longest controller reaction time (s) for two robots head-on that both stop.

    :param speeds: of each toward the other (m/s)
    :param stopping_distances: of each while braking (m)

    Other parameters and errors as in :func:`budget_walking_person`.
    """
    for name, pair in (('speeds', speeds), ('stopping_distances', stopping_distances)):
        check_not_negative(**{f'{name}[{place}]': value for place, value in enumerate(pair)})
    check_not_negative(distance=distance, margins=margins, other_time=other_time)
    return _time_to_close(distance - margins - sum(stopping_distances), *speeds) - other_time


def _time_to_close(free: float, first: float, second: float) -> float:
    if first + second < _SLOWEST:
        raise InputError(f'speeds: got {first} and {second}, expected a closing speed > 0 (m/s)')
    return free / (first + second)


def _check_covered(speed: float, fastest: float) -> None:
    check_not_negative(speed=speed)
    if speed > fastest:
        raise InputError(f'speed: got {speed}, expected at most {fastest} m/s, for which the '
                         f'stopping data hold. Take data for a faster speed')


def _check_reach(times_ns: Sequence[int], start_ns: int, end_ns: int) -> None:
    if len(times_ns) < 2 or not times_ns[0] <= start_ns <= end_ns <= times_ns[-1]:
        got = f'{times_ns[0]} to {times_ns[-1]}' if times_ns else 'no samples'
        raise InputError(f'times_ns: got {got}, expected samples that reach from {start_ns} to '
                         f'{end_ns} ns')


def _path_bound(times_ns: Sequence[int], speeds: Sequence[float], start_ns: int,
                end_ns: int) -> float:
    """Return an upper bound of the path (m) from the larger speed of each interval, >= 0."""
    return math.fsum(
        max(0.0, *pair) * max(0, min(until, end_ns) - max(since, start_ns)) / 1e9
        for (since, until), pair in zip(pairwise(times_ns), pairwise(speeds)))
