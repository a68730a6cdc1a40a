# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A distinguisher finds what tells a hazard from its benign variant, and is not the hazard.

It sees what a controller can see of many trials of both, rendered from their plans, but for what
it means. Views of a trial, because together they are the meaning: what was read before and by
how much it changed is what is read now.

* *before*: everything that was shown before the event, with what it said, and everything about
  times: nothing has happened yet, so nothing of it may tell what will.
* *change*: times, topics, rates, and the size and the suddenness of each change, without sign and
  without what was read before it.
* *closing*: in a world, how fast what appears comes nearer to a robot that drives on, in the
  first 0.6 s: whoever stands in the world comes nearer as well.
* *exact*: what is exactly 0, the same as before or the same again in each field of a message, how
  long its texts and lists are, whether a list has a value twice.

:func:`told_by_nearness` looks at one thing alone: how near anything has come that a scanner shows,
in whichever direction. Where a scanner shows a hazard that has to be in the path, something
harmless is as near beside it. A tracker shows people, from whom a robot keeps its protective
distance wherever they are: there being near is the hazard.

What is meaning, and not looked at by the views: how near something is, whether it appears nearer
or farther than what was there before, how many beams show it, what a message says in words or
values, and how long a silence or an old stamp lasts beyond the first message that is missing or
old.
"""

from collections.abc import Iterator, Mapping, Sequence
import itertools
import math
from typing import Any, Literal

import numpy
from safety_scenarios import registry
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import (
    LASER_SCAN,
    Stamp,
    StimulusContext,
    StimulusPlugin,
)
from safety_scenarios.scenario.world import Wall
from safety_scenarios.scenario.world_body import Body, disc, gap
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.trial import Trial

View = Literal['before', 'distance', 'place', 'closing', 'exact']
VIEWS: tuple[View, ...] = ('before', 'distance', 'place', 'closing', 'exact')
"""Before the event; its change, measured by the distance or by the place of what is shown; how
fast that comes nearer; exact values."""
_CRUISE = 0.8
"""Share of its top speed at which the robot drives on."""
_LOOKS_S = 0.0, 0.3, 0.6
"""After the event: between two of these it measures a closing speed. Later ones are of no use, as
a controller that waits longer reacts too late to the hazard."""
_READS_M_S = 0.2
"""What a controller can tell of a closing speed in such a time: ``other_uncertainty`` of the
scenarios says that a tracker reads to 0.065 m."""
_STEP_S = 0.02
_PASSES_S = 5.0
"""After the event: by then the robot has passed what was beside it."""
_SECOND_NS = 1_000_000_000
_BLANK = StimulusContext('', (), None)


def accuracies(hazard: Scenario, variant: Scenario, draws: int = 400,
               seed: int = 1) -> dict[View, float]:
    """Return the share of held-out trials that a random forest tells apart, five-fold, by view."""
    from sklearn.ensemble import RandomForestClassifier  # seconds, which other tests need not wait
    from sklearn.model_selection import cross_val_score
    drawn = [*drawn_trials(hazard, draws, seed), *drawn_trials(variant, draws, seed)]
    topics = sorted({plugin.topic for scenario in (hazard, variant)
                     for plugin in scenario.robot_body.published})
    found = dict[View, float]()
    for view in VIEWS:
        features = _exact(drawn) if view == 'exact' else numpy.array([
            list(_closing(trial, topics) if view == 'closing' else _features(trial, topics, view))
            for trial in drawn])
        forest = RandomForestClassifier(n_estimators=60, min_samples_leaf=5, random_state=0)
        found[view] = float(cross_val_score(
            forest, features, numpy.repeat([0, 1], draws), cv=5).mean())
    return found


def drawn_trials(scenario: Scenario, draws: int, seed: int = 1) -> Sequence[Trial]:
    """Return trials of a scenario as a campaign draws them."""
    return plan([scenario], controller='distinguisher', trials=draws, seed=seed,
                prompt=registry.resolve('stimuli', 'prompt')())


def _features(trial: Trial, topics: Sequence[str], view: View) -> Iterator[float]:
    body = trial.scenario.robot_body
    assert trial.all_clear_ns is not None
    nominal = {plugin.topic: plugin for plugin in trial.nominal}
    hazard = {plugin.topic: plugin for plugin in trial.hazard}
    changes = trial.changes
    yield from (trial.onset_delay_ns / 1e9, body.robot.max_speed, body.robot.radius or 0.0,
                len(changes),
                changes[0].begin_ns / 1e9 if changes else 0.0,
                (trial.onset_delay_ns - changes[-1].end_ns) / 1e9 if changes else 0.0,
                sum(change.end_ns - change.begin_ns for change in changes) / 1e9)
    if view != 'before':
        yield from (trial.all_clear_ns / 1e9, (trial.end_ns - trial.all_clear_ns) / 1e9,
                    len(hazard))
    for topic in topics:
        before = nominal.get(topic)
        yield from (-1.0 if before is None else before.rate_hz,
                    sum(topic in [one.topic for one in change.stimuli] for change in changes))
        harmless = [one for change in changes for one in change.stimuli if one.topic == topic]
        if view == 'before':
            yield _read(before, 0)[0] if before is not None else -1.0
            yield max((_read(one, 0, before)[0] for one in harmless), default=-1.0)
            continue
        yield max((_size(before, one, 0, view) for one in harmless), default=-1.0)
        yield from _event(before, hazard.get(topic), view)


def _closing(trial: Trial, topics: Sequence[str]) -> Iterator[float]:
    """Yield how fast what appears on each topic of a world comes nearer (m/s), 0 elsewhere."""
    body = trial.scenario.robot_body
    shown = {plugin.topic: plugin.intent(_BLANK) for plugin in trial.hazard}
    speed = body.robot.max_speed * _CRUISE if body.robot.kind == 'mobile_base' else 0.0
    for topic in topics:
        intent = shown.get(topic) if body.world is not None else None
        gaps = [[seen[round(look_s / _STEP_S)] for look_s in _LOOKS_S] for seen in (
            _gaps(one, speed, _LOOKS_S[-1]) for one in intent.bodies())] if intent else []
        nearest = [min(one) for one in zip(*gaps, strict=True)]
        yield from (round((near - later) / (_LOOKS_S[1] - _LOOKS_S[0]) / _READS_M_S)
                    for near, later in itertools.pairwise(nearest or [0.0] * len(_LOOKS_S)))


def told_by_nearness(hazard: Scenario, variant: Scenario, draws: int = 400,
                     seed: int = 1) -> tuple[float, float]:
    """
    Return the share of trials in which one distance tells the two apart, and which one (m).

    Of all distances the best: a controller that stops for whatever a scanner shows nearer than
    that. In a hazard it is right where the event comes so near before it must react, and nothing
    did before; in a variant, where nothing ever does.
    """
    react_s = hazard.latency_budget.critical_ms / 1e3
    near = [_nearest(trial, react_s) for trial in drawn_trials(hazard, draws, seed)]
    harmless = [min(_nearest(trial, _PASSES_S)) for trial in drawn_trials(variant, draws, seed)]
    return max(((sum(before > limit >= event for before, event in near)
                 + sum(one > limit for one in harmless)) / (2 * draws), limit)
               for _, limit in near)


def _nearest(trial: Trial, until_s: float) -> tuple[float, float]:
    """Return how near anything is that a scanner shows, before and some time after the event."""
    body = trial.scenario.robot_body
    speed = body.robot.max_speed * _CRUISE if body.robot.kind == 'mobile_base' else 0.0
    shown = [*trial.nominal, *(one for change in trial.changes for one in change.stimuli)]
    before = [_read(one, 0)[0] for one in shown if one.interface() == LASER_SCAN]
    walls = body.world.walls if body.world is not None else ()
    intents = [plugin.intent(_BLANK) for plugin in trial.hazard
               if plugin.interface() == LASER_SCAN]
    event = [near for intent in intents if intent is not None
             for one in intent.bodies() for near in _gaps(one, speed, until_s)]
    return (min((*before, *(_from_origin(wall) for wall in walls)), default=math.inf),
            min(event, default=math.inf))


def _from_origin(wall: Wall) -> float:
    """Return how near a wall is to where the robot sets out (m)."""
    (x, y), (far_x, far_y) = wall.begin, wall.end
    length = math.hypot(far_x - x, far_y - y)
    along = -(x * (far_x - x) + y * (far_y - y)) / length**2
    share = min(1.0, max(0.0, along))
    return math.hypot(x + share * (far_x - x), y + share * (far_y - y)) - wall.thickness / 2


def _gaps(one: Body, speed: float, until_s: float) -> Sequence[float]:
    """Return the gaps between a body and a robot that drives straight on, at each step (m)."""
    x, y, heading = one.ahead, one.left, one.heading(one.ahead, one.left, (0.0, 0.0, 0.0))
    way, found = one.motion.begin((0.0, 0.0, 0.0)), list[float]()
    for step in range(round(until_s / _STEP_S) + 1):
        robot = speed * step * _STEP_S, 0.0, 0.0
        found.append(gap(one.footprint, (x, y, heading), disc(0.0), robot))
        east, north = (speed, 0.0) if one.motion.is_along \
            else way.wanted(x, y, robot, step * _STEP_S)
        x, y = x + east * _STEP_S, y + north * _STEP_S
    return found


def _exact(drawn: Sequence[Trial]) -> Any:
    """Return what is exact in each message: a column for each, a row for a trial."""
    rows = [exact_values(trial) for trial in drawn]
    half = len(rows) // 2
    names = sorted(set[str]().union(*rows[:half]) & set[str]().union(*rows[half:]))
    return numpy.array([[row.get(name, -1.0) for name in names] for row in rows])


def exact_values(trial: Trial) -> dict[str, float]:
    """Return what is exact in the messages of a trial, by topic, phase and field."""
    found, before = dict[str, float](), dict[str, Any]()
    phases = [('nominal', trial.nominal), *(('change', one.stimuli) for one in trial.changes),
              ('event', trial.hazard)]
    for phase, plugin in ((phase, plugin) for phase, some in phases for plugin in some):
        if plugin.interface() is None:  # what a wire does is the hazard itself
            continue
        seen = [dict(_fields(shown.message.data)) for at_ns in (0, _SECOND_NS // 2, _SECOND_NS)
                if (shown := plugin.at(at_ns, at_ns * 20 // _SECOND_NS, _BLANK)) is not None]
        for field, value in seen[0].items():
            name = f'{plugin.topic} {phase} {field}'
            if isinstance(value, str):
                found[f'{name} has'] = len(value)
            elif field.endswith((' has', ' repeats')):
                found[name] = value
            else:
                found[f'{name} is 0'] = float(value == 0)
                found[f'{name} is the same again'] = float(any(
                    later[field] == value for later in seen[1:]))
                found[f'{name} is as before'] = float(
                    before.setdefault(plugin.topic + field, value) == value)
    return found


def _fields(data: Any, name: str = '') -> Iterator[tuple[str, Any]]:
    """Yield name and value of each field; of a list its length, and whether it repeats."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _fields(value, f'{name}.{key}')
    elif isinstance(data, Sequence) and not isinstance(data, str):
        yield f'{name} has', float(len(data))
        finite = [one for one in data if isinstance(one, float) and math.isfinite(one)]
        yield f'{name} repeats', float(len(set(finite)) < len(finite))
    else:
        yield name, data


