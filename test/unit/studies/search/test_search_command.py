# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command search: exit codes, saved failures, what it says when it has found nothing."""

import json
from pathlib import Path

import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.formats.loading import load_scenario
from unit.conftest import QUICK

COMMON = ['--link', 'loopback', '--words', 'patterns', '--seed', '3', '--no-film']


def search(folder, *more, scenario='SCN-R-101'):
    return main(['search', scenario, *COMMON, '--output', str(folder), *more])


def words(text):
    return ' '.join(text.split())


@pytest.mark.thorough
def test_a_planted_blind_spot_is_found_saved_and_fails_again(tmp_path):
    code = search(tmp_path / 'found', '--trials', '24', '--controller',
                  'planted_controllers:BlindSpot', '--set', 'isolate=false')
    assert code == 1
    data = json.loads((tmp_path / 'found' / 'search.json').read_text())
    first = data['failures'][0]
    assert first['needed'] == ['near', 'side'] and first['failed_again'] == 5
    assert 2.05 <= first['values']['near'] <= 2.2
    assert 0.04 < first['values']['side'] < 0.2
    assert load_scenario(tmp_path / 'found' / first['file']).body.vary == {}


def test_a_search_that_finds_nothing_exits_0_and_calls_nothing_safe(tmp_path, capsys):
    assert search(tmp_path / 'found', '--trials', '4', scenario=_drawn(tmp_path)) == 0
    shown = words(capsys.readouterr().out)
    assert 'This does not show that there is none' in shown and 'bound no failure rate' in shown
    assert 'safe' not in shown.replace(str(tmp_path), '').replace('safety-scenarios', '')


def test_trials_that_were_not_decided_exit_3(tmp_path):
    assert search(tmp_path / 'found', '--trials', '3', '--controller', 'always_stop',
                  scenario=_drawn(tmp_path)) == 3


def test_random_trials_bound_the_share_that_fails(tmp_path, capsys):
    assert search(tmp_path / 'found', '--trials', '4', '--sampler', 'random',
                  scenario=_drawn(tmp_path)) == 0
    assert 'at most 53 % of such trials fail' in words(capsys.readouterr().out)


def test_an_interrupted_search_goes_on_where_it_was(tmp_path):
    scenario = _drawn(tmp_path)
    assert search(tmp_path / 'found', '--trials', '3', scenario=scenario) == 0
    log = tmp_path / 'found' / 'trials.jsonl'
    before = log.read_text()
    log.write_text(before[:-20])  # the process was killed while it wrote the last line
    known = before.splitlines()[:3]
    for trials in ('4', '5'):
        assert main(['search', scenario, *COMMON, '--trials', trials, '--resume',
                     str(tmp_path / 'found')]) == 0
    assert log.read_text().splitlines()[:3] == known
    data = json.loads((tmp_path / 'found' / 'search.json').read_text())
    assert data['trials'] == 5


@pytest.mark.parametrize(('change', 'says'), [
    (lambda at: (at / 'drawn.yaml').write_text((at / 'drawn.yaml').read_text().replace(
        '[1.0, 1.4]', '[1.0, 1.5]')), 'scenario: got'),
    (lambda at: (at / 'weights').write_text('others'), 'weights of the controller: got')])
def test_a_search_does_not_go_on_with_another_scenario_or_controller(
        tmp_path, capsys, change, says):
    """Its log knows what trials came to by their draws: verdicts of the old one were taken."""
    scenario = _drawn(tmp_path)
    (tmp_path / 'weights').write_text('some')
    made_of = ['--set', f'sut_artifact={tmp_path / "weights"}']
    assert search(tmp_path / 'found', '--trials', '2', *made_of, scenario=scenario) == 0
    change(tmp_path)
    assert main(['search', scenario, *COMMON, '--trials', '3', *made_of, '--resume',
                 str(tmp_path / 'found')]) == 2
    assert says in words(capsys.readouterr().err)


def test_a_boundary_map_has_a_table_of_cells(tmp_path):
    code = search(tmp_path / 'found', '--for', 'boundary', '--axes', 'near,onset_phase',
                  '--trials', '4', scenario=_drawn(tmp_path))
    assert code == 0
    rows = (tmp_path / 'found' / 'boundary.csv').read_text().splitlines()
    assert rows[0] == 'near,onset_phase,probability,state' and len(rows) == 401


def test_a_rate_that_cannot_be_stated_exits_3_and_says_why(tmp_path, capsys):
    code = search(tmp_path / 'found', '--for', 'rate', '--trials', '200',
                  scenario=_drawn(tmp_path))
    shown = words(capsys.readouterr().out)
    assert code == 3
    assert 'INCONCLUSIVE: no interval is stated, because' in shown and 'of 48 drawn' in shown
    assert 'By the trials drawn as declared alone: 0 % to 7.4 % of trials fail (95 %)' in shown
    data = json.loads((tmp_path / 'found' / 'search.json').read_text())
    assert data['rate']['high'] is None and data['problems']


@pytest.mark.parametrize('more, message', [
    (['--for', 'boundary'], 'axes: got nothing, expected two of'),
    (['--for', 'rate', '--trials', '20'], 'expected at least 200')])
def test_what_cannot_be_searched_is_refused(tmp_path, capsys, more, message):
    assert search(tmp_path / 'found', *more, scenario=_drawn(tmp_path)) == 2
    assert message in words(capsys.readouterr().err)


def _drawn(folder: Path) -> str:
    """Return the quick scenario with one draw."""
    text = Path(QUICK).read_text(encoding='utf-8')
    path = folder / 'drawn.yaml'
    if '  vary:' not in text:
        text = text.replace('ros:\n', 'ros:\n  vary:\n    near: {range: [1.0, 1.4], sets: '
                            '["ros.stimuli[0].distance"]}\n', 1)
    path.write_text(text, encoding='utf-8')
    return str(path)
