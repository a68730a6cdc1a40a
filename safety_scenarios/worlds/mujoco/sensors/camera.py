# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A camera on the robot: what it sees, as pictures, and what they are taken with."""

from collections.abc import Sequence
import math
from typing import Any

import mujoco
import numpy
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world.block import Camera, CAMERA_INFO, IMAGE, Senses
from safety_scenarios.scenario.world.footprint import Placed
from safety_scenarios.scenario.world.mounted_frame import MountedFrame
from safety_scenarios.scenario.world.robot_file import Mount
from safety_scenarios.worlds.mujoco.entities import Entity
from safety_scenarios.worlds.mujoco.sensors.offscreen import Offscreen

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
        visual.global_.fovy = math.degrees(
            2 * math.atan(camera.height / 2 / camera.focal_length))
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
        seen = self._seen(robot)
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

    def _seen(self, robot: Placed) -> Any:
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
