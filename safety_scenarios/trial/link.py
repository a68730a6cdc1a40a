# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a link must be able to do, and what it is to do in a campaign."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
from typing import Any, NamedTuple

from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.blocks.nominal_calls import Call
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.conversation import Envelope
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.hil import HilSettings
from safety_scenarios.scenario.qos_overrides import QosOverride
from safety_scenarios.scenario.servers import ModelServer
from safety_scenarios.scenario.settings import EXTERNAL, RunSettings
from safety_scenarios.scenario.stimulus import Intent, Stimulus
from safety_scenarios.scenario.timing import ClockRules, Measuring, ScheduleClock
from safety_scenarios.scenario.topic_names import RosNames
from safety_scenarios.scenario.world import World, WorldSettings
from safety_scenarios.trial.summary import PreflightRow
from safety_scenarios.trial.trial import Trial

Gate = Callable[[str, bool, Callable[[], None]], bool]
"""
(topic, whether it is the hazard, how it leaves): let a stimulus leave, and return whether it did.
"""


def leave_at_once(topic: str, is_hazard: bool, leave: Callable[[], None]) -> bool:
    """Let everything leave: the gate of a link that has none."""
    leave()
    return True


class Link:
    """
    Base of every link; the engine has no clock and asks the link for every time.

    A link has two kinds of time. Its *stamps* say when something happened, on every clock that it
    can read. Its *schedule clock* says when something is due: the steady clock, or ROS time where
    a simulation makes it, so that a slow simulation does not shorten a hazard. ``timing`` says
    which of the two it is, and ``schedule_ns`` reads it from the stamps of an event.

    A trial calls ``open``, then ``arm`` once, right before the hazard may be published, and at
    its end ``disarm``, whatever has happened. ``close`` is called once all trials are over.
    """

    measuring: Measuring = Measuring()
    """How it measures time, and how well; as of the last ``open``."""
    rehearses: bool = False
    """
    Whether no real hazard can come here, so that of a scenario with ``ros.onset`` the stimuli are
    played, and something stands in for the reference sensor.
    """

    def schedule_ns(self, stamps: Stamps) -> int:
        """Return when something happened on the schedule clock."""
        return self.measuring.schedule_ns(stamps)

    def preflight(self) -> Sequence[PreflightRow]:
        """Return what the last ``open`` found on the other end."""
        return ()

    def open(self, trial: Trial) -> None:  # noqa: A003
        """
        Get ready for a trial: endpoints matched, types known, nothing left in the queue.

        :raises LinkTimeoutError: somebody is missing on the other end
        """

    def let_by(self, gate: Gate) -> None:
        """
        Ask this gate for each stimulus that leaves in a thread of the link's own.

        What ``send`` and the others publish themselves is not asked for: the caller knows of it.
        """

    def apply(self, topic: str, intent: Intent, *, hazard: bool) -> Stamps | None:
        """
        Let a stimulus happen in the world instead of publishing it.

        It lasts until ``withdraw`` of its topic, until another one is applied on that topic, or
        to the end of the trial (``disarm``). The world then shows it by its own sensors, and tells
        by ``state`` events, named as the topic, how far away what it has put there is.

        :param topic: of the stimulus, which names it: there is one at a time on each
        :param intent: of a kind that this world may not know
        :return: the clocks, read right before the change; None: this link has no world, or none
            that can do this, so that the stimulus is published as messages
        """
        return None

    def withdraw(self, topic: str) -> None:
        """Take back what was applied on a topic, or is drawn into live data there."""

    def arm(self) -> None:
        """
        Get ready for the hazard, such as by releasing an interlock; it may come from now on.

        Not called when the controller never got moving, nor by a preflight.

        :raises MeasurementError: the hazard must not be published; the trial ends with this fault
        """

    def disarm(self) -> None:
        """
        Take back what ``arm`` and ``apply`` did; called at the end of every trial, armed or not.

        Also after an exception, and after Ctrl-C twice: calling it again does nothing. It must not
        rely on ``open`` having succeeded.
        """

    def close(self) -> None:
        """Give up everything that this link holds; calling it again does nothing."""

    def mark(self, name: str) -> Event:
        """Return a ``mark`` event stamped now; also before ``open`` and after ``close``."""
        raise NotImplementedError

    def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event | None:
        """
        Publish, with the clocks read right before it.

        :param scheduled_ns: when it was due, on the schedule clock; part of the event
        :return: the ``stimulus`` event. None: it is drawn into live data, until the next one on
            its topic or ``withdraw``; each message that shows it comes as an event when it left
        """
        raise NotImplementedError

    def deliver(self, envelope: Envelope, hearers: Sequence[str]) -> Stamps:
        """
        Let live agents hear the harness, or what another agent says; in a scenario with agents.

        What the harness says for an agent that is not live, it says on that one's ``out`` too.

        :param hearers: ids, in this order
        :return: the clocks, read right before the first of them is told
        :raises MeasurementError: this link carries no conversations
        """
        raise MeasurementError(f'{type(self).__name__}: got a scenario with agents, expected one '
                               f'with stimuli and commands only. Use another link')

    def happen(self, symbol: str) -> None:
        """
        Let what the scenario names so happen in a world of apps, right before it is told.

        :raises MeasurementError: it cannot happen there
        """

    def call(self, call: Call, symbol: str) -> Event:
        """
        Ask the stack for something before the hazard; return the ``call`` event at once.

        What becomes of it comes as ``call_state`` events with the same ``symbol``. A goal that was
        accepted is cancelled by ``disarm``.

        :param symbol: names the call in the trial
        :raises MeasurementError: this link cannot ask, or nobody is there to be asked
        """
        raise MeasurementError(f'{type(self).__name__}: got a scenario with a {call}, expected '
                               f'one without ros.nominal.calls. Use link ros')

    def overlooked(self) -> Sequence[Event]:
        """Return what would be missed in the record, asked once right before its end."""
        return ()

    def late_stalls(self) -> Sequence[Event]:
        """Return stalls that were not over when the observation ended, asked once after that."""
        return ()

    def receive_until(self, schedule_ns: int) -> Sequence[Event]:
        """
        Wait until ``schedule_ns`` on the schedule clock; return what arrived meanwhile, in order.

        It may return early with at least one event. Faults of the other end are events too. A
        tool that an agent called has been answered: the call comes with its result, unless a
        world answers it (``Tool.returns``).

        :raises ClockError: the schedule clock stands still, so that the time would never come
        """
        raise NotImplementedError


