# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a model reads is what the contract says, or it is not asked."""

import math
from typing import Any

from cases import for_each
import numpy
import pytest
from safety_scenarios.controllers.policies.contract import PolicyContract
from safety_scenarios.controllers.policies.inputs import PolicyInputs
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world import MountedFrame
from unit.controllers.observations import beams, flag, pose, reading, scan, seen, wrench

BASE = RobotModel(kind='mobile_base', max_speed=1.0)
ARM = RobotModel(kind='arm', max_speed=1.0, joints=('a', 'b', 'c'))
FAR = 10.0
FOUR = {'role': 'scan', 'rays': 4, 'clip': [0.0, FAR], 'sector': [-math.pi / 4, 7 * math.pi / 4]}
"""Sectors ahead, to the left, behind and to the right."""
PERSON = {'role': 'human_pose', 'fields': ['pose.position.x', 'pose.position.y']}


def inputs(*parts: dict[str, Any], robot: RobotModel = BASE, **more: Any) -> PolicyInputs:
    """Return what makes one input ``x`` of some parts."""
    output = {'quantity': 'velocity' if robot is BASE else 'joint_velocity'}
    return PolicyInputs(PolicyContract.model_validate({
        'robot': robot.kind, 'inputs': {'x': list(parts)}, 'outputs': {'action': output},
        **more}), robot)


def read(part: dict[str, Any], frames=(), robot=BASE, **messages: Any) -> numpy.ndarray:
    """Return what becomes of an observation; the test fails where the model is not asked."""
    made = inputs(part, robot=robot)
    found = made.arrays(seen(**messages).model_copy(update={'frames': tuple(frames)})
                        if frames else seen(**messages))
    assert found is not None, made.missing
    return found['x']


def missing(part: dict[str, Any], robot=BASE, **messages: Any) -> str:
    """Return why the model is not asked."""
    made = inputs(part, robot=robot)
    assert made.arrays(seen(**messages)) is None
    return made.missing


def headed(message: Message, frame: str) -> Message:
    return message.model_copy(update={'data': {**message.data, 'header': {
        'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': frame}}})


def around(*near: tuple[float, float], backwards: bool = False, count: int = 360) -> Message:
    """Return a scan in which there is something at (bearing, distance)."""
    step = math.tau / count
    ranges = [math.inf] * count
    for bearing, distance in near:
        ranges[round((bearing + math.pi) / step) % count] = distance
    return beams(reversed(ranges), math.pi - step, -step) if backwards \
        else beams(ranges, -math.pi, step)


ALL_AROUND = around((0.0, 1.0), (math.pi / 2, 2.0), (math.pi, 3.0), (-math.pi / 2, 4.0))


def test_each_sector_reads_its_nearest_return():
    assert read(FOUR, scan=ALL_AROUND).tolist() == [1.0, 2.0, 3.0, 4.0]
    near = around((0.1, 5.0), (-0.1, 0.7), (2.0, 12.0))
    assert read(FOUR, scan=near).tolist() == pytest.approx([0.7, FAR, FAR, FAR])


def test_a_scanner_that_turns_the_other_way_sees_the_same():
    turned = around((0.3, 1.0), (math.pi / 2, 2.0), (3.0, 3.0), (-math.pi / 2, 4.0),
                    backwards=True)
    assert read(FOUR, scan=turned).tolist() == pytest.approx([1.0, 2.0, 3.0, 4.0])


def test_what_a_mounted_scanner_sees_is_where_it_is_for_the_robot():
    turned = MountedFrame(frame='laser', rotation=(0.0, 0.0, math.pi / 2))
    seen_left = headed(around((0.0, 2.0)), 'laser')
    assert read(FOUR, frames=[turned], scan=seen_left).tolist() == pytest.approx(
        [FAR, 2.0, FAR, FAR])
    ahead = MountedFrame(frame='laser', translation=(0.5, 0.0, 0.2))
    assert read(FOUR, frames=[ahead], scan=seen_left)[0] == pytest.approx(2.5)
    upside_down = MountedFrame(frame='laser', rotation=(math.pi, 0.0, 0.0))
    made = inputs(FOUR)
    assert made.arrays(seen(scan=seen_left).model_copy(update={
        'frames': (upside_down,)})) is None and 'leans' in made.missing


