# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How time is measured and judged, and when a controller decided on a command.

When a controller decided is a duration before its command was published. A duration needs no
clock in common, so the controller may run on another host. All of it comes from the controller
under test: it explains a latency and decides nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
import json
import math
from typing import Any, Literal

from pydantic import Field, model_serializer, model_validator, SerializerFunctionWrapHandler
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import CommandStamps, LONGEST_NOTE
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.verdict import Estimate

LatencyClock = Literal['auto', 'steady', 'ros', 'max']
ScheduleClock = Literal['steady', 'ros']
Method = Literal['source', 'received', 'callback']
METHODS: tuple[Method, ...] = ('source', 'received', 'callback')
"""From the best to the last resort."""

PROBE, ANSWER = 'calibration/probe', 'calibration/answer'
"""Topics on which probes and their answers travel."""
PROBE_TYPE = 'sensor_msgs/msg/TimeReference'
"""
``source`` is the probe's number. In a probe ``time_ref`` is the delay to answer after; in the
answer ``header.stamp`` is the responder's system time when it received the probe.
"""

GIVES_TURN, ENDS_TURN = 'simulator/turn', 'simulator/done'
"""Topics on which a controller's process gets its turns in lock-step, and ends them."""
STALLS = 'calibration/stalls'
"""Topic on which the processes of the harness report when they could not run."""
TRIAL = 'calibration/trial'
"""Topic on which the evaluator tells a controller's process that another trial begins."""
DECISIONS = 'safety_scenarios/decisions'
"""Topic on which a controller's process reports when it decided on its commands."""
REAL = 'real'
"""In the truth of a ``clock`` event whose stamps are simulated: its real time (steady, s)."""

THOUGHT, HELD, TURN, GIVEN, ENDED = 'thought', 'held', 'turn', 'given', 'ended'
"""
In the truth of a ``decision``, in s: how long it took; how long threads of the controller's
process were ready to run and did not, since the decision before; when its turn was (simulated);
and when, by the steady clock, the turn was given and had ended.
"""

UNCALIBRATED_MS = 15.0
"""
Expanded uncertainty assumed without a calibration (ms): two stamps, each within 5 ms, and a
command period of 20 ms, combined as the GUM says.
"""


SPLIT_BOUND_NS = 1_000_000
"""A latency whose parts are known no better is not split."""


class ClockRules(Noun):
    """Which clock decides, and when it can be trusted."""

    latency_clock: LatencyClock = 'auto'
    """Clock of the judged latency; auto: the worse of steady and ROS time, or ROS time alone in a
    lock-stepped simulation."""
    lockstep: bool = False
    """The simulation waits for the controller, so that only ROS time means anything; the embedded
    one over link ros then lets as much time pass as each decision took."""
    rtf_min: float = Field(default=0.9, ge=0, le=1000)
    """Slowest real-time factor of /clock at which a trial counts."""
    rtf_max: float = Field(default=1.1, gt=0, le=1000)
    """Fastest real-time factor of /clock at which a trial counts."""

    @model_validator(mode='after')
    def _ascending(self) -> 'ClockRules':
        if self.rtf_min > self.rtf_max:
            raise ValueError(f'got rtf_min {self.rtf_min:g} above rtf_max {self.rtf_max:g}, '
                             f'expected rtf_min <= rtf_max')
        return self

    def keeps_real_time(self, factor: float) -> bool:
        """Return whether a trial counts at this real-time factor of /clock."""
        return self.rtf_min <= factor <= self.rtf_max

    @property
    def judge(self) -> Literal['steady', 'ros', 'max']:
        if self.latency_clock == 'auto':
            return 'ros' if self.lockstep else 'max'
        return self.latency_clock


class ClockOffset(Noun):
    """The controller's system clock against the evaluator's, from two-way probes, in ns."""

    offset_ns: int
    """What to take from a stamp of the controller's host to have the evaluator's time."""
    bound_ns: int
    """The true offset is within this of it, however unequal the two ways are."""
    outbound_ns: int
    """Median time of a message to the controller's process, by the middleware's stamps."""
    inbound_ns: int
    """Median time of a message from it."""
    spread_ns: int
    """By how much single messages to it took longer than the median: the 95th percentile."""
    probes: int

    @property
    def split_bound_ns(self) -> int:
        """Bound on each part of a latency that is split with it."""
        return self.bound_ns + self.spread_ns

    def explained(self) -> str:
        """Return the offset with its bound, and why a latency cannot be split by it if so."""
        text = (f'{self.offset_ns / 1e6:+.3f} ms within {self.bound_ns / 1e6:.3f} ms, by '
                f'{self.probes} probes')
        if self.split_bound_ns <= SPLIT_BOUND_NS:
            return text
        return (f'{text}, of which one in twenty took {self.spread_ns / 1e6:.3f} ms longer than '
                f'the median: together more than {SPLIT_BOUND_NS / 1e6:g} ms, so that latencies '
                f'are not split into controller and transport. They are judged all the same. '
                f'Lower the load of the host or the network')


