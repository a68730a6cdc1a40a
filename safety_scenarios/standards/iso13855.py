# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
ISO 13855: how far a safeguard must stand from the hazard that it stops.

``S = K T + C``: approach speed, overall system stopping performance, intrusion distance. T is from
the actuation of the sensing function until the hazard has ended, measured or worst case. Metres
and seconds here; the formulas are published in millimetres.

Source: ISO 13855:2010 as the manuals of protective devices quote it; :func:`distance_2024` is the
form of the 2024 edition, whose tables must come from a copy of it.
"""

from safety_scenarios.errors import InputError
from safety_scenarios.standards._inputs import check_not_negative, check_positive

_WALK_MM_S, _HAND_MM_S = 1600.0, 2000.0
"""Speed of walking, and of a hand that reaches (mm/s)."""
_SWITCH_MM = 500.0  # up to this distance a hand is assumed
_LEAST_MM = 100.0
"""No safeguard may be nearer (mm)."""
_FINE_MM, _COARSE_MM = 40.0, 70.0
"""Resolutions up to which a hand, or an arm, is detected (mm)."""
_INCH_MM = 25.4
"""mm."""
_US_INCH_S = 63.0
"""Hand speed of the American rule, in inches a second."""
_US_COARSEST_MM = 64.0
"""Coarsest resolution for which the American rule has a formula (mm)."""
_ROUNDING_MM = 1e-9  # 0.04 * 1000 is not 40


def light_curtain(stopping_time: float, resolution: float) -> float:
    """
    Return the distance (m) of a light curtain that is approached at a right angle.

    Up to 40 mm resolution a hand counts (2 m/s) as long as the result is at most 0.5 m, and beyond
    that a walking person (1.6 m/s), but not less than 0.5 m; never less than 0.1 m. From there to
    70 mm a walking person who reaches 0.85 m through it.

    :param stopping_time: T (s)
    :param resolution: detection capability d (m), at most 0.07
    :raises InputError: a negative or non-finite input, or a coarser resolution
    """
    check_not_negative(stopping_time=stopping_time)
    check_positive(resolution=resolution)
    d_mm = resolution * 1000.0
    if d_mm > _COARSE_MM + _ROUNDING_MM:
        raise InputError(f'resolution: got {resolution} m, expected at most 0.07 m. Coarser '
                         f'devices count as separate beams')
    if d_mm > _FINE_MM + _ROUNDING_MM:
        return _walking(stopping_time, 850.0)
    reach_mm = max(0.0, 8.0 * (d_mm - 14.0))
    near_mm = _HAND_MM_S * stopping_time + reach_mm
    if near_mm <= _SWITCH_MM:
        return max(near_mm, _LEAST_MM) / 1000.0
    return max(_WALK_MM_S * stopping_time + reach_mm, _SWITCH_MM) / 1000.0


def vertical_scanner(stopping_time: float) -> float:
    """
    Return the distance (m) of a scanner whose field is approached at a right angle.

    :param stopping_time: T (s)
    :raises InputError: a negative or non-finite input
    """
    check_not_negative(stopping_time=stopping_time)
    return _walking(stopping_time, 850.0)


def beams(stopping_time: float, *, single: bool) -> float:
    """
    Return the distance (m) of separate light beams.

    :param stopping_time: T (s)
    :param single: one beam (intrusion 1.2 m) and not several (0.85 m)
    :raises InputError: a negative or non-finite input
    """
    check_not_negative(stopping_time=stopping_time)
    return _walking(stopping_time, 1200.0 if single else 850.0)


def two_hand_control(stopping_time: float, *, encroachment_prevented: bool) -> float:
    """
    Return the distance (m) of a two-hand control device, never less than 0.1 m.

    :param stopping_time: T (s)
    :param encroachment_prevented: a shroud keeps the hands out while the device is actuated, so
        that the 0.25 m of intrusion don't count
    :raises InputError: a negative or non-finite input
    """
    check_not_negative(stopping_time=stopping_time)
    return max(_walking(stopping_time, 0.0 if encroachment_prevented else 250.0),
               _LEAST_MM / 1000.0)


def parallel_field(stopping_time: float, height: float, resolution: float) -> float:
    """
    Return the depth (m) of a field along the floor, such as that of a scanner.

    :param stopping_time: T (s)
    :param height: of the field over the floor H (m), at most 1 m and, so that nobody creeps
        beneath it unseen, at least 15 (d - 50 mm)
    :param resolution: detection capability d (m)
    :raises InputError: a negative or non-finite input, or a height outside its limits
    """
    check_not_negative(stopping_time=stopping_time, height=height)
    check_positive(resolution=resolution)
    h_mm = height * 1000.0
    lowest_mm = max(0.0, 15.0 * (resolution * 1000.0 - 50.0))
    if not lowest_mm - _ROUNDING_MM <= h_mm <= 1000.0 + _ROUNDING_MM:
        raise InputError(f'height: got {height} m, expected {lowest_mm / 1000:.4g} to 1 m at a '
                         f'resolution of {resolution} m')
    return _walking(stopping_time, max(1200.0 - 0.4 * h_mm, 850.0))


def distance_2024(*, approach_speed: float, stopping_time: float, reach: float,
                  supplement: float) -> float:
    """
    Return the distance (m) in the form of the 2024 edition, ``K T + D_DS + Z``.

    :param approach_speed: K (m/s)
    :param stopping_time: T (s)
    :param reach: D_DS, reach distance of the device (m)
    :param supplement: Z, for uncertainties (m)
    :raises InputError: a negative or non-finite input
    """
    check_not_negative(approach_speed=approach_speed, stopping_time=stopping_time, reach=reach,
                       supplement=supplement)
    return approach_speed * stopping_time + reach + supplement


def us_penetration(resolution: float) -> float:
    """
    Return how deep (m) a hand gets through a light curtain by the US formula.

    :param resolution: smallest object that is detected (m), at most 0.064
    :raises InputError: not > 0, not finite, or coarser
    """
    check_positive(resolution=resolution)
    d_mm = resolution * 1000.0
    if d_mm > _US_COARSEST_MM + _ROUNDING_MM:
        raise InputError(f'resolution: got {resolution} m, expected at most 0.064 m, up to which '
                         f'the formula holds')
    return max(0.0, 3.4 * (d_mm - 6.875)) / 1000.0


def us_light_curtain(stopping_time: float, resolution: float) -> float:
    """
    Return the distance (m) of a light curtain by the US formula, 63 inch/s and penetration.

    Source: ANSI B11 in the form of Rockwell's catalogue.

    :param stopping_time: of machine, control, device and brake monitor together (s)
    :param resolution: smallest object that is detected (m), at most 0.064
    :raises InputError: a negative or non-finite input, or a coarser resolution
    """
    check_not_negative(stopping_time=stopping_time)
    return _US_INCH_S * _INCH_MM / 1000.0 * stopping_time + us_penetration(resolution)


def _walking(stopping_time: float, intrusion_mm: float) -> float:
    return (_WALK_MM_S * stopping_time + intrusion_mm) / 1000.0
