# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Outputs and trace writers of another package: one module, found by the name in the settings."""

from contextlib import contextmanager
import json

import pytest
import safety_scenarios as ss
from safety_scenarios import registry
from safety_scenarios.cli.main import main
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.session import Observer
from unzipped import read_text

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
