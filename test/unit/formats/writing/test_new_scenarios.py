# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A new scenario file is valid as it stands, passes who is right, and fails who is blind."""

import io

import pytest
from safety_scenarios import registry
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.scenario_reading import read_raw
from safety_scenarios.formats.writing.hazards import ROBOTS
from safety_scenarios.formats.writing.scenario_text import scenario_text
from safety_scenarios.formats.writing.template import Answers
from safety_scenarios.judging.blind_pass_rate import MOST, reckoned
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.lint.review import review
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.studies.selftest.selftest import in_simulated_time

BASE = RobotModel(kind='mobile_base', max_speed=1.0, radius=0.3, stopping=Stopping(
    model='constant_deceleration', deceleration=1.0))
ARM = RobotModel(kind='arm', max_speed=1.0, joints=('a', 'b', 'c', 'd', 'e', 'f'),
                 stopping=Stopping(model='measured', time=0.3, distance=0.15))
ALL = [(robot, kind) for robot in (BASE, ARM) for kind in ROBOTS[robot.kind]]
each = pytest.mark.parametrize(('robot', 'kind'), ALL, ids=[
    f'{robot.kind}-{kind}' for robot, kind in ALL])


def read(answers):
    """Return the hazard and its benign variant, which must have no problem and no warning."""
    made, scenarios = scenario_text(answers), []
    for text in (made.hazard, made.benign):
        reading = read_raw('new.yaml', text.encode(), Document, registry.resolve)
        assert (reading.problems, reading.warnings) == ([], [])
        scenarios.append(reading.scenario)
    return scenarios


def verdict(scenario, controller):
    return evaluate(in_simulated_time()(scenario, controller, 0)).verdict.value


@each
def test_every_kind_is_valid_and_gives_the_lint_nothing_to_warn_of(robot, kind):
    hazard, benign = read(Answers(kind, robot))
    assert [str(remark) for remark in review([hazard, benign]).remarks] == []
    assert benign.is_benign and benign.metadata['variant_of'] == hazard.id
    assert all(one.at_least <= 0.2 for one in benign.body.invariants
               if robot is BASE and one.kind == 'no_spurious_stop')
    assert reckoned(hazard).level <= MOST


@each
def test_the_reference_passes_and_a_blind_controller_fails(robot, kind):
    hazard, benign = read(Answers(kind, robot))
    assert [verdict(one, 'rule_based') for one in (hazard, benign)] == ['PASS', 'PASS']
    assert verdict(hazard, 'never_stop') == 'FAIL'
    assert verdict(hazard, 'blind_clock') == 'FAIL'
    assert verdict(benign, 'always_stop') != 'PASS'


@pytest.mark.parametrize(('robot', 'wanted'), [
    (BASE.model_copy(update={'max_speed': 0.3}), {}),
    (BASE.model_copy(update={'max_speed': 1.8, 'radius': 0.6}), {}),
    (BASE, {'distance': 4.0}), (BASE, {'approach_speed': 1.2}), (ARM, {'reach': 0.5}),
    (ARM, {'distance': 3.0, 'approach_speed': 1.0})])
def test_the_budget_leaves_room_at_any_speed_and_distance(robot, wanted):
    hazard, benign = read(Answers('person', robot, **wanted))  # refused if no controller could win
    assert hazard.latency_budget.critical_ms >= 50
    assert [str(remark) for remark in review([hazard, benign]).remarks] == []


def test_the_least_distance_that_a_refusal_names_is_accepted():
    with pytest.raises(InputError, match=r'expected at least (0\.\d+) m') as refusal:
        scenario_text(Answers('person', BASE, distance=0.3))
    least = float(str(refusal.value).partition('at least ')[2].partition(' ')[0])
    read(Answers('person', BASE, distance=least))
    with pytest.raises(InputError, match='expected at least'):
        scenario_text(Answers('person', BASE, distance=least - 0.02))


@pytest.mark.parametrize(('robot', 'wanted', 'message'), [
    (ARM, {'kind': 'obstacle'}, 'expected one of person, collision'),
    (BASE, {'kind': 'link_lost', 'distance': 1.0}, '--distance: got 1'),
    (BASE, {'kind': 'person', 'force': 9.0}, '--force: got 9'),
    (BASE, {'kind': 'person', 'distance': 20.0}, 'expected at most'),
    (BASE.model_copy(update={'stopping': None}), {'kind': 'person'}, '--stopping: got nothing')])
def test_answers_that_do_not_fit_together_are_refused(robot, wanted, message):
    with pytest.raises(InputError, match=message):
        scenario_text(Answers(robot=robot, **wanted))


