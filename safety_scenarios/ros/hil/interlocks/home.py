# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where the robot began: each trial begins there, standing still."""

from safety_scenarios.ros.hil.interlocks.feedback import apart, motion_of, Pose, pose_of
from safety_scenarios.ros.hil.interlocks.interlock import MS, Word

_STILL, _STILL_TURN = 0.02, 0.05
"""m/s (or of the fastest joint) and rad/s below which nobody sees it move."""
_STILL_NS = 500 * MS
"""So long it has to stand."""


class Home:
    """
    Says whether the robot is back where the first trial began.

    :param word: of the robot's feedback
    :param within_m: how near it has to be
    :param within_rad: by heading, or by each joint
    """

    def __init__(self, word: Word, within_m: float, within_rad: float) -> None:
        self._word, self._within_m, self._within_rad = word, within_m, within_rad
        self._pose: Pose | None = None
        self._still_ns: int | None = None

    def why_not(self, now_ns: int) -> str | None:
        """Return what the robot does instead; the first place where it stands is its start."""
        lacking = self._word.why_not(now_ns)
        topic = self._word.topic
        if lacking is not None:
            return lacking
        speed, turn = motion_of(self._word.message)
        if not (speed <= _STILL and turn <= _STILL_TURN):
            self._still_ns = None
            return f'got a speed of {speed:g} and a turn of {turn:g} on {topic}, expected rest'
        self._still_ns = now_ns if self._still_ns is None else self._still_ns
        if now_ns - self._still_ns < _STILL_NS:
            return f'got a robot at rest on {topic} just now, expected {_STILL_NS / MS:g} ms of it'
        here = pose_of(self._word.message)
        if here is None:
            return f'got no place or positions on {topic}, expected Odometry or JointState'
        if self._pose is None:
            self._pose = here
        away, turned = apart(here, self._pose)
        if not (away <= self._within_m and turned <= self._within_rad):
            return (f'got {away:.2f} m and {turned:.2f} rad from the start, by {topic}, expected '
                    f'{self._within_m:g} m and {self._within_rad:g} rad at most')
        return None

    def begin(self) -> None:
        """Look anew: it has moved meanwhile."""
        self._still_ns = None
