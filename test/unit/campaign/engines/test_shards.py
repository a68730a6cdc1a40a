# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Shards on several machines make the campaign that one would have run, or are refused by name."""

import json
import shutil

from cases import for_each
import pytest
from safety_scenarios.campaign.folder.evidence import verify
from safety_scenarios.campaign.merging import merge
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.campaign.rejudging.stored_trials import repair
from safety_scenarios.campaign.workload import part_of
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError, SettingsError, TraceError
from safety_scenarios.scenario.settings import RunSettings
from unit.campaign.engines.scaled import campaign, go_on, left


@pytest.fixture(scope='module')
def shards(tmp_path_factory):
    """Give the folders of three shards."""
    above = tmp_path_factory.mktemp('shards')
    for number in (1, 2, 3):
        campaign(above / str(number), shard=f'{number}/3')
    return [above / str(number) for number in (1, 2, 3)]


def test_merged_they_are_what_one_run_leaves_to_the_byte(shards, tmp_path):
    campaign(tmp_path / 'one')
    summary = merge([shards[2], shards[0], shards[1]], tmp_path / 'merged')
    assert left(tmp_path / 'merged') == left(tmp_path / 'one')
    assert summary.completed == 6 and summary.shard == ''
    assert verify(tmp_path / 'merged') == [] and rejudge(tmp_path / 'merged').flaws == ()
    told = json.loads((tmp_path / 'merged' / 'settings.json').read_text())['shards']
    assert [one['shard'] for one in told] == ['3/3', '1/3', '2/3']


def test_each_is_a_campaign_of_its_own_that_states_which_part_it_is(shards):
    found = rejudge(shards[1])
    assert (found.flaws, found.summary.shard, found.summary.planned) == ((), '2/3', 2)


@for_each(('which', 'says'), [
    ((0, 1), 'got no shard 3/3'), ((0, 1, 2, 1), 'got twice shard 2/3'),
    ((2, 2), 'got no shard 1/3 2/3, got twice shard 3/3')])
def test_missing_and_doubled_shards_are_refused_by_name(shards, tmp_path_factory, which, says):
    output = tmp_path_factory.mktemp('merged') / 'out'
    with pytest.raises(SettingsError, match=says):
        merge([shards[number] for number in which], output)
    assert not output.exists()


def test_shards_of_another_campaign_are_refused_by_name(shards, tmp_path):
    campaign(tmp_path / 'other', shard='3/3', gate='target')
    with pytest.raises(SettingsError, match='gate: got target, expected critical'):
        merge([*shards[:2], tmp_path / 'other'], tmp_path / 'out')


def test_a_shard_that_was_changed_or_did_not_end_is_refused(shards, tmp_path):
    for place in (1, 2, 3):
        shutil.copytree(shards[place - 1], tmp_path / f'{place}')
    line = (tmp_path / '2' / 'trials.jsonl').read_text()
    (tmp_path / '2' / 'trials.jsonl').write_text(line.replace('PASS', 'FAIL', 1))
    with pytest.raises(TraceError, match='is not as its campaign left it'):
        merge([tmp_path / '1', tmp_path / '2', tmp_path / '3'], tmp_path / 'out')
    (tmp_path / '2' / 'campaign.json').unlink()
    with pytest.raises(SettingsError, match='did not end. Go on with it by run --resume'):
        merge([tmp_path / '1', tmp_path / '2', tmp_path / '3'], tmp_path / 'out')


def test_a_shard_that_was_repaired_and_resumed_states_it_in_the_whole(shards, tmp_path):
    shutil.copytree(shards[1], tmp_path / 'cut')
    for name in ('campaign.json', 'manifest.json'):
        (tmp_path / 'cut' / name).unlink()
    [journal, *_] = sorted((tmp_path / 'cut').rglob('*.events.jsonl.gz'))
    journal.write_bytes(b'')
    repair(tmp_path / 'cut')
    go_on(tmp_path / 'cut')
    summary = merge([shards[0], tmp_path / 'cut', shards[2]], tmp_path / 'whole')
    assert summary.verdicts == {'PASS': 5, 'ERROR': 1} and len(summary.repaired) == 2
    assert len(list((tmp_path / 'whole' / 'damaged').rglob(journal.name))) == 1
    found = rejudge(tmp_path / 'whole')
    assert found.flaws == () and found.summary == summary


def test_an_output_in_a_shard_is_refused_and_leaves_it_as_it_is(shards):
    with pytest.raises(SettingsError, match='which is in the shard'):
        merge(shards, shards[1] / 'merged')
    assert verify(shards[1]) == []


def test_the_command_line_makes_one_campaign_of_two_shards(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for number, name in ((1, 'one'), (2, 'two')):
        assert main(['run', 'SCN-C-101', '--link', 'loopback', '--words', 'patterns', '--trials',
                     '2', '--seed', '1', '--shard', f'{number}/2', '--output', name, '-q']) == 0
    assert 'of shard 1/2' in ' '.join(capsys.readouterr().out.split())
    assert main(['campaign', 'merge', 'one', 'two', '--output', 'both']) == 0
    assert '2 of 2 trials: 2 PASS' in ' '.join(capsys.readouterr().out.split())


def test_every_trial_is_in_one_shard_and_kept_controllers_stay_together():
    trials = [(name, index) for name in 'ABCD' for index in range(5)]
    for kept in (False, True):
        parts = [part_of(RunSettings(shard=f'{number}/3', keep_controller=kept), trials,
                         lambda trial: trial[0]) for number in (1, 2, 3)]
        assert sorted(sum(parts, ())) == trials
        sizes = {len(part) for part in parts}
        assert sizes == ({5, 10} if kept else {6, 7})
        if kept:
            assert all(len([name for name, _ in part if name == one]) in (0, 5)
                       for part in parts for one in 'ABCD')


@for_each(('more', 'says'), [
    ({'seed': -1}, 'without a seed'), ({'link': 'ros'}, 'expected loopback or simulated'),
    ({'sequential': {'p1': 0.1}}, 'with sequential.p1 0.1'),
    ({'shard': '7/9'}, 'the plan has only 6 trials')])
def test_what_cannot_be_shared_out_is_refused(tmp_path_factory, more, says):
    output = tmp_path_factory.mktemp('refused') / 'run'
    with pytest.raises(InputError, match=says):
        campaign(output, **{'shard': '1/2', **more})
    assert not output.exists()


@for_each(('shard', 'reason'), [
    ('a', "--shard: got 'a', expected PART/PARTS, such as 3/8"),
    ('0/2', "--shard: got '0/2', expected PART/PARTS, such as 3/8"),
    ('1/2/3', "--shard: got '1/2/3', expected PART/PARTS, such as 3/8"),
    ('3/2', '--shard: got 3/2, expected a part from 1 to 2')])
def test_a_shard_that_is_none_is_refused_in_words(shard, reason, capsys):
    assert main(['run', 'SCN-R-101', '--link', 'loopback', '--shard', shard]) == 2
    assert reason in capsys.readouterr().err
