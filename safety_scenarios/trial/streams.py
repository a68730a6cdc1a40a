# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is published when: stimuli, joint states, and calls that get a stack moving."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.blocks.nominal_calls import AGREED, Call, ENDED, NOT_MADE, symbol_of
from safety_scenarios.scenario.driver import DriverPlugin, Follower
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin
from safety_scenarios.trial.executed_commands import commanded, JOINT_STATE
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.trial import Trial, TrialRecord


class Answer:
    """
    Waits for the answer to one call; called with each event, it says whether it has come.

    :param place: of the call in the scenario
    """

    def __init__(self, call: Call, place: int) -> None:
        self.symbol = symbol_of(place)
        self.within_ns = round(call.target.within_ms * 1e6)
        self._call = call
        self._event: Event | None = None

    def __call__(self, event: Event) -> bool:
        if event.kind != 'call_state' or event.symbol != self.symbol:
            return False
        self._event = self._event or event
        return True

    def agreed(self) -> Event:
        """
        Return the answer.

        :raises MeasurementError: there is none, or it is a refusal
        """
        where = f'ros.nominal.{self.symbol}, the {self._call}'
        if self._event is None:
            raise MeasurementError(
                f'{where}: got no answer within {self.within_ns / 1e6:g} ms, expected one. Is the '
                f'server active, as by ros2 lifecycle get? Give it longer, or start it before')
        if self._event.text not in AGREED:
            said = f' ({self._event.arguments})' if self._event.arguments else ''
            raise MeasurementError(
                f'{where}: got {self._event.text!r}{said}, expected that it is agreed to. Look '
                f'into the log of its server: the robot may not be where it has to be, or what '
                f'is asked may not be what the server takes')
        return self._event


def goals(record: TrialRecord) -> Mapping[str, tuple[Event, Event | None]]:
    """Return the accepted goals: symbol to (accepted, how it ended or None while it went on)."""
    found: dict[str, tuple[Event, Event | None]] = {}
    for event in record.of_kind('call_state'):
        symbol = event.symbol or ''
        if event.text == 'accepted':
            found.setdefault(symbol, (event, None))
        elif event.text in ENDED and symbol in found:
            found[symbol] = found[symbol][0], found[symbol][1] or event
    return found


def ended_by(record: TrialRecord, steady_ns: int) -> Event | None:
    """Return how the first goal ended that was over by then, None while all went on."""
    return next((ended for _, ended in goals(record).values()
                 if ended is not None and ended.stamps.steady_ns <= steady_ns), None)


def agreed_ns(record: TrialRecord) -> int | None:
    """Return when (steady ns) the last call had been agreed to, None without a call."""
    return max((event.stamps.steady_ns for event in record.of_kind('call_state')
                if event.text in AGREED and event.text != NOT_MADE), default=None)


_USUAL = 'joint_states'


class Following:
    """
    Moves the arm that a scenario shows on its topic of joint states.

    A stimulus there says where the arm is at first. From the first command on, its joints are
    where the driver has got them, because a controller that looks at an arm which never moves
    would command the first step for ever. Where the robot itself reports its joints there is no
    such stimulus, and nothing to do.
    """

    def __init__(self, scenario: Scenario) -> None:
        body = scenario.body
        has_joints = body.robot is not None and kind_of(body.robot).has_joints
        self._drivers: dict[str, DriverPlugin] = {
            one.topic: one.driver for one in (body.commands if has_joints else ())
            if one.driver is not None and one.driver.follow({}) is not None}
        self._shown = {_USUAL, *(signal.current for signal in body.signals.values()
                                 if signal.current)} if self._drivers else set()
        self.moves = bool(self._drivers)
        """Whether there is an arm to follow."""
        self._start: dict[str, float] = {}
        self._followers: dict[str, Follower] = {}

    def receive(self, event: Event, one_host: bool) -> None:
        """Take a command, as ``executed_commands.commanded`` does."""
        driver = self._drivers.get(event.name) if event.kind == 'command' else None
        if driver is None or event.message is None:
            return
        follower = self._followers.get(event.name) or driver.follow(self._start)
        if follower is None:
            return
        self._followers[event.name] = follower
        with suppress(ValueError):  # rejected: it goes on as before
            follower.take(commanded(event, event.message, driver, one_host))

    def sent(self, event: Event) -> None:
        """Take a stimulus: it shows where the joints are, until they are commanded."""
        if event.name not in self._shown or self._followers or event.message is None \
                or event.message.type != JOINT_STATE:
            return
        data = event.message.data
        self._start |= dict(zip(data.get('name', ()), data.get('position', ()), strict=False))

    def follows(self, stimulus: Stimulus) -> bool:
        """Return whether a stimulus shows joints that have moved."""
        return bool(self._followers) and stimulus.topic in self._shown \
            and stimulus.message.type == JOINT_STATE

    def with_joints(self, stimulus: Stimulus, clock: Callable[[], int]) -> Stimulus:
        """
        Return a stimulus, one of joint states with the joints where they are by now.

        :param clock: the steady time now, asked for only where joints have moved
        """
        if not self.follows(stimulus):
            return stimulus
        steady_ns = clock()
        now = {name: state for follower in self._followers.values()
               for name, state in follower.state(steady_ns).items()}
        if not now:
            return stimulus
        data = stimulus.message.data
        names, moved = data.get('name', ()), dict(data)
        for place, field in enumerate(('position', 'velocity')):
            told = data.get(field, ())
            if len(told) == len(names):
                moved[field] = tuple(now[name][place] if name in now else value
                                     for name, value in zip(names, told, strict=True))
        return replace(stimulus, message=Message.model_construct(type=JOINT_STATE, data=moved))


