# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo is imported here first: its physics needs no OpenGL, whatever is asked of that."""

from importlib import import_module
import os

VARIABLE = 'MUJOCO_GL'
"""Which OpenGL MuJoCo is to draw with."""
_WITHOUT = 'disable'


def load_physics() -> None:
    """
    Import MuJoCo, without OpenGL where it cannot be had as ``MUJOCO_GL`` asks.

    Whoever draws looks at the variable again (``camera.py``), and says so then: a robot
    without a camera needs none.

    :raises ImportError: MuJoCo is not installed
    """
    asked = os.environ.get(VARIABLE)
    try:
        import_module('mujoco')
    except ImportError:
        raise
    except Exception:  # RuntimeError, and what PyOpenGL raises for libraries that are not there
        if asked is None:
            raise
        os.environ[VARIABLE] = _WITHOUT
        try:
            import_module('mujoco')
        finally:
            os.environ[VARIABLE] = asked
