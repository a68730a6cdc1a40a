# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A campaign is judged again from what it has left, also when it was killed."""

import gzip
import json
from pathlib import Path
import random
import re
import shutil
import subprocess
import sys
import time

from examples import FEW, some
import pytest
from safety_scenarios.campaign.folder.evidence import verify
from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.campaign.rejudging.rejudge import rejudge, summary_of
from safety_scenarios.campaign.rejudging.stored_trials import repair
from safety_scenarios.cli.main import main
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.reports.outputs.report import source_of
from safety_scenarios.reports.page.first_screen import headline
from unit.loopback_runs import loopback_run, Run

pytestmark = pytest.mark.slow


@pytest.fixture(scope='module')
def everything(tmp_path_factory) -> dict[str, Run]:
    """Everything that is shipped against the reference, and two that fail, with recordings."""
    folder = tmp_path_factory.mktemp('runs')
    ids = [scenario.id for scenario in load_scenarios(['robotic', 'clinical']).scenarios]
    return {name: loopback_run(folder / name, *chosen, controller=name, record=('mcap',),
                               words='patterns')
            for name, chosen in (
                ('rule_based', [one for one in ids if 'R-10' in one] if FEW else ids),
                ('late', some(ids)), ('nan', some(ids)))}


@pytest.mark.parametrize('source', ['journal', 'recording'])
@pytest.mark.parametrize('controller', ['rule_based', 'late', 'nan'])
@pytest.mark.slow
def test_every_result_comes_out_again_to_the_byte(everything, controller, source):
    run = everything[controller]
    found = list(rejudge(run.folder, source=source))
    assert sorted(trial.after.model_dump_json() for trial in found) == sorted(run.lines)
    assert found and all(trial.identical and trial.judged for trial in found)
    assert summary_of(run.folder, [trial.after for trial in found]) == run.summary


def test_a_tighter_budget_changes_the_verdicts_that_it_should(everything):
    changes = [f'latency_budget.{name}_ms=240' for name in ('target', 'acceptable', 'critical')]
    found = {trial.after.scenario_id: trial for trial in
             rejudge(everything['rule_based'].folder, changes)}
    worse = {name for name, trial in found.items() if trial.before != trial.after
             and trial.after.verdict.value == 'FAIL'}
    assert worse == {'SCN-R-105', 'SCN-R-106', 'SCN-R-109'}
    assert all(trial.before.verdict.value == 'PASS' for trial in found.values())


def test_one_scenario_can_be_meant(everything):
    found = {trial.after.scenario_id: trial for trial in rejudge(
        everything['rule_based'].folder, ['SCN-R-101:ros.invariants[0].still=0.5',
                                          'SCN-R-103:ros.reaction.at_most=-1.0'])}
    changed = {name for name, trial in found.items() if not trial.identical}
    assert 'SCN-R-103' in changed and changed <= {'SCN-R-101', 'SCN-R-103'}
    assert found['SCN-R-103'].after.verdict.value == 'FAIL'


def test_the_gate_can_be_changed(everything):
    found = list(rejudge(everything['rule_based'].folder, ['gate=target']))
    assert {trial.after.verdict.value for trial in found} == {'PASS'}
    late = list(rejudge(everything['late'].folder, ['gate=target']))
    assert not all(trial.identical for trial in late)


def test_a_changed_file_is_judged_by(everything, tmp_path):
    path = Path(__file__).parents[3] / 'config/scenarios/robotic/collision.yaml'
    text = path.read_text()
    assert 'critical_ms: 150' in text
    changed = tmp_path / 'collision.yaml'
    changed.write_text(text.replace('{target_ms: 75, acceptable_ms: 100, critical_ms: 150}',
                                    '{target_ms: 1, acceptable_ms: 1, critical_ms: 1}'))
    found = {trial.after.scenario_id: trial for trial in rejudge(
        everything['rule_based'].folder, scenarios=load_scenarios([str(changed)]).scenarios)}
    assert found['SCN-R-103'].after.verdict.value == 'FAIL'
    assert all(trial.identical for name, trial in found.items() if name != 'SCN-R-103')


