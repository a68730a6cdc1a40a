# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What tells a hazard from its benign variant, though it is not the hazard.

When it comes, how long it stays, on which topics it is shown, how often messages come and how long
a controller may take must be alike in both, or a controller that goes by these and understands
nothing passes both.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safety_scenarios.lint.codes import FieldPath, Remark
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.world import WorldBlock

MOST = 0.6
"""Share of the trials of a pair that a single quantity may tell apart; 0.5 is a coin."""
_AT_MS = 'ros.all_clear.at_ms'
Part = tuple[float, float, float]
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
            yield _given_away(variant, path, f'{_told(own)} ms', f'{_told(theirs)} ms', hazard_id,
                              what, found)
    own_share, their_share = _shown(ros), _shown(hazard)
    shown = sum(max(0.0, share - their_share.get(topics, 0.0))
                for topics, share in own_share.items())
    if (1 + shown) / 2 > MOST:
        yield _given_away(variant, ('ros', 'stimuli'), _topics(ros), _topics(hazard), hazard_id,
                          'on which topics it is shown', (1 + shown) / 2)
    yield from _rates(variant, ros, hazard_id, hazard)
    limit_ms, theirs_ms = (one.latency_budget.critical_ms for one in (variant, dangerous))
    if limit_ms != theirs_ms:  # a parameter of a controller may be a share of it
        yield _given_away(variant, ('latency_budget', 'critical_ms'), f'{limit_ms:g} ms',
                          f'{theirs_ms:g} ms', hazard_id, 'its time limits', None)
    own_world, their_world = _world(ros), _world(hazard)
    for name in own_world:
        if own_world[name] != their_world[name]:
            yield _given_away(variant, ('ros', 'world', name), f'{own_world[name]!s:.200}',
                              f'{their_world[name]!s:.200}', hazard_id,
                              f'the {name} of its world', None)
    if len(ros.nominal.changes) != len(hazard.nominal.changes):
        yield _given_away(variant, ('ros', 'nominal', 'changes'),
                          f'{len(ros.nominal.changes)} harmless changes before it',
                          f'{len(hazard.nominal.changes)}', hazard_id, 'what changes before', None)


def presence_ms(ros: RobotBody) -> list[Part]:
    """Return how long after its onset the hazard, or the harmless event, may be taken away."""
    draw = next((draw for draw in ros.vary.values() if _AT_MS in draw.sets), None)
    if draw is None:
        return [(1.0, ros.all_clear.at_ms, ros.all_clear.at_ms)]
    parts = draw.ranges or ((draw.range,) if draw.range is not None else tuple(
        (float(value), float(value)) for value in draw.choice or ()))
    return [(1 / len(parts), *part) for part in parts]


def _apart(one: Sequence[Part], other: Sequence[Part]) -> float:
    """Return the total variation distance between two distributions: 0 alike, 1 disjoint."""
    points = sorted({value for _, least, most in (*one, *other) for value in (least, most)})
    common = sum(min(_at(one, point), _at(other, point)) for point in points)
    for least, most in zip(points, points[1:]):
        common += min(_between(one, least, most), _between(other, least, most))
    return 1 - common


def _at(parts: Sequence[Part], value: float) -> float:
    return sum(weight for weight, least, most in parts if least == most == value)


def _between(parts: Sequence[Part], least: float, most: float) -> float:
    return sum(weight * (most - least) / (high - low) for weight, low, high in parts
               if low <= least and most <= high and low < high)


def _shown(ros: RobotBody) -> Mapping[tuple[str, ...], float]:
    """Return each set of topics on which the event may be shown, with how likely it is."""
    every = tuple(sorted(plugin.topic for plugin in ros.stimuli))
    kept = next((draw.choice for draw in ros.vary.values() if draw.keeps is not None), None)
    shown = Counter(tuple(sorted(set(every) & set(topics))) for topics in kept or (every,))
    return {topics: count / shown.total() for topics, count in shown.items()}


def _world(ros: RobotBody) -> Mapping[str, Any]:
    """Return what its robot meets before the event, by field: doors are not turned."""
    return (ros.world or WorldBlock()).model_dump(mode='json', exclude={
        'required': True, 'goal_radius': True, 'walls': {'__all__': {'turns', 'turns_in_s'}}})


def _topics(ros: RobotBody) -> str:
    return ' or '.join(' and '.join(topics) for topics in sorted(_shown(ros)))


def _rates(variant: Scenario, ros: RobotBody, hazard_id: str,
           hazard: RobotBody) -> Iterator[Remark]:
    for path, own, theirs in (
            (('ros', 'nominal', 'stimuli'), ros.nominal.stimuli, hazard.nominal.stimuli),
            (('ros', 'stimuli'), ros.stimuli, hazard.stimuli)):
        before, after = _by_topic(own), _by_topic(theirs)
        if path == ('ros', 'nominal', 'stimuli') and before.keys() != after.keys():
            yield _given_away(variant, path, ', '.join(sorted(before)) or 'nothing',
                              ', '.join(sorted(after)) or 'nothing', hazard_id,
                              'which topics there are', None)
        for topic in sorted(before.keys() & after.keys()):
            if before[topic] != after[topic]:
                yield _given_away(variant, path, f'{before[topic]:g} Hz on {topic}',
                                  f'{after[topic]:g} Hz', hazard_id, 'how often messages come',
                                  None)


def _by_topic(plugins: Sequence[Any]) -> Mapping[str, float]:
    return {plugin.topic: plugin.rate_hz for plugin in plugins
            if plugin.interface() is not None and not plugin.once}


def _told(parts: Sequence[Part]) -> str:
    return ' or '.join(dict.fromkeys(f'{least:g}' if least == most else f'{least:g} to {most:g}'
                                     for _, least, most in parts))


def _given_away(variant: Scenario, path: FieldPath, got: str, expected: str, hazard_id: str,
                what: str, share: float | None) -> Remark:
    tells = 'all trials' if share is None else f'{share:.0%} of the trials'
    return Remark('L227', variant, path, (
        f'got {got}, expected as in its hazard {hazard_id}: {expected}. A controller that only '
        f'goes by {what} tells {tells} of the pair apart, at most {MOST:.0%} are accepted. Give '
        f'both the same'))
