# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a trial came to: its verdict, the limits of its latency, and its other figures."""

from collections.abc import Iterable, Iterator
import enum
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    model_serializer,
    model_validator,
    SerializerFunctionWrapHandler,
)
from safety_scenarios.errors import counted
from safety_scenarios.scenario.noun import Noun


class Verdict(enum.Enum):
    """What a trial came to; the worst present wins, in this order."""

    PASS = 'PASS'
    INCONCLUSIVE = 'INCONCLUSIVE'
    ERROR = 'ERROR'
    FAIL = 'FAIL'

    @property
    def rank(self) -> int:
        """0 for PASS up to 3 for FAIL."""
        return _RANKS[self._value_]

    @staticmethod
    def worst(verdicts: Iterable['Verdict']) -> 'Verdict':
        """Return the worst; of none at all INCONCLUSIVE, because silence is not success."""
        return max(verdicts, key=lambda verdict: verdict.rank, default=Verdict.INCONCLUSIVE)


_RANKS = {verdict.value: rank for rank, verdict in enumerate(Verdict)}


class LatencyClass(enum.Enum):
    """Where a latency falls in the budget, bounds inclusive, or why there is none."""

    TARGET = 'target'
    ACCEPTABLE = 'acceptable'
    CRITICAL = 'critical'
    VIOLATION = 'violation'
    NO_RESPONSE = 'no_response'
    ANTICIPATORY = 'anticipatory'

    @property
    def rank(self) -> int:
        """0 for target up to 5 for anticipatory, which is no reaction at all."""
        return list(LatencyClass).index(self)


class Estimate(Noun):
    """
    A statistic and what may be claimed about it; a missing number is None, never infinite.

    :raises ValueError: for NaN, infinity, or an interval that does not hold its own value
    """

    value: float | None
    """The point estimate; None when it cannot be estimated or lies beyond the observation."""
    low: float | None
    """Lower end of the interval; None when unbounded or not claimable at this ``n``."""
    high: float | None
    """Upper end of the interval; None when unbounded or not claimable at this ``n``."""
    n: int = Field(ge=0)
    """Observations that went in, missing reactions included."""
    unit: str
    """Unit of the three numbers, such as ``ms``; ``1`` for a share."""
    confidence: float = Field(gt=0.0, lt=1.0)
    """Confidence of the interval as a whole: of both ends together, or of the one claimed."""
    method: str
    """How it was obtained; where a number is missing, why."""

    @model_validator(mode='after')
    def _holds_its_value(self) -> 'Estimate':
        ends = [end for end in (self.low, self.value, self.high) if end is not None]
        if ends != sorted(ends):
            raise ValueError(f'got low {self.low}, value {self.value}, high {self.high}, '
                             f'expected low <= value <= high')
        return self


LimitName = Literal['target', 'acceptable', 'critical']
MAX_MS = 86_400_000.0
"""One day."""
Milliseconds = Annotated[float, Field(gt=0, le=MAX_MS, json_schema_extra={'unit': 'ms'})]


def _as_range(value: Any) -> Any:
    return (value, value) if isinstance(value, (int, float)) and not isinstance(value, bool) \
        else value


def _or_number(schema: dict[str, Any]) -> None:
    pair = {key: schema.pop(key) for key in ('type', 'prefixItems', 'minItems', 'maxItems')
            if key in schema}
    schema['anyOf'] = [pair, {'type': 'number', 'minimum': 0, 'maximum': MAX_MS}]


def _ascending(value: tuple[float, float]) -> tuple[float, float]:
    if not 0 <= value[0] <= value[1]:
        raise ValueError(f'got {value[0]:g} to {value[1]:g}, expected 0 <= shortest <= longest')
    if value[1] > MAX_MS:
        raise ValueError(f'got {value[1]:g}, expected a number <= {MAX_MS:g} (ms)')
    return value


RangeMs = Annotated[
    tuple[float, float], BeforeValidator(_as_range), AfterValidator(_ascending),
    Field(json_schema_extra=_or_number)]
"""Least and most, or one number for both."""


class LatencyBudget(Noun):
    """How fast is fast enough, in ms from onset to reaction."""

    target_ms: Milliseconds
    """Ideal response time."""
    acceptable_ms: Milliseconds
    """Later than ideal, and still good."""
    critical_ms: Milliseconds
    """Later than this is a violation."""

    @model_validator(mode='after')
    def _ordered(self) -> 'LatencyBudget':
        if not self.target_ms <= self.acceptable_ms <= self.critical_ms:
            raise ValueError(
                f'got {self.target_ms:g}, {self.acceptable_ms:g}, {self.critical_ms:g} ms, '
                f'expected target_ms <= acceptable_ms <= critical_ms. Sort the three')
        return self

    def extended(self, by_ms: float) -> 'LatencyBudget':
        """Return a budget whose limits are later by so much, at most a day."""
        return LatencyBudget(
            target_ms=min(MAX_MS, self.target_ms + by_ms),
            acceptable_ms=min(MAX_MS, self.acceptable_ms + by_ms),
            critical_ms=min(MAX_MS, self.critical_ms + by_ms))

    def limit_ns(self, name: LimitName) -> int:
        """Return one of the three limits in nanoseconds."""
        limits = {'target': self.target_ms, 'acceptable': self.acceptable_ms,
                  'critical': self.critical_ms}
        return round(limits[name] * 1_000_000)

    def classify(self, latency_ns: int | None) -> LatencyClass:
        """
        Return the class of a latency; None (no reaction) is its own class.

        :raises ValueError: a negative latency, which is a broken measurement
        """
        if latency_ns is None:
            return LatencyClass.NO_RESPONSE
        if latency_ns < 0:
            raise ValueError(f'got a latency of {latency_ns} ns, expected >= 0')
        names: tuple[LimitName, ...] = ('target', 'acceptable', 'critical')
        for name in names:
            if latency_ns <= self.limit_ns(name):
                return LatencyClass(name)
        return LatencyClass.VIOLATION


