# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where a braking begins that stays below the envelope of the robot's declared stopping."""

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.judging.motion.track import Floats, is_of_robot, Track
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.margins import MarginSeries

_PERIODS, _LONGEST_GRACE_S = 1.25, 0.2
"""A command is held until the next, so that a ramp in steps lags by one period, and its jitter."""
_RECENT = 50
"""So many commands tell the period of a stream."""
_ROUNDING = 1e-6
"""What rounding may add to a speed or a time (m/s, rad/s, s); a smaller decrease is none."""
_ALREADY = 2
"""So many decreases before the hazard are a braking that the hazard did not cause."""
_OF_RATE, _OF_SPEED = 0.75, 0.1
"""Together they are at least this share of what the declared braking takes off in that time, or of
the speed: two smaller ones are the noise of a policy."""
_NOISE, _OF_PERIOD = 20, 0.5
"""So many commands before the hazard tell the noise of a policy. Who takes off more than this
share of what the declared braking takes off in one period brakes."""
Times = NDArray[numpy.int64]


@dataclass(frozen=True, slots=True)
class Braking:
    """A braking from its first command to its end."""

    begin_ns: int
    """Steady time of the first command of it."""
    end_ns: int
    """From then on the limits hold."""
    had_begun: bool = False
    """It had begun before the time that was asked for."""


def deceleration(scenario: Scenario) -> float | None:
    """Return how hard the robot brakes as it declares (m/s^2, of an arm rad/s^2), if it does."""
    robot, terms = scenario.body.robot, scenario.body.separation
    return None if robot is None else robot.deceleration(terms.metres_per_unit if terms else 1.0)


def braking(track: Track, commands: Times, rate: float, from_ns: int,
            held_ns: int) -> Braking | None:
    """
    Return the first braking at or after a time that ends where limits begin to hold.

    Its first command is the earliest from which the motion stays below the envelope: from the
    speed in force when it came, at the declared deceleration, until the limits hold.

    :param commands: when they count (steady ns)
    :param held_ns: steady time from which the limits hold
    :return: None where it is no braking: then the command at ``held_ns`` is the first one
    """
    commands = commands[commands <= held_ns]
    all_commands, first = commands, int(commands.searchsorted(from_ns))
    commands = commands[max(0, first - _ALREADY):]
    if not len(commands):
        return None
    speeds = track.at(track.fastest, numpy.append(commands, held_ns + 1))
    slows = speeds[1:] < speeds[:-1] - _ROUNDING
    early, slower = min(first, _ALREADY), slows.nonzero()[0]
    if not len(slower):
        return None
    if early <= slower[0] == len(commands) - 1 and commands[-1] == held_ns \
            and math.isfinite(rate):  # one step to it: no motion comes after, to be below any
        return Braking(held_ns, held_ns)
    brakes = slows & _below(track, commands, held_ns, rate, _grace_s(all_commands))
    if early == _ALREADY and brakes[:early].all() and _is_material(commands, speeds, rate):
        return Braking(int(commands[0]), held_ns, had_begun=True)
    slowed = speeds[:-1] - speeds[1:]
    brakes &= slowed > _noise(track, all_commands[:first], rate)
    begins = commands[early:][brakes[early:]]
    return Braking(int(begins[0]), held_ns) if len(begins) else None


def _is_material(commands: Times, speeds: Floats, rate: float) -> bool:
    """Return whether the first ``_ALREADY`` commands slow down by more than noise."""
    until = _ALREADY if len(commands) > _ALREADY else -1
    seconds = float(commands[until] - commands[0]) / 1e9
    least = min(_OF_SPEED * float(speeds[0]), _OF_RATE * rate * seconds)
    return bool(speeds[0] - speeds[_ALREADY] >= least - _ROUNDING)


def _noise(track: Track, commands: Times, rate: float) -> float:
    """Return by how much commands slowed the robot down before the hazard and took it back."""
    commands = commands[-_NOISE:]
    if len(commands) < 4:
        return 0.0
    speeds = track.at(track.fastest, commands)
    slowed, low = speeds[:-3] - speeds[1:-2], speeds[1:-2]
    again = numpy.maximum(speeds[2:-1], speeds[3:]) - low
    most = _OF_PERIOD * rate * float(numpy.median(numpy.diff(commands))) / 1e9
    return float(slowed[(slowed <= most) & (again >= slowed / 2)].max(initial=0.0))


def braked_until(series: MarginSeries, track: Track, commands: Times, rate: float,
                 window: tuple[int, int]) -> int:
    """
    Return until when motion above limits is forgiven that should hold from a time on.

    A robot that brakes by then at its declared deceleration is given the time that this takes.

    :param commands: when they count (steady ns)
    :param rate: the declared deceleration
    :param window: when the limits should hold, and the end of what is looked at (steady ns)
    :return: when they should hold, or the steady time at which its braking ended
    """
    due_ns, until_ns = window
    before = series.before(due_ns + 1)
    held = series.first_held(due_ns, 0, until_ns)
    if held is None or before is None or before.margin is None or before.margin >= 0:
        return due_ns
    on_it = _below(track, numpy.array([due_ns], numpy.int64), held.t_ns, rate,
                   _grace_s(commands[commands <= held.t_ns]))
    return held.t_ns if bool(on_it[0]) else due_ns


def track_of(scenario: Scenario, tracks: Sequence[Track], limits: Sequence[Limit]) -> Track | None:
    """Return the motion of the one topic that limits of speed are about."""
    signals = scenario.body.signals
    if any(limit.at_most is None or limit.signal not in signals
           or not signals[limit.signal].speed for limit in limits):
        return None
    topics = {signals[limit.signal].topic for limit in limits}
    found = [track for track in tracks if track.topic in topics]
    return found[0] if len(topics) == len(found) == 1 and is_of_robot(
        found[0], scenario.body.robot) else None


def _grace_s(commands: NDArray[numpy.int64]) -> float:
    if len(commands) < 2:
        return 0.0
    period_ns = float(numpy.median(numpy.diff(commands[-_RECENT:])))
    return min(_PERIODS * period_ns / 1e9, _LONGEST_GRACE_S)


def _below(track: Track, commands: NDArray[numpy.int64], held_ns: int, rate: float,
           grace_s: float) -> NDArray[numpy.bool_]:
    """Return for each command whether the motion from it to ``held_ns`` is below its envelope."""
    last = int(track.times_ns.searchsorted(held_ns))
    zero_ns, times, begin = int(commands[0]), track.times_ns[:last], track.fastest[:last]
    edges_s = (numpy.append(times, held_ns) - zero_ns) / 1e9
    end = track.until(track.fastest)[:last]
    reach = _from_here(numpy.maximum(begin + rate * edges_s[:-1], end + rate * edges_s[1:]))
    top = _from_here(numpy.maximum(begin, end))
    before = track.at(track.fastest, commands)
    commands_s = (commands - zero_ns) / 1e9
    place = times.searchsorted(commands)  # from there on it follows the command
    limit = before + rate * (commands_s + grace_s) + _ROUNDING
    return numpy.asarray((edges_s[place] - commands_s <= grace_s + _ROUNDING)
                         & (reach[place] <= limit)
                         & (top[place] <= before + _ROUNDING))


def _from_here(values: Floats) -> Floats:
    """Return the largest of each value and those after it, and one that none exceeds."""
    largest = numpy.maximum.accumulate(values[::-1])[::-1]
    return numpy.append(largest, -numpy.inf)