@for_each(('value', 'expected'), [(math.inf, FAR), (30.0, FAR), (-math.inf, 0.0), (0.5, 0.5),
                                  (math.nan, FAR)])
def test_a_ray_without_a_range_is_far_and_one_too_near_is_at_zero(value, expected):
    assert read(FOUR, scan=around((0.0, value)))[0] == pytest.approx(expected)


def test_a_blind_scanner_is_no_free_way():
    blind = beams([math.nan] * 300 + [5.0] * 60)
    assert 'blind: 300 of 360' in missing(FOUR, scan=blind)
    assert 'blind' in missing(FOUR, scan=beams([]))


def test_rays_in_another_unit_and_normalised():
    part = {**FOUR, 'clip': [0.0, 1000.0], 'unit': 'cm', 'mean': 500.0, 'std': 500.0}
    assert read(part, scan=ALL_AROUND).tolist() == pytest.approx([-0.8, -0.6, -0.4, -0.2])


def test_fields_come_in_their_order_in_the_units_of_the_model():
    part = {**PERSON, 'unit': 'mm', 'clip': [-1500.0, 1500.0], 'mean': [100.0, 0.0],
            'std': [2.0, 1.0]}
    found = read(part, human_pose=pose(2.0, math.pi / 6))
    assert found.tolist() == pytest.approx([(1500 - 100) / 2, 1000.0]) and found.dtype == 'float32'
    assert read({'role': 'wrench', 'fields': ['force.z', 'force.x']},
                wrench=wrench(1.0, 2.0, 3.0)).tolist() == [3.0, 1.0]
    assert read({'role': 'contact', 'fields': ['data'], 'dtype': 'int64'},
                contact=flag(True)).tolist() == [1]


def test_a_position_is_taken_from_the_frame_of_its_header_to_the_robot():
    frame = MountedFrame(frame='camera', translation=(0.5, 0.0, 0.0),
                         rotation=(0.0, 0.0, math.pi / 2))
    message = headed(pose(2.0), 'camera')
    there = {**PERSON, 'frame': 'base_link'}
    assert read(there, frames=[frame], human_pose=message).tolist() == pytest.approx([0.5, 2.0])
    assert read(PERSON, frames=[frame], human_pose=message).tolist() == pytest.approx([2.0, 0.0])


def states(**joints: float) -> Message:
    return Message(type='sensor_msgs/msg/JointState', data={
        'name': tuple(joints), 'position': tuple(joints.values()),
        'velocity': tuple(-one for one in joints.values()), 'effort': ()})


def test_joints_come_in_the_order_of_the_robot_whatever_that_of_the_message():
    part = {'role': 'joint_states', 'joints': 'position'}
    message = states(c=0.3, gripper=9.0, a=0.1, b=0.2)
    assert read(part, robot=ARM, joint_states=message).tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert read({**part, 'joints': 'velocity', 'unit': 'deg/s'}, robot=ARM,
                joint_states=message)[2] == pytest.approx(-math.degrees(0.3))
    assert 'no position of the joint b' in missing(part, ARM, joint_states=states(a=1.0, c=2.0))
    assert 'no effort of the joint a' in missing({**part, 'joints': 'effort'}, ARM,
                                                 joint_states=message)


def test_a_number_that_is_not_finite_is_no_reading():
    assert 'not finite' in missing(PERSON, human_pose=pose(math.nan))
    own = {'role': 'mine', 'type': 'my_msgs/msg/Mine'}
    mine = Message(type='my_msgs/msg/Mine', data={'at': {'x': 1.0}})
    assert 'is not one number' in missing({**own, 'fields': ['at']}, mine=mine)
    assert "no field 'on'" in missing({**own, 'fields': ['on.x']}, mine=mine)


def test_an_age_is_that_of_the_reading_and_never_stale():
    part = {'role': 'heartbeat', 'age': True, 'unit': 'ms', 'missing': 5000.0}
    assert read(part, heartbeat=reading(flag(True), 900.0, None)).tolist() == pytest.approx([900])
    assert read(part).tolist() == [5000.0]