@pytest.mark.parametrize(('change', 'told'), [
    ('critical_ms', 'expected \\[SCENARIO:\\]KEY=VALUE'), ('=3', 'KEY=VALUE'),
    ('ros.invariant=3', 'no such key'), ('ros.invariants[99].still=3', 'no such key'),
    ('latency_budget.critical_ms=soon', 'valid number'), ('latency_budget.critical_ms=1', 'Sort'),
    ('a-b=3', 'field path'), ('latency_budget.critical_ms=[', 'latency_budget.critical_ms'),
    ('gate=never', 'expected target, acceptable or critical'),
    ('SCN-R-1O1:latency_budget.critical_ms=300', "got the id 'SCN-R-1O1', expected one of this "
                                                 "campaign: SCN-.*Did you mean 'SCN-R-101"),
    ('NOPE:gate=critical', "got the id 'NOPE', expected one of this campaign: SCN-"),
    ('SCN-R-101:gate=critical', 'got an id before gate, which is of the whole campaign, expected '
                                'none. Write --set gate=VALUE'),
    ('SCN-R-101:words=judge', 'Write --set words=VALUE')])
def test_a_change_that_does_not_fit_is_refused(everything, change, told):
    with pytest.raises(SettingsError, match=told):
        list(rejudge(everything['rule_based'].folder, [change]))


def test_a_change_for_an_unknown_id_is_refused_beside_another_of_the_same_key(everything):
    with pytest.raises(SettingsError, match=r"got the id 'SCN-R-1O1', expected one of this"):
        rejudge(everything['rule_based'].folder, [
            f'{name}:latency_budget.critical_ms=5000' for name in ('SCN-R-101', 'SCN-R-1O1')])


def test_a_change_of_a_scenario_without_a_record_is_refused_beside_another(everything, tmp_path):
    shutil.copytree(everything['rule_based'].folder, folder := tmp_path / 'run')
    for path in folder.glob('traces/*/SCN-R-101*'):
        path.unlink()
    with pytest.raises(SettingsError, match='--set SCN-R-101:latency_budget.critical_ms: no '
                                            'trial of this campaign was changed by it'):
        rejudge(folder, [f'{name}:latency_budget.critical_ms=5000'
                         for name in ('SCN-R-103', 'SCN-R-101')])


def test_a_file_by_which_no_trial_would_be_judged_is_refused(everything, tmp_path, capsys):
    config = Path(__file__).parents[3] / 'config/scenarios/robotic'
    known, other = config / 'collision.yaml', tmp_path / 'other.yaml'
    other.write_text(known.read_text().replace('SCN-R-103', 'SCN-R-1O3'))
    folder = str(everything['rule_based'].folder)
    for files in ([other], [known, other]):
        given = [word for file in files for word in ('--scenario', str(file))]
        assert main(['evaluate', folder, *given]) == 2
        told = ' '.join(capsys.readouterr().err.split())
        assert f'--scenario {other}: got SCN-R-1O3, expected a scenario of this campaign: ' \
               f'SCN-' in told
    assert main(['evaluate', folder, '--scenario', str(config)]) == 0


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(SettingsError, match='Name the folder of a campaign'):
        list(rejudge(tmp_path))
    with pytest.raises(SettingsError, match='Name the folder of a campaign'):
        repair(tmp_path)
    with pytest.raises(SettingsError, match='Name the folder of a campaign'):
        verify(tmp_path)
    (tmp_path / 'settings.json').touch()
    with pytest.raises(SettingsError, match='has none: run campaign repair'):
        verify(tmp_path)


def test_a_missing_journal_is_told_and_no_verdict_is_made_up(everything, tmp_path):
    folder = shutil.copytree(everything['rule_based'].folder, tmp_path / 'run')
    lost = next(folder.rglob('*.events.jsonl.gz'))
    lost.unlink()
    found = rejudge(folder)
    assert {flaw.place for flaw in found.flaws if 'is missing' in flaw.message} == {
        str(lost.relative_to(folder))}
    assert len(list(found)) == found.summary.planned - 1
    assert found.summary.verdict.value == 'INCONCLUSIVE' and found.summary.exit_code == 3


def test_a_line_without_its_journal_is_no_trial_that_never_began(everything, tmp_path):
    folder = shutil.copytree(everything['rule_based'].folder, tmp_path / 'run')
    [first, *others] = (folder / 'trials.jsonl').read_text().splitlines(keepends=True)
    forged = json.loads(first) | {'verdict': 'PASS', 'duration_ms': 0.0, 'findings': []}
    (folder / 'trials.jsonl').write_text(json.dumps(forged) + '\n' + ''.join(others))
    (folder / journal_path(forged['trial_id'])).unlink()
    found = rejudge(folder)
    assert forged['trial_id'] not in {trial.after.trial_id for trial in found}
    assert any('It is not counted' in flaw.message for flaw in found.flaws
               if flaw.place == journal_path(forged['trial_id']))
    assert found.summary.exit_code == 3


