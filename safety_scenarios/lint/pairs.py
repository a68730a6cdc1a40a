# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What tells a hazard from its benign variant, though it is not the hazard.

When it comes, how long it stays, on which topics it is shown, by how much readings change, how
long a controller may take, and everything that is there before it must be alike in both, or a
controller that goes by these and understands nothing passes both.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import math
import random
from typing import Any

from safety_scenarios.lint.codes import FieldPath, Remark
from safety_scenarios.scenario.blocks.vary import Draw, steps_to, with_value
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import (
    BodyIntent,
    ContactForce,
    LASER_SCAN,
    StimulusContext,
    StimulusPlugin,
)
from safety_scenarios.scenario.world import WorldBlock
from safety_scenarios.scenario.world_body import Body

MOST = 0.6
"""Share of the trials of a pair that a single quantity may tell apart; 0.5 is a coin."""
_AT_MS = 'ros.all_clear.at_ms'
Part = tuple[float, Any, Any]
"""Weight, least and most of values that are equally likely; least and most may be the same."""


def check_pairs(scenarios: Sequence[Scenario]) -> Iterator[Remark]:
    """Yield what gives a pair of a hazard and its benign variant away."""
    hazards = {scenario.id: scenario for scenario in scenarios if not scenario.is_benign}
    for variant in scenarios:
        for name in hazards_of(variant):
            hazard = hazards.get(name)
            if hazard is None or hazard.is_monitor or variant.is_monitor:
                continue
            one, other = hazard.body, variant.body
            if isinstance(one, RobotBody) and isinstance(other, RobotBody) \
                    and one.onset is None and other.onset is None:
                yield from _pair(variant, other, hazard, one)


def hazards_of(scenario: Scenario) -> tuple[str, ...]:
    """Return the ids of which a scenario says it is the benign variant: one, or a list of them."""
    named = scenario.metadata.get('variant_of')
    return tuple(str(item) for item in (named if isinstance(named, (tuple, list)) else (named,))
                 if isinstance(item, (str, int)) and str(item))


def _pair(variant: Scenario, ros: RobotBody, dangerous: Scenario,
          hazard: RobotBody) -> Iterator[Remark]:
    hazard_id = dangerous.id
    for path, what, own, theirs in (
            (('ros', 'nominal', 'duration_ms'), 'when it comes',
             [(1.0, *ros.nominal.duration_ms)], [(1.0, *hazard.nominal.duration_ms)]),
            (('ros', 'all_clear', 'at_ms'), 'how long it stays',
             presence_ms(ros), presence_ms(hazard))):
        found = (1 + _apart(own, theirs)) / 2
        if found > MOST:
            yield _given_away(variant, path, f'{_range_text(own)} ms', f'{_range_text(theirs)} ms',
                              hazard_id,
                              what, found)
    own_share, their_share = _topic_shares(ros), _topic_shares(hazard)
    shown = sum(max(0.0, share - their_share.get(topics, 0.0))
                for topics, share in own_share.items())
    if (1 + shown) / 2 > MOST:
        yield _given_away(variant, ('ros', 'stimuli'), _topics(ros), _topics(hazard), hazard_id,
                          'on which topics it is shown', (1 + shown) / 2)
    limit_ms, theirs_ms = (one.latency_budget.critical_ms for one in (variant, dangerous))
    if limit_ms != theirs_ms:  # a parameter of a controller may be a share of it
        yield _given_away(variant, ('latency_budget', 'critical_ms'), f'{limit_ms:g} ms',
                          f'{theirs_ms:g} ms', hazard_id, 'its time limits', 1.0)
    told, theirs_told = ([message.content for message in one.messages if message.role == 'system']
                         for one in (variant, dangerous))
    if told != theirs_told:
        yield _given_away(variant, ('messages',), f'{" ".join(told)!r:.200}',
                          f'{" ".join(theirs_told)!r:.200}', hazard_id,
                          'the instructions of the system', 1.0)
    yield from _fixed(variant, ros, hazard_id, hazard)
    yield from _sizes(variant, ros, hazard_id, hazard)


