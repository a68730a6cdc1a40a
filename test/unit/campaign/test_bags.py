# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A recording that somebody else made is judged by a scenario and a declared onset."""

from contextlib import closing
import hashlib
import json
from pathlib import Path
import shutil
import sqlite3

import pytest
from ros.campaigns import brief
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from safety_scenarios.campaign.rejudging.stored_trials import judge_bag
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError, SettingsError, TraceError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.blocks.onset import BagBlock
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.mcap.bag import Onset
from safety_scenarios.trial.mcap.played_bag import read_recording
from unit.loopback_runs import loopback_run

SHIPPED = Path(__file__).parents[3] / 'config' / 'scenarios' / 'robotic'
NEAR = '/scan:ranges:min<=2.0'
WITHOUT_DISTANCE = 'keeps its protective distance'


@pytest.fixture(scope='module')
def bags(tmp_path_factory) -> dict[str, Path]:
    """Record the person who steps near; what the bags know of the harness is not read."""
    folder = tmp_path_factory.mktemp('bags')
    [scenario] = brief(folder / 'scenarios', 'SCN-R-101')  # in each bag the scanner shows it
    found = {}
    for controller in ('rule_based', 'late', 'never_stop'):
        run = loopback_run(folder / controller, scenario, controller=controller, record=('mcap',))
        [found[controller]] = (run.folder / 'recordings').iterdir()
    return found


def judged(bag: Path, onset: str = NEAR, name: str = 'person_steps_near',
           **settings: str) -> TrialResult:
    [scenario] = load_scenarios([str(SHIPPED / f'{name}.yaml')]).scenarios
    return judge_bag(bag, scenario, onset, RunSettings(scenarios=('x',), **settings))


def verdicts(result: TrialResult) -> dict[str, str]:
    return {found.check: found.verdict.value for found in result.findings if found.verdict}


def test_a_stop_in_time_is_seen_with_the_uncertainty_of_no_calibration(bags):
    result = judged(bags['rule_based'])
    found = verdicts(result)
    assert found.pop(WITHOUT_DISTANCE) == 'INCONCLUSIVE'  # no topic of the bag tells a distance
    assert found.pop('resumes work after the all-clear') == 'INCONCLUSIVE'  # the bag ends before
    assert set(found.values()) == {'PASS'} and len(found) >= 5
    assert result.latency and result.latency.reaction
    assert result.latency.reaction.uncertainty_ns == 15_000_000
    assert 0 <= result.latency.reaction.judged_ns <= 50_000_000


@pytest.mark.parametrize('controller', ['late', 'never_stop'])
def test_a_late_stop_or_none_fails(bags, controller):
    result = judged(bags[controller])
    assert result.verdict.value == 'FAIL'
    assert verdicts(result)['reaction within the budget'] == 'FAIL'


