# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""However a campaign's folder is changed afterwards: it is named, and never ends as a PASS."""

from collections.abc import Callable
from dataclasses import dataclass
import io
import json
from pathlib import Path
import re
import shutil

from examples import some
import pytest
from safety_scenarios import Observer, registry, run, verify
from safety_scenarios.campaign.folder import provenance
from safety_scenarios.campaign.folder.files import journal_path, trace_path, trace_writer
from safety_scenarios.campaign.folder.folder import hashes, settings_of
from safety_scenarios.campaign.rejudging.rejudge import rejudge, results_of
from safety_scenarios.campaign.rejudging.stored_trials import repair
from safety_scenarios.cli.main import main
from safety_scenarios.errors import TraceError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.trial.journal import read_journal
from unit.loopback_runs import loopback_run
from unzipped import chain_anew, read_text, write_text

pytestmark = pytest.mark.slow
pytest.importorskip('mcap', reason='the extra mcap is not installed')
HAZARD, BENIGN = 'SCN-R-101', 'SCN-R-D-101'
TRIALS, SETTINGS, SUMMARY, MANIFEST = ('trials.jsonl', 'settings.json', 'campaign.json',
                                       'manifest.json')


class Folder:
    """A campaign's folder in the hands of somebody who wants it to look better."""

    def __init__(self, path: Path, others: dict[str, Path]) -> None:
        self.path, self.others = path, others

    @property
    def lines(self) -> list[dict]:
        return [json.loads(line) for line in (self.path / TRIALS).read_text().splitlines()]

    def write(self, lines: list[dict]) -> None:
        (self.path / TRIALS).write_text(''.join(
            json.dumps(line, separators=(',', ':'), ensure_ascii=False) + '\n' for line in lines))

    @property
    def settings(self) -> dict:
        return json.loads((self.path / SETTINGS).read_text())

    def set(self, **values: object) -> None:  # noqa: A003
        (self.path / SETTINGS).write_text(json.dumps(self.settings | values, indent=2) + '\n')

    def first(self, verdict: str) -> str:
        """Return the id of the first trial with a verdict."""
        return next(line['trial_id'] for line in self.lines if line['verdict'] == verdict)

    def number(self, trial_id: str) -> int:
        return 1 + [line['trial_id'] for line in self.lines].index(trial_id)

    def journal(self, trial_id: str) -> Path:
        return self.path / journal_path(trial_id)

    def drop(self, trial_id: str) -> None:
        """Remove every trace of a trial but its place in the plan."""
        self.write([line for line in self.lines if line['trial_id'] != trial_id])
        for name in (journal_path(trial_id), trace_path(trial_id)):
            (self.path / name).unlink()
        shutil.rmtree(self.path / 'recordings' / trial_id)

    def judge_anew(self, trial_id: str) -> None:
        """Write line, trace and chain of hashes as the record has them now."""
        chain_anew(self.journal(trial_id))
        record = read_journal(self.journal(trial_id), registry.resolve)
        result = evaluate(record)
        self.write([json.loads(result.model_dump_json()) if line['trial_id'] == trial_id else line
                    for line in self.lines])
        writer = trace_writer(settings_of(self.path).run)
        text = io.StringIO()
        writer(text, record, result)
        write_text(self.path / trace_path(trial_id), text.getvalue())

    def rewrite(self, trial_id: str, change: Callable[[list[str]], list[str]]) -> None:
        """Change the lines of a journal."""
        path = self.journal(trial_id)
        lines = read_text(path).split('\n')
        write_text(path, '\n'.join(change(lines)))


def copied_pass(folder):
    line = next(line for line in folder.lines if line['verdict'] == 'PASS')
    folder.write([line] * 20)
    return f'{TRIALS}:2'


def copied_line(folder):
    folder.write([*folder.lines, folder.lines[-1]])
    return f'{TRIALS}:{len(folder.lines)}'


def missing_line(folder):
    lost = folder.first('FAIL')
    folder.write([line for line in folder.lines if line['trial_id'] != lost])
    return f'{TRIALS}: got no result of {lost}'


