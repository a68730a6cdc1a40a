# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What holds of a robot's motion whatever a scenario file asks for.

No axis is faster than its robot can, it drives where it may, and where a standstill is demanded
it stands: all of it, and it does not creep away.
"""

from collections.abc import Iterator, Sequence, Set
from functools import partial
import math

import numpy
from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.findings.nominal import MOMENT_NS
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.reported_motion import SOURCE
from safety_scenarios.judging.motion.required_motion import (
    longest_rest_ns,
    required,
    rests,
    shows,
    track_by_topic,
)
from safety_scenarios.judging.motion.standstill import (
    brakes_still,
    creep,
    demanded,
    is_standstill,
    moved_by,
    reached,
    settled_from,
    slowest_pace,
)
from safety_scenarios.judging.motion.track import Floats, Track
from safety_scenarios.scenario.blocks.agents import Pattern, Rule
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.message_types import fastest_in
from safety_scenarios.scenario.result import Finding, Latency, Outcome
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.rounding import apart
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.margins import margins
from safety_scenarios.trial.rules.story import FindBraking
from safety_scenarios.trial.trial import NOMINAL, ONSET

DRIVES = 'a motion is one'
_BRIEF_NS = 500_000_000
"""So long a driver may take to follow."""
_found = partial(Finding, check=DRIVES, kind='motion', source='motion')


def driving_findings(trial: JudgedTrial, outcome: Outcome) -> Iterator[Finding]:
    """Whoever must drive, and says so by a signal, must drive in the plane as well."""
    block = trial.scenario.body
    if not isinstance(block, AgentsBody):
        return
    begun: dict[Limit, int] = {}
    for found in outcome.rules:
        for limit in _driving(block, block.rules[found.index]) if found.fired_ns else ():
            begun[limit] = min(found.fired_ns[0], begun.get(limit, found.fired_ns[0]))
    for limit, since_ns in begun.items():
        idle = _idle(trial, block, limit, since_ns)
        if idle is not None:
            yield idle
            return


def _driving(block: AgentsBody, rule: Rule) -> Iterator[Limit]:
    """Yield the limits by which a rule demands that a base drives."""
    for pattern in rule.expect.any if rule.expect is not None else ():
        if pattern.kind == 'signal' and pattern.value is not None and pattern.value >= 0 \
                and pattern.op in ('>', '>=') and pattern.name in block.signals \
                and block.signals[pattern.name].speed == 'm/s':
            yield Limit(signal=pattern.name, at_least=pattern.value)


def _idle(trial: JudgedTrial, block: AgentsBody, limit: Limit, since_ns: int) -> Finding | None:
    """Return the first time for which the signal says that it drives, and it does not."""
    signal = block.signals[limit.signal]
    track = track_by_topic(trial.motion, signal.topic)
    if track is None:
        return None
    try:
        [column] = trial.signals.columns([signal])
    except LookupError:  # a finding of whoever reads it
        return None
    times = numpy.unique(numpy.concatenate((column.times, track.times_ns)))
    said, done = (one.searchsorted(times, side='right') - 1
                  for one in (column.times, track.times_ns))
    drives = (said >= 0) & (done >= 0) & (margins(limit, column) >= 0)[said] \
        & (column.values[said] > 0)
    idle = drives & ~shows(track, track.linear, limit)[done]
    lasting = numpy.diff(numpy.append(times, trial.record.end_ns).clip(since_ns))
    idle_ns, drives_ns = int(lasting[idle].sum()), int(lasting[drives].sum())
    if idle_ns > _BRIEF_NS and 2 * idle_ns > drives_ns:
        return _found(verdict=Verdict.FAIL,
                      at_ms=trial.timeline.since_onset_ms(int(times[idle][-1])),
                      reason=f'{limit} for {drives_ns / 1e6:.0f} ms, but for '
                             f'{idle_ns / 1e6:.0f} ms of them not the motion: {track.source}')
    turns = numpy.flatnonzero(numpy.diff(numpy.concatenate(([False], idle, [False]))))
    edges = numpy.append(times, trial.record.end_ns)[turns].tolist()
    for from_ns, to_ns in zip(edges[::2], edges[1::2], strict=True):
        if to_ns - max(from_ns, since_ns) > _BRIEF_NS:
            at_ms = trial.timeline.since_onset_ms(from_ns)
            return _found(verdict=Verdict.FAIL, at_ms=at_ms, reason=(
                f'{limit} for {(to_ns - from_ns) / 1e6:.0f} ms, but not the motion: '
                f'{track.source}'))
    return None


NO_FASTER = 'no faster than the robot can'
ONLY_WAYS = 'drives only where it may'
STANDS = 'no movement at a standstill'
_TOLERANCE = 0.01
"""Share of a top speed that a command may exceed it by: rounding, not speed."""
_OVERSHOOT = 0.1
"""The same of what a drive makes of a command that is not above it: whose doing is uncertain."""
_JOGS = ('geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped', 'control_msgs/msg/JointJog')
"""Each of their numbers moves the tool or a joint of an arm."""
_TOUCH_NS = 200_000_000
"""A signal that is low for a moment, as when it changes its sign, says of no standstill."""
_AHEAD = math.cos(math.pi / 4) * (1 - 1e-9)
_moves = partial(Finding, kind='motion', source='motion')


def _finite(margin: float) -> float | None:
    return margin if math.isfinite(margin) else None


def motion_findings(trial: JudgedTrial, latency: Latency | None) -> Iterator[Finding]:
    """Yield what holds in every trial with a robot whose motion can be told."""
    robot, moved = trial.motion.robot, trial.motion.tracks
    if robot is None:
        return
    begin = trial.timeline.mark(NOMINAL) or trial.timeline.mark(ONSET)
    window = (begin.stamps.steady_ns if begin else 0, trial.record.end_ns)
    if any(True for track in moved for _ in _limits(robot, track)):  # of wheels there are none
        yield _no_faster(trial, robot, moved, window)
    if any(track.is_base for track in moved) and robot.travel != 'any':
        yield _only_ways(trial, robot, moved, window)
    body = trial.scenario.body
    if isinstance(body, RobotBody):
        yield from _standstill_findings(trial, body, latency)


def standing_findings(trial: JudgedTrial, outcome: Outcome) -> Iterator[Finding]:
    """Among agents, whoever must stand and says so by a signal must stand in all of its motion."""
    block, robot, moved = trial.scenario.body, trial.motion.robot, trial.motion.tracks
    if not isinstance(block, AgentsBody) or robot is None or not moved:
        return
    wanted = [(found.fired_ns[0], pattern) for found in outcome.rules if found.fired_ns
              for pattern in _standing(block, block.rules[found.index])]
    if not wanted:
        return
    begun: dict[Pattern, int] = {}
    for fired_ns, pattern in wanted:
        begun[pattern] = min(fired_ns, begun.get(pattern, fired_ns))
    broken: list[Finding | None] = []
    for pattern, since_ns in begun.items():
        limit = _limit_of(pattern)
        assert limit is not None
        broken += [_creeping(trial, robot, moved, (from_ns, to_ns), to_ns < trial.record.end_ns)
                   for from_ns, to_ns in _low_signal_spans(trial, block.signals[limit.signal],
                                                           limit, since_ns)]
    worst = worst_of(broken)
    if worst is not None:
        yield worst
        return
    yield _moves(check=STANDS, verdict=Verdict.PASS, reason=(
        f'whenever a standstill was reported, it did not move farther than {robot.creep:g} '
        f'{moved[0].way_unit}: {moved[0].source}'))


def braking_among_agents(trial: JudgedTrial) -> FindBraking | None:
    """Return what finds the braking to a standstill that a rule demands; None: none is known."""
    block, robot = trial.scenario.body, trial.motion.robot
    if not isinstance(block, AgentsBody) or robot is None or trial.motion.deceleration is None:
        return None

    def find(pattern: Pattern, from_ns: int, held_ns: int) -> int | None:
        limit = _limit_of(pattern)
        if limit is None or not is_standstill(limit, block.signals.get(limit.signal), robot):
            return None
        found = trial.motion.braking([limit], from_ns, held_ns)
        return None if found is None or found.had_begun else found.begin_ns

    return find


def demands_standstill(scenario: Scenario) -> bool:
    """Return whether somewhere a standstill is demanded, which is then judged on all motion."""
    body = scenario.body
    if isinstance(body, AgentsBody):
        return any(True for rule in body.rules for _ in _standing(body, rule))
    return any(demanded(scenario, limits, is_stop) is not None
               for limits, is_stop in _demands(scenario))


def _standing(block: AgentsBody, rule: Rule) -> Iterator[Pattern]:
    """Yield the patterns by which a rule demands a standstill."""
    for pattern in rule.expect.any if rule.expect is not None and block.robot else ():
        limit = _limit_of(pattern)
        if limit is not None and block.robot is not None and is_standstill(
                limit, block.signals.get(limit.signal), block.robot):
            yield pattern


def _limit_of(pattern: Pattern) -> Limit | None:
    """Return what a pattern of a rule says of a signal that is low."""
    if pattern.kind != 'signal' or pattern.value is None or pattern.op not in ('<', '<='):
        return None
    return Limit(signal=pattern.name, at_most=pattern.value)


def _low_signal_spans(trial: JudgedTrial, signal: Signal, limit: Limit,
                      since_ns: int) -> Iterator[tuple[int, int]]:
    """Yield each time from ``since_ns`` on in which a signal is low for more than a moment."""
    try:
        [column] = trial.signals.columns([signal])
    except LookupError:  # a finding of whoever reads it
        return
    low = margins(limit, column) >= 0
    turns = numpy.flatnonzero(numpy.diff(numpy.concatenate(([False], low, [False]))))
    edges = numpy.append(column.times, trial.record.end_ns)[turns].tolist()
    for from_ns, to_ns in zip(edges[::2], edges[1::2], strict=True):
        from_ns = max(from_ns, since_ns)
        if to_ns - from_ns > _TOUCH_NS:
            yield from_ns, to_ns


def _no_faster(trial: JudgedTrial, robot: RobotModel, moved: Sequence[Track],
               window: tuple[int, int]) -> Finding:
    """Judge every axis against the robot's own limits, in whatever direction it moves."""
    least = _fastest(robot, (*moved, *trial.motion.actual), window)
    if least is None:
        return _moves(check=NO_FASTER, verdict=Verdict.INCONCLUSIVE,
                      reason='no command contains a speed')
    slack, track, t_ns, what, limit, unit = least
    text = f'{what}, of at most {limit:.4g} {unit}{_radius_text(robot, track)}: {track.source}'
    if slack < 0:
        asked = _fastest(robot, moved, window)
        verdict = Verdict.FAIL
        if asked is not None and asked[0] >= 0 and slack >= -_OVERSHOOT * limit:
            verdict, text = Verdict.INCONCLUSIVE, f'{text}, which it was not commanded: its ' \
                f'drive overshoots. Command a little less than the top speed'
        return _moves(check=NO_FASTER, verdict=verdict, reason=text, unit=unit,
                      margin=_finite(slack), at_ms=trial.timeline.since_onset_ms(t_ns))
    if not all(track.is_known(*window) for track in moved):
        return _moves(check=NO_FASTER, verdict=Verdict.INCONCLUSIVE,
                      reason=f'a speed is unknown or not a number: {track.source}')
    return _moves(check=NO_FASTER, verdict=Verdict.PASS, reason=text, unit=unit,
                  margin=_finite(slack), at_ms=trial.timeline.since_onset_ms(t_ns))


