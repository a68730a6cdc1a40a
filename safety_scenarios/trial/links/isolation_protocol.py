# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the harness and a controller's own process send each other.

The process believes the harness and reads its requests as pickles. The harness believes nothing
from the process: replies are JSON, whatever they claim to be is built anew here, and a frame is
bounded in size. A pickle could run any code in the reader.
"""

from collections.abc import Callable, Mapping, Sequence
import json
import os
import pickle
import select
import struct
import time
from typing import Any, NamedTuple

from safety_scenarios.controllers.host import LONGEST_NS
from safety_scenarios.scenario.conversation import Utterance
from safety_scenarios.scenario.message import (
    Command,
    CommandStamps,
    Message,
    not_decided,
    Observation,
    Reading,
)
from safety_scenarios.scenario.noun import frozen, Key, Shape, shape_of
from safety_scenarios.scenario.world import MountedFrame

MAX_REPLY = 64_000_000
"""Bytes of one reply; more than any command, answer or list of topics has."""
_LENGTH = struct.Struct('<I')
_CHUNK = 1 << 20
_LOOK_MS = 1000
_SAME = 'same'
"""Instead of a decision: the object that was decided the last time."""


class ConnectionLost(Exception):
    """The other end has closed the connection, or its process has ended."""


class Frames:
    """
    Sends and receives byte strings over one socket, each as a whole.

    :param descriptor: of a connected stream socket, which is closed by ``close``
    :param most: bytes of one frame; a longer one is refused
    :param end: descriptor that can be read when the process at the other end has ended; -1: none
    """

    def __init__(self, descriptor: int, most: int, end: int = -1) -> None:
        self._descriptor, self._most = descriptor, most
        os.set_blocking(descriptor, False)
        self._arrives, self._leaves = select.poll(), select.poll()
        self._arrives.register(descriptor, select.POLLIN)
        self._leaves.register(descriptor, select.POLLOUT)
        if end >= 0:
            for poll in (self._arrives, self._leaves):
                poll.register(end, select.POLLIN)
        self._rest, self._looked_s = b'', 0.0

    def send(self, frame: bytes, look: Callable[[], None] = lambda: None) -> None:
        """
        Send one frame.

        :param look: called each second, however slowly the other end takes it; what it raises
            ends the wait
        :raises ConnectionLost: the other end is closed
        """
        left, self._looked_s = memoryview(_LENGTH.pack(len(frame)) + frame), time.monotonic()
        while left:
            try:
                left = left[os.write(self._descriptor, left):]
            except BlockingIOError:
                self._await(self._leaves, look)
            except OSError as error:
                raise ConnectionLost from error

    def receive(self, look: Callable[[], None] = lambda: None) -> bytes:
        """
        Wait for one frame.

        :param look: called each second, whatever arrives; what it raises ends the wait
        :raises ConnectionLost: the other end is closed
        :raises ValueError: the frame is longer than it may be
        """
        [length] = _LENGTH.unpack(self._read(_LENGTH.size, look))
        if length > self._most:
            raise ValueError(f'got {length} bytes in one reply, expected at most {self._most}')
        return self._read(length, look)

    def close(self) -> None:
        """Close the socket; calling it again does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _await(self, poll: select.poll, look: Callable[[], None]) -> bool:
        """
        Wait for the socket, at most for a second, and return whether it is ready.

        :raises ConnectionLost: the process at the other end has ended, and has left nothing
        """
        found = poll.poll(_LOOK_MS)
        is_ready = any(one == self._descriptor for one, _ in found)
        if found and not is_ready:
            is_ready = any(one == self._descriptor for one, _ in poll.poll(0))
            if not is_ready:
                raise ConnectionLost
        if not is_ready or time.monotonic() - self._looked_s > _LOOK_MS / 1e3:
            look()
            self._looked_s = time.monotonic()
        return is_ready

    def _read(self, count: int, look: Callable[[], None]) -> bytes:
        parts, missing = [self._rest], count - len(self._rest)
        while missing > 0:
            if not self._await(self._arrives, look):
                continue
            try:
                part = os.read(self._descriptor, _CHUNK)
            except OSError as error:
                raise ConnectionLost from error
            if not part:
                raise ConnectionLost
            parts.append(part)
            missing -= len(part)
        taken = b''.join(parts)
        self._rest = taken[count:]
        return taken[:count]


class Request(NamedTuple):
    """What the harness asks, answered by one reply with the same number."""

    number: int
    kind: str
    content: Any


def packed(request: Request) -> bytes:
    """Return the frame of a request."""
    return pickle.dumps(tuple(request), pickle.HIGHEST_PROTOCOL)


def unpacked(frame: bytes) -> Request:
    """Return the request in a frame of the harness."""
    return Request(*pickle.loads(frame))


