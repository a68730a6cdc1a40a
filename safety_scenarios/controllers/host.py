# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
One controller plug-in and all that it has heard, whoever brings it its messages.

Loopback links and ``controller_node`` run their controllers by it, and keep for themselves what is
theirs: time, threads and wires. It has no clock, and nothing here waits.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
import re
from typing import NamedTuple, TypeVar

from safety_scenarios.controllers.rule_based import CommandedArm
from safety_scenarios.errors import ControllerError, described, place_of
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.conversation import as_json, Conversation, Envelope, Utterance
from safety_scenarios.scenario.frames import frames_in, STATIC
from safety_scenarios.scenario.interfaces import completed, Heard, observation, read_prompt, spoken
from safety_scenarios.scenario.message import Command, CommandStamps, Message, Observation
from safety_scenarios.scenario.timing import Timing, TOLD_NS
from safety_scenarios.scenario.topic_names import input_names
from safety_scenarios.scenario.world import MountedFrame

_TOPIC = re.compile(r'[A-Za-z_]\w*(/[A-Za-z_]\w*)*')
_TYPE = re.compile(r'[A-Za-z]\w*/msg/[A-Za-z]\w*')
Utter = Callable[[int], Envelope]
"""Sender's system time (ns) to what is sent; called once, when it is said."""


Keep = Callable[[BaseException], None]
"""What a plug-in raised, to be kept somewhere with its traceback."""


_T = TypeVar('_T')
LONGEST_NS = 10**15
"""An answer that comes later is none."""
_SHORTEST_NS = 1_000_000
"""Between two decisions, as of ``period_ms`` and of the rate of a policy."""
_STALL_NS = 1_000_000_000
"""Warming up may hold up one decision for less than this."""
_LOG = 'Its log, in logs/ of the campaign, shows where it was'


class Patience(NamedTuple):
    """How long a controller may really think where simulated time stands still meanwhile."""

    watch: Callable[[], Callable[[], int]]
    """Begins to measure, and gives what tells how long a decision has taken so far (ns)."""
    limit_ns: int


class Hanging(BaseException):
    """
    What ends a decision that would never end; no plug-in catches it with its own errors.

    :param after_ns: real time in which it has not ended
    """

    def __init__(self, after_ns: int) -> None:
        super().__init__(after_ns)
        self.after_ns = after_ns


class Answer(NamedTuple):
    """What a controller answers to a prompt."""

    trial_id: str
    text: str
    truncated_by: str