def missing_trial(folder):
    lost = folder.first('FAIL')
    folder.drop(lost)
    return f'{TRIALS}: {lost} was not run'


def every_fail_missing(folder):
    while any(line['verdict'] == 'FAIL' for line in folder.lines):
        lost = folder.first('FAIL')
        folder.drop(lost)
    return f'{TRIALS}: {lost} was not run'


def no_trial_at_all(folder):
    for line in folder.lines:
        folder.drop(line['trial_id'])
    return 'was not run'


def changed_verdict(folder):
    forged = folder.first('FAIL')
    folder.write([line | {'verdict': 'PASS'} if line['trial_id'] == forged else line
                  for line in folder.lines])
    return f'{TRIALS}:{folder.number(forged)}: {forged}: got verdict PASS, expected FAIL'


def forged_result(folder):
    forged = folder.first('FAIL')
    folder.write([line | {'verdict': 'PASS', 'reason': 'all held', 'failure_class': 'none',
                          'findings': [found | {'verdict': 'PASS'} for found in line['findings']]}
                  if line['trial_id'] == forged else line for line in folder.lines])
    return f'{TRIALS}:{folder.number(forged)}: {forged}: got verdict PASS, expected FAIL'


def removed_finding(folder):
    forged = folder.first('PASS')
    folder.write([line | {'findings': line['findings'][1:]} if line['trial_id'] == forged
                  else line for line in folder.lines])
    return f'{TRIALS}:{folder.number(forged)}: {forged}: got '


def other_words_without_source(folder):
    """Take the sources out, as if an earlier version had written the line."""
    forged = folder.first('PASS')
    folder.write([line | {'reason': 'certified', 'findings': [
        found | {'source': None, 'reason': 'certified'} for found in line['findings']]}
        if line['trial_id'] == forged else line for line in folder.lines])
    return f'{TRIALS}:{folder.number(forged)}: {forged}: got '


def better_latency(folder):
    path = folder.path / TRIALS
    path.write_text(re.sub(r'"judged_ns":(\d+)\d', r'"judged_ns":\1', path.read_text(), count=1))
    return f'{TRIALS}:1: '


def other_seed(folder):
    folder.write([line | {'seed': line['seed'] + 1} if number == 0 else line
                  for number, line in enumerate(folder.lines)])
    return f'{TRIALS}:1: '


def other_controller(folder):
    folder.write([line | {'controller': 'rule_based'} for line in folder.lines])
    return f'{TRIALS}:1: {folder.lines[0]["trial_id"]} is not as it was planned: got controller'


def fails_as_warmup(folder):
    forged = folder.first('FAIL')
    folder.write([line | {'warmup': line['verdict'] == 'FAIL'} for line in folder.lines])
    return f'{TRIALS}:{folder.number(forged)}: {forged} is not as it was planned: got warmup'


def pass_line_renamed(folder):
    good, bad = folder.first('PASS'), folder.first('FAIL')
    line = next(line for line in folder.lines if line['trial_id'] == good)
    place = folder.number(bad)
    folder.write([{**line, **{name: one[name] for name in
                              ('trial_id', 'scenario_id', 'scenario_name', 'index', 'seed')}}
                  if one['trial_id'] == bad else one for one in folder.lines])
    return f'{TRIALS}:{place}: {bad}: got verdict PASS, expected FAIL'


def swapped_record(folder):
    bad, good = folder.first('FAIL'), folder.first('PASS')
    shutil.copy(folder.journal(good), folder.journal(bad))
    folder.judge_anew(good)
    return f'{journal_path(bad)}:1: the record is not that of the planned trial: got trial_id'


def events_of_another_trial(folder):
    """Keep the plan in the record, and take the events of a trial that passed."""
    bad = folder.first('PASS')
    good = next(line['trial_id'] for line in folder.lines if line['verdict'] == 'PASS'
                and line['trial_id'] != bad)
    events = read_text(folder.journal(good)).partition('\n')[2]
    folder.rewrite(bad, lambda lines: [lines[0], events])
    folder.judge_anew(bad)
    return f'{journal_path(bad)}: got the events of {good}'


