# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Power and force limiting: how fast a robot may be when it touches a body region.

Source: the two-body model of ISO/TS 15066:2016, annex A (now in ISO 10218-2:2025)::

    E = F^2 / (2 k) = mu v^2 / 2        mu = 1 / (1/m_H + 1/m_R)        m_R = M / 2 + m_L

Valid for a blunt, fully inelastic contact with a linear spring and no reaction of the robot. It is
a bound for screening and does not replace a measurement (ISO/PAS 5672): the mass that a pose
reflects can be much larger than m_R. The limits are data: the user's file holds them, not this
module.
"""

from dataclasses import dataclass
from enum import Enum
import math

from safety_scenarios.errors import InputError
from safety_scenarios.standards._inputs import check_not_negative, check_positive


class Contact(Enum):
    """How a body part is touched."""

    TRANSIENT = 'transient'
    """It can recoil, within 0.5 s."""
    CLAMPED = 'clamped'
    """It cannot, or for longer: quasi-static limits, and no body mass that gives way."""


@dataclass(frozen=True, kw_only=True)
class RegionLimits:
    """
    Limits of one body region.

    :param force: quasi-static limit (N)
    :param pressure: quasi-static limit (Pa), the lowest of the region
    :param multiplier: transient over quasi-static limit, >= 1; None: contact is to be avoided by
        design, and a transient one is allowed no more than a quasi-static one
    :param stiffness: effective spring constant k (N/m)
    :param mass: effective mass m_H (kg)
    :param energy: published transient energy (J), None when there is none
    """

    name: str
    force: float
    pressure: float
    multiplier: float | None
    stiffness: float
    mass: float
    energy: float | None

    def __post_init__(self) -> None:
        check_positive(force=self.force, pressure=self.pressure, stiffness=self.stiffness,
                       mass=self.mass)
        if self.energy is not None:
            check_positive(energy=self.energy)
        if self.multiplier is not None:
            check_positive(multiplier=self.multiplier)
            if self.multiplier < 1.0:
                raise InputError(f'multiplier: got {self.multiplier}, expected a number >= 1, or '
                                 f'None where contact is to be avoided')

    def force_limit(self, contact: Contact) -> float:
        """Return the force limit (N)."""
        return self.force * self._factor(contact)

    def pressure_limit(self, contact: Contact) -> float:
        """Return the pressure limit (Pa)."""
        return self.pressure * self._factor(contact)

    @property
    def transient_energy(self) -> float:
        """Return the lesser of the published energy and F^2 / (2 k) at the transient force (J)."""
        own = contact_energy(self.force_limit(Contact.TRANSIENT), self.stiffness)
        return own if self.energy is None else min(own, self.energy)

    def _factor(self, contact: Contact) -> float:
        return self.multiplier if contact is Contact.TRANSIENT and self.multiplier else 1.0


@dataclass(frozen=True, kw_only=True)
class PermittedSpeed:
    """
    Speed of the robot relative to the body (m/s) that each limit allows.

    :param by_force: from the force limit
    :param by_pressure: from the pressure limit on the contact area; None without an area
    :param by_energy: from the smaller energy; None for a clamped contact, which has none published
    """

    by_force: float
    by_pressure: float | None
    by_energy: float | None

    @property
    def value(self) -> float:
        """Return the smallest of them."""
        return min(speed for speed in (self.by_force, self.by_pressure, self.by_energy)
                   if speed is not None)


def effective_mass(moving_mass: float, payload: float) -> float:
    """
    Return m_R = M / 2 + m_L (kg), a crude scalar: the true one depends on the pose.

    :param moving_mass: total mass of the robot's moving parts (kg)
    :param payload: tool and workpiece (kg)
    :raises InputError: a negative or non-finite mass
    """
    check_not_negative(moving_mass=moving_mass, payload=payload)
    return moving_mass / 2.0 + payload


def reduced_mass(body_mass: float, robot_mass: float) -> float:
    """
    Return mu (kg) of two bodies that are free to move.

    :raises InputError: a mass that is not > 0 or not finite
    """
    check_positive(body_mass=body_mass, robot_mass=robot_mass)
    return body_mass * robot_mass / (body_mass + robot_mass)


def contact_energy(force: float, stiffness: float) -> float:
    """
    Return the energy (J) that compresses a body region until it pushes back with ``force``.

    :param force: peak (N)
    :param stiffness: k (N/m)
    :raises InputError: a negative or non-finite force, stiffness not > 0
    """
    check_not_negative(force=force)
    check_positive(stiffness=stiffness)
    return force**2 / (2.0 * stiffness)


def time_to_force(force: float, stiffness: float, speed: float) -> float:
    """
    Return how soon (s) a force is reached when the robot keeps its speed into the body.

    A few milliseconds: nothing that answers over ROS can limit the first impact.

    :raises InputError: a negative or non-finite force, stiffness or speed not > 0
    """
    check_not_negative(force=force)
    check_positive(stiffness=stiffness, speed=speed)
    return force / stiffness / speed


def permitted_speed(region: RegionLimits, robot_mass: float, contact: Contact,
                    area: float | None = None) -> PermittedSpeed:
    """
    Return how fast the robot may be relative to a body region when they touch.

    A clamped body cannot recoil: its mass counts as infinite and quasi-static limits hold. That is
    an engineering reading, so that nobody uses transient limits for clamping.

    :param robot_mass: effective mass m_R (kg)
    :param area: contact area (m2), the smaller of robot's and body's; None leaves pressure out
    :raises InputError: a mass or an area that is not > 0 or not finite
    """
    check_positive(robot_mass=robot_mass)
    is_clamped = contact is Contact.CLAMPED
    moved = robot_mass if is_clamped else reduced_mass(region.mass, robot_mass)
    impedance = math.sqrt(moved * region.stiffness)
    by_pressure = None
    if area is not None:
        check_positive(area=area)
        by_pressure = region.pressure_limit(contact) * area / impedance
    return PermittedSpeed(
        by_force=region.force_limit(contact) / impedance, by_pressure=by_pressure,
        by_energy=None if is_clamped else math.sqrt(2.0 * region.transient_energy / moved))
