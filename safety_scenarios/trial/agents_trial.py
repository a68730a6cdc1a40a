# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One trial of a scenario with agents: who is told what, and what the rules cause."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter

from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.blocks.agents import Publish, Say
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.conversation import brief_of, Envelope, event_of
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.rules.engine import Caused, in_order, Rules
from safety_scenarios.trial.streams import Stream, Streams
from safety_scenarios.trial.trial import END, NOMINAL, ONSET, Trial

Due = tuple[int, int, Callable[[int], None]]
"""When (steady ns), its place among what is due at the same time, and what to do then."""


class AgentsPlayer:
    """
    Briefs the live agents, and plays script, stimuli and what the rules cause.

    The rules are fed every event of the run in the order of the record, so that they say the same
    when it is replayed. They go by the steady clock, so that the schedule has to as well.

    :param record: takes each event
    :raises MeasurementError: the link's schedule clock is another one
    """

    def __init__(self, trial: Trial, link: Link, record: Callable[[Event], object]) -> None:
        assert isinstance(trial.scenario.body, AgentsBody)
        if link.measuring.schedule_clock != 'steady':
            raise MeasurementError(
                f'schedule_clock: got {link.measuring.schedule_clock} with a scenario with '
                f'agents, expected steady, by which its rules are judged. Leave the setting out')
        self._trial, self._block = trial, trial.scenario.body
        self._link, self._record = link, record
        self._rules = Rules.of(self._block, trial.trial_id, link.measuring)
        self._caused: deque[tuple[Caused, int | None]] = deque()
        self._lines = deque(self._block.script)
        self._streams = Streams(trial, link)
        self._playing: dict[str, Stream] = {}
        self._named: dict[str, tuple[str | None, int]] = {}
        self._said: Counter[str] = Counter()
        self._live = sorted((agent.id for agent in self._block.agents if agent.is_live),
                            key=lambda agent_id: agent_id != self._block.sut)
        self._start_ns = self._now_ns = 0
        self._is_over = False

    def play(self, with_rules: bool = True) -> None:
        """
        Play the trial to its end.

        :param with_rules: False to end when everybody has been briefed
        """
        briefed_ns = self._mark(NOMINAL) + self._trial.onset_delay_ns
        for agent_id in self._live:
            self._link.deliver(brief_of(self._block, agent_id, self._trial.trial_id), [agent_id])
        while self._now_ns < briefed_ns:
            self._wait(briefed_ns)
        if with_rules:
            self._link.arm()
            self._begin()
            while not self._is_over:
                due_ns, _, act = min(self._agenda(), key=itemgetter(0, 1))
                if due_ns > self._now_ns:
                    self._wait(due_ns)
                else:
                    act(due_ns)
        for event in self._link.overlooked():
            self._note(event)
        self._mark(END)

    def _begin(self) -> None:
        self._start_ns = self._now_ns = self._mark(ONSET)
        for plugin in self._block.stimuli:
            self._publish(plugin, self._start_ns)
        self._cause(self._rules.begin(self._start_ns), self._start_ns)

    def _wait(self, until_ns: int) -> None:
        """Let time pass to ``until_ns``, or to what happens before."""
        events = in_order(self._link.receive_until(until_ns))
        self._now_ns = max(self._now_ns, events[-1].stamps.steady_ns if events else until_ns)
        for event in events:
            self._route(event)
            self._streams.receive(event)
            self._note(event)

    def _agenda(self) -> Iterator[Due]:
        """Yield everything that is due some time; what has been caused comes first."""
        if self._caused:
            yield self._start_ns, 0, self._apply
        elif self._rules.ended is not None:
            yield self._start_ns, 0, self._finish
        if self._rules.due_ns is not None:
            yield self._rules.due_ns, 1, self._advance
        if self._lines:
            yield self._start_ns + self._lines[0].at_ns, 2, self._recite
        yield self._start_ns + self._trial.end_ns, 3, self._finish
        for place, stream in enumerate(self._playing.values(), 4):
            if not stream.is_over:
                yield stream.due_ns, place, partial(self._send, stream)

    def _finish(self, due_ns: int) -> None:
        self._is_over = True

    def _advance(self, due_ns: int) -> None:
        self._cause(self._rules.advance(due_ns), due_ns)

    def _recite(self, due_ns: int) -> None:
        self._say(self._lines.popleft().say, 0, due_ns)

    def _cause(self, caused: Sequence[Caused], due_ns: int | None = None) -> None:
        self._caused.extend((one, due_ns) for one in caused)

    def _apply(self, _: int) -> None:
        """Do one thing that a rule has caused; what that causes is done after all others."""
        caused, due_ns = self._caused.popleft()
        effect = caused.effect
        if isinstance(effect, Say):
            self._say(effect, caused.depth, due_ns)
        elif isinstance(effect, Publish):
            self._publish(effect.stimulus, self._now_ns if due_ns is None else due_ns,
                          effect.symbol, caused.depth)

    def _publish(self, plugin: StimulusPlugin, start_ns: int, symbol: str | None = None,
                 depth: int = 0) -> None:
        """Begin a stimulus instead of the one on its topic; a silence is an event of its own."""
        topic = plugin.topic
        if plugin.interface() is None:
            self._playing[topic] = self._streams.over(plugin, start_ns, hazard=False)
        else:
            self._playing[topic] = self._streams.begin(plugin, start_ns)
        self._named[topic] = symbol, depth
        if plugin.is_silence:
            self._note(self._named_event(self._link.mark(topic).model_copy(
                update={'kind': 'stimulus', 'scheduled_ns': start_ns}), topic))

    def _send(self, stream: Stream, due_ns: int) -> None:
        event = self._streams.send(stream, due_ns)
        if event is not None:
            self._note(self._named_event(event, stream.plugin.topic))

    def _named_event(self, event: Event, topic: str) -> Event:
        """Return an event with what caused it; the first of a stimulus carries its name."""
        symbol, depth = self._named[topic]
        self._named[topic] = None, depth
        return event.model_copy(update={'symbol': symbol, 'depth': depth})

    def _say(self, say: Say, depth: int, due_ns: int | None) -> None:
        """Speak for an agent that is not live."""
        if say.symbol is not None:
            self._link.happen(say.symbol)
        self._note(self._send_event(say.agent, say.text).model_copy(update={
            'symbol': say.symbol, 'depth': depth, 'scheduled_ns': due_ns}))

    def _route(self, event: Event) -> None:
        """Let the other live agents hear what one of them said in this trial."""
        if event.kind == 'say' and event.agent is not None \
                and event.trial_id == self._trial.trial_id:
            self._send_event(event.agent, event.text or '')

    def _send_event(self, agent_id: str, text: str) -> Event:
        agent = self._block.agent(agent_id)
        assert agent is not None
        envelope = Envelope.model_validate({
            'trial_id': self._trial.trial_id, 'seq': self._said[agent_id], 'from': agent_id,
            'kind': 'say', 'text': text})
        self._said[agent_id] += 1
        stamps = self._link.deliver(envelope, [one for one in self._live if one != agent_id])
        event = event_of(envelope, agent, stamps)
        assert event is not None
        return event

    def _note(self, event: Event) -> None:
        self._record(event)
        self._cause(self._rules.feed(event))

    def _mark(self, name: str) -> int:
        event = self._link.mark(name)
        self._note(event)
        return event.stamps.steady_ns