def _fastest(robot: RobotModel, tracks: Sequence[Track], window: tuple[int, int]) -> \
        tuple[float, Track, int, str, float, str] | None:
    """Return slack, track, time (ns), speed in words, limit and unit of what exceeds it most."""
    least: tuple[float, Track, int, str, float, str] | None = None
    for track in tracks:
        for what, values, limit, unit in _limits(robot, track):
            most = track.most(values, *window)
            if most is None:
                continue
            slack = limit * (1 + _TOLERANCE) - most[0]
            if least is None or slack / limit < least[0] / least[4]:
                least = slack, track, most[1], (
                    f'{what} at {apart(most[0], limit, ".4g")} {unit}'), limit, unit
    return least


def _limits(robot: RobotModel, track: Track) -> Iterator[tuple[str, Floats, float, str]]:
    """Yield (what, its values, most, unit) of each bound that the robot's own limits set."""
    kind = kind_of(robot)
    for bound in kind.speed_bounds() if kind.is_own(track.axes) else ():
        values: Floats = getattr(track, bound.of)
        yield bound.what, values, bound.most, bound.unit


def _radius_text(robot: RobotModel, track: Track) -> str:
    """Say by which radius, where it matters and none was declared."""
    if not track.is_base or robot.max_yaw_rate is not None:
        return ''
    told = f'radius {track.radius:g} m' + (' assumed' if robot.radius is None else '')
    return f' ({told}; declare robot.max_yaw_rate to bound its turns apart)'


