# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Every check over a set of scenarios, without what the files waive."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from safety_scenarios.errors import InputError
from safety_scenarios.lint.codes import Remark
from safety_scenarios.lint.formulas import check_formulas
from safety_scenarios.lint.hazards import check_hazards, check_published, check_worlds
from safety_scenarios.lint.limits import check_limits, check_rules
from safety_scenarios.lint.patterns import check_answers, check_claims, check_patterns
from safety_scenarios.lint.quantities import check_budgets, check_times, check_units
from safety_scenarios.lint.structure import (
    check_context,
    check_invariants,
    check_sets,
    check_structure,
)
from safety_scenarios.scenario.blocks.vary import steps_to, with_value
from safety_scenarios.scenario.body import MonitorBody, RobotBody
from safety_scenarios.scenario.scenario import Scenario


def check_draws(scenario: Scenario,
                check: Callable[[Scenario], Iterable[Remark]]) -> Iterator[Remark]:
    """
    Yield the remarks on a scenario with a value of one draw that it has not without.

    :param check: yields the remarks on a scenario as it stands
    """
    body = scenario.body
    known = {(remark.code, remark.field) for remark in check(scenario)}
    place = ('ros', 'vary') if isinstance(body, RobotBody) else ('vary',)
    for name, draw in body.vary.items():
        paths = [steps_to(path)[1:] for path in draw.sets]
        for value in draw.probes:
            try:
                drawn = scenario.source.fill(scenario, {name: value}) if draw.is_in_text else \
                    scenario.model_copy(update={'body': with_value(body, paths, value)})
            except (InputError, LookupError, ValueError):  # refused where it is read
                continue
            for remark in check(drawn):
                if (remark.code, remark.field) not in known:
                    known.add((remark.code, remark.field))
                    yield Remark(remark.code, scenario, (*place, name),
                                 f'with {value!r}: {remark.message}')


WAIVABLE = (*(f'L{number}' for number in range(101, 118) if number != 113),
            'L119', 'L120', 'L121', 'L122', 'L123', 'L124',
            'L206', 'L207', 'L210', 'L212', 'L213', 'L214', 'L215', 'L216', 'L218',
            'L220', 'L221', 'L222', 'L223', 'L224', 'L227', 'L228', 'L229', 'L231', 'L301',
            'L303', 'L304', 'L306')
"""
What ``metadata.lint`` may waive: what an author may know better. Not L113, with which no trial
passes, nor L118, about waivers, nor what cannot fail whatever anybody knows.
"""
_SEEN_ELSEWHERE = frozenset(('L108', 'L109', 'L111', 'L112', 'L121', 'L227', 'L229', 'L301',
                             'L303', 'L304', 'L306'))
"""Codes that need other files, a calibration or a run to be told."""
_TEXTS = (check_patterns, check_answers, check_structure)
_ROBOTS = (check_limits, check_formulas, check_hazards)
_REST = (check_times, check_units, check_invariants, check_claims, check_rules,
         check_published, check_worlds)
"""What looks at one scenario by itself, in the order of the remarks."""


@dataclass(frozen=True, slots=True)
class Review:
    """What the checks say about a set of scenarios."""

    remarks: tuple[Remark, ...]
    """In the order of the scenarios, then of the fields."""
    waived: tuple[Remark, ...]
    """Those that ``metadata.lint`` gives a reason for."""


def review(scenarios: Sequence[Scenario], floor_ms: float | None = None) -> Review:
    """
    Check scenarios against each other and each for itself.

    :param floor_ms: what the harness itself needs (ms); None when no calibration is at hand
    """
    found = [*_all(scenarios, floor_ms)]
    remarks, waived = [], []
    for scenario in scenarios:
        own = [remark for remark in found if remark.scenario is scenario]
        reasons = waived_by(scenario)
        waived += [remark for remark in own if remark.code in reasons]
        remarks += [remark for remark in own if remark.code not in reasons]
        remarks += _waivers(scenario, {remark.code for remark in own})
    return Review(tuple(remarks), tuple(waived))


def _all(scenarios: Sequence[Scenario], floor_ms: float | None) -> Iterator[Remark]:
    for scenario in scenarios:
        body = scenario.body
        if isinstance(body, MonitorBody):  # no hazard, no budget and no reaction that could be odd
            for check_monitor in (check_limits, check_formulas):
                yield from check_monitor(scenario, body)
            yield from check_units(scenario)
            continue
        for check in _TEXTS:
            yield from check(scenario)
        yield from check_budgets(scenario, floor_ms)
        yield from check_context(scenario)
        yield from _alone(scenario)
        if isinstance(body, RobotBody):
            yield from check_draws(scenario, _alone)
        elif scenario.source is not None:
            yield from check_draws(scenario, _in_words)
    yield from check_sets(scenarios)


def _in_words(scenario: Scenario) -> Iterator[Remark]:
    for check in (*_TEXTS, _alone):
        yield from check(scenario)


def _alone(scenario: Scenario) -> Iterator[Remark]:
    if isinstance(scenario.body, RobotBody):
        for check_robot in _ROBOTS:
            yield from check_robot(scenario, scenario.body)
    for check in _REST:
        yield from check(scenario)


def waived_by(scenario: Scenario) -> dict[str, str]:
    """Return code to reason of every waiver of a scenario that counts."""
    waivers = scenario.metadata.get('lint')
    if not isinstance(waivers, Mapping):
        return {}
    return {code: reason for code, reason in waivers.items()
            if code in WAIVABLE and isinstance(reason, str) and reason.strip()}


def _waivers(scenario: Scenario, fired: set[str]) -> Iterator[Remark]:
    waivers = scenario.metadata.get('lint')
    if waivers is None:
        return
    if not isinstance(waivers, Mapping):
        yield Remark('L118', scenario, ('metadata', 'lint'),
                     'expected a mapping from codes to reasons, such as {L105: why}')
        return
    for code in waivers:
        if code not in WAIVABLE:
            message = ('expected a code that may be waived, as doc/reference/lint.md lists them. '
                       'Correct '
                       'what it warns of, and remove it')
        elif code not in waived_by(scenario):
            message = 'gives no reason, so it waives nothing. Say why'
        elif code not in fired | _SEEN_ELSEWHERE:
            message = 'waives nothing: there is no such warning any more. Remove it'
        else:
            continue
        yield Remark('L118', scenario, ('metadata', 'lint', code), message)