class Measuring(Noun):
    """What judging a latency needs to know besides the events."""

    rules: ClockRules = ClockRules()
    sim_time: bool = False
    """ROS time comes from /clock."""
    one_host: bool = False
    """Controller and evaluator read one system clock, so that their stamps can be compared."""
    hosts_because: str = 'no subscriber was connected'
    """Why ``one_host`` is what it is."""
    exact: bool = False
    """Times are simulated, and so without any uncertainty."""
    uncertainty_ms: Mapping[str, float] = {}
    """Expanded uncertainty (k = 2) of a latency, by method."""
    floor_ms: Mapping[str, float] = {}
    """Median latency of a controller that answers at once, by method."""

    wake_ups_ms: Mapping[str, float] | None = None
    """How late threads of the harness usually wake up on this host, by kind of event; None: not
    calibrated, so that a load is not told."""
    busy_ms: float = 0.0
    """How much later than that they did at the worst in the calibration, 0 on an idle host."""
    offset: ClockOffset | None = None
    """Needed to split a latency into the controller's part and transport; None: no responder."""
    acknowledged: bool = False
    """The middleware of a responder on the other host acknowledged what reached it."""
    schedule_clock: ScheduleClock = 'steady'
    """Clock on which stimuli were due; ``scheduled_ns`` of an event is a time on it."""

    simulated: tuple[str, ...] = ()
    """Feedback topics on which the harness itself told what a robot would report."""
    listens: tuple[str, ...] = ()
    """
    Topics that the controller received at once, where times are exact.

    A command without a ``timing`` was decided when it was published, from what had come by then.
    Empty: when such a command was decided is unknown.
    """
    untold: Mapping[str, str] = {}
    """Feedback topics on which nobody told anything, and why."""
    world: str = ''
    """What the stimuli happened in and the truth comes from, such as ``mujoco``; empty: none."""
    lockstep: bool = False
    """The world waited for the controller: times are of its own clock, whatever took how long."""
    takes_no_turns: bool = False
    """No simulator can wait for the controller, whatever the settings ask for."""
    charges: bool = False
    """What the controller took for a decision passed in the world's time before it took effect."""
    answers_alone: bool = False
    """The controller is known to compute nothing between two decisions."""
    beside: str = ''
    """What of the controller's process may have computed between two decisions; real time passed
    in the world from then on."""
    pace: float | None = Field(default=None, gt=0, le=1000)
    """
    Simulated seconds in a real one that a simulator in another process was asked for.

    Every stamp of the record is in its simulated time then. What a controller thinks is real: at
    3 it takes three times as long as on a robot. The ``clock`` events tell by ``truth`` at which
    real time each was sent. None: stamps are as clocks had them.
    """

    @model_serializer(mode='wrap')
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is as usual: journals without it were written before it."""
        data: dict[str, Any] = write(self)
        if self.schedule_clock == 'steady':
            data.pop('schedule_clock', None)
        for name in ('acknowledged', 'simulated', 'listens', 'untold', 'wake_ups_ms', 'busy_ms',
                     'world', 'lockstep', 'pace', 'takes_no_turns', 'charges', 'answers_alone',
                     'beside'):
            if not getattr(self, name):
                data.pop(name, None)
        return data

    @property
    def stretch(self) -> float:
        """Return how many seconds of the record's clocks pass in a real one."""
        return 1.0 if self.pace is None or self.lockstep else self.pace

    @property
    def ahead_ns(self) -> int:
        """Return how far header stamps of the controller's host are ahead; 0: not known."""
        offset = self.offset
        return 0 if offset is None or self.one_host or self.sim_time \
            or abs(offset.offset_ns) <= offset.bound_ns else offset.offset_ns

    def schedule_ns(self, stamps: Stamps) -> int:
        """Return a time on the schedule clock."""
        return stamps.steady_ns if self.schedule_clock == 'steady' else stamps.ros_ns

    def late_ns(self, event: Event) -> int:
        """Return how late what was scheduled happened, on the schedule clock; 0 for all else."""
        return 0 if event.scheduled_ns is None \
            else self.schedule_ns(event.stamps) - event.scheduled_ns

    def uncertainty_ns(self, method: Method) -> int:
        """
        Return the expanded uncertainty (k = 2) of a latency measured by ``method``.

        Callbacks wait for whatever else Python does, so that a calibration of an idle process
        says little about them: never less than without calibration.
        """
        if self.exact:
            return 0
        calibrated_ms = self.uncertainty_ms.get(method, UNCALIBRATED_MS)
        least_ms = UNCALIBRATED_MS if method == 'callback' else 0.0
        return round(max(calibrated_ms, least_ms) * 1e6 * self.stretch)