class ForwardingLink(Link):
    """
    Base of a link around a link: all of it is the inner link's, but for what a subclass overrides.

    :param inner: what reaches the controller
    """

    def __init__(self, inner: Link) -> None:
        self._inner = inner

    @property
    def measuring(self) -> Measuring:  # type: ignore[override]
        """Return how the inner link measures time."""
        return self._inner.measuring

    @property
    def rehearses(self) -> bool:  # type: ignore[override]
        """Return whether the inner link plays hazards that come from outside elsewhere."""
        return self._inner.rehearses

    def preflight(self) -> Sequence[PreflightRow]:
        return self._inner.preflight()

    def open(self, trial: Trial) -> None:  # noqa: A003
        self._inner.open(trial)

    def let_by(self, gate: Gate) -> None:
        self._inner.let_by(gate)

    def apply(self, topic: str, intent: Intent, *, hazard: bool) -> Stamps | None:
        return self._inner.apply(topic, intent, hazard=hazard)

    def withdraw(self, topic: str) -> None:
        self._inner.withdraw(topic)

    def arm(self) -> None:
        self._inner.arm()

    def disarm(self) -> None:
        self._inner.disarm()

    def close(self) -> None:
        self._inner.close()

    def mark(self, name: str) -> Event:
        return self._inner.mark(name)

    def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event | None:
        return self._inner.send(stimulus, hazard=hazard, scheduled_ns=scheduled_ns)

    def deliver(self, envelope: Envelope, hearers: Sequence[str]) -> Stamps:
        """Pass on to live agents what one of them says."""
        return self._inner.deliver(envelope, hearers)

    def happen(self, symbol: str) -> None:
        self._inner.happen(symbol)

    def call(self, call: Call, symbol: str) -> Event:
        return self._inner.call(call, symbol)

    def overlooked(self) -> Sequence[Event]:
        return self._inner.overlooked()

    def late_stalls(self) -> Sequence[Event]:
        return self._inner.late_stalls()

    def receive_until(self, schedule_ns: int) -> Sequence[Event]:
        return self._inner.receive_until(schedule_ns)


_LONGEST_START_S = 3600.0