def test_only_what_never_came_is_replaced():
    part = {**PERSON, 'missing': [20.0, 0.0]}
    assert read(part).tolist() == [20.0, 0.0]
    assert 'no message yet' in missing(PERSON)
    assert 'older than stale_ms 250' in missing(part, human_pose=reading(pose(1.0), 300.0, None))
    assert 'older than stale_ms 250' in missing(part, human_pose=reading(pose(1.0), 20.0, 400.0))
    made = inputs(part, stale_ms=0)
    assert made.arrays(seen(human_pose=reading(pose(1.0), 9e6))) is not None
    assert not made.is_stale(seen(human_pose=reading(pose(1.0), 9e6)))
    assert inputs(part).is_stale(seen(human_pose=reading(pose(1.0), 20.0, 400.0)))


def test_parts_stand_one_behind_the_other():
    made = inputs({'role': 'contact', 'fields': ['data']}, {**PERSON, 'missing': 9.0}, FOUR)
    assert made.shapes == {'x': (7,)}
    found = made.arrays(seen(contact=flag(True), scan=ALL_AROUND))
    assert found['x'].tolist() == [1.0, 9.0, 9.0, 1.0, 2.0, 3.0, 4.0]


def test_a_history_begins_with_its_oldest_and_anew_after_a_gap():
    made = inputs({**PERSON, 'history': 3, 'mean': [1.0, 0.0]})
    assert made.shapes == {'x': (6,)}

    def looked(x: float | None) -> list[float] | None:
        now = seen() if x is None else seen(human_pose=pose(x))
        made.look(now)
        found = made.arrays(now)
        return None if found is None else found['x'][::2].tolist()
    assert looked(1.0) == [0.0, 0.0, 0.0]
    assert looked(2.0) == [0.0, 0.0, 1.0]
    assert looked(3.0) == [0.0, 1.0, 2.0]
    assert looked(4.0) == [1.0, 2.0, 3.0]
    assert looked(None) is None
    assert looked(7.0) == [6.0, 6.0, 6.0]


def image(pixels: Any, encoding: str, step: int = 0, as_bytes: bool = False) -> Message:
    """Return an image of rows of pixels, each a list of its channels."""
    rows = numpy.array(pixels, numpy.uint8)
    height, width = rows.shape[:2]
    flat = rows.reshape(height, -1)
    wide = numpy.full((height, step or flat.shape[1]), 77, numpy.uint8)
    wide[:, :flat.shape[1]] = flat
    data = wide.tobytes() if as_bytes else tuple(wide.ravel().tolist())
    return Message(type='sensor_msgs/msg/Image', data={
        'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': 'camera'}, 'height': height,
        'width': width, 'encoding': encoding, 'is_bigendian': 0, 'step': wide.shape[1],
        'data': data})


RED, BLUE = [200, 10, 0], [0, 10, 200]
CAMERA = {'role': 'image', 'size': [2, 2], 'dtype': 'uint8', 'layout': 'hwc'}


@for_each('as_bytes', [False, True])
def test_rows_are_as_long_as_step_says(as_bytes):
    found = read(CAMERA, image=image([[RED, BLUE], [BLUE, RED]], 'rgb8', 9, as_bytes))
    assert found.tolist() == [[RED, BLUE], [BLUE, RED]]


@for_each(('encoding', 'pixel', 'channels', 'expected'), [
    ('rgb8', RED, 'rgb', RED), ('bgr8', RED, 'rgb', BLUE), ('rgb8', RED, 'bgr', BLUE),
    ('bgr8', RED, 'bgr', RED), ('rgba8', [*RED, 9], 'rgb', RED), ('bgra8', [*RED, 9], 'rgb', BLUE),
    ('mono8', [50], 'rgb', [50, 50, 50]), ('mono8', [50], 'mono', [50]),
    ('rgb8', [100, 100, 100], 'mono', [100]), ('bgr8', [0, 0, 200], 'mono', [59])])
def test_colours_come_in_the_order_of_the_model(encoding, pixel, channels, expected):
    found = read({**CAMERA, 'size': [1, 1], 'channels': channels},
                 image=image([[pixel]], encoding))
    assert found.ravel().tolist() == pytest.approx(expected, abs=1)


def test_an_image_is_scaled_by_the_mean_of_what_a_pixel_covers():
    shades = [[[0], [100], [10], [20]], [[100], [200], [30], [60]]]
    part = {**CAMERA, 'size': [1, 2], 'channels': 'mono', 'dtype': 'float32'}
    assert read(part, image=image(shades, 'mono8')).ravel().tolist() == [100.0, 30.0]
    assert read({**part, 'size': [2, 8]}, image=image(shades, 'mono8'))[0, :, 0].tolist() == [
        0, 0, 100, 100, 10, 10, 20, 20]


