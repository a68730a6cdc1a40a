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

"""What a link with a world tells of the truth, which no stimulus has to claim then."""

from collections.abc import Iterable
import json
import math
from operator import itemgetter

from safety_scenarios.model.event import Event

DISTANCE = 'distance'
"""What a ``state`` event calls the distance (m) from the robot's origin to its entity."""


def told_distances(events: Iterable[Event]) -> list[tuple[int, float | None]] | None:
    """
    Return the distance to the nearest entity as (steady ns, m), each held until the next.

    What a stimulus puts into the world is there from the stimulus on: what is told first after it
    holds from then, and what was told before of the same name holds no longer. Unknown (None) as
    long as nothing is there, and from when something was put there that the world never tells of,
    or a hazard was published beside the world, of which the world knows nothing.

    :return: None where no ``state`` tells a distance, as with every link that has no world
    """
    changes: list[tuple[int, str, float | None]] = []
    placed: dict[str, int] = {}
    published: list[int] = []
    for event in events:
        steady_ns = event.stamps.steady_ns
        if event.kind == 'stimulus' and event.arguments is not None:
            if DISTANCE in json.loads(event.arguments):
                placed[event.name] = steady_ns
        elif event.hazard and DISTANCE in event.truth:
            published.append(steady_ns)
        elif event.kind == 'state':
            since_ns = placed.pop(event.name, steady_ns)
            changes.append((since_ns, event.name, event.truth.get(DISTANCE)))
    unknown_ns = min([*placed.values(), *published], default=math.inf)
    if not placed and all(distance is None for _, _, distance in changes):
        return None
    shown: dict[str, float] = {}
    found: list[tuple[int, float | None]] = []
    for since_ns, name, distance in sorted(changes, key=itemgetter(0)):
        if since_ns >= unknown_ns:
            break
        if distance is None:
            shown.pop(name, None)
        else:
            shown[name] = distance
        found.append((since_ns, min(shown.values(), default=None)))
    return found if unknown_ns == math.inf else [*found, (int(unknown_ns), None)]
