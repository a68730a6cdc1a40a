# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whole matrices in simulated time: the same trials in each arm, in an order that is no arm's."""

from contextlib import nullcontext
import json
from pathlib import Path
import shutil
from xml.etree import ElementTree

import pytest
from safety_scenarios.campaign.rejudging.rejudge import results_of
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError, SettingsError
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.studies.matrix.file import (
    matrix_of_controllers,
    MatrixFile,
    read_matrix,
    resolved,
)
from safety_scenarios.studies.matrix.run import plan_matrix, run_matrix
from safety_scenarios.studies.matrix.summary import MatrixSummary

QUICK = str(Path(__file__).parents[3] / 'data' / 'quick_person.yaml')
SET = {'link': 'loopback', 'words': 'patterns'}
ARMS = {'rule': {}, 'slow': {'set': {'controller.cruise': 0.4}},
        'late': {'controller': 'late', 'set': {'controller.delay_ms': 900}, 'counts': False}}


def planned(folder, arms=ARMS, **more):
    matrix = MatrixFile(**{'scenarios': (QUICK,), 'trials': 3, 'seed': 5, 'set': SET,
                           'arms': arms, **more})
    return plan_matrix(*resolved(matrix), folder)


def run(folder, *, resumed=False, **more):
    return run_matrix(planned(folder, **more), lambda arm: nullcontext(()), resumed=resumed)


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp('matrix') / 'whole'
    return run(folder).summary, folder


def test_every_arm_meets_the_same_worlds_and_seeds_and_is_a_campaign_of_its_own(whole):
    summary, folder = whole
    met = [[(one.scenario_id, one.index, one.seed) for one in results_of(folder / arm)]
           for arm in ARMS]
    assert met[0] == met[1] == met[2] and len(met[0]) == 3
    assert [arm.completed for arm in summary.arms] == [3, 3, 3]
    assert MatrixSummary.model_validate_json((folder / 'matrix.json').read_bytes()) == summary


def test_the_exit_code_is_that_of_the_worst_arm_that_counts(whole, capsys):
    summary, folder = whole
    told = {arm.name: arm.verdict.value for arm in summary.arms}
    assert (told['rule'], told['late'], summary.exit_code) == ('PASS', 'FAIL', 0)
    assert main(['show', str(folder)]) == 0
    shown = ' '.join(capsys.readouterr().out.split())
    assert 'late FAIL (does not count)' in shown
    assert 'late failed by: ' in shown and 'rule failed by' not in shown
    assert summary.arms[2].failed_checks['reaction within the budget'] == 3


@pytest.mark.parametrize('counts', [True, False])
def test_an_arm_of_which_nothing_could_be_judged_is_never_green(tmp_path, counts):
    found = run(tmp_path / 'm', arms={'rule': {}, 'mute': {
        'controller': 'always_stop', 'counts': counts}}).summary
    mute = found.arms[1]
    assert not {'PASS', 'FAIL'} & set(mute.verdicts) and found.exit_code == 3


def test_arms_take_turns_in_an_order_that_the_seed_draws(tmp_path):
    order = [(name, task.trial.index) for name, task in planned(tmp_path, trials=20).tasks]
    assert [index for _, index in order] == [index for index in range(20) for _ in ARMS]
    firsts = [order[place][0] for place in range(0, 60, 3)]
    assert set(firsts) == set(ARMS)
    assert order == [(name, task.trial.index) for name, task in planned(tmp_path, trials=20).tasks]
    blocks = [name for name, _ in planned(tmp_path, trials=20, order='block').tasks]
    assert sum(one != other for one, other in zip(blocks, blocks[1:])) == 2


def test_warm_up_is_the_same_in_every_arm(tmp_path):
    plan = planned(tmp_path, set={**SET, 'warmup': 2})
    assert {arm.plan.trials[:2] == tuple(trial for trial in arm.plan.trials if trial.warmup)
            for arm in plan.arms} == {True}


def test_two_arms_that_are_one_are_refused_by_what_they_are_and_not_by_their_names(tmp_path):
    with pytest.raises(InputError, match='arm b: got the configuration of arm a'):
        planned(tmp_path, arms={'a': {}, 'b': {'set': {'controller_label': 'another'}}})
    with pytest.raises(InputError, match='arm b: got the configuration of arm a'):
        planned(tmp_path, arms={
            'a': {'controller': 'late', 'set': {'controller.delay_ms': 100}},
            'b': {'controller': 'late', 'set': {'controller.delay_ms': 100.0}}})


