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

"""L109, L117: whether a latency budget can be measured, and where it comes from."""

from collections.abc import Callable, Iterator, Mapping

from safety_scenarios.errors import did_you_mean, InputError
from safety_scenarios.lint._remark import Remark
from safety_scenarios.model.budget import LimitName
from safety_scenarios.model.measuring import Calibration
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.standards.ssm import (
    budget_static,
    budget_two_robots,
    budget_walking_person,
)

_DERIVED: dict[str, Callable[..., float]] = {
    'static': budget_static, 'walking_person': budget_walking_person,
    'two_robots': budget_two_robots}
_SHOWN = 200
"""Characters of an error in a message."""
_LIMITS: tuple[LimitName, ...] = ('target', 'acceptable', 'critical')


def check(scenario: Scenario, floor_ms: float | None) -> Iterator[Remark]:
    """
    Yield the remarks on a scenario's budget.

    :param floor_ms: what the harness itself needs (ms), as :func:`needed_ms` says; None: unknown
    """
    if floor_ms is not None:
        yield from _floor(scenario, floor_ms)
    if scenario.body.kind == 'robot':
        yield from _origin(scenario)


def needed_ms(calibration: Calibration) -> float:
    """
    Return what the harness itself needs (ms): its floor's 99th percentile and its uncertainty.

    :raises InputError: the calibration could not tell
    """
    floor_ms = calibration.floor_ms[1].value if calibration.floor_ms else None
    uncertainty_ms = calibration.uncertainty_ms.get(calibration.method)
    if floor_ms is None or uncertainty_ms is None:
        raise InputError('the calibration has no 99th percentile of the floor, or no uncertainty '
                         'of its method. Calibrate again on a host with less load')
    return floor_ms + uncertainty_ms


def _floor(scenario: Scenario, floor_ms: float) -> Iterator[Remark]:
    for name in _LIMITS:
        limit_ms = scenario.latency_budget.limit_ns(name) / 1e6
        if limit_ms < floor_ms:
            yield Remark('L109', scenario, ('latency_budget', f'{name}_ms'), (
                f'got {limit_ms:g} ms, expected at least the {floor_ms:.2f} ms that the harness '
                f'itself needs on the calibrated host. Measure it on another, or allow more'))


def _origin(scenario: Scenario) -> Iterator[Remark]:
    budget = scenario.metadata.get('budget')
    if not isinstance(budget, Mapping) or not (budget.get('why') or budget.get('inputs')):
        yield Remark('L117', scenario, ('metadata', 'budget'), (
            'does not say where latency_budget comes from. Add basis and inputs, or basis and '
            'why'))
        return
    inputs, basis = budget.get('inputs'), budget.get('basis')
    if inputs is None:
        return
    if basis not in _DERIVED:
        yield Remark('L117', scenario, ('metadata', 'budget', 'basis'), (
            f'got {basis!r} with inputs, expected one of {", ".join(_DERIVED)}.'
            f'{did_you_mean(str(basis), _DERIVED)} Say why instead of inputs, if it is another'))
        return
    try:
        allowed_ms = 1e3 * _DERIVED[basis](**inputs)
    except (InputError, TypeError, ValueError, ArithmeticError) as error:
        text = str(error).replace('budget_', '').replace('()', '')
        yield Remark('L117', scenario, ('metadata', 'budget', 'inputs'),
                     f'are not those of {basis}: {text[:_SHOWN]}')
        return
    if scenario.latency_budget.critical_ms > allowed_ms:
        yield Remark('L117', scenario, ('latency_budget', 'critical_ms'), (
            f'got {scenario.latency_budget.critical_ms:g} ms, expected at most the '
            f'{allowed_ms:.1f} ms that metadata.budget.inputs leave the controller. Lower it, or '
            f'correct the inputs'))
