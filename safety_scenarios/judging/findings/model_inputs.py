# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a model read and gave before the hazard and with it, in a few numbers.

They come from the controller under test: they explain a verdict and decide nothing. They tell a
model that was not shown the hazard from one that saw it and did not react.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
import math
from typing import NamedTuple

from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.split import checked, observations
from safety_scenarios.scenario.result import MODEL_INPUTS, Note
from safety_scenarios.scenario.stimulus import BodyIntent, StimulusContext
from safety_scenarios.scenario.timing import NORMALISED, read_and_gave, read_timing
from safety_scenarios.trial.trial import ALL_CLEAR

_SHARE, _NOISE = 0.02, 0.1
"""A number has left its range by more than these shares of the greatest number and the range."""
_UNSEEN = ('what the controller reported of the inputs of its model stayed in the range from '
           'before the hazard. If all of them are reported, check the roles, frames, sector, '
           'units and clip of its contract')
_FAR = 10
"""What is normalised by the statistics of its own training is nearer to the mean than this."""
_MOST_SHOWN = 3
"""Inputs of which a note has the numbers."""


class _Read(NamedTuple):
    """What a model read and gave for one chunk, or one command."""

    at_ns: int
    """When that was commanded, after the onset."""
    is_early: bool
    """Whether it was asked before anything showed the hazard."""
    chunk: int | None
    read: Mapping[str, Sequence[float]]
    gave: Sequence[float]


class ModelInputs:
    """What the model of one trial read and gave."""

    def __init__(self, trial: JudgedTrial) -> None:
        self._trial = trial

    @cached_property
    def _onset_ns(self) -> int | None:
        onset = self._trial.latency.clocks.onset()
        return None if onset is None else onset.steady_ns

    @cached_property
    def _reads(self) -> Sequence[_Read]:
        return list(self._find_reads())

    def _find_reads(self) -> Iterator[_Read]:
        trial, record = self._trial, self._trial.record
        onset, events = trial.latency.clocks.onset(), record.of_kind('timing')
        reported = [(event, *read_and_gave(event)) for event in events if event.arguments]
        reported = [one for one in reported if one[1] or one[2]]
        if not reported:
            return
        zero_ns = record.events[0].stamps.steady_ns if onset is None else onset.steady_ns
        shown = () if onset is None else observations(
            trial.motion, onset, record.end_ns - zero_ns)
        for event, read, gave in reported:
            at_ns = event.stamps.steady_ns - zero_ns
            decision = checked(read_timing(event), at_ns,
                               record.events[0].stamps.steady_ns - zero_ns)
            yield _Read(at_ns, onset is None or decision.precedes(
                min(shown, default=-math.inf), record.measuring.exact), decision.chunk, read, gave)

    @cached_property
    def _late(self) -> Sequence[_Read]:
        """Return those with the hazard, until it was over."""
        clear = self._trial.timeline.mark(ALL_CLEAR)
        until_ns = math.inf if clear is None or self._onset_ns is None else \
            clear.stamps.steady_ns - self._onset_ns
        return [one for one in self._reads if not one.is_early and one.at_ns <= until_ns]

    @cached_property
    def changed(self) -> Sequence[str] | None:
        """Return the inputs in which a number left its range; None: that is unknown."""
        early = [one.read for one in self._reads if one.is_early]
        if not early or not self._late:
            return None
        return [name for name in early[-1] if any(
            _is_outside(now, [one[name] for one in early if name in one])
            for now in (one.read[name] for one in self._late if name in one.read))]

    @property
    def unseen(self) -> str:
        """Return that nothing a model read changed with a body that appeared; empty: it did."""
        trial = self._trial
        context = StimulusContext(trial.scenario.id, trial.scenario.messages, None)
        return _UNSEEN if self.changed == [] and any(
            isinstance(one.intent(context), BodyIntent) for one in trial.record.trial.hazard) \
            else ''

    def note(self, at_ms: float | None) -> Iterator[Note]:
        """
        Yield what the model read and gave before the hazard, and with it.

        :param at_ms: when what decided the verdict happened, after the onset; None: unknown
        """
        early = [one for one in self._reads if one.is_early][-1:]
        late = self._deciding_read(at_ms)
        reported = [*early, *([] if late is None else [late])]
        if not reported:
            return
        when = [*(['before the hazard' if self._onset_ns is not None else 'at last'] * len(early)),
                *([] if late is None else [f'{late.at_ns / 1e6:.0f} ms after the onset'])]
        changed, names = self.changed, list(reported[-1].read)
        parts = [f'action {_sequence_text([one.gave for one in reported])}',
                 *(f'{name} {_sequence_text([one.read.get(name, ()) for one in reported])}'
                   for name in (changed or names)[:_MOST_SHOWN])]
        if changed and (same := [one.partition(' (')[0] for one in names if one not in changed]):
            parts.append(f'{", ".join(same)} stayed in the range from before the hazard')
        if far := [name for name in names if NORMALISED in name and any(
                abs(value) > _FAR for one in reported for value in one.read.get(name, ()))]:
            parts.append(f'{", ".join(one.partition(NORMALISED)[0] for one in far)} more than '
                         f'{_FAR} standard deviations from the mean. Check mean, std and unit')
        yield Note(code=MODEL_INPUTS, text=(
            f'action and inputs of the model {" and ".join(when)}, as the controller reports: '
            f'{"; ".join(parts)}'
            + (f'; {self.unseen}' if self.unseen else '')))

    def _deciding_read(self, at_ms: float | None) -> _Read | None:
        """Return that of the reaction, or of what decided the verdict, or the last one."""
        latency = self._trial.latency.latency
        parts = None if latency is None else latency.parts
        if parts is not None and parts.chunk_id is not None:
            return next((one for one in self._reads
                         if one.chunk == parts.chunk_id and one.at_ns >= 0), None)
        late = [one for one in self._late if at_ms is None or one.at_ns <= at_ms * 1e6]
        return next(reversed(late or self._late), None)


def _is_outside(now: Sequence[float], before: Sequence[Sequence[float]]) -> bool:
    """Return whether a number is outside of the range that it had, by more than rounding."""
    for place, value in enumerate(now):
        known = [one[place] for one in before if place < len(one)]
        if known:
            least, greatest = min(known), max(known)
            more = _SHARE * max(map(abs, (*known, value))) + _NOISE * (greatest - least)
            if not least - more <= value <= greatest + more:
                return True
    return False


def _sequence_text(values: Sequence[Sequence[float]]) -> str:
    return ', then '.join(
        f'[{", ".join(f"{one:g}" for one in numbers)}]' if numbers else 'nothing'
        for numbers in values)
