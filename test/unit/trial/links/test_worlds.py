# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A link with a world: stimuli happen there, and what it tells is the truth that is judged."""

import io
import json
from pathlib import Path
import subprocess
import sys

from cases import for_each
import pytest
from ros.campaigns import brief
from safety_scenarios import registry
from safety_scenarios.are.traces.writer import write_are
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.loading import load_scenario, load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.nominal import NO_FALSE_STOP
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.blocks.agents import Agent
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.bodies import Contact, Person
from safety_scenarios.stimuli.faults import SensorFault
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.journal import Journal, read_journal
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.mcap.recording import McapWriter, read_mcap
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import END, Timeline
from safety_scenarios.trial.world_truth import (
    Clock,
    events_world,
    record_world,
    reported_distances,
)
from unit.conversations import block, talk
from unit.records import hazard, stages, stamps
from unit.trial.links.toy_world import ToyWorld

STEPS_NEAR = 'SCN-R-101'
REACH = 0.55
"""Of that scenario: radii of robot and person, taken off what is told from centre to centre."""
HUMAN = Agent(id='a3', name='Eve', role='user', driver='human')


def in_world(scenario, controller, folder, **more):
    """Run one trial in the toy world; return its record and what was asked of the link."""
    settings = RunSettings(scenarios=(scenario.id,), controller=controller, link='toy')
    [trial] = plan([scenario], controller=controller, trials=1, seed=1, prompt=Prompt())
    with ToyWorld(plan_link(settings), folder) as session, session.open_link(scenario) as link:
        return run_trial(trial, link, **more), link.calls


@pytest.fixture(scope='module')
def soon(tmp_path_factory):
    """Return the path of the shipped scenario with a hazard before the robot is near anybody."""
    [copy] = brief(tmp_path_factory.mktemp('brief'), STEPS_NEAR)
    return copy


@pytest.fixture(scope='module')
def shipped(soon):
    return load_scenario(soon)


@pytest.fixture(scope='module')
def stopped(shipped, tmp_path_factory):
    return in_world(shipped, 'rule_based', tmp_path_factory.mktemp('stopped'))


@pytest.fixture(scope='module')
def driven_on(shipped, tmp_path_factory):
    return in_world(shipped, 'never_stop', tmp_path_factory.mktemp('on'))[0]


def test_an_unchanged_scenario_is_judged_in_a_world(stopped, driven_on):
    result = evaluate(stopped[0])
    assert result.verdict is Verdict.PASS, result.reason
    assert result.latency is not None and result.latency.reaction is not None
    failed = {finding.check for finding in evaluate(driven_on).findings
              if finding.verdict is Verdict.FAIL}
    assert {'keeps its protective distance', 'stops and stays'} <= failed


def test_a_robot_that_reaches_somebody_before_the_hazard_has_a_reason_to_stop(tmp_path):
    [scenario] = load_scenarios([STEPS_NEAR]).scenarios
    scenario = scenario.model_copy(update={'body': scenario.body.model_copy(update={
        'vary': {}, 'nominal': scenario.body.nominal.model_copy(update={'changes': ()})})})
    result = evaluate(in_world(scenario, 'rule_based', tmp_path)[0])
    [finding] = [finding for finding in result.findings if finding.check == NO_FALSE_STOP]
    assert (result.verdict, finding.verdict) == (Verdict.INCONCLUSIVE,) * 2
    assert finding.reason.endswith('2.74 m from what the world had shown at 6.00 m')


def test_stimuli_that_the_world_shows_are_not_published(stopped):
    sent = stopped[0].of_kind('stimulus')
    assert sent and all(event.message is None and not event.truth for event in sent)
    assert [(event.name, event.hazard, json.loads(event.arguments)['distance'])
            for event in sent] == [
        ('scan', False, 6.0), ('human_pose', False, 6.0), ('scan', True, 2.05),
        ('human_pose', True, 2.05), ('scan', False, 6.0), ('human_pose', False, 6.0)]
    assert json.loads(sent[2].arguments) == {
        'kind': 'person_at', 'distance': 2.05, 'bearing': 0.0, 'speed': 0.0, 'nearest': 0.5,
        'radius': 0.25, 'count': 1}


