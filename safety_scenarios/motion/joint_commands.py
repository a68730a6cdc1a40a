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

"""The speed of each joint by commands that name joints: one left out goes on as it was told."""

from collections.abc import Mapping, Sequence
import math
from typing import Any

import numpy
from numpy.typing import NDArray
from safety_scenarios.model.event import Event

_SAME = 1e-6
"""rad or m: a position that is told again is no other."""


def joint_speeds(events: Sequence[Event],
                 joints: Sequence[str]) -> tuple[tuple[str, ...], NDArray[numpy.float64]]:
    """
    Return joints, and their speeds from each of some JointState commands on (rad/s).

    A joint that a command does not name goes on as before, and one that the robot does not have
    moves nothing. Another position than before is a motion too, whatever the speed beside it
    says. NaN is what nobody can tell: a position without a speed, and more names than speeds.

    :param joints: those of the robot; empty: all that are named
    """
    known = tuple(joints) or tuple(dict.fromkeys(
        name for event in events for name in _data(event).get('name', ())))
    places = {name: place for place, name in enumerate(known)}
    speeds, positions = [0.0] * len(known), dict[int, float]()
    rows, before_ns = [], None
    for event in events:
        data, now_ns = _data(event), event.stamps.steady_ns
        names = tuple(data.get('name', ())) or known
        passed_s = 0.0 if before_ns is None else (now_ns - before_ns) / 1e9
        for index, name in enumerate(names):
            place = places.get(name)
            if place is None:
                continue
            speeds[place] = max(_at(data, 'velocity', index), _jump(
                positions, place, _at(data, 'position', index), passed_s), key=_worse)
        rows.append(tuple(speeds))
        before_ns = now_ns
    return known, numpy.array(rows, numpy.float64).reshape(len(rows), len(known))


def _data(event: Event) -> Mapping[str, Any]:
    return {} if event.message is None else event.message.data


def _at(data: Mapping[str, Any], field: str, index: int) -> float:
    values = data.get(field, ())
    return float(values[index]) if index < len(values) else math.nan


def _jump(positions: dict[int, float], place: int, position: float, passed_s: float) -> float:
    """Return the speed of the way to another position, in the time since the last command."""
    before = positions.get(place, position)
    if math.isnan(position):
        return 0.0
    positions[place] = position
    way = abs(position - before)
    return 0.0 if way <= _SAME else way / passed_s if passed_s > 0 else math.inf


def _worse(speed: float) -> float:
    return math.inf if math.isnan(speed) else abs(speed)
