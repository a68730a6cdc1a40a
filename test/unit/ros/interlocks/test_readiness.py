# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How an operator is asked, and how a robot comes back to its start."""

import os
from pathlib import Path

import pytest
from safety_scenarios.ros.hil import interlocks
from safety_scenarios.ros.hil.interlocks.people import AtTerminal, ByPlan, ByService
from unit.ros.interlocks.guarded import odometry, play, Robot, said


@pytest.fixture
def types(monkeypatch):
    """Give a terminal, and what types there."""
    master, slave = os.openpty()
    with os.fdopen(slave) as stdin:
        monkeypatch.setattr('sys.stdin', stdin)
        yield lambda text: os.write(master, text.encode())
    os.close(master)


@pytest.mark.parametrize(('text', 'is_yes'), [
    ('y\n', True), ('Yes\n', True), ('n\n', False), ('\n', False), ('yep\n', False)])
def test_at_a_terminal_y_confirms_and_anything_else_refuses(types, text, is_yes):
    asker = AtTerminal()
    asker.ask('S')
    assert asker.answer() is None
    types(text)
    assert asker.answer() is is_yes


def test_what_was_typed_before_the_question_is_no_answer(types):
    types('y\n')
    asker = AtTerminal()
    asker.ask('S')
    assert asker.answer() is None


def test_the_end_of_input_is_no(monkeypatch):
    with open(os.devnull, encoding='utf-8') as stdin:
        monkeypatch.setattr('sys.stdin', stdin)
        asker = AtTerminal()
        asker.ask('S')
        assert asker.answer() is False


def test_a_service_takes_an_answer_only_after_the_question_and_says_for_what():
    asker = ByService('/hil/confirm')
    early = asker.called(said(data=True), said())
    assert not early.success and asker.answer() is None
    asker.ask('S')
    assert asker.answer() is None
    told = asker.called(said(data=True), said())
    assert told.success and told.message == 'S: confirmed'
    assert asker.answer() is True
    assert not asker.called(said(data=False), said()).success, 'the answer was taken'
    asker.ask('T')
    assert asker.answer() is None


def test_a_plan_confirms_what_it_lists_and_nothing_else():
    asker = ByPlan(['S'])
    asker.ask('S')
    assert asker.answer() is True
    asker.ask('T')
    assert asker.answer() is False


def test_a_service_brings_the_robot_back_while_the_interlocks_hold():
    called = []

    def send_back():
        called.append(robot.now_ms)
        assert not robot.guard.lacking([robot.deadman])
        robot.says['feedback'] = odometry()
        return None
    robot = Robot(send_back=send_back)
    assert play(robot) is None and not called
    robot.says['feedback'] = odometry(x=3.0)
    robot.says['deadman'] = said(data=False)
    robot.later(2500, lambda: robot.says.update(deadman=said(data=True)))
    released_ms = robot.now_ms
    assert play(robot) is None
    assert called and called[0] >= released_ms + 2500
    assert ('reset', {'service': '', 'why': None}) in robot.log


def test_a_way_back_that_failed_begins_no_trial():
    robot = Robot(send_back=lambda: 'got no success (blocked), expected success')
    assert play(robot) is None
    shown = len(robot.left)
    assert 'got no success (blocked)' in str(play(robot))
    assert len(robot.left) == shown


def test_no_interlock_reads_a_clock_that_somebody_can_set():
    sources = sorted(Path(interlocks.__file__).parent.glob('*.py'))
    assert len(sources) > 5
    readers = {path.name for path in sources if 'import time' in path.read_text('utf-8')}
    assert readers == {'run_log.py'}, 'which writes both clocks down, and decides nothing'