def test_a_copy_of_a_model_under_another_name_is_the_same_arm(tmp_path):
    for name in ('one', 'two'):
        for suffix in ('onnx', 'yaml'):
            text = (share_folder() / 'config' / 'policies' / f'base.{suffix}').read_bytes()
            (tmp_path / f'{name}.{suffix}').write_bytes(text.replace(
                b'base.onnx', f'{name}.onnx'.encode()) if suffix == 'yaml' else text)
    shutil.copy(tmp_path / 'one.yaml', tmp_path / 'two.yaml')
    matrix = matrix_of_controllers([f'onnx:{tmp_path / name}.onnx' for name in ('one', 'two')],
                                   (QUICK,)).model_copy(update={'set': SET})
    with pytest.raises(InputError, match='got the configuration of arm one.onnx'):
        plan_matrix(*resolved(matrix), tmp_path / 'm')


def test_a_problem_of_an_arm_names_it(tmp_path):
    with pytest.raises(InputError, match=r'(?s)arm a: .*stop_distanc_m.*arm b: .*no_such'):
        planned(tmp_path, arms={'a': {'set': {'controller.stop_distanc_m': 1}},
                                'b': {'controller': 'no_such'}, 'c': {}})


def test_a_setting_that_never_reached_the_controller_is_a_warning_everywhere(tmp_path, capsys):
    folder = tmp_path / 'm'
    arms = {'full': {'set': {'sut_version': 'fp32'}}, 'quantised': {
        'set': {'sut_version': 'int8'}}, 'late': ARMS['late']}
    found = run(folder, arms=arms).summary
    [warning] = found.check.warnings
    assert warning == ('arm quantised gave bit for bit the same commands as full in 3 of 3 '
                       'trials: did its setting reach the model?')
    assert found.check.differences['sut_version'] == {
        'full': 'fp32', 'quantised': 'int8', 'late': ''}
    main(['compare', str(folder / 'full'), str(folder / 'quantised'), '--json', '-'])
    printed = capsys.readouterr()
    assert 'the same commands as' in printed.err
    assert 'the same commands as' in json.loads(printed.out)['others'][0]['warning']
    main(['compare', str(folder / 'full'), str(folder / 'late'), '--json', '-'])
    printed = capsys.readouterr()
    assert json.loads(printed.out)['others'][0]['warning'] == ''
    assert 'warning' not in printed.err
    assert main(['report', str(folder)]) == 0
    page = (folder / 'report.html').read_text(encoding='utf-8')
    assert 'arm quantised gave bit for bit the same commands as full in 3 of 3 trials' in page


def cut(folder, lines):
    """Leave a matrix as a kill leaves it: so many whole lines in each arm, and half a one."""
    (folder / 'matrix.json').unlink()
    for arm, count in lines.items():
        for name in ('campaign.json', 'manifest.json'):
            (folder / arm / name).unlink()
        results = folder / arm / 'trials.jsonl'
        whole = results.read_bytes().splitlines(keepends=True)
        results.write_bytes(b''.join(whole[:count]) + b'{"trial_id": "half')


