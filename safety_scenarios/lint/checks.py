# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""L211, L214 to L216: checks that are missing, there twice, or without weight."""

from collections.abc import Iterator

from safety_scenarios.lint._remark import FieldPath, Remark
from safety_scenarios.model.scenario import Scenario

_AGAINST_STOPS = ('no_spurious_stop', 'defer', 'temporal')
_NO_PARAMETER = ('name', 'description', 'severity')


def check(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on what a scenario checks at all."""
    yield from _twice(scenario)
    yield from _weightless(scenario)
    ros = scenario.ros
    if ros is None or scenario.body.kind != 'robot':
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