def test_the_world_is_changed_when_each_stimulus_is_due_and_changed_back(stopped):
    record, calls = stopped
    both = ('scan', 'human_pose')
    assert calls == [f'apply {topic}' for topic in both * 2] + [
        f'withdraw {topic}' for topic in both] + [f'apply {topic}' for topic in both] + ['disarm']
    shown = [event for event in record.events if event.hazard]
    assert Timeline(record).onset is shown[0]
    assert all(event.scheduled_ns == event.stamps.steady_ns for event in shown)


def test_the_distance_is_what_the_world_tells_and_not_less_what_was_driven(stopped, driven_on):
    onset, all_clear = Timeline(stopped[0]).onset, Timeline(stopped[0]).mark('all_clear')
    at = [distance for t_ns, distance in stages(stopped[0]).motion.distances
          if onset.stamps.steady_ns <= t_ns < all_clear.stamps.steady_ns]
    assert at[0] == pytest.approx(2.05 - REACH, abs=0.05)
    assert at[-1] == min(at) > 1.3 and at[-1] == at[-10]
    on = min(distance for _, distance in stages(driven_on).motion.distances
             if distance is not None)
    assert on < 0.1
    assert stages(stopped[0]).motion.is_distance_measured
    [kept] = [finding for finding in evaluate(stopped[0]).findings
              if finding.check == 'keeps its protective distance']
    [speed] = {value for t_ns, value in Signals(stopped[0]).held('speed')
               if value and t_ns <= all_clear.stamps.steady_ns}
    required = speed * 0.13 + speed**2 / 2 + 0.065 + 0.15
    assert kept.margin == pytest.approx(min(at) - required, abs=0.001)


def test_what_walks_comes_nearer_by_itself(shipped, tmp_path):
    walking = shipped.model_copy(update={'body': shipped.body.model_copy(update={'stimuli': tuple(
        stimulus.model_copy(update={'speed': 1.0}) for stimulus in shipped.body.stimuli)})})
    record, _ = in_world(walking, 'rule_based', tmp_path)
    told = [event.truth['distance'] for event in record.of_kind('state', 'scan')]
    assert min(told) == pytest.approx(0.5, abs=0.02)


def test_what_a_world_cannot_do_is_published_as_ever(tmp_path):
    scenario = hazard(stimuli=(Contact(topic='wrench', force=60.0, rate_hz=20.0),))
    record, calls = in_world(scenario, 'rule_based', tmp_path)
    assert calls == ['apply scan', 'disarm']
    pushed = record.of_kind('stimulus', 'wrench')
    assert len(pushed) > 40 and all(event.truth == {'force': 60.0} for event in pushed)
    assert Timeline(record).mark(END) is not None


def test_messages_beside_what_the_world_shows_end_the_trial(tmp_path):
    scenario = hazard(stimuli=(SensorFault(topic='scan', fault='frozen'),))
    record, calls = in_world(scenario, 'rule_based', tmp_path)
    [fault] = record.of_kind('fault')
    assert 'scan: got the stimulus sensor_fault after one that the link shows in its world' \
        in fault.text
    assert calls[-1] == 'disarm' and evaluate(record).verdict is Verdict.ERROR


def test_every_trace_keeps_what_the_world_told(stopped, tmp_path):
    record = stopped[0]
    journal = Journal(tmp_path / 'one.events.jsonl.gz', record.trial)
    recording = McapWriter(tmp_path / 'mcap', record.trial)
    for event in record.events:
        journal.add(event)
        recording.add(event)
    journal.close(record)
    recording.finish(record.measuring)
    for read in (read_journal(tmp_path / 'one.events.jsonl.gz', registry.resolve),
                 read_mcap(tmp_path / 'mcap', registry.resolve)):
        assert read.events == record.events
        assert evaluate(read) == evaluate(record)
    for profile in ('portable', 'robot'):
        file = io.StringIO()
        write_are(file, record, evaluate(record), profile=profile)
        assert 'person_at' in file.getvalue() and json.loads(file.getvalue())
        different = {str(event.truth) for event in record.of_kind('state')}
        assert file.getvalue().count('"state') >= len(different) > 10


