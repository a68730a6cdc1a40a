# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One topic of a bag, played as it was recorded."""

from bisect import bisect_right
from typing import Literal

from pydantic import Field, PrivateAttr
from safety_scenarios.errors import MeasurementError
from safety_scenarios.formats.portable_names import portable_name
from safety_scenarios.scenario.blocks.onset import AtEnd, RecordedTopic
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin

_ONCE_NS = 1_000_000_000
"""How often the only message of a topic is repeated, such as a map that was published once."""


class Recorded(StimulusPlugin):
    """
    The messages of one topic of a bag, at the times at which the recorder received them.

    The reader of a scenario makes one for each topic that ``ros.nominal.bag`` plays. What was read
    travels with it, and is no part of it as plain data: that says by ``sha256`` which bag it was.
    """

    kind: Literal['recorded'] = 'recorded'
    message: str
    """Interface type in the bag."""
    bag: str
    """The bag, as the scenario file names it."""
    source: str
    """Name of the topic in the bag."""
    sha256: str
    """Of the bag: the verdict depends on what was played."""
    count: int = Field(ge=1)
    """Messages that are played."""
    round_ns: int = Field(ge=1)
    """From one beginning to the next: all topics of the bag begin again together."""
    at_end: AtEnd
    _recorded: RecordedTopic | None = PrivateAttr(default=None)

    @staticmethod
    def of(recorded: RecordedTopic, *, topic: str, bag: str, sha256: str, round_ns: int,
           at_end: AtEnd) -> 'Recorded':
        """
        Return what plays a topic.

        :raises pydantic.ValidationError: no such topic name, or too fast to be played
        """
        times_ns = recorded.times_ns
        rate_hz = recorded.rate_hz or 1e9 / _ONCE_NS
        made = Recorded(topic=topic, message=recorded.type, bag=portable_name(bag),
                        source=recorded.name, sha256=sha256, count=len(times_ns),
                        round_ns=round_ns, at_end=at_end, rate_hz=rate_hz)
        made._recorded = recorded
        return made

    def interface(self) -> str:
        """Return the interface type."""
        return self.message

    def due_ns(self, index: int, rate_hz: float) -> int:
        """Return when a message was received, or one of those that come when the bag is over."""
        times_ns = self._played.times_ns
        again = index - len(times_ns)
        if again < 0:
            return times_ns[index]
        if self.at_end == 'hold':
            return times_ns[-1] + round((again + 1) * 1e9 / self.rate_hz)
        rounds, place = divmod(index, len(times_ns))
        return rounds * self.round_ns + times_ns[place]

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """
        Return the message that is due.

        What alters it has a beat of its own: it is given what was published last by then.
        """
        if self.due_ns(index, self.rate_hz) != elapsed_ns:
            index = self._index(elapsed_ns)
        return Stimulus(self.topic, self._message(index))

    def _message(self, index: int) -> Message:
        messages = self._played.messages
        return messages[min(index, len(messages) - 1) if self.at_end == 'hold'
                        else index % len(messages)]

    def _index(self, elapsed_ns: int) -> int:
        """Return the place of the last message by then; before the first, of the first."""
        times_ns = self._played.times_ns
        if self.at_end == 'loop':
            rounds, elapsed_ns = divmod(elapsed_ns, self.round_ns)
            return max(0, rounds * len(times_ns) + bisect_right(times_ns, elapsed_ns) - 1)
        return max(0, bisect_right(times_ns, elapsed_ns) - 1)

    @property
    def _played(self) -> RecordedTopic:
        if self._recorded is None:
            raise MeasurementError(
                f'{self.topic}: got no messages of the bag {self.bag}, expected those that were '
                f'read with the scenario. Run the scenario from its file')
        return self._recorded