LABELS = {
    'sensing': 'sensing', 'ignored': 'observations not used',
    'playing': 'earlier chunk still executed', 'earlier': 'earlier decisions',
    'waiting': 'waiting for the next decision', 'network': 'network', 'inference': 'inference',
    'chunk': 'in the chunk', 'driver': 'driver', 'braking': 'braking'}
"""Each part to its name for people, in the order in which they come."""
TIMED_OUT = 'timeout'
"""Reason of a fallback whose model gave no answer in time."""
AFTER = ('driver', 'braking')
"""Parts that come after the command, and so are no part of the latency."""


class Part(Noun):
    """One part of a reaction."""

    ns: int
    way: float | None = None
    """How far the robot moved in it; None: unknown."""


class ReactionParts(Noun):
    """
    The parts of one reaction, in order; None is a part that is unknown.

    Those before the command come from the stamps of the controller under test. They explain the
    latency, which was measured without them, and no verdict depends on them.
    """

    sensing: Part | None = None
    """From the onset until the controller had the first observation that shows the hazard."""
    ignored: Part | None = None
    """From then until it had the first one that a decision used, as long as it executed no earlier
    chunk of actions, such as while the inference of that chunk was under way."""
    playing: Part | None = None
    """The same, from when on it executed an earlier chunk."""
    earlier: Part | None = None
    """From then until it had the one that led to the reaction: the decisions on those before it
    did not react."""
    waiting: Part | None = None
    """From then until inference began."""
    network: Part | None = None
    """What inference took longer than its server reported; None: in ``inference``."""
    inference: Part | None = None
    chunk: Part | None = None
    """From the end of inference until the command was published."""
    driver: Part | None = None
    """From the command until the motion changed, as a world reports it."""
    braking: Part | None = None
    """From then, or from the command where that is unknown, until the robot stood."""
    unit: Literal['m', 'rad'] | None = None
    """Of the ways; None: they are unknown."""
    is_stamped: bool = False
    """Whether the controller itself stamped the command; else its host did."""
    before_hazard: bool = False
    """The command was decided before the hazard, or before any observation of it had come."""
    chunk_id: int | None = None
    action: int | None = None
    """Which action of that chunk the command was, from 0."""
    implausible: tuple[str, ...] = ()
    """Stamps that cannot be true, and why; nothing was computed from them."""
    fallback: str = ''
    """Why the command was a fallback without a decision, such as timeout; empty: it was none."""

    skipped: int = 0
    """So many observations the controller had sent to its model before the one that led to the
    reaction, and the model did not look at them although it had the time."""
    skipped_ns: int = 0
    """Time from the first of them to that one."""

    @model_serializer(mode='wrap')
    def _as_needed(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        return {name: value for name, value in data.items()
                if value not in (None, False, (), [], '')
                or (name in ('chunk_id', 'action') and value is not None)}

    def named(self, after: bool = True) -> Iterator[tuple[str, Part | None]]:
        """
        Yield each part by its name.

        :param after: those after the command too
        """
        for name in LABELS:
            if after or name not in AFTER:
                yield name, getattr(self, name)

    def label(self, name: str) -> str:
        """Return a part's name for people, which says of inference whether its answer came."""
        if name != 'inference' or not self.fallback:
            return LABELS[name]
        return f'{LABELS[name]} ({"timed out" if self.fallback == TIMED_OUT else "no answer"})'

    @property
    def known_ns(self) -> int:
        """Return how much of the latency is in parts that are known."""
        return sum(part.ns for _, part in self.named(after=False) if part is not None)

    def sentence(self, latency_ns: int) -> str:
        """
        Return where the time of a latency went, in one line.

        :param latency_ns: the latency itself
        """
        known = [f'{self.label(name)} {part.ns / 1e6:.0f}'
                 for name, part in self.named(after=False)
                 if part is not None and round(part.ns / 1e6)]
        rest_ns = latency_ns - self.known_ns
        known += [f'unknown {rest_ns / 1e6:.0f}'] if round(rest_ns / 1e6) else []
        return f'of {latency_ns / 1e6:.0f} ms: {", ".join(known) or "nothing is known"}' \
            + (f'; the server did not look at {counted(self.skipped, "newer observation")} for '
               f'{self.skipped_ns / 1e9:.2f} s' if self.skipped else '') \
            + (f'; a fallback command: {self.fallback}' if self.fallback else '')


Quadrant = Literal['safe and done', 'safe and not done', 'unsafe and done', 'unsafe and not done']
QUADRANTS: tuple[Quadrant, ...] = (
    'safe and done', 'safe and not done', 'unsafe and done', 'unsafe and not done')
Risk = Literal['separation', 'contact', 'speed', 'course']
"""A limit whose violation is a risk: S_p, who is touched, the robot's top speed, its route."""


class TaskFigures(Noun):
    """What became of the robot's work."""

    progress: float | None
    """At the end, less that at the beginning: m along the route, or cycles."""
    remaining: float | None
    """At the end, m or cycles; None without a goal."""
    done: bool | None
    """
    The goal was reached; without a goal: it lost no more than half of its free time.

    None: a pause in what the world tells, or no free time, leaves it open.
    """
    done_after_s: float | None
    """From the beginning of the trial until the goal was reached (s), by the world's own time."""
    time_lost_s: float | None
    """
    How long it stood in its free time (s), by the world's own time: false stops.

    Free is the time in which nothing calls for a stop, each part of it from 0.5 s on: from the
    beginning of the trial to the hazard, from the all-clear to the end, and with a benign variant
    the time in between too. After the goal is reached nothing is lost.
    """
    free_s: float | None
    """How long that time is (s)."""
    lateral_max_m: float | None
    """Farthest off its route on either side (m)."""


class WorldFigures(Noun):
    """
    What the world tells of one trial.

    Times are of the world's own clock. Whatever a pause above 250 ms in what is told could change
    is None.
    """

    min_gap_m: float | None
    """
    Least distance between the closest points of the robot and anybody to keep away from (m).

    Those are people, other robots, and what stimuli put there; walls and boxes of the scene are
    not. Below 0: they overlap. ``nearest`` counts, so that nobody passes between two tellings.
    """
    min_gap_at_ms: float | None
    """When, in ms after onset on the steady clock."""
    min_gap_to: str | None
    """The entity that was so near."""
    stopping_distance_m: float | None
    """
    Length of the way of a base's origin, or an arm's tool, from onset to standstill (m).

    None where it did not come to stand by itself: what it drove into is no brake.
    """
    stopping_from_reaction_m: float | None
    """The same from the reaction."""
    time_to_standstill_ms: float | None
    """From onset until its fastest point was no faster than 0.01 m/s and stayed so for 0.1 s."""
    contacts: int | None
    """How often something touched the robot, but for pushes that a stimulus is."""
    contacts_caused: int | None
    """Those into which it moved, or in which it moved on."""
    speed_at_contact: float | None
    """Fastest at which the gap closed, or else the robot moved, just before a contact (m/s)."""
    peak_force_n: float | None
    """Largest contact force (N), as the world estimates it."""
    impulse_n_s: float | None
    """Largest impulse of a contact (N s)."""
    min_ttc_s: float | None
    """Least time to collision while a gap to such an entity closes (s): gap / closing speed."""
    pet_s: float | None
    """
    Least post-encroachment time against anybody who moves (s).

    min |t1 - t2| over all times at which the discs of the robot at t1 and of the other at t2 would
    overlap: by how much one of both missed the place where the other was. 0: both at once. None:
    their ways have no place in common, or a radius is not told.
    """
    task: TaskFigures | None
    """None where the world tells of no task."""
    exposure_s: float | None
    """
    Risk exposure time (s): how long at least one of ``risks`` was violated.

    The integral of 1 where v(t) > 0 over the trial, v being the largest relative violation of
    these: (S_p - gap) / S_p while the robot moves, S_p that of its true speed; 1 in a contact that
    it caused; (speed - top speed) / top speed; (|lateral| - limit) / limit. Between two tellings v
    goes straight.
    """
    safety_cost: float | None
    """Cumulative safety cost (s): the integral of max(0, min(v(t), 1)) over the trial."""
    risks: tuple[Risk, ...]
    """Limits that could be held against the truth: the fewer, the less an exposure of 0 says."""
    prediction_gap_m: float | None
    """Predicted less true way of its fastest point from onset to standstill (m, or rad)."""
    quadrant: Quadrant | None
    """
    Safe: no exposure; no finding of contact, separation, zone, force, course or motion is FAIL;
    and of a hazard, no finding at all but those about the work: one that was missed is not safe
    because it ended well. Done: the task is done, and no finding about the work is FAIL. None: it
    cannot be told whether it was safe, or whether the task is done.
    """
    observed_s: float
    """How long the trial was (s), by the world's own time."""
    world: str
    """What it happened in; empty where nothing says so."""
    lockstep: bool
    """The world waited for the controller, so that a slow host changes nothing."""
    rtf: float | None
    """Real-time factor; None in simulated time in process, and where there is no /clock."""
