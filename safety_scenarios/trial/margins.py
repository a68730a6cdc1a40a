# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How limits hold over a trial: a margin for each command, held until the next."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.trial.executed_commands import Column


@dataclass(frozen=True, slots=True)
class Sample:
    """Margin of a condition from ``t_ns`` (steady) until the next sample; None is unknown."""

    t_ns: int
    margin: float | None
    signal: str = ''
    """The signal nearest to its limit."""
    inferred: bool = False
    """No message says so: by ``ros.silence`` the driver has stopped the robot by now."""

    @property
    def holds(self) -> bool:
        """Whether the condition is known to hold."""
        return self.margin is not None and self.margin >= 0


class MarginSeries:
    """
    A condition over a trial: samples in time order, each held until the next.

    They are kept as arrays, and made when they are asked for: a trial may have a million.

    :param samples: in time order
    """

    __slots__ = ('_inferred', '_margins', '_nearest', '_signals', '_times')

    def __init__(self, samples: Iterable[Sample]) -> None:
        known = list(samples)
        self._signals = tuple(dict.fromkeys(sample.signal for sample in known))
        places = {signal: place for place, signal in enumerate(self._signals)}
        self._times = numpy.array([sample.t_ns for sample in known], numpy.int64)
        self._margins = numpy.array([math.nan if sample.margin is None else sample.margin
                                     for sample in known], float)
        self._nearest: NDArray[numpy.intp] | None = numpy.array(
            [places[sample.signal] for sample in known], numpy.intp)
        self._inferred = {index for index, sample in enumerate(known) if sample.inferred}

    @classmethod
    def _empty(cls) -> 'MarginSeries':
        """Return one whose samples whoever asks for it puts in."""
        made = cls.__new__(cls)
        made._inferred = set()
        return made

    @classmethod
    def of(cls, limits: Sequence[Limit], columns: Sequence[Column]) -> 'MarginSeries':
        """
        Return how limits hold together, one sample for each message: the smallest margin.

        :param columns: the limits' signals, all of them read from the same messages in time order
        """
        made = cls._empty()
        ordered = sorted(zip(limits, columns, strict=True), key=lambda one: one[0].signal)
        made._signals = tuple(limit.signal for limit, _ in ordered)
        made._times = columns[0].times
        least, nearest = margins(*ordered[0]), None
        unknown = numpy.isnan(least)
        for place, (limit, column) in enumerate(ordered[1:], 1):
            other = margins(limit, column)
            unknown |= numpy.isnan(other)
            nearer = other < least
            least = numpy.where(nearer, other, least)
            nearest = numpy.where(nearer, place, 0 if nearest is None else nearest)
        least[unknown] = math.nan
        made._margins, made._nearest = least, nearest
        return made

    @classmethod
    def from_arrays(cls, times_ns: NDArray[numpy.int64],
                    margins: NDArray[numpy.float64]) -> 'MarginSeries':
        """Return margins that no signal says, as they are; NaN is unknown."""
        made = cls._empty()
        made._signals, made._times, made._margins, made._nearest = ('',), times_ns, margins, None
        return made

    @classmethod
    def together(cls, series: Sequence['MarginSeries']) -> 'MarginSeries':
        """Return how several hold together: the smallest margin of all, at each sample of one."""
        if len(series) == 1:
            return series[0]
        if len(series) == 2 and not any(one._inferred for one in series) \
                and (series[0]._times is series[1]._times
                     or numpy.array_equal(series[0]._times, series[1]._times)):
            return cls._both(*series)
        times = series[0]._times
        if any(not numpy.array_equal(one._times, times) for one in series[1:]):
            times = numpy.unique(numpy.concatenate([one._times for one in series]))
        found = [one._at(times) for one in series]
        made = cls._empty()
        made._signals = tuple(name for one in series for name in one._signals or ('',))
        made._times = times
        margins_ = numpy.array([margin for margin, _, _ in found])
        unknown = numpy.isnan(margins_).any(axis=0)
        least = numpy.where(numpy.isnan(margins_), math.inf, margins_).argmin(axis=0)
        begins = numpy.cumsum([0, *(len(one._signals or ('',)) for one in series[:-1])])
        made._margins = numpy.where(unknown, math.nan, margins_[least, numpy.arange(len(times))])
        nearest = numpy.array([near for _, near, _ in found])
        made._nearest = nearest[least, numpy.arange(len(times))] + begins[least]
        made._inferred = set().union(*(inferred for _, _, inferred in found))
        return made

    @classmethod
    def _both(cls, one: 'MarginSeries', other: 'MarginSeries') -> 'MarginSeries':
        """Return the same of two with the same samples, which most are."""
        made = cls._empty()
        names = one._signals or ('',)
        made._signals, made._times = (*names, *(other._signals or ('',))), one._times
        made._margins = numpy.minimum(one._margins, other._margins)  # NaN if one is unknown
        mine = numpy.zeros(1, numpy.intp) if one._nearest is None else one._nearest
        others = 0 if other._nearest is None else other._nearest
        made._nearest = numpy.where(other._margins < one._margins, len(names) + others, mine)
        return made

    def _at(self, times: NDArray[numpy.int64]) -> tuple[
            NDArray[numpy.float64], NDArray[numpy.intp], set[int]]:
        """Return margins, places of the nearest signals and inferred samples at other times."""
        place = self._times.searchsorted(times, side='right') - 1
        if not len(self._times):
            return numpy.full(len(times), math.nan), numpy.zeros(len(times), numpy.intp), set()
        margins_ = numpy.where(place < 0, math.nan, self._margins[place])
        nearest = numpy.zeros(len(times), numpy.intp) if self._nearest is None \
            else self._nearest[place]
        inferred = {int(times.searchsorted(self._times[one])) for one in self._inferred}
        return margins_, nearest, inferred

    def __eq__(self, other: object) -> bool:
        return self.samples == other.samples if isinstance(other, MarginSeries) \
            else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._times)

    @property
    def samples(self) -> Sequence[Sample]:
        """All of them, made anew each time."""
        return self._from_to(0, len(self))

    @property
    def ever_holds(self) -> bool:
        """Whether some sample is known to hold."""
        return bool((self._margins >= 0).any())

    def before(self, t_ns: int) -> Sample | None:
        """Return the sample in force just before ``t_ns``."""
        place = int(self._times.searchsorted(t_ns)) - 1
        return self._sample(place) if place >= 0 else None

    def within(self, from_ns: int, to_ns: int) -> Sequence[Sample]:
        """Return the samples in [``from_ns``, ``to_ns``]."""
        return self._from_to(*self._places(from_ns, to_ns))

    def has_sample(self, from_ns: int, to_ns: int) -> bool:
        """Return whether there is a sample in [``from_ns``, ``to_ns``]."""
        first, last = self._places(from_ns, to_ns)
        return first < last

    def is_open(self, from_ns: int, to_ns: int) -> bool:
        """Return whether a sample in [``from_ns``, ``to_ns``] is unknown."""
        first, last = self._places(from_ns, to_ns)
        return bool(numpy.isnan(self._margins[first:last]).any())

    def least(self, from_ns: int, to_ns: int) -> Sample | None:
        """Return the first of the samples in [``from_ns``, ``to_ns``] nearest to the limit."""
        first, last = self._places(from_ns, to_ns)
        known = numpy.flatnonzero(~numpy.isnan(self._margins[first:last]))
        return self._sample(first + int(known[self._margins[first + known].argmin()])) \
            if len(known) else None

    def first_broken(self, from_ns: int, to_ns: int) -> Sample | None:
        """
        Return the first sample in [``from_ns``, ``to_ns``] that is not known to hold.

        Of several at ``from_ns`` itself only the last is in force from then on: where a motion
        jumps, the sample before it lasts for no time.
        """
        first, last = self._places(from_ns, to_ns)
        first = max(first, int(self._times.searchsorted(from_ns, side='right')) - 1)
        broken = ~(self._margins[first:last] >= 0)
        place = int(broken.argmax()) if first < last else 0
        return self._sample(first + place) if first < last and broken[place] else None

    def first_held(self, from_ns: int, hold_ns: int, until_ns: int) -> Sample | None:
        """
        Return the first sample from which the condition holds for ``hold_ns`` without a break.

        :param until_ns: end of the observation; a hold it cuts short does not count
        """
        first, last = self._places(from_ns, until_ns)
        holds = numpy.zeros(last - first + 2, bool)
        holds[1:-1] = self._margins[first:last] >= 0
        turns = ((holds[1:] != holds[:-1]).nonzero()[0] + first).tolist()
        for begin, end in zip(turns[::2], turns[1::2], strict=True):
            since_ns = int(self._times[begin])
            if int(self._times[end]) - since_ns > hold_ns if end < last \
                    else until_ns - since_ns >= hold_ns:
                return self._sample(begin)
        return None

    def _places(self, from_ns: int, to_ns: int) -> tuple[int, int]:
        first = int(self._times.searchsorted(from_ns))
        return first, max(first, int(self._times.searchsorted(to_ns, side='right')))

    def _from_to(self, first: int, last: int) -> list[Sample]:
        return [self._sample(place) for place in range(first, last)]

    def _sample(self, place: int) -> Sample:
        t_ns, margin = int(self._times[place]), float(self._margins[place])
        if math.isnan(margin):
            return Sample(t_ns, None, '', place in self._inferred)
        nearest = 0 if self._nearest is None else self._nearest[place]
        return Sample(t_ns, margin, self._signals[nearest], place in self._inferred)


def margins(limit: Limit, column: Column) -> NDArray[numpy.float64]:
    """Return ``Limit.margin`` of each value of a column; NaN where it is unknown."""
    values, at_most, at_least = column.values, limit.at_most, limit.at_least
    with numpy.errstate(over='ignore'):  # what is too far to be a number is infinitely far
        if at_most is None or at_least is None:
            found = values - at_least if at_least is not None else (at_most or 0.0) - values
        else:
            upper, lower = at_most - values, values - at_least
            found = numpy.where(lower < upper, lower, upper)
    found[numpy.isinf(values)] = -math.inf
    if column.unknown is not None:
        found[column.unknown] = math.nan
    return found
