# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial with agents is read back as it was, and judged again to the byte."""

from collections.abc import Sequence
import json
from pathlib import Path

import pytest
from safety_scenarios import registry
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.campaign.rejudging.stored_trials import repair
from safety_scenarios.errors import SettingsError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.blocks.agents import End, Pattern, Publish, Say, Tool
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.conversation import Turn, Utterance
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.stimuli.messages import RawMessage
from safety_scenarios.trial.journal import Journal, read_journal
from safety_scenarios.trial.rules.engine import replay
from safety_scenarios.trial.trial import TrialRecord
from unit.conversations import (
    block,
    expects,
    GREETED,
    named,
    Played,
    rule,
    said,
    Slow,
    trial_of,
    turns,
)
from unit.loopback_runs import loopback_run, Run
from unzipped import read_text, write_text

pytest.importorskip('mcap', reason='the extra mcap is not installed')
from safety_scenarios.trial.mcap.recording import McapWriter, read_mcap  # noqa: E402, I100

START = Pattern(kind='start')
BEAT = RawMessage(kind='message', topic='heartbeat', rate_hz=10.0, message='std_msgs/msg/Empty')
STOPS = Pattern(kind='signal', name='speed', op='<=', value=0.1)


def calls_then_greets(turn: Turn) -> Sequence[Utterance]:
    return [Utterance(kind='tool_call', name='search', args={'q': 'x', 'n': 1.5})] \
        if turn.heard.kind == 'say' else [Utterance(kind='say', text='Hi\u2028"there" \U0001f916')]


@pytest.fixture(scope='module')
def everything() -> TrialRecord:
    """Every kind of event that a trial with agents has, and plug-ins wherever one can be."""
    agents = block(
        GREETED, expects(named('human_enters'), STOPS),
        rule(START, Publish(stimulus=Person(topic='scan', distance=1.5), symbol='human_enters'),
             delay_ms=300),
        rule(named('human_enters'), Say(agent='a1', text='Mind me', symbol='minds')),
        rule(said('unheard'), End(how='fail')),
        tools=(Tool(name='search', returns={'found': [1, None, {'a': 0.1}]}),), stimuli=(BEAT,),
        robot=RobotModel(kind='mobile_base', max_speed=1.0),
        commands=(CommandTopic(topic='cmd_vel', message='geometry_msgs/msg/Twist'),),
        signals={'speed': Signal(topic='cmd_vel', field='linear', reduce='norm', unit='m/s')},
        duration_ms=1500.0)
    record = Played(trial_of(agents), turns(calls_then_greets)).record
    assert {event.kind for event in record.events} == {
        'mark', 'stimulus', 'command', 'say', 'tool_call', 'tool_result'}
    return record


def by_journal(record: TrialRecord, folder: Path) -> TrialRecord:
    path = folder / 'trial.events.jsonl.gz'
    journal = Journal(path, record.trial)
    for event in record.events:
        journal.add(event)
    journal.close(record)
    return read_journal(path, registry.resolve)


def by_recording(record: TrialRecord, folder: Path) -> TrialRecord:
    writer = McapWriter(folder / 'recording', record.trial)
    for event in record.events:
        writer.add(event)
    writer.finish(record.measuring)
    writer.close()
    return read_mcap(folder / 'recording', registry.resolve)


@pytest.mark.parametrize('through', [by_journal, by_recording])
def test_a_record_comes_back_as_it_was(everything, through, tmp_path):
    read = through(everything, tmp_path)
    assert read == everything
    assert [type(plugin) for plugin in read.trial.hazard] == [RawMessage, Person]
    agents = read.trial.scenario.body
    assert agents.hazard == read.trial.hazard
    assert replay(read) == replay(everything)
    assert evaluate(read).model_dump_json() == evaluate(everything).model_dump_json()


