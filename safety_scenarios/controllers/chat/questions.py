# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An observation as text for a language model, which requests run, and which answer counts."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
import logging
import math
import re
import time
from typing import Any, Literal

from safety_scenarios.controllers.chat.reply import Fault, FaultyReplyError
from safety_scenarios.controllers.chat.request import Reply
from safety_scenarios.controllers.rule_based import free_path
from safety_scenarios.scenario.companion_files import Description
from safety_scenarios.scenario.message import (
    CommandStamps,
    LONGEST_NOTE,
    Message,
    Observation,
    Reading,
)
from safety_scenarios.scenario.timing import NO_ANSWER_YET

_MATERIAL_SHARE = 0.25
_LEAST = 1.0
"""Smaller numbers count as this large: at 0.02 m or 0.02 s a share would compare noise."""
_NUMBER = re.compile(r'(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)')
_MOST_VALUES = 40
"""Of one message without a description of its own."""


def described(observation: Observation, how: Description) -> str:
    """Return one line for each input: its topic, the age of its data, and what it reports."""
    return '\n'.join(f'{topic} ({reading.age_ns / 1e9:.2f} s old): '
                     f'{_content(reading, how.corridor_m)}'
                     for topic, reading in sorted(observation.readings.items())
                     if not how.topics or topic in how.topics)


def differs(before: str, after: str) -> bool:
    """
    Return whether the second of two texts is materially different.

    It is if a word changed, such as *path free* to *obstacle*, or if a number changed by more
    than 25 % of the larger of the two. A number below 1 counts as 1 for this.
    """
    if _NUMBER.sub('#', before) != _NUMBER.sub('#', after):
        return True
    return any(abs(one - two) > _MATERIAL_SHARE * max(abs(one), abs(two), _LEAST)
               for one, two in zip(_numbers(before), _numbers(after), strict=True))


def _numbers(text: str) -> Iterator[float]:
    return map(float, _NUMBER.findall(text))


def _content(reading: Reading, corridor_m: float) -> str:
    message = reading.message
    stamp = '' if reading.stamp_age_ns is None else \
        f', stamped {reading.stamp_age_ns / 1e9:.2f} s ago'
    if message.type.endswith('/LaserScan'):
        text = _scan(message, corridor_m)
    elif message.type.endswith('/PoseStamped'):
        text = f'person {math.hypot(*message.at("position").values()):.2f} m away'
    elif message.type.endswith('/WrenchStamped'):
        text = f'contact force {math.hypot(*message.at("force").values()):.1f} N'
    else:
        values = list(_values(message.data))
        more = ', ...' if len(values) > _MOST_VALUES else ''
        text = (', '.join(values[:_MOST_VALUES]) or 'received') + more
    return text + stamp


