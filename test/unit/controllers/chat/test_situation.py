# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a language model reads of an observation, and when that has changed materially."""

import math
from typing import Any

import pytest
from safety_scenarios.controllers.chat.questions import described, differs
from safety_scenarios.scenario.companion_files import Description
from safety_scenarios.scenario.message import Message
from unit.controllers.observations import beams, beat, box, flag, pose, reading, scan, seen, wrench

HOW = Description()
JOINTS = Message(type='sensor_msgs/msg/JointState', data={
    'header': {'stamp': {'sec': 7, 'nanosec': 0}, 'frame_id': ''}, 'name': ('a', 'b'),
    'position': (0.12345, 2.0), 'velocity': (), 'effort': ()})


@pytest.mark.parametrize(('topic', 'given', 'expected'), [
    ('scan', scan(), 'scan (0.02 s old): path free, stamped 0.02 s ago'),
    ('scan', box(2.0), 'obstacle in the path 2.00 m ahead, nearest return all around 2.00 m'),
    ('scan', box(1.5, middle=1.5), 'path free, nearest return all around 1.93 m'),
    ('scan', beams([math.nan] * 360), 'the scanner is blind'),
    ('scan', reading(scan(), 20.0, 900.0), 'path free, stamped 0.90 s ago'),
    ('human_pose', pose(3.0), 'human_pose (0.02 s old): person 3.00 m away'),
    ('human_pose', pose(math.nan), 'person nan m away'),
    ('wrench', wrench(30.0, 40.0), 'contact force 50.0 N'),
    ('contact', reading(flag(True), 20.0, None), 'contact (0.02 s old): data True'),
    ('heartbeat', reading(beat(), 1500.0, None), 'heartbeat (1.50 s old): received'),
    ('joint_states', JOINTS, 'name [a b], position [0.12 2.00], velocity []')])
def test_each_input_is_described_by_what_it_reports(topic: str, given: Any, expected: str) -> None:
    assert expected in described(seen(0.0, **{topic: given}), HOW)


def test_each_input_gets_a_line_of_its_own() -> None:
    observation = seen(0.0, wrench=wrench(1.0), contact=flag(False), human_pose=pose(9.0))
    assert [line.split()[0] for line in described(observation, HOW).splitlines()] == [
        'contact', 'human_pose', 'wrench']
    assert described(observation, Description(topics=('contact', 'scan'))) == \
        'contact (0.02 s old): data False, stamped 0.02 s ago'


def test_the_corridor_is_as_wide_as_the_prompt_file_says() -> None:
    beside = seen(0.0, scan=box(1.5, middle=1.5))
    assert 'path free' in described(beside, HOW)
    assert 'obstacle in the path' in described(beside, Description(corridor_m=1.5))


def test_a_message_of_many_values_is_cut() -> None:
    many = Message(type='my_msgs/msg/Many', data={f'f{number}': 0.0 for number in range(100)})
    text = described(seen(0.0, many=many), HOW)
    assert 'f39 0.00, ...' in text and 'f40' not in text


@pytest.mark.parametrize(('before', 'after'), [
    ({'scan': scan()}, {'scan': box(2.0)}), ({'contact': flag(False)}, {'contact': flag(True)}),
    ({'scan': scan()}, {'scan': beams([math.nan] * 360)}),
    ({'human_pose': pose(3.0)}, {'human_pose': pose(math.nan)}),
    ({'human_pose': pose(4.0)}, {'human_pose': pose(2.9)}),
    ({'human_pose': pose(2.9)}, {'human_pose': pose(4.0)}),
    ({'wrench': wrench(2.0)}, {'wrench': wrench(60.0)}),
    ({'scan': scan()}, {'scan': scan(), 'human_pose': pose(9.0)}),
    ({'scan': reading(scan(), 20.0)}, {'scan': reading(scan(), 300.0)})])
def test_a_new_word_and_a_number_that_changed_by_more_than_a_quarter_are_material(
        before: dict[str, Any], after: dict[str, Any]) -> None:
    assert differs(described(seen(0.0, **before), HOW), described(seen(50.0, **after), HOW))


@pytest.mark.parametrize(('before', 'after'), [
    ({'scan': scan()}, {'scan': scan()}), ({'human_pose': pose(4.0)}, {'human_pose': pose(3.1)}),
    ({'wrench': wrench(0.1)}, {'wrench': wrench(0.3)}),
    ({'scan': reading(scan(), 20.0)}, {'scan': reading(scan(), 60.0)})])
def test_small_changes_and_ages_between_two_messages_are_not(
        before: dict[str, Any], after: dict[str, Any]) -> None:
    assert not differs(described(seen(0.0, **before), HOW), described(seen(50.0, **after), HOW))


@pytest.mark.parametrize(('one', 'two', 'expected'), [
    ('4.0 m', '3.0 m', False), ('4.0 m', '2.99 m', True), ('0.0 N', '0.25 N', False),
    ('0.0 N', '0.26 N', True), ('-2 m', '2 m', True), ('a1', 'a9', True), ('', '', False)])
def test_a_change_of_exactly_a_quarter_is_not_material(one: str, two: str, expected: bool) -> None:
    assert differs(one, two) is differs(two, one) is expected
