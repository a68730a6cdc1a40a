# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Hazards beside a robot with sensors of its own: drawn into what they see, or really there."""

from pathlib import Path
import sys
import time

from geometry_msgs.msg import Pose, PoseArray, PoseStamped, Quaternion, TransformStamped
import numpy
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from ros.campaigns import campaign, process, SOON
from safety_scenarios import registry
from safety_scenarios.errors import LiveDataError, MeasurementError
from safety_scenarios.ros.link.convert import from_ros
from safety_scenarios.ros.link.merging import _Overlay, Live
from safety_scenarios.scenario.event import Stamps
from safety_scenarios.scenario.frames import frames_in, Place, TF
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext
from safety_scenarios.scenario.world import MountedFrame
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.trial.journal import read_journal
from safety_scenarios.trial.trial import Timeline
from sensor_msgs.msg import LaserScan

pytestmark = pytest.mark.dds
DATA = Path(__file__).parents[1] / 'data'
ROBOT = Path(__file__).with_name('live_robot.py')
CONTEXT = StimulusContext('T', (), None)


class Wire:
    """Stands for the publisher, the clocks and the inbox of a link."""

    def __init__(self, interface, kind):
        self.sent, self.left, self._kind = [], [], kind
        self.live = Live('scan', 'front/scan', interface, lambda: self, self._now,
                         self.left.append)

    def publish(self, raw):
        self.sent.append(raw)

    def _now(self, header_ns):
        return 0, Stamps(steady_ns=time.monotonic_ns(), system_ns=time.time_ns(), ros_ns=0,
                         header_ns=header_ns)

    def hear(self, message):
        """Return what leaves when a message comes, None if nothing does."""
        before, raw = len(self.sent), serialize_message(message)
        self.live.receive(raw, {'received_timestamp': time.time_ns()})
        return deserialize_message(self.sent[-1], self._kind) if len(self.sent) > before else None


def scan(nanosec, ranges=None):
    message = LaserScan(angle_min=-1.0, angle_max=1.0, angle_increment=0.01, range_min=0.1,
                        range_max=20.0, ranges=ranges or [5.0] * 201, intensities=[9.0] * 201)
    message.header.frame_id = 'laser'
    message.header.stamp.sec, message.header.stamp.nanosec = 7, nanosec
    return message


def person(distance=2.0, hazard=True, **parameters):
    shown = Person(topic='scan', distance=distance, **parameters).at(0, 0, CONTEXT)
    return _Overlay(shown, hazard, Place(0.2, 0.0, 0.0))


def test_a_live_message_passes_unchanged_to_the_byte_and_leaves_no_event():
    wire = Wire('sensor_msgs/msg/LaserScan', LaserScan)
    message = scan(1)
    wire.hear(message)
    assert wire.sent == [bytes(serialize_message(message))]
    assert not wire.left


def test_a_person_is_drawn_into_the_live_message_where_the_scanner_would_see_her():
    """2 m from the origin and 0.25 m thick: 1.55 m before a scanner that is 0.2 m ahead."""
    wire = Wire('sensor_msgs/msg/LaserScan', LaserScan)
    wire.live.show(person())
    sent = wire.hear(scan(5))
    assert sent.header == scan(5).header
    ranges = numpy.asarray(sent.ranges)
    assert ranges[100] == pytest.approx(1.55, abs=0.01)
    assert (ranges[:80] == 5.0).all() and (ranges[121:] == 5.0).all()
    [left] = wire.left
    assert left.event.hazard and left.event.stamps.header_ns == 7_000_000_005
    assert left.event.message.at('ranges')[100] == sent.ranges[100]
    assert left.event.truth['distance'] == 2.0
    assert left.event.truth['live_distance'] == pytest.approx(5.11, abs=0.1)
    assert 0 < left.event.truth['passing'] < 1
    wire.live.show(None)
    assert wire.hear(scan(6)).ranges == scan(6).ranges
    assert len(wire.left) == 1


def test_where_a_drawing_must_not_leave_the_live_message_does():
    wire, asked = Wire('sensor_msgs/msg/LaserScan', LaserScan), []
    wire.live.gate = lambda topic, is_hazard, leave: asked.append((topic, is_hazard))
    wire.live.show(person())
    wire.hear(scan(5))
    assert wire.sent == [bytes(serialize_message(scan(5)))] and not wire.left
    assert asked == [('scan', True)]


def test_who_is_really_nearer_than_the_drawing_is_what_counts():
    wire = Wire('sensor_msgs/msg/LaserScan', LaserScan)
    wire.live.show(person())
    wire.hear(scan(1, [0.9] * 3 + [5.0] * 198))
    assert wire.left[0].event.truth['distance'] < 1.1


def test_the_same_message_once_more_is_not_sent_and_data_that_ends_is_stale():
    wire = Wire('sensor_msgs/msg/LaserScan', LaserScan)
    assert wire.hear(scan(1)) and wire.hear(scan(2))
    assert wire.hear(scan(2)) is None
    wire.live.check()
    wire.live.last_ns -= 600_000_000
    with pytest.raises(LiveDataError, match='no new live message came for 6.. ms'):
        wire.live.check()


