# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The robot says that its own protective functions are on."""

from collections.abc import Collection

from safety_scenarios.ros.hil.interlocks.interlock import Interlock, Word


class Protective(Interlock):
    """
    Holds while the robot's own word is true, or a mode in which its functions are on.

    :param word: of the robot
    :param modes: in which they are on
    """

    name = 'protective'

    def __init__(self, word: Word, modes: Collection[int]) -> None:
        self._word, self._modes = word, modes

    def why_not(self, now_ns: int) -> str | None:
        """Return what the robot says instead."""
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        message, topic = self._word.message, self._word.topic
        if type(message).__name__ == 'RobotMode':
            return (f'got RobotMode on {topic}, which says whether the robot has power, expected '
                    f'SafetyMode, which says whether its protective functions are on')
        if hasattr(message, 'mode'):
            mode = message.mode
            return None if not isinstance(mode, bool) and mode in self._modes else (
                f'got mode {mode} on {topic}, expected '
                f'{" or ".join(map(str, sorted(self._modes)))}')
        if not hasattr(message, 'data'):
            return (f'got {type(message).__name__} on {topic}, which has neither data nor mode, '
                    f'expected Bool or a message with mode')
        return None if message.data is True else f'got {message.data!r} on {topic}, expected true'