def _values(value: Any, name: str = '') -> Iterator[str]:
    """Yield the fields of a message without its header, numbers rounded."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key != 'header':
                yield from _values(inner, f'{name}.{key}' if name else key)
    elif isinstance(value, (tuple, list)):
        yield f'{name} [{" ".join(map(_plain, value[:_MOST_VALUES]))}]'
    else:
        yield f'{name} {_plain(value)}'


def _plain(value: Any) -> str:
    return f'{value:.2f}' if isinstance(value, float) else str(value)[:200]


def _scan(scan: Message, corridor_m: float) -> str:
    ahead = free_path(scan, corridor_m)
    if math.isnan(ahead):
        return 'the scanner is blind'
    around = min((distance for distance in scan.data['ranges']
                  if distance >= scan.data['range_min']), default=math.inf)
    path = f'obstacle in the path {ahead:.2f} m ahead' if ahead < math.inf else 'path free'
    return f'{path}, nearest return all around {around:.2f} m' if around < math.inf else path


OnNewData = Literal['cancel', 'finish', 'parallel']
_LOG = logging.getLogger(__name__)
_MOST_CANCELLED = 3
"""In a row. The next request is finished: data that always changes must not prevent an answer."""
_LONGEST_WAIT_S = 10.0
"""However long a server asks to wait after HTTP 429."""


@dataclass(frozen=True)
class _Question:
    number: int
    asked_ns: int
    stamps: CommandStamps
    situation: str
    reply: 'Future[Reply]'


class Questions:
    """
    Asks for commands again and again, and holds the newest answer for a limited time.

    Times are those of the observations.

    :param ask: begins a request about a situation
    :param on_new_data: what happens to a running request when the data changed materially
    :param most: how many requests run at once with ``parallel``
    :param timeout_ns: how long an answer may take
    """

    def __init__(self, ask: Callable[[str], 'Future[Reply]'], on_new_data: OnNewData, most: int,
                 timeout_ns: float) -> None:
        self._ask, self._on_new_data, self._timeout_ns = ask, on_new_data, timeout_ns
        self._most = most if on_new_data == 'parallel' else 1
        self._running: list[_Question] = []
        self._count = self._cancelled = self._answered = 0
        self._waits_since: _Question | None = None
        self._not_before_ns = 0
        self._why = ''
        self._lost: tuple[int, CommandStamps] | None = None
        """When it was noticed that an answer was lost, and stamps of its question."""
        self.answer: Reply | None = None
        """The newest valid answer; None: there is none now."""

    @property
    def why(self) -> str:
        """Return why there is no valid answer now."""
        return self._why or NO_ANSWER_YET

    def stamps_without_answer(self, stamps: CommandStamps) -> CommandStamps:
        """
        Return the stamps of a command while there is no valid answer.

        If the answer was lost just now, the time before was spent waiting for the model: the
        stamps are of the question that it did not answer.

        :param stamps: of the observation that the command follows
        """
        noticed_ns, lost = self._lost or (None, stamps)
        return (lost if noticed_ns == stamps.began_ns else stamps).model_copy(
            update={'note': self.why})

    def tick(self, now_ns: int, situation: str, stamps: CommandStamps) -> None:
        """
        Take the answers that have come, drop one that is too old, and ask if it is time.

        :param stamps: of the observation that the situation describes
        """
        for question in [one for one in self._running if one.reply.done()]:
            self._running.remove(question)
            self._take(question, now_ns)
        self._cancel_outdated(situation)
        if self._may_ask(now_ns, situation):
            self._begin(now_ns, situation, stamps)
        since = self._waits_since
        if since is not None and now_ns - since.asked_ns > self._timeout_ns \
                and not self._is_lost_for(Fault.TIMEOUT.value):
            self._lose(FaultyReplyError(
                Fault.TIMEOUT, f'no decision within {self._timeout_ns / 1e6:g} ms'), since, now_ns,
                now_ns)

    def forget(self) -> int:
        """
        Drop every request and answer: they are about an earlier trial.

        :return: how many requests were under way or had not been looked at
        """
        count = len(self._running)
        for question in self._running:
            question.reply.cancel()
        self._running.clear()
        self._waits_since, self._why, self._lost, self.answer = None, '', None, None
        self._cancelled = self._not_before_ns = 0
        return count

    def _take(self, question: _Question, now_ns: int) -> None:
        self._waits_since = min(self._running, key=lambda one: one.asked_ns, default=None)
        self._cancelled = 0
        try:
            reply = question.reply.result()
        except CancelledError:
            return
        fault = reply.fault
        if fault is None and now_ns - question.asked_ns > self._timeout_ns:
            fault = FaultyReplyError(Fault.TIMEOUT, 'the answer came too late')
        if fault is not None:
            self._not_before_ns = now_ns + round(min(fault.retry_s, _LONGEST_WAIT_S) * 1e9)
        if question.number < self._answered:
            return  # a newer question was answered before
        self._answered = question.number
        if fault is None:
            self.answer, self._why, self._lost = reply, '', None
        else:
            past_ns = time.monotonic_ns() - reply.figures.ended_ns
            self._lose(fault, question, now_ns, max(question.asked_ns, now_ns - past_ns))

    def _cancel_outdated(self, situation: str) -> None:
        if self._on_new_data != 'cancel' or self._cancelled >= _MOST_CANCELLED:
            return
        for question in [one for one in self._running if differs(one.situation, situation)]:
            self._running.remove(question)
            question.reply.cancel()
            self._cancelled += 1

    def _may_ask(self, now_ns: int, situation: str) -> bool:
        return now_ns >= self._not_before_ns and len(self._running) < self._most and (
            not self._running or differs(self._running[-1].situation, situation))

    def _begin(self, now_ns: int, situation: str, stamps: CommandStamps) -> None:
        self._count += 1
        self._running.append(
            _Question(self._count, now_ns, stamps, situation, self._ask(situation)))
        if self._waits_since is None:
            self._waits_since = self._running[-1]

    def _is_lost_for(self, why: str) -> bool:
        return self.answer is None and self._why == why

    def _lose(self, fault: FaultyReplyError, question: _Question, now_ns: int,
              ended_ns: int) -> None:
        """
        Have no valid answer from now on; each new reason is logged once.

        :param ended_ns: when the request had failed
        """
        why = fault.fault.value if fault.fault is Fault.TIMEOUT else str(fault)[:LONGEST_NOTE]
        if not self._is_lost_for(why):
            _LOG.warning('no valid answer: %s', fault)
        if self.answer is not None or not self._why:
            self._lost = now_ns, question.stamps.model_copy(update={'ended_ns': ended_ns})
        self.answer, self._why = None, why
