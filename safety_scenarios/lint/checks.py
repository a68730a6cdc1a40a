# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L211, L214 to L216, L220, L224: checks that are missing, there twice, or without weight."""

from collections.abc import Iterator

from safety_scenarios.lint._remark import FieldPath, Remark
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.scenario import Scenario

_AGAINST_STOPS = ('no_spurious_stop', 'defer', 'temporal')
_NO_PARAMETER = ('name', 'description', 'severity')


def check(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on what a scenario checks at all."""
    yield from _twice(scenario)
    yield from _weightless(scenario)
    ros = scenario.body
    if not isinstance(ros, RobotBody):
        return
    if scenario.is_benign and not any(
            getattr(one, 'kind', '') in _AGAINST_STOPS
            or (getattr(one, 'at_least', None) or 0) > 0 for one in ros.invariants):
        yield Remark('L211', scenario, ('ros', 'invariants'), (
            'no check of this benign variant asks the robot to go on: one that stops for nothing '
            'is not told. Add kind: no_spurious_stop, or a bound with at_least'))
    terms = ros.separation
    if terms is not None and not any((terms.approach_speed, terms.reach, terms.intrusion,
                                      terms.other_uncertainty, terms.robot_uncertainty)):
        yield Remark('L214', scenario, ('ros', 'separation'), (
            'nobody approaches, and every margin is 0: distances count as exact, and from centre '
            'to centre. Add reach, intrusion and the uncertainties of the sensor'))

    yield from _zones(scenario, ros)
    yield from _unread(scenario, ros)
    yield from _shared_joints(scenario, ros)


def _zones(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    for index, invariant in enumerate(ros.invariants):
        radius = getattr(invariant, 'radius', None)
        if getattr(invariant, 'kind', '') == 'zone' and ros.robot.radius is not None \
                and radius is not None and radius < ros.robot.radius:
            yield Remark('L214', scenario, ('ros', 'invariants', index, 'radius'), (
                f'got {radius:g} m, expected the {ros.robot.radius:g} m of ros.robot.radius: '
                f'what juts out beyond that may be in the zone. Give the same radius'))


def _unread(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """Warn of a topic on which the robot is commanded, and which no check looks at."""
    names = {limit.signal for condition in (ros.reaction,) if condition is not None
             for limit in condition.limits}
    for invariant in ros.invariants:
        names |= {name for field in invariant.names_signals
                  if isinstance(name := getattr(invariant, field, None), str)}
        names |= set(getattr(invariant, 'signals', ()))
    read = {ros.signals[name].topic for name in names if name in ros.signals}
    read |= {str(getattr(invariant, 'topic', '')) for invariant in ros.invariants
             if getattr(invariant, 'kind', '') == 'limits'}
    read |= {block.topic for block in ros.feedback}  # L115 tells those
    for index, block in enumerate(ros.commands):
        if block.topic not in read:
            yield Remark('L220', scenario, ('ros', 'commands', index, 'topic'), (
                f'got {block.topic!r}, which no reaction and no check of motion reads: a '
                f'controller that drives by it is not seen. Add a signal of it to both'))


def _shared_joints(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """Warn of a joint of two drivers: one of them rejects what the arms are commanded."""
    owners: dict[str, str] = {}
    for index, block in enumerate(ros.commands):
        joints = getattr(block.driver, 'joints', ())
        shared = [joint for joint in joints if joint in owners]
        if shared:
            yield Remark('L224', scenario, ('ros', 'commands', index), (
                f'{block.topic} and {owners[shared[0]]} both drive {", ".join(shared)}: a joint '
                f'has one controller, and a driver that is not declared is taken to have all of '
                f'robot.joints and rejects a trajectory of fewer. Say which joints each has, such '
                f'as driver: {{kind: {getattr(block.driver, "kind", "")}, joints: [...]}}'))
        for joint in joints:
            owners.setdefault(joint, block.topic)


def _places(scenario: Scenario) -> Iterator[FieldPath]:
    yield from (('safety_invariants', index) for index in range(len(scenario.safety_invariants)))
    rest = len(scenario.invariants) - len(scenario.safety_invariants)
    yield from (('ros', 'invariants', index) for index in range(rest))


def _twice(scenario: Scenario) -> Iterator[Remark]:
    first: dict[str, str] = {}
    for path, invariant in zip(_places(scenario), scenario.invariants):
        asks = repr((type(invariant).__name__, sorted(
            (field, value) for field, value in invariant.model_dump().items()
            if field not in _NO_PARAMETER)))
        name = first.setdefault(asks, invariant.name)
        if asks in first and name != invariant.name:
            yield Remark('L216', scenario, path, (
                f'got {invariant.name!r}, which asks the same as {name!r}: it counts what one '
                f'check says twice. Change or remove it'))


def _weightless(scenario: Scenario) -> Iterator[Remark]:
    checks = scenario.invariants
    if checks and not any(invariant.severity for invariant in checks):
        path = next(_places(scenario))
        yield Remark('L215', scenario, (*path, 'severity'), (
            'got 0 for every check: no violation weighs anything. Say how bad each is, up to 1'))
    elif not scenario.severity and not scenario.is_benign:
        yield Remark('L215', scenario, ('severity',), (
            'got 0 for a hazard: nothing that happens in it weighs anything. Say how bad it is, '
            'up to 1'))
