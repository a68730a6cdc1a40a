# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A locked design is run exactly as it was locked, and whatever was changed is found."""

from collections.abc import Callable
from functools import partial
import json
from pathlib import Path
import re
import shutil

import pytest
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.cli.designs import answered, opened
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.reports.live import screen
from safety_scenarios.scenario.fields import described
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.designs.answer import answer, claim_answer
from safety_scenarios.studies.designs.claim import read_claim
from safety_scenarios.studies.designs.design import (
    Design,
    Lock,
    lock_design,
    locked_plan,
    read_lock,
)
from safety_scenarios.studies.matrix.run import Arms
from unit.campaign.statistics.test_compare import trial

SHOWN = 'SCN-R-101'
DESIGN = """question: Does the reference miss fewer hazards than a blind controller?
matrix: matrix.yaml
better: careful
than: blind
outcome: missed hazards
claims: ['miss rate <= 60 % at 80 %', 'miss rate <= 1 %']
"""
MATRIX = """scenarios: [scenario.yaml]
trials: 6
set: {link: loopback}
arms:
  blind: {controller: never_stop}
  careful: {controller: rule_based}
"""


def designed(folder: Path, more: str = '') -> Path:
    """Write a design that can be locked, and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    [scenario] = load_scenarios([SHOWN]).scenarios
    shutil.copyfile(scenario.origin.path, folder / 'scenario.yaml')
    (folder / 'matrix.yaml').write_text(MATRIX.replace(
        'scenario.yaml', str(folder / 'scenario.yaml')), encoding='utf-8')
    (folder / 'design.yaml').write_text(DESIGN + more, encoding='utf-8')
    return folder / 'design.yaml'


def ran(folder: Path, more: str = '') -> Path:
    """Lock a design, run it, and return the folder of its trials."""
    file = designed(folder, more)
    lock_design(file)
    assert main(['run', '--design', str(file), '--output', str(folder / 'run')]) == 1
    return folder / 'run'


@pytest.fixture(scope='module')
def plain(tmp_path_factory) -> Path:
    return ran(tmp_path_factory.mktemp('plain'))


@pytest.fixture(scope='module')
def blinded(tmp_path_factory) -> Path:
    return ran(tmp_path_factory.mktemp('blinded'), 'blind: true\n')


def edit(path: Path, change: Callable[[dict], None]) -> None:
    data = json.loads(path.read_text(encoding='utf-8'))
    change(data)
    path.write_text(json.dumps(data, indent=2), encoding='utf-8')


def rehash(path: Path, change: Callable[[dict], None]) -> str:
    """Change a lock as somebody does who knows how its hash is made, and return the new one."""
    edit(path, change)
    lock = Lock.model_validate_json(path.read_bytes())
    edit(path, lambda data: data.update(sha256=lock.digest))
    return lock.digest


def test_the_question_is_answered_by_the_locked_test_before_everything_else(plain, capsys):
    assert main(['report', str(plain)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == 'Question: Does the reference miss fewer hazards than a blind controller?'
    assert told[1] == 'Answer: careful has fewer missed hazards than blind: shown.'
    found = answer(plain)
    assert (found.estimate.value, found.estimate.n) == (1.0, 6) and found.estimate.low > 0.0
    assert [(one.shown, one.bad) for one in found.claims] == [('shown', 0), ('not shown', 0)]
    assert 'exploratory' in told[-2]
    page = (plain / 'report.html').read_text(encoding='utf-8')
    assert 0 < page.index('The question that was locked beforehand') < page.index('id="matrix"')
    for arm in ('blind', 'careful'):
        settings = json.loads((plain / arm / 'settings.json').read_text(encoding='utf-8'))
        assert settings['settings']['design'] == found.sha256


def claimed(text, results, *, at_any_stop=False):
    return claim_answer(read_claim(text), results, 'ros', at_any_stop=at_any_stop)


def test_failures_that_came_out_alike_are_counted_each_in_a_claim():
    results = [trial('FAIL', 900.0, 'A', index) for index in range(35)] + [
        trial('PASS', 100.0, 'A', index, duration_ms=float(index)) for index in range(35, 300)]
    found = claimed('miss rate <= 5 %', results)
    assert (found.shown, found.bad, found.trials, found.bound.n) == ('not shown', 35, 300, 266)
    assert found.bound.high == clopper_pearson(35, 300, 0.95, 'upper').high
    assert claimed('miss rate <= 5 %', results, at_any_stop=True).shown == 'not shown'


def test_a_crash_before_the_hazard_counts_as_no_reaction_in_a_claim():
    results = [trial('PASS', 100.0, 'A', index, duration_ms=float(index)) for index in range(70)]
    assert claimed('p90 reaction <= 500 ms', results).shown == 'shown'
    results[:33] = [one.model_copy(update={'verdict': Verdict.ERROR, 'latency': None,
                                           'findings': ()}) for one in results[:33]]
    found = claimed('p90 reaction <= 500 ms', results)
    assert (found.shown, found.bad, found.trials) == ('not shown', 33, 70)


def test_a_measured_reaction_of_an_undecided_trial_is_none_in_a_claim():
    results = [trial('PASS', 100.0, 'A', index, duration_ms=float(index)) for index in range(70)]
    results[:33] = [trial('INCONCLUSIVE', 100.0, 'A', index) for index in range(33)]
    assert results[0].is_measured
    found = claimed('p90 reaction <= 500 ms', results)
    assert (found.shown, found.bad, found.trials) == ('not shown', 33, 70)


EARLY = """question: Does the reference fail less often than a blind controller?
matrix: matrix.yaml
better: careful
than: blind
stop: any
claims: ['failure rate <= 60 % at 80 %']
"""


def ended_after(folder: Path, trials: int, monkeypatch) -> Path:
    """Run a design over two scenarios until the user ends it after so many trials of each arm."""
    file = designed(folder)
    edit_text(folder / 'matrix.yaml', f'[{folder / "scenario.yaml"}]', '[SCN-R-101, SCN-R-D-101]')
    file.write_text(EARLY, encoding='utf-8')
    lock_design(file)
    taken = []

    def take(arms, task, done, take=Arms.take):
        take(arms, task, done)
        taken.append(task)
        if len(taken) == 2 * trials:
            raise KeyboardInterrupt
    with monkeypatch.context() as patched:
        patched.setattr(Arms, 'take', take)
        main(['run', '--design', str(file), '--output', str(folder / 'run')])
    return folder / 'run'


def test_a_scenario_that_was_never_run_leaves_an_early_end_without_an_answer(
        tmp_path, monkeypatch):
    found = answer(ended_after(tmp_path, 1, monkeypatch))
    assert found.shown == 'cannot be determined' and found.estimate is None
    assert any('no pair of trials of SCN-R-D-101' in text for text in found.reasons)
    assert [(one.shown, one.trials) for one in found.claims] == [('cannot be determined', 0)]


def test_an_early_end_counts_the_rounds_that_every_scenario_has(tmp_path, monkeypatch):
    found = answer(ended_after(tmp_path, 9, monkeypatch))
    assert (found.estimate.n, found.estimate.value) == (6, 0.5)
    assert 'after 3 of 6 rounds' in found.estimate.method and found.estimate.confidence == 0.95
    assert [(one.shown, one.trials) for one in found.claims] == [('shown', 8)]


def test_a_design_is_locked_once(tmp_path):
    file = designed(tmp_path)
    first = lock_design(file)
    assert read_lock(tmp_path / 'design.yaml.lock') == first and first.key is None
    with pytest.raises(InputError, match='a lock is never replaced'):
        lock_design(file)


@pytest.mark.parametrize(('change', 'says'), [
    (lambda at: (at / 'design.yaml').write_text(DESIGN + 'confidence: 0.6\n'),
     'design.confidence: got another value'),
    (lambda at: edit_text(at / 'matrix.yaml', 'trials: 6', 'trials: 60'), 'matrix.trials: got'),
    (lambda at: edit_text(at / 'matrix.yaml', 'never_stop', 'parrot'), 'matrix.arms: got'),
    (lambda at: edit_text(at / 'scenario.yaml', 'severity:', '# looser\nseverity:'),
     'scenario SCN-R-101: got'),
    (lambda at: edit(at / 'design.yaml.lock', lambda lock: lock['design'].update(margin=0.5)),
     'it was changed after the design was locked'),
    (lambda at: rehash(at / 'design.yaml.lock', lambda lock: lock.update(version='0.0.1')),
     'version of safety_scenarios: got'),
    (lambda at: (at / 'design.yaml.lock').unlink(), 'cannot be read as a lock')])
def test_a_run_refuses_by_name_whatever_is_not_as_it_was_locked(tmp_path, change, says):
    file = designed(tmp_path)
    lock_design(file)
    change(tmp_path)
    with pytest.raises(InputError, match=says):
        locked_plan(file, {}, tmp_path / 'run')
    assert not (tmp_path / 'run').exists()


def edit_text(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding='utf-8')
    assert old in text
    path.write_text(text.replace(old, new), encoding='utf-8')


def test_the_command_line_sets_nothing_that_was_locked(tmp_path, capsys):
    file = designed(tmp_path)
    lock_design(file)
    assert main(['run', '--design', str(file), '--seed', '9', '--trials', '3']) == 2
    told = capsys.readouterr().err
    assert '--seed: got it with --design' in told and '--trials: got it with --design' in told
    assert main(['run', SHOWN, '--design', str(file)]) == 2


TAMPERING = {
    'a limit in the lock, with a new hash': (
        lambda at: rehash(at / 'design.lock', lambda lock: lock['design'].update(
            claims=['miss rate <= 99 %'])), 'got the hash .* of a design'),
    'the lock with its hash in the settings of the arms': (
        lambda at: [edit(at / arm / 'settings.json', lambda data, new=new: data[
            'settings'].update(design=new)) for new in [rehash(
                at / 'design.lock', lambda lock: lock['design'].update(confidence=0.6))]
            for arm in ('blind', 'careful')], 'settings.json'),
    'a trial that is added to the plan': (
        lambda at: edit(at / 'careful' / 'settings.json', lambda data: data['plan'].append(
            {**data['plan'][0], 'index': 6, 'trial_id': 'more'})), 'got other trials than'),
    'a trial that is left out of plan and results': (
        lambda at: (edit(at / 'careful' / 'settings.json', lambda data: data['plan'].pop()),
                    edit_text(at / 'careful' / 'trials.jsonl', last_line(
                        at / 'careful' / 'trials.jsonl'), '')), 'got other trials than'),
    'a verdict': (
        lambda at: edit_text(at / 'blind' / 'trials.jsonl', '"verdict":"FAIL"',
                             '"verdict":"PASS"'), 'arm blind: '),
    'arms that are swapped': (
        lambda at: [shutil.move(at / 'blind', at / 'x'), shutil.move(
            at / 'careful', at / 'blind'), shutil.move(at / 'x', at / 'careful')],
        'controller: got rule_based, expected never_stop'),
    'an arm more': (lambda at: shutil.copytree(at / 'careful', at / 'best'),
                    'got arm best, which the lock does not have'),
    'an arm less': (lambda at: shutil.rmtree(at / 'careful'), 'arm careful: '),
    'trials from before the lock': (
        lambda at: edit(at / 'careful' / 'settings.json',
                        lambda data: data.update(started='2020-01-01T00:00:00+00:00')),
        'began at 2020-01-01'),
    'another gate': (
        lambda at: edit(at / 'careful' / 'settings.json',
                        lambda data: data['settings'].update(gate='target')),
        'setting gate is another one')}


def last_line(path: Path) -> str:
    return path.read_text(encoding='utf-8').splitlines(keepends=True)[-1]


NOT_IN_CI = ('an arm less', 'another gate', 'trials from before the lock',
             'a trial that is left out of plan and results')


@pytest.mark.parametrize('name', [
    pytest.param(name, marks=[pytest.mark.thorough] if name in NOT_IN_CI else [])
    for name in TAMPERING])
def test_whatever_is_changed_after_the_first_trial_is_named_and_nothing_can_be_said(
        plain, tmp_path, name):
    change, says = TAMPERING[name]
    folder = tmp_path / 'run'
    shutil.copytree(plain, folder)
    change(folder)
    found = answer(folder)
    assert found.shown == 'cannot be determined' and found.claims == ()
    assert any(re.search(says, text) for text in found.reasons), found.reasons


def test_a_lock_whose_hash_is_wrong_answers_nothing(plain, tmp_path, capsys):
    folder = tmp_path / 'run'
    shutil.copytree(plain, folder)
    edit(folder / 'design.lock', lambda lock: lock['design'].update(margin=0.9))
    assert main(['report', str(folder)]) == 2
    assert 'it was changed after the design was locked' in capsys.readouterr().err


def test_a_lock_that_was_removed_is_missed(plain, tmp_path, capsys):
    folder = tmp_path / 'run'
    shutil.copytree(plain, folder)
    (folder / 'design.lock').unlink()
    assert main(['report', str(folder)]) == 2
    assert 'it was removed after the run' in capsys.readouterr().err


def test_a_junit_file_that_would_show_sealed_results_is_refused(tmp_path, capsys):
    file = designed(tmp_path, 'blind: true\n')
    lock_design(file)
    assert main(['run', '--design', str(file), '--output', str(tmp_path / 'run'), '--junit',
                 str(tmp_path / 'junit.xml')]) == 2
    assert 'with a blinded design' in capsys.readouterr().err
    assert not list(tmp_path.glob('*.xml')) and not (tmp_path / 'run').exists()


@pytest.mark.parametrize(('more', 'is_open'), [('', True), ('blind: true\n', False)])
def test_the_progress_counts_no_verdicts_of_sealed_arms(tmp_path, capsys, monkeypatch, more,
                                                        is_open):
    monkeypatch.setattr(screen, 'Lines', partial(screen.Lines, every_s=0.0))
    ran(tmp_path, more)
    assert bool(re.search(r'trials; .*\d (PASS|FAIL)', capsys.readouterr().err)) is is_open


def test_blinded_arms_have_codes_everywhere_until_they_are_opened(blinded, tmp_path, capsys):
    folder = tmp_path / 'run'
    shutil.copytree(blinded, folder)
    lock = read_lock(folder / 'design.lock')
    assert sorted(path.name for path in folder.iterdir()) == [
        'blinded.json', 'design.lock', 'sealed.tar.gz']
    assert json.loads((folder / 'blinded.json').read_text(encoding='utf-8'))[
        'trials'] == dict.fromkeys(lock.codes, 6)
    assert main(['report', str(folder)]) == 3
    told = capsys.readouterr().out
    assert all(f'{code} 6 trials' in told for code in lock.codes)
    assert not any(name in told for name in ('careful', 'blind:', 'never_stop', 'rule_based'))
    for command in ('show',), ('compare',), ('campaign', 'conditions'):
        assert main([*command, str(folder)]) == 2
        assert f'report {folder} --unblind opens it' in ' '.join(capsys.readouterr().err.split())
    assert opened(folder, unblind=True) and answered(folder).shown == 'shown'
    told = capsys.readouterr().out
    assert 'careful has fewer missed hazards than blind: shown' in told
    assert f'codes opened {json.loads((folder / "unblinded.json").read_text())["at"]}' in told
    key = json.loads((folder / 'design.key').read_text(encoding='utf-8'))['codes']
    [line, *_] = (folder / key['careful'] / 'trials.jsonl').read_text().splitlines()
    assert json.loads(line)['controller'] == key['careful']
    assert main(['report', str(folder), '--unblind']) == 2
    edit(folder / 'design.key', lambda data: data.update(
        codes={'careful': key['blind'], 'blind': key['careful']}))
    found = answer(folder)
    assert found.shown == 'cannot be determined' and 'got another key' in found.reasons[0]


def test_a_sealed_file_that_was_changed_is_not_opened(blinded, tmp_path, capsys):
    folder = tmp_path / 'run'
    shutil.copytree(blinded, folder)
    with (folder / 'sealed.tar.gz').open('ab') as file:
        file.write(b'more')
    assert main(['report', str(folder), '--unblind']) == 2
    assert 'it was changed after the run' in capsys.readouterr().err
    assert not (folder / 'unblinded.json').exists()


def test_a_swapped_key_is_not_run(tmp_path):
    file = designed(tmp_path, 'blind: true\n')
    lock = lock_design(file)
    path = tmp_path / 'design.yaml.key'
    assert (path.stat().st_mode & 0o777, len(lock.codes)) == (0o600, 2)
    edit(path, lambda data: data.update(nonce='0' * 64))
    with pytest.raises(InputError, match='got another key than the one'):
        locked_plan(file, {}, tmp_path / 'run')


@pytest.mark.parametrize(('text', 'says'), [
    ('than: blind', 'than: careful'),
    ('outcome: missed hazards', 'outcome: reaction\nmargin: 0.1'),
    ('outcome: missed hazards', 'confidence: 0.5'),
    ("'miss rate <= 1 %'", "'mis rate'"), ('better: careful', 'better: nobody')])
def test_a_design_that_cannot_be_answered_is_refused(tmp_path, text, says):
    file = designed(tmp_path)
    edit_text(file, text, says)
    with pytest.raises(InputError, match='expected'):
        lock_design(file)
    assert not (tmp_path / 'design.yaml.lock').exists()


def test_every_field_of_a_design_says_what_it_is():
    assert all(field.description for field in described(Design).model_fields.values())
