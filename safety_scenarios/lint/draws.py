# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A value that is only drawn is held against the same checks as one that the file has."""

from collections.abc import Callable, Iterable, Iterator

from safety_scenarios.lint._remark import Remark
from safety_scenarios.scenario.blocks.vary import steps_to, with_value
from safety_scenarios.scenario.scenario import Scenario


def check_draws(scenario: Scenario,
                check: Callable[[Scenario], Iterable[Remark]]) -> Iterator[Remark]:
    """
    Yield the remarks on a robot scenario with a value of one draw that it has not without.

    :param check: yields the remarks on a scenario as it stands
    """
    ros = scenario.robot_body
    known = {(remark.code, remark.field) for remark in check(scenario)}
    for name, draw in ros.vary.items():
        paths = [steps_to(path)[1:] for path in draw.sets]
        for value in draw.probes:
            try:
                body = with_value(ros, paths, value)
            except (LookupError, ValueError):  # refused where it is read
                continue
            for remark in check(scenario.model_copy(update={'body': body})):
                if (remark.code, remark.field) not in known:
                    known.add((remark.code, remark.field))
                    yield Remark(remark.code, scenario, ('ros', 'vary', name),
                                 f'with {value!r}: {remark.message}')
