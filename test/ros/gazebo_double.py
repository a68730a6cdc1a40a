# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A simulator that behaves as a Gazebo Fortress server behind its bridge was seen to, in ROS alone.

Success means queued; what does not exist is silently left alone; a pose that was set shows with
the next pose that is published; a request to the world that does not say pause lets it run; steps
add up, and the world pauses after the last of them; paused, it repeats its time and tells nothing
else; ``reset.all`` rewinds the clock and nothing else; odometry is that
of the wheels, whatever is set; a touch plug-in tells of one touch; contacts are told at each step
while there are any. With ``--arm`` its robot is an arm whose joints have the speeds that they were
told last, for good; what pushes against its tool does so from the next step on, and its sensor
tells that with a little of the tool's inertia. With ``--standard`` it has the services of
simulation_interfaces instead, and tells neither poses nor contacts. ``--share 0.4`` lets its base
move at so much of what it is commanded, and ``--misses returns`` lets its lidar see nothing.
"""

import argparse
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
import math
import re
import sys
import threading
import time
from xml.etree import ElementTree

from geometry_msgs.msg import TransformStamped, Twist, WrenchStamped
from nav_msgs.msg import Odometry
import numpy
import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from ros_gz_interfaces.msg import Contact, Contacts
from ros_gz_interfaces.srv import ControlWorld, DeleteEntity, SetEntityPose, SpawnEntity
from rosgraph_msgs.msg import Clock
from safety_scenarios.ros.nodes.joint_drive_node import (
    JointDrive,
    JointDriveNode,
    JointDriveSettings,
)
from safety_scenarios.scenario.interfaces import RANGE_MAX, RANGE_MIN
from safety_scenarios.scenario.world import WorldSettings
from safety_scenarios.scenario.world_body import box, disc, Footprint, gap
from sensor_msgs.msg import JointState, LaserScan
from simulation_interfaces import srv as standard
from std_msgs.msg import Bool, Float64
from tf2_msgs.msg import TFMessage

STEP_S = 0.005
BEAMS = 360
OK, NOT_FOUND, FAILED, PAUSED = 1, 2, 4, 2
POSES, SCANS, ODOMETRY = 2, 10, 4
"""Steps between two messages."""
RADIUS, MOST, GRIP = 0.3, 1.5, 2.0
"""Of the robot (m), its top speed (m/s) and how hard it brakes and speeds up (m/s^2)."""
ANGLES = -math.pi + numpy.arange(BEAMS) * 2 * math.pi / BEAMS
JOINTS = list(JointDriveSettings().joints)
RCLError = rclpy_implementation.RCLError
Placed = tuple[float, float, float]


@dataclass
class Model:
    """Something that was spawned; what has no collision is seen and not felt."""

    outline: Footprint
    is_seen: bool
    place: Placed
    is_felt: bool = True
    is_armed: bool = True
    queued: list = field(default_factory=list)


class Double(Node):
    """The world ``hall``; without a lidar it publishes no scans."""

    def __init__(self, rate: float, misses: str, is_standard: bool, is_arm: bool,
                 share: float) -> None:
        super().__init__('gazebo_double')
        self.share = share
        self.rate, self.misses, self.is_standard = rate, misses, is_standard
        self.step, self.left, self.is_paused = 0, 0, False
        self.place, self.speed, self.turn = (0.0, 0.0, 0.0), 0.0, 0.0
        self.wheels, self.asked = (0.0, 0.0, 0.0), (0.0, 0.0)
        self.is_driven = True
        self.models: dict[str, Model] = {}
        self.queue: list = []
        self.lock = threading.Lock()
        often = QoSProfile(depth=100)
        self.clock_out = self.create_publisher(Clock, '/clock', often)
        self.poses = self.create_publisher(TFMessage, 'poses', often)
        self.scans = self.create_publisher(LaserScan, 'scan', often)
        self.odometry = self.create_publisher(Odometry, 'odom', often)
        self.contacts = self.create_publisher(Contacts, 'contacts', often)
        self.touches: dict = {}
        self.arm = Arm(self) if is_arm else None
        if not is_arm:
            self.create_subscription(Twist, 'cmd_vel', self.command, often)
            self.create_subscription(Bool, 'drive_enable', self.enable, often)
        for name, kind, does in () if is_standard else (
                ('create', SpawnEntity, self.spawn), ('remove', DeleteEntity, self.remove),
                ('set_pose', SetEntityPose, self.put), ('control', ControlWorld, self.control)):
            if name != misses:
                self.create_service(kind, f'/world/hall/{name}', does)
        for name, does in (
                ('SpawnEntity', self.come), ('DeleteEntity', self.go),
                ('GetEntityState', self.say), ('SetEntityState', self.move),
                ('SetSimulationState', self.play),
                ('StepSimulation', self.go_on)) if is_standard else ():
            service = re.sub('(?<=.)([A-Z])', r'_\1', name).lower()
            if service != misses:
                self.create_service(getattr(standard, name), service, does)

    def command(self, said: Twist) -> None:
        if self.is_driven:
            self.asked = self.share * said.linear.x, self.share * said.angular.z

    def enable(self, said: Bool) -> None:
        self.is_driven = said.data
        if not said.data:
            self.asked = 0.0, 0.0

    def later(self, what) -> None:
        with self.lock:
            self.queue.append(what)

    def spawn(self, asked, answer):
        self.later(lambda: self._spawn(asked.entity_factory))
        answer.success = True
        return answer

    def _spawn(self, factory) -> None:
        self._come(factory.name, factory.sdf, factory.pose)

    def _come(self, name: str, sdf: str, pose) -> None:
        if name in self.models:
            self.get_logger().error(f'{name} exists')
            return
        root = ElementTree.fromstring(sdf)
        shape = root.find('.//collision/geometry')
        is_felt = shape is not None
        shape = root.find('.//visual/geometry') if shape is None else shape
        cylinder = shape.find('cylinder')
        if cylinder is not None:
            outline = disc(float(cylinder.findtext('radius')))
        else:
            outline = box(*map(float, shape.findtext('box/size').split()[:2]))
        self.models[name] = Model(outline, root.find('.//visual') is not None, placed(pose),
                                  is_felt)
        if name not in self.touches:
            self.touches[name] = self.create_publisher(
                Bool, f'touched/{name}', QoSProfile(depth=10))

    def remove(self, asked, answer):
        self.later(lambda: self.models.pop(asked.entity.name, None))
        answer.success = True
        return answer

    def put(self, asked, answer):
        self.later(lambda: self._put(asked.entity.name, placed(asked.pose)))
        answer.success = True
        return answer

    def _put(self, name: str, place: Placed) -> None:
        if name == 'robot':
            self.place = place
        elif name in self.models:
            self.models[name].place = place
        else:
            self.get_logger().error(f'no entity {name}')

    def control(self, asked, answer):
        control = asked.world_control
        answer.success = not control.reset.model_only

        def act() -> None:
            self.left += max(control.multi_step, int(control.step))
            self.is_paused = control.pause and not (control.multi_step or control.step)
            if control.reset.all or control.reset.time_only:
                self.step = 0
        self.later(act)
        return answer

    def come(self, asked, answer):
        self.later(lambda: self._come(asked.name, asked.entity_resource.resource_string,
                                      asked.initial_pose.pose))
        answer.result.result = OK
        return answer

    def go(self, asked, answer):
        answer.result.result = OK if asked.entity in self.models else NOT_FOUND
        self.later(lambda: self.models.pop(asked.entity, None))
        return answer

    def say(self, asked, answer):
        model = self.models.get(asked.entity)
        place = self.place if asked.entity == 'robot' else model.place if model else None
        answer.result.result = NOT_FOUND if place is None else OK
        if place is not None:
            answer.state.header.stamp = self.stamp()
            pose = answer.state.pose
            pose.position.x, pose.position.y = place[:2]
            pose.orientation.z, pose.orientation.w = math.sin(place[2] / 2), math.cos(place[2] / 2)
        return answer

    def move(self, asked, answer):
        answer.result.result = OK if asked.set_pose else NOT_FOUND
        self.later(lambda: self._put(asked.entity, placed(asked.state.pose)))
        return answer

    def play(self, asked, answer):
        self.is_paused = asked.state.state == PAUSED
        answer.result.result = OK
        return answer

    def go_on(self, asked, answer):
        """Make steps; the answer comes after the last of them."""
        if not self.is_paused:
            answer.result.result = FAILED
            return answer
        self.left, self.is_paused = asked.steps, False
        while not self.is_paused and rclpy.ok():
            time.sleep(0.0005)
        answer.result.result = OK
        return answer

    def run(self) -> None:
        due = time.monotonic()
        while rclpy.ok():
            with self.lock:
                queue, self.queue = self.queue, []
            for what in queue:
                what()
            if self.is_paused:
                self.clock_out.publish(Clock(clock=self.stamp()))
                time.sleep(STEP_S / self.rate)
                due = time.monotonic()
                continue
            self.advance()
            if self.left:
                self.left -= 1
                self.is_paused = self.left == 0
            due += STEP_S / self.rate
            ahead = due - time.monotonic()
            if ahead > 0:
                time.sleep(ahead)
            elif ahead < -0.2:
                due = time.monotonic()

    def advance(self) -> None:
        self.step += 1
        most = GRIP * STEP_S
        wanted = max(-MOST, min(MOST, self.asked[0]))
        self.speed += max(-most, min(most, wanted - self.speed))
        self.turn += max(-4 * most, min(4 * most, self.asked[1] - self.turn))
        self.wheels = moved(self.wheels, self.speed, self.turn)
        there = moved(self.place, self.speed, self.turn)
        touched = []
        for name, model in self.models.items():
            if not model.is_felt:
                continue
            now = gap(disc(RADIUS), self.place, model.outline, model.place)
            then = gap(disc(RADIUS), there, model.outline, model.place)
            if then <= 0.0:
                touched.append(name)
                if then < now:
                    there = (*self.place[:2], there[2])
        self.place = there
        stamp = self.stamp()
        self.clock_out.publish(Clock(clock=stamp))
        if self.arm is not None:
            self.arm.advance(stamp)
        if touched and not self.is_standard:
            self.tell(touched, stamp)
        if self.step % POSES == 0 and not self.is_standard:
            self.show_poses(stamp)
        if self.step % SCANS == 0 and self.misses != 'scan':
            self.show_scan(stamp)
        if self.step % ODOMETRY == 0:
            message = Odometry()
            message.header.stamp, message.header.frame_id = stamp, 'odom'
            message.pose.pose.position.x, message.pose.pose.position.y = self.wheels[:2]
            message.twist.twist.linear.x, message.twist.twist.angular.z = self.speed, self.turn
            self.odometry.publish(message)

    def stamp(self):
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(round(self.step * STEP_S * 1e9), 10**9)
        return message.clock

    def tell(self, touched, stamp) -> None:
        message = Contacts()
        message.header.stamp = stamp
        for name in touched:
            contact = Contact()
            contact.collision1.name = 'robot::chassis::body'
            contact.collision2.name = f'{name}::body::body'
            message.contacts.append(contact)
            if self.models[name].is_armed:
                self.models[name].is_armed = False
                self.touches[name].publish(Bool(data=True))
        if self.misses != 'contacts':
            self.contacts.publish(message)

    def show_poses(self, stamp) -> None:
        for name, place in (('robot', self.place), *(
                (name, model.place) for name, model in self.models.items())):
            one = TransformStamped()
            one.header.stamp, one.header.frame_id, one.child_frame_id = stamp, 'world', name
            one.transform.translation.x, one.transform.translation.y = place[:2]
            one.transform.rotation.z = math.sin(place[2] / 2)
            one.transform.rotation.w = math.cos(place[2] / 2)
            of_links = self.arm.links(stamp) if self.arm and name == 'robot' else []
            self.poses.publish(TFMessage(transforms=[one, *of_links]))

    def show_scan(self, stamp) -> None:
        nearest = numpy.full(BEAMS, math.inf)
        for model in () if self.misses == 'returns' else self.models.values():
            if model.is_seen and math.dist(model.place[:2], self.place[:2]) < 20:
                nearest = numpy.minimum(nearest, ranges(model, self.place))
        nearest[(nearest < RANGE_MIN) | (nearest > RANGE_MAX)] = math.inf
        message = LaserScan(angle_min=-math.pi, angle_max=float(ANGLES[-1]),
                            angle_increment=2 * math.pi / BEAMS, range_min=RANGE_MIN,
                            range_max=RANGE_MAX, ranges=nearest.tolist())
        message.header.stamp, message.header.frame_id = stamp, 'robot/chassis/lidar'
        self.scans.publish(message)


class Arm:
    """Six joints that have the speeds which they are told, and a sensor at the flange."""

    names = JOINTS
    mass = 0.4
    """Beyond the sensor (kg): what turns with the first joint is felt."""

    def __init__(self, node: Node) -> None:
        self.where, self.speeds = [0.0] * len(JOINTS), [0.0] * len(JOINTS)
        self.force, self.misses, self.step = 0.0, node.misses, 0
        often = QoSProfile(depth=100)
        self.states = node.create_publisher(JointState, 'bridged/joint_states', often)
        self.wrenches = node.create_publisher(WrenchStamped, 'wrench', often)
        node.create_subscription(Float64, 'push', self.push, often)
        for place, name in enumerate(JOINTS):
            node.create_subscription(Float64, f'speed/{name}', partial(self.drive, place), often)

    def push(self, said: Float64) -> None:
        if self.misses != 'push':
            self.force = said.data

    def drive(self, place: int, said: Float64) -> None:
        self.speeds[place] = said.data

    def advance(self, stamp) -> None:
        self.where = [at + speed * STEP_S for at, speed in zip(
            self.where, self.speeds, strict=True)]
        self.step += 1
        if self.step % POSES == 0:
            state = JointState(name=JOINTS, position=self.where, velocity=self.speeds)
            state.header.stamp = stamp
            self.states.publish(state)
            wrench = WrenchStamped()
            wrench.header.stamp, wrench.header.frame_id = stamp, 'tool0'
            wrench.wrench.force.x = self.force
            wrench.wrench.force.y = self.mass * self.speeds[0]**2 * 0.8
            self.wrenches.publish(wrench)

    def links(self, stamp) -> list:
        """Return links that lie in one line, which the first joint turns."""
        found = []
        for place, name in enumerate(WorldSettings().links):
            one = TransformStamped()
            one.header.stamp, one.header.frame_id = stamp, 'robot'
            one.child_frame_id = f'robot/{name}'
            one.transform.translation.x = 0.1 * place * math.cos(self.where[0])
            one.transform.translation.y = 0.1 * place * math.sin(self.where[0])
            one.transform.translation.z = 1.0
            found.append(one)
        return found


def ranges(model: Model, robot: Placed):
    """Return along each beam how far away a model is (m)."""
    found = numpy.full(BEAMS, math.inf)
    points, rounding = model.outline.at(model.place), model.outline.rounding
    cos, sin = numpy.cos(ANGLES + robot[2]), numpy.sin(ANGLES + robot[2])
    if len(points) == 1:
        x, y = points[0][0] - robot[0], points[0][1] - robot[1]
        along, aside = x * cos + y * sin, y * cos - x * sin
        hit = (along > 0) & (abs(aside) <= rounding)
        found[hit] = along[hit] - numpy.sqrt(rounding**2 - aside[hit]**2)
        return found
    for (ax, ay), (bx, by) in zip(points, (*points[1:], points[0]), strict=True):
        east, north = bx - ax, by - ay
        across = cos * north - sin * east
        with numpy.errstate(divide='ignore', invalid='ignore'):
            along = ((ax - robot[0]) * north - (ay - robot[1]) * east) / across
            share = ((ax - robot[0]) * sin - (ay - robot[1]) * cos) / across
        hit = (along > 0) & (share >= 0) & (share <= 1)
        found[hit] = numpy.minimum(found[hit], along[hit])
    return found


def moved(place: Placed, speed: float, turn: float) -> Placed:
    """Return where a step takes it."""
    x, y, heading = place
    return (x + speed * STEP_S * math.cos(heading), y + speed * STEP_S * math.sin(heading),
            heading + turn * STEP_S)


def placed(pose) -> Placed:
    """Return a pose on the floor."""
    return (pose.position.x, pose.position.y,
            2 * math.atan2(pose.orientation.z, pose.orientation.w))


def main() -> None:
    """Run until somebody ends it."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--rate', type=float, default=1.0)
    parser.add_argument('--misses', default='')
    parser.add_argument('--standard', action='store_true')
    parser.add_argument('--arm', action='store_true')
    parser.add_argument('--share', type=float, default=1.0)
    asked = parser.parse_args(rclpy.utilities.remove_ros_args(sys.argv)[1:])
    rclpy.init()
    node = Double(asked.rate, asked.misses, asked.standard, asked.arm, asked.share)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    if asked.arm:
        drives = JointDriveNode()
        JointDrive(drives)
        executor.add_node(drives)
    spin = threading.Thread(target=spin_until_over, args=(executor,))
    spin.start()
    try:
        node.run()
    except (KeyboardInterrupt, ExternalShutdownException, RCLError):
        pass
    finally:
        rclpy.try_shutdown()
        spin.join()


def spin_until_over(executor: SingleThreadedExecutor) -> None:
    """Serve until the context is shut down, which does not always wake up who waits."""
    with suppress(ExternalShutdownException, RCLError):
        while rclpy.ok():
            executor.spin_once(timeout_sec=0.2)


if __name__ == '__main__':
    main()
