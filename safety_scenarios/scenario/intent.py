# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a stimulus changes in the world, apart from how it looks as messages.

Places are told from the robot's origin at the moment of the change, x ahead and y to the left
(REP 103). From then on the world moves what was put there, and the robot itself.
"""

from typing import Any, ClassVar, Literal

from pydantic import model_serializer, model_validator, SerializerFunctionWrapHandler
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.world.walking import Figure, Walk
from safety_scenarios.scenario.world.wire_fault import WireFault, WireKind


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


class PersonAt(Intent):
    """A person appears, and stands or walks toward the robot."""

    short: ClassVar[tuple[str, ...]] = ('walks', 'figure')
    kind: Literal['person_at'] = 'person_at'
    distance: float
    """From the robot's origin to the person's centre (m)."""
    bearing: float
    """Direction, 0 ahead, positive to the left (rad)."""
    speed: float
    """Speed of the person toward the robot (m/s)."""
    nearest: float
    """Distance at which a walking person comes to rest (m)."""
    count: int = 1
    """How many people: the first in that direction, each other beside the one before, farther
    left and as far away."""
    radius: float = 0.25
    """How wide a person is for a scanner (m)."""
    walks: Walk | None = None
    """Where the person goes instead of toward the robot."""
    figure: Figure = Figure()


class VehicleAt(Intent):
    """Another robot appears, round and as heavy as it says, and drives its own way."""

    kind: Literal['vehicle_at'] = 'vehicle_at'
    distance: float
    """From the robot's origin to the middle of the other (m)."""
    bearing: float
    """Direction, 0 ahead, positive to the left (rad)."""
    radius: float
    """Of its footprint (m)."""
    height: float
    """Of its body above the floor (m)."""
    mass: float
    """kg."""
    drives: Walk | None = None
    """None: it stands."""


class ObstacleAt(Intent):
    """A box appears across or beside the path."""

    short: ClassVar[tuple[str, ...]] = ('height', 'is_glass')
    kind: Literal['obstacle_at'] = 'obstacle_at'
    distance: float
    """From the robot's origin to the face of the box, along the path (m)."""
    lateral: float
    """Middle of the box to the left of the path (m)."""
    width: float
    """Width of its face (m)."""
    closing_speed: float
    """How fast the gap closes for a robot that drives on as it did (m/s): of a box that stands
    still that is the robot's own speed, which a world has already."""
    nearest: float
    """Gap at which it stops closing (m)."""
    height: float = 1.0
    """Of the box above the floor (m): a scanner sees nothing that is lower than its plane."""
    is_glass: bool = False
    """Whether a scanner sees it only where a beam meets it squarely."""


class ContactForce(Intent):
    """Something pushes against the robot's tool or bumper."""

    kind: Literal['contact_force'] = 'contact_force'
    force: float
    """Along x of ``frame`` (N); 0: no contact."""
    frame: str


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
    others as doc/wire_faults.md says."""
    wire: WireFault | None = None
    """Its numbers; None: it has none."""

    @model_validator(mode='after')
    def _one_fault(self) -> 'StreamFault':
        if self.wire is not None and self.wire.kind != self.fault:
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
        return WireFault(kind='freeze' if self.fault == 'frozen' else self.fault)


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

    :raises ValueError: it is none of those above
    """
    kinds = {known.model_fields['kind'].default: known for known in Intent.__subclasses__()}
    kind = _Kind.model_validate_json(text).kind
    if kind not in kinds:
        raise ValueError(f'kind: got {kind!r:.80}, expected one of {", ".join(sorted(kinds))}')
    return kinds[kind].model_validate_json(text)


class _Kind(Noun, extra='ignore'):
    kind: str