class ObservationWriter:
    """Writes observations without repeating messages and frames that the reader has already."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[str, int], tuple[int, Shape]] = {}
        self._sent: dict[str, Message] = {}
        self._frames: tuple[MountedFrame, ...] = ()

    def write(self, observation: Observation) -> Any:
        """Return what ``ObservationReader`` reads as this observation."""
        new, readings = {}, {}
        for topic, reading in observation.readings.items():
            message = reading.message
            if self._sent.get(topic) is not message:
                self._sent[topic] = message
                new[topic] = self._message(message)
            readings[topic] = reading.age_ns, reading.stamp_age_ns
        frames = observation.frames
        if frames == self._frames:
            return observation.t_ns, readings, new, None
        self._frames = frames
        return observation.t_ns, readings, new, frames

    def _message(self, message: Message) -> Any:
        shape = message.shape
        if shape is None:
            return message
        key = message.type, id(shape)  # of a shape that is kept, so that no other has its id
        known = self._shapes.get(key)
        if known is not None:
            return known[0], message.packed, message.others
        self._shapes[key] = len(self._shapes), shape
        return message.type, shape.key, shape.wide, message.packed, message.others


class ObservationReader:
    """Reads what one ``ObservationWriter`` has written, in the same order."""

    def __init__(self) -> None:
        self._shapes: list[tuple[str, Shape]] = []
        self._messages: dict[str, Message] = {}
        self._frames: tuple[MountedFrame, ...] = ()

    def read(self, written: Any) -> Observation:
        """Return the observation that was written."""
        t_ns, readings, new, frames = written
        if frames is not None:
            self._frames = frames
        for topic, message in new.items():
            self._messages[topic] = self._message(message)
        return Observation.model_construct(t_ns=t_ns, readings={
            topic: Reading.model_construct(message=self._messages[topic], age_ns=age_ns,
                                           stamp_age_ns=stamp_age_ns)
            for topic, (age_ns, stamp_age_ns) in readings.items()}, frames=self._frames)

    def _message(self, written: Any) -> Message:
        if isinstance(written, Message):
            return written
        if len(written) > 3:
            kind, key, wide, *written = written
            self._shapes.append((kind, _shape(key, wide)))
            index = -1
        else:
            index, *written = written
        kind, shape = self._shapes[index]
        return Message.of(kind, shape, *written)


def _shape(key: Key, wide: bool) -> Shape:
    return shape_of(key, wide=True) if wide else shape_of(key)


def reply(number: int, content: Mapping[str, Any]) -> bytes:
    """
    Return the frame of a reply.

    :raises ValueError: something in it is nothing that JSON can say
    """
    try:
        return json.dumps([number, content], default=_plain).encode()
    except (TypeError, RecursionError) as error:
        raise ValueError(f'got {error}, expected numbers, texts, sequences and mappings') from None


def _plain(value: Any) -> Any:
    """Return an array, a scalar of numpy or bytes as lists and numbers."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (bytes, bytearray)):
        return list(value)
    listed = getattr(value, 'tolist', None)
    if callable(listed):
        return listed()
    raise TypeError(f'{value!r:.100} of {type(value).__name__}')


def read_reply(frame: bytes) -> tuple[int, dict[str, Any]]:
    """
    Return the number of the request and the content of its reply.

    :raises ValueError: it is no reply
    """
    try:
        number, content = json.loads(frame)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if type(number) is not int or not isinstance(content, dict):
        raise ValueError('expected a number and a mapping')
    after_ns = content.get('after_ns', 0)
    if type(after_ns) is not int or not 0 <= after_ns <= LONGEST_NS:
        raise ValueError(f'after_ns: got {after_ns!r:.40}, expected a time')
    return number, content


class DecisionWriter:
    """Writes decisions; of one object again and again only that it is the same."""

    def __init__(self) -> None:
        self._last: Command | Message | None = None

    def write(self, decided: Any) -> Any:
        """
        Return what ``DecisionReader`` reads as this decision.

        :raises TypeError: a controller cannot decide that
        """
        if decided is None:
            return None
        if decided is self._last:
            return _SAME
        if isinstance(decided, Command):
            stamps, velocity = decided.stamps, list(decided.velocity)
            written: Any = velocity if stamps is None \
                else {'velocity': velocity, 'stamps': stamps.model_dump(exclude_none=True)}
        elif isinstance(decided, Message):
            written = message_written(decided)
        else:
            raise TypeError(not_decided(decided, 'its interface'))
        self._last = decided
        return written


class DecisionReader:
    """Reads what one ``DecisionWriter`` has written, in the same order."""

    def __init__(self) -> None:
        self._last: Command | Message | None = None

    def read(self, written: Any) -> Command | Message | None:
        """
        Return the decision.

        :raises ValueError: it is none
        """
        if written is None:
            return None
        if written != _SAME:
            self._last = _command_read(written) if isinstance(written, list) or (
                isinstance(written, dict) and 'velocity' in written) else message_read(written)
        return self._last


def _command_read(written: Any) -> Command:
    if isinstance(written, list):
        return Command(velocity=tuple(written))
    if written.keys() != {'velocity', 'stamps'} or not isinstance(written['velocity'], list) \
            or not isinstance(written['stamps'], dict):
        raise ValueError('expected a command with its stamps')
    return Command(velocity=tuple(written['velocity']), stamps=CommandStamps(**written['stamps']))


def message_written(message: Message) -> dict[str, Any]:
    """Return a message as JSON has it."""
    return {'type': message.type, 'data': message.data}


def message_read(written: Any) -> Message:
    """
    Return the message that was written.

    :raises ValueError: it is none
    """
    if not isinstance(written, dict) or written.keys() != {'type', 'data'}:
        raise ValueError('expected a message')
    return Message(type=written['type'], data=frozen(written['data']))


def utterances_read(written: Any) -> Sequence[Utterance]:
    """
    Return what an agent does in its turn.

    :raises ValueError: that is nothing of the kind
    """
    if not isinstance(written, list):
        raise ValueError('expected a list')
    return tuple(Utterance.model_validate(one) for one in written)