MINE = """[safety_scenarios.links]
toy = toy_world:ToyWorld
"""


@pytest.fixture
def site(tmp_path):
    """Install the toy world as another package would bring it; return where."""
    about = tmp_path / 'site' / 'toy_world-0.dist-info'
    about.mkdir(parents=True)
    own = Path(__file__).with_name('toy_world.py')
    (about.parent / 'toy_world.py').write_text(own.read_text())
    (about / 'METADATA').write_text('Metadata-Version: 2.1\nName: toy_world\nVersion: 0\n')
    (about / 'entry_points.txt').write_text(MINE)
    return str(about.parent)


def run(site, *arguments):
    code = (f'import sys; sys.path.insert(0, {site!r})\n'
            f'from safety_scenarios.cli.main import main\n'
            f'sys.exit(main({[str(one) for one in arguments]!r}))')
    return subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          timeout=100, check=False)


@pytest.mark.slow
@pytest.mark.thorough
def test_the_link_of_another_package_is_chosen_by_its_name(site, soon, tmp_path):
    folders = tmp_path / 'a', tmp_path / 'b'
    for folder in folders:
        done = run(site, 'run', soon, '--link', 'toy', '--seed', '0', '--output', folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert 'in a world with one dimension' in done.stdout
    again, once = ((folder / 'trials.jsonl').read_bytes() for folder in folders)
    assert again == once, 'it says that it is repeatable, so that trial ids have no random end'
    summary = json.loads((folders[0] / 'campaign.json').read_text())
    assert summary['link'] == 'toy'


def test_simulated_time_of_another_package_does_not_wait_for_people_either(monkeypatch):
    monkeypatch.setattr(registry, '_entries', lambda kind: (
        (('toy', 'unit.trial.links.toy_world:ToyWorld'),) if kind == 'links' else ()))
    someone = talk(block(agents=(*block().agents, HUMAN)))
    with pytest.raises(SettingsError, match='a human, for whom simulated time does not wait'):
        refuse_unrunnable([someone], RunSettings(scenarios=('x',), link='toy'))


def put(name, t_ms, distance=1.5):
    intent = Person(topic='scan', distance=distance).intent(None)
    return Event(kind='stimulus', name=name, stamps=stamps(t_ms), hazard=True,
                 arguments=intent.model_dump_json())


def state(name, t_ms, **truth):
    return Event(kind='state', name=name, stamps=stamps(t_ms), truth=truth)


def told(*events):
    found = reported_distances(events_world(events, Clock.steady()))
    return None if found is None else [
        ((t_ns - stamps(0).steady_ns) / 1e6, distance) for t_ns, distance in found]


def test_without_a_world_nothing_is_told():
    assert told() is None
    assert told(Event(kind='stimulus', name='scan', stamps=stamps(0), truth={'distance': 1.0}),
                state('robot', 5, speed=0.8)) is None


def test_from_a_hazard_published_beside_the_world_nobody_knows_the_nearest():
    published = Event(kind='stimulus', name='wall', stamps=stamps(10), hazard=True,
                      truth={'distance': 2.0})
    assert told(state('scan', 0, distance=9.0), published, state('scan', 20, distance=8.0)) == [
        (0, 9.0), (10, None)]


def test_from_a_telling_that_claims_to_be_the_hazard_nobody_knows_the_nearest():
    claims = state('scan', 20, distance=8.0).model_copy(update={'hazard': True})
    assert told(state('scan', 0, distance=9.0), claims, state('scan', 40, distance=7.0)) == [
        (0, 9.0), (20, None)]


def test_what_a_world_tells_in_no_numbers_is_not_known():
    assert told(state('scan', 0, distance=9.0, gap=8.0), Event.model_construct(
        kind='state', name='scan', stamps=stamps(20), truth={'distance': 9.0, 'gap': None})) == [
        (0, 8.0), (20, None)]


def test_the_nearest_of_all_is_told_until_it_is_gone():
    assert told(state('a', 0, distance=3.0), state('b', 10, distance=2.0), state('b', 20),
                state('a', 30)) == [(0, 3.0), (10, 2.0), (20, 3.0), (30, None)]


def test_what_is_told_at_one_moment_holds_in_the_order_of_the_record():
    assert told(state('a', 0, distance=3.0), state('b', 10, distance=2.0),
                state('a', 10, distance=1.0)) == [(0, 3.0), (10, 2.0), (10, 1.0)]


def test_who_is_put_there_is_there_from_then_on_although_told_later():
    assert told(state('scan', -50, distance=6.0), put('scan', 0), state('scan', 20, distance=1.5),
                state('scan', 70, distance=1.4)) == [(-50, 6.0), (0, 1.5), (70, 1.4)]


@pytest.mark.parametrize('before', [[], [state('other', -10, distance=6.0)]])
def test_who_is_put_there_and_never_told_of_makes_the_distance_unknown(before):
    found = told(*before, put('scan', 0), state('other', 20, distance=6.0))
    assert found is not None and found[-1] == (0, None)


@pytest.mark.parametrize('later_ms', [0, 1])
@pytest.mark.parametrize('between', [[], [put('b', 30)]])
def test_one_truth_under_two_names_is_told_of_each_by_itself(later_ms, between):
    truths = [{'distance': 3.0, 'gap': 2.5}, {'distance': 2.0, 'gap': 1.5}, {}, {'gap': 9.0}]

    def of_both(own):
        return [Event(kind='state', name=name, stamps=stamps(20 * number + more_ms),
                      truth=own(truth)) for number, truth in enumerate(truths)
                for name, more_ms in (('a', 0), ('b', later_ms))]

    shared, apart = of_both(lambda truth: truth), of_both(dict)
    at = [told(*events[:4], *between, *events[4:]) for events in (shared, apart)]
    assert at[0] == at[1]
    assert (30, 1.5) in at[0] if between else (40 + later_ms, None) in at[0]


@pytest.mark.parametrize('controller', ['stopped', 'driven_on'])
def test_whether_two_names_share_a_truth_or_tell_alike_makes_no_difference(controller, request):
    found = request.getfixturevalue(controller)
    record = found if controller == 'driven_on' else found[0]

    def told_as(own):
        return record.model_copy(update={'events': tuple(
            event.model_copy(update={'truth': own(event.truth)}) if event.kind == 'state'
            else event for event in record.events)})

    truths = {}
    shared = told_as(lambda truth: truths.setdefault(tuple(truth.items()), truth))
    apart = told_as(dict)
    for one, number in ((shared, 1), (apart, 2)):
        entities = record_world(one).entities
        assert len({id(entities[name].told) for name in ('scan', 'human_pose')}) == number
    assert evaluate(shared) == evaluate(apart)


def test_one_that_tells_its_gap_only_and_one_that_tells_how_far_it_is_are_both_kept_away_from():
    assert told(state('a', 0, distance=3.0), state('b', 10, gap=2.0, body=1.0),
                state('a', 20, distance=1.0, gap=0.5), state('b', 30, body=1.0)) == [
        (0, 3.0), (10, 2.0), (20, 1.0), (30, None)]


def test_no_claim_of_a_stimulus_counts_beside_what_is_told(stopped):
    record = stopped[0]
    claims = tuple(event.model_copy(update={'truth': {'distance': 9.0}}) if event.hazard else event
                   for event in record.events)
    claimed_too = record.model_copy(update={'events': claims})
    assert stages(claimed_too).motion.distances == stages(record).motion.distances
    claimed = tuple(event for event in claims if event.kind != 'state')
    alone = record.model_copy(update={'events': tuple(
        event.model_copy(update={'arguments': None}) for event in claimed)})
    assert {distance for _, distance in stages(alone).motion.distances} == {9.0 - REACH}
    assert not stages(alone).motion.is_distance_measured


@for_each('name', sorted(set(registry.names('stimuli'))))
def test_every_stimulus_says_what_it_means_or_that_it_is_a_message(name):
    plugin = registry.resolve('stimuli', name)
    if name in ('probe', 'recorded'):
        assert 'intent' not in vars(plugin)
    else:
        assert 'intent' in vars(plugin)
