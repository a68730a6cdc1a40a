# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a stimulus changes in the world, apart from how it looks as messages.

Places are as seen from the robot's origin at the moment of the change, x ahead and y to the left
(REP 103). From then on the world moves what was put there, and the robot itself.

An intent with a body in the world is a ``body_intent.BodyIntent``, in the module of its stimulus.
Another package adds one by an entry point ``safety_scenarios.intents``.
"""

from collections.abc import Sequence
import math
from typing import Any, ClassVar, Literal

from pydantic import model_serializer, model_validator, SerializerFunctionWrapHandler
from safety_scenarios.errors import UnknownPluginError
from safety_scenarios.registry import resolve
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.world.body import Body
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
