# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The robot stays near where its trial began."""

from safety_scenarios.ros.hil.interlocks.feedback import apart, HEADING, Pose, pose_of
from safety_scenarios.ros.hil.interlocks.interlock import Interlock, Word


class Travel(Interlock):
    """
    Holds while a mobile base is within its cap of where its trial began.

    :param word: of the robot's feedback
    :param cap_m: how far it may get
    """

    name = 'travel'

    def __init__(self, word: Word, cap_m: float) -> None:
        self._word, self._cap_m = word, cap_m
        self._began: Pose | None = None

    def begin(self) -> None:
        """Take the place where the robot is now for its start."""
        self._began = None

    def why_not(self, now_ns: int) -> str | None:
        """Return how far it has got, if too far, or that nobody knows."""
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        here = pose_of(self._word.message)
        if here is None or HEADING not in here:
            return (f'got no place of a mobile base on {self._word.topic}, expected '
                    f'nav_msgs/msg/Odometry. Set hil.without for an arm')
        if self._began is None:
            self._began = here
        away, _ = apart(here, self._began)
        if not away <= self._cap_m:
            return (f'got {away:g} m from where the trial began, by {self._word.topic}, expected '
                    f'{self._cap_m:g} m at most')
        return None
