# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
A link with the embedded world: controller and physics in this process, in lock-step.

Simulated time passes only while the engine waits, as over loopback, and while it does the robot
moves: what is commanded comes back by what its sensors see. The same trial gives the same record
to the byte.
"""

from collections.abc import Sequence
from typing import Any

from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.interfaces import has_header, stamp_shifted, stamped
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Intent
from safety_scenarios.trial.links.loopback import LoopbackLink
from safety_scenarios.trial.trial import Trial
from safety_scenarios.worlds.mujoco.wires import Sensed, spelled_out
from safety_scenarios.worlds.mujoco.world import World


class SimulatedLink(LoopbackLink):
    """
    Loopback to a robot in a world; a scenario without ``ros`` has none and is played as there.

    :param arguments: as of ``LoopbackLink``, which has no ``robot``: the world has one
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.measuring = self.measuring.model_copy(update={
            'hosts_because': 'one process in simulated time, in lock-step with a world'})
        self._world: World | None = None
        self._begin_ns = self._now_ns

    def open(self, trial: Trial) -> None:  # noqa: A003
        """
        Begin a world anew, with a robot that stands at its start.

        :raises MeasurementError: the world that was drawn for this trial cannot be
        """
        super().open(trial)
        self._leave()
        self._begin_ns = self._now_ns
        has_world = not trial.scenario.body.is_in_words
        self.measuring = self.measuring.model_copy(update={
            'world': 'mujoco' if has_world else '', 'lockstep': has_world})
        if has_world:
            try:
                self._world = World(trial.scenario, trial.seed)
            except InputError as error:  # what was drawn for this trial; another one may do
                raise MeasurementError(f'the world: {error}') from None
            self._mount(self._world.frames)
            self._plan()

    def close(self) -> None:
        """Let the plug-ins hang up, and give up the world."""
        super().close()
        self._leave()

    def apply(self, topic: str, intent: Intent, *, hazard: bool) -> Stamps | None:
        """Let a stimulus happen in the world."""
        if self._world is None:
            return None
        self._world.advance(self._now_ns - self._begin_ns)
        stamps = self._stamp()
        is_shown = self._world.apply(topic, intent, hazard)
        if hazard and is_shown:
            self._see_hazard()
        self._plan()
        return stamps if is_shown else None

    def withdraw(self, topic: str) -> None:
        """Take back what was applied on a topic."""
        if self._world is not None:
            self._world.advance(self._now_ns - self._begin_ns)
            self._world.withdraw(topic)
            self._plan()

    def receive_until(self, schedule_ns: int) -> Sequence[Event]:
        """Let time pass, in the world too."""
        events = super().receive_until(schedule_ns)
        if not events and self._world is not None:
            self._world.advance(self._now_ns - self._begin_ns)
        return events

    def _execute(self, topic: str, message: Message) -> None:
        if self._world is None:
            super()._execute(topic, message)
            return
        self._world.advance(self._now_ns - self._begin_ns)
        stamps = self._stamp()
        self._world.command(topic, message, self._now_ns - self._begin_ns, stamps.system_ns)

    def _report(self) -> Sequence[Event]:
        """Return what the world's sensors and its truth say now."""
        if self._world is None:
            return super()._report()
        self._now_ns = max(self._now_ns, round(self._report_ns))
        world_ns = self._now_ns - self._begin_ns
        self._world.advance(world_ns)
        stamps = self._stamp()
        events: list[Event] = []
        for sensed in self._world.sensing(world_ns):
            if sensed.message is not None:
                events.append(self._event(sensed, sensed.message, stamps))
                continue
            events += [Event.model_construct(kind='state', name=name, stamps=stamps, truth=truth)
                       for name, truth in sensed.truths.items()]
        self._plan()
        return events

    def _plan(self) -> None:
        assert self._world is not None
        self._report_ns = self._begin_ns + self._world.due_ns

    def _event(self, sensed: Sensed, message: Message, stamps: Stamps) -> Event:
        """Let the controller hear a message; return what the record keeps of it."""
        topic = sensed.name
        if not sensed.is_held or topic not in self._stamps:
            self._stamps[topic] = stamp_shifted(stamps.system_ns, sensed.shift_ns)
        stamp_ns = self._stamps[topic]
        if topic in self._controller.inputs:
            self._receive(topic, spelled_out(message), stamp_ns)
        is_stamped = has_header(message)
        if is_stamped:
            stamps = self._stamp(stamp_ns)
        if not sensed.is_report:
            return Event.model_construct(kind='sensed', name=topic, stamps=stamps)
        return Event.model_construct(
            kind='feedback', name=topic, stamps=stamps,
            message=stamped(message, stamp_ns) if is_stamped else message)

    def _leave(self) -> None:
        if self._world is not None:
            self._world.close()
            self._world = None