class ControllerHost:
    """
    Hears for a controller, asks it, and says in messages what it decides.

    ``receive`` may be called from another thread than ``tick``; ``prompt`` and ``turn`` from one
    thread at a time. What the plug-in raises becomes a ``ControllerError`` whose cause it is.

    :ivar plugin: the controller

    :param plugin: begun
    :param keep: takes what the plug-in raises, for a log
    :param patience: longer thinking is an error; None: whoever asks measures it
    :raises ControllerError: it declares inputs or outputs that are none
    """

    def __init__(self, plugin: ControllerPlugin, keep: Keep = lambda error: None,
                 patience: Patience | None = None) -> None:
        self.plugin, self._keep, self._patience = plugin, keep, patience
        self._context = plugin.context
        self._arm = CommandedArm()
        self._long = self._thought_ns = 0
        self._decided: Command | Message | None = None
        self.stamps: CommandStamps | None = None
        """Of the latest command, by the controller itself; None: it gave none."""
        self._inferred: tuple[int | None, int] = None, 0
        """When the latest inference without a duration of its own began, and when it ended."""
        self._said: Message | None = None
        self._seen = Observation.model_construct(t_ns=0, readings={})
        self._heard: dict[str, tuple[int, int | None, Message]] = {}
        self._frames: dict[str, MountedFrame] = {}
        self._conversation = Conversation()
        known = dict(plugin.inputs)
        names = input_names(known, self._context.shown_topics)
        self._names = {topic: name for name, topic in names.items()}
        self.inputs = {names[name]: interface for name, interface in known.items()}
        """Relative topic name to interface type of what it listens to."""
        self.topic = self._context.topic
        """Where it commands."""
        self.interface = self._context.interface
        """The interface type of its commands."""
        self.outputs = dict(plugin.outputs)
        """The same of what it publishes beside its commands."""
        for which, topic, interface in (
                *(('inputs', *one) for one in self.inputs.items()),
                *(('outputs', *one) for one in self.outputs.items())):
            if not _TOPIC.fullmatch(topic) or not _TYPE.fullmatch(interface):
                raise ControllerError(
                    f'the controller {self._context.controller}: {which}: got {topic!r}: '
                    f'{interface!r}, expected a relative topic name and an interface type such '
                    f'as sensor_msgs/msg/LaserScan')

    @property
    def period_ns(self) -> int:
        """
        Time between two ticks.

        :raises ControllerError: it is no time that passes, or so short that a trial never ends
        """
        told = self.plugin.period_ns
        if (period_ns := _rounded(told)) < _SHORTEST_NS:
            raise ControllerError(f'the controller {self._context.controller}: period_ns: got '
                                  f'{told!r}, expected at least {_SHORTEST_NS} ns (1 ms)')
        return period_ns

    @property
    def answer_delay_ns(self) -> int:
        """
        How long what it answers, says or calls has to wait.

        :raises ControllerError: it is no time
        """
        told = self.plugin.answer_delay_ns
        if not 0 <= (delay_ns := _rounded(told)) <= LONGEST_NS:
            raise ControllerError(f'the controller {self._context.controller}: answer_delay_ns: '
                                  f'got {told!r:.100}, expected 0 to {LONGEST_NS} ns')
        return delay_ns

    def begin_trial(self, now_ns: int) -> None:
        """
        Forget where the arm was: another trial begins, with the arm elsewhere.

        :param now_ns: steady clock
        :raises ControllerError: the plug-in failed
        """
        self._arm.forget(now_ns)
        self._call_controller(self.plugin.begin_trial)

    def receive(self, topic: str, message: Message, received_ns: int,
                stamp_ns: int | None) -> None:
        """
        Take a message; one that the controller does not listen to is nothing to it.

        What ``/tf_static`` says is for every controller.

        :param received_ns: steady clock
        :param stamp_ns: its header stamp, None if its type has no header
        """
        if topic == STATIC:
            self._frames = {**self._frames, **{one.frame: one for one in frames_in(message)}}
        elif self.inputs.get(topic) == message.type:
            self._heard[self._names[topic]] = (received_ns, stamp_ns, message)

    def tick(self, now_ns: int, ros_ns: int) -> Message | None:
        """
        Ask what to do now, and return the message to publish.

        :param now_ns: steady clock
        :param ros_ns: the clock of the header stamps
        :raises ControllerError: the plug-in failed, or decided something that no topic can carry
        """
        heard = dict(self._heard)
        self._seen = seen = self._observation(heard, now_ns, ros_ns)
        decided = self._call_controller(lambda: self.plugin.decide(seen))
        self.stamps = decided.stamps if isinstance(decided, Command) else None
        if isinstance(decided, Command) and decided.is_nothing:
            return None
        return None if decided is None else self._spoken(decided, heard, now_ns)

    def silence(self, ended_ns: int, published_ns: int) -> Timing | None:
        """
        Return why the latest decision was to publish nothing, as ``timing``; None: unknown.

        :param ended_ns: steady clock, when ``tick`` had returned
        :param published_ns: the same, when a command would have been published
        """
        return self.timing(ended_ns, published_ns) \
            if self.stamps is not None and self.stamps.note else None

    def stop_message(self, now_ns: int) -> Message | None:
        """
        Return the message that stops the robot, whatever was decided last.

        :param now_ns: steady clock
        :return: None: the interface needs the places of the joints, and they are not known
        """
        heard, context = dict(self._heard), self._context
        return spoken(context.robot_kind.stop, self.interface, context.robot.joints, heard,
                      self._arm.now(heard, now_ns) if context.robot.joints else None)

    def timing(self, ended_ns: int, published_ns: int) -> Timing:
        """
        Return when the latest command was decided.

        Without stamps of the controller's own: when it was asked, from the newest reading. What
        was decided from the observation of this tick was decided when the controller returned. So
        it is with an inference that took no time by the controller's own clock, which stood.

        :param ended_ns: steady clock, when ``tick`` had returned
        :param published_ns: the same, when the command is published
        """
        stamps = self.stamps
        if stamps is None:
            stamps = CommandStamps.of(self._seen, ended_ns=ended_ns)
        elif stamps.began_ns == self._seen.t_ns and stamps.ended_ns in (None, stamps.began_ns):
            self._inferred = self._seen.t_ns, ended_ns
            stamps = stamps.model_copy(update={'ended_ns': ended_ns})
        elif stamps.ended_ns is not None and stamps.ended_ns == stamps.began_ns \
                and stamps.began_ns == self._inferred[0]:  # a later action of its chunk
            stamps = stamps.model_copy(update={'ended_ns': self._inferred[1]})
        return Timing.of(stamps, published_ns)

    def _observation(self, heard: Heard, now_ns: int, ros_ns: int) -> Observation:
        return observation(heard, now_ns, ros_ns, tuple(self._frames.values()))

    def _spoken(self, decided: Command | Message, heard: Heard, now_ns: int) -> Message | None:
        joints = self._context.robot.joints
        if not joints:  # then a command says the same as the last time
            if decided is not self._decided or isinstance(decided, Message):
                self._said = spoken(decided, self.interface, joints, heard)
                self._decided = decided
            return self._said
        states = self._arm.now(heard, now_ns)
        message = spoken(decided, self.interface, joints, heard, states)
        self._arm.sent(message if isinstance(decided, Command) else None, states, now_ns)
        return message

    def aside(self, now_ns: int, ros_ns: int) -> Mapping[str, Message]:
        """
        Ask what to publish now beside the command, by topic.

        :param now_ns: steady clock
        :param ros_ns: the clock of the header stamps
        :raises ControllerError: the plug-in failed, or said what none of its outputs is
        """
        said = self._call_controller(lambda: self.plugin.side_messages(
            self._observation(dict(self._heard), now_ns, ros_ns)))
        for topic, message in said.items():
            if self.outputs.get(topic) != message.type:
                raise ControllerError(f'side_messages: got a message of type {message.type} for '
                                      f'{topic}, expected {self.outputs.get(topic)}, as outputs '
                                      f'say')
        return {topic: completed(message) for topic, message in said.items()}

    def prompt(self, text: str) -> Answer | None:
        """
        Return the answer to a prompt's envelope.

        :raises ValueError: the text is no such envelope
        :raises ControllerError: the plug-in failed
        """
        trial_id, messages = read_prompt(text)
        answer = self._call_controller(lambda: self.plugin.answer(messages))
        return None if answer is None else Answer(trial_id, answer, self.plugin.truncated_by)

    def turn(self, envelope: Envelope) -> Sequence[Utter]:
        """
        Take what the controller's agent hears, and return what it says and calls about it.

        :return: in order; each is remembered as said once it is called
        :raises ValueError: a brief that does not say who is there, or what may be called
        :raises ControllerError: the plug-in failed
        """
        turn = self._conversation.receive(envelope)
        if turn is None:
            return ()
        done = self._call_controller(lambda: _uttered(self.plugin.converse(turn)))
        return [partial(self._conversation.spoke, turn, utterance) for utterance in done]

    def thought_ns(self) -> int:
        """
        Return how long it really thought since this was asked for last.

        :return: 0 where that is short, or where whoever asks the controller measures it
        """
        thought_ns, self._thought_ns = self._thought_ns, 0
        return thought_ns if thought_ns > TOLD_NS else 0

    def close(self) -> None:
        """Let the plug-in hang up what it has opened."""
        self.plugin.close()

    def _call_controller(self, ask: Callable[[], _T]) -> _T:
        took, took_ns = None if self._patience is None else self._patience.watch(), 0
        try:
            said = ask()
        except Hanging as error:
            self._keep(error)
            raise ControllerError(
                f'the controller {self._context.controller} hangs: got no answer within '
                f'{error.after_ns / 1e9:g} s of real time, and ended what it did. {_LOG}'
            ) from error
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # asyncio.CancelledError is no Exception
            self._keep(error)
            raise ControllerError(f'the controller {self._context.controller} failed: '
                                  f'{described(error)}{place_of(error)}') from error
        finally:
            if took is not None:
                took_ns = took()
        if self._patience is None:
            return said
        limit_ns = self._patience.limit_ns
        self._thought_ns += took_ns
        self._long += took_ns > limit_ns
        if took_ns > limit_ns and (self._long > 1 or took_ns > limit_ns + _STALL_NS):
            raise ControllerError(
                f'the controller {self._context.controller} thought for {took_ns / 1e6:.0f} ms '
                f'of real time, longer than the critical limit of {limit_ns / 1e6:g} ms, and '
                f'simulated time leaves that out. Use link ros, which measures it')
        return said


def _rounded(told: float) -> int:
    """Return a time in whole ns; -1: it is none."""
    with suppress(OverflowError, TypeError, ValueError):
        return round(told)
    return -1


def _uttered(done: Sequence[Utterance]) -> tuple[Utterance, ...]:
    for utterance in done:
        if not isinstance(utterance, Utterance):
            raise TypeError(f'converse: got {utterance!r:.100}, expected an Utterance')
        as_json(utterance.args).encode()  # a number that is too long, or half a character
    return tuple(done)
