# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L203 to L207, L221, L226, L230, L231: hazards not seen, reached or waited for."""

from collections.abc import Iterator, Mapping, Sequence
import math
from typing import Any

from safety_scenarios.errors import did_you_mean
from safety_scenarios.lint.codes import FieldPath, Remark
from safety_scenarios.lint.formulas import conditions, is_signed, is_turning, says_at_least
from safety_scenarios.scenario.blocks.agents import Publish
from safety_scenarios.scenario.blocks.robot import Stopping
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.interfaces import INPUTS
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import (
    BodyIntent,
    has_own_motion,
    Stimulus,
    StimulusContext,
    StimulusPlugin,
)
from safety_scenarios.scenario.topic_names import input_names, published_topics
from safety_scenarios.scenario.world_body import Walk

_CRUISING = 0.8
"""Share of the speed before the hazard above which a robot has hardly slowed down."""
_LOOKS = 8
"""Moments of the hazard at which it is compared with what was before."""
_ROUNDED = 0.05
"""Difference of two speeds that says nothing (m/s)."""
_LATER_NS = 600_000_000_000
"""By then whatever walked before the hazard stands."""
Point = tuple[float, float]


def check_hazards(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """Yield the remarks on the hazard of a robot scenario."""
    yield from _same(scenario, ros)
    types = {plugin.topic: plugin.interface() for plugin in ros.nominal.stimuli}
    yield from _unheard(scenario, ros.stimuli, types, ('ros', 'stimuli', 0, 'topic'))
    yield from _moves_nowhere(scenario, ros)
    yield from _beside(scenario, ros)
    yield from _timed(scenario, ros)
    yield from _reacts_before(scenario, ros)
    yield from _confirmed_before(scenario, ros)
    yield from check_contact(scenario, ros)
    for index, invariant in enumerate(ros.invariants):
        path: FieldPath = ('ros', 'invariants', index)
        kind = getattr(invariant, 'kind', '')
        if kind == 'zone':
            yield from _zone(scenario, ros, path, invariant)
        elif kind == 'separation':
            yield from _separation(scenario, ros, path)


def _event(scenario: Scenario) -> str:
    return 'harmless event' if scenario.is_benign else 'hazard'


def _same(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    before = {plugin.topic: plugin for plugin in ros.nominal.stimuli}
    if all(not plugin.once and plugin.topic in before
           and _shows(plugin, before[plugin.topic], ros.all_clear.at_ms, scenario)
           for plugin in ros.stimuli):
        yield Remark('L205', scenario, ('ros', 'stimuli'), (
            f'got on {", ".join(plugin.topic for plugin in ros.stimuli)} what is published there '
            f'before too: there is no {_event(scenario)} to react to. Show something else'))


def _shows(plugin: StimulusPlugin, before: StimulusPlugin, until_ms: float,
           scenario: Scenario) -> bool:
    """Return whether a stimulus publishes what another did, at every moment that is looked at."""
    at_ns = round(until_ms * 1e6)
    if plugin.interface() is None and any(plugin.due_ns(place, before.rate_hz) != before.due_ns(
            place, before.rate_hz) for place in (0, 1)):
        return False  # the same, and not at the same time
    plugin = plugin.model_copy(update={'rate_hz': before.rate_hz})
    for look in range(_LOOKS):
        elapsed_ns = at_ns * look // _LOOKS
        index = round(elapsed_ns / 1e9 * before.rate_hz)
        earlier = [before.at(since_ns, index, _context(scenario, None))
                   for since_ns in (elapsed_ns, _LATER_NS)]
        shown = plugin.at(elapsed_ns, index, _context(scenario, earlier[0]))
        if _stimulus_text(shown) not in [_stimulus_text(one) for one in earlier]:
            return False
    return True


def check_published(scenario: Scenario) -> Iterator[Remark]:
    """Yield what is odd about what a conversation publishes: it is not heard, or is no change."""
    body = scenario.body
    if not isinstance(body, AgentsBody):
        return
    later = [(body.entry(index), effect.stimulus) for index, rule in enumerate(body.rules)
             for effect in rule.effects if isinstance(effect, Publish)]
    known = [plugin for plugin in (*body.stimuli, *(plugin for _, plugin in later))
             if plugin.interface() in INPUTS.values()]  # bindings have no waiver for others
    if known:
        yield from _unheard(scenario, known, {}, ('topics',))
    for before in body.stimuli:
        own = [(entry, plugin) for entry, plugin in later if plugin.topic == before.topic]
        if own and all(not plugin.once and _shows(plugin, before, body.duration_ms, scenario)
                       for _, plugin in own):
            yield Remark('L205', scenario, ('rules', own[0][0], 'action'), (
                f'got on {before.topic} what is published there from the start: there is no '
                f'{_event(scenario)} to react to. Show something else'))


def _context(scenario: Scenario, nominal: Stimulus | None) -> StimulusContext:
    return StimulusContext(trial_id='', messages=scenario.messages, nominal=nominal, last=nominal)


def _stimulus_text(stimulus: Stimulus | None) -> str:
    return 'nothing' if stimulus is None else repr((
        stimulus.topic, stimulus.stamp, stimulus.shift_ns, stimulus.message.type,
        stimulus.message.data))


def _unheard(scenario: Scenario, stimuli: Sequence[StimulusPlugin],
             types: Mapping[str, str | None], path: FieldPath) -> Iterator[Remark]:
    names = input_names(INPUTS, published_topics(scenario))
    heard_on = {topic: INPUTS[name] for name, topic in names.items()}
    for plugin in stimuli:
        interface = plugin.interface() or types.get(plugin.topic)
        if plugin.once or heard_on.get(plugin.topic) == interface:
            return
    first = stimuli[0]
    heard = INPUTS.get(first.topic)
    got = f'{first.topic!r}' if heard is None else f'{first.interface()} on {first.topic!r}'
    expected = f'one of {", ".join(INPUTS)}' if heard is None else heard
    waiver = ', or say in metadata.lint who listens' if path[0] == 'ros' else ''
    yield Remark('L206', scenario, path, (
        f'got {got}, expected {expected}: a controller that declares no inputs of its own does '
        f'not receive the {_event(scenario)}. Use that name and remap it{waiver}.'
        f'{did_you_mean(first.topic, INPUTS) if heard is None else ""}'))


def _moves_nowhere(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    if scenario.is_benign or (ros.world is not None and 'required' in ros.world.model_fields_set):
        return
    context = _context(scenario, None)
    for index, plugin in enumerate(ros.stimuli):
        if has_own_motion(plugin.intent(context)):
            yield Remark('L230', scenario, ('ros', 'stimuli', index), (
                'it moves in a world, and stands still where there is none: links without a '
                'world judge another hazard. Write world: {required: true}, or required: false '
                'if who stands there is a hazard too'))
            return


def _timed(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """Warn of an all-clear that comes when a controller that only waits drives on anyway."""
    within_ms = ros.all_clear.resume_within_ms
    if scenario.is_benign or scenario.is_monitor or within_ms is None:
        return
    ends = [(ros.all_clear.at_ms, ros.all_clear.at_ms)]
    ends += [draw.extent or (min(draw.choice or ()), max(draw.choice or ()))
             for draw in ros.vary.values() if 'ros.all_clear.at_ms' in draw.sets]
    least, most = ends[-1]
    if most - least <= within_ms:
        yield Remark('L231', scenario, ('ros', 'all_clear', 'at_ms'), (
            f'got {f"{least:g} to " * (most > least)}{most:g} ms in all trials, and work must go '
            f'on within {within_ms:g} ms: a controller that stops, waits for {most / 1e3:g} s and '
            f'drives on, whoever is still there, passes. Draw it by vary over a longer time, '
            f'such as from 5000 to 60000'))


def _reacts_before(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    if ros.reaction is None:
        return
    require = Limit(signal=ros.nominal.require.signal, at_most=ros.nominal.require.at_most,
                    at_least=ros.nominal.require.at_least)
    limits = [(path, limit) for path, limit, _ in conditions(ros) if path[1] == 'reaction']
    worst: tuple[FieldPath, Limit] | None = None
    for path, limit in limits:
        known = says_at_least(require, limit, ros)
        if known is not None and not _meet(limit, known.low, known.high):
            return
        worst = worst or (path, limit)
    if worst is not None:
        yield Remark('L207', scenario, worst[0], (
            f'got {ros.reaction}, which can hold while nominal.require ({require}) holds: what '
            f'the robot does before the hazard could count as the reaction to it. Ask for less '
            f'than {_CRUISING:.0%} of the speed that is required before, of the same signal'))


def _confirmed_before(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """Warn of a confirmation that reads no speed along the way: who drives on can meet it."""
    if ros.confirmation is None or not kind_of(ros.robot).drives:
        return
    signals = [ros.signals[limit.signal] for limit in ros.confirmation.limits]
    if all(signal.unit in ('m', 'rad') or is_turning(signal) for signal in signals):
        yield Remark('L207', scenario, ('ros', 'confirmation'), (
            f'got {ros.confirmation}, which a robot that drives straight on can meet: nothing '
            f'confirms that it stands. Add a limit on its speed, such as twist.twist.linear with '
            f'reduce: norm'))


def check_contact(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """
    Yield the remark that a stop within the budget ends behind the hazard.

    Where a separation block says more, the file was held against it when it was read.
    """
    robot = ros.robot
    critical_s = scenario.latency_budget.critical_ms / 1e3 + (robot.brake_delay or 0.0)
    if scenario.is_benign or not kind_of(robot).drives or ros.separation is not None \
            or robot.stopping is None:
        return
    braking = _braking(robot.stopping, robot.max_speed)
    for stimulus in ros.stimuli:
        intent = stimulus.intent(StimulusContext(scenario.id, scenario.messages, None))
        if not isinstance(intent, BodyIntent):
            continue
        ahead = _ahead(intent, robot.radius or 0.0, critical_s + 2 * braking / robot.max_speed)
        motion = intent.bodies()[0].motion
        closing = robot.max_speed + (0.0 if motion.walk is not None else motion.speed)
        if ahead is not None and ahead < closing * critical_s + braking:
            yield Remark('L221', scenario, ('latency_budget', 'critical_ms'), (
                f'got {scenario.latency_budget.critical_ms:g} ms, and a stop that begins then at '
                f'top speed ends {closing * critical_s + braking:.2f} m ahead, behind the hazard '
                f'at {ahead:.2f} m. Lower it, or show the hazard from farther away'))
            return


def _braking(stopping: Stopping, speed: float) -> float:
    """Return what the robot covers while it brakes (m)."""
    if stopping.deceleration is not None:
        return speed**2 / (2 * stopping.deceleration)
    if stopping.distance is not None:
        return stopping.distance
    return speed * (stopping.time or 0.0) * (0.5 if stopping.model == 'half_time' else 1.0)


def _ahead(intent: BodyIntent, radius: float, then_s: float) -> float | None:
    """
    Return the free way (m) to what stands in the robot's path; None: nothing does.

    :param then_s: since it appeared, when somebody who walks by points has to be there
    """
    body = intent.bodies()[0]
    walk = body.motion.walk
    if body.motion.is_along:
        return None
    if walk is not None and walk.by:
        x, y = _walked(walk, (body.ahead, body.left), then_s)
        stands = x > 0 and abs(y) <= radius and walk.yields_at is None
        return max(0.0, x - body.radius - radius) if stands else None
    aside = abs(body.left) - (body.solid.width / 2 if body.to_face else 0.0)
    return max(0.0, intent.distance - radius) if body.ahead > 0 and aside <= radius else None


def _walked(walk: Walk, begin: Point, then_s: float) -> Point:
    left, here = walk.speed * max(0.0, then_s - walk.after_s), begin
    for there in walk.by:
        way = math.dist(here, there)
        if way > left:
            x, y = ((b - a) * left / way for a, b in zip(here, there, strict=True))
            return here[0] + x, here[1] + y
        left, here = left - way, there
    return here


def _beside(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """Warn of a hazard that stands so far beside the path that it needs no stop."""
    terms, robot = ros.separation, ros.robot
    if scenario.is_benign or terms is None or robot.stopping is None or not kind_of(robot).drives \
            or (ros.world is not None and ros.world.route):
        return
    intents = [plugin.intent(_context(scenario, None)) for plugin in ros.stimuli]
    bodies = [body for intent in intents if isinstance(intent, BodyIntent)
              for body in intent.bodies()]
    if not all(isinstance(intent, BodyIntent) for intent in intents) \
            or not all(body.motion.is_stationary for body in bodies):
        return
    left = min(abs(body.left) - (body.solid.width / 2 if body.to_face else 0.0)
               for body in bodies) - terms.reach
    needed = terms.required(robot, terms.top_speed(robot), 0.0).total
    if left > needed:
        yield Remark('L203', scenario, ('ros', 'stimuli', 0), (
            f'got a hazard that stands beside the way of a robot that drives straight on, '
            f'{left:.2f} m off, where a stop needs {needed:.2f} m: nothing breaks it. Show it in '
            f'the way, by its lateral or its bearing'))


def _meet(limit: Limit, low: float, high: float) -> bool:
    """Return whether a limit holds somewhere in a range, or so near that it hardly differs."""
    if limit.at_most is not None and limit.at_most < low - (1 - _CRUISING) * abs(low):
        return False
    return limit.at_least is None or limit.at_least <= high


def _zone(scenario: Scenario, ros: RobotBody, path: FieldPath, invariant: Any) -> Iterator[Remark]:
    """How far a robot gets whose place is reckoned from where it was at onset."""
    if invariant.x is not None or not kind_of(ros.robot).drives:
        return
    forward = invariant.forward
    signal = ros.signals.get(forward) if forward is not None else None
    if signal is not None and signal.unit == 'm/s' and not is_signed(signal):
        yield Remark('L209', scenario, (*path, 'forward'), (
            f'got {forward!r}, which has no sign, expected a speed that is negative in reverse: '
            f'a robot that backs off would seem to drive on. Take it without reduce'))
    polygon: Sequence[Point] = invariant.polygon
    if invariant.rule == 'keep_out' and ros.robot.travel == 'forward' and invariant.turn is None \
            and max(x for x, _ in polygon) < -invariant.radius:
        yield Remark('L203', scenario, (*path, 'polygon'), (
            f'got a zone that ends {-max(x for x, _ in polygon):.2f} m behind the robot, which '
            f'only drives straight ahead, as robot.travel says: nothing breaks it. Draw it ahead, '
            f'or say travel: both'))
        return
    way = ros.robot.max_speed * ros.all_clear.at_ms / 1e3 + invariant.radius
    edge = min(_to_edge(a, b) for a, b in zip(polygon, (*polygon[1:], polygon[0])))
    is_out = _surrounds(polygon) == (invariant.rule == 'keep_in')
    if is_out and edge > way:
        yield Remark('L203', scenario, (*path, 'polygon'), (
            f'got a zone whose edge is {edge:.2f} m away, and at {ros.robot.max_speed:g} m/s the '
            f'robot gets {way:.2f} m until the all-clear: nothing breaks it. Draw it nearer, or '
            f'clear later'))


def _to_edge(a: Point, b: Point) -> float:
    """Return the distance from the origin to a line segment."""
    along = (b[0] - a[0], b[1] - a[1])
    length = along[0]**2 + along[1]**2
    share = 0.0 if not length else max(0.0, min(1.0, -(
        a[0] * along[0] + a[1] * along[1]) / length))
    return math.hypot(a[0] + share * along[0], a[1] + share * along[1])


def _surrounds(polygon: Sequence[Point]) -> bool:
    """Return whether the origin is inside."""
    edges = zip(polygon, (*polygon[1:], polygon[0]))
    return sum((a[1] > 0) != (b[1] > 0) and a[0] - a[1] * (b[0] - a[0]) / (b[1] - a[1]) > 0
               for a, b in edges) % 2 == 1


def _separation(scenario: Scenario, ros: RobotBody, path: FieldPath) -> Iterator[Remark]:
    terms, at_ms = ros.separation, ros.all_clear.at_ms
    if terms is None or terms.distance is not None or ros.robot.stopping is None:
        return
    intents = [plugin.intent(_context(scenario, None)) for plugin in ros.stimuli]
    nearing = max((_nearing(intent, at_ms / 1e3) for intent in intents), default=0.0)
    if nearing > terms.approach_speed + _ROUNDED and not scenario.is_benign:
        yield Remark('L214', scenario, ('ros', 'separation', 'approach_speed'), (
            f'got {terms.approach_speed:g} m/s, expected at least the {nearing:.2g} m/s at which '
            f'the hazard comes nearer on its way. Correct it'))
    shown = [value for plugin in ros.stimuli for share in (0.0, 0.25, 0.5, 0.75, 1.0)
             for stimulus in [plugin.at(round(at_ms * 1e6 * share), 0, _context(scenario, None))]
             if stimulus is not None for key, value in stimulus.truth if key == 'distance']
    if not shown:
        return
    shown += [_to_edge(a, b) for intent in intents for way in _ways(intent, at_ms / 1e3)
              for a, b in zip(way, way[1:])]
    top = terms.top_speed(ros.robot)
    needed = terms.required(ros.robot, top, 0.0).total
    left = min(shown) - terms.reach - top * at_ms / 1e3
    if left > needed:
        yield Remark('L203', scenario, path, (
            f'got a hazard that comes no nearer than {min(shown):.2f} m, and a robot that never '
            f'stops is still {left:.2f} m away at the all-clear, where a stop needs '
            f'{needed:.2f} m: nothing breaks it. Show it nearer, or clear later'))


def _nearing(intent: Any, until_s: float) -> float:
    """Return how fast somebody comes nearer at most who walks in a world (m/s): leg by leg."""
    speed = intent.bodies()[0].motion.walk.speed if any(_ways(intent, until_s)) else 0.0
    legs = [(a, b) for way in _ways(intent, until_s) for a, b in zip(way, way[1:])]
    return max((speed * (a[0] * (a[0] - b[0]) + a[1] * (a[1] - b[1])) / whole
                for a, b in legs if (whole := math.hypot(*a) * math.dist(a, b))), default=0.0)


def _ways(intent: Any, until_s: float) -> Iterator[Sequence[Point]]:
    """Yield the points of each way that a stimulus takes in a world, from where it appears."""
    for body in intent.bodies() if isinstance(intent, BodyIntent) else ():
        walk, start = body.motion.walk, (body.ahead, body.left)
        if walk is not None and walk.direction is not None:
            covers = walk.speed * max(0.0, until_s - walk.after_s)
            yield start, (start[0] + covers * math.cos(walk.direction),
                          start[1] + covers * math.sin(walk.direction))
        elif walk is not None:
            yield start, *walk.by


def check_worlds(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on the world of a robot scenario."""
    world = scenario.body.world
    if world is None or not world.route:
        return
    start = world.start.x, world.start.y
    farthest = max(math.dist(start, point) for point in world.route)
    if farthest <= world.goal_radius:
        yield Remark('L226', scenario, ('ros', 'world', 'route'), (
            f'got a route that goes no farther than {farthest:g} m from the start, and a point '
            f'counts as passed within {world.goal_radius:g} m: the task is done before it begins. '
            f'Let it end farther away, or lower goal_radius'))