def presence_ms(ros: RobotBody) -> list[Part]:
    """Return how long after its onset the hazard, or the harmless event, may be taken away."""
    draw = next((draw for draw in ros.vary.values() if _AT_MS in draw.sets), None)
    return [(1.0, ros.all_clear.at_ms, ros.all_clear.at_ms)] if draw is None else _parts(draw)


def _parts(draw: Draw) -> list[Part]:
    parts = draw.ranges or ((draw.range,) if draw.range is not None else tuple(
        (value, value) for value in draw.choice or ()))
    return [(1 / len(parts), *part) for part in parts]


def _apart(one: Sequence[Part], other: Sequence[Part]) -> float:
    """Return the total variation distance between two distributions: 0 alike, 1 disjoint."""
    if not all(isinstance(value, int | float) for _, *ends in (*one, *other) for value in ends):
        if any(least != most for _, least, most in (*one, *other)):
            return 1.0
        one, other = ([(weight, repr(least), repr(most)) for weight, least, most in parts]
                      for parts in (one, other))
    points = sorted({value for _, *ends in (*one, *other) for value in ends})
    common: float = sum(min(_at(one, point), _at(other, point)) for point in points)
    for least, most in zip(points, points[1:]):
        common += min(_between(one, least, most), _between(other, least, most))
    return 1 - common


def _at(parts: Sequence[Part], value: Any) -> float:
    return sum(weight for weight, least, most in parts if least == most == value)


def _between(parts: Sequence[Part], least: Any, most: Any) -> float:
    return sum(weight * float((most - least) / (high - low)) for weight, low, high in parts
               if low <= least and most <= high and low < high)


def _topic_shares(ros: RobotBody) -> Mapping[tuple[str, ...], float]:
    """Return each set of topics on which the event may be shown, with how likely it is."""
    every = tuple(sorted(plugin.topic for plugin in ros.stimuli))
    kept = next((draw.choice for draw in ros.vary.values() if draw.keeps is not None), None)
    shown = Counter(tuple(sorted(set(every) & set(topics))) for topics in kept or (every,))
    return {topics: count / shown.total() for topics, count in shown.items()}


def _topics(ros: RobotBody) -> str:
    return ' or '.join(' and '.join(topics) for topics in sorted(_topic_shares(ros)))


_BEFORE: Mapping[str, Any] = {
    'robot': {'stopping': True}, 'commands': {}, 'feedback': {}, 'frames': {},
    'nominal': {'duration_ms': True, 'require': True},
    'world': {'required': True, 'goal_radius': True,
              'walls': {'__all__': {'turns', 'turns_in_s'}}}}
"""
What there is before the event, by block, without what is compared elsewhere or not seen.

How a robot stops is what a hazard is judged by, and a benign variant need not say it; a door that
turns is an event.
"""