def record_of_another_campaign(folder):
    bad = folder.first('FAIL')
    other = bad.replace('late', 'rule_based')
    shutil.copy(folder.others['rule_based'] / journal_path(other), folder.journal(bad))
    return f'{journal_path(bad)}:1: the record is not that of the planned trial: got trial_id'


def record_of_another_seed(folder):
    good = folder.first('PASS')
    path = folder.others['seed'] / journal_path(good.replace('.s0.', '.s1.'))
    write_text(folder.journal(good), read_text(path).replace('.s1.', '.s0.'))
    folder.judge_anew(good)
    return f'{journal_path(good)}:1: the record is not that of the planned trial: got seed'


def laxer_scenario_in_the_record(folder):
    bad = folder.first('FAIL')
    folder.rewrite(bad, lambda lines: [
        re.sub(r'"critical_ms":[\d.]+', '"critical_ms":5000.0', lines[0]), *lines[1:]])
    folder.judge_anew(bad)
    return f'{journal_path(bad)}:1: the record is not that of the planned trial: got another plan'


def other_scenario_file(folder):
    bad = folder.first('FAIL')
    folder.rewrite(bad, lambda lines: [
        re.sub(r'"sha256":"\w{4}', '"sha256":"0000', lines[0]), *lines[1:]])
    return f'{journal_path(bad)}:1: the record is not that of the planned trial: got ' \
           f'scenario_sha256'


def foreign_record_file(folder):
    good = folder.first('PASS')
    other = journal_path(good.replace('.t', '.t9'))
    shutil.copy(folder.journal(good), folder.path / other)
    return f'{other}: belongs to no planned trial'


def swapped_trace(folder):
    good, bad = folder.first('PASS'), folder.first('FAIL')
    shutil.copy(folder.path / trace_path(good), folder.path / trace_path(bad))
    return f'{trace_path(bad)}: is another than its record and result give'


def trace_of_a_pass_changed(folder):
    path = folder.path / trace_path(folder.first('PASS'))
    write_text(path, read_text(path).replace('"', "'", 1))
    return f'{trace_path(folder.first("PASS"))}: is another than'


def result_without_its_record(folder):
    good = folder.first('PASS')
    folder.journal(good).unlink()
    return f'{journal_path(good)}: is missing, so that nothing shows the result in ' \
           f'{TRIALS}:{folder.number(good)}'


def added_trial(folder):
    good = folder.first('PASS')
    new = re.sub(r'\.t\d+', '.t77', good)
    line = next(line for line in folder.lines if line['trial_id'] == good)
    folder.write([*folder.lines, line | {'trial_id': new, 'index': 77}])
    write_text(folder.journal(new), read_text(folder.journal(good)).replace(good, new))
    return f'{TRIALS}:{len(folder.lines)}: got a result of {new}, expected one of a planned trial'


def empty_plan(folder):
    folder.set(plan=[])
    return f'{SETTINGS}: got a plan without a trial'


def empty_campaign(folder):
    for line in folder.lines:
        folder.drop(line['trial_id'])
    folder.set(plan=[], scenarios=[])
    return f'{SETTINGS}: got a plan without a trial'


def plan_without_its_fails(folder):
    bad = [line['trial_id'] for line in folder.lines if line['verdict'] == 'FAIL']
    for trial_id in bad:
        folder.drop(trial_id)
    folder.set(plan=[one for one in folder.settings['plan'] if one['trial_id'] not in bad])
    return f'{SETTINGS}: plan: {HAZARD}: got '


def plan_taken_out(folder):
    settings = folder.settings
    del settings['plan']
    (folder.path / SETTINGS).write_text(json.dumps(settings))
    return f'{SETTINGS}: holds no plan'


def plan_without_hashes(folder):
    folder.set(plan=[one | {'sha256': ''} for one in folder.settings['plan']])
    return f'{SETTINGS}: plan: got '


