# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Each driver does what its source says, case by case; and the page says no other."""

import math
from typing import Any

from cases import for_each
import numpy
import pytest
from safety_scenarios import registry
from safety_scenarios.judging.drivers.joint_trajectory import JointTrajectory
from safety_scenarios.scenario.driver import Commanded, Execution
from safety_scenarios.scenario.message import Message
from unit.judging.drivers.cases import cases, commands_of, driver_of, executed, PAGE, page

CASES = list(cases())
_BY_ID = {f'{case["driver"]["kind"]}: {case["id"]}': case for case in CASES}


def at(found: Execution, values: Any, time_s: float) -> list[float]:
    """Return what holds at a time: the later of two at one time."""
    t_ns = round(time_s * 1e9)
    place = int(found.times_ns.searchsorted(t_ns, side='right')) - 1
    assert place >= 0, f'nothing is executed at {time_s} s'
    if found.between == 'hold' or place + 1 == len(found.times_ns):
        return values[place].tolist()
    begin_ns, end_ns = found.times_ns[place].item(), found.times_ns[place + 1].item()
    part = (t_ns - begin_ns) / (end_ns - begin_ns)
    return (values[place] * (1 - part) + values[place + 1] * part if part
            else values[place]).tolist()


@for_each('name', _BY_ID)
def test_a_driver_executes_what_its_source_says(name):
    case = _BY_ID[name]
    found = executed(case)
    checked = 0
    for what in ('position', 'velocity'):
        for time_s, values in case.get(what, ()):
            checked += 1
            assert at(found, getattr(found, what), time_s) == pytest.approx(
                values, abs=1e-9, nan_ok=True), f'{what} at {time_s} s'
    assert checked or 'rejected' in case


@for_each('name', _BY_ID)
def test_a_driver_rejects_what_its_source_rejects_and_nothing_else(name):
    case = _BY_ID[name]
    found, wanted = executed(case), case.get('rejected', [])
    assert [one.place for one in found.rejections] == [place for place, _ in wanted]
    for rejection, (place, reason) in zip(found.rejections, wanted, strict=True):
        assert reason in rejection.reason
        assert rejection.source
        assert not found.accepted[place]
    assert found.accepted.sum() == len(case['commands']) - len(wanted)


_BASES = [name for name, case in _BY_ID.items() if case['driver']['kind'] in (
    'ackermann', 'diff_drive', 'omni')]
_ODD = [{'at': 1.0, 'twist': [0.5, 0, 0], 'stamp': -3600.0},
        {'at': 1.0, 'twist': [math.nan, 0, 0]}, {'at': 1.0, 'twist': [0, math.inf, 0]},
        {'at': 1.0, 'twist': [0, 0, math.nan], 'type': 'Twist'},
        {'at': 1.0, 'array': [0.5, 0, 0]}]


@for_each('name', _BASES)
def test_a_driver_asked_for_one_command_says_what_it_does_among_many(name):
    case = _BY_ID[name]
    driver = driver_of(case)
    commands = commands_of(case | {'commands': case['commands'] + _ODD})
    commands += [Commanded(one.t_ns, one.clock_ns, Message(type=one.message.type, data=data))
                 for one in commands for data in ({}, {'header': {}}, {'twist': {'linear': {}}})]
    for command in commands:
        alone = driver.execute([command], {}, command.t_ns).rejections
        assert driver.rejects(command) == (alone[0].reason if alone else '')


def test_there_is_a_case_of_every_driver():
    assert {case['driver']['kind'] for case in CASES} == set(registry.names('drivers')) - {'none'}


def test_the_page_lists_the_cases_as_they_are_held_here():
    assert page() == PAGE.read_text(encoding='utf-8'), \
        'run: python test/unit/judging/drivers/cases.py'


@for_each('name', _BY_ID)
def test_the_times_of_set_points_never_descend(name):
    found = executed(_BY_ID[name])
    assert (numpy.diff(found.times_ns) >= 0).all()
    assert len(found.velocity) == len(found.times_ns)


_SMOOTH = [name for name, case in _BY_ID.items()
           if 'joint_trajectory' in name and 'position' in case and case['id'] not in (
               'no interpolation', 'due at once', 'first point is past',
               'ends in motion on humble', 'not a number')]


@for_each('name', _SMOOTH)
def test_a_velocity_is_the_change_of_the_position(name):
    """Between two samples the way is the mean velocity by the time, but for jumps and repeats."""
    found = executed(_BY_ID[name])
    seconds = numpy.diff(found.times_ns)[:, None] * 1e-9
    ways = (found.velocity[1:] + found.velocity[:-1]) / 2 * seconds
    off = numpy.abs(numpy.diff(found.position, axis=0) - ways)
    assert math.isclose(numpy.nanmax(off, initial=0.0), 0.0, abs_tol=1e-4)


def test_a_trajectory_beyond_all_numbers_is_followed_without_a_warning():
    points = [{'positions': (0.0,), 'velocities': (0.0,), 'time_from_start': {'nanosec': 10**6}},
              {'positions': (1e308,), 'velocities': (0.0,), 'time_from_start': {'sec': 1}}]
    command = Commanded(0, 0, Message(type='trajectory_msgs/msg/JointTrajectory', data={
        'joint_names': ('a',), 'points': tuple(points)}))
    follower = JointTrajectory(joints=('a',)).follow({'a': 0.0})
    follower.take(command)
    assert follower.state(500_000_000) == {}  # nothing of it is known
