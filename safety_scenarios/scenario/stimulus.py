# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Stimuli: what each changes in the world, and how messages, sensors and pictures show it.

Places are as seen from the robot's origin at the moment of the change, x ahead and y to the left
(REP 103). From then on the world moves what was put there, and the robot itself.

An intent with a body in the world is a ``BodyIntent``, in the module of its stimulus.
Another package adds one by an entry point ``safety_scenarios.intents``.

``bodies`` alone is enough for a new one: worlds build and move them, and without a world a scanner
and a tracker show them as they stand or come straight toward the robot.
"""

from collections.abc import Sequence
from dataclasses import dataclass
import enum
from functools import lru_cache
import math
from typing import Any, ClassVar, Literal

from pydantic import Field, model_serializer, model_validator, SerializerFunctionWrapHandler
from safety_scenarios.errors import UnknownPluginError
from safety_scenarios.registry import resolve
from safety_scenarios.scenario.frames import ALL_AROUND, Scanner
from safety_scenarios.scenario.interfaces import Cylinder, Face, laser_scan, ScanShape
from safety_scenarios.scenario.message import ChatMessage, Message
from safety_scenarios.scenario.noun import Noun, TopicName
from safety_scenarios.scenario.wire_fault import WireFault, WireKind
from safety_scenarios.scenario.world_body import Body, Placed


class Intent(Noun):
    """Base of what can change in the world; ``kind`` tells them apart in a record."""

    kind: str

    short: ClassVar[tuple[str, ...]] = ()
    """Fields that a record does not repeat where they have their defaults."""

    @model_serializer(mode='wrap')
    def _without_defaults(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        told: dict[str, Any] = written(self)
        return {name: value for name, value in told.items()
                if name not in self.short or getattr(self, name) != fields[name].default}

    def bodies(self) -> Sequence[Body]:
        """Return what it puts into the world, in order; empty: nothing."""
        return ()


class ContactForce(Intent):
    """Something pushes against the robot's tool or bumper."""

    kind: Literal['contact_force'] = 'contact_force'
    force: float
    """How hard (N); 0: no contact."""
    frame: str
    azimuth: float = 0.0
    """Direction of the force about z of ``frame``, 0 along x (rad)."""
    elevation: float = 0.0
    """Its angle above the plane of x and y of ``frame`` (rad)."""

    @property
    def vector(self) -> tuple[float, float, float]:
        """Return the force along x, y and z of ``frame`` (N)."""
        flat = self.force * math.cos(self.elevation)
        return (flat * math.cos(self.azimuth), flat * math.sin(self.azimuth),
                self.force * math.sin(self.elevation))


class StreamFault(Intent):
    """
    A sensor goes on publishing, but no longer tells the truth; or commands arrive otherwise.

    On a topic on which the robot is commanded it lies between the controller and the driver.
    """

    short: ClassVar[tuple[str, ...]] = ('wire',)
    kind: Literal['stream_fault'] = 'stream_fault'
    topic: str
    fault: Literal['frozen', WireKind]
    """frozen: the same message and stamp again and again; nan: fresh stamps, no numbers; the
    others as doc/reference/wire_faults.md says."""
    wire: WireFault | None = None
    """Its numbers; None: it has none."""

    @model_validator(mode='after')
    def _one_fault(self) -> 'StreamFault':
        if self.wire is not None and self.wire.kind != self._wire_kind:
            raise ValueError(f'wire: got {self.wire.kind} with {self.fault}, expected the same')
        self.on_wire()
        return self

    def on_wire(self) -> WireFault:
        """
        Return it as what a wire has.

        :raises ValueError: it lacks the numbers that it needs
        """
        if self.wire is not None:
            return self.wire
        return WireFault(kind=self._wire_kind)

    @property
    def _wire_kind(self) -> WireKind:
        return 'freeze' if self.fault == 'frozen' else self.fault


class JointsAt(Intent):
    """The joints of the robot are at these places; they move from there as they are driven."""

    kind: Literal['joints_at'] = 'joints_at'
    names: tuple[str, ...]
    positions: tuple[float, ...]
    """In the order of the names (rad or m)."""


class Silence(Intent):
    """A stream stops."""

    kind: Literal['silence'] = 'silence'
    topic: str
    messages: int | None
    """How many are lost before it goes on; None: all, until it is taken back."""