def plan_with_one_trial_twice(folder):
    plan = folder.settings['plan']
    folder.set(plan=[plan[0], *plan[:-1]])
    return f'{SETTINGS}: plan: got {plan[0]["trial_id"]} twice'


def fewer_trials_everywhere(folder):
    settings = folder.settings
    for line in folder.lines[1:]:
        if line['index'] > 0:
            folder.drop(line['trial_id'])
    folder.set(plan=[one for one in settings['plan'] if one['index'] == 0],
               settings=settings['settings'] | {'trials': 1})
    return f'{journal_path(folder.lines[0]["trial_id"])}:1: the record is of a campaign with ' \
           f'other terms'


def laxer_gate(folder):
    folder.set(settings=folder.settings['settings'] | {'gate': 'target'})
    return 'the record is of a campaign with other terms'


def sequential_test_that_was_not_asked_for(folder):
    settings = folder.settings['settings']
    folder.set(settings=settings | {
        'sequential': {'p0': 0.001, 'p1': 0.999, 'alpha': 0.49, 'beta': 0.49}})
    for line in folder.lines:
        if line['index'] > 1:
            folder.drop(line['trial_id'])
    return 'the record is of a campaign with other terms'


def renamed_controller(folder):
    folder.set(controller=folder.settings['controller'] | {'label': 'certified'})
    return f'{SETTINGS}: plan: {folder.lines[0]["trial_id"]}: got controller '


def trace_of_another_version(folder):
    """Claim that another version has written the traces, which then may be different."""
    folder.set(versions=folder.settings['versions'] | {'safety_scenarios': '0.0.1'})
    trace_of_a_pass_changed(folder)
    return 'the record is of a campaign with other terms'


def plan_that_leads_elsewhere(folder):
    plan = folder.settings['plan']
    folder.set(plan=[plan[0] | {'trial_id': '../../elsewhere'}, *plan[1:]])
    return f'{SETTINGS}: cannot be read'


def settings_with_a_key_twice(folder):
    path = folder.path / SETTINGS
    path.write_text(path.read_text().replace('{', '{"plan": [], ', 1))
    return f"{SETTINGS}: cannot be read: got the key 'plan' twice"


def settings_of_many_levels(folder):
    path = folder.path / SETTINGS
    path.write_text(path.read_text().replace('{', '{"more": ' + '[' * 10**5 + ']' * 10**5 + ', ',
                                             1))
    return f'{SETTINGS}: cannot be read: values are inside each other too deeply'


def no_trial_wanted(folder):
    folder.set(settings=folder.settings['settings'] | {'only': ['SCN-R-102:1']})
    return f'{SETTINGS}: plan: {HAZARD}: got 2 trials with the indices [0, 1], expected 0'


def manifest_that_is_none(folder):
    (folder.path / MANIFEST).write_text('[]')
    return MANIFEST


def truncated_journal(folder):
    good = folder.first('PASS')
    folder.rewrite(good, lambda lines: [*lines[:-2], ''])
    return f'{journal_path(good)}: the last line is missing'


def cut_in_the_middle_of_a_line(folder):
    path = folder.journal(folder.first('PASS'))
    path.write_bytes(path.read_bytes()[:-30])
    return f'{journal_path(folder.first("PASS"))}:'


def events_taken_out(folder):
    bad = folder.first('FAIL')
    folder.rewrite(bad, lambda lines: [
        lines[0], *(line for line in lines[1:] if '"onset"' not in line)])
    chain_anew(folder.journal(bad))
    return f'{TRIALS}:{folder.number(bad)}: {bad}: got '


def event_taken_out(folder):
    """As above, by somebody who does not know of the chain of hashes."""
    bad = folder.first('PASS')
    folder.rewrite(bad, lambda lines: [*lines[:3], *lines[4:]])
    return f'{journal_path(bad)}:4: the chain of hashes is broken here: event 3 is not as it was'


def event_changed(folder):
    bad = folder.first('PASS')
    folder.rewrite(bad, lambda lines: [*lines[:4], lines[4].replace(',{', ', {', 1), *lines[5:]])
    return f'{journal_path(bad)}:5: the chain of hashes is broken here: event 4 is not as it was'


