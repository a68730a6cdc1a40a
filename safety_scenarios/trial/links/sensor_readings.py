# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the sensors of the embedded world showed in a trial, computed again from its record.

A record keeps when a sensor published (``sensed``) and not what. Over link ``simulated`` the same
trial gives the same events, so the world is run once more with the recorded commands. Its
readings count as long as every event comes out as recorded: a controller that failed as a program,
or another version of MuJoCo, ends that.
"""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from typing import Any

from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.interfaces import stamped
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world import MountedFrame
from safety_scenarios.trial.trial import TrialRecord

EMBEDDED = 'mujoco'
_BY_CONTROLLER = ('command', 'undeclared', 'output', 'timing')
"""Kinds of event that come from the controller, in the order in which they were recorded."""


Readings = tuple[Mapping[int, Message], Sequence[MountedFrame], str]


def sensor_readings(record: TrialRecord, without: Collection[str] = ()) -> Readings:
    """
    Return the messages of ``sensed`` events, where sensors are on the robot, and what is missing.

    :param without: interface types of which no messages are wanted, such as images
    :return: place of the event in the record to its message, with its header stamp; the frames;
        and why messages are missing, empty if none is
    """
    if not any(event.kind == 'sensed' for event in record.events):
        return {}, (), ''
    measuring = record.measuring
    if measuring.world != EMBEDDED or not measuring.exact:
        return {}, (), ('what sensors of a world published is not in the record, and can be '
                        'computed again only over link simulated')
    try:
        from safety_scenarios.trial.links.simulated import SimulatedLink
    except ImportError:
        return {}, (), ('what sensors of the world published is computed again from the record. '
                        "That needs MuJoCo: pip install 'safety_scenarios[sim]'")
    from safety_scenarios.trial.run import run_trial

    class RecordedLink(SimulatedLink):
        """The embedded world, in which the recorded controller acts."""

        def __init__(self) -> None:
            super().__init__(_Listener(measuring.listens))
            self.shown: list[Message | None] = []
            """What each ``sensed`` event was about, in order."""
            self.frames: Sequence[MountedFrame] = ()
            self._begin_ns = self._now_ns = record.events[0].stamps.steady_ns
            self._recorded = deque(event for event in record.events
                                   if event.kind in _BY_CONTROLLER)
            self._answered = deque(record.of_kind('response'))
            self._plan_tick()

        def _mount(self, frames: Any) -> None:
            self.frames = tuple(frames) or self.frames

        def _plan_tick(self) -> None:
            self._due_ns = self._recorded[0].stamps.steady_ns if self._recorded else _NEVER_NS

        def _tick(self) -> Sequence[Event]:
            now_ns = self._now_ns = max(self._now_ns, self._due_ns)
            found = []
            while self._recorded and self._recorded[0].stamps.steady_ns <= now_ns:
                event = self._recorded.popleft()
                found.append(event)
                if event.message is not None:
                    self._execute(event.name, event.message)
            self._plan_tick()
            return found

        def _ask(self, message: Message) -> None:
            if self._answered:  # at once, and so not before it was asked
                event = self._answered.popleft()
                self._later(event.stamps.steady_ns - self._now_ns, lambda: (event,))

        def _event(self, sensed: Any, message: Message, stamps: Stamps) -> Event:
            event = super()._event(sensed, message, stamps)
            if event.kind == 'sensed':
                header_ns = event.stamps.header_ns
                self.shown.append(None if message.type in without else stamped(
                    message, header_ns) if header_ns is not None else message)
            return event

    with closing(RecordedLink()) as link:
        again = run_trial(record.trial, link)
    count = len(record.events)
    until = next((place for place, (one, other) in enumerate(zip(
        again.events, record.events, strict=False)) if one != other),
        min(len(again.events), count))
    places = [place for place, event in enumerate(record.events[:until]) if event.kind == 'sensed']
    missing = '' if until == count else (
        f'what sensors of the world published is not known from event {until} of {count} on: '
        f'computed again, that event differs from the record')
    return {place: message for place, message in zip(places, link.shown, strict=False)
            if message is not None}, link.frames, missing


_NEVER_NS = 1 << 62


class _Listener:
    """Stands where the controller was: what it published is in the record."""

    topic, outputs, stamps, period_ns, answer_delay_ns = '', dict[str, str](), None, _NEVER_NS, 0

    def __init__(self, inputs: Sequence[str]) -> None:
        self.inputs = frozenset(inputs)

    def begin_trial(self, now_ns: int) -> None:
        """Forget nothing: it remembers nothing."""

    def receive(self, topic: str, message: Message, now_ns: int, stamp_ns: int | None) -> None:
        """Take a message, of which the link keeps a copy."""

    def close(self) -> None:
        """Give up nothing."""
