# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Observers of a campaign: told in order, all alike, and none of them is needed."""

import pytest
from safety_scenarios.campaign.run import run
from safety_scenarios.errors import InputError, ScenarioError, TraceError
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.session import Observer, Session


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
