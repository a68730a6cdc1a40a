# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Braking: the limits that physics sets, stopping distance, and the length of a protective field.

Source of fields: the manuals of SICK (microScan3, S300, nanoScan3) and Banner (AG4) for
ISO 3691-4::

    S_A = S_Br + v (T_scan + T_vehicle)        S_L = S_A + TZ + Z_R + Z_F + Z_B

Limits are those of point masses and rigid bodies on level ground. Sources: textbook mechanics;
the pendulum is that of Kajita et al. 2001 (doi 10.1109/IROS.2001.973365), its capture point that
of Pratt et al. 2006.
"""

from dataclasses import dataclass
import math
from typing import Literal

from safety_scenarios.errors import InputError
from safety_scenarios.standards._inputs import (
    check_finite,
    check_not_negative,
    check_positive,
    check_share,
)

PersonModel = Literal['static', 'approaching']
"""
``static`` counts the vehicle's speed alone: the person sees it and stands (SICK). ``approaching``
adds 1.6 m/s during the response (Banner), but nothing while the vehicle brakes: for a person who
walks until it stands see the separation distance in ``ssm``.
"""

_WALKING_SPEED = 1.6
"""m/s, as in ISO 13855."""


@dataclass(frozen=True, kw_only=True)
class ProtectiveField:
    """
    Length of the protective field by its terms (m).

    :param braking: S_Br
    :param response: what the vehicle drives before it brakes
    :param scanner: TZ, tolerance of the scanner
    :param reflector: Z_R, for retro-reflectors in sight
    :param ground: Z_F, for lack of ground clearance
    :param wear: Z_B, for worn brakes
    :param person: what an unaware person walks during the response
    :param clearance: against crushing, at the end
    """

    braking: float
    response: float
    scanner: float
    reflector: float
    ground: float
    wear: float
    person: float
    clearance: float

    @property
    def stopping_distance(self) -> float:
        """S_A (m)."""
        return self.braking + self.response

    @property
    def length(self) -> float:
        """S_L (m), with what the person model adds."""
        return (self.stopping_distance + self.scanner + self.reflector + self.ground + self.wear
                + self.person + self.clearance)


def braking_distance(speed: float, deceleration: float) -> float:
    """
    Return S_Br = v^2 / (2 a) (m); the vehicle's own table is better.

    :raises InputError: a negative or non-finite speed, deceleration not > 0
    """
    check_not_negative(speed=speed)
    check_positive(deceleration=deceleration)
    return speed**2 / (2.0 * deceleration)


def protective_field(*, speed: float, braking: float, scan_time: float, vehicle_time: float,
                     scanner: float, reflector: float, ground: float, wear_share: float,
                     person_model: PersonModel, clearance: float = 0.0) -> ProtectiveField:
    """
    Return the length of the protective field by its terms.

    :param speed: of the vehicle (m/s)
    :param braking: S_Br at that speed (m)
    :param scan_time: response time of the scanner, multiple sampling included (s)
    :param vehicle_time: response time of the vehicle's control (s)
    :param scanner: TZ from the scanner's data sheet (m); 0.065 is typical
    :param reflector: Z_R from the scanner's manual (m), 0 without retro-reflectors in sight
    :param ground: Z_F (m), 0.05 to 0.15 by ground clearance
    :param wear_share: Z_B as a share of S_Br; 0.1 is customary
    :param person_model: what is assumed of the person, see :data:`PersonModel`
    :param clearance: against crushing (m); Banner asks for 0.5
    :raises InputError: a negative or non-finite input, or another person model
    """
    check_not_negative(
        speed=speed, braking=braking, scan_time=scan_time, vehicle_time=vehicle_time,
        scanner=scanner, reflector=reflector, ground=ground, clearance=clearance)
    check_share(wear_share=wear_share)
    if person_model not in ('static', 'approaching'):
        raise InputError(f'person_model: got {person_model!r}, expected static or approaching')
    response_time = scan_time + vehicle_time
    walked = _WALKING_SPEED * response_time if person_model == 'approaching' else 0.0
    return ProtectiveField(
        braking=braking, response=speed * response_time, scanner=scanner, reflector=reflector,
        ground=ground, wear=wear_share * braking, person=walked, clearance=clearance)


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