@dataclass(slots=True)
class Stream:
    """One stimulus on its schedule: message k is due at ``start_ns + plugin.due_ns(k)``."""

    plugin: StimulusPlugin
    start_ns: int
    hazard: bool
    rate_hz: float
    index: int = 0
    is_begun: bool = False
    is_in_world: bool = False
    """The link shows it in its world, so that no messages are due."""
    is_drawn: bool = False
    """The link draws it into live data, in which it stays until it is withdrawn."""
    constant: Stimulus | None = None
    """What each of its messages is, where they are all alike."""

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is due any more."""
        return self.is_in_world or (self.plugin.once and self.index > 0)

    @property
    def due_ns(self) -> int:
        """When it begins, and then when its next message is due, on the link's schedule clock."""
        if not self.is_begun and self.plugin.is_silence:
            return self.start_ns
        return self.start_ns + self.plugin.due_ns(self.index, self.rate_hz)

    def skip_to(self, schedule_ns: int) -> None:
        """Leave out the messages that were due before ``schedule_ns``."""
        while self.due_ns < schedule_ns:
            self.index += 1


class Streams:
    """
    Makes streams and sends what they have due; one on each topic is what others may alter.

    A stream begins with its intent: a link that can let it happen in its world does so when the
    first message would be due, and then no message is sent.
    """

    def __init__(self, trial: Trial, link: Link) -> None:
        self._trial = trial
        self._link = link
        self._last: dict[str, Stimulus] = {}
        self._in_world: set[str] = set()
        self._following = Following(trial.scenario)
        self.follows = self._following.moves
        """Whether it has to ``receive`` commands."""
        self.nominal: dict[str, Stream] = {}
        """By topic: what a stimulus without an interface of its own alters."""

    def begin(self, plugin: StimulusPlugin, start_ns: int) -> Stream:
        """Return a stream that others on its topic may alter from now on."""
        stream = Stream(plugin, start_ns, hazard=False, rate_hz=plugin.rate_hz)
        self.nominal[plugin.topic] = stream
        return stream

    def over(self, plugin: StimulusPlugin, start_ns: int, *, hazard: bool) -> Stream:
        """Return a stream on top; one that alters the nominal stimulus keeps its beat."""
        nominal = self.nominal.get(plugin.topic)
        if nominal is None or plugin.interface() is not None:
            return Stream(plugin, start_ns, hazard, plugin.rate_hz)
        nominal.skip_to(start_ns)
        return Stream(plugin, nominal.due_ns, hazard, nominal.rate_hz)

    def instead(self, plugin: StimulusPlugin, start_ns: int) -> Stream:
        """Return a stream in place of the nominal one on its topic, whose beat it keeps."""
        nominal = self.nominal[plugin.topic]
        nominal.skip_to(start_ns)
        return Stream(plugin, nominal.due_ns, False, nominal.rate_hz)

    def resume(self, topic: str, schedule_ns: int) -> None:
        """Let the nominal stimulus on a topic go on, with what is due from a time on."""
        stream = self.nominal[topic]
        stream.is_begun = stream.is_in_world = False
        stream.skip_to(schedule_ns)

    def withdraw(self, stream: Stream) -> None:
        """Take what a stream has changed in the link's world, or drawn, back out of it."""
        if stream.is_in_world:
            self._link.withdraw(stream.plugin.topic)
            self._in_world.discard(stream.plugin.topic)
            stream.is_in_world = False
        if stream.is_drawn:
            self._link.withdraw(stream.plugin.topic)
            stream.is_drawn = False

    def send(self, stream: Stream, due_ns: int) -> Event | None:
        """
        Send the message that is due, and go on to the next; None: it is silent now.

        :raises MeasurementError: it would be published beside what the world shows on its topic
        """
        if not stream.is_begun:
            stream.is_begun = True
            applied = self._applied(stream, due_ns)
            if applied is not None:
                return applied
            if stream.due_ns > due_ns:  # it begins with a message that does not come
                return None
        topic, index = stream.plugin.topic, stream.index
        alters, stimulus = False, stream.constant
        if stimulus is None:
            alters = stream.plugin.interface() is None
            stimulus = stream.plugin.at(due_ns - stream.start_ns, index, self._altering(
                stream, due_ns) if alters else self._context(None, self._last.get(topic)))
            if stream.plugin.is_constant and not alters:
                stream.constant = stimulus
        stream.index += 1
        if stimulus is None:
            return None
        if self.follows and not alters:
            stimulus = self._following.with_joints(stimulus, self._now_ns)
        self._last[topic] = stimulus
        event = self._link.send(stimulus, hazard=stream.hazard, scheduled_ns=due_ns)
        stream.is_drawn = event is None
        if self.follows and event is not None:
            self._following.sent(event)
        return event

    def _now_ns(self) -> int:
        return self._link.mark('now').stamps.steady_ns

    def receive(self, event: Event) -> None:
        """Take what the link received: what is commanded moves the joints that are shown."""
        self._following.receive(event, self._link.measuring.one_host)

    def _applied(self, stream: Stream, due_ns: int) -> Event | None:
        plugin, topic = stream.plugin, stream.plugin.topic
        intent = plugin.intent(self._context(None, None))
        stamps = None if intent is None else self._link.apply(topic, intent, hazard=stream.hazard)
        if intent is None or stamps is None:
            if plugin.on_commands:
                raise MeasurementError(
                    f'{topic}: got the stimulus {plugin.kind} on a link that cannot let it happen '
                    f'between the controller and its robot, expected one with a world that can. '
                    f'Use link simulated, or world mujoco')
            if topic in self._in_world:
                raise MeasurementError(
                    f'{topic}: got the stimulus {plugin.kind} after one that the link shows in '
                    f'its world, expected one that it can show there too: what is published and '
                    f'what the world shows would contradict each other. Use another link for this')
            return None
        self._in_world.add(topic)
        stream.is_in_world = True
        stream.index += 1
        return Event(kind='stimulus', name=topic, stamps=stamps, hazard=stream.hazard,
                     scheduled_ns=due_ns, arguments=intent.model_dump_json())

    def _altering(self, stream: Stream, due_ns: int) -> StimulusContext:
        """Return what one may know that alters the nominal stimulus, which may come late."""
        plugin, index, rate_hz = stream.plugin, stream.index, stream.rate_hz
        shown_ns = plugin.altered_time_ns(index, rate_hz)
        nominal_ns = stream.start_ns + shown_ns
        nominal = self._nominal(stream, nominal_ns)
        if nominal_ns != due_ns and nominal is not None and self._following.follows(nominal):
            raise MeasurementError(
                f'{plugin.topic}: got {plugin.kind} that shows joints as they were, expected them '
                f'as they are: without a world their past positions are unknown. Use link '
                f'simulated')
        return replace(
            self._context(nominal, self._last.get(plugin.topic)), late_ns=due_ns - nominal_ns,
            is_again=index > 0 and plugin.altered_time_ns(index - 1, rate_hz) == shown_ns)

    def _nominal(self, stream: Stream, due_ns: int) -> Stimulus | None:
        """Return what the nominal stimulus shows at a time."""
        nominal = self.nominal.get(stream.plugin.topic)
        if nominal is None or nominal is stream:
            return None
        shown = nominal.plugin.at(due_ns - nominal.start_ns, stream.index,
                                  self._context(None, None))
        return None if shown is None else self._following.with_joints(shown, self._now_ns)

    def _context(self, nominal: Stimulus | None, last: Stimulus | None) -> StimulusContext:
        return StimulusContext(self._trial.trial_id, self._trial.scenario.messages, nominal, last)