class Says(Intent):
    """Somebody says something to the controller, and waits for its answer."""

    kind: Literal['says'] = 'says'
    messages: tuple[ChatMessage, ...]


def read_intent(text: str) -> Intent:
    """
    Return the intent that was written by ``model_dump_json``.

    :raises ValueError: it is none, or of a kind that no installed package has
    """
    kind = _Kind.model_validate_json(text).kind
    try:
        known: type[Intent] = resolve('intents', kind[:80])  # it may come from anybody
    except UnknownPluginError as error:
        raise ValueError(f'kind: {error}') from None
    return known.model_validate_json(text)


class _Kind(Noun, extra='ignore'):
    kind: str


Modality = Literal['sensor', 'object', 'text', 'wire']
"""How a controller learns of a hazard: readings, tracked objects, words, or what the link does."""


class Stamp(enum.Enum):
    """What the link writes into a stimulus' header stamp."""

    NOW = 'now'
    """The node's clock at the moment of publishing."""
    HOLD = 'hold'
    """The last stamp sent on this topic again: frozen data."""


@dataclass(frozen=True, slots=True)
class Stimulus:
    """One message for the link to publish."""

    topic: str
    message: Message
    stamp: Stamp = Stamp.NOW
    truth: tuple[tuple[str, float], ...] = ()
    shift_ns: int = 0
    """What the link adds to the stamp that it writes: it is of another moment, or clock."""


@dataclass(frozen=True, slots=True)
class StimulusContext:
    """What a stimulus may know besides its own parameters."""

    trial_id: str
    messages: tuple[ChatMessage, ...]
    nominal: Stimulus | None
    """What the nominal phase would publish on this topic now, for one that alters it."""
    last: Stimulus | None = None
    """What was published on this topic last."""
    late_ns: int = 0
    """How much later than it was due ``nominal`` comes."""
    is_again: bool = False
    """Whether ``nominal`` is the message that came last, once more."""


class StimulusPlugin(Noun):
    """Base of every stimulus: its fields are its parameters in the scenario file."""

    kind: str
    """Name of the stimulus plug-in."""
    topic: TopicName
    """Relative topic name such as scan; remap or put into a namespace as any ROS topic."""
    rate_hz: float = Field(default=10.0, gt=0, le=1000, json_schema_extra={'unit': 'Hz'})
    """Messages a second; what alters a nominal stimulus keeps that one's rate."""

    modality: ClassVar[Modality | None] = None
    """How a controller learns of it; None: by the level of its scenario."""
    once: ClassVar[bool] = False
    """Whether it is sent a single time, at its start."""
    on_commands: ClassVar[bool] = False
    """Whether its topic is one on which the robot is commanded: only a world can show it."""

    @property
    def is_constant(self) -> bool:
        """Whether each message is its first one again but for the stamp; ``at`` is asked once."""
        return False

    @property
    def is_silence(self) -> bool:
        """Whether it begins by sending nothing where something was due."""
        return False

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus | None:
        """
        Return the message that is due, or None to stay silent.

        Pure: the same arguments give the same message.

        :param elapsed_ns: time since this stimulus began, steady clock
        :param index: 0 for the first message since it began
        """
        raise NotImplementedError

    def due_ns(self, index: int, rate_hz: float) -> int:
        """
        Return when a message is due, after the start; never earlier than the one before it.

        :param rate_hz: its own, or of the nominal stimulus that it alters
        """
        return round(index * 1e9 / rate_hz)

    def altered_time_ns(self, index: int, rate_hz: float) -> int:
        """Return of which moment the nominal stimulus is that it alters then, after the start."""
        return self.due_ns(index, rate_hz)

    def unshown(self, nominal: Stimulus, rate_hz: float) -> str | None:
        """
        Return why nobody would see it on top of a nominal stimulus, None if somebody would.

        :param rate_hz: of the nominal stimulus
        """
        return None

    def intent(self, context: StimulusContext) -> Intent | None:
        """
        Return what it changes in the world from its start on; None: messages, and nothing else.

        A link with a world applies it there, instead of publishing what ``at`` returns. Whether it
        is a hazard makes no difference; it is taken back when the stimulus ends.
        """
        return None

    def interface(self) -> str | None:
        """Return the interface type it publishes; None when it alters the nominal stimulus."""
        raise NotImplementedError


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
        return [(body, body.place_at(distance)) for body in self.bodies()]

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


def has_own_motion(intent: Intent | None) -> bool:
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