def test_a_matrix_that_was_killed_is_gone_on_with_and_comes_to_the_same(
        whole, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv('SAFETY_SCENARIOS_REPORT', 'off')
    summary, folder = whole
    left = tmp_path / 'left'
    shutil.copytree(folder, left)
    cut(left, {'rule': 2, 'late': 0})  # slow had ended
    shutil.rmtree(left / 'late')
    junit = tmp_path / 'junit.xml'
    assert main(['run', QUICK, '--resume', str(left), '--jobs', '2', '-q', '--junit',
                 str(junit)]) == 0
    suites = ElementTree.fromstring(junit.read_bytes())  # also the arm that had ended
    assert [suite.get('name') for suite in suites] == [*ARMS]
    assert (suites.get('tests'), suites.get('failures'), suites.get('errors')) == ('12', '0', '0')
    [told, *_] = suites.findall('testsuite/testcase/system-out')
    assert told.text.startswith('FAIL: ') and 'This arm does not count' in told.text
    assert MatrixSummary.model_validate_json((left / 'matrix.json').read_bytes()) == summary
    for arm in ARMS:
        assert (left / arm / 'trials.jsonl').read_bytes() == (
            folder / arm / 'trials.jsonl').read_bytes()
    assert main(['run', QUICK, '--resume', str(left)]) == 2
    assert 'its matrix has ended' in capsys.readouterr().err


def test_another_matrix_does_not_go_on_in_the_folder_of_one(whole, tmp_path):
    left = tmp_path / 'left'
    shutil.copytree(whole[1], left)
    cut(left, {'rule': 1})
    with pytest.raises(SettingsError, match='was run with another matrix'):
        run(left, resumed=True, trials=4)
    with pytest.raises(SettingsError, match='is not empty'):
        run(left)


def test_a_changed_matrix_shows_nothing(whole, tmp_path, capsys):
    left = tmp_path / 'left'
    shutil.copytree(whole[1], left)
    path = left / 'matrix.yaml'
    path.write_text(path.read_text(encoding='utf-8').replace('counts: false', 'counts: true'),
                    encoding='utf-8')
    assert main(['show', str(left)]) == main(['report', str(left)]) == 2
    assert 'it was changed since the matrix was run' in capsys.readouterr().err


def test_a_changed_result_of_an_arm_is_named_and_no_arm_of_it_passes(whole, tmp_path, capsys):
    left = tmp_path / 'left'
    shutil.copytree(whole[1], left)
    results = left / 'rule' / 'trials.jsonl'
    results.write_text(results.read_text(encoding='utf-8').replace(
        '"duration_ms"', '"duration_ms" '), encoding='utf-8')
    assert main(['show', str(left)]) == 3
    told = ' '.join(capsys.readouterr().out.split())
    assert 'rule: cannot be relied on' in told and 'rule INCONCLUSIVE' in told


def test_several_controllers_on_the_command_line_are_arms(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv('SAFETY_SCENARIOS_REPORT', 'off')
    junit = tmp_path / 'junit.xml'
    code = main(['run', QUICK, '--link', 'loopback', '--words', 'patterns', '--seed', '5',
                 '--controller', 'rule_based', '--controller', 'never_stop', '--json',
                 '--output', str(tmp_path / 'm'), '--junit', str(junit)])
    found = json.loads(capsys.readouterr().out)
    suites = ElementTree.fromstring(junit.read_bytes())
    assert all(suite.get('timestamp') > '2026' for suite in suites)  # no simulated date
    assert [suite.get('failures') for suite in suites] == [
        '0', '1'] and not list(tmp_path.glob('*.*.xml'))
    assert code == found['exit_code'] == 1
    assert [arm['name'] for arm in found['arms']] == ['rule_based', 'never_stop']
    matrix, _ = read_matrix(tmp_path / 'm' / 'matrix.yaml')
    assert (matrix.seed, matrix.order, dict(matrix.set)['link']) == (5, 'trial', 'loopback')
    assert main(['run', QUICK, '--controller', 'late', '--controller', 'never_stop', '--output',
                 str(tmp_path / 'm'), '--junit', str(junit)]) == 2
    assert 'is not empty' in junit.read_text(encoding='utf-8')  # no old file is taken for its own
    assert 'is not empty' in capsys.readouterr().err
    assert main(['run', '--matrix', str(tmp_path / 'm' / 'matrix.yaml')]) == 2
    assert 'quick_person.yaml' in capsys.readouterr().err  # named without its folder
    assert main(['evaluate', str(tmp_path / 'm')]) == 2
    assert f"Name an arm: {tmp_path / 'm' / 'rule_based'}, " in capsys.readouterr().err
    same, arms = resolved(matrix, {'scenarios': (QUICK,)})
    assert plan_matrix(same, arms, tmp_path / 'again').matrix == matrix


def test_what_does_not_go_together_is_refused(tmp_path, capsys):
    path = tmp_path / 'm.yaml'
    path.write_text('arms: {a: {}, b: {controller: late}}\n', encoding='utf-8')
    assert main(['run', '--matrix', str(path), '--controller', 'late']) == 2
    assert main(['run', '--matrix', str(path), '--live']) == 2
    assert main(['run', '--matrix', str(path), '--set', 'sequential.p1=0.1']) == 2
    assert main(['run']) == 2
    told = capsys.readouterr().err
    assert 'expected it in the file' in told and 'sequential.p1' in told
    assert "Missing argument 'SCENARIO...'" in told
