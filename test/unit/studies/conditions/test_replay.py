# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial of a campaign is run again as it was, or with a value moved, or refused by name."""

import json

import planted_controllers
from planted_controllers import SCENARIO
import pytest
from safety_scenarios.campaign.folder.evidence import verify
from safety_scenarios.campaign.folder.folder import read_trials
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.conditions.replay import REPLAY, replay
from unit.loopback_runs import loopback_run

pytestmark = pytest.mark.slow
TRIALS = 10


@pytest.fixture(scope='module')
def campaign(tmp_path_factory):
    """Return a campaign of a controller with a planted blindness, in simulated time."""
    folder = tmp_path_factory.mktemp('replay')
    path = planted_controllers.write_scenario(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('SAFETY_SCENARIOS_REPORT', 'off')
        code = main(['run', str(path), '--controller', 'planted_controllers:BlindNearOnTheLeft',
                     '--link', 'loopback', '--words', 'patterns', '--trials', str(TRIALS),
                     '--seed', '4', '--set', 'isolate=false', '--output', str(folder / 'run')])
    assert code == 1
    return folder / 'run', path


def failed(folder):
    """Return the first trial that fails."""
    return next(one for one in read_trials(folder) if one.verdict is Verdict.FAIL)


def test_a_trial_comes_out_the_same_to_the_last_digit(campaign, tmp_path):
    folder, path = campaign
    for result in read_trials(folder)[::4]:
        found = replay(folder, result.trial_id, output=tmp_path / str(result.index),
                       files=[str(path)])
        assert found.is_same and found.is_repeatable and found.difference is None
        assert found.after.result.verdict is result.verdict and found.notes == ()


def test_a_moved_distance_moves_the_verdict_and_both_are_shown(campaign, tmp_path, capsys):
    folder, path = campaign
    one = failed(folder)
    assert one.drawn['near'] < 2.3 and one.drawn['side'] > 0.0
    capsys.readouterr()
    code = main(['trial', 'replay', str(folder), one.trial_id, '--set', 'near=2.44',
                 '--scenario', str(path), '--output', str(tmp_path / 'moved')])
    said = ' '.join(capsys.readouterr().out.split())
    assert code == 0
    assert f'near {one.drawn["near"]:.6g} m -> 2.44 m' in said
    assert 'verdict FAIL PASS' in said and 'none within' in said
    assert 'First difference:' in said and 'after the onset, cmd_vel' in said
    [again] = read_trials(tmp_path / 'moved')
    assert again.drawn == {**one.drawn, 'near': 2.44} and again.seed == one.seed


def test_the_replay_is_an_ordinary_campaign_that_says_what_it_is_a_replay_of(campaign, tmp_path):
    folder, path = campaign
    one = failed(folder)
    found = replay(folder, f'{SCENARIO}:{one.index}', ['side=-0.1'], output=tmp_path / 'again',
                   files=[str(path)])
    told = json.loads((tmp_path / 'again' / REPLAY).read_text())
    assert told['trial'] == one.trial_id and told['seed'] == one.seed
    assert told['campaign'] == 'run' and told['verdict'] == 'FAIL'
    assert told['moved'] == {'side': {'before': one.drawn['side'], 'after': -0.1}}
    assert not verify(tmp_path / 'again')
    judged = rejudge(tmp_path / 'again')
    assert judged.flaws == () and judged.summary.planned == 1
    assert [trial.identical for trial in judged] == [True]
    assert found.after.result.verdict is Verdict.PASS


def test_when_the_hazard_comes_can_be_moved_too(campaign, tmp_path):
    folder, path = campaign
    found = replay(folder, f'{SCENARIO}:0', ['onset_ms=2500', 'onset_phase=0.5'],
                   output=tmp_path / 'onset', files=[str(path)])
    trial = found.after.record.trial
    assert (trial.onset_delay_ns, trial.onset_phase) == (2_500_000_000, 0.5)
    assert trial.drawn == found.before.record.trial.drawn and found.notes == ()


def test_a_value_outside_of_the_declared_range_is_taken_with_a_note(campaign, tmp_path):
    folder, path = campaign
    found = replay(folder, f'{SCENARIO}:1', ['near=3.2'], output=tmp_path / 'far',
                   files=[str(path)])
    [note] = found.notes
    assert 'near 3.2 m is outside of what the scenario draws (2.05 to 2.45 m)' in note


def refusal(folder, *arguments, **more):
    with pytest.raises(InputError) as refused:
        replay(folder, *arguments, **more)
    return str(refused.value)


def test_what_cannot_be_replayed_is_refused_by_name(campaign, tmp_path):
    folder, path = campaign
    known = {'files': [str(path)], 'output': tmp_path / 'none'}
    unknown = refusal(folder, f'{SCENARIO}:0', ['far=1'], **known)
    assert "got 'far', expected one of what PLANTED-1 draws: before, near, onset_ms" in unknown
    assert 'expected a number' in refusal(folder, f'{SCENARIO}:0', ['near=close'], **known)
    assert 'twice' in refusal(folder, f'{SCENARIO}:0', ['near=2.1', 'near=2.2'], **known)
    too_near = refusal(folder, f'{SCENARIO}:0', ['near=-1'], **known)
    assert too_near.startswith('--set near: PLANTED-1: ros.vary.near: ros.stimuli[0].distance')
    assert 'got -1.0, expected more than 0' in too_near
    assert '\n' not in too_near and 'pydantic' not in too_near
    assert 'expected a trial of this campaign' in refusal(folder, 'SCN-R-101', **known)
    known['files'] = [str(planted_controllers.SHIPPED)]
    missing = refusal(folder, f'{SCENARIO}:0', **known)
    assert 'PLANTED-1: got no scenario of this id in' in missing
    assert 'Name its file by --scenario' in missing
    changed = tmp_path / 'changed.yaml'
    changed.write_text(path.read_text() + '# another byte\n')
    assert 'it has changed since the campaign' in refusal(
        folder, f'{SCENARIO}:0', files=[str(changed)], output=tmp_path / 'none')
    assert not (tmp_path / 'none').exists()


def test_a_robot_that_is_really_there_needs_permission(campaign, tmp_path):
    folder, path = campaign
    copy = tmp_path / 'on_hardware'
    copy.mkdir()
    for name in ('settings.json', 'trials.jsonl'):
        (copy / name).write_bytes((folder / name).read_bytes())
    data = json.loads((copy / 'settings.json').read_text())
    data['settings']['hil']['enabled'] = True
    (copy / 'settings.json').write_text(json.dumps(data))
    assert 'a replay publishes a hazard to a real robot. Add --on-hardware' in refusal(
        copy, f'{SCENARIO}:0', files=[str(path)], output=tmp_path / 'none')
    data['settings']['hil']['enabled'] = False
    data['settings']['link'] = 'bag'
    (copy / 'settings.json').write_text(json.dumps(data))
    assert 'nothing can be run over it again' in refusal(
        copy, f'{SCENARIO}:0', files=[str(path)], output=tmp_path / 'none')


@pytest.mark.thorough
def test_a_scenario_that_is_gone_is_named(campaign, tmp_path):
    folder, _ = campaign
    assert 'PLANTED-1: the scenario of the trial was not found in' in refusal(
        folder, f'{SCENARIO}:0', files=[str(tmp_path / 'gone.yaml')], output=tmp_path / 'none')


@pytest.mark.parametrize('topics', [('scan',), ('human_pose',), ('scan', 'human_pose')])
def test_which_sensor_shows_the_hazard_can_be_moved(tmp_path, topics):
    """What other draws set in the sensor that is left out is no obstacle."""
    folder = loopback_run(tmp_path / 'run', 'SCN-R-101', trials=1).folder
    found = replay(folder, 'SCN-R-101:0', [f'shown_by=[{", ".join(topics)}]'],
                   output=tmp_path / 'again')
    trial = found.after.record.trial
    assert tuple(one.topic for one in trial.scenario.body.stimuli) == topics
    assert trial.drawn['shown_by'] == topics
    assert trial.drawn['near'] == found.before.record.trial.drawn['near']


def test_a_sensor_that_no_trial_shows_it_by_is_refused(tmp_path):
    folder = loopback_run(tmp_path / 'run', 'SCN-R-101', trials=1).folder
    assert refusal(folder, 'SCN-R-101:0', ['shown_by=[lidar]'], output=tmp_path / 'none') == (
        '--set shown_by: got lidar, expected one of [scan], [human_pose], [scan, human_pose]')