def _event(before: StimulusPlugin | None, shown: StimulusPlugin | None,
           view: View) -> Iterator[float]:
    """Yield what the event is on a topic: whether, how fast, how large, how sudden, how late."""
    if shown is None:
        yield from (0.0, -1.0 if before is None else before.rate_hz, 0.0, 0.0, 0.0, 0.0)
        return
    alters = shown.interface() is None
    drift = 0.0 if alters else abs(_read(shown, _SECOND_NS)[0] - _read(shown, 0)[0])
    yield from (1.0, before.rate_hz if alters and before is not None else shown.rate_hz,
                _size(before, shown, 0, view), drift,
                float(shown.is_silence), float(_is_held(before, shown)))


def _size(before: StimulusPlugin | None, shown: StimulusPlugin, at_ns: int, view: View) -> float:
    """
    Return by how much a reading changes, without sign; 0 where only times change.

    By the place of what is shown nothing is known of a scan: its nearest range beside the place of
    a pose would tell where somebody is, and that is meaning.
    """
    if before is None or shown.interface() is None:
        return 0.0
    one, other = _read(before, at_ns), _read(shown, at_ns)
    if view == 'distance':
        return abs(one[0] - other[0])
    return math.dist(one[1:], other[1:]) if len(one) == len(other) == 3 else 0.0


