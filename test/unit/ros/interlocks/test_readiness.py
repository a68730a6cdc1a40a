# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How an operator is asked, and how a robot comes back to its start."""

import os
from pathlib import Path

import pytest
from safety_scenarios.ros import hil
from safety_scenarios.ros.hil.people import AtTerminal, ByPlan, ByService, Confirmation
from unit.ros.interlocks.guarded import odometry, play, Robot, said, SETTINGS


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
    known = Confirmation()
    asker = ByService('/hil/confirm', known.refuse)
    early = asker.called(said(data=True), said())
    assert not asker.called(said(data=False), said()).success, 'nothing runs yet'
    assert not early.success and asker.answer() is None
    asker.ask('S')
    assert asker.answer() is None
    told = asker.called(said(data=True), said())
    assert told.success and told.message == 'S: confirmed'
    assert asker.answer() is True
    assert not asker.called(said(data=True), said()).success, 'the answer was taken'
    known.ask('S')
    known.answer('S', is_yes=True)
    assert asker.called(said(data=False), said()).message == 'S: refused'
    assert known.is_refused, 'a no counts at any time'
    asker.ask('T')
    assert asker.answer() is None


def test_a_yes_right_after_a_no_of_the_operator_confirms_nothing():
    """Both may come before the answer is looked at, as from two people."""
    asker = ByService('/hil/confirm', Confirmation().refuse)
    asker.ask('S')
    told = [asker.called(said(data=is_yes), said()).message for is_yes in (True, False, True)]
    assert told == ['S: confirmed', 'S: refused', 'S: refused']
    assert asker.answer() is False


def test_a_plan_confirms_what_it_lists_and_nothing_else():
    asker = ByPlan(['S'])
    asker.ask('S')
    assert asker.answer() is True
    asker.ask('T')
    assert asker.answer() is False


class WayBack:
    """A service that brings the robot back, which takes a while; what happens on the way."""

    def __init__(self, says_why=None, settings=SETTINGS):
        self.says_why, self.happens = says_why, lambda: None
        self.called, self.is_there = [], []
        self.robot = Robot(settings, send_back=self)

    def __call__(self, look):
        robot = self.robot
        look()
        self.called.append(robot.now_ms)
        robot.says['feedback'] = odometry(speed=0.3, x=2.0)
        self.happens()
        for _ in range(100):
            look()
            robot.sleep(0.02)
        robot.says['feedback'] = odometry()
        self.is_there.append(robot.now_ms)
        return self.says_why

    def play(self, scenario_id='S'):
        """Play a trial from wherever the robot is; it ends 3 m away."""
        ended_by = play(self.robot, scenario_id)
        self.robot.says['feedback'] = odometry(x=3.0)
        return ended_by


def test_a_service_brings_the_robot_back_while_the_interlocks_hold():
    back = WayBack()
    robot = back.robot
    assert back.play() is None and not back.called
    robot.says['deadman'] = said(data=False)
    robot.later(2500, lambda: robot.says.update(deadman=said(data=True)))
    released_ms = robot.now_ms
    assert back.play() is None
    assert back.called and back.called[0] >= released_ms + 2500
    assert ('reset', {'service': '', 'why': None}) in robot.log


def test_a_way_back_that_failed_begins_no_trial():
    back = WayBack('got no success (blocked), expected success')
    assert back.play() is None
    shown = len(back.robot.left)
    back.robot.press_anew(500)
    assert 'got no success (blocked)' in str(back.play())
    assert len(back.robot.left) == shown


def test_nobody_is_sent_back_for_a_scenario_that_the_operator_refuses():
    back = WayBack()
    assert back.play('A') is None
    back.robot.answers['B'] = False
    back.robot.press_anew(500)
    for _ in range(3):
        assert 'got no from the operator for B' in str(back.play('B'))
    assert not back.called


def test_an_operator_is_asked_before_the_way_back_and_told_that_the_robot_will_move():
    back = WayBack(settings=SETTINGS.model_copy(update={'reset_service': '/go_home'}))
    robot = back.robot
    assert back.play('A') is None
    confirmed_ms = []
    robot.answers['B'] = None
    robot.press_anew(500)

    def confirm():
        confirmed_ms.append(robot.now_ms)
        robot.answers['B'] = True
    robot.later(3000, confirm)
    assert back.play('B') is None
    assert back.called[0] >= confirmed_ms[0]
    assert [told for told in robot.told if told.startswith('A: may it run')] == [
        'A: may it run on this robot? say yes']
    assert 'B: may it run on this robot? First /go_home moves it back to its start. say yes' \
        in robot.told


def test_a_dead_man_that_is_tied_down_lets_no_robot_back():
    back = WayBack()
    assert back.play() is None
    for _ in range(2):
        assert 'expected it to be released and pressed again' in str(back.play())
    assert not back.called


def test_each_way_back_needs_a_press_of_its_own_also_when_no_trial_followed():
    back = WayBack('got no success (blocked), expected success')
    assert back.play() is None
    back.robot.press_anew(500)
    assert 'blocked' in str(back.play())
    assert 'expected it to be released and pressed again' in str(back.play())
    assert len(back.called) == 1


@pytest.mark.parametrize(('name', 'message'), [
    ('deadman', said(data=False)), ('area', said(data=False)), ('protective', said(mode=3)),
    ('feedback', odometry(speed=0.9)), ('distance', None)])
@pytest.mark.parametrize('is_answered', [False, True])
def test_an_interlock_that_is_lost_on_the_way_back_ends_it_and_all_begins_anew(
        name, message, is_answered):
    back = WayBack()
    robot = back.robot
    assert back.play() is None
    before, held = len(robot.log), robot.says[name]
    robot.press_anew(500)

    def lose():
        robot.later(300, lambda: robot.says.update({name: message}))
        robot.later(1300, lambda: robot.says.update({name: held}))
    back.happens = lose
    if is_answered:  # at once, and the robot moves all the same
        def answer(look):
            look()
            back.called.append(robot.now_ms)
            robot.says['feedback'] = odometry(speed=0.3, x=2.0)
            robot.later(2000, lambda: robot.says.update(feedback=odometry()))
            lose()
        robot.readiness._send_back = answer
    ended_by = back.play()
    label = {'feedback': 'speed'}.get(name, name)
    assert str(ended_by).startswith(f'interlock {label}: ')
    assert 'the harness cannot stop it' in str(ended_by) and robot.told[-1] == str(ended_by)
    assert robot.now_ms - back.called[0] < 300 + 600, 'at its next look, or when it is too old'
    [lost] = [fields for what, fields in robot.log[before:] if what == 'lost on the way back']
    assert [*lost['lacking']] == [label]
    assert 'opened' not in [what for what, _ in robot.log[before:]]
    asked = len(robot.asked)
    robot.says[name] = held
    robot.sleep(2.0)
    robot.says['feedback'] = odometry(x=3.0)
    back.happens, robot.readiness._send_back = lambda: None, back
    if name != 'deadman':
        assert 'expected it to be released and pressed again' in str(back.play())
    robot.press_anew(500)
    assert back.play() is None
    assert len(robot.asked) == asked + 1, 'the confirmation was revoked'


def test_no_interlock_reads_a_clock_that_somebody_can_set():
    sources = sorted(Path(hil.__file__).parent.glob('*.py'))
    assert {'guard.py', 'interlock.py', 'people.py', 'robot_state.py'} <= {
        path.name for path in sources}
    readers = {path.name for path in sources if 'import time' in path.read_text('utf-8')}
    assert readers == {'hardware.py'}, 'which does not decide whether one holds'
