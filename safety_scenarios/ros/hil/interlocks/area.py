# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Somebody, or something, says that nobody is in the area."""

from safety_scenarios.ros.hil.interlocks.interlock import Interlock, Word


class AreaClear(Interlock):
    """
    Holds while the area is said to be clear, and was so a moment ago.

    :param word: of whoever looks
    """

    name = 'area'

    def __init__(self, word: Word) -> None:
        self._word = word

    def why_not(self, now_ns: int) -> str | None:
        """Return what is said instead."""
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        said = getattr(self._word.message, 'data', None)
        return None if said is True else (
            f'got {said!r} on {self._word.topic}, expected true: nobody is in the area')