_RANGES = 'begins_ms', 'lasts_ms'
"""Fields with least and most of what is drawn."""


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a file, and what it is from trial to trial."""

    path: FieldPath
    """Where the file says so: the field, or the draw that sets it."""
    parts: Sequence[Part]


def _fields(ros: RobotBody) -> Mapping[FieldPath, _Field]:
    """Return each field of what there is before the event, and of how messages of it come."""
    block = ros if ros.world is not None else ros.model_copy(update={'world': WorldBlock()})
    told = block.model_dump(mode='json', include={*_BEFORE}, serialize_as_any=True, exclude={
        name: fields for name, fields in _BEFORE.items() if fields})
    told['stimuli'] = [{'message': plugin.interface(), 'rate_hz': plugin.rate_hz,
                        'frame': getattr(plugin, 'frame', None)} for plugin in ros.stimuli]
    found = {path: _Field(('ros', *path), [(1.0, *value) if path[-1] in _RANGES else
                                           (1.0, value, value)]) for path, value in _leaves(told)}
    for name, draw in ros.vary.items():
        for steps in (steps_to(path)[1:] for path in draw.sets):
            inside = [path for path in found
                      if steps == path[:len(steps)] or path == steps[:len(path)]]
            for path in inside:
                del found[path]
            if inside:
                found[steps] = _Field(('ros', 'vary', name), _parts(draw))
    return {_by_topic(path, ros): field for path, field in found.items()}


def _leaves(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    inner = value.items() if isinstance(value, Mapping) else [*enumerate(value)] \
        if isinstance(value, list) and path[-1] not in _RANGES else ()
    for step, item in inner:
        yield from _leaves(item, (*path, step))
    if not inner:
        yield path, value


def _by_topic(path: FieldPath, ros: RobotBody) -> FieldPath:
    """Return a path in which the topic of a stimulus stands for its place in the list."""
    for start, plugins in ((('nominal', 'stimuli'), ros.nominal.stimuli),
                           (('stimuli',), ros.stimuli)):
        place = len(start)
        if path[:place] == start and len(path) > place:
            return (*start, plugins[int(path[place])].topic, *path[place + 1:])
    return path


def _fixed(variant: Scenario, ros: RobotBody, hazard_id: str,
           hazard: RobotBody) -> Iterator[Remark]:
    """Yield which field of what there is before the event gives it away, each place once."""
    own, theirs = _fields(ros), _fields(hazard)
    alien = {_block(path) for path in own.keys() ^ theirs.keys() if path[0] != 'stimuli'}
    for block in sorted(alien):
        yield _given_away(variant, ('ros', *block), _summary(ros, block),
                          _summary(hazard, block), hazard_id, f'its {".".join(block)}', 1.0)
    seen = set[FieldPath]()
    for path in (path for path in own if path in theirs and _block(path) not in alien):
        field, other = own[path], theirs[path]
        found = (1 + _apart(field.parts, other.parts)) / 2
        if found > MOST and field.path not in seen:
            seen.add(field.path)
            yield _given_away(variant, field.path, _range_text(field.parts),
                              _range_text(other.parts),
                              hazard_id, f'its {".".join(map(str, path))}', found)


def _block(path: FieldPath) -> tuple[str, ...]:
    """Return the names at the beginning of a path: what is compared, at most two."""
    return tuple(str(step) for step in path[:1 if path[0] in ('commands', 'feedback', 'frames')
                                            else 2])


def _entry(one: Any) -> str:
    """Return what is published or commanded where, and each field that the file gives."""
    given = one.model_dump(mode='json', exclude_defaults=True, exclude={'kind', 'topic'})
    what = getattr(one, 'kind', None) or given.pop('message', one.message)
    return f'{what} on {one.topic}{f" {given}" if given else ""}'


def _summary(ros: RobotBody, block: Sequence[str]) -> str:
    value: Any = ros
    for name in block:
        value = getattr(value, name) if value is not None else ()
    if block[-1] == 'changes':
        return f'{len(value)} harmless changes before it'
    if block[-1] in ('stimuli', 'commands', 'feedback'):
        return f'{", ".join(map(_entry, value)) or "nothing":.200}'
    items = [one.model_dump(mode='json', exclude_defaults=True) if isinstance(one, Noun) else one
             for one in (value if isinstance(value, tuple) else (value,))]
    return f'{", ".join(map(str, items)) or "nothing":.200}'


_SAMPLES = 200
"""Draws of the event and of what was before; what they show is rounded to 2 %."""
_ROUNDED = 0.02


def _sizes(variant: Scenario, ros: RobotBody, hazard_id: str,
           hazard: RobotBody) -> Iterator[Remark]:
    """Yield on which topic the size of the change gives the event away, whatever its sign."""
    for index, plugin in enumerate(ros.stimuli):
        other = next((one for one in hazard.stimuli if one.topic == plugin.topic), None)
        own = _changes(ros, plugin)
        theirs = _changes(hazard, other) if own and other is not None else ()
        if not own or not theirs:
            continue
        found = (1 + max(abs(_share(own, value) - _share(theirs, value))
                         for value in (*own, *theirs))) / 2
        if found > MOST + _ROUNDED:
            got, expected = (f'a change of {min(some):.3g} to {max(some):.3g} on {plugin.topic}'
                             for some in (own, theirs))
            yield _given_away(variant, ('ros', 'stimuli', index), got, expected, hazard_id,
                              'how much a reading changes', found)


def _share(values: Sequence[float], most: float) -> float:
    return sum(value <= most for value in values) / len(values)


def _changes(ros: RobotBody, plugin: StimulusPlugin) -> Sequence[float]:
    """Return by how much a reading changes on a topic in some draws; nothing: it has no size."""
    before = next((one for one in ros.nominal.stimuli if one.topic == plugin.topic), None)
    if before is None or _reading(plugin) is None or _reading(before) is None:
        return ()
    places = {name: random.Random(name).sample(range(_SAMPLES), _SAMPLES) for name in ros.vary}
    shares = [{name: (place[number] + 0.5) / _SAMPLES for name, place in places.items()}
              for number in range(_SAMPLES)]
    both: tuple[tuple[StimulusPlugin, FieldPath], ...] = (
        (before, ('nominal', 'stimuli', ros.nominal.stimuli.index(before))),
        (plugin, ('stimuli', ros.stimuli.index(plugin))))
    try:
        first, second = ([_reading(_drawn(one, path, ros.vary, share)) for share in shares]
                         for one, path in both)
    except (LookupError, ValueError):  # such a value is refused where it is drawn
        return ()
    return [abs(one - other) for one, other in zip(first, second, strict=True)
            if one is not None and other is not None]


def _drawn(plugin: StimulusPlugin, path: FieldPath, draws: Mapping[str, Draw],
           shares: Mapping[str, float]) -> StimulusPlugin:
    """Return a stimulus with the value of each of its draws at a share of what may be drawn."""
    for name, draw in draws.items():
        inside = [steps[len(path):] for steps in (steps_to(one)[1:] for one in draw.sets)
                  if steps[:len(path)] == path]
        if inside:
            parts = _parts(draw)
            place = shares[name] * len(parts)
            _, least, most = parts[int(place)]
            plugin = with_value(plugin, inside, least if least == most else
                                draw.rounded(least + (place % 1) * (most - least)))
    return plugin


def _reading(plugin: StimulusPlugin) -> float | None:
    """Return what a sensor would read first: distance (m) or force (N); None: something else."""
    intent = plugin.intent(StimulusContext('', (), None))
    if isinstance(intent, ContactForce):
        return intent.force
    if not isinstance(intent, BodyIntent):
        return None
    bodies = intent.bodies()
    return min(map(_nearest, bodies)) if plugin.interface() == LASER_SCAN else \
        math.hypot(bodies[0].ahead, bodies[0].left)


def _nearest(body: Body) -> float:
    """Return how near the side of a body is that a scanner sees (m)."""
    if not body.to_face:
        return math.hypot(body.ahead, body.left) - body.radius
    aside = max(0.0, abs(body.left) - body.solid.width / 2)
    return math.hypot(body.ahead - body.depth, aside)


def _range_text(parts: Sequence[Part]) -> str:
    return ' or '.join(dict.fromkeys(
        _text(least) if least == most else f'{_text(least)} to {_text(most)}'
        for _, least, most in parts))


def _text(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f'{value:g}' if is_number else f'{value!s:.200}'


def _given_away(variant: Scenario, path: FieldPath, got: str, expected: str, hazard_id: str,
                what: str, share: float) -> Remark:
    tells = 'all trials' if share >= 1 else f'{share:.0%} of the trials'
    return Remark('L227', variant, path, (
        f'got {got}, expected as in its hazard {hazard_id}: {expected}. A controller that only '
        f'goes by {what} tells {tells} of the pair apart, at most {MOST:.0%} are accepted. Give '
        f'both the same'))
