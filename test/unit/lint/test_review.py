# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Waivers, and what ``validate`` makes of warnings and of a calibration."""

from pathlib import Path

from cases import for_each
import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.formats.loading import load_scenarios, share_folder
from safety_scenarios.lint import limits
from safety_scenarios.lint.review import review
from safety_scenarios.scenario.timing import Calibration, DelayRecovery
from safety_scenarios.scenario.verdict import Estimate
from unit.formats.files import CONTAINS, loaded, plain, robot, write

HOSTILE = Path(__file__).resolve().parents[2] / 'data' / 'hostile'

ABSENCE = {'name': 'waits', 'description': 'It waits.', 'check_type': 'not_contains',
           'pattern': 'can wait'}


def codes(tmp_path, **changes):
    return [remark.code for remark in review(loaded(tmp_path, plain(**changes)).scenarios).remarks]


@pytest.fixture
def odd(tmp_path) -> str:
    return write(tmp_path / 'odd.yaml', plain(safety_invariants=[CONTAINS, ABSENCE]))


@pytest.fixture
def calibration(tmp_path):
    """Return a writer of what ``calibrate --json`` writes: floor and uncertainty in ms."""
    def written(floor_ms: float | None, uncertainty_ms: float) -> str:
        estimate = Estimate(value=floor_ms, low=None, high=None, n=300, unit='ms',
                            confidence=0.95, method='m')
        delay = DelayRecovery(delay_ms=0.0, sent=300, lost=0, error_ms={'source': (estimate,) * 2},
                              from_schedule_ms=(estimate, estimate))
        found = Calibration(method='source', floor_ms=(estimate, estimate), delays=(delay,),
                            late_ms=None, uncertainty_ms={'source': uncertainty_ms}, host={})
        return write(tmp_path / 'calibration.json', found.model_dump_json(indent=2))
    return written


def test_the_clinical_scenarios_are_clean():
    loaded_ = load_scenarios([str(share_folder() / 'config' / 'scenarios' / 'clinical')])
    assert review(loaded_.scenarios).remarks == ()


def test_a_warning_is_shown_and_does_not_fail(odd, capsys):
    assert main(['scenario', 'validate', odd]) == 0
    shown = capsys.readouterr()
    assert 'odd.yaml:22:12: L105 safety_invariants[1].pattern: got' in shown.err
    assert '1 scenario is valid, 1 warning' in shown.out


def test_strict_makes_it_an_error_told_once(odd, capsys):
    assert main(['scenario', 'validate', odd, '--strict']) == 2
    assert capsys.readouterr().err.count('L105') == 1


def test_run_says_nothing_of_it(odd, tmp_path, capsys):
    main(['run', odd, '--link', 'loopback', '--output', str(tmp_path / 'run')])
    shown = capsys.readouterr()
    assert 'SCN-C-001' in shown.out and 'L105' not in shown.out + shown.err


def test_a_waiver_with_a_reason_takes_the_warning_away_and_is_counted(tmp_path, capsys):
    path = write(tmp_path / 'a.yaml', plain(safety_invariants=[CONTAINS, ABSENCE],
                                            metadata={'lint': {'L105': 'known'}}))
    assert main(['scenario', 'validate', path, '--strict']) == 0
    assert '0 warnings, 1 waived by metadata.lint' in capsys.readouterr().out


@pytest.mark.parametrize('reason', ['', ' ', None, True, ['why']])
def test_a_waiver_without_a_reason_waives_nothing(tmp_path, reason):
    assert codes(tmp_path, safety_invariants=[CONTAINS, ABSENCE],
                 metadata={'lint': {'L105': reason}}) == ['L105', 'L118']


def test_a_waiver_is_for_its_own_code_alone(tmp_path):
    both = {**ABSENCE, 'pattern': 'go on'}
    assert codes(tmp_path, safety_invariants=[CONTAINS, both],
                 metadata={'lint': {'L105': 'known'}}) == ['L103']


@pytest.mark.parametrize(('walks', 'is_near'), [
    ('{speed: 5.0, by: [[2.9, 0.0], [2.9, -9.0]]}', True),
    ('{speed: 5.0, direction: 3.1}', True),
    ('{speed: 5.0, direction: 3.1, after_s: 2.0}', False),
    ('{speed: 5.0, by: [[11.0, -9.0]]}', False)])
def test_a_hazard_that_comes_near_later_is_near(tmp_path, walks, is_near):
    """The nearest place of its whole way counts, not where it appears."""
    text = (HOSTILE / 'separation_out_of_reach.yaml').read_text(encoding='utf-8')
    path = write(tmp_path / 'walks.yaml', text.replace(
        'distance: 11.0,', f'distance: 11.0, walks: {walks},'))
    found = {remark.code for remark in review(load_scenarios([path]).scenarios).remarks}
    assert ('L203' not in found) is is_near


def test_that_nothing_is_checked_cannot_be_waived(tmp_path, capsys):
    path = write(tmp_path / 'a.yaml', plain(safety_invariants=[],
                                            metadata={'lint': {'L113': 'known'}}))
    assert main(['scenario', 'validate', path, '--strict']) == 2
    shown = capsys.readouterr().err
    assert 'L113: no invariant' in shown
    assert 'L118 metadata.lint.L113: expected a code that may be waived' in shown


def test_a_warning_about_other_files_may_be_waived_where_they_are_not_loaded(tmp_path):
    assert codes(tmp_path, metadata={'lint': {'L111': 'it has none'}}) == []


