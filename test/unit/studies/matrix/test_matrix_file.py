# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The file of a matrix: every mistake at its line, and what was run reads as it was."""

from cases import for_each
import pytest
from safety_scenarios.errors import InputError, SettingsError
from safety_scenarios.studies.matrix.file import (
    freeze,
    matrix_of_controllers,
    MatrixFile,
    read_matrix,
    resolved,
    write_matrix,
    written_out,
)

WHOLE = """\
scenarios: [SCN-R-101]
trials: 2
seed: 7
set: {link: loopback, controller.cruise: 0.4}
arms:
  near: {set: {controller.stop_distance_m: 1.0}}
  far: {set: {controller.stop_distance_m: 2.0}, counts: false}
"""


def read(tmp_path, text):
    path = tmp_path / 'm.yaml'
    path.write_text(text, encoding='utf-8')
    return read_matrix(path)[0]


def refused(tmp_path, text):
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    return str(error.value)


def test_arms_have_what_all_share_and_their_own(tmp_path):
    matrix, [near, far] = resolved(read(tmp_path, WHOLE))
    assert (near.settings.trials, near.settings.seed, near.settings.link) == (2, 7, 'loopback')
    assert near.settings.controller_parameters == ('cruise=0.4', 'stop_distance_m=1.0')
    assert far.settings.controller_parameters == ('cruise=0.4', 'stop_distance_m=2.0')
    assert (near.counts, far.counts) == (True, False)
    assert matrix.is_frozen and matrix.sha256 == matrix.digest


@for_each(('place', 'wrong', 'expected'), [
    ('m.yaml:6:10: arms.near.sett', WHOLE.replace('near: {', 'near: {sett: 1, '),
     "Did you mean 'set'?"),
    ('m.yaml:2', WHOLE.replace('trials: 2', 'trials: 0'), 'expected a number >= 1'),
    ('m.yaml:4', WHOLE.replace('link: loopback', 'lnk: loopback'), "Did you mean 'link'?"),
    ('m.yaml:6', WHOLE.replace('controller.stop_distance_m: 1.0', 'gate: target'),
     'all arms must share'),
    ('m.yaml:6', WHOLE.replace('controller.stop_distance_m: 1.0', 'seed: 3'),
     'all arms must share'),
    ('m.yaml:4', WHOLE.replace('link: loopback', 'trials: 3'), 'as the key trials of the file'),
    ('m.yaml:7', WHOLE.replace('far:', 'a/b:'), 'a/b'),
    ('m.yaml:6', WHOLE + 'axes: {controller.stop_distance_m: [1, 2]}\n', 'expected one of them'),
    ('m.yaml:8', WHOLE + 'axes: {controller.cruise: [1]}\n', 'at least 2'),
    ('m.yaml', 'scenarios: [A]\n', 'neither arms nor axes'),
    ('m.yaml:1:1: scenarios', WHOLE.replace('[SCN-R-101]', '[]'),
     'got an empty list, expected a scenario'),
    ('m.yaml:4', WHOLE.replace('link: loopback', 'output: here'), 'Name the folder by --output'),
    ('m.yaml:1:1', '', 'got an empty file, expected data in it. Fill it in'),
    ('m.yaml', 'arms: {a: {counts: false}, b: {counts: false}}\n', 'no arm that counts'),
])
def test_mistakes_are_refused_at_their_place(place, wrong, expected, tmp_path):
    told = refused(tmp_path, wrong)
    assert place in told and expected in told


def test_axes_are_multiplied_and_name_their_arms():
    matrix = written_out(MatrixFile(
        arms={'x': {'controller': 'late'}, 'y': {'controller': 'rule_based'}},
        axes={'controller.delay_ms': (0, 100), 'period_ms': (50.0, 20.0)}))
    assert list(matrix.arms)[:3] == ['x,delay_ms=0,period_ms=50.0', 'x,delay_ms=0,period_ms=20.0',
                                     'x,delay_ms=100,period_ms=50.0']
    assert len(matrix.arms) == 8
    alone = written_out(MatrixFile(axes={'controller': ('late', 'onnx:/some/where/net.onnx')}))
    assert list(alone.arms) == ['late', 'net.onnx']


@for_each('matrix', [
    MatrixFile(arms={'only': {}}),
    MatrixFile(axes={'controller.a': tuple(range(11)), 'controller.b': tuple(range(11))})])
def test_one_arm_is_no_matrix_and_too_many_are_refused(matrix):
    with pytest.raises(SettingsError, match='expected 2 to 100'):
        written_out(matrix)


def test_the_command_line_counts_above_the_file_but_not_above_an_arm(tmp_path):
    matrix = read(tmp_path, WHOLE)
    frozen, [near, _] = resolved(matrix, {'trials': 5, 'link': 'simulated'})
    assert (near.settings.trials, near.settings.link) == (5, 'simulated')
    assert (frozen.trials, frozen.set['link']) == (5, 'simulated')
    with pytest.raises(SettingsError, match='arm near: got controller.stop_distance_m in the '
                                            'matrix and on the command line'):
        resolved(matrix, {'controller_parameters': ('stop_distance_m=3',)})


def test_a_value_that_does_not_fit_names_its_arm():
    with pytest.raises(InputError, match='arm a: .*period_ms.*0.5'):
        resolved(MatrixFile(scenarios=('A',), arms={'a': {'set': {'period_ms': 0.5}}, 'b': {}}))


def test_a_matrix_that_was_run_reads_as_it_was_and_is_refused_when_it_was_changed(tmp_path):
    matrix, _ = resolved(read(tmp_path, WHOLE + 'axes: {period_ms: [50, 20]}\n'))
    write_matrix(matrix, tmp_path)
    again, _ = read_matrix(tmp_path / 'matrix.yaml')
    assert again == matrix and resolved(again)[0] == matrix
    text = (tmp_path / 'matrix.yaml').read_text(encoding='utf-8')
    changed = refused(tmp_path, text.replace('stop_distance_m: 1.0', 'stop_distance_m: 1.5'))
    assert 'sha256' in changed and 'it was changed since the matrix was run' in changed


def test_without_a_seed_one_is_drawn_and_kept():
    matrix = matrix_of_controllers(('late', 'rule_based'), ('SCN-R-101',))
    one, arms = resolved(matrix)
    assert one.seed == arms[0].settings.seed == arms[1].settings.seed >= 0
    assert freeze(one).seed == one.seed


def test_the_same_controller_twice_is_refused():
    with pytest.raises(SettingsError, match='got late twice'):
        matrix_of_controllers(('late', 'late'), ('A',))
    assert list(matrix_of_controllers(('onnx:a/net.onnx', 'onnx:b/net.onnx'), ('A',)).arms) == [
        'net.onnx', 'net.onnx-2']