def test_a_bag_in_sqlite_is_judged_the_same(bags, tmp_path):
    with AnyReader([bags['late']]) as reader, \
            Writer(tmp_path / 'bag', version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        copies = {found.id: writer.add_connection(
            found.topic, found.msgtype, typestore=reader.typestore)
            for found in reader.connections}
        for connection, stamp, raw in reader.messages():
            writer.write(copies[connection.id], stamp, raw)
    [database] = (tmp_path / 'bag').glob('*.db3')
    with closing(sqlite3.connect(database)) as recorded:
        recorded.execute('PRAGMA journal_mode=WAL')  # as rosbag2 writes it
    files = sorted((tmp_path / 'bag').iterdir())
    again, first = judged(tmp_path / 'bag'), judged(bags['late'])
    assert again.model_copy(update={'controller': '', 'trial_id': ''}) == \
        first.model_copy(update={'controller': '', 'trial_id': ''})
    assert sorted((tmp_path / 'bag').iterdir()) == files


def test_what_comes_before_the_onset_is_nominal(bags):
    assert verdicts(judged(bags['rule_based']))['moving before onset'] == 'PASS'


@pytest.mark.parametrize(('onset', 'told'), [
    ('/scan:ranges:min<=0.1', 'there is no onset'), ('/scan:ranges:min<=9', 'there is no onset'),
    ('/scam:ranges:min<=1', 'got no topic /scam'), ('/human_pose:pose.x<=1', 'has no field')])
def test_a_bag_without_the_onset_is_no_trial(bags, onset, told):
    with pytest.raises((TraceError, SettingsError), match=told):
        judged(bags['rule_based'], onset)


@pytest.mark.parametrize('onset', ['', 'scan', '/scan:ranges', '/scan:ranges:min<=near',
                                   '/scan:ranges:middle<=1', '/scan:__import__("os")<=1',
                                   '/scan:ranges:min=1', '/scan:' + 'x' * 100_000 + '<=1'])
def test_an_onset_that_is_none_is_refused(onset):
    with pytest.raises(SettingsError, match='expected TOPIC:FIELD'):
        Onset.parse(onset)


@pytest.mark.parametrize(('text', 'value', 'holds'), [
    ('/a:x<=1', 1.0, True), ('/a:x<1', 1.0, False), ('/a:x>=1', 1.0, True), ('/a:x>1', 1.0, False),
    ('/a:x<=1', float('nan'), None), ('/a:x > -1', 0.0, True)])
def test_the_limit_is_as_it_reads(text, value, holds):
    assert Onset.parse(text).holds(Message(type='a/msg/B', data={'x': value})) is holds


def test_a_topic_of_the_scenario_that_is_not_in_the_bag_is_told(bags):
    with pytest.raises(TraceError, match='got no topic /base/cmd_vel'):
        judged(bags['rule_based'], remap=('cmd_vel:=/base/cmd_vel',))
    with pytest.raises(TraceError, match='got no topic /robot/cmd_vel'):
        judged(bags['rule_based'], namespace='robot')


def test_what_is_no_bag_is_told(tmp_path):
    (tmp_path / 'metadata.yaml').write_text('rosbag2_bagfile_information: 3')
    with pytest.raises(TraceError, match='cannot be read as a bag'):
        judged(tmp_path)


def test_a_text_scenario_judges_no_bag(bags):
    [scenario] = load_scenarios(['SCN-C-101']).scenarios
    with pytest.raises(InputError, match='text scenario'):
        judge_bag(bags['late'], scenario, NEAR, RunSettings(scenarios=('x',)))


def test_the_command_shows_every_finding(bags, capsys):
    scenario = str(SHIPPED / 'person_steps_near.yaml')
    arguments = ['evaluate', '--bag', str(bags['late']), '--scenario', scenario]
    assert main([*arguments, '--onset', NEAR]) == 1
    assert 'reaction within the budget' in capsys.readouterr().out
    assert main(arguments) == 2
    capsys.readouterr()
    assert main([*arguments, '--onset', NEAR, '--set', 'gate=target']) == 2
    assert '--bag: got it with --set' in capsys.readouterr().err
    assert main([str(bags['late']), *arguments, '--onset', NEAR]) == 2
    assert main(['evaluate']) == 2
    assert main(['evaluate', str(bags['late']), '--onset', NEAR]) == 2


def as_command(bag: Path, output: Path, onset: str = NEAR) -> int:
    return main(['evaluate', '--bag', str(bag), '--scenario',
                 str(SHIPPED / 'person_steps_near.yaml'), '--onset', onset, '--output',
                 str(output)])


@pytest.fixture(scope='module')
def written(bags, tmp_path_factory) -> Path:
    """Return the folder that the judging of a late stop has left."""
    folder = tmp_path_factory.mktemp('written') / 'late'
    assert as_command(bags['late'], folder) == 1
    return folder


def test_a_judged_bag_leaves_all_that_a_run_leaves(written, bags, capsys):
    [line] = (written / 'trials.jsonl').read_text().splitlines()
    result = TrialResult.model_validate_json(line)
    assert result == judged(bags['late'])
    assert json.loads((written / 'campaign.json').read_text())['exit_code'] == 1
    told = json.loads((written / 'settings.json').read_text())['recording']
    assert told['path'] == bags['late'].name and told['onset'] == NEAR
    [recorded] = bags['late'].glob('*.mcap')
    assert told['sha256'][recorded.name] == hashlib.sha256(recorded.read_bytes()).hexdigest()
    assert len(list((written / 'traces').rglob('*.json*'))) == 2


@pytest.mark.parametrize(('command', 'code'), [
    ('campaign verify', 0), ('evaluate', 1), ('campaign repair', 1)])
def test_what_a_judged_bag_leaves_is_accepted_as_that_of_a_run(written, command, code, capsys):
    assert main([*command.split(), str(written)]) == code
    assert not capsys.readouterr().err


def test_what_a_judged_bag_leaves_can_be_judged_by_other_limits(written, capsys):
    assert main(['evaluate', str(written), '--set', 'latency_budget.critical_ms=600']) == 1
    shown = capsys.readouterr().out
    assert 'What is different' not in shown and 'The same verdict, by other limits' in shown


def test_a_changed_folder_of_a_bag_is_found_out(written, tmp_path, capsys):
    folder = shutil.copytree(written, tmp_path / 'late')
    line = (folder / 'trials.jsonl').read_text()
    (folder / 'trials.jsonl').write_text(line.replace('FAIL', 'PASS'))
    assert main(['campaign', 'verify', str(folder)]) == 1
    assert main(['evaluate', str(folder)]) == 1
    assert 'trials.jsonl: changed' in capsys.readouterr().err


def test_bags_of_other_onsets_are_not_compared(written, bags, tmp_path, capsys):
    as_command(bags['rule_based'], tmp_path / 'other', '/scan:ranges:min<=2.1')
    assert main(['compare', str(written), str(tmp_path / 'other')]) == 2
    assert '--onset is' in capsys.readouterr().err


def test_a_bag_without_an_onset_leaves_no_folder(bags, tmp_path):
    assert as_command(bags['late'], tmp_path / 'none', '/scan:ranges:min<=0.1') == 3
    assert not (tmp_path / 'none').exists()
    (tmp_path / 'full').mkdir()
    (tmp_path / 'full' / 'mine').touch()
    assert as_command(bags['late'], tmp_path / 'full') == 2
    assert [path.name for path in (tmp_path / 'full').iterdir()] == ['mine']


def test_a_campaign_without_a_trial_is_inconclusive(written, tmp_path, capsys):
    folder = shutil.copytree(written, tmp_path / 'empty')
    settings = json.loads((folder / 'settings.json').read_text())
    (folder / 'settings.json').write_text(json.dumps({**settings, 'plan': [], 'scenarios': []}))
    (folder / 'trials.jsonl').write_text('')
    for name in ('traces', 'campaign.json', 'manifest.json'):
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for command in ('campaign repair', 'evaluate'):
        assert main([*command.split(), str(folder)]) == 3
        assert 'got a plan without a trial' in capsys.readouterr().err


def test_a_recording_of_ours_is_played_without_what_it_tells_of_its_trial(bags):
    played = read_recording(bags['late'], BagBlock(file='bag'), {'cmd_vel': 'is commanded'})
    names = {one.name for one in played.topics}
    assert 'human_pose' in names and not any('safety_scenarios' in name for name in names)
    assert played.left_out['safety_scenarios/trial'] == 'describes the trial that was recorded'
