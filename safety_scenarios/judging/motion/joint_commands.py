# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The speed of each joint by commands that name joints: one left out goes on as it was told."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray
from safety_scenarios.scenario.event import Event

_SAME = 1e-3
"""rad or m: no farther apart are positions that a sensor reads of a joint that stands."""
_AROUND = 2
"""So many gaps before and behind say with a gap how far apart messages are, whose times jitter."""
_ALIKE = 2.0
"""A speed that is told is believed where positions say no more than so many times of it."""
Floats = NDArray[numpy.float64]


def joint_speeds(events: Sequence[Event],
                 joints: Sequence[str]) -> tuple[tuple[str, ...], Floats]:
    """
    Return joints, and their speeds from each of some JointState commands on (rad/s).

    A joint that a command does not name goes on as before, and one that the robot does not have
    moves nothing. Another position than before is a motion too, whatever the speed beside it
    says. NaN is what nobody can tell: a position without a speed, and more names than speeds.
    Numbers without a name are those of the robot's joints, and those beyond them move too.

    :param joints: those of the robot; empty: all that are named
    """
    told = [_places(_data(event), joints) for event in events]
    known = tuple(dict.fromkeys((*joints, *(
        name for places in told for name, (_, has_name) in places.items()
        if not joints or not has_name))))
    speeds = numpy.zeros((len(events), len(known)))
    for column, joint in enumerate(known):
        rows = [row for row, places in enumerate(told) if joint in places]
        if rows:
            found = _speeds([events[row] for row in rows], [told[row][joint][0] for row in rows])
            since = numpy.searchsorted(rows, numpy.arange(len(events)), 'right') - 1
            speeds[:, column] = numpy.where(since < 0, 0.0, found[since])
    return known, speeds


def _data(event: Event) -> Mapping[str, Any]:
    return {} if event.message is None else event.message.data


def _places(data: Mapping[str, Any], joints: Sequence[str]) -> dict[str, tuple[int, bool]]:
    """Return where the numbers of each joint stand in a command, and whether it has a name."""
    names = tuple(data.get('name', ())) or tuple(joints)
    most = max(len(data.get(field, ())) for field in ('position', 'velocity'))
    return {**{name: (place, True) for place, name in enumerate(names)},
            **{f'number {place}': (place, False) for place in range(len(names), most)}}


def _speeds(events: Sequence[Event], places: Sequence[int]) -> Floats:
    """Return the speed of a joint from each of the commands on that tell one."""
    times_s = numpy.array([event.stamps.steady_ns / 1e9 for event in events])
    velocity, position = (numpy.array([_at(_data(event), field, place) for event, place
                                       in zip(events, places, strict=True)])
                          for field in ('velocity', 'position'))
    there = ~numpy.isnan(position)
    jumps = numpy.zeros(len(events))
    jumps[there] = _jumps(times_s[there], position[there])
    return numpy.where(jumps > _ALIKE * numpy.abs(velocity), jumps, velocity)


def _at(data: Mapping[str, Any], field: str, index: int) -> float:
    values = data.get(field, ())
    return float(values[index]) if index < len(values) else numpy.nan


def _jumps(times_s: Floats, position: Floats) -> Floats:
    """
    Return the speed of the way to each position, in the time that is usual there.

    Messages that came late are close to those behind them, and one after a pause need not have
    taken all of it: neither gap says how long the way takes. Steps that could be noise of what a
    sensor read are a way as soon as they lead away, in all the time that they took for that.
    """
    speeds = numpy.zeros(len(times_s))
    last, begin = len(times_s) - 1, 0
    for place in range(1, len(times_s)):
        around = max(place - 1 - _AROUND, 0), min(place + _AROUND, last)
        step, way = (abs(position[place] - position[one]) for one in (place - 1, begin))
        if step > _SAME:
            usual_s = (times_s[around[1]] - times_s[around[0]]) / (around[1] - around[0])
            speeds[place] = step / usual_s if usual_s > 0 else numpy.inf
        elif way > _SAME:
            took_s = times_s[place] - times_s[begin]
            speeds[begin + 1:place + 1] = way / took_s if took_s > 0 else numpy.inf
        else:
            continue
        begin = place
    return speeds