def chain_taken_out(folder):
    bad = folder.first('PASS')
    folder.rewrite(bad, lambda lines: [
        *lines[:-2], lines[-2].rpartition(',"chain":')[0] + '}', ''])
    return f'{journal_path(bad)}:{len(read_text(folder.journal(bad)).splitlines())}: the ' \
           f'chain of hashes is broken here: the last line has no chain'


def something_after_the_end(folder):
    good = folder.first('PASS')
    folder.rewrite(good, lambda lines: [*lines[:-1], lines[-2], ''])
    return f'{journal_path(good)}:'


def unfinished_record(folder):
    path = folder.journal(folder.first('PASS'))
    path.rename(path.with_name(path.name + '.part'))
    return f'{journal_path(folder.first("PASS"))}.part: is unfinished'


def better_summary(folder):
    path = folder.path / SUMMARY
    path.write_text(path.read_text().replace('FAIL', 'PASS').replace(
        '"exit_code": 1', '"exit_code": 0'))
    return f'{SUMMARY}: got verdict PASS, expected FAIL'


def worse_summary(folder):
    path = folder.path / SUMMARY
    path.write_text(path.read_text().replace('"planned": 4', '"planned": 3'))
    return f'{SUMMARY}: got planned 3, expected 4'


def line_that_is_none(folder):
    with (folder.path / TRIALS).open('a') as file:
        file.write('{"verdict":"PASS"}\n')
    return f'{TRIALS}:{len(folder.lines)}: cannot be read'


def other_recording(folder):
    good, bad = folder.first('PASS'), folder.lines[-1]['trial_id']
    assert good != bad
    places = [folder.path / 'recordings' / name for name in (good, bad)]
    shutil.copy(places[0] / f'{good}_0.mcap', places[1] / f'{bad}_0.mcap')
    return f'recordings/{bad}/{bad}_0.mcap: '


ON_LATE = (
    copied_pass, copied_line, missing_line, missing_trial, every_fail_missing, no_trial_at_all,
    changed_verdict, forged_result, removed_finding, other_words_without_source, better_latency,
    other_seed, other_controller, fails_as_warmup, pass_line_renamed, swapped_record,
    events_of_another_trial, record_of_another_campaign, record_of_another_seed,
    laxer_scenario_in_the_record, other_scenario_file, foreign_record_file, swapped_trace,
    trace_of_a_pass_changed, result_without_its_record, added_trial, empty_plan, empty_campaign,
    plan_without_its_fails, plan_taken_out, plan_without_hashes, plan_with_one_trial_twice,
    fewer_trials_everywhere, laxer_gate, sequential_test_that_was_not_asked_for,
    renamed_controller, trace_of_another_version, truncated_journal,
    cut_in_the_middle_of_a_line, events_taken_out, event_taken_out, event_changed,
    chain_taken_out, something_after_the_end, no_trial_wanted,
    unfinished_record, better_summary, worse_summary, line_that_is_none)
ON_REFERENCE = (
    copied_pass, copied_line, no_trial_at_all, removed_finding, other_words_without_source,
    better_latency, other_seed, events_of_another_trial, foreign_record_file,
    trace_of_a_pass_changed, result_without_its_record, added_trial, empty_plan, empty_campaign,
    plan_taken_out, plan_without_hashes, plan_with_one_trial_twice, fewer_trials_everywhere,
    laxer_gate, sequential_test_that_was_not_asked_for, truncated_journal,
    cut_in_the_middle_of_a_line, something_after_the_end, unfinished_record, worse_summary,
    line_that_is_none)
"""Here nothing failed, so that only what is found keeps the folder from exit code 0."""


@dataclass(frozen=True)
class Runs:
    """Campaigns that nobody has touched."""

    folders: dict[str, Path]


