# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Many campaigns in one folder: what each is, what is listed, and how they change over time."""

from contextlib import contextmanager
import fcntl
import json
import os
import shutil

import pytest
from safety_scenarios.campaign.folder.folder import hashes, read_trials
from safety_scenarios.campaign.folder.many import campaigns_in, follow, least_margins
from safety_scenarios.cli.main import main
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict

HOSTILE = '<script>alert(1)</script>"&\x1b[2J\u202e'


@pytest.fixture
def runs(many_campaigns, tmp_path):
    return shutil.copytree(many_campaigns, tmp_path / 'runs')


@contextmanager
def running(folder):
    """Hold a campaign as one that still writes into its folder."""
    for name in ('manifest.json', 'campaign.json'):
        (folder / name).unlink(missing_ok=True)
    with (folder / 'trials.jsonl').open('a') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def cut_off(folder):
    for name in ('manifest.json', 'campaign.json'):
        (folder / name).unlink()


def changed(folder):
    path = folder / 'trials.jsonl'
    path.write_text(path.read_text().replace('FAIL', 'PASS').replace('INCONCLUSIVE', 'PASS'))


def test_what_runs_was_cut_off_or_is_broken_is_named_and_has_no_verdict(runs, capsys):
    cut_off(runs / 'passed')
    changed(runs / 'failed')
    (runs / 'again' / 'settings.json').write_text('{')
    with running(runs / 'open'):
        found = {one.name: one for one in campaigns_in(runs)}
        assert main(['campaign', 'list', str(runs)]) == 3
    assert {name: one.state for name, one in found.items()} == {
        'passed': 'cut off', 'failed': 'broken', 'again': 'broken', 'open': 'running'}
    assert all(one.summary is None for one in found.values())
    assert found['failed'].results == () and 'trials.jsonl was changed' in found['failed'].problem
    shown = capsys.readouterr().out
    for text in ('running', 'cut off: it did not end', 'settings.json'):
        assert text in shown
    assert 'PASS' not in shown


def test_what_evaluate_wrote_is_no_campaign_and_nothing_that_is_broken(runs, capsys):
    assert main(['evaluate', str(runs / 'passed'), '--output', str(runs / 'stricter')]) == 0
    [found] = [one for one in campaigns_in(runs) if one.name == 'stricter']
    assert (found.state, found.summary, found.results) == ('judged again', None, ())
    assert main(['campaign', 'trials', str(runs)]) == 0


def test_a_list_shows_each_campaign_oldest_first(runs, capsys):
    assert main(['campaign', 'list', str(runs)]) == 1, 'one of them has failed'
    lines = [line for line in capsys.readouterr().out.splitlines() if '2 of 2' in line]
    assert [next(name for name in ('passed', 'again', 'failed', 'open') if f' {name} ' in line)
            for line in lines] == ['passed', 'again', 'failed', 'open']
    assert [word in line for word, line in zip(('PASS', 'PASS', 'FAIL', 'INCONCLUSIVE'), lines)] \
        == [True] * 4
    assert ' m,' in lines[0] and ' s' in lines[0]


def test_verify_names_what_the_manifest_does_not_cover(runs, capsys):
    folder = runs / 'passed'
    for name in ('report.html', 'logs'):
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
        (folder / name).unlink(missing_ok=True)
    assert main(['campaign', 'verify', str(folder)]) == 0
    assert capsys.readouterr().out == 'every file is as the manifest says\n'
    (folder / 'report.html').write_text('<h1>PASS</h1>')
    (folder / 'logs').mkdir()
    assert main(['campaign', 'verify', str(folder)]) == 0
    said = ' '.join(capsys.readouterr().out.split())
    assert 'not covered: report.html, logs/. Anybody may have changed that since' in said
    assert f'safety-scenarios report {folder} writes the page anew' in said


@pytest.mark.parametrize('command', [
    ['compare', 'passed', 'again'], ['report', 'passed', '--output', 'page.html'],
    ['export', 'passed', '--output', 'tables'], ['evaluate', 'passed']], ids=lambda one: one[0])
