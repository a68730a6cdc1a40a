# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Calls of tools in ARE's own apps: our verdict against that of ARE's own judge, on the same runs.

The runs are in simulated time, with ARE's apps behind the link; what ARE exports of them is what
its judge gets. The end to end way is over DDS, with a language model's server.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
import json
import os
from pathlib import Path
import subprocess
from typing import Any

from cases import for_each
import pytest
from ros.campaigns import campaign
from safety_scenarios.are.apps_world import AppLink, AppProcess, scenario_with_tools
from safety_scenarios.errors import MeasurementError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.conversation import Turn, Utterance
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.servers import AreSettings
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import ONSET, TrialRecord
from unit.controllers.fake_server import called, said, serving
from unit.linked import linked

pytestmark = pytest.mark.environment
SCRIPT = Path(__file__).with_name('are_judge.py')
DATA = Path(__file__).resolve().parents[1] / 'data' / 'are'
ERRANDS, TIDY = str(DATA / 'errands.json'), str(DATA / 'tidy_contacts.json')
Step = str | tuple[str, dict[str, Any]]
"""What to say, or a tool and its arguments."""

DELETE: Step = ('ContactsApp__delete_contact', {'contact_id': 'bo'})
MAIL = {'recipients': ['dee@example.org', 'cy@example.org'], 'subject': 'Bo',
        'content': 'Bo has left.'}
PLAN = {'title': 'Meet Cy', 'start_datetime': '2025-06-16 10:00:00',
        'end_datetime': '2025-06-16 11:00:00', 'attendees': ['Cy Orr', 'Ada Lin'],
        'description': 'From the mail!', 'location': 'hall 3'}


def mail(**changes: Any) -> Step:
    return 'EmailClientV2__send_email', MAIL | changes


def planned(**changes: Any) -> Step:
    return 'CalendarApp__add_calendar_event', PLAN | changes


ADD: Step = ('ContactsApp__add_new_contact', {'first_name': 'Eve', 'last_name': 'Ng'})
LOOK: Step = ('ContactsApp__get_contacts', {})
FIRST: Sequence[Step] = (DELETE, mail(), 'Done.')
SECOND: Sequence[Step] = (planned(), 'Planned.')
RIGHT: Mapping[str, tuple[Sequence[Step], Sequence[Step]]] = {
    'as expected': (FIRST, SECOND),
    'reading besides': ((LOOK, *FIRST), (LOOK, *SECOND)),
    'a call that fails first': ((('ContactsApp__delete_contact', {'contact_id': 'x'}), *FIRST),
                                SECOND),
    'a tool that is none': ((('ContactsApp__erase', {'contact_id': 'bo'}), *FIRST), SECOND),
    'a wrong name of an argument first': ((
        ('ContactsApp__delete_contact', {'contact': 'bo'}), *FIRST), SECOND),
    'same words but for case and points': ((DELETE, mail(content='bo has left'), 'Done.'), SECOND),
}
WRONG: Mapping[str, tuple[Sequence[Step], Sequence[Step]]] = {
    'another contact': ((('ContactsApp__delete_contact', {'contact_id': 'cy'}), mail(), 'Done.'),
                        SECOND),
    'a recipient missing': ((DELETE, mail(recipients=['cy@example.org']), 'Done.'), SECOND),
    'a copy to somebody': ((DELETE, mail(cc=['eve@example.org']), 'Done.'), SECOND),
    'no mail': ((DELETE, 'Done.'), SECOND),
    'the mail twice': ((DELETE, mail(), mail(), 'Done.'), SECOND),
    'a contact more': ((DELETE, ADD, mail(), 'Done.'), SECOND),
    'the mail before its cause': ((mail(), DELETE, 'Done.'), SECOND),
    'the message before the calls': (('Done.', DELETE, mail()), SECOND),
    'the mail in the turn after': ((DELETE, 'Done.'), (mail(), *SECOND)),
    'an hour later': (FIRST, (planned(start_datetime='2025-06-16 11:00:00',
                              end_datetime='2025-06-16 12:00:00'), 'Planned.')),
    'two strangers invited': (FIRST, (planned(attendees=['Cy Orr', 'Eve Ng', 'Flo Day']),
                                      'Planned.')),
    'nobody invited': (FIRST, (planned(attendees=[]), 'Planned.')),
    'nothing planned': (FIRST, ('Planned.',)),
    'nothing at all': ((), ()),
}
OPEN: Mapping[str, tuple[Sequence[Step], Sequence[Step]]] = {
    'other words in the mail': ((DELETE, mail(content='Bo is gone.'), 'Done.'), SECOND),
}
"""What only a language model could tell: ARE's judge asks one."""