@pytest.fixture(scope='module')
def runs(tmp_path_factory) -> Runs:
    folder = tmp_path_factory.mktemp('runs')
    for name, controller, seed in (('late', 'late', 0), ('rule_based', 'rule_based', 0),
                                   ('seed', 'late', 1)):
        loopback_run(folder / name, HAZARD, BENIGN, controller=controller, seed=seed, trials=2,
                     record=('mcap',))
    return Runs({name: folder / name for name in ('late', 'rule_based', 'seed')})


def write_manifest(path: Path) -> None:
    (path / MANIFEST).write_text(json.dumps(hashes(path), indent=2) + '\n')


@pytest.fixture(params=['as it is', 'with a new manifest'])
def hashing(request) -> Callable[[Path], None]:
    """Leave the manifest, or let the adversary write a new one."""
    return write_manifest if request.param == 'with a new manifest' else lambda path: None


def test_nobody_has_touched_them(runs, capsys):
    assert main(['evaluate', str(runs.folders['late'])]) == 1
    verdicts = {line['verdict'] for line in Folder(runs.folders['late'], {}).lines}
    assert verdicts == {'PASS', 'FAIL'}
    for source in ('journal', 'recording'):
        assert main(['evaluate', str(runs.folders['rule_based']), '--from', source]) == 0
    assert 'error' not in capsys.readouterr().err


@pytest.mark.parametrize('how', ['missing', 'swapped', 'damaged'])
def test_a_recording_that_is_not_that_of_the_record_is_named(runs, tmp_path, how):
    folder = Path(shutil.copytree(runs.folders['rule_based'], tmp_path / 'run'))
    one, other = sorted((folder / 'recordings').iterdir())[:2]
    [file], [theirs] = one.glob('*.mcap'), other.glob('*.mcap')
    if how == 'missing':
        shutil.rmtree(one)
    else:
        file.write_bytes(theirs.read_bytes() if how == 'swapped' else file.read_bytes()[:-40])
    write_manifest(folder)
    found = rejudge(folder)
    assert [(flaw.place, flaw.trial_id) for flaw in found.flaws if 'recordings' in flaw.place] == [
        (f'recordings/{one.name}', one.name)]
    assert found.summary.verdict.value == 'INCONCLUSIVE'


def of_another_version(path: Path, monkeypatch) -> Folder:
    """Return a campaign that another version has run, and worded otherwise."""
    ours = provenance.versions()
    with monkeypatch.context() as then:
        then.setattr(provenance, '_version', (ours | {'safety_scenarios': '0.0.1'}).get)
        loopback_run(path, HAZARD, BENIGN, controller='late', trials=1)
    folder = Folder(path, {})
    folder.write([line | {'reason': 'in other words', 'findings': [
        found | {'reason': 'in other words'} for found in line['findings']]}
        for line in folder.lines])
    write_manifest(path)
    return folder


def test_another_version_may_have_worded_it_otherwise(tmp_path, monkeypatch, capsys):
    of_another_version(tmp_path / 'run', monkeypatch)
    assert main(['evaluate', str(tmp_path / 'run')]) == 1
    shown = capsys.readouterr()
    assert '2 of 2 results are unchanged, apart from the wording of the other version' \
        in shown.out and 'error' not in shown.err


@pytest.mark.parametrize('tamper', [changed_verdict, forged_result, removed_finding])
def test_of_another_version_it_is_named_too(tamper, tmp_path, monkeypatch, capsys):
    place = tamper(of_another_version(tmp_path / 'run', monkeypatch))
    write_manifest(tmp_path / 'run')
    assert main(['evaluate', str(tmp_path / 'run')]) in (1, 3)
    assert place in capsys.readouterr().err


def tampered(runs: Runs, base: str, tamper: Callable, hashing: Callable, path: Path) -> str:
    """Return what must be told of a copy that was tampered with."""
    shutil.copytree(runs.folders[base], path)
    place = tamper(Folder(path, runs.folders))
    hashing(path)
    return place


@pytest.mark.parametrize(('base', 'tamper'), [
    *(('late', one) for one in some(ON_LATE)),
    *(('rule_based', one) for one in some(ON_REFERENCE))],
    ids=lambda one: one if isinstance(one, str) else one.__name__)
