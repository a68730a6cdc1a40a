# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L114 to L116: names, topics and times that contradict each other."""

from collections.abc import Iterator

from safety_scenarios.lint._remark import Remark
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.scenario import Scenario


def check(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on a scenario's names, topics and times."""
    yield from _names(scenario)
    body = scenario.body
    if isinstance(body, RobotBody):
        yield from _topics(scenario, body)
        yield from _stops(scenario, body)


def _names(scenario: Scenario) -> Iterator[Remark]:
    blocks = [('safety_invariants', index) for index in range(len(scenario.safety_invariants))]
    rest = [('ros', 'invariants', index)
            for index in range(len(scenario.invariants) - len(blocks))]
    first: dict[str, int] = {}
    for index, (path, invariant) in enumerate(zip([*blocks, *rest], scenario.invariants)):
        if first.setdefault(invariant.name, index) != index:
            yield Remark('L114', scenario, (*path, 'name'), (
                f'got {invariant.name!r} a second time: the report cannot tell the two apart. '
                f'Rename one, or remove it'))


def _topics(scenario: Scenario, body: RobotBody) -> Iterator[Remark]:
    seen: set[str] = set()
    for key, topics in (('commands', body.commands), ('feedback', body.feedback)):
        for index, block in enumerate(topics):
            if block.topic in seen:
                yield Remark('L115', scenario, ('ros', key, index, 'topic'), (
                    f'got {block.topic!r} a second time: each of its messages would count twice, '
                    f'or be taken for the wrong kind. Remove one'))
            seen.add(block.topic)


def _stops(scenario: Scenario, body: RobotBody) -> Iterator[Remark]:
    at_ms = body.all_clear.at_ms
    for index, invariant in enumerate(body.invariants):
        within_ms = getattr(invariant, 'within', None)
        if isinstance(within_ms, float) and within_ms > at_ms:
            yield Remark('L116', scenario, ('ros', 'invariants', index, 'within'), (
                f'got {within_ms:g} ms, which is after ros.all_clear.at_ms {at_ms:g}: by then the '
                f'hazard is gone and the limit never decides. Lower it, or clear later'))
