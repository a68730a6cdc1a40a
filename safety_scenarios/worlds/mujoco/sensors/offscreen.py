# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Where pictures are drawn without a screen: OpenGL by EGL, or by OSMesa."""

from contextlib import suppress
import ctypes
import ctypes.util
from importlib import import_module
import os
import sys
from typing import Any
import weakref

import mujoco
import numpy
from safety_scenarios.errors import InputError
from safety_scenarios.worlds.mujoco.loading import VARIABLE

_WAYS = ('egl', 'osmesa')
_EGL_DEVICES = 'eglQueryDevicesEXT'
_COLOUR = (51, 102, 153)
"""Of what is drawn to see that anything is: none that a memory which nobody wrote to has."""
_DO = ('Install one of them, such as libegl1 with libgl1-mesa-dri, or libosmesa6; correct the '
       'variable; or leave ros.world.camera out')


class Offscreen:
    """
    An OpenGL context of its own, and one model's textures and meshes in it.

    It belongs to the thread that makes it.

    :param model: its ``vis.global_`` says how large a picture may be
    :raises InputError: there is no OpenGL here that draws
    """

    def __init__(self, model: Any, width: int, height: int) -> None:
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        self._pixels = numpy.zeros((height, width, 3), numpy.uint8)
        way = _way()
        try:
            self._context = _kind(way)(width, height)
            self._context.make_current()
            self._drawer = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_50.value)
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._drawer)
        except Exception as error:  # PyOpenGL raises several kinds for what a machine lacks
            raise _refused(f'{way}, which fails: {type(error).__name__}: '
                           f'{" ".join(str(error).split())}') from None
        self._free = weakref.finalize(self, _freed, self._context, self._drawer)
        mujoco.mjr_rectangle(self._rectangle, *(value / 255 for value in _COLOUR), 1.0)
        if (self._read() != _COLOUR).any():
            self.close()
            raise _refused(f'{way}, which does not draw what it is told')

    def draw(self, scene: Any) -> Any:
        """Return a scene as an array of height x width x 3 bytes, its first row the top one."""
        self._context.make_current()
        mujoco.mjr_render(self._rectangle, scene, self._drawer)
        return self._read()[::-1]

    def close(self) -> None:
        """Give up the context; calling it again does nothing."""
        self._free()

    def _read(self) -> Any:
        mujoco.mjr_readPixels(self._pixels, None, self._rectangle, self._drawer)
        return self._pixels


def can_draw() -> None:
    """
    See that pictures can be drawn here.

    :raises InputError: they cannot
    """
    Offscreen(mujoco.MjSpec().compile(), 16, 16).close()


def _freed(context: Any, drawer: Any) -> None:
    with suppress(Exception):  # at the end of the process its display may be gone before
        context.make_current()
        drawer.free()
        context.free()


def _way() -> str:
    """Return how to get a context: as MUJOCO_GL says, or whichever of the two is there."""
    asked = os.environ.get(VARIABLE, '').strip().lower()
    if asked in _WAYS:
        return asked
    if asked or sys.platform != 'linux':
        raise _refused(f'{VARIABLE}={asked}' if asked else sys.platform)
    if _has_egl():
        return 'egl'
    if ctypes.util.find_library('OSMesa'):
        return 'osmesa'
    raise _refused('neither a device of EGL nor the library OSMesa')


def _has_egl() -> bool:
    """Return whether EGL has a device to draw on; Mesa has one without a graphics card too."""
    found = ctypes.util.find_library('EGL')
    if found is None:
        return False
    try:
        library = ctypes.CDLL(found)
        library.eglGetProcAddress.restype = ctypes.c_void_p
        address = library.eglGetProcAddress(_EGL_DEVICES.encode())
    except (AttributeError, OSError):
        return False
    if not address:
        return False
    count = ctypes.c_int(0)
    ask = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(address)
    return bool(ask(0, None, ctypes.byref(count))) and count.value > 0


def _kind(way: str) -> Any:
    """Return MuJoCo's class of a context; its own choice was made when it was loaded."""
    return import_module(f'mujoco.{way}').GLContext


def _refused(got: str) -> InputError:
    return InputError(f'ros.world.camera: got {got}, expected OpenGL that draws without a screen, '
                      f'by EGL or OSMesa ({VARIABLE}=egl or osmesa chooses). {_DO}')
