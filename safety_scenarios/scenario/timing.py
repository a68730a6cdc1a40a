# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
When a controller decided on one command, as durations before that command was published.

A duration needs no clock in common, so the controller may run on another host. All of it comes
from the controller under test: it explains a latency and decides nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
import json
import math
from typing import Any

from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.measuring import DECISIONS, THOUGHT
from safety_scenarios.scenario.message import CommandStamps, LONGEST_NOTE

TIMES = ('observed', 'received', 'queued', 'began', 'ended')
"""In the order in which they happen; in the truth of a ``timing`` s before the command."""
SERVER, CHUNK, INDEX = 'server', 'chunk', 'index'
"""The same of what is no time: how long the server inferred (s), and which action it is."""
SKIPPED, SKIPPED_FOR = 'skipped', 'skipped_for'
"""Observations that the model was sent and did not look at, and for how long (s)."""
CLIPPED = 'clipped'
"""Joints that do not reach the target of a command at their top speed."""
_NUMBERS = (CHUNK, INDEX, SKIPPED, CLIPPED)
_DURATIONS = (SERVER, SKIPPED_FOR)
_FIELDS = {SERVER: 'server_ns', SKIPPED_FOR: 'skipped_ns', **{name: name for name in _NUMBERS}}
"""Name of what is no time to its field."""
THINKING = 'thinking'
"""Event of a controller that really thought while simulated time stood still."""
TOLD_NS = 50_000_000
"""What takes no longer is not told of: it lies within the period of a usual controller."""
NOT_SENT = 0
"""In place of the count of a command: nothing was published, and the note says why."""
NO_ANSWER_YET = 'no answer yet'
"""Reason of a fallback whose model was asked, and may still answer in time."""
_LONGEST_NS = 1 << 50
"""13 days; no stamp of a trial is further away."""
_MOST = 1 << 53
"""Integers up to here are floats, too."""
_UNFIT, _NOTE = 'unfit', 'note'
_LONGEST_TEXT = 10_000
"""Characters of a report; more is none of ours."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What the stamps of one command say, without the clock that they were read from."""

    before_ns: Mapping[str, int]
    """Name of ``TIMES`` to how long before the command was published; < 0: after it."""
    server_ns: int | None = None
    chunk: int | None = None
    index: int | None = None
    skipped: int | None = None
    skipped_ns: int | None = None
    unfit: tuple[str, ...] = ()
    """What is no number, or one that no clock of the trial can have shown."""
    clipped: int | None = None
    note: str = ''
    """Why the command is a fallback, which nobody decided on; empty: it is none."""

    @classmethod
    def of(cls, stamps: CommandStamps, published_ns: int) -> 'Timing':
        """
        Return the stamps of a command as what they say.

        :param published_ns: when the command was published, on the clock of the stamps
        """
        before, unfit = dict[str, int](), list[str]()
        for name in TIMES:
            value = getattr(stamps, f'{name}_ns')
            if value is not None:
                if _is_finite(value) and abs(published_ns - value) < _LONGEST_NS:
                    before[name] = published_ns - round(value)
                else:
                    unfit.append(name)
        durations = dict[str, int]()
        for name in _DURATIONS:
            value = getattr(stamps, _FIELDS[name])
            if value is None:
                continue
            if _is_finite(value) and abs(value) < _LONGEST_NS:
                durations[name] = round(value)
            else:
                unfit.append(name)
        numbers = dict[str, int]()
        for name in _NUMBERS:
            number = getattr(stamps, name)
            if number is None:
                continue
            if 0 <= number < _MOST:
                numbers[name] = number
            else:
                unfit.append(name)
        return cls(before, durations.get(SERVER), numbers.get(CHUNK), numbers.get(INDEX),
                   numbers.get(SKIPPED), durations.get(SKIPPED_FOR), tuple(unfit),
                   numbers.get(CLIPPED), _plain(stamps.note))

    def to_json(self, topic: str, sequence: int) -> str:
        """
        Return it as the text that travels.

        :param sequence: how many commands its publisher has published, this one included
        """
        said: dict[str, Any] = {'v': 1, 'topic': topic, 'sequence': sequence, **self.before_ns}
        for name, value in (*((one, getattr(self, field)) for one, field in _FIELDS.items()),
                            (_UNFIT, list(self.unfit)), (_NOTE, self.note or None)):
            if value is not None and value != []:
                said[name] = value
        return json.dumps(said)

    def event(self, topic: str, sequence: int | None, stamps: Stamps) -> Event:
        """
        Return what the record keeps of it.

        :param sequence: of the event of the command
        :param stamps: when the report came
        """
        truth = {name: value / 1e9 for name, value in self.before_ns.items()}
        truth |= {name: value / 1e9 for name in _DURATIONS
                  if (value := getattr(self, _FIELDS[name])) is not None}
        truth |= {name: float(value) for name in _NUMBERS
                  if (value := getattr(self, name)) is not None}
        return Event.model_construct(
            kind='timing', name=DECISIONS, symbol=topic, sequence=sequence, stamps=stamps,
            truth=truth, text=', '.join(self.unfit) or None,
            arguments=json.dumps(self.note) if self.note else None)