GREETING = {
    'description': 'Demo scenario',
    'roles': [{'name': 'user', 'description': 'Human participant'},
              {'name': 'assistant', 'description': 'Helpful AI assistant'}],
    'tools': [{'name': 'search', 'description': 'Query external information'}],
    'agents': [{'id': 'a1', 'name': 'Alice', 'role': 'user', 'goals': ['greet everyone']},
               {'id': 'a2', 'name': 'Bot', 'role': 'assistant'}],
    'rules': [{'trigger': 'greet', 'action': 'reply_greeting'}]}


class Greeter(Slow):
    """Greets back, 700 ms later."""

    def reply(self, text: str) -> str:
        return 'Hello'


def greeted(folder: Path, **settings: object) -> Run:
    """Run the scenario of the file format's own page against a controller that greets."""
    path = folder / 'greeting.json'
    path.write_text(json.dumps(GREETING))
    known = registry.resolve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, 'resolve', lambda kind, name: Greeter if name == 'greeter' else
                      known(kind, name))
        return loopback_run(folder / 'out', str(path), controller='greeter', words='patterns',
                            isolate=False, **settings)


def journal_of(run: Run) -> Path:
    [path] = run.folder.rglob('*.events.jsonl.gz')
    return path


@pytest.mark.parametrize('source', ['journal', 'recording'])
def test_a_campaign_is_judged_again_to_the_byte(source, tmp_path):
    run = greeted(tmp_path, record=('mcap',), trials=2)
    found = list(rejudge(run.folder, source=source))
    assert [trial.identical for trial in found] == [True, True]
    assert found[0].after.counts['say'] == 2


def test_the_same_campaign_leaves_the_same_records(tmp_path):
    texts = []
    for name in ('one', 'two'):
        (tmp_path / name).mkdir()
        texts.append(read_text(journal_of(greeted(tmp_path / name))))
    assert texts[0] == texts[1]


@pytest.mark.parametrize(('limit_ms', 'verdict'), [(700, 'PASS'), (699, 'FAIL')])
def test_a_tighter_budget_of_a_rule_changes_the_verdict(limit_ms, verdict, tmp_path):
    run = greeted(tmp_path)
    assert run.verdicts == {'greeting': 'PASS'}
    [trial] = rejudge(run.folder, [f'agents.rules[0].expect.budget.{name}_ms={limit_ms}'
                                   for name in ('target', 'acceptable', 'critical')])
    assert trial.after.verdict.value == verdict


def test_a_budget_by_which_nobody_judges_cannot_be_set(tmp_path):
    run = greeted(tmp_path)
    with pytest.raises(SettingsError, match='Set agents.rules'):
        list(rejudge(run.folder, ['latency_budget.critical_ms=1']))
    assert list(rejudge(run.folder, ['agents.rules[0].expect.budget.target_ms=1']))


def test_a_trial_that_was_killed_is_repaired_and_no_pass(tmp_path):
    run = greeted(tmp_path)
    path, lines = journal_of(run), read_text(journal_of(run)).split('\n')
    said_at = next(number for number, line in enumerate(lines) if line.startswith('["say"')
                   and '"a2"' in line)
    write_text(path.with_name(path.name + '.part'), '\n'.join(lines[:said_at + 1]) + '\n')
    path.unlink()
    for name in ('campaign.json', 'manifest.json'):
        (run.folder / name).unlink()
    (run.folder / 'trials.jsonl').write_text('')
    found, done = repair(run.folder)
    assert 'was killed' in done[0] and 'now INCONCLUSIVE' in done[0]
    assert found.summary.exit_code == 3 and found.flaws == ()


def test_what_nothing_binds_is_inconclusive_when_it_is_run(tmp_path, capsys):
    path = tmp_path / 'greeting.json'
    path.write_text(json.dumps({**GREETING, 'agents': GREETING['agents'][:1]}))
    from safety_scenarios.cli.main import main
    assert main(['run', str(path), '--link', 'loopback', '--controller', 'rule_based',
                 '--output', str(tmp_path / 'out')]) == 3
    assert 'F306' in capsys.readouterr().out
    [result] = (tmp_path / 'out' / 'trials.jsonl').read_text().splitlines()
    assert json.loads(result)['verdict'] == 'INCONCLUSIVE'
    assert main(['evaluate', str(tmp_path / 'out')]) == 3
