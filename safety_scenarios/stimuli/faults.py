# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Faults of sensors, of links and of commands."""

import dataclasses
from typing import ClassVar, get_args, Literal

from pydantic import Field, model_validator
from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.interfaces import has_header
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.message_types import without_numbers
from safety_scenarios.scenario.stimulus import (
    Silence,
    Stamp,
    Stimulus,
    StimulusContext,
    StimulusPlugin,
    StreamFault,
)
from safety_scenarios.scenario.wire_fault import OfContent, OfTime, WireFault, WireParameters
from safety_scenarios.stimuli.wire import altered, Packet, schedule


class LinkLoss(StimulusPlugin):
    """
    Publishes nothing where the nominal phase published; onset is the start of the silence.

    With ``drop`` only that many messages are lost, and then the nominal ones come again.
    """

    kind: Literal['link_loss'] = 'link_loss'
    modality = 'wire'
    drop: int | None = Field(default=None, ge=1)
    """How many messages are lost; None: all until the all-clear."""

    @property
    def is_silence(self) -> bool:
        return True

    def interface(self) -> None:
        """Return None: the nominal stimulus decides."""

    def intent(self, context: StimulusContext) -> Silence:
        """Return that the stream stops."""
        return Silence(topic=self.topic, messages=self.drop)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus | None:
        """Return None while the link is down."""
        return None if self.drop is None or index < self.drop else context.nominal


class CommandFault(WireParameters, StimulusPlugin):
    """
    Something is wrong with the way from the controller to the driver of its robot.

    The record keeps what the controller has sent. What the robot makes of what arrives is told by
    a world, and by nobody else: without one such a scenario is refused.
    """

    kind: Literal['command_fault'] = 'command_fault'
    modality = 'wire'
    fault: Literal[OfTime, OfContent]
    """What is wrong with the way of the commands, as doc/reference/wire_faults.md says."""

    on_commands: ClassVar[bool] = True

    @model_validator(mode='after')
    def _takes_its_numbers(self) -> 'CommandFault':
        self.on_wire()
        return self

    def on_wire(self) -> WireFault:
        """
        Return it as what a wire has.

        :raises ValueError: numbers that it does not take, or lacks
        """
        return WireFault(kind=self.fault, **self.given)

    def interface(self) -> None:
        """Return None: the controller decides what it sends."""

    def intent(self, context: StimulusContext) -> StreamFault:
        return StreamFault(topic=self.topic, fault=self.fault, wire=self.on_wire())

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus | None:
        """Return None: the harness commands nothing, not even by what it repeats."""
        return None


_LATE = frozenset(get_args(OfTime)) - {'freeze', 'duplicate'}
"""Faults that begin with a message that does not come when it is due."""


