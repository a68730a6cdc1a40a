# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A campaign that was cut off comes to what it would have come to, or is refused by name."""

from contextlib import suppress
import json
import shutil

import pytest
from safety_scenarios.campaign.folder.evidence import verify
from safety_scenarios.campaign.folder.files import journal_path, remove_trial
from safety_scenarios.campaign.folder.folder import read_trials
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.campaign.rejudging.stored_trials import repair
from safety_scenarios.campaign.resuming import ordinal, run_suffix
from safety_scenarios.campaign.run import run
from safety_scenarios.cli.main import main
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.errors import InputError, SettingsError, TraceError
from safety_scenarios.trial.session import Observer
from unit.campaign.engines.scaled import campaign, go_on, left, settings
from unzipped import content, read_text, write_text

TRIALS = 'trials.jsonl'


@pytest.fixture(scope='module', autouse=True)
def with_what_is_drawn():
    """Keep what a page shows: it has to survive too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv('SAFETY_SCENARIOS_REPORT')
        yield


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    """Give the folder of a campaign that nothing disturbed."""
    folder = tmp_path_factory.mktemp('whole') / 'run'
    campaign(folder)
    return folder


def cut(whole, folder, lines, half='', *, are_complete=False):
    """
    Make of a campaign's folder what a kill leaves after so many lines.

    :param are_complete: the other trials have ended too, in processes whose turn had not come
    """
    shutil.copytree(whole, folder)
    for name in ('campaign.json', 'manifest.json', 'report.html'):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / 'report_data', ignore_errors=True)
    text = (folder / TRIALS).read_text().splitlines(keepends=True)
    (folder / TRIALS).write_text(''.join(text[:lines]) + half)
    for line in () if are_complete else text[lines:]:
        remove_trial(folder, json.loads(line)['trial_id'])
    return folder


@pytest.mark.parametrize('gone', [0, 2, 5])
def test_a_complete_trial_without_a_line_is_kept_and_its_line_comes_in_its_turn(
        whole, tmp_path, gone):
    folder = cut(whole, tmp_path / 'run', 0, are_complete=True)
    names = [json.loads(line)['trial_id'] for line in (whole / TRIALS).read_text().splitlines()]
    [journal] = folder.rglob(f'{names[gone]}.events.jsonl.gz')
    journal.rename(journal.with_name(journal.name + '.part'))
    before = {path: path.stat().st_mtime_ns for path in folder.rglob('*.events.jsonl.gz')}
    summary = go_on(folder)
    assert '5 trials kept, 1 half written and run again' in summary.repaired[0]
    assert {path: path.stat().st_mtime_ns for path in before} == before
    found, expected = left(folder), left(whole)
    found.pop('views.jsonl.gz'), expected.pop('views.jsonl.gz')
    assert found == expected and rejudge(folder).flaws == ()


def test_a_line_behind_a_trial_that_was_interrupted_is_kept(whole, tmp_path):
    folder = cut(whole, tmp_path / 'run', 6)
    lines = (folder / TRIALS).read_text().splitlines(keepends=True)
    (folder / TRIALS).write_text(''.join(lines[:1] + lines[2:]))
    remove_trial(folder, json.loads(lines[1])['trial_id'])
    assert '5 trials kept, 0 half written' in go_on(folder).repaired[0]
    assert left(folder)['trials'] == left(whole)['trials']


@pytest.mark.parametrize('damage', [
    lambda journal: journal.write_bytes(journal.read_bytes()[:-200]),
    lambda journal: journal.write_bytes(b''),
    lambda journal: write_text(journal, read_text(journal).replace('"command"', '"feedback"',
                                                                   1))])
@pytest.mark.parametrize('lines', [2, 5])
def test_a_trial_whose_record_is_damaged_is_an_error_for_ever_and_the_others_go_on(
        whole, tmp_path, lines, damage):
    folder = cut(whole, tmp_path / 'run', lines, are_complete=True)
    name = json.loads((whole / TRIALS).read_text().splitlines()[4])['trial_id']
    journal = folder / journal_path(name)
    damage(journal)
    with pytest.raises(TraceError, match=f'cannot be resumed: .*Put {name} back from a copy'):
        go_on(folder)
    assert journal.exists()
    found, done = repair(folder)
    assert found.summary.exit_code == 3 and f'{name}: ERROR: its record' in ''.join(done)
    summary = go_on(folder)
    assert summary.verdicts == {'PASS': 5, 'ERROR': 1} and summary.exit_code == 3
    assert any(f'is in damaged/{name} now' in text and (
        'result was PASS' if lines == 5 else 'result was not known') in text
        for text in summary.repaired)
    assert (folder / 'damaged' / name / journal.name).exists() and verify(folder) == []
    again = rejudge(folder)
    assert again.flaws == () and again.summary == summary
    assert [one.trial_id for one in read_trials(folder)] == [
        one.trial_id for one in read_trials(whole)]


@pytest.mark.parametrize('lines', [2, 6])
def test_a_whole_record_of_another_campaign_is_neither_run_again_nor_set_aside(
        whole, tmp_path, lines):
    folder = cut(whole, tmp_path / 'run', lines, are_complete=True)
    journal = sorted((folder / 'traces' / 'SCN-C-101').glob('*.events.jsonl.gz'))[0]
    write_text(journal, read_text(journal).replace('"campaign":"', '"campaign":"a', 1))
    with pytest.raises(TraceError, match='a campaign with other terms.*run the campaign again'):
        go_on(folder)
    with suppress(TraceError):
        assert repair(folder)[0].summary.exit_code == 3
    assert journal.exists() and not (folder / 'damaged').exists()


def test_a_record_that_is_missing_behind_its_line_is_not_replaced_by_another(whole, tmp_path):
    folder = cut(whole, tmp_path / 'run', 5)
    [first, *_] = (folder / TRIALS).read_text().splitlines()
    name = json.loads(first)['trial_id']
    remove_trial(folder, name)
    with pytest.raises(TraceError, match=f'Put {name} back from a copy'):
        go_on(folder)
    repair(folder)
    summary = go_on(folder)
    assert summary.verdicts == {'PASS': 5, 'ERROR': 1}
    assert (folder / 'damaged' / name / TRIALS).read_text() == f'{first}\n'


def without_end(folder):
    for name in ('campaign.json', 'manifest.json'):
        (folder / name).unlink()
    return folder


def test_a_failure_that_lost_only_its_recording_stays_a_failure(tmp_path):
    folder, given = tmp_path / 'run', {'controller': 'late', 'record': ('mcap',)}
    campaign(folder, trials=1, scenarios=('SCN-R-101',), outputs=(), **given)
    shutil.rmtree(without_end(folder) / 'recordings')
    next((folder / 'traces').rglob('*.t0.json.gz')).unlink()
    with pytest.raises(TraceError, match='expected the recording of the trial.*Put back'):
        go_on(folder, outputs=())
    found, done = repair(folder)
    assert found.summary.verdicts == {'FAIL': 1} and found.summary.exit_code == 1
    assert len(done) == 1 and 'written again from the record' in done[0]
    assert not (folder / 'damaged').exists()


def test_a_repair_that_is_cut_off_has_noted_what_it_was_setting_aside(whole, tmp_path):
    folder = cut(whole, tmp_path / 'run', 6)
    journal = sorted((folder / 'traces' / 'SCN-C-101').glob('*.events.jsonl.gz'))[0]
    journal.write_bytes(b'')
    name = journal.name.removesuffix('.events.jsonl.gz')
    in_the_way = folder / 'damaged' / name / journal.name
    in_the_way.mkdir(parents=True)
    with pytest.raises(OSError):
        repair(folder)
    noted = f'{name}: ERROR: its record cannot be relied on'
    assert noted in (folder / 'repairs.jsonl').read_text()
    in_the_way.rmdir()
    assert repair(folder)[0].summary.repaired[-1].count(noted) == 1


SEQUENTIAL = {'trials': 20, 'scenarios': ('SCN-R-101', 'SCN-C-101'), 'outputs': (),
              'sequential': {'p0': 0.01, 'p1': 0.5}}


@pytest.fixture(scope='module')
def sequential(tmp_path_factory):
    """Give the folder of a campaign whose sequential test accepted both scenarios early."""
    folder = tmp_path_factory.mktemp('sequential') / 'run'
    assert campaign(folder, **SEQUENTIAL).completed == 10
    return folder


@pytest.mark.parametrize('lost', [0, 2])
def test_a_trial_that_was_set_aside_counts_as_failed_in_a_sequential_test(
        sequential, tmp_path, lost, capsys):
    folder = cut(sequential, tmp_path / 'run', 10)
    before = {path.name for path in folder.rglob('*.events.jsonl.gz')}
    next((folder / 'traces' / 'SCN-R-101').glob(f'*.t{lost}.events.jsonl.gz')).unlink()
    repair(folder)
    summary = go_on(folder, outputs=())
    assert summary.verdicts == {'PASS': 16, 'ERROR': 1} and summary.planned == 17
    assert 'accept after 12 trials with 1 failure: ' in summary.model_dump_json()
    assert len(before - {path.name for path in folder.rglob('*.events.jsonl.gz')}) == 1
    found = rejudge(folder)
    assert found.flaws == () and found.summary == summary
    lines = (folder / TRIALS).read_text()
    again = go_on(without_end(folder), outputs=())
    assert '17 trials kept' in again.repaired[-1] and (folder / TRIALS).read_text() == lines
    assert rejudge(folder).flaws == ()
    assert main(['evaluate', str(folder)]) == 3
    told = ' '.join(capsys.readouterr().out.split())
    assert '16 of 17 results are unchanged, to the byte; 1 trial without a record' in told
    assert 'its record can be relied on: it was run' in told and 'could be run' not in told


def test_a_trial_that_never_began_counts_in_no_sequential_test(tmp_path, monkeypatch):
    start, trials = RuleBased.start, iter(range(20))

    def breaks_once(self):
        if next(trials) == 2:
            raise RuntimeError('no weights')
        start(self)
    monkeypatch.setattr(RuleBased, 'start', breaks_once)
    summary = campaign(tmp_path / 'run', **{**SEQUENTIAL, 'scenarios': ('SCN-R-101',)})
    assert summary.verdicts == {'PASS': 5, 'ERROR': 1}
    found = rejudge(tmp_path / 'run')
    assert found.flaws == () and found.summary == summary


@pytest.mark.parametrize('lines', [0, 6])
def test_a_trace_that_a_crash_has_lost_is_written_again(whole, tmp_path, lines):
    folder = cut(whole, tmp_path / 'run', lines, are_complete=True)
    lost, cut_off = sorted((folder / 'traces').rglob('*.json.gz'))[:2]
    lost.unlink()
    cut_off.write_bytes(cut_off.read_bytes()[:100])
    summary = go_on(folder)
    assert left(folder)['trials'] == left(whole)['trials'] and rejudge(folder).flaws == ()
    for path in (lost, cut_off):
        assert content(path) == content(whole / path.relative_to(folder))
        assert any(path.name in text and 'written again' in text for text in summary.repaired)


@pytest.mark.parametrize('lines', [0, 6])
def test_a_trace_that_was_changed_is_refused(whole, tmp_path, lines):
    folder = cut(whole, tmp_path / 'run', lines, are_complete=True)
    [path, *_] = sorted((folder / 'traces').rglob('*.json.gz'))
    write_text(path, read_text(path).replace('"', "'", 1))
    with pytest.raises(TraceError, match='cannot be resumed: .*is another than its record'):
        go_on(folder)


@pytest.mark.parametrize('lines', [0, 4, 6])
def test_whenever_it_was_cut_off_it_comes_to_the_same_to_the_byte(whole, tmp_path, lines):
    folder = cut(whole, tmp_path / 'run', lines, half='{"trial_id":"SCN' if lines < 6 else '')
    views = folder / 'views.jsonl.gz'
    views.write_bytes(views.read_bytes()[:-7])
    summary = go_on(folder)
    found, expected = left(folder), left(whole)
    found.pop('views.jsonl.gz'), expected.pop('views.jsonl.gz')
    assert found == expected
    assert f'resumed for the 1st time: {lines} trial' in summary.repaired[0]
    assert verify(folder) == [] and rejudge(folder).flaws == ()


def test_what_was_half_written_is_run_again(whole, tmp_path):
    folder = cut(whole, tmp_path / 'run', 2, are_complete=True)
    journal = next((folder / 'traces' / 'SCN-C-101').glob('*.events.jsonl.gz'))
    journal.rename(journal.with_name(journal.name + '.part'))
    go_on(folder)
    assert left(folder)['trials'] == left(whole)['trials']
    assert not list(folder.rglob('*.part'))


def test_one_whose_manifest_alone_is_missing_gets_it(whole, tmp_path):
    folder = tmp_path / 'run'
    shutil.copytree(whole, folder)
    (folder / 'manifest.json').unlink()
    assert '6 trials kept' in go_on(folder).repaired[0]
    assert verify(folder) == [] and left(folder) == left(whole)


def test_it_states_how_often_it_was_resumed(whole, tmp_path):
    folder = cut(whole, tmp_path / 'run', 2)
    go_on(folder)
    for name in ('campaign.json', 'manifest.json'):
        (folder / name).unlink()
    summary = go_on(folder)
    assert 'for the 2nd time: 6 trials kept' in summary.repaired[1]
    assert len((folder / 'repairs.jsonl').read_text().splitlines()) == 2
    assert 'repairs.jsonl' in json.loads((folder / 'manifest.json').read_text())


class Stops(Observer):
    """Ends the campaign after two trials, as Ctrl-C does."""

    ended = 0

    def trial_ended(self, record, result):
        self.ended += 1
        if self.ended == 2:
            raise KeyboardInterrupt


def test_one_that_was_interrupted_goes_on_too(whole, tmp_path):
    folder = tmp_path / 'run'
    assert run(settings(folder), [Stops()]).interrupted
    summary = go_on(folder)
    assert not summary.interrupted and left(folder)['trials'] == left(whole)['trials']


def test_an_interrupted_folder_that_was_changed_is_refused_and_stays_as_it_is(tmp_path):
    folder = tmp_path / 'run'
    run(settings(folder), [Stops()])
    line = (folder / TRIALS).read_text().splitlines(keepends=True)
    (folder / TRIALS).write_text(''.join(line[:1]))
    remove_trial(folder, json.loads(line[1])['trial_id'])
    before = {path: path.read_bytes() for path in folder.rglob('*') if path.is_file()}
    with pytest.raises(TraceError, match=f'were changed since.*{TRIALS}: changed'):
        go_on(folder)
    assert {path: path.read_bytes() for path in folder.rglob('*') if path.is_file()} == before


@pytest.mark.slow
@pytest.mark.thorough
def test_a_scenario_whose_controller_is_kept_begins_again(tmp_path):
    campaign(tmp_path / 'whole', keep_controller=True)
    folder = cut(tmp_path / 'whole', tmp_path / 'run', 4)
    summary = go_on(folder)
    assert '3 trials kept' in summary.repaired[0]
    assert left(folder)['trials'] == left(tmp_path / 'whole')['trials']


@pytest.mark.slow
def test_it_names_what_had_failed_and_is_run_again(tmp_path):
    given = {'keep_controller': True, 'controller': 'never_stop', 'scenarios': ('SCN-R-101',)}
    campaign(tmp_path / 'whole', **given)
    folder = cut(tmp_path / 'whole', tmp_path / 'run', 2)
    [said] = go_on(folder, **given).repaired
    assert '0 trials kept' in said and said.count('.t') == 2, said
    assert '0 half written and run again, 2 complete and run again' in said
    assert 'of those run again had failed: SCN-R-101.' in said


@pytest.mark.slow
@pytest.mark.thorough
def test_a_sequential_test_that_had_decided_stays_decided(tmp_path):
    same = {'trials': 20, 'controller': 'late', 'scenarios': ('SCN-R-101', 'SCN-R-102'),
            'sequential': {'p0': 0.001, 'p1': 0.2}}
    before = campaign(tmp_path / 'whole', **same)
    folder = cut(tmp_path / 'whole', tmp_path / 'run', before.completed - 1)
    after = go_on(folder)
    assert after.model_copy(update={'repaired': ()}) == before
    assert left(folder)['trials'] == left(tmp_path / 'whole')['trials']


@pytest.mark.parametrize('other, says', [
    ({'trials': 4}, 'trials: got 4, expected 3'), ({'gate': 'target'}, 'gate: got target'),
    ({'seed': 2}, 'seed: got 2, expected 1'), ({'controller': 'late'}, 'controller: got late'),
    ({'shard': '1/2'}, 'shard: got 1/2')])
def test_other_settings_are_refused_by_name_and_change_nothing(whole, tmp_path, other, says):
    folder = cut(whole, tmp_path / 'run', 2)
    with pytest.raises(SettingsError, match=says):
        go_on(folder, **other)
    assert (folder / TRIALS).read_text().count('\n') == 2


def test_other_jobs_and_outputs_are_none_of_the_settings_that_count(whole, tmp_path):
    folder = cut(whole, tmp_path / 'run', 5)
    go_on(folder, outputs=())
    assert left(folder)['trials'] == left(whole)['trials']


def edit(folder, change):
    path = folder / 'settings.json'
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


@pytest.mark.parametrize('change, says', [
    (lambda data: data['plan'].pop(), 'a trial that the campaign has not planned'),
    (lambda data: data['plan'][4].update(sha256='0' * 64), 'its scenario has changed'),
    (lambda data: data['versions'].update(safety_scenarios='0.0.1'), 'version: got'),
    (lambda data: data['controller'].update(sha256='0' * 64), 'source of the controller: got')])
def test_another_plan_version_or_controller_is_refused_by_name(whole, tmp_path, change, says):
    folder = cut(whole, tmp_path / 'run', 2)
    edit(folder, change)
    with pytest.raises(InputError, match=says):
        go_on(folder)


def test_a_changed_class_that_the_controller_inherits_from_is_refused_by_name(
        tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    base = tmp_path / 'resumed_base.py'
    base.write_text('class Base:\n    def decide(self, observation):\n        return None\n')
    (tmp_path / 'resumed_own.py').write_text(
        'from resumed_base import Base\n\n\nclass Own(Base):\n    pass\n')
    given = {'controller': 'resumed_own:Own', 'scenarios': ('SCN-R-101',), 'outputs': ()}
    campaign(tmp_path / 'whole', **given)
    folder = cut(tmp_path / 'whole', tmp_path / 'run', 1)
    base.write_text(base.read_text() + '\n# another version\n')
    with pytest.raises(SettingsError, match=r'resumed_base\.py of the controller: got'):
        go_on(folder)


def test_a_result_that_its_record_does_not_give_is_not_kept(whole, tmp_path):
    folder = cut(whole, tmp_path / 'run', 3)
    path = folder / TRIALS
    path.write_text(path.read_text().replace('"verdict":"PASS"', '"verdict":"FAIL"', 1))
    with pytest.raises((TraceError, InputError), match='cannot be resumed'):
        go_on(folder)


def test_one_that_has_ended_is_refused(whole, tmp_path):
    folder = tmp_path / 'run'
    shutil.copytree(whole, folder)
    with pytest.raises(SettingsError, match='nothing is left to run'):
        go_on(folder)
    assert verify(folder) == []


def test_the_command_line_needs_the_folder_alone(whole, tmp_path, capsys):
    folder = cut(whole, tmp_path / 'run', 4)
    assert main(['run', '--resume', str(folder), '-q']) == 0
    assert left(folder)['trials'] == left(whole)['trials']
    assert main(['run', '--resume', str(folder)]) == 2
    assert main(['run', '-q']) == 2
    said = capsys.readouterr().err
    assert 'nothing is left to run' in said and "Missing argument 'SCENARIO...'" in said


def test_in_simulated_time_trial_ids_have_no_end_that_is_drawn(whole):
    assert run_suffix(whole) == ''


def test_ordinals():
    assert [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        '1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd', '111th']