def _only_ways(trial: JudgedTrial, robot: RobotModel, moved: Sequence[Track],
               window: tuple[int, int]) -> Finding:
    """Judge how far a base drove where nothing looks: in reverse, or sideways."""
    worst: tuple[float, Track] | None = None
    for track in (*moved, *trial.motion.simulated_tracks):
        if track.is_base:
            blind = _blind(robot, track)
            way = track.way(blind, *window)
            if math.isfinite(way) and (worst is None or way > worst[0]):
                worst = way, track
    how = 'ahead' if robot.travel == 'forward' else 'ahead or in reverse'
    if worst is None:
        return _moves(check=ONLY_WAYS, verdict=Verdict.INCONCLUSIVE,
                      reason='a speed is unknown or not a number')
    way, track = worst
    margin = robot.creep - way
    return _moves(
        check=ONLY_WAYS, verdict=Verdict.PASS if margin >= 0 else Verdict.FAIL, margin=margin,
        unit='m', reason=f'it drove {apart(way, robot.creep, ".3f")} m otherwise than {how}' + (
            '' if margin >= 0 else f', at most {robot.creep:g} m of it is forgiven. Where the '
            f'robot may do so, say it in robot.travel') + f': {track.source}')


def _blind(robot: RobotModel, track: Track) -> Floats:
    """
    Return how fast a base goes where it may not, at each set-point (m/s).

    One whose driver is declared may drive ahead to within 45 degrees, and so may what a world
    tells, where wheels slip; of another nobody said that it can leave its line at all.
    """
    ahead = track.velocity[:, 0]
    if robot.travel == 'both':
        ahead = numpy.abs(ahead)
    if track.is_executed or track.is_told:
        return numpy.where(ahead >= _AHEAD * track.linear, 0.0, track.linear)
    return numpy.abs(track.velocity[:, 1]) + numpy.maximum(-ahead, 0.0)