@pytest.mark.parametrize('summary', ['[]', '{"v": 1', '{"verdict": "GOOD"}'])
def test_a_summary_that_is_none_is_told_in_one_line(runs, capsys, monkeypatch, command, summary):
    monkeypatch.chdir(runs)
    (runs / 'passed' / 'campaign.json').write_text(summary)
    assert main(command) in (2, 3)
    told = [line for line in capsys.readouterr().err.splitlines()
            if 'campaign.json: cannot be read' in line]
    assert told and not any(
        'pydantic' in line or 'validation error' in line for line in told), told
    assert all(any(what in line for what in ('expected', 'missing', 'Invalid JSON'))
               for line in told), told


def test_margins_of_two_units_are_never_one_number(runs):
    [one] = campaigns_in(runs / 'failed')
    found = least_margins(one.results)
    assert len(found) > 1 and all(
        value == min(finding.margin for result in one.results for finding in result.findings
                     if finding.unit == unit and finding.margin is not None)
        for unit, value in found.items())


def test_trials_are_chosen_and_what_was_not_decided_is_told(runs, capsys):
    assert main(['campaign', 'trials', str(runs), '--failed']) == 0
    told = capsys.readouterr()
    assert told.out.count('FAIL') == 2 and 'PASS' not in told.out
    assert '6 not listed, of which 2 INCONCLUSIVE' in told.err
    assert main(['campaign', 'trials', str(runs), '--verdict', 'pass', '--verdict',
                 'inconclusive']) == 0
    assert '6 trials of 4 campaigns' in capsys.readouterr().err
    assert main(['campaign', 'trials', str(runs), '--scenario', 'nowhere']) == 2
    changed(runs / 'failed')
    assert main(['campaign', 'trials', str(runs), '--failed']) == 3
    assert 'trials.jsonl was changed' in capsys.readouterr().err


def test_trials_are_listed_by_their_records_and_not_by_what_a_file_says(runs, capsys):
    [one] = campaigns_in(runs / 'failed')
    rewrite(runs / 'failed', [result.model_copy(update={'verdict': Verdict.PASS})
                              for result in one.results])
    assert main(['campaign', 'trials', str(runs / 'failed')]) == 3
    told = capsys.readouterr()
    assert told.out.count('FAIL') == 2 and 'PASS' not in told.out
    assert 'verdict' in told.err


def test_a_campaign_is_followed_until_it_ends_and_no_trial_is_lost(runs):
    path = runs / 'passed' / 'trials.jsonl'
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:50])
    steps = iter((lambda: file.write(second[50:].decode()), lambda: None,
                  lambda: fcntl.flock(file, fcntl.LOCK_UN)))

    def wait():
        next(steps)()
        file.flush()
    with running(runs / 'passed') as file:
        found = [result.index for result in follow(runs / 'passed', wait)]
    assert found == [0, 1]


def test_the_tail_of_a_campaign_ends_with_its_exit_code(runs, capsys):
    for name, code in (('passed', 0), ('failed', 1), ('open', 3)):
        assert main(['campaign', 'tail', str(runs / name)]) == code
    assert capsys.readouterr().out.count('Quick person') == 6
    cut_off(runs / 'passed')
    assert main(['campaign', 'tail', str(runs / 'passed')]) == 3
    assert 'cut off' in capsys.readouterr().err
    changed(runs / 'failed')
    assert main(['campaign', 'tail', str(runs / 'failed')]) == 3
    told = capsys.readouterr().err
    assert 'no verdict: trials.jsonl was changed since' in told and 'exit code' not in told


def test_a_campaign_is_found_however_deep_it_lies(runs):
    deep = runs.joinpath(*'123456')
    shutil.copytree(runs / 'passed', deep / 'passed')
    assert '1/2/3/4/5/6/passed' in [one.name for one in campaigns_in(runs)]


def test_a_link_is_followed_and_no_campaign_is_found_twice(runs, tmp_path, capsys):
    elsewhere = tmp_path / 'disk' / 'runs'
    shutil.copytree(runs / 'passed', elsewhere / 'far')
    for name, target in {'latest': runs / 'failed', 'a_disk': elsewhere.parent, 'up': runs,
                         'gone': tmp_path / 'nowhere', 'itself': runs / 'itself',
                         'deep/back': runs.parent}.items():
        (runs / name).parent.mkdir(exist_ok=True)
        (runs / name).symlink_to(target)
    known = {'passed', 'again', 'failed', 'open', 'a_disk/runs/far'}
    assert sorted(one.name for one in campaigns_in(runs)) == sorted(known)
    for place in (runs / 'up', runs / 'latest'):
        assert len(campaigns_in(place)) in (1, len(known))
    assert main(['campaign', 'list', str(runs)]) == 1 and main(['campaign', 'trials',
                                                                str(runs)]) == 0
    assert 'a_disk/runs/far' in capsys.readouterr().out