def _plain(note: Any) -> str:
    """Return a reason as it may be printed; nothing of what is none."""
    return ''.join(filter(str.isprintable, note))[:LONGEST_NOTE] if isinstance(note, str) else ''


def note_of(event: Event) -> str:
    """Return why the command that an event reports on is a fallback; empty: it is none."""
    try:
        return _plain(json.loads(event.arguments or 'null'))
    except (ValueError, RecursionError):
        return ''


def _is_finite(value: int | float) -> bool:
    return isinstance(value, int) or math.isfinite(value)


def read_timing(event: Event) -> Timing:
    """Return what an event of the record says."""
    unfit = event.text.split(', ') if event.text else []
    unfit += [name for name, value in event.truth.items()
              if not (0 <= value < _MOST if name in _NUMBERS else abs(value) < _LONGEST_NS / 1e9)]
    truth = {name: value for name, value in event.truth.items() if name not in unfit}
    chunk, index, skipped, clipped = (
        round(truth[name]) if name in truth else None for name in _NUMBERS)
    server_ns, skipped_ns = (round(truth[name] * 1e9) if name in truth else None
                             for name in _DURATIONS)
    return Timing(
        {name: round(truth[name] * 1e9) for name in TIMES if name in truth}, server_ns, chunk,
        index, skipped, skipped_ns, tuple(unfit), clipped, note_of(event))


def read_report(text: str) -> tuple[str, int, Timing] | None:
    """Return topic and sequence of a command with its timing; None if that is no such report."""
    if len(text) > _LONGEST_TEXT:
        return None
    try:
        said = json.loads(text)
        topic, sequence = said['topic'], said['sequence']
        unfit = said.get(_UNFIT, [])
        known = {name: said[name] for name in (*TIMES, *_FIELDS) if name in said}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    named = {*TIMES, *_FIELDS}
    if not isinstance(topic, str) or type(sequence) is not int or not 0 <= sequence < _MOST \
            or not isinstance(unfit, list) or not all(
            isinstance(one, str) and one in named for one in unfit):
        return None
    odd = [name for name, value in known.items() if type(value) is not int
           or abs(value) >= (_MOST if name in _NUMBERS else _LONGEST_NS)
           or (name in _NUMBERS and value < 0)]
    fit = {name: value for name, value in known.items() if name not in odd}
    return topic, sequence, Timing(
        {name: fit[name] for name in TIMES if name in fit}, fit.get(SERVER), fit.get(CHUNK),
        fit.get(INDEX), fit.get(SKIPPED), fit.get(SKIPPED_FOR),
        tuple(dict.fromkeys((*unfit, *odd))), fit.get(CLIPPED), _plain(said.get(_NOTE)))


def thought(thought_ns: int, stamps: Stamps) -> Event:
    """Return what the record keeps of thinking that simulated time leaves out."""
    return Event.model_construct(kind='timing', name=THINKING, stamps=stamps,
                                 truth={THOUGHT: thought_ns / 1e9})
