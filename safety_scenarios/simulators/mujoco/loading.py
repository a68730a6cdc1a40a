# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""MuJoCo is imported here first: its physics needs no OpenGL, whatever is asked of that."""

from importlib import import_module
import os

VARIABLE = 'MUJOCO_GL'
"""Which OpenGL MuJoCo is to draw with."""
_WITHOUT = 'disable'


def load_physics() -> None:
    """
    Import MuJoCo, without OpenGL where it cannot be had as ``MUJOCO_GL`` asks.

    Whoever draws looks at the variable again (``offscreen``), and says so then: a robot without a
    camera needs none.

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