def test_a_hazard_that_is_hidden_behind_something_real_ends_the_trial():
    wire = Wire('sensor_msgs/msg/LaserScan', LaserScan)
    wire.live.show(person())
    wire.hear(scan(1, [1.0] * 201))
    with pytest.raises(LiveDataError, match='nowhere nearer'):
        wire.live.check()


def test_a_message_that_cannot_be_read_is_not_sent():
    wire = Wire('sensor_msgs/msg/LaserScan', LaserScan)
    wire.live.show(person())
    wire.live.receive(b'\0\1\0\0nonsense', None)
    assert not wire.sent
    with pytest.raises(MeasurementError, match='cannot pass it on'):
        wire.live.check()


def test_people_of_a_tracker_stay_and_the_drawn_one_is_added():
    wire = Wire('geometry_msgs/msg/PoseArray', PoseArray)
    shown = Message(type='geometry_msgs/msg/PoseArray', data={
        'header': {'frame_id': 'base_link'}, 'poses': ({'position': {'x': 2.0, 'y': 0.0}},)})
    wire.live.show(_Overlay(Stimulus('people', shown), True, Place(0.2, 0.0, 0.0)))
    message = PoseArray(poses=[Pose()])
    message.poses[0].position.x = 1.0
    sent = wire.hear(message)
    assert [pose.position.x for pose in sent.poses] == [1.0, pytest.approx(1.8)]
    assert wire.left[0].event.truth['distance'] == pytest.approx(1.2)


@pytest.mark.parametrize(('live', 'seen'), [(1.0, 1.0), (4.0, 1.8)])
def test_a_topic_with_one_person_shows_the_nearer_one_and_the_hazard_must_be_that(live, seen):
    wire = Wire('geometry_msgs/msg/PoseStamped', PoseStamped)
    wire.live.show(person(message='geometry_msgs/msg/PoseStamped'))
    message = PoseStamped()
    message.pose.position.x = live
    assert wire.hear(message).pose.position.x == pytest.approx(seen)
    if live == seen:  # nobody was shown who had not been there
        with pytest.raises(LiveDataError, match='nowhere nearer'):
            wire.live.check()
    else:
        wire.live.check()


@pytest.mark.parametrize(('turn', 'rotation'), [
    ((0.0, 0.0, 0.5**0.5, 0.5**0.5), (0.0, 0.0, numpy.pi / 2)),
    ((1.0, 0.0, 0.0, 0.0), (numpy.pi, 0.0, 0.0)),
    ((0.0, 0.1, 0.0, 0.99**0.5), (0.0, 2 * numpy.arcsin(0.1), 0.0))])
def test_the_place_of_a_scanner_is_read_from_what_the_robot_publishes(turn, rotation):
    known = TransformStamped(child_frame_id='laser')
    known.header.frame_id = 'base_link'
    known.transform.translation.x = 0.25
    known.transform.rotation = Quaternion(**dict(zip('xyzw', turn, strict=True)))
    [found] = frames_in(Message.model_construct(type=TF, data={'transforms': [
        from_ros(one).data for one in (known, TransformStamped())]}))
    assert (found.frame, found.parent, found.translation) == (
        'laser', 'base_link', (0.25, 0.0, 0.0))
    assert found.rotation == pytest.approx(rotation)
    assert MountedFrame(frame='laser', rotation=rotation).quaternion == pytest.approx(turn)


def test_a_controller_stops_for_a_person_in_its_own_scan(tmp_path, domain):
    with process(sys.executable, str(ROBOT), 'lidar', str(tmp_path / 'log'), domain=domain):
        run = campaign(tmp_path / 'run', str(DATA / 'merged_person.yaml'), '--set',
                       'merge=scan:=front/scan', '--domain-id', str(domain), domain=domain, **SOON)
    assert run.code == 0, run.output
    [trial] = run.trials
    assert 'merged' in [note['code'] for note in trial['notes']]


@pytest.mark.thorough
def test_a_light_barrier_tells_when_a_real_person_came_and_nothing_is_published(tmp_path, domain):
    """
    The robot writes down when that was; the barrier is 60 ms late, and known to 15 ms.

    Which verdict comes of it is tested in simulated time: a busy host may keep the barrier from
    being what the scenario says it is, and then none is due.
    """
    with process(sys.executable, str(ROBOT), 'barrier', str(tmp_path / 'log'), domain=domain):
        run = campaign(tmp_path / 'run', str(DATA / 'real_hazard.yaml'), '--domain-id',
                       str(domain), domain=domain, again=False, **SOON)
    assert run.code in (0, 3), run.output
    [journal] = run.folder.glob('traces/**/*.events.jsonl.gz')
    record = read_journal(journal, registry.resolve)
    assert not record.of_kind('stimulus')
    timeline = Timeline(record)
    assert timeline.onset is not None, run.output
    lines = (tmp_path / 'log').read_text(encoding='utf-8').splitlines()
    off_ns, late_ns = min((abs(timeline.onset.stamps.system_ns - came_ns), told_ns - came_ns)
                          for came_ns, told_ns in (map(int, line.split()) for line in lines))
    own_ns = abs(late_ns - 60_000_000)  # a barrier on a busy host is late itself, by what it says
    assert off_ns <= timeline.observed.uncertainty_ns + own_ns, (off_ns / 1e6, late_ns / 1e6)
