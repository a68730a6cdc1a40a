# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the simulator publishes of its camera and of its frames is what its world has."""

from contextlib import contextmanager
import ctypes.util
import threading
import time

import pytest
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from ros.campaigns import until
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.spinning import ros_context, spinning
from safety_scenarios.ros.worlds.embedded.commanders import transform_of
from safety_scenarios.ros.worlds.embedded.simulator import Simulator, SimulatorNode
from safety_scenarios.ros.worlds.simulator_link.protocol import as_json, ASK, Request, reset
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.plan import plan
from safety_scenarios.worlds.mujoco.wires import motion_message, ODOMETRY
from safety_scenarios.worlds.mujoco.world import World
from sensor_msgs.msg import CameraInfo, Image
from std_msgs.msg import String
from unit.worlds.driven import scenario

IN_STEPS = ['--ros-args', '-p', 'lockstep:=true', '-p', 'real_time_factor:=0.0',
            '-p', 'patience_s:=0.01']


@contextmanager
def simulating(domain: int):
    """Run a simulator in a thread of its own, as its process does, beside somebody who hears."""
    with ros_context(IN_STEPS, domain) as context:
        node, hearer = SimulatorNode(context=context), Node('hearer', context=context)
        ended = threading.Event()
        simulator = Simulator(node)
        thread = threading.Thread(target=simulator.run, args=(ended,))
        with spinning(node), spinning(hearer):
            thread.start()
            try:
                yield hearer
            finally:
                ended.set()
                thread.join()


@pytest.mark.dds
@pytest.mark.skipif(not any(map(ctypes.util.find_library, ('EGL', 'OSMesa'))),
                    reason='neither EGL nor OSMesa is on this machine')
def test_a_picture_comes_over_dds_to_the_byte_with_its_camera_info(domain):
    trial, = plan([scenario({'camera': {}})], controller='rule_based', trials=1, seed=0,
                  prompt=Prompt())
    heard: list = []
    with simulating(domain) as hearer:
        hearer.create_subscription(Image, 'image', heard.append, qos_profile_sensor_data)
        hearer.create_subscription(CameraInfo, 'camera_info', heard.append, 10)
        ask = hearer.create_publisher(String, ASK, qos.conversation())
        until(lambda: ask.get_subscription_count() == 1)
        ask.publish(String(data=as_json(reset('1', trial, turns=False))))
        until(lambda: hearer.count_publishers('image') == 1)
        time.sleep(0.3)  # until both ends know of each other
        ask.publish(String(data=as_json(Request(id='2', what='begin', is_new=True))))
        ask.publish(String(data=as_json(Request(id='3', what='step', step_ns=350_000_000))))
        until(lambda: len(heard) >= 4)
    picture = next(one for one in heard if isinstance(one, Image))
    info = next(one for one in heard if isinstance(one, CameraInfo))
    world = World(trial.scenario, trial.seed)
    own = {one.name: one.message for one in world.sensed(0) if one.message is not None}
    world.close()
    assert (picture.height, picture.width, picture.encoding, picture.step) == (
        240, 320, 'rgb8', 960)
    assert picture.data.tobytes() == own['image'].data['data']
    assert tuple(info.k) == own['camera_info'].data['k']
    assert info.header.frame_id == picture.header.frame_id == 'camera_optical_frame'
    stamps = [(one.header.stamp.sec, one.header.stamp.nanosec) for one in heard]
    assert len(set(stamps)) < len(stamps)  # a picture and its numbers have the same


def test_the_moving_frame_is_where_odometry_says_at_its_stamp():
    said = motion_message(ODOMETRY, (1.5, -0.5, 0.3), (0.0, 0.0, 0.0))
    moved, = transform_of(said, 2_500_000_000)['transforms']
    assert moved['header'] == {'frame_id': 'odom', 'stamp': {'sec': 2, 'nanosec': 500_000_000}}
    assert moved['child_frame_id'] == 'base_link'
    pose = said.data['pose']['pose']
    assert moved['transform'] == {'translation': pose['position'], 'rotation': pose['orientation']}