def _standstill_findings(trial: JudgedTrial, ros: RobotBody,
                         latency: Latency | None) -> Iterator[Finding]:
    """Judge the standstill that a reaction or a stop demands, from when it is reached on."""
    window, demands = trial.timeline.window('hazard'), list(_demands(trial.scenario))
    if window is None or not demands:
        return
    topics = {ros.signals[limit.signal].topic for limits, _ in demands for limit in limits}
    if not any(track.topic in topics for track in trial.motion.tracks):
        yield from _beside(trial, [limits for limits, _ in demands], topics, window)
        return
    worst = worst_of([_stood(trial, ros, limits, is_stop, window) for limits, is_stop in demands])
    if worst is not None:
        yield worst
        return
    stop = None if latency is None else latency.stop
    path = '' if stop is None else (
        f'it {"stood" if stop.source == SOURCE else "would stand"} '
        f'{stop.stands_ns / 1e6:.0f} ms after the hazard began, {stop.way:.2f} '
        f'{stop.unit} from where it was then, and ')
    yield _moves(check=STANDS, verdict=Verdict.PASS, reason=(
        f'{path}it stood until the all-clear: {_source(trial)}'))


def _beside(trial: JudgedTrial, demands: Sequence[Sequence[Limit]], topics: Set[str],
            window: tuple[int, int]) -> Iterator[Finding]:
    """Find what moves beside the signals of a standstill, by commands of no known motion."""
    most = max(limit.at_most or 0.0 for limits in demands for limit in limits)
    try:
        stood = [reached(trial.signals.margin_series(limits), 0, window) for limits in demands]
    except LookupError:  # a finding of whoever reads it
        return
    since_ns = min((one for one in stood if one is not None), default=window[1])
    for event in (one for topic in sorted(topics) for one in trial.signals.counting(topic)):
        if event.message is None or event.message.type not in _JOGS \
                or not since_ns <= event.stamps.steady_ns < window[1]:
            continue
        path, value = fastest_in(event.message)
        if not abs(value) <= most:
            yield _moves(check=STANDS, verdict=Verdict.INCONCLUSIVE, reason=(
                f'where it should stand, {event.name} carried {path} = {value:g}, and it is '
                f'unknown whether that moves the robot. Let a signal of the reaction read it'),
                at_ms=trial.timeline.since_onset_ms(event.stamps.steady_ns))
            return


