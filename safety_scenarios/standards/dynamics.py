# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Limits that physics sets to a reaction: friction, tipping, falling, balance.

Point masses and rigid bodies on level ground. Sources: textbook mechanics; the pendulum is that of
Kajita et al. 2001 (doi 10.1109/IROS.2001.973365), its capture point that of Pratt et al. 2006.
"""

from dataclasses import dataclass
import math

from safety_scenarios.standards._inputs import check_finite, check_not_negative, check_positive

GRAVITY = 9.81
"""Of the Earth, rounded (m/s2)."""


def friction_deceleration(friction: float, gravity: float = GRAVITY) -> float:
    """
    Return the hardest deceleration (m/s2) before wheels slide: mu g.

    :param friction: coefficient mu (1)
    :raises InputError: a negative or non-finite coefficient, gravity not > 0
    """
    check_not_negative(friction=friction)
    check_positive(gravity=gravity)
    return friction * gravity


def tip_deceleration(lever: float, height: float, gravity: float = GRAVITY) -> float:
    """
    Return the hardest deceleration (m/s2) before a vehicle tips over its front: g b / h.

    :param lever: horizontally from the centre of mass to the front axle b (m)
    :param height: of the centre of mass h (m)
    :raises InputError: a negative or non-finite lever, height or gravity not > 0
    """
    check_not_negative(lever=lever)
    check_positive(height=height, gravity=gravity)
    return gravity * lever / height


def fall_time(height: float, gravity: float = GRAVITY) -> float:
    """
    Return how long (s) a load that is let go falls: sqrt(2 h / g).

    :param height: over what it would hit (m)
    :raises InputError: a negative or non-finite height, gravity not > 0
    """
    check_not_negative(height=height)
    check_positive(gravity=gravity)
    return math.sqrt(2.0 * height / gravity)


@dataclass(frozen=True, kw_only=True)
class Pendulum:
    """
    The linear inverted pendulum: a biped whose centre of mass stays at one height.

    :param height: of the centre of mass (m)
    :param gravity: (m/s2)
    """

    height: float
    gravity: float = GRAVITY

    def __post_init__(self) -> None:
        check_positive(height=self.height, gravity=self.gravity)

    @property
    def omega(self) -> float:
        """Rate at which a fall grows, sqrt(g / l) (1/s)."""
        return math.sqrt(self.gravity / self.height)

    @property
    def time_constant(self) -> float:
        """Time in which a fall grows by e (s)."""
        return 1.0 / self.omega

    def capture_offset(self, speed: float) -> float:
        """
        Return how far ahead of the centre of mass a foot must stand to come to rest (m).

        :param speed: of the centre of mass (m/s), signed
        :raises InputError: NaN or infinity
        """
        check_finite(speed=speed)
        return speed / self.omega
