# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One time-stamped thing that happened in a trial."""

from collections.abc import Mapping
import json
import os
from typing import Any, Literal, Protocol

from pydantic import Field
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import size, Slotted, slotted
from typing_extensions import Self

_SAME_NS = 1_000_000_000
"""ROS time that is farther from the system's is another clock's, as that of a simulation."""
_TRUTH, _NUMBER = 232, 24
"""Bytes of what is true, and of each number in it."""
LONGEST_CAUSE = 100
"""Characters of what cut an answer off."""
_TRUNCATED_BY = 'truncated_by'
STALL_BEGAN, STALL_ENDED, STALL_LOST = 'began', 'ended', 'lost'
"""What the truth of a stall tells."""
LISTENS = 'listens'
"""Symbol of an undeclared topic on which the harness reports, and the controller listens."""
OTHER_COMMANDER = 'other commander'
"""Name of the fault that the controller under test is no longer alone in commanding."""
_EVENT = 480
"""Bytes of an event without message: its slots, its stamps', and their ints."""
MAX_RECORD = min(2_000_000_000, os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') // 4)
"""
Most bytes of events that a trial may have: of Twists over ROS some 3 million, 50 minutes at 1 kHz.

On a machine with little memory a quarter of it: judging needs as much again.
"""


@slotted
class Stamps(Slotted):
    """
    When it happened, in integer nanoseconds on every clock the link could read.

    ``steady``, ``system`` and ``ros`` are read by the evaluator right before a publish or in the
    first line of a receive callback; ``source`` and ``received`` are the middleware's stamps of a
    received message (system time of the sender's and of the evaluator's host, None where the
    middleware gives none); ``header`` is what the sender wrote: it is reported, and only
    ``ros.silence`` goes by it, where it is ahead.
    """

    steady_ns: int
    system_ns: int
    ros_ns: int
    source_ns: int | None = None
    received_ns: int | None = None
    header_ns: int | None = None

    @classmethod
    def model_construct(  # type: ignore[override]
            cls, *, steady_ns: int, system_ns: int, ros_ns: int, source_ns: int | None = None,
            received_ns: int | None = None, header_ns: int | None = None) -> Self:
        """Return one of values that are known to be right; a trial makes one for each event."""
        made: Self = cls._open(steady_ns, system_ns, ros_ns, source_ns, received_ns, header_ns)
        made.__class__ = cls
        return made

    def counts_until_ns(self, offset_ns: int = 0) -> int:
        """
        Return the steady time from which a driver may count a silence after a command.

        Drivers go by the stamp in its header, and one that is ahead keeps a command alive.

        :param offset_ns: by how much the system clock that it was stamped with is ahead of ours;
            no part of a stamp in simulated time
        """
        if self.header_ns is None:
            return self.steady_ns
        is_system_time = abs(self.ros_ns - self.system_ns) < _SAME_NS
        return self.steady_ns + max(
            0, self.header_ns - self.ros_ns - (offset_ns if is_system_time else 0))

    def later(self, by_ns: int) -> Self:
        """Return the same moment moved on every clock of the evaluator; 0: as it is."""
        return self if not by_ns else self.model_copy(update={
            'steady_ns': self.steady_ns + by_ns, 'system_ns': self.system_ns + by_ns,
            'ros_ns': self.ros_ns + by_ns,
            'received_ns': None if self.received_ns is None else self.received_ns + by_ns})


@slotted
class Event(Slotted):
    """
    One entry of a trial's record.

    - ``mark``: a phase begins (``nominal``, ``armed`` where a real hazard is waited for,
      ``onset``, ``all_clear``, ``end``)
    - ``stimulus``: the harness published on ``name``; without a message, it went silent there, or
      with ``arguments`` a link let it happen in its world: they are the intent
    - ``echo``: it heard that stimulus itself, with the middleware's stamps of it
    - ``command``: the controller under test published on ``name``
    - ``undeclared``: it published on the topic ``name``, of an interface type by which a robot can
      be moved, which neither scenario nor settings declare; without a message nobody could hear
      what, and ``text`` says why. Or it can call the service or action ``name``, or parameters
      were set by that service. With the name of a stimulus: somebody else published there too.
      With the ``symbol`` ``listens``: it heard what the harness reports there of the trial
    - ``output``: it can publish or call ``name``, which neither scenario nor settings declare, and
      which is not known to move a robot; ``text`` says of what type it is
    - ``feedback``: the robot reported its state on ``name``
    - ``state``: a link with a world tells by ``truth`` how the entity ``name`` is, such as its
      ``distance`` (m) from the robot's origin; without that it is not there any more. What a
      stimulus has put into the world has the name of its topic
    - ``sensed``: a sensor of the link's world published on ``name``; its header stamp is kept, and
      what it showed follows from the truth
    - ``response``: the controller answered a prompt; ``arguments`` are by what its ``text`` was
      cut off, if it was
    - ``say``: the agent ``agent`` said ``text``; one that the harness speaks for was
      ``scheduled``. Its ``arguments`` are as those of a response
    - ``tool_call``: the agent called the tool ``name`` with ``arguments``
    - ``tool_result``: the harness answered that call with ``arguments``
    - ``call``: the harness asked ``name``, an action or a service, for ``arguments``; ``text`` is
      its interface type and ``symbol`` which of the scenario's calls it was
    - ``call_state``: what became of that call by ``text``: accepted, rejected, answered, refused,
      or of an accepted goal succeeded, aborted, canceled; ``arguments`` are the response
    - ``clock``: /clock advanced; ``ros_ns`` is what it said
    - ``decision``: in lock-step, the controller has decided; its ``truth`` says how long that took
      (``scenario.timing``), and its stamps are of when what was decided took effect
    - ``timing``: the controller reported when it decided on the command on the topic ``symbol``
      that has the same ``sequence``. ``truth`` says how long before the command that was published
      it did what (``scenario.timing``), and ``text`` names stamps that were no numbers;
      ``arguments`` are why nobody decided on it, of a fallback, and what a model read and gave
    - ``lost``: the middleware dropped messages on ``name``; ``text`` says how many
    - ``reached``: what was sent to the other host on ``name`` has come there: its middleware's
      acknowledgement was here
    - ``stall``: the process ``name`` of the harness, such as ``simulator``, could not run, as it
      reported; ``text`` says how, and ``truth`` from when to when: ``began`` and ``ended`` (s
      before the event's stamps, on their clock), and how long of that it was ``lost`` (real s)
    - ``fault``: the harness could not go on as planned; ``name`` says how, ``text`` why. Of
      another commander the ``truth`` says since when it may be there: ``began``, as of a stall
    """

    kind: Literal['mark', 'stimulus', 'echo', 'command', 'undeclared', 'output', 'feedback',
                  'state', 'sensed', 'response', 'say', 'tool_call', 'tool_result', 'call',
                  'call_state', 'clock', 'decision', 'timing', 'lost', 'reached', 'stall', 'fault']
    name: str
    """Topic, mark or fault name."""
    stamps: Stamps
    message: Message | None = None
    """The payload of a command or of a stimulus."""
    text: str | None = None
    """A response's text, or what a fault says."""
    hazard: bool = False
    """A stimulus that belongs to the hazard, not to the nominal phase."""
    truth: Mapping[str, float] = Field(default={})
    """What a stimulus or a state means in the world (SI), such as ``distance`` in m."""
    scheduled_ns: int | None = None
    """Time on the schedule clock, most often the steady one, at which a stimulus was due."""
    trial_id: str | None = None
    """The trial a response, a saying or a call says it belongs to."""
    agent: str | None = None
    """Id of the agent that said or called."""
    symbol: str | None = None
    """What the author of a stimulus or a line named it; of a call its place, ``calls[0]``."""
    arguments: str | None = None
    """Of a call or its result, or the intent of a stimulus in a world, as JSON."""
    depth: int = 0
    """How many rules in a row led to it: 0 for what came by itself."""
    sequence: int | None = None
    """The publisher's own count of a received message; a gap is a lost message."""

    @staticmethod
    def model_construct(  # type: ignore[override]
            kind: str, name: str, stamps: Stamps, message: Message | None = None,
            text: str | None = None, hazard: bool = False, truth: Mapping[str, float] = {},
            scheduled_ns: int | None = None, trial_id: str | None = None,
            agent: str | None = None, symbol: str | None = None, arguments: str | None = None,
            depth: int = 0, sequence: int | None = None) -> 'Event':
        """
        Return one of values that are known to be right.

        A trial has thousands; parameters that must be named, and a generated constructor, would
        take half as long again.
        """
        made: Any = object.__new__(Event._open)
        made.kind, made.name, made.stamps = kind, name, stamps
        made.message, made.text, made.hazard = message, text, hazard
        made.truth, made.scheduled_ns, made.trial_id = truth, scheduled_ns, trial_id
        made.agent, made.symbol, made.arguments = agent, symbol, arguments
        made.depth, made.sequence = depth, sequence
        made.__class__ = Event
        return made  # type: ignore[no-any-return]

    @property
    def truncated_by(self) -> str:
        """By what a saying or a response was cut off; empty: nobody reported that it was."""
        if self.kind not in ('say', 'response') or self.arguments is None:
            return ''
        try:
            told = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return ''
        return str(told.get(_TRUNCATED_BY) or '') if isinstance(told, dict) else ''

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes, with its stamps and its message."""
        own = _EVENT if self.message is None else _EVENT + self.message.size
        if self.text is not None:
            own += size(self.text)
        if self.arguments is not None:
            own += size(self.arguments)
        truth = self.truth
        return own + _TRUTH + _NUMBER * len(truth) if truth else own


class EventSink(Protocol):
    """Takes events as they happen."""

    def add(self, event: Event) -> None:
        """Take one event."""


def truncation(truncated_by: str) -> str | None:
    """Return the ``arguments`` of a saying or a response that was cut off; None: it was not."""
    return json.dumps({_TRUNCATED_BY: truncated_by}) if truncated_by else None