def test_a_trial_that_could_not_begin_keeps_its_result(tmp_path, monkeypatch):
    from safety_scenarios.controllers import rule_based

    def broken(self):
        raise RuntimeError('no weights')
    monkeypatch.setattr(rule_based.RuleBased, 'start', broken)
    run = loopback_run(tmp_path / 'run', 'SCN-R-101')
    [trial] = rejudge(run.folder)
    assert (trial.before.verdict.value, trial.judged, trial.identical) == ('ERROR', False, True)


def test_verify_finds_what_was_changed_lost_or_added(everything, tmp_path):
    folder = shutil.copytree(everything['rule_based'].folder, tmp_path / 'run')
    assert verify(folder) == []
    lines = (folder / 'trials.jsonl').read_text().replace('"PASS"', '"FAIL"', 1)
    (folder / 'trials.jsonl').write_text(lines)
    lost = next(folder.rglob('*.mcap'))
    lost.unlink()
    (folder / 'note.txt').write_text('looks good')
    assert verify(folder) == ['trials.jsonl: changed',
                              f'{lost.relative_to(folder)}: missing',
                              'note.txt: not of this campaign']


def test_a_stricter_gate_is_no_option_without_an_effect(tmp_path, capsys):
    run = loopback_run(tmp_path / 'run', 'SCN-R-101', controller='late',
                       controller_parameters=('delay_ms=300',), seed=7)
    assert run.summary.exit_code == 0
    assert main(['evaluate', str(run.folder), '--gate', 'critical']) == 0
    assert main(['evaluate', str(run.folder), '--gate', 'target']) == 1
    assert 'FAIL' in capsys.readouterr().out
    assert main(['evaluate', str(run.folder), '--gate', 'target', '--set', 'gate=critical']) == 2


@pytest.mark.slow
@pytest.mark.thorough
def test_the_commands_say_the_same(everything, tmp_path, capsys):
    folder = str(everything['rule_based'].folder)
    assert main(['evaluate', folder]) == 0
    assert 'results are unchanged, to the byte' in capsys.readouterr().out
    out = tmp_path / 'again'
    assert main(['evaluate', folder, '--set', 'SCN-R-103:ros.reaction.at_most=-1',
                 '--output', str(out)]) == 1
    shown = capsys.readouterr().out
    assert 'What is different' in shown and 'SCN-R-103' in shown
    assert json.loads((out / 'campaign.json').read_text())['verdict'] == 'FAIL'
    assert main(['campaign', 'verify', folder]) == 0
    assert main(['campaign', 'repair', folder]) == 0
    assert 'nothing to repair' in capsys.readouterr().out
    assert main(['evaluate', folder, '--set', 'no']) == 2
    capsys.readouterr()
    assert main(['evaluate', folder, '--set', 'latency_budget.critical_ms=1']) == 2
    told = ' '.join(capsys.readouterr().err.split())
    assert re.search(r'--set: SCN-\S+: the changed scenario is not valid: latency_budget: got '
                     r'\d+, \d+, 1 ms, expected target_ms <= .+ --set SCN-\S+:KEY=VALUE', told)
    assert 'pydantic' not in told and 'version' not in told


def test_a_result_that_does_not_come_out_again_is_an_error(everything, tmp_path, capsys):
    folder = shutil.copytree(everything['rule_based'].folder, tmp_path / 'run')
    text = (folder / 'trials.jsonl').read_text()
    (folder / 'trials.jsonl').write_text(text.replace('"judged_ns":', '"judged_ns":1', 1))
    assert main(['evaluate', str(folder)]) == 3
    told = capsys.readouterr().err
    assert 'trials.jsonl: changed' in told
    assert re.search(r'error: trials.jsonl:\d+: .* got latency', told)


