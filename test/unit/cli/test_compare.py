# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Two campaigns side by side, as the command prints them."""

import json
from pathlib import Path
import re
import shutil

import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.formats.loading import load_scenarios

pytestmark = pytest.mark.slow
SCENARIO = 'SCN-R-101'


@pytest.fixture(scope='module')
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp('runs')
    for controller in ('rule_based', 'late'):
        main(['run', SCENARIO, '--link', 'loopback', '--trials', '8', '--controller', controller,
              '--output', str(folder / controller)])
    main(['run', SCENARIO, '--link', 'loopback', '--seed', '1', '--output', str(folder / 'seed')])
    return folder


def compared(capsys, first, second, *options):
    code = main(['compare', str(first), str(second), *options])
    return code, capsys.readouterr()


@pytest.mark.thorough
def test_one_scenario_says_nothing_of_scenarios_and_something_of_itself(runs, capsys):
    code, shown = compared(capsys, runs / 'rule_based', runs / 'late')
    assert code == 0
    assert '8 pairs of trials in 1 scenario' in shown.out
    assert '0, 8, 0, 0' in shown.out
    assert '1 (over scenarios)' in shown.out
    assert 'only 1 of 1 scenario differs, so p cannot fall below 1' in ' '.join(shown.out.split())
    assert '0.00782 (McNemar' in shown.out
    assert '0, 1 (SCN-R-101)' in shown.out
    assert '750 [-inf, inf] n=1' in shown.out
    assert 'judging 8 trials again' in shown.err and 'bit for bit' not in shown.err


def test_a_campaign_equals_itself(runs, capsys):
    code, shown = compared(capsys, runs / 'late', runs / 'late')
    assert code == 0
    assert '0, 0, 0, 8' in shown.out
    assert shown.out.count('1 (over scenarios)') == 2
    assert 'is not significantly worse than' in shown.out.splitlines()[-1]
    assert 'gave bit for bit the same commands as' in shown.err and 'in 8 of 8 trials' in shown.err


def test_who_names_the_same_scenarios_otherwise_is_comparable_and_who_leaves_one_out_not_green(
        tmp_path, capsys, gate):
    ids, more = ('SCN-R-101', 'SCN-R-104'), ('--link', 'loopback', '--seed', '3', '-q')
    for name, chosen in (('ids', ()), ('tag', ('--tag', 'mobile_base')), (
            'fewer', ('--set', 'selection.skip=["SCN-R-104"]'))):
        assert main(['run', *ids, *chosen, *more, '--output', str(tmp_path / name)]) == 0
    assert compared(capsys, tmp_path / 'ids', tmp_path / 'tag')[0] == 0
    code, shown = compared(capsys, tmp_path / 'ids', tmp_path / 'fewer', *gate)
    assert code == 3 and 'nothing could be compared of SCN-R-104' in shown.err


@pytest.fixture(scope='module')
def gate(tmp_path_factory):
    file = tmp_path_factory.mktemp('gate') / 'gate.yaml'
    file.write_text('limits:\n- figure: regression\n')
    return '--gate', str(file)


def test_a_significant_regression_fails_the_gate_and_an_improvement_does_not(runs, gate, capsys):
    code, shown = compared(capsys, runs / 'rule_based', runs / 'late', *gate)
    last = ' '.join(shown.out.split()).rpartition(' is worse than ')[2]
    assert code == 1 and re.match(
        r'\S+: fails more often in SCN-R-101: 8 of 8 pairs against 0, p = \S+', last)
    assert last.endswith(' over scenarios') and 'differs by' not in last
    assert 'regression: late fails more often in SCN-R-101: 8 of 8 pairs against 0' in shown.err
    assert compared(capsys, runs / 'late', runs / 'rule_based', *gate)[0] == 0
    assert compared(capsys, runs / 'late', runs / 'late', *gate)[0] == 0


def test_the_comparison_is_written_as_json(runs, gate, tmp_path, capsys):
    file = tmp_path / 'c.json'
    folders = runs / 'rule_based', runs / 'late'
    assert compared(capsys, *folders, *gate, '--json', str(file))[0] == 1
    whole = json.loads(file.read_text())
    [found] = whole['others']
    assert (whole['exit_code'], found['decided'], found['pairs']) == (1, 8, 8)
    assert [one['answer'] for one in whole['gate']['outcomes']] == ['broken']
    assert found['alone'][0]['scenario_id'] == SCENARIO and [
        text.partition(' in ')[0] for text in found['regressions']] == [
            'fails more often', 'reacts later']
    code, shown = compared(capsys, *folders, '--json', '-')
    whole.pop('gate')
    assert json.loads(shown.out) == {**whole, 'exit_code': code} and code == 0
    assert '8 pairs of trials' in shown.err
    assert compared(capsys, *folders, '--json', str(file / 'c.json'))[0] == 2