class SensorFault(WireParameters, StimulusPlugin):
    """
    Alters what the nominal phase publishes on the same topic.

    - ``frozen``: the last message again and again, its header stamp standing still; with
      ``messages`` only so often
    - ``nan``: fresh stamps, every range or number of the payload NaN
    - ``drop``, ``delay``, ``jitter``, ``duplicate``, ``reorder``, ``throttle``: what arrives when
    - ``noise``, ``bias``, ``quantise``, ``truncated``, ``wrong_modality``: what it says
    - ``stale``, ``future``, ``foreign_clock``, ``wrong_frame``: what its header says

    Each takes the numbers that doc/reference/wire_faults.md lists. Without a world nothing of it
    claims anything about distances: what is published is not what is true.
    """

    kind: Literal['sensor_fault'] = 'sensor_fault'
    modality = 'wire'
    fault: Literal['frozen', 'drop', 'delay', 'jitter', 'duplicate', 'reorder', 'throttle',
                   OfContent]
    """What is wrong with the sensor."""

    @model_validator(mode='after')
    def _takes_its_numbers(self) -> 'SensorFault':
        wire = self.on_wire()
        if wire.kind == 'drop' and wire.share == 1 and wire.messages is None:
            raise ValueError('share: got 1, expected less: then nothing comes any more. Use the '
                             'stimulus link_loss')
        return self

    def on_wire(self) -> WireFault:
        """
        Return it as what a wire has.

        :raises ValueError: numbers that it does not take, or lacks
        """
        return WireFault(kind='freeze' if self.fault == 'frozen' else self.fault, **self.given)

    @property
    def is_silence(self) -> bool:
        return self.fault in _LATE

    def interface(self) -> None:
        """Return None: the nominal stimulus decides."""

    def intent(self, context: StimulusContext) -> StreamFault:
        return StreamFault(topic=self.topic, fault=self.fault,
                           wire=self.on_wire() if self.given else None)

    def due_ns(self, index: int, rate_hz: float) -> int:
        """Return when a message comes, after the start, whichever it is."""
        if self._is_late:
            return schedule(self.on_wire(), rate_hz).at(index)[0]
        return super().due_ns(index, rate_hz)

    def altered_time_ns(self, index: int, rate_hz: float) -> int:
        """Return when the message would have come without the fault."""
        if self._is_late:
            found = schedule(self.on_wire(), rate_hz)
            return found.due_ns(found.at(index)[1])
        return super().altered_time_ns(index, rate_hz)

    @property
    def _is_late(self) -> bool:
        return self.fault in _LATE or self.fault == 'duplicate'

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus | None:
        """
        Return the nominal message with the fault in it.

        :raises MeasurementError: it is in none of the nominal messages
        """
        nominal = context.nominal
        if nominal is None:
            return None
        if self.fault == 'frozen':
            if self.messages is not None and index >= self.messages:
                return nominal
            return dataclasses.replace(context.last or nominal, stamp=Stamp.HOLD)
        if self.fault == 'nan' and self.fields is None:
            broken = without_numbers(nominal.message)
            return dataclasses.replace(nominal, message=broken, truth=())
        if self._is_late:
            return dataclasses.replace(
                nominal, truth=(), shift_ns=-context.late_ns,
                stamp=Stamp.HOLD if context.is_again else nominal.stamp)
        found = self._altered(nominal, index, elapsed_ns)
        if index == 0 and (why := self._nothing(nominal, found)) is not None:
            raise MeasurementError(f'{self.topic}: {why}')
        return found

    def _altered(self, nominal: Stimulus, index: int, elapsed_ns: int) -> Stimulus:
        before = Packet(nominal.message, 0 if has_header(nominal.message) else None)
        after = altered(self.on_wire(), before, index, elapsed_ns)
        shift_ns = (after.stamp_ns or 0) - (before.stamp_ns or 0)
        return dataclasses.replace(nominal, message=after.message, truth=(), shift_ns=shift_ns)

    def _nothing(self, nominal: Stimulus, found: Stimulus) -> str | None:
        """Return why two messages are the same, None if they are not."""
        if found.shift_ns != nominal.shift_ns or not _same(found.message, nominal.message):
            return None
        wanted = {'wrong_frame': 'a header in another frame', 'stale': 'a header',
                  'future': 'a header', 'foreign_clock': 'a header',
                  'truncated': 'a list that can be cut'}.get(
                      self.fault, 'numbers with a decimal point that it changes')
        fields = f' in {", ".join(self.fields)}' if self.fields else ''
        return (f'got {self.on_wire()}, which changes nothing in a {nominal.message.type}, '
                f'expected a message with {wanted}{fields}. Choose another fault, or topic')

    def unshown(self, nominal: Stimulus, rate_hz: float) -> str | None:
        if self.fault == 'throttle' and self.most_hz is not None and self.most_hz >= rate_hz:
            return (f'most_hz: got {self.most_hz:g}, expected less than the {rate_hz:g} messages '
                    f'a second that come before the hazard')
        if self.fault == 'frozen' or self._is_late or (
                self.fault == 'foreign_clock' and not self.offset_s):
            return None
        return self._nothing(nominal, self._altered(nominal, 0, 0))


def _same(one: Message, other: Message) -> bool:
    """Return whether two messages say the same; NaN is the same as NaN."""
    return one == other or repr(one) == repr(other)
