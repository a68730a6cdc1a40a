# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A camera on the robot, and where its pictures are drawn without a screen."""

from collections.abc import Sequence
from contextlib import suppress
import ctypes
import ctypes.util
from importlib import import_module
import math
import os
import sys
from typing import Any
import weakref

import mujoco
import numpy
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.companion_files import Mount
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world import Camera, CAMERA_INFO, IMAGE, MountedFrame, Senses
from safety_scenarios.scenario.world_body import Placed
from safety_scenarios.worlds.mujoco.entities import Entity
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
            raise _refused(f'{way}, which does not draw correctly')

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


_NEAR_M, _FAR_M = 0.02, 100.0
"""What is nearer or farther is in no picture."""
_MOST = 20_000
"""Surfaces in one picture: more than any scene has."""
_AMBIENT, _DIFFUSE = 0.45, 0.5
"""Light from everywhere, and light from where the camera is; no lamp throws a shadow."""
_SPECK, _SPECK_COLOUR = 0.06, (58, 52, 44)
"""Radius of a speck of dirt on the lens, as a share of the picture's width; and its colour."""


class PictureTaker:
    """
    Draws what is in front of the robot, as it is there: whatever topics stimuli show it on.

    Pictures hold their pixels as ``bytes``, row by row from the top, red, green and blue.

    :param model: of the scene; how it is drawn is set in it, and nothing that moves
    :param mount: where on the robot the camera is, and where it looks
    :param entities: that stimuli may put there
    :param random: draws where the lens is dirty
    :raises InputError: nothing here can draw
    """

    def __init__(self, model: Any, data: Any, camera: Camera, mount: Mount, senses: Senses,
                 entities: Sequence[Entity], random: numpy.random.Generator) -> None:
        self._model, self._data, self._camera, self._mount = model, data, camera, mount
        self._entities, self._light = entities, 1.0 - senses.darkness
        visual = model.vis
        visual.global_.offwidth, visual.global_.offheight = camera.width, camera.height
        visual.global_.fovy = math.degrees(2 * math.atan(camera.height / 2 / camera.focal_length))
        visual.quality.offsamples = visual.quality.shadowsize = 0
        model.stat.extent, visual.map.znear, visual.map.zfar = 1.0, _NEAR_M, _FAR_M
        visual.headlight.ambient[:], visual.headlight.diffuse[:] = _AMBIENT, _DIFFUSE
        visual.headlight.specular[:] = 0.0
        self._scene = mujoco.MjvScene(model, maxgeom=_MOST)
        self._shows, self._eye = mujoco.MjvOption(), mujoco.MjvCamera()
        self._shows.geomgroup[:], self._shows.sitegroup[:] = 1, 0
        self._eye.distance = 1.0
        self._specks = _specks(camera, senses.lens_dirt, random)
        self._drawn_on = Offscreen(model, camera.width, camera.height)

    def close(self) -> None:
        """Give up what it draws on; calling it again does nothing."""
        self._drawn_on.close()

    def picture(self, robot: Placed) -> Message:
        """Return what it sees, without a stamp; surfaces have to be where they are by now."""
        seen = self._render(robot)
        if self._light < 1.0:
            seen = numpy.rint(seen * self._light).astype(numpy.uint8)
        if self._specks is not None:
            seen = seen.copy()
            seen[self._specks] = _SPECK_COLOUR
        camera = self._camera
        return Message.model_construct(type=IMAGE, data={
            'header': {'frame_id': camera.frame}, 'height': camera.height, 'width': camera.width,
            'encoding': 'rgb8', 'is_bigendian': 0, 'step': 3 * camera.width,
            'data': seen.tobytes()})

    def info(self) -> Message:
        """Return the camera's own numbers: no distortion, the middle of the picture ahead."""
        camera, length = self._camera, self._camera.focal_length
        across, down = (camera.width - 1) / 2, (camera.height - 1) / 2
        return Message.model_construct(type=CAMERA_INFO, data={
            'header': {'frame_id': camera.frame}, 'height': camera.height, 'width': camera.width,
            'distortion_model': 'plumb_bob', 'd': (0.0,) * 5,
            'k': (length, 0.0, across, 0.0, length, down, 0.0, 0.0, 1.0),
            'r': (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
            'p': (length, 0.0, across, 0.0, 0.0, length, down, 0.0, 0.0, 0.0, 1.0, 0.0)})

    def _render(self, robot: Placed) -> Any:
        x, y, heading = robot
        mount, eye = self._mount, self._eye
        cos, sin = math.cos(heading), math.sin(heading)
        turned, down = heading + mount.yaw, mount.pitch
        eye.azimuth, eye.elevation = math.degrees(turned), -math.degrees(down)
        eye.lookat[:] = (x + cos * mount.x - sin * mount.y + math.cos(turned) * math.cos(down),
                         y + sin * mount.x + cos * mount.y + math.sin(turned) * math.cos(down),
                         mount.height - math.sin(down))
        absent = [geom for entity in self._entities for geom in entity.unpictured]
        colours = self._model.geom_rgba
        before = colours[absent, 3]
        colours[absent, 3] = 0.0
        mujoco.mjv_updateScene(self._model, self._data, self._shows, None, eye,
                               mujoco.mjtCatBit.mjCAT_ALL.value, self._scene)
        colours[absent, 3] = before  # scanners see by these
        return self._drawn_on.draw(self._scene)


def camera_frame(name: str, mount: Mount) -> MountedFrame:
    """Return the optical frame of a camera on the robot: z ahead, x to the right and y down."""
    return MountedFrame(
        frame=name, translation=(mount.x, mount.y, mount.height),
        rotation=(-math.pi / 2 - mount.pitch, 0.0, mount.yaw - math.pi / 2))


def _specks(camera: Camera, share: float, random: numpy.random.Generator) -> Any:
    """Return which pixels dirt covers, None if none: round specks, as many as it takes."""
    wanted = round(share * camera.width * camera.height)
    if not wanted:
        return None
    covered = numpy.zeros((camera.height, camera.width), bool)
    down, across = numpy.mgrid[:camera.height, :camera.width]
    radius = max(1.0, _SPECK * camera.width)
    missing = wanted
    while missing > 0:
        left = numpy.argwhere(~covered)
        y, x = left[random.integers(len(left))]
        new = ((across - x)**2 + (down - y)**2 <= radius**2) & ~covered
        places = numpy.flatnonzero(new)[:missing]
        covered.flat[places] = True
        missing -= len(places)
    return covered