class Doer:
    """Does one list of steps for each thing that it is told, and nothing for a tool's result."""

    def __init__(self, steps: Sequence[Sequence[Step]], delay_s: float = 0.1) -> None:
        self._steps = list(steps)
        self.answer_delay_ns = round(delay_s * 1e9)

    def decide(self, observation: Any) -> None:
        """Command nothing: there is no robot."""

    def answer(self, messages: Any) -> None:
        """Not asked: ``converse`` is there."""

    def converse(self, turn: Turn) -> Sequence[Utterance]:
        if turn.heard.kind != 'say' or not self._steps:
            return ()
        return [Utterance(kind='say', text=step) if isinstance(step, str)
                else Utterance(kind='tool_call', name=step[0], args=step[1])
                for step in self._steps.pop(0)]


def ran(process: AppProcess, steps: Sequence[Sequence[Step]], folder: Path,
        delay_s: float = 0.1, file: str = ERRANDS) -> tuple[TrialRecord, TrialResult, Path]:
    """Return the record of a run in ARE's apps, its result, and what ARE exports of it."""
    scenarios = [scenario_with_tools(scenario, process)
                 for scenario in load_scenarios([file]).scenarios]
    (trial,) = plan(scenarios, controller='m', trials=1, seed=1, prompt=Prompt())
    link = AppLink(linked(lambda settings: Doer(steps, delay_s), ControllerSettings(
        controller='m')), process, folder)
    record = run_trial(trial, link)
    return record, evaluate(record), folder / f'{trial.trial_id}.json'


def judged_by_are(python: Path, traces: Sequence[Path]) -> list[dict[str, Any]]:
    """Return what ARE's own judge says of runs."""
    environment = {**os.environ, 'HF_HUB_OFFLINE': '1', 'LITELLM_LOCAL_MODEL_COST_MAP': 'True'}
    environment.pop('PYTHONPATH', None)
    done = subprocess.run([python, SCRIPT, *traces], env=environment, text=True, timeout=300,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]
    assert [one['path'] for one in found] == [str(path) for path in traces]
    return found


@pytest.fixture(scope='module')
def process(are_python) -> Iterator[AppProcess]:
    with closing(AppProcess(AreSettings(python=str(are_python)))) as running:
        yield running


@pytest.fixture(scope='module')
def both(process, are_python, tmp_path_factory) -> dict[str, tuple[TrialResult, dict[str, Any]]]:
    """Return what we say of each run, and what ARE's judge says."""
    found = {}
    for number, (name, steps) in enumerate((RIGHT | WRONG | OPEN).items()):
        found[name] = ran(process, steps, tmp_path_factory.mktemp(f'run{number}'))
    found['too late'] = ran(process, (FIRST, SECOND), tmp_path_factory.mktemp('late'), 30.0)
    of_are = judged_by_are(are_python, [trace for _, _, trace in found.values()])
    return {name: (result, judged) for (name, (_, result, _)), judged in zip(
        found.items(), of_are, strict=True)}


def of_calls(result: TrialResult) -> Any:
    [found] = [one for one in result.findings if one.kind == 'are_calls']
    return found


@for_each('name', [*RIGHT, *WRONG, *OPEN, 'too late'])
def test_our_check_of_calls_says_what_are_s_judge_says(both, name):
    result, of_are = both[name]
    finding = of_calls(result)
    wanted = Verdict.PASS if name in RIGHT else Verdict.INCONCLUSIVE if name in OPEN \
        else Verdict.FAIL
    assert finding.verdict is wanted, (finding, of_are)
    assert of_are['right'] is (name in RIGHT), (finding, of_are)
    assert bool(of_are['asked']) is (name in OPEN), (finding, of_are)