def test_pairs_that_are_all_undecided_compare_nothing(runs, gate, tmp_path, capsys):
    results = []
    for name in ('first', 'second'):
        main(['run', SCENARIO, '--link', 'loopback', '--trials', '8', '--controller',
              'always_stop', '--output', str(tmp_path / name)])
        results.append(tmp_path / name)
    capsys.readouterr()
    for pair in (results, (runs / 'rule_based', results[1])):
        for options in ((), gate):
            code, shown = compared(capsys, *pair, *options)
            assert code == 3
            assert 'no pair of trials is PASS or FAIL in both' in shown.err


def test_a_gate_that_no_result_could_fail_is_not_green(gate, tmp_path, capsys):
    main(['run', SCENARIO, '--link', 'loopback', '--trials', '5', '--output', str(tmp_path / 'r')])
    code, shown = compared(capsys, tmp_path / 'r', tmp_path / 'r', *gate)
    assert code == 3 and 'so few pairs can show no regression' in shown.err
    assert compared(capsys, tmp_path / 'r', tmp_path / 'r')[0] == 0


def test_another_gate_is_not_comparable(runs, tmp_path, capsys):
    main(['run', SCENARIO, '--link', 'loopback', '--trials', '8', '--gate', 'target', '--output',
          str(tmp_path / 'gate')])
    code, shown = compared(capsys, runs / 'rule_based', tmp_path / 'gate')
    assert code == 2
    assert "gate is 'critical' in the first, 'target' in the second" in shown.err
    assert 'over scenarios' not in shown.out


def test_a_file_with_another_budget_is_another_scenario(tmp_path, capsys):
    [source] = load_scenarios((SCENARIO,)).scenarios
    text = Path(source.origin.path).read_text()
    assert 'critical_ms: 500' in text
    folders = []
    for name, limit in (('a', 500), ('b', 499)):
        (tmp_path / name).mkdir()
        (tmp_path / name / 's.yaml').write_text(
            text.replace('critical_ms: 500', f'critical_ms: {limit}'))
        folders.append(tmp_path / f'run_{name}')
        main(['run', str(tmp_path / name / 's.yaml'), '--link', 'loopback', '--output',
              str(folders[-1])])
    capsys.readouterr()
    code, shown = compared(capsys, *folders)
    assert code == 2 and 'SCN-R-101 is not the same scenario in both' in shown.err
    assert 'over scenarios' not in shown.out


def test_other_draws_are_not_the_same_trials(runs, capsys):
    code, shown = compared(capsys, runs / 'rule_based', runs / 'seed')
    assert code == 2
    assert 'expected the same. Run both with the same --seed' in shown.err


def test_a_folder_without_results_is_named(runs, tmp_path, capsys):
    folder = shutil.copytree(runs / 'late', tmp_path / 'run')
    (folder / 'trials.jsonl').unlink()
    code, shown = compared(capsys, folder, runs / 'late')
    assert code == 2
    assert f'{folder}/trials.jsonl: cannot be read' in shown.err
    empty = tmp_path / 'empty'
    empty.mkdir()
    code, shown = compared(capsys, empty, runs / 'late')
    assert code == 2
    assert f'{empty}: got no campaign in it' in shown.err


def test_a_broken_line_is_named_with_its_number(runs, tmp_path, capsys):
    folder = shutil.copytree(runs / 'late', tmp_path / 'run')
    lines = (folder / 'trials.jsonl').read_text().splitlines()
    (folder / 'trials.jsonl').write_text('\n'.join([*lines[:3], lines[3][:200]]))
    code, shown = compared(capsys, folder, runs / 'rule_based')
    assert code == 3
    assert 'trials.jsonl:4: cannot be read' in shown.err
    assert 'trials.jsonl: changed' in shown.err
    assert 'pairs of trials' not in shown.out


def test_preflight_in_loopback_publishes_no_hazard_and_finds_the_stream(capsys):
    assert main(['preflight', SCENARIO, '--link', 'loopback']) == 0
    shown = capsys.readouterr().out
    assert 'a command each 50 ms' in shown
    assert 'loopback: one process, no DDS' in shown


def test_preflight_of_a_controller_at_rest_is_not_in_order(capsys):
    assert main(['preflight', SCENARIO, '--link', 'loopback', '--controller', 'always_stop']) == 3
    assert 'did not get moving' in capsys.readouterr().out
