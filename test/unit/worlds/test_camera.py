# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A camera shows what is there, where its own numbers say, or says that it cannot."""

import ctypes.util
import math
import os
from pathlib import Path
import subprocess
import sys
from typing import Any, ClassVar

import numpy
import pytest
from safety_scenarios import ControllerPlugin, run
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.companion_files import Mount
from safety_scenarios.scenario.message import Command
from safety_scenarios.scenario.stimulus import Silence, StreamFault
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.scenario.world import MountedFrame
from safety_scenarios.worlds.mujoco.camera import camera_frame
from unit.worlds.driven import Drive, drive, PERSON_STEPS_NEAR, twist
from unit.worlds.test_senses import CONTEXT, messages, stimulus

pytestmark = pytest.mark.slow
HAS_GL = any(map(ctypes.util.find_library, ('EGL', 'OSMesa')))
EXAMPLE = Path(__file__).resolve().parents[3] / 'examples' / 'camera' / 'looks.py'
draws = pytest.mark.skipif(not HAS_GL, reason='neither EGL nor OSMesa is on this machine')
BOX = {'name': 'box', 'at': [4.0, -0.6], 'size': [0.5, 0.8, 0.9], 'heading': 0.4}
CLOTHES = {'plain': (0.84, 0.37, 0.0), 'high_visibility': (0.8, 1.0, 0.0),
           'dark': (0.1, 0.1, 0.12)}


def seen(world: Any, **more: Any) -> Drive:
    return drive({'camera': {}, 'robot': 'small_diff_drive', **world}, **more)


def pixels(data: Any) -> Any:
    return numpy.frombuffer(data['data'], numpy.uint8).reshape(data['height'], data['width'], 3)


def picture(found: Drive) -> Any:
    return pixels(messages(found, 'image')[0])


def differs(one: Any, other: Any) -> Any:
    """Return top, left, bottom and right of where two pictures differ."""
    down, across = numpy.nonzero((one != other).any(axis=2))
    return down.min(), across.min(), down.max(), across.max()


def turned(by: tuple[float, float, float, float], point: Any) -> Any:
    """Return a point of a frame in its parent, by the frame's quaternion x, y, z, w."""
    vector, scalar = numpy.array(by[:3]), by[3]
    return point + 2 * numpy.cross(vector, numpy.cross(vector, point) + scalar * point)


def projected(corner: Any, start: dict[str, float], frame: MountedFrame, k: Any) -> Any:
    """Return the pixel of a place in the world, as a user works it out of tf and camera_info."""
    heading = start.get('heading', 0.0)
    east, north, up = corner - numpy.array([start.get('x', 0.0), start.get('y', 0.0), 0.0])
    on_robot = numpy.array([math.cos(heading) * east + math.sin(heading) * north,
                            math.cos(heading) * north - math.sin(heading) * east, up])
    x, y, z, w = frame.quaternion
    ahead = turned((-x, -y, -z, w), on_robot - numpy.array(frame.translation))
    across, down, far = numpy.array(k).reshape(3, 3) @ ahead
    return down / far, across / far


@draws
@pytest.mark.parametrize(('start', 'mounted'), [
    ({}, None),
    ({'x': 0.3, 'y': 0.2, 'heading': 0.2},
     {'x': 0.1, 'y': -0.05, 'height': 1.1, 'yaw': -0.5, 'pitch': 0.25})])
def test_a_box_is_within_a_pixel_of_where_camera_info_and_tf_say(start, mounted):
    senses = {} if mounted is None else {'mounts': {'image': mounted}}
    world = {'start': start, 'senses': senses}
    without, with_box = seen(world), seen({**world, 'boxes': [BOX]})
    info = messages(with_box, 'camera_info')[0]
    of_file = {'x': 0.28, 'height': 0.3}
    frame = camera_frame(info['header']['frame_id'],
                         Mount(kind='camera', **(of_file if mounted is None else mounted)))
    sizes = numpy.array([[x, y, z] for x in (-0.25, 0.25) for y in (-0.4, 0.4) for z in (0, 0.9)])
    cos, sin = math.cos(BOX['heading']), math.sin(BOX['heading'])
    corners = sizes @ numpy.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]]) \
        + numpy.array([*BOX['at'], 0])
    places = numpy.array([projected(corner, start, frame, info['k']) for corner in corners])
    shown = differs(picture(without), picture(with_box))
    assert shown == pytest.approx((*places.min(axis=0), *places.max(axis=0)), abs=1.0)
    assert shown[2] - shown[0] > 30 and shown[3] - shown[1] > 40