@for_each(('part', 'pixels', 'expected'), [
    ({'channels': 'mono'}, [[[255, 255, 255]]], [255]),
    ({'channels': 'mono'}, [[[0, 0, 200]]], [23]),
    ({}, [[[1, 2, 3]], [[2, 2, 4]], [[2, 2, 4]]], [2, 2, 4]),
    ({'std': 2.0, 'dtype': 'int64'}, [[[3, 3, 5]]], [2, 2, 2])])  # a half becomes even
def test_whole_numbers_are_rounded(part, pixels, expected):
    found = read({**CAMERA, 'size': [1, 1], **part}, image=image(pixels, 'rgb8'))
    assert found.ravel().tolist() == expected


def test_an_image_is_laid_out_and_normalised_as_the_model_expects():
    part = {**CAMERA, 'size': [1, 2], 'layout': 'chw', 'dtype': 'float32',
            'mean': [0.0, 10.0, 0.0],
            'std': [200.0, 1.0, 200.0]}
    found = read(part, image=image([[RED, BLUE]], 'rgb8'))
    assert found.shape == (3, 1, 2)
    assert found.tolist() == [[[1.0, 0.0]], [[0.0, 0.0]], [[0.0, 1.0]]]
    made = inputs({**part, 'history': 2})
    assert made.shapes == {'x': (2, 3, 1, 2)}


@for_each(('message', 'why'), [
    (image([[[1]]], '16UC1'), "got the encoding '16UC1', expected one of rgb8"),
    (image([[RED]], '8UC3'), "got the encoding '8UC3', expected one of rgb8"),
    (image([[RED, BLUE]], 'rgb8').model_copy(update={'data': {
        **image([[RED, BLUE]], 'rgb8').data, 'step': 3}}), 'an image of 2 x 1 pixels with step 3'),
    (image([[RED]], 'rgb8').model_copy(update={'data': {
        **image([[RED]], 'rgb8').data, 'data': (1, 2)}}), 'got 2 bytes for an image of 1 rows'),
    (image([[RED]], 'rgb8').model_copy(update={'data': {
        **image([[RED]], 'rgb8').data, 'height': 0}}), 'an image of 1 x 0 pixels')])
def test_an_image_that_cannot_be_read_is_no_reading(message, why):
    assert why in missing(CAMERA, image=message)


def test_neutral_arrays_have_the_shapes_and_types_of_the_model():
    made = inputs({**CAMERA, 'layout': 'chw'})
    assert made.neutral()['x'].shape == (3, 2, 2) and made.neutral()['x'].dtype == 'uint8'
    assert read(FOUR, scan=scan()).tolist() == [FAR] * 4


def test_few_numbers_are_of_each_part_and_of_many_the_least_ranges_or_the_means():
    made = inputs({**FOUR, 'rays': 16, 'sector': [-math.pi, math.pi]}, PERSON,
                  {'role': 'human_pose', 'age': True})
    assert made.in_few_numbers({'x': numpy.float32([*range(16, 0, -1), 3.0, -1.0, 0.25])}) == {
        'scan (least of each eighth of 16 values)': (15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0),
        'human_pose': (3.0, -1.0), 'human_pose age': (0.25,)}
    assert inputs(PERSON, PERSON).in_few_numbers({'x': numpy.float32([6.0, 0.0, 1.5, 0.5])}) == {
        'human_pose': (6.0, 0.0), 'human_pose 3 to 4': (1.5, 0.5)}, 'neither hides the other'
    picture = {'role': 'image', 'size': [4, 4], 'channels': 'mono'}
    assert inputs({**picture, 'dtype': 'uint8'}).in_few_numbers(
        {'x': numpy.repeat(numpy.uint8([0, 255]), 8)}) == {
            'x (mean of each eighth of 16 values)': (0.0,) * 4 + (255.0,) * 4}
    assert [*inputs({**picture, 'std': 255.0}).in_few_numbers({'x': numpy.zeros(16)})] == [
        'x normalised (mean of each eighth of 16 values)']
