# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario asks of a robot that drives on, scaled to a robot that is slower."""

from typing import Any

from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.robot_kind import kind_of


def scaled(body: RobotBody, share: float) -> tuple[RobotBody, list[str]]:
    """
    Return a body whose least speeds are a share of what they were, and what has changed.

    These are the speed before the hazard, and each speed that a check demands of a robot which is
    not to stop.

    :param share: top speed of the robot over that of the scenario; from 1 on nothing changes
    """
    unit, notes = kind_of(body.robot).speed_unit, list[str]()

    def slower(asks: Any, where: str) -> Any:
        least = getattr(asks, 'at_least', None)
        signal = body.signals.get(getattr(asks, 'signal', None) or '')
        if not least or least < 0 or signal is None or signal.unit != unit:
            return asks
        notes.append(f'{where}.at_least: {least * share:.3g} instead of {least:g} {unit}, as the '
                     f'robot is slower')
        return asks.model_copy(update={'at_least': least * share})
    if share >= 1:
        return body, notes
    require = slower(body.nominal.require, 'ros.nominal.require')
    return body.model_copy(update={
        'nominal': body.nominal.model_copy(update={'require': require}),
        'invariants': tuple(slower(one, f'ros.invariants[{index}]')
                            for index, one in enumerate(body.invariants))}), notes