def test_a_report_is_opened_or_its_path_is_told(runs, monkeypatch, capsys):
    assert main(['campaign', 'open', str(runs / 'passed')]) == 2
    assert main(['campaign', 'open', str(runs)]) == 2
    page = runs / 'passed' / 'report.html'
    page.write_text('<p>report</p>')
    opened = []
    monkeypatch.setattr('webbrowser.open', lambda url: opened.append(url) or True)
    for name in ('DISPLAY', 'WAYLAND_DISPLAY', 'BROWSER'):
        monkeypatch.delenv(name, raising=False)
    assert main(['campaign', 'open', str(runs / 'passed')]) == 0
    assert opened == [] and str(page) in capsys.readouterr().out
    monkeypatch.setenv('DISPLAY', ':0')
    assert main(['campaign', 'open', str(runs / 'passed')]) == 0
    assert opened == [page.resolve().as_uri()]


def rewrite(folder, results):
    """Let a campaign have come to other results, as if it had been run so."""
    (folder / 'trials.jsonl').write_text(
        ''.join(result.model_dump_json() + '\n' for result in results))
    (folder / 'manifest.json').write_text(json.dumps(hashes(folder)))
    assert len(read_trials(folder)) == len(results)


def test_hostile_names_are_text_in_the_list(runs, capsys):
    [one] = campaigns_in(runs / 'failed')
    finding = Finding(check=HOSTILE, kind='bound', verdict=Verdict.FAIL, reason=HOSTILE)
    rewrite(runs / 'failed', [result.model_copy(update={
        'scenario_id': HOSTILE, 'controller': HOSTILE, 'scenario_name': HOSTILE,
        'reason': HOSTILE + 'x' * 10**6, 'findings': (finding,)}) for result in one.results])
    os.rename(runs / 'failed', runs / HOSTILE.replace('/', '|'))
    for command in ('list', 'trials', 'tail'):
        main(['campaign', command, str(runs)])
    told = ''.join(capsys.readouterr())
    assert not {'\x1b', '\u202e'} & set(told) and '\\u001b[2J' in told


@pytest.mark.parametrize(('arguments', 'told'), [
    (['tail', '{}'], 'got no campaign in it'),
    (['open', '{}'], 'Name the folder of a campaign'), (['list', '{}/x'], 'does not exist'),
    (['list', '{}'], 'got no campaign in it'), (['trials', '{}'], 'got no campaign in it'),
    (['verify', '{}'], 'Name the folder of a campaign'),
    (['merge', '{}', '--output', '{}_both'], 'Name the folder of a campaign')])
def test_a_folder_without_a_campaign_says_so(arguments, told, tmp_path, capsys):
    assert main(['campaign', *(one.format(tmp_path) for one in arguments)]) == 2
    shown = capsys.readouterr().err
    assert told in shown and 'Errno' not in shown


@pytest.mark.parametrize('command', ['show', 'report', 'evaluate', 'campaign verify'])
def test_a_folder_of_campaigns_names_those_in_it(command, runs, capsys):
    assert main([*command.split(), str(runs)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert 'got a folder of 4 campaigns' in line and str(runs / 'passed') in line


@pytest.mark.parametrize('command', ['show', 'evaluate', 'campaign verify'])
def test_the_folder_of_a_monitor_names_the_campaigns_of_its_findings(command, runs, tmp_path,
                                                                     capsys):
    folder = tmp_path / 'monitor'
    kept = folder / 'findings' / '0001.silent'
    shutil.copytree(runs / 'passed', kept)
    (folder / 'findings.jsonl').write_text('{"check": "silent"}\n', encoding='utf-8')
    (folder / 'monitor.json').write_text('{"findings": 1}', encoding='utf-8')
    assert main([*command.split(), str(folder)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith(f'expected one campaign. Name {kept}')