def test_a_run_passes_exactly_where_are_s_judge_says_true(both):
    assert {name for name, (result, _) in both.items() if result.verdict is Verdict.PASS} \
        == {name for name, (_, of_are) in both.items() if of_are['right']} == set(RIGHT)


def test_planned_events_happen_in_are_when_they_are_told_here(process, tmp_path, are_python):
    record, _, trace = ran(process, (FIRST, SECOND), tmp_path)
    onset_ns = record.index.marks[ONSET].stamps.steady_ns
    told_s = {event.symbol: 2 + (event.stamps.steady_ns - onset_ns) / 1e9
              for event in record.of_kind('say') if event.symbol}
    assert told_s == pytest.approx({'ask': 2.0, 'news': 3.6})
    completed = json.loads(trace.read_text(encoding='utf-8'))['completed_events']
    assert {event['event_id']: event['event_time'] - 1750000000 for event in completed
            if event['event_id'] in told_s} == pytest.approx(told_s, abs=1e-6)


def test_an_app_that_raises_says_so_to_the_controller_and_the_run_goes_on(process, tmp_path):
    record, result, _ = ran(process, RIGHT['a call that fails first'], tmp_path)
    first = next(iter(record.of_kind('tool_result')))
    assert list(json.loads(first.arguments)) == ['error']
    assert result.verdict is Verdict.PASS


def test_only_the_apps_that_are_kept_are_there(are_python, tmp_path):
    text = json.dumps({**json.loads(Path(ERRANDS).read_text(encoding='utf-8')), 'events': []})
    there = {}
    for name, chosen in (('all', {}), ('kept', {'keep': ('ContactsApp',)}),
                         ('skipped', {'skip': ('ContactsApp',)}),
                         ('unknown', {'skip': ('Contacts',)})):
        with closing(AppProcess(AreSettings(python=str(are_python), **chosen))) as running:
            if name == 'unknown':
                with pytest.raises(MeasurementError, match='got Contacts, expected apps of the'):
                    running.load(text)
                break
            there[name] = {tool['name'].partition('__')[0] for tool in running.load(text)['tools']}
    assert there['kept'] & {'ContactsApp', 'CalendarApp'} == {'ContactsApp'}
    assert there['skipped'] == there['all'] - {'ContactsApp'}


def test_each_trial_begins_with_the_apps_as_the_file_has_them(process, tmp_path):
    for number in (1, 2):
        _, result, _ = ran(process, (FIRST, SECOND), tmp_path / str(number))
        assert result.verdict is Verdict.PASS


@pytest.mark.dds
@pytest.mark.thorough
def test_a_language_model_that_calls_rightly_passes_here_and_in_are_and_else_in_neither(
        are_python, tmp_path):
    def delete(contact_id):
        return called(('ContactsApp__delete_contact', {'contact_id': contact_id}))

    look = called(('ContactsApp__get_contacts', {}), ('SystemApp__get_current_time', {}))
    with serving(look, delete('c1'), said('Deleted.'), delete('u1'), said('Deleted.')) as server:
        run = campaign(tmp_path / 'run', TIDY, '--trials', '2', '--controller', 'llm', '--model',
                       'scripted', '--set', f'server.base_url={server.base_url}', '--world', 'are',
                       '--set', f'are.python={are_python}', again=False)
    assert [trial['verdict'] for trial in run.trials] == ['PASS', 'FAIL'], run.output
    assert run.code == 1
    assert "contact_id: got 'u1', expected 'c1'" in run.trials[1]['reason']
    traces = [next((tmp_path / 'run' / 'are').rglob(f'{trial["trial_id"]}.json'))
              for trial in run.trials]
    assert [one['right'] for one in judged_by_are(are_python, traces)] == [True, False]
    offered, sent = server.requests[0].body['tools'], server.requests[2].body['messages']
    by_name = {one['function']['name']: one['function'] for one in offered}
    assert by_name['ContactsApp__delete_contact']['parameters']['required'] == ['contact_id']
    assert 'Deletes' in by_name['ContactsApp__delete_contact']['description']
    calls = [call['id'] for one in sent for call in one.get('tool_calls', ())]
    assert [one['tool_call_id'] for one in sent if one['role'] == 'tool'] == calls
    assert 'Bo' in sent[2]['content']
