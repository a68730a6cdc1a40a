# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""There is enough charge to stop, hold and drive back."""

from safety_scenarios.ros.hil.interlocks.interlock import Interlock, Word


class Battery(Interlock):
    """
    Holds while the charge is known and above its floor.

    :param word: of the battery
    :param floor: least charge (0 to 1)
    """

    name = 'battery'

    def __init__(self, word: Word, floor: float) -> None:
        self._word, self._floor = word, floor

    def why_not(self, now_ns: int) -> str | None:
        """Return the charge that is too low, or that nobody knows it."""
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        charge = self._word.message.percentage
        if not self._floor <= charge <= 1.0:
            return (f'got percentage {charge:g} on {self._word.topic}, expected '
                    f'{self._floor:g} to 1')
        return None
