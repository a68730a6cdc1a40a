# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The robot moves no faster than it may while people are near."""

from safety_scenarios.ros.hil.interlocks.feedback import motion_of
from safety_scenarios.ros.hil.interlocks.interlock import Interlock, Word


class Speed(Interlock):
    """
    Holds while the observed speed and turn are within their caps; NaN is not.

    :param word: of the robot's feedback
    :param speed_cap: m/s, or of the fastest joint
    :param turn_cap: rad/s
    """

    name = 'speed'

    def __init__(self, word: Word, speed_cap: float, turn_cap: float) -> None:
        self._word, self._speed_cap, self._turn_cap = word, speed_cap, turn_cap

    def why_not(self, now_ns: int) -> str | None:
        """Return which cap is broken, or that nobody knows."""
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        speed, turn = motion_of(self._word.message)
        if not speed <= self._speed_cap:
            return f'got {speed:g} on {self._word.topic}, expected {self._speed_cap:g} m/s at most'
        if not turn <= self._turn_cap:
            return (f'got a turn of {turn:g} on {self._word.topic}, expected {self._turn_cap:g} '
                    f'rad/s at most')
        return None
