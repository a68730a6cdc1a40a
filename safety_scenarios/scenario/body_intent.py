# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a stimulus with a body in the world is, and how sensors and pictures show it.

``bodies`` alone is enough for a new one: worlds build and move them, and without a world a scanner
and a tracker show them as they stand or come straight toward the robot.
"""

from collections.abc import Sequence
from functools import lru_cache
import math

from safety_scenarios.scenario.intent import Intent
from safety_scenarios.scenario.interfaces import Cylinder, Face, laser_scan, ScanShape
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Stimulus
from safety_scenarios.scenario.world.body import Body
from safety_scenarios.scenario.world.footprint import Placed
from safety_scenarios.scenario.world.scanner import ALL_AROUND, Scanner

LASER_SCAN, POSE = 'sensor_msgs/msg/LaserScan', 'geometry_msgs/msg/PoseStamped'


class BodyIntent(Intent):
    """Base of every intent with a body."""

    distance: float
    """From the robot's origin to its first body when it appears, as its stimulus counts it (m)."""

    def bodies(self) -> Sequence[Body]:
        """Return its bodies, at least one; the first is the one that its distance is of."""
        raise NotImplementedError

    @property
    def approach(self) -> tuple[float, float]:
        """Return how fast it comes nearer without a world (m/s), and where it stops then (m)."""
        motion = self.bodies()[0].motion
        return motion.speed, motion.nearest

    def distance_at(self, elapsed_ns: int) -> float:
        """Return how far away it is without a world, so long after it appeared (m)."""
        speed, nearest = self.approach
        return max(self.distance - speed * elapsed_ns / 1e9, min(nearest, self.distance))

    def places(self, distance: float) -> Sequence[tuple[Body, Placed]]:
        """
        Return each body and where it is as seen from the robot without a world.

        For scanners, and for pictures.

        :param distance: of the first (m)
        """
        return [(body, body.seen_from(distance)) for body in self.bodies()]

    def scanned(self, distance: float) -> tuple[ScanShape, ...]:
        """Return what a scanner sees of it without a world, as high as it needs to be."""
        return tuple(_shape(body, place) for body, place in self.places(distance))

    def tracked(self, distance: float) -> tuple[float, float]:
        """Return where a tracker sees it without a world, x and y (m)."""
        x, y, _ = self.places(distance)[0][1]
        return x, y

    def show(self, topic: str, interface: str, frame: str, rate_hz: float,
             elapsed_ns: int, scanner: Scanner = ALL_AROUND) -> Stimulus:
        """
        Return the message that shows it without a world, and the true distance beside it.

        :param interface: of a scanner or of a tracker
        :param frame: of the message (REP 105)
        :param elapsed_ns: since it appeared
        :param scanner: that sees it, if the interface is that of one
        """
        distance = self.distance_at(elapsed_ns)
        if interface == LASER_SCAN:
            message = _scan(frame, rate_hz, self.scanned(distance), scanner)
        else:
            x, y = self.tracked(distance)
            message = Message.model_construct(
                type=interface, data={'header': {'frame_id': frame}, 'pose': {
                    'position': {'x': x, 'y': y, 'z': 0.0},
                    'orientation': {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}}})
        return Stimulus(topic, message, truth=(('distance', distance),))


def goes_its_own_way(intent: Intent | None) -> bool:
    """Return whether a body of it moves in a world, and stands without one."""
    return isinstance(intent, BodyIntent) and any(
        body.motion.walk is not None and body.motion.walk.speed > 0 for body in intent.bodies())


def _shape(body: Body, place: Placed) -> ScanShape:
    x, y, _ = place
    if body.to_face:
        return Face(x - body.depth, y - body.solid.width / 2, y + body.solid.width / 2)
    return Cylinder(math.hypot(x, y), math.atan2(y, x), body.footprint.radius)


@lru_cache(maxsize=64)
def _scan(frame: str, rate_hz: float, shapes: tuple[ScanShape, ...], scanner: Scanner) -> Message:
    """Return the scan; that of what stands still is the same message each time."""
    return Message.model_construct(type=LASER_SCAN, data=laser_scan(
        frame, rate_hz, shapes, scanner))
