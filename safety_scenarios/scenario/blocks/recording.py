# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Recorded messages that the nominal phase plays, as they were recorded on a real robot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field
from safety_scenarios.scenario.blocks.budget import MAX_MS, Milliseconds
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import Noun, TopicName

AtEnd = Literal['hold', 'loop']
"""hold: the last message of each topic goes on, at its mean rate; loop: all begin again."""


class BagBlock(Noun):
    """What of a bag is played; a text in its place is ``file`` alone."""

    file: str = Field(min_length=1, max_length=4096)
    """A file (.mcap, .db3) or the folder of a rosbag2, relative to the scenario file."""
    topics: tuple[str, ...] | None = Field(default=None, min_length=1)
    """Names in the bag; left out, all that the scenario leaves to the harness."""
    remap: Mapping[str, TopicName] = {}
    """Name in the bag to the topic of the scenario; others lose the slash they begin with."""
    start_ms: float = Field(default=0.0, ge=0, le=MAX_MS, json_schema_extra={'unit': 'ms'})
    """What was recorded earlier is left out (ms after the first message of the played topics)."""
    length_ms: Milliseconds | None = None
    """How much is played; left out, all to the bag's end."""
    at_end: AtEnd = 'hold'
    """What comes when the bag is over before the trial is."""


@dataclass(frozen=True)
class RecordedTopic:
    """The messages of one topic of a bag."""

    name: str
    """In the bag."""
    type: str  # noqa: A003
    times_ns: Sequence[int]
    """Since the beginning of what is played, in ascending order."""
    messages: Sequence[Message]
    """Without the stamps in their headers: those are written when they are sent."""

    @property
    def rate_hz(self) -> float | None:
        """How many a second on average, None where that says nothing."""
        lasted_ns = self.times_ns[-1] - self.times_ns[0]
        return (len(self.times_ns) - 1) * 1e9 / lasted_ns if lasted_ns else None


@dataclass(frozen=True)
class Recording:
    """What a bag holds of what was asked for."""

    topics: Sequence[RecordedTopic]
    left_out: Mapping[str, str]
    """Name in the bag of what is not played, to the reason."""
    round_ns: int
    """To their end, and on to where the topic that ends last would go on: a loop begins there."""
    sha256: str
    """Of the file; of a folder, of the names and hashes of its files."""
