# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ARE's process and the link around a link, with a process that misbehaves instead of ARE."""

from collections.abc import Callable
from contextlib import closing
import json
import os
from pathlib import Path
import sys
import time

import pytest
from safety_scenarios.are.apps_world import AppProcess, text_of
from safety_scenarios.campaign.open_session import connection
from safety_scenarios.campaign.run import run
from safety_scenarios.errors import MeasurementError, ScenarioError, SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.conversation import Turn, Utterance
from safety_scenarios.scenario.servers import AreSettings
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.link import LinkPlan
from safety_scenarios.trial.session import LinkPlugin
from safety_scenarios.trial.summary import CampaignSummary

STAND_IN = Path(__file__).with_name('scripted_are.py')
TIDY = Path(__file__).parents[3] / 'data' / 'are' / 'tidy_contacts.json'
Python = Callable[[str], str]


class Deleting(ControllerPlugin):
    """Deletes the contact, and says so."""

    def converse(self, turn: Turn) -> tuple[Utterance, ...]:
        if turn.heard.kind == 'tool_result':
            return (Utterance(kind='say', text='Deleted.'),)
        return (Utterance(kind='tool_call', name='ContactsApp__delete_contact',
                          args={'contact_id': 'c1'}),)


@pytest.fixture
def python(tmp_path) -> Python:
    """Return a maker of interpreters that run the stand-in instead, with a trick."""
    def made(trick: str, command: str = f'exec {sys.executable} {STAND_IN}') -> str:
        (tmp_path / 'trick').write_text(trick, encoding='utf-8')
        path = tmp_path / 'python'
        path.write_text(f'#!/bin/sh\n{command} {tmp_path / "trick"}\n', encoding='utf-8')
        path.chmod(0o755)
        return str(path)
    return made


def campaign(python: str, tmp_path: Path, *files: Path, trials: int = 1,
             timeout_s: float = 20.0) -> CampaignSummary:
    settings = RunSettings(
        scenarios=tuple(map(str, files or (TIDY,))), link='loopback', world='are', trials=trials,
        output=str(tmp_path / 'run'), isolate=False,
        controller=f'{__name__}:Deleting',
        are=AreSettings(python=python, timeout_s=timeout_s))
    return run(settings, [])


def results(tmp_path: Path) -> list[tuple[str, str]]:
    lines = (tmp_path / 'run' / 'trials.jsonl').read_text(encoding='utf-8').splitlines()
    return [(found['verdict'], found['reason']) for found in map(json.loads, lines)]


def test_the_right_call_passes_and_the_export_is_kept_for_each_trial(python, tmp_path):
    assert campaign(python(''), tmp_path, trials=2).exit_code == 0
    assert [verdict for verdict, _ in results(tmp_path)] == ['PASS', 'PASS']
    assert len(list((tmp_path / 'run' / 'are' / 'tidy_contacts').iterdir())) == 2


def test_a_run_that_are_cannot_export_is_judged_all_the_same(python, tmp_path):
    assert campaign(python('lose export'), tmp_path).exit_code == 0
    [path] = (tmp_path / 'run' / 'are' / 'tidy_contacts').iterdir()
    assert path.read_text(encoding='utf-8') == 'ARE cannot export this run: TypeError: a set\n'


@pytest.mark.parametrize(('trick', 'reason'), [
    ('crash call',
     'ended without an answer (exit code 7); its last output: the app is out of order'),
    ('babble call', "got b'What was the question?', expected an answer in JSON"),
    ('another call', 'expected an answer in JSON'), ('refuse call', 'ARE: call: ValueError: no'),
    ('crash happen', 'ended without an answer'), ('refuse happen', 'ValueError: no'),
    ('crash export', 'ended without an answer')])
def test_a_process_that_breaks_off_is_an_error_and_never_a_pass(python, tmp_path, trick, reason):
    assert campaign(python(trick), tmp_path, trials=2).exit_code == 3
    for verdict, told in results(tmp_path):
        assert verdict == 'ERROR'
        assert reason in told


def test_a_process_that_never_answers_is_ended_and_an_error(python, tmp_path):
    began = time.monotonic()
    campaign(python('hang call'), tmp_path, timeout_s=1.5)
    [(verdict, reason)] = results(tmp_path)
    assert verdict == 'ERROR'
    assert 'got no answer within 1.5 s' in reason
    assert time.monotonic() - began < 60