def _demands(scenario: Scenario) -> Iterator[tuple[Sequence[Limit], bool]]:
    """Yield the limits that demand a standstill, and whether somebody calls it a stop."""
    stops = [limits for one in scenario.invariants if (limits := one.stops()) is not None]
    reaction = scenario.body.reaction
    if reaction is not None and (() in stops or demanded(scenario, reaction.limits) is not None):
        yield reaction.limits, () in stops
    for limits in stops:
        if limits:
            yield limits, True


def _stood(trial: JudgedTrial, ros: RobotBody, limits: Sequence[Limit], is_stop: bool,
           window: tuple[int, int]) -> Finding | None:
    onset_ns, clear_ns = window
    still = trial.motion.standstill(limits, is_stop)
    if still is None:
        return None
    try:
        series, said = trial.motion.series(limits, is_stop), trial.signals.margin_series(limits)
    except LookupError:  # a finding of whoever reads it
        return None
    moved = moved_by(trial.motion.tracks, still)
    hold_ns = 0 if ros.reaction is None else round(ros.reaction.hold_ms * 1e6)
    from_ns = reached(series, hold_ns, window)
    if from_ns is not None:
        return _creeping(trial, ros.robot, moved, (from_ns, window[1]), False)
    if reached(said, hold_ns, window) is None:
        return _moves(check=STANDS, verdict=None, reason='not evaluated: it never stopped, which '
                      'is for the reaction and the stop to judge')
    return _moves(check=STANDS, verdict=Verdict.FAIL, reason=(
        f'{" and ".join(map(str, limits))} held, and yet it moved: {_source(trial)}'))


def _creeping(trial: JudgedTrial, robot: RobotModel, moved: Sequence[Track],
              window: tuple[int, int], leaves: bool) -> Finding | None:
    """Return the worst of how it moved in a standstill, None if it did not."""
    return worst_of([_crept(trial, robot, track, window, leaves)
                     for track in trial.motion.actual or moved])


