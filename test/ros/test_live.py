# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What people's tools see of a campaign over DDS, and what the robot does not."""

from contextlib import ExitStack
import json
from pathlib import Path
import subprocess
import sys

import pytest
from ros.campaigns import campaign, environment, QUICK, SOON, until
from safety_scenarios.errors import InterlockError
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.scenario.hil import HilSettings
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.controller_settings import plan_link
from unit.records import planned

pytestmark = pytest.mark.dds
ADD, DELETE_ALL = 0, 3
GREEN = [0.1, 0.6, 0.25]


@pytest.fixture
def heard(domain, tmp_path):
    """Run a campaign of two trials, and return it with all that another process heard of it."""
    script = Path(__file__).with_name('live_listener.py')
    with subprocess.Popen([sys.executable, script], env=environment(domain) | SOON, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as listener:
        assert json.loads(listener.stdout.readline()) == ['ready', None]
        run = campaign(tmp_path / 'run', QUICK, '--domain-id', str(domain), '--trials', '2',
                       '--set', 'live_topics=on', again=False)
        listener.stdin.close()
        lines = [json.loads(line) for line in listener.stdout]
        listener.wait(20)
    return run, lines


def test_another_process_receives_markers_diagnostics_events_and_verdicts(heard):
    run, lines = heard

    def told(kind):
        return [content for what, content in lines if what == kind]
    assert len(run.trials) == 2, run.output
    *verdicts, ended = told('verdict')
    assert [(one['trial'], one['verdict'], one['reason'], one['ended']) for one in verdicts] == [
        (trial['trial_id'], trial['verdict'], trial['reason'], number)
        for number, trial in enumerate(run.trials, 1)]
    assert (ended['schema'], ended['verdict'], ended['completed']) == (
        'safety_scenarios/campaign/1', run.summary()['verdict'], 2)
    assert told('late')[0] == verdicts[0], 'who comes late gets what was said before'
    events = told('event')
    assert [one['name'] for one in events if one['trial'] == verdicts[0]['trial']
            and one['kind'] == 'mark'] == ['nominal', 'onset', 'all_clear', 'end']
    assert [one['distance'] for one in events if one['kind'] == 'stimulus'] == [1.5, 1.5]

    markers = told('markers')
    drawn = [marker for array in markers for marker in array if marker['action'] == ADD]
    assert {marker['frame'] for marker in drawn} == {'base_link'}
    assert {marker['ns'] for marker in drawn} == {'robot', 'heading', 'bodies', 'verdict', 'text'}
    assert [1.5, 0.0] in [marker['at'] for marker in drawn if marker['ns'] == 'bodies']
    assert all(0 < marker['lasts_s'] < 10 for marker in drawn), 'a crash leaves none for ever'
    if verdicts[0]['verdict'] == 'PASS':
        assert any(marker['ns'] == 'robot' and marker['colour'] == GREEN for marker in drawn)
    assert [marker['action'] for marker in markers[-1]] == [DELETE_ALL]

    statuses = {status['name']: status for array in told('diagnostics') for status in array}
    assert set(statuses) == {f'evaluator_node: {name}' for name in ('campaign', 'trial', 'QUICK')}
    last = verdicts[-1]
    levels = {'PASS': 0, 'INCONCLUSIVE': 1, 'ERROR': 2, 'FAIL': 2}
    scenario = statuses['evaluator_node: QUICK']
    assert scenario['level'] == levels[last['verdict']] or last['latency_class'] == 'critical'
    assert (scenario['hardware_id'], scenario['values']['verdict']) == (
        'rule_based', last['verdict'])
    assert statuses['evaluator_node: campaign']['values']['ended'] == '2'

    summary = run.summary()
    rows = {row['detail'] for one in summary['preflight'] for row in one['rows']}
    assert not [row for row in rows if 'verdict' in row or 'diagnostics' in row]


@pytest.fixture
def node_of(domain):
    """Make the node that measures, with settings and remapping rules, in this process."""
    from safety_scenarios.ros.measuring_node import MeasuringNode
    from safety_scenarios.ros.spinning import ros_context
    with ExitStack() as opened:
        def make(settings, *rules):
            arguments = [part for rule in rules for part in ('-r', rule)]
            context = opened.enter_context(ros_context(['--ros-args', *arguments], domain))
            node = MeasuringNode(settings.node_name, context, plan_link(settings))
            opened.callback(node.destroy_node)
            return node
        yield make


def test_beside_a_real_robot_they_are_off_unless_asked_for_and_called_as_documented(node_of):
    from safety_scenarios.ros.link.clock import RosClock
    from safety_scenarios.ros.link.publishing import LiveTopics
    real = RunSettings(hil=HilSettings(enabled=True, publishes=('/scan_in',)))
    assert plan_link(RunSettings(domain_id=7)).ros.has_live_topics
    assert plan_link(RunSettings(controller='external')).ros.has_live_topics
    assert not plan_link(RunSettings()).ros.has_live_topics, 'a controller of ours could listen'
    own = RunSettings(domain_id=7, controller='ros.known_delay:KnownDelay')
    assert not plan_link(own).ros.has_live_topics, 'a helper process of it could listen'
    assert not plan_link(real).ros.has_live_topics
    asked = real.model_copy(update={'live_topics': 'on'})
    assert plan_link(asked).ros.has_live_topics
    assert not plan_link(RunSettings(live_topics='off')).ros.has_live_topics
    node = node_of(asked)
    LiveTopics(node, RosClock())
    assert {known.topic_name for known in node.live} == {
        '/diagnostics', '/evaluator_node/verdict', '/evaluator_node/event',
        '/evaluator_node/markers'}
    with pytest.raises(InterlockError, match='expected one of /scan_in'):  # a stimulus there
        node.create_publisher(type(node.live[0]), '/diagnostics', 1)
    for rule in ('/diagnostics:=/cmd_vel', '/evaluator_node/event:=/robot/unlock'):
        with pytest.raises(InterlockError, match='as the name of the live topic'):
            LiveTopics(node_of(asked, rule), RosClock())


def test_who_is_judged_is_told_nothing_and_the_preflight_says_so(node_of):
    from diagnostic_msgs.msg import DiagnosticArray
    from safety_scenarios.ros.link.clock import RosClock
    from safety_scenarios.ros.link.publishing import LiveTopics
    node = node_of(RunSettings())
    live = LiveTopics(node, RosClock())
    trial = planned(load_scenario(Path(QUICK)))
    robot = node_of(RunSettings(node_name='policy'))
    commands = robot.create_publisher(DiagnosticArray, 'cmd_vel', 1)
    judged = [('/cmd_vel', info)
              for info in until(lambda: [
                  found for found in node.get_publishers_info_by_topic('/cmd_vel')
                  if found.node_name == 'policy'])]
    live.look(trial, judged)
    assert not live.rows and commands
    robot.create_subscription(DiagnosticArray, '/diagnostics', print, 1)
    until(lambda: [info for info in node.get_subscriptions_info_by_topic('/diagnostics')
                   if info.node_name == 'policy'])
    live.look(trial, judged)
    [row] = live.rows
    assert row.status == 'warn'
    assert row.detail.startswith('/diagnostics: /policy, which is judged, listens there')
    ros = trial.scenario.body.model_copy(update={'signals': {
        'speed': trial.scenario.body.signals['speed'].model_copy(update={
            'topic': '/evaluator_node/event'})}})
    live.look(trial.model_copy(update={
        'scenario': trial.scenario.model_copy(update={'body': ros})}), ())
    [row] = live.rows
    assert row.detail.startswith('/evaluator_node/event: the scenario uses it')