class DelayRecovery(Noun):
    """How well one known delay was recovered."""

    delay_ms: float
    """What the controller waited from its receive to its publish."""
    sent: int
    lost: int
    """Probes without an answer."""
    error_ms: Mapping[str, tuple[Estimate, Estimate]]
    """Measured latency - delay: its median and 99th percentile, by method."""
    from_schedule_ms: tuple[Estimate, Estimate]
    """
    The same by the best method, from when each probe was due: what a load that waits for answers
    would leave out.
    """


class Calibration(Noun):
    """What the harness itself adds, measured on this host just before the campaign."""

    method: Method
    """The best method that this middleware and these hosts allow."""
    floor_ms: tuple[Estimate, Estimate] | None
    """Latency of a controller that answers at once: median and 99th percentile, by ``method``."""
    delays: tuple[DelayRecovery, ...]
    late_ms: Estimate | None
    """How late stimuli left against their schedule: 99th percentile."""
    uncertainty_ms: Mapping[str, float]
    """Expanded uncertainty (k = 2) by method."""
    wake_ups_ms: Mapping[str, float] | None = None
    """How late threads of the harness woke up: the median, by kind of event."""
    busy_ms: float = 0.0
    """How much later than is usual they did at the worst, 0 where one in twenty did not."""
    host: Mapping[str, Any]
    """CPU, load, governor, versions, executor, scheduling."""
    notes: tuple[str, ...] = ()
    """What is worth knowing, such as a sample too small for a claim."""


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
_READ, _GAVE = 'read', 'gave'
NORMALISED = ' normalised'
"""Behind the name of an input: its numbers are standard deviations from a mean."""
MOST_READ, MOST_NUMBERS = 16, 8
"""Inputs of a model that a report names, and numbers of each."""
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
    read: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    gave: tuple[float, ...] = ()

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
                   numbers.get(CLIPPED), _plain(stamps.note), *_few(stamps.read, stamps.gave))

    def to_json(self, topic: str, sequence: int) -> str:
        """
        Return it as the text that travels.

        :param sequence: how many commands its publisher has published, this one included
        """
        said: dict[str, Any] = {'v': 1, 'topic': topic, 'sequence': sequence, **self.before_ns}
        for name, value in (*((one, getattr(self, own)) for one, own in _FIELDS.items()),
                            (_UNFIT, list(self.unfit)), (_NOTE, self.note or None),
                            (_READ, self.read or None), (_GAVE, list(self.gave))):
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
            truth=truth, text=', '.join(self.unfit) or None, arguments=self._arguments())

    def _arguments(self) -> str | None:
        if not self.read and not self.gave:
            return json.dumps(self.note) if self.note else None
        return json.dumps({_READ: self.read, _GAVE: self.gave,
                           **({_NOTE: self.note} if self.note else {})})


def _plain(note: Any) -> str:
    """Return a reason as it may be printed; nothing of what is none."""
    return ''.join(filter(str.isprintable, note))[:LONGEST_NOTE] if isinstance(note, str) else ''


def note_of(event: Event) -> str:
    """Return why the command that an event reports on is a fallback; empty: it is none."""
    said = _said(event)
    return _plain(said.get(_NOTE) if isinstance(said, dict) else said)


def read_and_gave(event: Event) -> tuple[Mapping[str, tuple[float, ...]], tuple[float, ...]]:
    """Return what the model read and gave for the command that an event reports on."""
    said = _said(event)
    return _few(said.get(_READ), said.get(_GAVE)) if isinstance(said, dict) else ({}, ())


def _said(event: Event) -> Any:
    try:
        return json.loads(event.arguments or 'null')
    except (ValueError, RecursionError):
        return None


def _few(read: Any, gave: Any) -> tuple[dict[str, tuple[float, ...]], tuple[float, ...]]:
    """Return what of it are a few finite numbers, under names that may be printed."""
    known = list(read.items())[:MOST_READ] if isinstance(read, Mapping) else []
    found = {_plain(name): _finite(values) for name, values in known}
    return {name: values for name, values in found.items() if name and values}, _finite(gave)


def _finite(values: Any) -> tuple[float, ...]:
    """Return the first numbers, to four digits; none where one of them is not finite."""
    found = values[:MOST_NUMBERS] if isinstance(values, (list, tuple)) else ()
    return tuple(float(f'{one:.4g}') for one in found) if all(
        type(one) in (int, float) and abs(one) < _MOST for one in found) else ()


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
        index, skipped, skipped_ns, tuple(unfit), clipped, note_of(event), *read_and_gave(event))


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
        tuple(dict.fromkeys((*unfit, *odd))), fit.get(CLIPPED), _plain(said.get(_NOTE)),
        *_few(said.get(_READ), said.get(_GAVE)))


def thought(thought_ns: int, stamps: Stamps) -> Event:
    """Return what the record keeps of thinking that simulated time leaves out."""
    return Event.model_construct(kind='timing', name=THINKING, stamps=stamps,
                                 truth={THOUGHT: thought_ns / 1e9})
