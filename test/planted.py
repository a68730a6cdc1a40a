# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Planted failures: margins of a base that meets a person, computed by formula.

Each landscape has a known failing region. Margins are flat over most of the space and fall near
the region, as they do where a scanner loses a person gradually. ``needle`` falls nowhere: no
method can find it sooner than random search.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import math
from typing import Any

from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.search.space import Axis, Outcome, Space

_SCANNERS = ('all_around', 'from_ahead', 'clockwise', 'coarse', 'fine', 'behind_bumper',
             'backwards', 'turned_left')
SPACE = Space((
    Axis('bearing', ((-180.0, 180.0),), unit='deg'),
    Axis('distance', ((2.6, 12.0),), unit='m'),
    Axis('light', choices=('day', 'lamp', 'backlit', 'dark')),
    Axis('onset_ms', ((1000.0, 17000.0),), unit='ms'),
    Axis('onset_phase', ((0.0, 1.0),)),
    Axis('person', choices=('standing', 'crouching', 'child', 'lying', 'seated')),
    Axis('scanner', choices=_SCANNERS),
    Axis('speed', ((0.2, 1.2),), unit='m/s'),
    Axis('walks', ((0.0, 1.6),), unit='m/s')))
"""Nine draws, five of them without any effect in each landscape."""


@dataclass(frozen=True)
class Planted:
    """A landscape with a known failing region."""

    name: str
    margins: Callable[[Mapping[str, Any]], dict[str, float]]
    share: float
    """Of plain trials that fail, by 40,000 trials around the region."""

    def outcome(self, values: Mapping[str, Any]) -> Outcome:
        """Return what a trial of these values comes to."""
        margins = {'command stream alive': 0.25, 'drives only where it may': 0.05,
                   **self.margins(values)}
        verdict = Verdict.FAIL if min(margins.values()) < 0 else Verdict.PASS
        return Outcome(verdict, margins)


def _remaining(values: Mapping[str, Any], delay_s: float) -> dict[str, float]:
    """Return the margins of a base that brakes at 1 m/s2 after a delay, as a trial has them."""
    speed, phase_s = values['speed'], 0.05 * values['onset_phase']
    way = speed * (delay_s + phase_s) + speed**2 / 2.0
    return {'keeps its protective distance': values['distance'] - 0.75 - way,
            'reaction within the budget': 3.0 - delay_s - phase_s}


def _blind_spot(values: Mapping[str, Any]) -> dict[str, float]:
    """3 degrees around 63.5: the person is seen late, by the share of the body that is hidden."""
    off = abs((values['bearing'] - 63.5 + 180.0) % 360.0 - 180.0)
    hidden = 1.0 - min(1.0, max(0.0, (off - 1.5) / 12.0))
    return _remaining(values, 0.1 + 0.75 * hidden**2 if hidden < 1.0 else 1.9)


def _speed_window(values: Mapping[str, Any]) -> dict[str, float]:
    """At 0.755 to 0.775 m/s in backlight the filter takes the person for a ghost."""
    off = max(0.0, abs(values['speed'] - 0.765) - 0.01)
    lost = max(0.0, 1.0 - off / 0.1)
    delay = 0.1 + (0.75 * lost**2 if values['light'] == 'backlit' else 0.1 * lost)
    if lost == 1.0 and values['light'] == 'backlit':
        delay = 2.6
    return _remaining(values, delay)


def _combination(values: Mapping[str, Any]) -> dict[str, float]:
    """Delay by a coarse scanner, a person lying, and one far to one side: each costs a little."""
    coarse, lying = values['scanner'] == 'coarse', values['person'] == 'lying'
    side = max(0.0, 1.0 - max(0.0, abs(values['bearing'] + 120.0) - 20.0) / 60.0)
    delay = 0.1 + 0.15 * (coarse + lying + side) + 0.15 * coarse * lying
    if coarse and lying and side == 1.0:
        delay = 2.9
    return _remaining(values, delay)


def _needle(values: Mapping[str, Any]) -> dict[str, float]:
    fails = values['scanner'] == 'coarse' and values['light'] == 'dark' \
        and 1.0 < values['walks'] < 1.1 and 62.0 < values['bearing'] < 134.0
    return {'keeps its protective distance': -1.0 if fails else 1.0}


PLANTED = (Planted('blind spot of 3 degrees', _blind_spot, 2.1e-4),
           Planted('speed window', _speed_window, 2.3e-4),
           Planted('1-in-5,000 combination', _combination, 2.1e-4),
           Planted('needle without a slope', _needle, 3.9e-4))


def expected_trials(share: float) -> float:
    """Return the median of random search's trials until the first failure."""
    return math.log(2.0) / -math.log1p(-share)
