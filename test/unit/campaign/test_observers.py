# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Observers of a campaign: in order, all alike, and found by name in another package."""

from contextlib import contextmanager
import json

import pytest
import safety_scenarios as ss
from safety_scenarios import registry
from safety_scenarios.campaign.run import run
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError, ScenarioError, TraceError
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.session import Observer, Session
from unzipped import read_text


class Told(Observer):
    """Writes down what it is told, and what was in the folder then."""

    def __init__(self, folder) -> None:
        self.calls, self.files = [], []
        self._folder = folder

    def _note(self, call) -> None:
        self.calls.append(call)
        self.files.append(sorted(path.name for path in self._folder.glob('*.json*')))

    def scenarios_read(self, warnings, notes):
        self._note(('read', len(warnings)))

    def campaign_began(self, beginning):
        self._note(('began', beginning.where, beginning.planned, beginning.folder))

    def trial_ended(self, record, result):
        assert record.trial.trial_id == result.trial_id
        self._note(('trial', result.trial_id, len(record.events) > 0))

    def campaign_ended(self, summary):
        self._note(('ended', summary.verdict.value, summary.completed))


def settings(folder, **more) -> RunSettings:
    return RunSettings(scenarios=('SCN-C-101',), link='loopback', output=str(folder), **more)


def test_an_observer_is_told_everything_in_order_and_the_files_are_there_before_it(tmp_path):
    folder = tmp_path / 'run'
    told = Told(folder)
    summary = run(settings(folder, trials=2), [told], Loopback)
    assert told.calls == [
        ('read', 0), ('began', 'this process, in simulated time', 2, folder),
        ('trial', 'SCN-C-101.rule_based.s0.t0', True),
        ('trial', 'SCN-C-101.rule_based.s0.t1', True),
        ('ended', summary.verdict.value, 2)]
    begun = ['settings.json', 'trials.jsonl']
    assert told.files == [[], begun, begun, begun, ['campaign.json', *begun]]
    assert (folder / 'manifest.json').exists()


def test_nothing_is_printed_where_no_observer_prints(tmp_path, capfd):
    run(settings(tmp_path / 'run'), (), Loopback)
    assert capfd.readouterr() == ('', '')


def test_without_files_nothing_is_left_and_the_summary_is_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = Told(tmp_path)
    bare = run(settings('run'), [told], Loopback, files=False)
    assert list(tmp_path.iterdir()) == [] and told.calls[1][3] is None
    assert bare == run(settings('run'), (), Loopback)


def test_what_is_odd_is_told_even_when_the_scenario_is_refused(tmp_path):
    told = Told(tmp_path / 'run')
    with pytest.raises(InputError):
        run(settings(tmp_path / 'run', controller='external'), [told], Loopback)
    assert told.calls == [('read', 0)] and not (tmp_path / 'run').exists()


def test_a_scenario_file_with_a_problem_tells_nobody(tmp_path):
    odd = tmp_path / 'odd.yaml'
    odd.write_text('id: 1\n')
    told = Told(tmp_path)
    with pytest.raises(ScenarioError):
        run(RunSettings(scenarios=(str(odd),), link='loopback'), [told], Loopback)
    assert told.calls == []


@pytest.mark.parametrize('call', ['campaign_began', 'trial_ended', 'campaign_ended'])
def test_what_an_observer_raises_ends_the_campaign(tmp_path, call):
    class Full(Observer):
        pass

    def full(self, *_):
        raise TraceError('the disk is full')
    setattr(Full, call, full)
    told = Told(tmp_path)
    with pytest.raises(TraceError, match='the disk is full'):
        run(settings(tmp_path / 'run', trials=3), [Full(), told], Loopback)
    assert len([one for one in told.calls if one[0] == 'trial']) == (
        3 if call == 'campaign_ended' else 0)


def test_what_a_sink_raises_ends_the_campaign_and_changes_no_trial(tmp_path):
    class WithoutAdd(Observer):

        def sinks(self, trial):
            return [object()]
    with pytest.raises(AttributeError, match="no attribute 'add'"):
        run(settings(tmp_path / 'run', trials=3), [WithoutAdd()], Loopback)
    run(settings(tmp_path / 'alone'), [], Loopback)
    assert (tmp_path / 'run' / 'trials.jsonl').read_bytes() == \
        (tmp_path / 'alone' / 'trials.jsonl').read_bytes()


def test_an_observer_is_told_before_the_first_link_is_opened(tmp_path):
    told = Told(tmp_path)
    opened = []

    def open_link(scenario):
        opened.append(told.calls[-1][0])
        raise RuntimeError('no robot')

    class Connecting:

        def __init__(self, settings, folder) -> None:
            pass

        def __enter__(self) -> Session:
            return Session(open_link, 'a test')

        def __exit__(self, *_) -> None:
            pass
    assert run(settings(tmp_path / 'run'), [told], Connecting).verdict.value == 'ERROR'
    assert opened == ['began']