def _is_held(before: StimulusPlugin | None, shown: StimulusPlugin) -> bool:
    if before is None or shown.interface() is not None or shown.is_silence:
        return False
    found = shown.at(0, 0, StimulusContext('', (), before.at(0, 0, _BLANK)))
    return found is not None and found.stamp is Stamp.HOLD


def _read(plugin: StimulusPlugin, at_ns: int,
          before: StimulusPlugin | None = None) -> tuple[float, ...]:
    """Return what is read in a message: (distance, x, y) of a pose, (nearest,), (force,), (0,)."""
    if plugin.interface() is None:
        return _read(before, at_ns) if before is not None else (0.0,)
    shown = plugin.at(at_ns, 0, _BLANK)
    return (0.0,) if shown is None or plugin.once else _reading(shown.message)


def _reading(message: Message) -> tuple[float, ...]:
    data = message.data
    if message.type.endswith('/PoseStamped'):
        at = data['pose']['position']
        return math.hypot(at['x'], at['y']), at['x'], at['y']
    if message.type.endswith('/LaserScan'):
        return (min((one for one in data['ranges'] if math.isfinite(one)),
                    default=data['range_max']),)
    if message.type.endswith('/WrenchStamped'):
        return (_x(data['wrench']['force']),)
    return (0.0,)


def _x(vector: Mapping[str, float]) -> float:
    return vector['x']
