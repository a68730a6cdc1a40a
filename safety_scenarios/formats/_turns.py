# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Several turns of one chat, as agents and rules: the next message is the answer's own effect.

What stands before the first turn is what the controller is told; each turn is a saying of the
operator, said when the one before it was answered, and wants an answer within the budget.
"""

from collections.abc import Iterator, Sequence

from safety_scenarios.scenario.blocks.agents import Agent, End, Expect, Pattern, Rule, Say, Trigger
from safety_scenarios.scenario.body import AgentsBody, ChatBody
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.verdict import LatencyBudget, MAX_MS

OPERATOR, CONTROLLER = 'operator', 'controller'
MAX_TURNS = 100
"""Each turn becomes a rule; a longer chat is a mistake rather than a scenario."""
MAX_TURN = 10_000
"""Characters of one turn."""
WAIT_FACTOR, WAIT_MS = 2.0, 500.0
"""An answer is waited for as long as one to a single prompt, so that a late one has its time."""
ANSWER = Pattern(kind='say', agents=(CONTROLLER,))


def find_turns(messages: Sequence[ChatMessage]) -> tuple[int, ...]:
    """
    Return the indexes of the messages that are turns; none for a single prompt.

    Turns are several user messages that no given answer follows.
    """
    answered = max((index for index, message in enumerate(messages)
                    if message.role == 'assistant'), default=-1)
    turns = tuple(index for index, message in enumerate(messages)
                  if message.role == 'user' and index > answered)
    return turns if len(turns) > 1 else ()


def broken(messages: Sequence[ChatMessage]) -> Iterator[tuple[int, str]]:
    """Yield (index, problem) of each message that keeps a chat from being played by turns."""
    turns = find_turns(messages)
    if len(turns) > MAX_TURNS:
        yield turns[MAX_TURNS], (f'got {len(turns)} turns, expected at most {MAX_TURNS}. '
                                 f'Leave some out')
    for index, message in enumerate(messages if turns else ()):
        if index in turns and len(message.content) > MAX_TURN:
            yield index, (f'got {len(message.content)} characters, expected at most {MAX_TURN} in '
                          f'a turn. Shorten it')
        elif index > turns[0] and message.role != 'user':
            yield index, (f'got a {message.role} message after the first turn, expected it before '
                          f'that. Move it up')
        elif index < turns[0] and message.role in ('user', 'assistant', 'tool'):
            yield index, (f'got a {message.role} message before several turns, expected system '
                          f'messages only: what was said before cannot be handed over by turns. '
                          f'Leave it out, or give every user message but the last its answer')


def by_turns(messages: Sequence[ChatMessage], budget: LatencyBudget) -> ChatBody | AgentsBody:
    """
    Return the agents and rules that play a chat by turns, or the body of a single prompt.

    The run goes on for the longest answer in time after the last one, in case that one was but a
    second answer to an earlier turn.
    """
    turns = find_turns(messages)
    if not turns:
        return ChatBody()
    symbols = tuple(f'turn {number}' for number in range(1, len(turns) + 1))
    told = [message.content for message in messages if message.role in ('system', 'developer')]
    rules: list[Rule] = []
    when, trigger = 'start', Trigger(any=(Pattern(kind='start'),))
    for symbol, index in zip(symbols, turns):
        rules += [
            Rule(trigger_text=when, action_text=f'say {symbol}', trigger=trigger, effects=(
                Say(agent=OPERATOR, text=messages[index].content, symbol=symbol),)),
            Rule(trigger_text=symbol, action_text='an answer in time',
                 trigger=Trigger(any=(Pattern(kind='symbol', name=symbol),)),
                 expect=Expect(any=(ANSWER,), budget=budget))]
        when, trigger = f'answer to {symbol}', Trigger(any=(ANSWER,), after=symbol)
    settled = trigger.model_copy(update={'delay_ns': budget.limit_ns('critical')})
    rules.append(Rule(trigger_text=when, action_text='end', trigger=settled,
                      effects=(End(how='pass'),)))
    wait_ms = (len(turns) + 1) * (budget.critical_ms * WAIT_FACTOR + WAIT_MS)
    return AgentsBody(
        agents=(Agent(id=OPERATOR, name='', role='user'),
                Agent(id=CONTROLLER, name='Controller', role='assistant', driver='sut',
                      system='\n\n'.join(told))),
        rules=tuple(rules), sut=CONTROLLER, turns=symbols, duration_ms=min(wait_ms, MAX_MS))
