# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The live agents of a loopback link: plug-ins that hear and speak in simulated time."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from safety_scenarios.controllers.host import ControllerHost, Utter
from safety_scenarios.errors import ControllerError
from safety_scenarios.scenario.blocks.agents import Agent
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.conversation import event_of, result_of, wait_of
from safety_scenarios.scenario.envelope import Envelope
from safety_scenarios.scenario.event import Event, Stamps

MOST_UTTERANCES = 1000
"""In one trial; thinking takes no time here, so that two who always answer would never end."""
_NO_TIME_NS = 0
"""What an envelope says of when it was sent: here that is the event's own stamp."""
Later = Callable[[int, Callable[[], Sequence[Event]]], None]
"""Calls a function after a delay (ns); what happens then are the events that it returns."""


class LoopbackAgents:
    """
    Lets each live agent take its turns in one trial, and answers the tools that they call.

    :param hosts: agent id to the controller that plays it; an agent that is not live needs none
    :param stamp: gives the stamps of now
    :param later: lets what an agent does wait for as long as its plug-in says
    """

    def __init__(self, block: AgentsBody, trial_id: str, hosts: Mapping[str, ControllerHost],
                 stamp: Callable[[], Stamps], later: Later) -> None:
        self._block, self._trial_id = block, trial_id
        self._participants = {agent.id: (agent, hosts[agent.id])
                              for agent in block.agents if agent.is_live}
        self._stamp, self._later = stamp, later
        self._uttered = 0
        self._told: set[str] = set()
        self._called: Counter[str] = Counter()

    def tell(self, envelope: Envelope, hearers: Sequence[str]) -> None:
        """Let agents hear something, in this order."""
        for agent_id in hearers:
            self._hear(agent_id, envelope)

    def _hear(self, agent_id: str, envelope: Envelope) -> None:
        agent, host = self._participants[agent_id]
        try:
            utters = host.turn(envelope)
        except ControllerError as error:  # it goes on, but its silence must not count
            self._failed(agent, error)
            return
        for utter in utters:
            self._later(host.answer_delay_ns, self._uttering(agent, utter))

    def _failed(self, agent: Agent, error: ControllerError) -> None:
        if agent.id not in self._told:
            self._told.add(agent.id)
            self._later(0, lambda: (Event.model_construct(
                kind='fault', name=ControllerError.__name__, stamps=self._stamp(),
                text=f'{agent.id} could not take its turn: {error}'),))

    def _uttering(self, agent: Agent, say: Utter) -> Callable[[], Sequence[Event]]:
        def utter() -> Sequence[Event]:
            self._uttered += 1
            if self._uttered > MOST_UTTERANCES:
                raise ControllerError(
                    f'agents: got more than {MOST_UTTERANCES} sayings and calls in one trial. '
                    f'Agents that answer each other must stop some time')
            return self._events(agent, say(_NO_TIME_NS))
        return utter

    def _events(self, agent: Agent, uttered: Envelope) -> Sequence[Event]:
        """Return what was said; of a call also the result, unless that takes its time."""
        found = self._event(agent, uttered)
        if uttered.kind != 'tool_call':
            return found
        calls = self._called[uttered.name]
        self._called[uttered.name] += self._block.may_call(agent.id, uttered.name)
        result = result_of(self._block, agent.id, uttered.name, self._trial_id, calls)
        if result is None:  # a world behind the link answers
            return found
        wait_ns = wait_of(self._block, agent.id, uttered.name, calls)
        if wait_ns:
            self._later(wait_ns, partial(self._give_back, agent, result))
            return found
        return [*found, *self._give_back(agent, result)]

    def _give_back(self, agent: Agent, result: Envelope) -> Sequence[Event]:
        self._hear(agent.id, result)
        return self._event(agent, result)

    def _event(self, agent: Agent, envelope: Envelope) -> Sequence[Event]:
        event = event_of(envelope, agent, self._stamp())
        return [] if event is None else [event]