@pytest.mark.parametrize('trick', ['', 'crash call', 'hang call'])
def test_nothing_is_left_of_a_process(python, trick, tmp_path, monkeypatch):
    place = tmp_path / 'temporary'
    place.mkdir()
    monkeypatch.setattr('tempfile.tempdir', str(place))
    with closing(AppProcess(AreSettings(python=python(trick), timeout_s=1.5))) as process:
        process.ask('version')
        number = process._process.pid
        assert list(place.iterdir())
        if trick:
            with pytest.raises(MeasurementError):
                process.ask('call', tool='x', args={}, at_s=0.0)
    assert not list(place.iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_the_apps_get_to_know_no_key(python, monkeypatch):
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-secret')
    with closing(AppProcess(AreSettings(python=python('')))) as process:
        assert process.ask('version')['key'] is None


@pytest.mark.parametrize(('command', 'reason'), [
    ('cat #', 'expected an answer in JSON'), ('true', 'the process ended'),
    ('read line; echo nonsense #', 'expected an answer in JSON'),
    (f'exec {sys.executable} "$2" #', "No module named 'are'")])
def test_what_is_no_python_with_are_is_told_before_anything_runs(
        python, tmp_path, command, reason):
    with pytest.raises(SettingsError, match=f'are.python: got .*python, expected the Python '
                                            f'interpreter of .*{reason}.*Install ARE'):
        campaign(python('', command), tmp_path)
    assert not (tmp_path / 'run').exists()


@pytest.mark.parametrize('path', ['/nowhere/python', '/'])
def test_a_path_that_cannot_be_run_is_told(tmp_path, path):
    with pytest.raises(SettingsError, match='it cannot be run'):
        campaign(path, tmp_path)


def test_no_path_at_all_is_told_with_what_to_do(tmp_path):
    with pytest.raises(SettingsError, match='are.python: got nothing with world are.*Install ARE'):
        campaign('', tmp_path)


def test_a_file_that_are_refuses_is_no_scenario_with_this_world(python, tmp_path):
    with pytest.raises(ScenarioError, match='tidy_contacts.json.*ValueError: no. Fix the file'):
        campaign(python('refuse load'), tmp_path)


def test_a_scenario_without_tools_is_refused_with_this_world(python, tmp_path):
    near = TIDY.with_name('person_near_robot.json')
    with pytest.raises(ScenarioError, match='person_near_robot.*without tools with world are'):
        campaign(python(''), tmp_path, near)


def test_a_file_that_changes_while_it_runs_is_an_error(python, tmp_path):
    copy = tmp_path / 'copy.json'
    copy.write_bytes(TIDY.read_bytes())
    settings = RunSettings(scenarios=(str(copy),), link='loopback', world='are',
                           output=str(tmp_path / 'run'), isolate=False,
                           controller=f'{__name__}:Deleting',
                           are=AreSettings(python=python('')))

    def connect(plan: LinkPlan, folder: Path) -> LinkPlugin:
        copy.write_bytes(TIDY.read_bytes() + b'\n')
        return connection(plan.name)(plan, folder)
    summary = run(settings, [], connect)
    [(verdict, reason)] = results(tmp_path)
    assert (verdict, summary.exit_code) == (Verdict.ERROR.value, 3)
    assert 'got another content than when the scenario was read' in reason


def test_of_a_file_of_lines_are_gets_the_line_of_each_scenario(python, tmp_path):
    one, lines = json.loads(TIDY.read_text(encoding='utf-8')), tmp_path / 'all.jsonl'
    texts = []
    for number in (1, 2):
        one['metadata']['definition']['scenario_id'] = f'tidy{number}'
        texts.append(json.dumps(one))
    lines.write_text(f'{texts[0]}\n\n{texts[1]}\n', encoding='utf-8')
    scenarios = load_scenarios([str(lines)]).scenarios
    assert [text_of(scenario) for scenario in scenarios] == texts
    assert campaign(python(''), tmp_path, lines).exit_code == 0
    assert [verdict for verdict, _ in results(tmp_path)] == ['PASS', 'PASS']
    lines.write_text(f'{texts[0]}\n\n{texts[0]}\n', encoding='utf-8')
    assert text_of(scenarios[0]) == texts[0]
    with pytest.raises(MeasurementError, match='all.jsonl:3: got another content'):
        text_of(scenarios[1])
    lines.write_text(texts[0], encoding='utf-8')
    with pytest.raises(MeasurementError, match='all.jsonl: got 1 lines, expected at least 3'):
        text_of(scenarios[1])