def test_it_is_named_and_is_no_pass(runs, base, tamper, hashing, tmp_path, capsys):
    path = tmp_path / 'run'
    place = tampered(runs, base, tamper, hashing, path)
    code = main(['evaluate', str(path)])
    shown = capsys.readouterr()
    assert code in (1, 3) and (base == 'late' or code == 3), shown
    assert f'error: {place}' in shown.err or place in shown.err, shown.err


@pytest.mark.parametrize('tamper', some(ON_LATE), ids=lambda one: one.__name__)
def test_it_is_compared_with_nothing(runs, tamper, tmp_path):
    path = tmp_path / 'run'
    place = tampered(runs, 'late', tamper, write_manifest, path)
    with pytest.raises(TraceError, match=re.escape(place)):
        results_of(path)


@pytest.mark.parametrize('tamper', some(ON_REFERENCE), ids=lambda one: one.__name__)
def test_repair_hides_nothing(runs, tamper, tmp_path, capsys):
    """Without the manifest a folder looks as after a crash; repair writes a new one."""
    path = tmp_path / 'run'
    tampered(runs, 'rule_based', tamper, lambda path: (path / MANIFEST).unlink(), path)
    # The summary is written anew from the records, and says the truth.
    expected = 0 if tamper is worse_summary else 3
    assert main(['campaign', 'repair', str(path)]) == expected, capsys.readouterr()
    assert main(['evaluate', str(path)]) == expected, capsys.readouterr()


@pytest.mark.parametrize('tamper', [
    plan_that_leads_elsewhere, settings_with_a_key_twice, settings_of_many_levels])
def test_settings_that_no_campaign_wrote_are_named(runs, tamper, hashing, tmp_path, capsys):
    path = tmp_path / 'run'
    place = tampered(runs, 'rule_based', tamper, hashing, path)
    for command in ('evaluate', 'campaign repair'):
        assert main([*command.split(), str(path)]) in (2, 3)
        assert place in capsys.readouterr().err
    assert main(['campaign', 'list', str(tmp_path)]) in (0, 2, 3)
    assert 'Nobody expected that' not in capsys.readouterr().err


def test_a_manifest_that_is_none_is_named(runs, tmp_path, capsys):
    path = tmp_path / 'run'
    place = tampered(runs, 'rule_based', manifest_that_is_none, lambda path: None, path)
    assert main(['evaluate', str(path)]) == 3
    assert f'error: {place}: cannot be read' in capsys.readouterr().err


def test_a_changed_folder_is_not_repaired(runs, tmp_path, capsys):
    path = tmp_path / 'run'
    tampered(runs, 'late', changed_verdict, lambda path: None, path)
    assert main(['campaign', 'repair', str(path)]) == 3
    assert 'trials.jsonl: changed' in capsys.readouterr().err


def test_another_recording_is_named_when_it_is_judged_by(runs, hashing, tmp_path, capsys):
    path = tmp_path / 'run'
    place = tampered(runs, 'rule_based', other_recording, hashing, path)
    assert main(['evaluate', str(path), '--from', 'recording']) == 3
    assert f'error: {place}' in capsys.readouterr().err


def test_without_the_manifest_nothing_is_a_pass(runs, tmp_path, capsys):
    path = tmp_path / 'run'
    shutil.copytree(runs.folders['rule_based'], path)
    (path / MANIFEST).unlink()
    assert main(['evaluate', str(path)]) == 3
    assert 'error: manifest.json: cannot be read' in capsys.readouterr().err


def test_a_signature_beside_the_manifest_changes_nothing(runs, tmp_path):
    path = tmp_path / 'run'
    shutil.copytree(runs.folders['rule_based'], path)
    (path / 'manifest.json.sig').write_bytes(b'signed')
    assert main(['campaign', 'verify', str(path)]) == main(['evaluate', str(path)]) == 0