@draws
def test_a_person_is_in_the_next_picture_and_gone_from_the_one_after_going():
    person = stimulus('person', topic='human_pose', distance=2.0, bearing=0.1)
    found = seen({}, stimuli=(person,))
    empty = picture(found)
    assert found.world.apply('human_pose', person.intent(CONTEXT), True)
    there = picture(found)
    found.world.withdraw('human_pose')
    assert (picture(found) == empty).all()
    top, left, bottom, right = differs(there, empty)
    # as wide as both arms and as low as the soles of somebody 2 m away, 1.72 m from the lens
    assert right - left == pytest.approx(0.5 / 1.72 * 234, abs=4)
    assert bottom == pytest.approx(119.5 + 0.29 / 1.72 * 234, abs=4)
    assert top == 0 and (left + right) / 2 < 159.5  # taller than the picture, and to the left


@draws
def test_clothes_have_their_colour_and_darkness_takes_its_share_of_the_light():
    lit = {}
    for clothing, colour in CLOTHES.items():
        person = stimulus('person', distance=2.0, figure={'clothing': clothing})
        for darkness in (0.0, 0.6):
            found = seen({'senses': {'darkness': darkness}}, stimuli=(person,))
            empty = picture(found)
            assert found.world.apply('scan', person.intent(CONTEXT), True)
            there = picture(found)
            lit[clothing, darkness] = there[(there != empty).any(axis=2)].mean(axis=0)
        shade = lit[clothing, 0.0] / 255
        assert shade == pytest.approx(numpy.array(colour) * shade.max() / max(colour), abs=0.03)
        assert lit[clothing, 0.6] == pytest.approx(0.4 * lit[clothing, 0.0], abs=1.0)
    assert lit['high_visibility', 0.0].sum() > 5 * lit['dark', 0.0].sum()


@draws
def test_dirt_covers_its_share_of_the_picture_and_a_seed_draws_the_same_again():
    clean, dirty, again = (picture(seen({'senses': {'lens_dirt': share}}))
                           for share in (0.0, 0.15, 0.15))
    assert (dirty == again).all()
    assert (dirty != clean).any(axis=2).mean() == pytest.approx(0.15, abs=1e-4)


@draws
def test_a_frozen_picture_is_held_numbers_go_and_a_silent_camera_is_silent():
    found = seen({}).world

    def next_one(topic: str) -> Any:
        for _ in range(100):
            due_ns = found.due_ns
            found.advance(due_ns)
            for sensed in found.sensed(due_ns):
                if sensed.name == topic:
                    return sensed
        return None
    first = next_one('image')
    assert found.apply('image', StreamFault(topic='image', fault='frozen'), True)
    assert next_one('image').is_held and next_one('image').message == first.message
    assert found.apply('image', StreamFault(topic='image', fault='nan'), True)
    assert set(next_one('image').message.data['data']) == {0}
    assert found.apply('image', Silence(topic='image', messages=None), True)
    assert next_one('image') is None
    assert all(map(math.isfinite, next_one('camera_info').message.data['k']))
    found.withdraw('image')
    assert next_one('image').message == first.message


@draws
def test_the_world_is_the_same_with_and_without_a_camera():
    person = stimulus('person', distance=3.0, speed=1.0)
    told = []
    for world in ({}, {'camera': {'rate_hz': 10.0}}):
        found = drive({**world, 'senses': {'range_noise': 0.01}}, stimuli=(person,))
        assert found.world.apply('scan', person.intent(CONTEXT), True)
        scans = [data['ranges'] for data in messages(found, 'scan', 20, twist(0.5))]
        told.append((scans, found.world.states()))
    assert told[0] == told[1]


