# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Operation beside people: speed and separation, and the force of a contact."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import math
from operator import itemgetter
from typing import ClassVar, Literal

import numpy
from numpy.typing import NDArray
from pydantic import Field, model_validator
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.required_motion import speeds_of
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.robot import Separation as Terms
from safety_scenarios.scenario.blocks.signal import Held, held_within, Limit, longest_gap_ns
from safety_scenarios.scenario.invariant import InvariantPlugin, SignalUnits, SPEEDS
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.rounding import apart
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import LimitName, Verdict
from safety_scenarios.standards.ssm import ConstantDeceleration
from safety_scenarios.trial.trial import ALL_CLEAR
from safety_scenarios.trial.world_truth import Floats, Times

Known = Sequence[tuple[int, float]]
"""(steady ns, value) in time order, all of them numbers."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """The end of a stretch in which neither command nor distance changed."""

    t_ns: int
    speed: float
    distance: float
    nearest: float
    """What the distance may have been in between, as far as it was told."""
    required: float
    is_true: bool = False
    """The speed is what a world tells, where that is more than the commands account for."""

    @property
    def margin(self) -> float:
        return self.distance - self.required


class Separation(InvariantPlugin):
    """
    While the robot moves, the distance is at least the protective separation distance S_p.

    S_p is that of the commanded speed, with the robot's declared stopping model and the
    ``ros.separation`` block; its reaction time is ``other_time``, because what the controller took
    shows in the distance itself. The speed is that of all of the motion, whatever the signal reads
    of it: sideways and in reverse count as toward the person, because nobody told where behind the
    robot there is room. Commands are held until the next, so each is judged at the end of
    its time. The distance comes from the world of the link or from a feedback signal. If its
    messages are so far apart that a person could have come too near between two of them, it is
    not judged. Without both, it is the distance of the stimuli less the way that was commanded
    since onset. A robot that was told to go slower still covers
    what it takes to slow down. S_p at the moment at which a stop begins covers all of its braking,
    as long as this stays below the envelope of the declared stopping; then it is not asked again.
    Where a world tells that the robot is faster than its commands and its declared braking account
    for, as on a slippery floor, S_p is that of its true speed.
    The margin is in metres; none to spare is a violation.
    """

    holds_always: ClassVar[bool] = True

    kind: Literal['separation'] = 'separation'
    still: float = Field(default=0.01, ge=0, json_schema_extra={'unit': 'm/s'})
    """Commanded speed toward the person up to which the robot counts as stopped (m/s)."""

    def reach_s(self, scenario: Scenario) -> float | None:
        return 0.0

    def check(self, trial: JudgedTrial) -> Finding:
        declared, window = trial.scenario.body.separation_terms, trial.timeline.window('hazard')
        if declared is None:
            return self.finding(Verdict.ERROR, 'needs ros.separation and ros.robot.stopping')
        if window is None:
            return self.finding(Verdict.INCONCLUSIVE,
                                'the hazard was not observed to its all-clear')
        (terms, robot), (onset_ns, clear_ns) = declared, window
        commanded, distances = speeds_of(trial.motion, terms.signal), trial.motion.distances
        for found, what in ((commanded, 'no command arrived'),
                            (distances, 'no messages on the distance')):
            if not any(onset_ns <= t_ns <= clear_ns for t_ns, _ in found):
                return self.finding(Verdict.INCONCLUSIVE,
                                    f'{what} during the {trial.timeline.phase}')
        commanded = held_within(commanded, *window)
        distances = [one for one in held_within(distances, *window) if one[1] is not None
                     or one[0] < clear_ns]  # what is taken away with the all-clear is gone by then
        if not (distances[0][0] <= onset_ns and commanded[0][0] <= onset_ns):
            return self.finding(Verdict.INCONCLUSIVE, f'no messages on the distance, or '
                                                      f'{terms.signal}, at {trial.timeline.zero}')
        unknown = min((t_ns for t_ns, value in (*commanded, *distances)
                       if value is None or not math.isfinite(value)), default=None)
        until_ns = clear_ns if unknown is None else max(unknown, onset_ns)
        told = [[(t_ns, value) for t_ns, value in found if value is not None
                 and (unknown is None or t_ns < unknown)] for found in (commanded, distances)]
        moving = _moments(trial, told[0], told[1], (onset_ns, until_ns),
                          trial.motion.stop_span(window), self.still)
        moving += [moment for moment in _beyond(
            trial, told[1], terms, robot, (onset_ns, until_ns)) if moment.speed > self.still]
        worst = min(moving, key=lambda moment: moment.margin, default=None)
        if worst is not None and worst.margin <= 0:
            at_ms = (worst.t_ns - onset_ns) / 1e6
            return self.finding(
                Verdict.FAIL, f'{apart(-worst.margin, 0.0, ".3f")} m inside the protective '
                f'separation distance {at_ms:.0f} ms after {trial.timeline.zero}: {_words(worst)}',
                worst.margin, 'm', at_ms)
        if unknown is not None:
            return self.finding(Verdict.INCONCLUSIVE, f'{terms.signal} or the distance is unknown '
                                f'or not a number', at_ms=(unknown - onset_ns) / 1e6)
        if worst is None:
            return self.finding(Verdict.PASS, 'never commanded to move toward the person')
        return self._separation_finding(trial, worst, moving, onset_ns)

    def _separation_finding(self, trial: JudgedTrial, worst: _Moment, moving: Sequence[_Moment],
                            onset_ns: int) -> Finding:
        """Return what a margin is worth that nothing known has used up."""
        declared = trial.scenario.body.separation_terms
        assert declared is not None
        terms, robot = declared
        fastest = max(moment.speed for moment in moving)
        if not terms.covers(robot, fastest):
            return self.finding(
                Verdict.INCONCLUSIVE, f'commanded {fastest:.2f} m/s, and how the robot stops is '
                f'declared up to {terms.top_speed(robot):.2f} m/s')
        unseen = min(moving, key=lambda moment: moment.nearest - moment.required)
        if unseen.nearest <= unseen.required:
            return self.finding(
                Verdict.INCONCLUSIVE, f'the distance was not published often enough: around '
                f'{(unseen.t_ns - onset_ns) / 1e6:.0f} ms after {trial.timeline.zero} it may have '
                f'been {apart(unseen.nearest, unseen.required, ".2f")} m, where '
                f'a stop needs {apart(unseen.required, unseen.nearest, ".2f")} m')
        return self.finding(
            Verdict.PASS, f'{worst.margin:.3f} m to spare: at the nearest {_words(worst)}, '
            f'{_source(trial)}', worst.margin, 'm', (worst.t_ns - onset_ns) / 1e6)


def _beyond(trial: JudgedTrial, distances: Known, terms: Terms, robot: RobotModel,
            window: tuple[int, int]) -> Iterator[_Moment]:
    """Yield each moment at which a world tells that it is faster than it was told to be."""
    true = trial.motion.true_speeds
    if true is None or not distances:
        return
    inside = true.is_beyond & (true.times_ns >= max(window[0], distances[0][0])) \
        & (true.times_ns < window[1])
    times_ns, fast = true.times_ns[inside], true.speed[inside].tolist()
    near = _between(_Series.of(distances), times_ns)
    for t_ns, speed, distance, required in zip(times_ns.tolist(), fast, near.tolist(),
                                               terms.needed(robot, fast), strict=True):
        yield _Moment(t_ns, speed, distance, distance, required, is_true=True)


def _source(trial: JudgedTrial) -> str:
    """Say where the distance comes from."""
    terms = trial.scenario.body.separation
    if trial.motion.is_distance_reported:
        return 'as the simulator publishes it'
    if terms is not None and terms.distance is not None:
        return f'measured by {terms.distance}'
    return 'predicted from the commands'


def _words(moment: _Moment) -> str:
    return (f'{apart(moment.distance, moment.required, ".2f")} m away at {moment.speed:.2f} m/s, '
            f'where a stop needs {apart(moment.required, moment.distance, ".2f")} m' + (
                ', faster than commanded, according to the simulator' if moment.is_true else ''))


@dataclass(frozen=True, eq=False)
class _Series:
    """Numbers in time order, each in force until the next."""

    times_ns: Times
    values: Floats

    @classmethod
    def of(cls, known: Known) -> '_Series':
        times_ns, values = zip(*sorted(known, key=itemgetter(0)), strict=True)
        return cls(numpy.array(times_ns, numpy.int64), numpy.array(values, float))

    def place(self, times_ns: Times) -> NDArray[numpy.intp]:
        """Return which is in force at each of some times; -1: none yet."""
        return self.times_ns.searchsorted(times_ns, side='right') - 1

    def around(self, times_ns: Times) -> tuple[Times, Times, Floats, Floats]:
        """Return since and until when which is in force, and it and the next; the last twice."""
        place = self.place(times_ns)
        after = numpy.minimum(place + 1, len(self.values) - 1)
        return self.times_ns[place], self.times_ns[after], self.values[place], self.values[after]


def _moments(trial: JudgedTrial, speeds: Known, distances: Known, window: tuple[int, int],
             braking: tuple[int, int], still: float) -> list[_Moment]:
    """
    Return the end of each stretch in which neither command nor distance changes.

    :param braking: when a stop begins and ends (steady ns); what it covers is left out
    :param still: speed (m/s) up to which the robot stands, of which nothing is asked
    """
    declared = trial.scenario.body.separation_terms
    if not speeds or not distances or declared is None:
        return []
    terms, robot = declared
    commanded, near = _Series.of(speeds), _Series.of(distances)
    edges = numpy.unique(numpy.concatenate((window, braking, commanded.times_ns, near.times_ns)))
    edges = edges[(edges >= window[0]) & (edges <= window[1])]
    from_ns, to_ns = edges[:-1], edges[1:]
    place = commanded.place(from_ns)
    speed = numpy.where(place < 0, 0.0, commanded.values[place]) * terms.metres_per_unit
    speed = numpy.where(speed > 0.0, speed, 0.0)
    travelled, closing = numpy.zeros(len(speed)), None
    if trial.motion.is_distance_measured:
        fastest = float((commanded.values * terms.metres_per_unit).max())
        closing = terms.approach_speed + max(0.0, fastest)
    else:
        travelled = _travelled(speed.tolist(), (to_ns - from_ns).tolist(), terms, robot)
    shown = numpy.minimum(_between(near, from_ns), _between(near, to_ns)) - travelled
    with numpy.errstate(invalid='ignore'):  # inf - inf, after a command beyond all numbers
        nearest = numpy.minimum(
            shown, _nearest(near, from_ns, to_ns, closing, terms.approach_speed) - travelled)
    levels, which = numpy.unique(speed, return_inverse=True)
    needed = numpy.array(terms.needed(robot, levels.tolist()))[which]
    asked = (speed > still) & ~((braking[0] < to_ns) & (to_ns <= braking[1]))
    return [_Moment(*one) for one in zip(*(values[asked].tolist() for values in (
        to_ns, speed, shown, nearest, needed)), strict=True)]


def _between(distances: _Series, times_ns: Times) -> Floats:
    """Return the distance at times (m): who comes nearer does not wait for the next message."""
    since_ns, until_ns, distance, then = distances.around(times_ns)
    with numpy.errstate(invalid='ignore', divide='ignore'):  # after the last there is no line
        line = distance + (then - distance) * (times_ns - since_ns) / (until_ns - since_ns)
    return numpy.where(then >= distance, distance, line)


def _nearest(distances: _Series, from_ns: Times, to_ns: Times, closing: float | None,
             approach_speed: float) -> Floats:
    """
    Return the least that a distance (m) can have been in stretches, for all that was told.

    After the last message nobody comes faster than at the approach speed; a measured distance may
    have been less between two messages too.

    :param closing: fastest at which a measured distance can change (m/s); None: it is shown, and
        not measured
    :param approach_speed: fastest at which somebody who is shown comes nearer (m/s)
    """
    since_ns, until_ns, distance, then = distances.around(from_ns)
    coming = approach_speed if closing is None else closing
    between = math.inf if closing is None \
        else (distance + then - closing * (until_ns - since_ns) / 1e9) / 2
    return numpy.where(until_ns == since_ns, distance - coming * (to_ns - since_ns) / 1e9, between)


def _travelled(speeds: Sequence[float], spans_ns: Sequence[int], terms: Terms,
               robot: RobotModel) -> Floats:
    """Return how far (m) a robot has come at the end of each stretch, by its commands."""
    found, travelled, before = [], 0.0, 0.0
    for speed, span_ns in zip(speeds, spans_ns, strict=True):
        travelled += _slowing(before, speed, terms, robot)
        travelled += speed * span_ns / 1e9
        found.append(travelled)
        before = speed
    return numpy.array(found)


def _slowing(before: float, after: float, terms: Terms, robot: RobotModel) -> float:
    """Return how much farther (m) a robot comes that is told to slow down, than one that is."""
    less = before - after
    if less <= 0:
        return 0.0
    model = terms.stopping(robot)
    braking = less**2 / (2 * model.deceleration) if isinstance(model, ConstantDeceleration) \
        else less * model.time(min(before, terms.top_speed(robot)))
    return less * terms.other_time + braking


class Force(InvariantPlugin):
    """
    ``within`` of a contact above ``at_most`` the push into it ends: ``signal <= push_at_most``.

    The contact force is the scripted one (``force`` of the stimuli), or ``measured``: a feedback
    signal, which must itself be back at ``at_most`` by then. A standard's limit on the peak of an
    impact cannot be kept by a controller at ROS level (it comes within milliseconds); what can be
    judged is that it does not push on. The margin is that of the speed (signal's unit); of a
    measured force what is above the limit (N), or the time that was left (s).
    """

    names_signals: ClassVar[tuple[str, ...]] = ('signal', 'measured')
    names_feedback: ClassVar[tuple[str, ...]] = ('measured',)
    units: ClassVar[SignalUnits] = {'signal': SPEEDS, 'measured': ('N',)}

    kind: Literal['force'] = 'force'
    at_most: float = Field(ge=0, json_schema_extra={'unit': 'N'})
    """Greatest force that is no contact, or is harmless (N)."""
    signal: str = Field(min_length=1)
    """Signal with the commanded speed into the contact; with its sign, if a retreat is allowed."""
    push_at_most: float = Field(default=0.0, ge=0)
    """Fastest into the contact that still counts as no push (signal's unit)."""
    within: LimitName | float = 'critical'
    """A limit of the latency budget, or a time in ms after the contact began."""
    measured: str | None = None
    """Feedback signal with the contact force (N)."""
    filter_ms: float = Field(default=0.0, ge=0, le=10_000, json_schema_extra={'unit': 'ms'})
    """Time over which ``measured`` is averaged (ms)."""

    @model_validator(mode='after')
    def _within_is_a_time(self) -> 'Force':
        if isinstance(self.within, float) and self.within <= 0:
            raise ValueError(f'within: got {self.within:g}, expected a number > 0 (ms)')
        if self.filter_ms and self.measured is None:
            raise ValueError('got filter_ms without measured: a scripted force is not filtered')
        return self

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge each contact, from ``within`` after it began to its end."""
        scenario, window = trial.scenario, trial.timeline.window('hazard')
        if window is None:
            return self.finding(Verdict.INCONCLUSIVE,
                                'the hazard was not observed to its all-clear')
        forces = self._forces(trial)
        if any(force is None or not math.isfinite(force) for _, force in forces):
            return self.finding(Verdict.INCONCLUSIVE, 'the force is unknown or not a number')
        contacts = _above([(t_ns, force or 0.0) for t_ns, force in forces], self.at_most,
                          trial.record.end_ns)
        if not contacts:
            return self.finding(Verdict.INCONCLUSIVE, f'no contact above {self.at_most:g} N')
        within_ns = (round(self.within * 1e6) if isinstance(self.within, float)
                     else scenario.latency_budget.limit_ns(self.within))
        lasting = [(begin_ns, end_ns) for begin_ns, end_ns in contacts
                   if begin_ns + within_ns < end_ns]
        if self.measured is None:
            found = self._no_push(trial, lasting, within_ns)
            paused = None if found.verdict is not Verdict.PASS else _paused(trial, window)
            return found if paused is None else self.finding(
                Verdict.INCONCLUSIVE, f'for {paused / 1e6:.0f} ms the simulator published no '
                                      'force')
        if lasting:
            begin_ns, end_ns = lasting[0]
            still = max(force or 0.0 for _, force in held_within(
                forces, begin_ns + within_ns + 1, end_ns - 1))
            return self.finding(
                Verdict.FAIL, f'the force stayed above {self.at_most:g} N for '
                f'{(end_ns - begin_ns) / 1e6:.0f} ms, at last with up to {still:.4g} N',
                self.at_most - still, 'N', trial.timeline.since_onset_ms(begin_ns + within_ns))
        gap_ns = longest_gap_ns(forces, *window)
        if gap_ns > within_ns:
            return self.finding(Verdict.INCONCLUSIVE, f'{self.measured} was silent for '
                                f'{gap_ns / 1e6:.0f} ms, in which a contact may have lasted')
        longest_ns = max(end_ns - begin_ns for begin_ns, end_ns in contacts)
        return self.finding(
            Verdict.PASS, f'{len(contacts)} contacts, the longest above {self.at_most:g} N for '
            f'{longest_ns / 1e6:.0f} ms', (within_ns - longest_ns) / 1e9, 's')

    def _no_push(self, trial: JudgedTrial, lasting: Sequence[tuple[int, int]],
                 within_ns: int) -> Finding:
        """Judge the commands in scripted contacts that last longer than ``within``."""
        speeds = trial.signals.held(self.signal)
        unit = trial.scenario.body.signals[self.signal].unit
        limit = Limit(signal=self.signal, at_most=self.push_at_most)
        slack, unknown_ns = math.inf, None
        for begin_ns, end_ns in lasting:
            due_ns = begin_ns + within_ns
            samples = held_within(speeds, due_ns + 1, end_ns - 1)
            if not samples or samples[0][0] > due_ns or samples[-1][0] < lasting[0][0]:
                unknown_ns = due_ns
            for t_ns, speed in samples:
                margin = limit.margin(speed)
                if margin is None:
                    unknown_ns = max(t_ns, due_ns)
                elif margin < 0:
                    return self.finding(
                        Verdict.FAIL, f'pushed on into the contact, {-margin:.4g} {unit} too fast '
                        f'{(max(t_ns, due_ns) - begin_ns) / 1e6:.0f} ms after it began', margin,
                        unit, trial.timeline.since_onset_ms(max(t_ns, due_ns)))
                else:
                    slack = min(slack, margin)
        if not lasting:
            return self.finding(Verdict.INCONCLUSIVE, 'the contact was over before the limit of '
                                                      'time: nothing was left to judge')
        if unknown_ns is not None:
            return self.finding(Verdict.INCONCLUSIVE, f'no command in the contact tells '
                                f'{self.signal}, or not as a number',
                                at_ms=trial.timeline.since_onset_ms(unknown_ns))
        return self.finding(Verdict.PASS, f'no push into {len(lasting)} contacts', slack, unit)

    def _forces(self, trial: JudgedTrial) -> Held:
        if self.measured is None:
            return _scripted(trial)
        values = list(trial.signals.values(self.measured))
        if not self.filter_ms or any(force is None for _, force in values):
            return values
        return _averaged([(t_ns, force or 0.0) for t_ns, force in values],
                         round(self.filter_ms * 1e6))


def _scripted(trial: JudgedTrial) -> Held:
    """Return the greatest force that any stimulus shows; what the hazard shows ends with it."""
    shown: dict[str, float] = {}
    hazards: set[str] = set()
    found: list[tuple[int, float | None]] = []
    for event in trial.record.events:
        if event.kind in ('stimulus', 'state') and 'force' in event.truth:
            shown[event.name] = event.truth['force']
            hazards |= {event.name} if event.hazard else set()
        elif event.kind == 'state' and event.name in shown:
            del shown[event.name]  # it is gone, or touches nothing any more
        elif event.kind == 'mark' and event.name == ALL_CLEAR:
            shown |= dict.fromkeys(hazards, 0.0)
        else:
            continue
        found.append((event.stamps.steady_ns, max(shown.values(), default=0.0)))
    return found


def _paused(trial: JudgedTrial, window: tuple[int, int]) -> int | None:
    """Return how long (ns) a world told nothing of a thing that it tells a force of."""
    world = trial.motion.world
    pauses = [thing.pause(*window, arrives=True) for thing in (world.things if world else ())
              if 'force' in thing.keys]
    return max((pause[1] for pause in pauses if pause is not None), default=None)


def _above(forces: Sequence[tuple[int, float]], limit: float, end_ns: int) -> \
        list[tuple[int, int]]:
    """Return begin and end (steady ns) of each time in which the force is above a limit."""
    found: list[tuple[int, int]] = []
    for (t_ns, force), next_ns in zip(forces, [*(t for t, _ in forces[1:]), end_ns]):
        if force > limit and found and found[-1][1] == t_ns:
            found[-1] = found[-1][0], next_ns
        elif force > limit:
            found.append((t_ns, next_ns))
    return found


def _averaged(forces: Sequence[tuple[int, float]], window_ns: int) -> Held:
    """Return the mean of held values over the time before each; less where there was less."""
    if not forces:
        return ()
    times = numpy.array([t_ns - forces[0][0] for t_ns, _ in forces], dtype=float)
    levels = numpy.array([force for _, force in forces])
    area = numpy.concatenate(([0.0], numpy.cumsum(levels[:-1] * numpy.diff(times))))
    begin = numpy.maximum(times - window_ns, 0.0)
    with numpy.errstate(invalid='ignore', divide='ignore'):
        mean = (area - numpy.interp(begin, times, area)) / (times - begin)
    mean = numpy.where(times > begin, mean, levels)
    return [(t_ns, float(force)) for (t_ns, _), force in zip(forces, mean)]