class ControllerFacts(NamedTuple):
    """What planning has to know of a controller, as values that can travel."""

    parameters: Mapping[str, Any]
    """Dotted names to values as JSON has them, of those that differ from their defaults."""
    known: Sequence[str]
    """Every parameter that it has, by its dotted name."""
    server: Sequence[str]
    """What the settings say of its language model, as ``KEY=VALUE``."""
    critical_shares: Mapping[str, float]
    """Parameters (ms) that nobody has set, and are so many times a scenario's critical limit."""
    model: str
    """The language model that it asks; empty if nothing says which."""
    takes_real_time: bool
    declared_topics: Sequence[str]
    """Topics that it says it reads and writes."""
    brake_lag: float
    """How much too late its simulated robot brakes."""
    has_threads: bool = False
    """Whether it is one of ours that decides by several threads."""
    needed_topics: Sequence[str] = ()
    """Topics without which it commands no motion, each as topic:type."""
    files: Sequence[str] = ()
    """Paths of files that it is made of, beside its source."""
    starts_within_s: float = 0.0
    """How long its process may take until it is found, such as to load a model; 0: as any."""

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> 'ControllerFacts':
        """
        Return what another process says of a controller.

        :raises ValueError: it says something else
        :raises TypeError: the same
        """
        facts = cls(**data)
        lag = float(facts.brake_lag)
        if not 0 <= lag < math.inf:
            raise ValueError(f'simulated_brake_lag {lag:g}, expected a number from 0 on')
        return cls(dict(facts.parameters), tuple(map(str, facts.known)),
                   tuple(map(str, facts.server)),
                   {str(name): float(share) for name, share in facts.critical_shares.items()},
                   str(facts.model), bool(facts.takes_real_time),
                   tuple(map(str, facts.declared_topics)), lag,
                   needed_topics=tuple(map(str, facts.needed_topics)),
                   files=tuple(map(str, facts.files)),
                   starts_within_s=min(_LONGEST_START_S, max(0.0, float(facts.starts_within_s))))


NO_FACTS = ControllerFacts({}, (), (), {}, '', False, (), 0.0)
"""Of a controller that runs already."""


@dataclass(frozen=True)
class ControllerPlan:
    """The controller under test, and what every controller of the campaign gets."""

    spec: ControllerSpec
    parameters: tuple[str, ...] = ()
    """Of the controller under test, as ``KEY=VALUE``."""
    server: ModelServer = ModelServer()
    """For each controller that asks a language model."""
    model: str = ''
    """The language model that the controller under test asks; empty if that is unknown."""
    period_ms: float = 50.0
    command_type: str = ''
    """Interface type on which to command; empty: the usual one of the robot."""
    facts: ControllerFacts = NO_FACTS
    is_isolated: bool = False
    """Whether it is no controller of the harness, and runs in a process of its own."""
    is_in_harness: bool = False
    """Whether it is none, and a link in this process runs it there all the same."""
    given: Any = None
    """The controller itself, or its process, if no plug-in has its name."""
    hidden: tuple[Path, ...] = ()
    """Folders that are hidden from a process of its own: the campaign's, or that of the whole
    study, of a replay also those of the campaigns before, and that of the logs."""
    readable: str = ''
    """Why a process of its own could read the files of the campaign; empty: it cannot."""

    @property
    def name(self) -> str:
        """Return the name of its plug-in."""
        return self.spec.name

    @property
    def is_external(self) -> bool:
        """Whether it runs already, and is not started by the campaign."""
        return self.spec.name == EXTERNAL


@dataclass(frozen=True)
class RosPlan:
    """What only a link over ROS needs."""

    parameters: RunSettings
    """The settings of the campaign, which the measuring node declares as its parameters."""
    node_name: str
    domain_id: int
    """-1: a free one, or that of the environment."""
    connect_timeout_s: float
    hosts: str
    """Where the controller runs: auto, one or two."""
    use_sim_time: bool
    schedule_clock: ScheduleClock
    calibration: str
    realtime: bool
    has_live_topics: bool
    publishes_frames: bool
    """Whether a frame that an external robot does not publish may be published for it."""
    overrides: Sequence[QosOverride]
    """Of the quality of service."""
    merges: Mapping[str, str]
    """Topic of a stimulus to the live topic into whose data it is drawn."""
    real_time_factor: float
    """Of the embedded simulator; 0: as fast as can be."""
    external: WorldSettings
    """How a simulator that runs already is reached."""
    hil: HilSettings


@dataclass(frozen=True)
class LinkPlan:
    """
    What a link plug-in is to do; every value can be pickled, if no controller object is given.

    ``controller_settings`` and ``plugin_of`` take its ``controller``.
    """

    name: str
    """Of the plug-in."""
    world: World
    """The world that answers behind the link."""
    controller: ControllerPlan
    names: RosNames
    clock: ClockRules
    declared_topics: tuple[str, ...]
    """Other topics on which the controller may command motion."""
    ros: RosPlan