@draws
@pytest.mark.parametrize(('darkness', 'verdict'), [(0.0, Verdict.PASS), (0.8, Verdict.FAIL)])
def test_who_only_looks_at_pictures_stops_for_a_person_unless_it_is_dark(
        tmp_path, darkness, verdict):
    class Looks(ControllerPlugin):
        """Stops while there is much orange in the picture."""

        inputs: ClassVar[Any] = {'image': 'sensor_msgs/msg/Image'}

        def decide(self, observation: Any) -> Command:
            image = observation.readings.get('image')
            if image is None:
                return Command(velocity=(0.5, 0.0))
            seen = numpy.array(image.message.at('data'), numpy.uint8).reshape(-1, 3).astype(int)
            orange = (seen[:, 0] > 100) & (seen[:, 2] < 20)
            return Command(velocity=(0.0 if orange.mean() > 0.03 else 0.5, 0.0))
    text = PERSON_STEPS_NEAR.read_text(encoding='utf-8').replace('[1000, 17000]', '[500, 700]')
    path = Path(tmp_path) / 'seen.yaml'
    path.write_text(text.replace('\nros:\n', (
        f'\nros:\n  world: {{required: true, camera: {{width: 64, height: 48}}, '
        f'senses: {{darkness: {darkness}}}}}\n')), encoding='utf-8')
    done = run(path, controller=Looks, link='simulated', output=tmp_path / 'out')
    assert [trial.verdict for trial in done.trials] == [verdict]


@draws
@pytest.mark.thorough
def test_the_controller_of_the_examples_tells_by_pictures_alone_who_lies_in_the_way():
    made: dict[str, Any] = {'__name__': 'looks'}
    exec(EXAMPLE.read_text(encoding='utf-8'), made)
    found = {one.trial_id.partition('.')[0]: one.verdict for one in run(
        'SCN-R-222', 'SCN-R-D-222', controller=made['Looks'], link='simulated').trials}
    assert found == {'SCN-R-222': Verdict.PASS, 'SCN-R-D-222': Verdict.PASS}


def test_where_nothing_draws_trials_with_a_camera_say_what_to_install_and_others_go_on(
        monkeypatch):
    monkeypatch.setenv('MUJOCO_GL', 'disable')
    looked, other = run('SCN-R-D-222', 'SCN-R-D-101', link='simulated').trials
    assert looked.verdict is Verdict.ERROR and 'libegl1' in looked.reason
    assert other.verdict is Verdict.PASS


def test_what_mujoco_does_not_know_of_opengl_keeps_no_robot_without_a_camera_from_driving():
    code = ('from safety_scenarios.worlds.mujoco.loading import load_physics; load_physics(); '
            'from safety_scenarios.worlds.mujoco import world; '
            'from safety_scenarios.worlds.mujoco import camera; '
            'from safety_scenarios.errors import InputError\n'
            'try:\n    camera.can_draw()\nexcept InputError as error:\n    print(error)')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          env={**os.environ, 'MUJOCO_GL': 'bogus'})
    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout.startswith('ros.world.camera: got MUJOCO_GL=bogus, expected')


def test_where_nothing_draws_the_camera_is_refused_and_no_black_picture_comes(monkeypatch):
    monkeypatch.setenv('MUJOCO_GL', 'disable')
    with pytest.raises(InputError, match=r'ros\.world\.camera: got MUJOCO_GL=disable, expected '
                                         r'OpenGL that draws without a screen.*Install'):
        seen({})


@pytest.mark.parametrize(('senses', 'told'), [
    ({'mounts': {'scan': {'pitch': 0.2}}}, 'got pitch for scan, expected none'),
    ({'mounts': {'rear': {}}}, 'got rear, expected the topic of a scanner: scan; or of the '
                               'camera: image')])
def test_a_camera_alone_looks_down_and_nothing_else_is_mounted(senses, told):
    with pytest.raises(InputError, match=told):
        seen({'senses': senses})


@draws
def test_the_frames_of_sensors_are_told_once_and_none_for_what_is_in_the_robots_own():
    shown = tuple(stimulus('person', topic=topic, distance=4.0, frame=frame)
                  for topic, frame in (('scan', 'laser'), ('rear/scan', 'rear'),
                                       ('low/scan', 'laser'), ('human_pose', 'tracker')))
    mounts = {'rear/scan': {'x': -0.3, 'height': 0.4, 'yaw': math.pi}}
    told = {one.frame: one for one in seen({'senses': {'mounts': mounts}},
                                           stimuli=shown).world.frames}
    assert sorted(told) == ['camera_optical_frame', 'laser', 'rear']
    assert told['rear'].translation == (-0.3, 0.0, 0.4)
    assert told['rear'].rotation == (0.0, 0.0, math.pi)
    assert all(one.parent == 'base_link' for one in told.values())
    assert not list(drive({}).world.frames)