def worst_of(found: Sequence[Finding | None]) -> Finding | None:
    """Return the finding with the worst verdict, so that nothing open hides what is wrong."""
    return max((one for one in found if one is not None), default=None,
               key=lambda one: -1 if one.verdict is None else one.verdict.rank)


def _crept(trial: JudgedTrial, robot: RobotModel, track: Track, window: tuple[int, int],
           leaves: bool) -> Finding | None:
    """Return how one track moved in a standstill, None if it did not."""
    if not track.is_known(*window):
        return _moves(check=STANDS, verdict=Verdict.INCONCLUSIVE,
                      reason=f'a speed is unknown or not a number: {track.source}')
    moved_by = creep(track, robot, settled_from(track, robot, *window), window[1], leaves)
    pace = slowest_pace(track, robot)
    unit = track.way_unit
    at_ms = trial.timeline.since_onset_ms(window[0])
    stood_ms = (window[1] - window[0]) / 1e6
    if (moved_by.way > robot.creep or moved_by.pace > pace) and brakes_still(
            track, robot, *window):
        return _moves(check=STANDS, verdict=Verdict.INCONCLUSIVE, at_ms=at_ms, reason=(
            f'it still braked when the {stood_ms:.0f} ms ended in which it should stand, too '
            f'few for it to come to rest: {track.source}. Let the hazard last longer'))
    if moved_by.way > robot.creep:
        return _moves(
            check=STANDS, verdict=Verdict.FAIL, margin=robot.creep - moved_by.way, unit=unit,
            at_ms=at_ms, reason=f'it moved '
            f'{apart(moved_by.way, robot.creep, ".3f")} {unit} in the {stood_ms:.0f} ms in '
            f'which it should stand, at most {robot.creep:g} {unit}: {track.source}')
    if moved_by.pace > pace and moved_by.may_be_noise:
        return _moves(check=STANDS, verdict=Verdict.INCONCLUSIVE, at_ms=at_ms, reason=(
            f'it trembled where it should stand, and {stood_ms:.0f} ms do not show whether that '
            f'is only noise: {track.source}. Command exactly 0'))
    if moved_by.pace > pace:
        return _moves(
            check=STANDS, verdict=Verdict.FAIL, margin=pace - moved_by.pace,
            unit=track.unit, at_ms=at_ms,
            reason=f'it creeps on at {apart(moved_by.pace, pace, ".4g")} {track.unit} where it '
            f'should stand, at most {apart(pace, moved_by.pace, ".2g")}: {track.source}')
    return None


def _source(trial: JudgedTrial) -> str:
    return ' and '.join(track.source for track in trial.motion.actual or trial.motion.tracks)


_CHECK = 'rests at each end of its path'


def single_rest(trial: JudgedTrial) -> Iterator[Finding]:
    """
    Yield INCONCLUSIVE where an arm rested once in the whole trial.

    Its rests are forgiven. Whoever works with rests has more of them; a controller that stops for
    a moment and for no reason may by chance do it where the arm turns back.
    """
    ros = trial.scenario.body
    if not isinstance(ros, RobotBody) or not longest_rest_ns(trial.motion):
        return
    require = ros.nominal.require
    try:
        series = required(trial.motion, require)
    except LookupError:
        return  # reported as what cannot be read
    found = [(begin_ns, end_ns) for begin_ns, end_ns in rests(
        trial.motion, require, series, (0, trial.record.end_ns))
        if end_ns - begin_ns > MOMENT_NS]
    if len(found) == 1:
        [(begin_ns, end_ns)] = found
        yield harness('nominal', _CHECK, Verdict.INCONCLUSIVE, (
            f'{require} was not met for {(end_ns - begin_ns) / 1e6:.0f} ms where the arm turned '
            f'back, and only once in the trial: it may be a stop for no reason'),
            trial.timeline.since_onset_ms(begin_ns))
