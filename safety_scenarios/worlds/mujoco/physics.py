# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The physics of a world, which goes on where anything moves."""

from collections.abc import Sequence
from typing import Any

import mujoco


def numbers(array: Any, first: int, count: int) -> Any:
    """Return a part of an array of doubles: one by one they are read and set twice as fast."""
    return memoryview(array)[first:first + count]


class Physics:
    """
    Takes the steps of a scene, but for those that would change nothing.

    A step of a scene in which nothing moves leaves it to the bit as it was, and so does the next
    one from the same numbers. A robot stands for much of a trial. What several steps together
    leave as it was may swing meanwhile, and is only known not to change by as many again.
    """

    def __init__(self, model: Any, data: Any) -> None:
        self._model, self._data = model, data
        self._begins_with: Sequence[Any] = [memoryview(array) for array in (  # looked up once
            data.qpos, data.qvel, data.qfrc_applied, data.xfrc_applied, data.qacc_warmstart,
            data.mocap_pos, data.mocap_quat, model.body_pos, model.body_quat, model.geom_pos,
            model.geom_size, model.geom_contype, model.geom_conaffinity)]
        self._rests, self._after = b'', 1
        """With what began what has changed nothing, and how many steps; empty: there is none."""

    def step(self, steps: int, *, stands: bool) -> bool:
        """
        Go on by some steps with the forces there are; False: all is where it was.

        :param stands: nothing is known to move, so that it is worth a look
        """
        begins = self._begins() if stands else b''
        if begins and begins == self._rests and not steps % self._after:
            return False
        mujoco.mj_step(self._model, self._data, steps)
        self._rests = begins if begins and begins == self._begins() else b''
        self._after = steps
        return True

    def _begins(self) -> bytes:
        """Return all that a step begins with, and that this package ever changes."""
        return b''.join(self._begins_with)