def test_a_campaign_that_was_stopped_halfway_is_inconclusive(runs, tmp_path, capsys):
    path = tmp_path / 'run'
    shutil.copytree(runs.folders['rule_based'], path)
    folder = Folder(path, {})
    lost = folder.lines[-1]['trial_id']
    folder.drop(lost)
    for name in (SUMMARY, MANIFEST):
        (path / name).unlink()
    assert main(['evaluate', str(path)]) == 3
    assert f'{TRIALS}: {lost} was not run' in capsys.readouterr().err
    found, done = repair(path)
    assert found.summary.exit_code == 3 and found.summary.interrupted
    assert [str(flaw) for flaw in found.flaws] == [
        f'{TRIALS}: {lost} was not run: it has neither a result nor a record']
    assert main(['campaign', 'repair', str(path)]) == main(['evaluate', str(path)]) == 3


def test_of_an_interrupted_campaign_one_line_says_how_it_continues(runs, tmp_path, capsys):
    path = tmp_path / 'run'
    shutil.copytree(runs.folders['rule_based'], path)
    folder = Folder(path, {})
    first, second = (line['trial_id'] for line in folder.lines[-2:])
    for lost in (first, second):
        folder.drop(lost)
    for name in (SUMMARY, MANIFEST):
        (path / name).unlink()
    repair(path)
    capsys.readouterr()
    assert main(['evaluate', str(path)]) == 3
    assert capsys.readouterr().err.splitlines()[-2:] == [
        f'error: {TRIALS}: {first} was not run, nor were 1 more: they have neither a result nor '
        f'a record',
        'error: the campaign was interrupted. safety-scenarios run --resume FOLDER continues it']
    assert main(['campaign', 'list', str(path)]) == 3
    listed = ' '.join(capsys.readouterr().out.split())
    assert f'interrupted; safety-scenarios run --resume {path} continues it; repaired' in listed
    assert 'not as the campaign left it' not in listed


def test_the_results_of_a_changed_folder_by_other_limits_are_no_pass_either(runs, hashing,
                                                                            tmp_path, capsys):
    path = tmp_path / 'run'
    place = tampered(runs, 'rule_based', removed_finding, hashing, path)
    assert main(['evaluate', str(path), '--set', 'gate=acceptable',
                 '--output', str(tmp_path / 'out')]) == 3
    assert place in capsys.readouterr().err
    verdicts = [json.loads(line)['verdict'] for line in
                (tmp_path / 'out' / TRIALS).read_text().splitlines()]
    assert 'INCONCLUSIVE' in verdicts and json.loads(
        (tmp_path / 'out' / SUMMARY).read_text())['verdict'] == 'INCONCLUSIVE'


def test_a_sequential_test_that_was_asked_for_excuses_the_trials_it_saved(tmp_path, capsys):
    run = loopback_run(tmp_path / 'run', HAZARD, trials=30, sequential={'p0': 0.01, 'p1': 0.5})
    assert 0 < run.summary.completed < 30 and run.summary.exit_code == 0
    assert main(['evaluate', str(run.folder)]) == 0, capsys.readouterr().err
    folder = Folder(run.folder, {})
    shutil.rmtree(run.folder / 'recordings', ignore_errors=True)
    (run.folder / 'recordings' / folder.lines[-1]['trial_id']).mkdir(parents=True)
    folder.drop(folder.lines[-1]['trial_id'])
    (run.folder / MANIFEST).write_text(json.dumps(hashes(run.folder)))
    assert main(['evaluate', str(run.folder)]) == 3
    assert 'was not run' in capsys.readouterr().err


def test_a_line_that_is_changed_while_the_campaign_runs_is_found(tmp_path):
    path = tmp_path / 'run'

    class Changes(Observer):

        def trial_ended(self, record, result):
            if result.index:
                text = (path / TRIALS).read_text()
                (path / TRIALS).write_text(text.replace('"FAIL"', '"PASS"'))

    found = run(HAZARD, controller='never_stop', output=path, trials=2, seed=1,
                link='loopback', words='patterns', observers=[Changes()])
    assert found.exit_code == 1
    assert verify(path) == [f'{TRIALS}: changed']