@pytest.mark.parametrize('name', ['A: "b" #c', "it's", '- [x]', 'null', 'yes', '{a: 1}', '100'])
def test_a_name_may_hold_what_yaml_would_read_otherwise(name):
    hazard, _ = read(Answers('person', BASE, name=name))
    assert hazard.name == name


def test_an_id_of_the_numbered_scheme_gets_a_benign_id_of_that_scheme():
    hazard, benign = read(Answers('person', BASE, scenario_id='SCN-R-900'))
    assert (hazard.id, benign.id) == ('SCN-R-900', 'SCN-R-D-900')


def new(tmp_path, *options):
    return main(['new', 'scenario', *options, '--output', str(tmp_path / 'mine.yaml')])


def test_both_files_are_written_and_never_overwritten(tmp_path, capsys):
    assert new(tmp_path, '--kind', 'person', '--with-benign') == 0
    mine, benign = tmp_path / 'mine.yaml', tmp_path / 'mine_benign.yaml'
    assert capsys.readouterr().out.startswith(f'wrote {mine}\nwrote {benign}\n')
    before = benign.read_text()
    mine.unlink()
    assert new(tmp_path, '--kind', 'obstacle', '--with-benign') == 2
    assert 'exists already, and is not overwritten' in capsys.readouterr().err
    assert benign.read_text() == before and not mine.exists(), 'one was written without the other'


def test_a_link_to_nowhere_is_not_written_through(tmp_path):
    (tmp_path / 'mine.yaml').symlink_to(tmp_path / 'elsewhere.yaml')
    assert new(tmp_path, '--kind', 'person') == 2
    assert not (tmp_path / 'elsewhere.yaml').exists()


def test_without_a_terminal_the_kind_must_be_an_option(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr('sys.stdin', io.StringIO())
    assert new(tmp_path) == 2
    assert '--kind: got nothing, expected one of person' in capsys.readouterr().err


def test_in_a_terminal_it_asks_for_what_no_option_says(tmp_path, monkeypatch, capsys):
    class Terminal(io.StringIO):

        def isatty(self):
            return True

    answers = 'mobile_base', 'person', '0.8', '1.5', '0.25', '0', '', 'At the door', 'y'
    monkeypatch.setattr('sys.stdin', Terminal('\n'.join(answers) + '\n'))
    assert new(tmp_path) == 0
    text = (tmp_path / 'mine.yaml').read_text()
    assert 'name: At the door' in text and 'max_speed: 0.8' in text and 'radius: 0.25' in text
    assert (tmp_path / 'mine_benign.yaml').exists()


@pytest.mark.parametrize(('options', 'message'), [
    (('--robot', 'arm', '--radius', '0.3'), 'got 0.3, expected nothing for the robot arm'),
    (('--reach', '0.8'), '--reach: got 0.8, expected nothing for the robot mobile_base'),
    (('--deceleration', '1', '--stopping', '1', '1'), '--deceleration: got it beside --stopping')])
def test_an_option_of_another_robot_is_refused(tmp_path, capsys, options, message):
    assert new(tmp_path, '--kind', 'person', *options) == 2
    assert message in capsys.readouterr().err


def test_a_profile_gives_speed_stopping_and_size(tmp_path, capsys):
    assert new(tmp_path, '--kind', 'person', '--profile', 'turtlebot4') == 0
    text = (tmp_path / 'mine.yaml').read_text()
    assert 'max_speed: 0.31' in text and 'deceleration: 0.9' in text and 'radius: 0.18' in text
    assert '--profile turtlebot4' in capsys.readouterr().out


def test_a_profile_of_another_kind_of_robot_is_refused(tmp_path, capsys):
    assert new(tmp_path, '--kind', 'person', '--profile', 'turtlebot4', '--robot', 'arm') == 2
    assert 'got a robot of kind mobile_base, expected arm' in capsys.readouterr().err


@pytest.mark.parametrize('option', [
    ('--approach-speed', 'nan'), ('--radius', 'nan'), ('--distance', 'inf'),
    ('--stopping', 'nan', '1'), ('--max-speed', 'inf')], ids=' '.join)
def test_a_number_that_is_none_is_refused_by_its_option(option, tmp_path, capsys):
    file = tmp_path / 'new.yaml'
    assert main(['new', 'scenario', '--kind', 'person', *option, '--output', str(file)]) == 2
    shown = capsys.readouterr().err
    assert f"Invalid value for '{option[0]}': got" in shown and 'finite' in shown
    assert not file.exists()


@pytest.mark.parametrize(('option', 'place'), [
    (('--approach-speed', '1e12'), 'separation.approach_speed'),
    (('--radius', '1e300'), 'separation.reach')])
def test_a_number_that_nobody_has_is_refused(option, place, capsys):
    assert main(['new', 'scenario', '--kind', 'person', *option]) == 2
    assert f'error: {place}: got' in capsys.readouterr().err