def killed(folder: Path, after_s: float) -> int:
    """Kill a campaign after its first trial began; return how many lines it had whole by then."""
    code = ('from safety_scenarios.cli.main import main; main(["run", "SCN-R-101", "SCN-C-101", '
            f'"SCN-R-102", "--link", "loopback", "--trials", "200", "--output", {str(folder)!r}])')
    process = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.DEVNULL)
    try:
        patience = time.monotonic() + 60
        while not (folder / 'settings.json').exists():
            assert process.poll() is None and time.monotonic() < patience
            time.sleep(0.002)
        time.sleep(after_s)
    finally:
        process.kill()
        process.wait()
    return (folder / 'trials.jsonl').read_bytes().count(b'\n')


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(4))
def test_of_a_killed_campaign_no_finished_trial_is_lost(tmp_path, seed):
    folder = tmp_path / 'run'
    whole = killed(folder, random.Random(seed).uniform(0, 0.8))
    before = (folder / 'trials.jsonl').read_text().splitlines()[:whole]
    found, done = repair(folder)
    summary = found.summary
    lines = (folder / 'trials.jsonl').read_text().splitlines()
    assert lines[:whole] == before and len(lines) - whole <= 2
    assert summary.interrupted and summary.verdict.value == 'INCONCLUSIVE'
    assert summary.planned == 600 and summary.exit_code == 3
    assert len(found.flaws) == 600 - len(lines)
    assert all('was not run' in flaw.message for flaw in found.flaws)
    assert all(trial.identical for trial in rejudge(folder))
    assert verify(folder) == [] and not list(folder.rglob('*.part'))
    assert repair(folder)[1] == []
    assert len(list(folder.rglob('*.events.jsonl.gz'))) == len(lines)
    for line in lines[whole:]:
        assert json.loads(line)['verdict'] in ('PASS', 'INCONCLUSIVE'), done


def cut_off(folder: Path) -> None:
    """Leave a campaign as one that never ended: summary and manifest are written last."""
    for name in ('campaign.json', 'manifest.json'):
        (folder / name).unlink()


@pytest.mark.parametrize('begun', [b'', gzip.compress(
    b'{"journal":2,"trial":{"trial_id":"SCN-R', mtime=0)])
def test_a_trial_that_was_killed_before_it_began_is_none(tmp_path, begun):
    run = loopback_run(tmp_path / 'run', 'SCN-R-101', trials=2)
    cut_off(run.folder)
    journal = next(run.folder.rglob('*.events.jsonl.gz'))
    journal.with_name('x.events.jsonl.gz.part').write_bytes(begun)
    found, done = repair(run.folder)
    assert found.summary.completed == 2 and found.summary.verdict.value == 'PASS'
    assert [text for text in done if 'x.events.jsonl.gz.part: half written, removed' in text]
    assert verify(run.folder) == [] and all(trial.identical for trial in rejudge(run.folder))


def test_half_a_line_is_cut_and_its_trial_judged_from_its_journal(tmp_path):
    run = loopback_run(tmp_path / 'run', 'SCN-R-101', trials=3)
    path = run.folder / 'trials.jsonl'
    path.write_bytes(path.read_bytes()[:-40])
    cut_off(run.folder)
    assert main(['evaluate', str(run.folder)]) == 3
    found, done = repair(run.folder)
    assert run.lines == path.read_text().splitlines() and found.summary.completed == 3
    assert found.summary.verdict.value == 'PASS' and found.flaws == ()
    assert any('half a line' in text for text in done)
    assert any('had no line' in text for text in done)


def test_a_repaired_folder_says_so_for_ever(tmp_path, capsys):
    run = loopback_run(tmp_path / 'run', 'SCN-R-101', trials=2)
    assert not rejudge(run.folder).summary.repaired
    cut_off(run.folder)
    repair(run.folder)
    assert 'repairs.jsonl' in json.loads((run.folder / 'manifest.json').read_text())
    for command, code in (('campaign repair', 0), ('evaluate', 0), ('show', 0),
                          ('campaign list', 0)):
        assert main([*command.split(), str(run.folder)]) == code
        assert 'epaired' in capsys.readouterr().out, command
    [once] = rejudge(run.folder).summary.repaired
    assert 'campaign.json and manifest.json written' in once
    cut_off(run.folder)
    repair(run.folder)
    found = rejudge(run.folder)
    assert len(found.summary.repaired) == 2 and not found.flaws
    assert json.loads((run.folder / 'campaign.json').read_text())['repaired'] == list(
        found.summary.repaired)
    assert any('repaired after a crash' in text
               for text in headline(source_of(run.folder))['remarks'])
    assert main(['evaluate', str(run.folder), '--output', str(tmp_path / 'again')]) == 0
    assert json.loads((tmp_path / 'again/campaign.json').read_text())['repaired']
    (run.folder / 'repairs.jsonl').unlink()
    assert 'repairs.jsonl: missing' in verify(run.folder)


def test_two_campaigns_never_write_into_one_folder(tmp_path):
    run = loopback_run(tmp_path / 'run', 'SCN-R-101')
    with pytest.raises(SettingsError, match='not empty'):
        loopback_run(tmp_path / 'run', 'SCN-R-101')
    import fcntl
    with (run.folder / 'trials.jsonl').open('a') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(SettingsError, match='still running'):
            repair(run.folder)