HERE = __name__


class Verdicts(Observer):
    """Writes a file of verdicts into the campaign's folder."""

    def __init__(self):
        self.lines = []

    def campaign_began(self, beginning):
        self.folder = beginning.folder

    def trial_ended(self, record, result):
        self.lines.append(f'{result.trial_id} {result.verdict.value}')

    def campaign_ended(self, summary):
        (self.folder / 'verdicts.txt').write_text('\n'.join(self.lines))


@contextmanager
def verdicts(context):
    """Give the output, and tell that it is done."""
    yield (Verdicts(),)
    context.tell('verdicts written')


class Kinds(Observer):
    """Writes down the kind of each event while its trial runs, and how many the record has."""

    def __init__(self, context):
        self.context = context

    def sinks(self, trial):
        self.path = self.context.place(trial.trial_id) / 'kinds.txt'
        self.path.parent.mkdir(parents=True)
        self.kinds = []
        return (self,)

    def add(self, event):
        self.kinds.append(event.kind)

    def trial_ended(self, record, result):
        self.path.write_text('\n'.join([*self.kinds, str(len(record.events))]))


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """Have an entry point for each, as another package has."""
    mine = {'outputs': [('verdicts', f'{HERE}:verdicts')], 'traces': [('kinds', f'{HERE}:Kinds')]}
    monkeypatch.setattr(registry, '_entries', lambda kind: mine.get(kind, ()))


def command(folder, *arguments):
    return main(['run', 'SCN-R-101', '--link', 'loopback', '--output', str(folder), *arguments])


def test_an_output_is_used_when_it_is_named_and_the_manifest_holds_what_it_writes(
        tmp_path, capsys):
    assert command(tmp_path / 'run', '--set', 'outputs=verdicts,console') == 0
    assert (tmp_path / 'run' / 'verdicts.txt').read_text() == 'SCN-R-101.rule_based.s0.t0 PASS'
    assert 'verdicts.txt' in json.loads((tmp_path / 'run' / 'manifest.json').read_text())
    assert ss.verify(tmp_path / 'run') == []
    said = capsys.readouterr().out
    assert 'campaign.json' in said and said.splitlines()[-1] == 'verdicts written'


def test_an_output_that_is_not_named_takes_no_part(tmp_path, capsys):
    assert command(tmp_path / 'run') == 0
    assert not (tmp_path / 'run' / 'verdicts.txt').exists()
    assert 'verdicts written' not in capsys.readouterr().out


def test_whoever_names_outputs_gets_those_alone(tmp_path, capsys):
    assert command(tmp_path / 'run', '--set', 'outputs=verdicts') == 0
    assert capsys.readouterr() == ('verdicts written\n', '')
    assert not (tmp_path / 'run' / 'views.jsonl.gz').exists()


def test_from_python_the_same_setting_chooses(tmp_path):
    ss.run('SCN-R-101', link='loopback', output=tmp_path / 'run', outputs=('verdicts',))
    assert (tmp_path / 'run' / 'verdicts.txt').exists()


@pytest.mark.parametrize('option', [('--set', 'outputs=nothing'), ('--record', 'nothing')])
def test_an_unknown_name_is_wrong_input_and_nothing_is_run(option, tmp_path, capsys):
    assert command(tmp_path / 'run', *option) == 2
    assert "'nothing'" in capsys.readouterr().err
    assert not list(tmp_path.rglob('*.events.jsonl.gz'))


def test_a_junit_file_without_its_output_is_refused():
    with pytest.raises(ValueError, match=r'got junit a.xml with the outputs page, expected'):
        RunSettings(junit='a.xml', outputs=('page',))


def test_which_outputs_a_campaign_has_changes_no_record(tmp_path):
    assert command(tmp_path / 'a') == command(tmp_path / 'b', '--set', 'outputs=verdicts') == 0
    [first], [second] = (list(path.rglob('*.events.jsonl.gz'))
                         for path in (tmp_path / 'a', tmp_path / 'b'))
    assert read_text(first) == read_text(second)


def test_a_trace_writer_is_fed_while_the_trial_runs_beside_the_journal(tmp_path):
    folder = tmp_path / 'run'
    assert command(folder, '--record', 'kinds') == 0
    *kinds, count = (folder / 'recordings' / 'SCN-R-101.rule_based.s0.t0' / 'kinds.txt') \
        .read_text().split()
    assert len(kinds) == int(count) > 100 and {'mark', 'stimulus', 'command'} <= set(kinds)
    assert len(list(folder.rglob('*.events.jsonl.gz'))) == 1, 'the journal is always written'
    assert ss.verify(folder) == [] and not ss.rejudge(folder).flaws