@pytest.mark.parametrize(('uncertainty_ms', 'count'), [(200.0, 0), (200.001, 1), (2000.0, 3)])
def test_a_budget_below_the_floor_and_its_uncertainty_is_told(tmp_path, calibration, capsys,
                                                              uncertainty_ms, count):
    path = write(tmp_path / 'a.yaml', plain())
    file = calibration(300.0, uncertainty_ms)
    assert main(['scenario', 'validate', path, '--calibration', file]) == 0
    shown = capsys.readouterr().err
    assert shown.count('L109 latency_budget.') == count
    assert count == 0 or ':11:14: L109 latency_budget.target_ms: got 500 ms' in shown


def test_without_a_calibration_there_is_no_floor_to_hold_a_budget_against(tmp_path, capsys):
    assert main(['scenario', 'validate', write(tmp_path / 'a.yaml', plain()), '--strict']) == 0


def test_a_calibration_that_could_not_tell_is_refused(tmp_path, calibration, capsys):
    path = write(tmp_path / 'a.yaml', plain())
    assert main(['scenario', 'validate', path, '--calibration', calibration(None, 1.0)]) == 2
    assert 'Calibrate again' in capsys.readouterr().err


@pytest.mark.parametrize('text', ['', '{}', '[1]', '{"method": 3}', b'\xff'])
def test_a_file_that_is_no_calibration_is_refused(tmp_path, capsys, text):
    path = write(tmp_path / 'a.yaml', plain())
    other = write(tmp_path / 'c.json', text)
    assert main(['scenario', 'validate', path, '--calibration', other]) == 2
    shown = capsys.readouterr().err
    assert 'c.json' in shown and 'selftest calibrate --json' in shown and 'Traceback' not in shown


@pytest.mark.parametrize('within', [3001, 3001.0])
def test_a_whole_number_of_milliseconds_is_a_time_too(tmp_path, within):
    data = {**robot(invariants=[{'name': 's', 'kind': 'stop', 'within': within}]),
            'id': 'SCN-R-001', 'metadata': {'budget': {'why': 'w'}}}
    found = review(load_scenarios([write(tmp_path / 'r.yaml', data)]).scenarios)
    assert [remark.code for remark in found.remarks] == ['L116']


def test_the_bounds_of_a_scenario_are_collected_once(tmp_path, monkeypatch):
    """Else a file of some thousand bounds takes minutes to look at."""
    collected = []
    monkeypatch.setattr(limits, '_bounds', lambda ros: collected.append(ros) or [])
    bounds = [{'kind': 'bound', 'name': f'b{index}', 'signal': 'speed', 'at_most': 0.5 + index}
              for index in range(5)]
    review(loaded(tmp_path, robot(invariants=bounds)).scenarios)
    assert len(collected) <= 2  # as it stands, and as its draws are held against it


def test_monitor_files_need_no_benign_variant():
    """There is no hazard in them that one could belong to."""
    found = load_scenarios([str(share_folder() / 'config' / 'monitors' / '*.yaml')])
    assert len(found.scenarios) > 1 and review(found.scenarios).remarks == ()


@for_each(('right', 'wrong', 'code', 'field'), [
    ('signal: speed, at_most: 1.0}', 'signal: speed, at_most: 1.2}', 'L201', 1),
    ('signal: driven, at_most: 1.1', 'signal: driven, at_most: 110', 'L201', 2),
    ('speed: {topic: cmd_vel, field: linear,', 'speed: {topic: cmd_vel, field: LINEAR,', 'L217',
     'speed'),
    ('field: linear, reduce: norm', 'field: linear.x', 'L209', 1),
    ('max_age_ms: 500', 'max_age_ms: 500000', 'L210', 3),
    ('radius: 0.3}\n', 'radius: 300}\n', 'L210', 'radius')])
def test_a_check_of_a_monitor_that_no_motion_breaks_is_named(tmp_path, right, wrong, code, field):
    text = (share_folder() / 'config' / 'monitors' / 'mobile_base.yaml').read_text('utf-8')
    (tmp_path / 'odd.yaml').write_text(text.replace(right, wrong), encoding='utf-8')
    found = review(load_scenarios([str(tmp_path / 'odd.yaml')]).scenarios).remarks
    assert (code, field) in {(one.code, one.field[2]) for one in found}


def test_a_monitor_may_allow_more_measured_speed_than_is_declared(tmp_path):
    text = (share_folder() / 'config' / 'monitors' / 'mobile_base.yaml').read_text('utf-8')
    (tmp_path / 'fast.yaml').write_text(text.replace('at_most: 1.1', 'at_most: 1.5'))
    assert review(load_scenarios([str(tmp_path / 'fast.yaml')]).scenarios).remarks == ()


@pytest.mark.parametrize(('name', 'signal', 'own', 'code'), [
    ('confirmed_while_it_drives.yaml', 'field: twist.twist.angular.z, reduce: abs,',
     'field: velocity, reduce: max_abs,', 'L207'),
    ('frozen_data_and_driving_straight_on.yaml', 'field: angular.z, reduce: abs,',
     'field: data, reduce: max_abs,', 'L217')])
def test_wheels_tell_that_a_base_drives_straight_on(tmp_path, name, signal, own, code):
    text = (HOSTILE / name).read_text(encoding='utf-8').replace(
        'nav_msgs/msg/Odometry', 'sensor_msgs/msg/JointState').replace(
        '{topic: cmd_vel}', '{topic: cmd_vel, message: std_msgs/msg/Float64MultiArray}')
    assert signal in text
    for written, is_odd in ((text, True), (text.replace(signal, own), False)):
        found = review(load_scenarios([write(tmp_path / 'a.yaml', written)]).scenarios).remarks
        assert any(one.code == code and 'straight on' in one.message for one in found) is is_odd
