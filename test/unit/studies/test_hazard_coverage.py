# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The hazard register, and which of its hazards scenarios probe."""

import json
from pathlib import Path

import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError
from safety_scenarios.formats.companion_files import load_register
from safety_scenarios.formats.loading import look_through
from safety_scenarios.scenario.companion_files import Hazard, HazardRegister
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.hazard_coverage import hazard_coverage

HAZARD = {'id': 'M01', 'name': 'struck', 'group': 'mechanical', 'situation': 'a', 'harms': 'b',
          'severity': 'S2', 'exposure': 'F1', 'avoidance': 'P2', 'clauses': ['ISO 12100:2010'],
          'safety_function': 'stop', 'robots': ['mobile_base'],
          'modalities': ['sensor', 'object', 'wire']}


def one_hazard() -> HazardRegister:
    return HazardRegister.model_validate_json(json.dumps({'name': 'own', 'hazards': [HAZARD]}))


@pytest.fixture(scope='module')
def shipped():
    found = look_through()
    assert not found.problems
    return found.loaded.scenarios


@pytest.mark.parametrize(('risk', 'level'), [
    ('S1 F1 P1', 'a'), ('S1 F1 P2', 'b'), ('S1 F2 P1', 'b'), ('S1 F2 P2', 'c'),
    ('S2 F1 P1', 'c'), ('S2 F1 P2', 'd'), ('S2 F2 P1', 'd'), ('S2 F2 P2', 'e')])
def test_the_performance_level_is_that_of_the_risk_graph(risk, level):
    severity, exposure, avoidance = risk.split()
    hazard = Hazard.model_validate_json(json.dumps(HAZARD | {
        'severity': severity, 'exposure': exposure, 'avoidance': avoidance}))
    assert hazard.performance_level == level


def test_every_shipped_scenario_names_a_hazard_of_the_register(shipped):
    found = hazard_coverage(load_register(), shipped)
    assert not found.unnamed
    assert not found.unlisted


def test_every_hazard_scenario_of_a_robot_has_a_benign_variant(shipped):
    found = hazard_coverage(load_register(), shipped)
    assert not [name for row in found.rows for cell in row.cells.values()
                for name in cell.without_benign]


def test_a_cell_counts_scenarios_of_one_robot_and_modality_and_the_rest_are_gaps(shipped):
    register = one_hazard()
    known = {one.id: one for one in shipped}
    named = [known[name].model_copy(update={'hazards': ('M01',)})
             for name in ('SCN-R-101', 'SCN-R-107', 'SCN-R-106')]
    results = [TrialResult.model_construct(scenario_id='SCN-R-101', warmup=warmup,
                                           verdict=verdict) for warmup, verdict in (
        (True, Verdict.FAIL), (False, Verdict.PASS), (False, Verdict.INCONCLUSIVE))]
    [row] = hazard_coverage(register, named[:2], results).rows
    assert row.gaps == (('mobile_base', 'wire'),)
    assert row.cells['mobile_base', 'sensor'].scenarios == ('SCN-R-101',)
    assert row.cells['mobile_base', 'sensor'].trials == 2
    assert row.cells['mobile_base', 'sensor'].verdict is Verdict.INCONCLUSIVE
    assert row.cells['mobile_base', 'object'].verdict is None
    [row] = hazard_coverage(register, named).rows
    assert not row.gaps


def test_a_label_that_the_register_lacks_is_reported(shipped):
    register = one_hazard()
    found = hazard_coverage(register, [one for one in shipped if one.id == 'SCN-R-109'])
    assert found.unlisted == {'E01': ('SCN-R-109',)}
    assert found.unnamed == ('SCN-R-109',)
    assert [one.id for one in found.missing] == ['M01']


def test_a_wrong_register_is_refused_with_its_line(tmp_path):
    path = tmp_path / 'hazards.yaml'
    path.write_text(f'name: own\nhazards:\n  - {json.dumps(HAZARD | {"severity": "S3"})}\n',
                    encoding='utf-8')
    with pytest.raises(InputError, match=r"hazards.yaml:3:.*severity.*'S3'.*'S1' or 'S2'"):
        load_register(path)
    path.write_text(f'name: own\nhazards: [{json.dumps(HAZARD)}, {json.dumps(HAZARD)}]\n',
                    encoding='utf-8')
    with pytest.raises(InputError, match='M01 more than once'):
        load_register(path)


def test_the_command_prints_draws_and_names_what_no_scenario_probes(tmp_path, capsys):
    register = tmp_path / 'own.yaml'
    register.write_text(f'name: own\nhazards: [{json.dumps(HAZARD)}, '
                        f'{json.dumps(HAZARD | {"id": "Z9", "name": "flooded"})}]\n',
                        encoding='utf-8')
    picture = tmp_path / 'hazards.svg'
    assert main(['scenario', 'coverage', 'SCN-R-101', 'SCN-R-D-101', '--register', str(register),
                 '--picture', str(picture)]) == 0
    text = ' '.join(capsys.readouterr().out.split())
    assert 'no scenario: Z9 flooded' in text
    assert '1 of 2 hazards of the register have a scenario' in text
    assert 'not in the register: A07 (SCN-R-D-101)' in text
    assert picture.read_text(encoding='utf-8').startswith('<?xml')


def test_a_campaign_puts_its_verdicts_into_the_cells(tmp_path, capsys):
    folder = tmp_path / 'campaign'
    assert main(['run', 'SCN-R-101', '--link', 'loopback', '--controller', 'never_stop',
                 '--output', str(folder)]) == 1
    capsys.readouterr()
    assert main(['scenario', 'coverage', 'SCN-R-101', '--campaign', str(folder), '--json']) == 0
    data = json.loads(capsys.readouterr().out)
    [cell] = next(row for row in data['hazards'] if row['id'] == 'M01')['cells']
    assert cell == {'robot': 'mobile_base', 'modality': 'sensor', 'scenarios': ['SCN-R-101'],
                    'trials': 1, 'verdict': 'FAIL'}


def test_a_picture_of_another_kind_is_refused(capsys):
    assert main(['scenario', 'coverage', 'SCN-R-101', '--picture', str(Path('x.jpg'))]) == 2
    assert 'expected a file that ends in .svg or .png' in capsys.readouterr().err
