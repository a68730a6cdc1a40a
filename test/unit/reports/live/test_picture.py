# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is shown of a running trial, and the files for RViz, Foxglove and PlotJuggler."""

import ast
import json
import math
from pathlib import Path
import re
from xml.etree import ElementTree

import pytest
from safety_scenarios.formats.loading import share_folder
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.reports.live.picture import (
    BODIES,
    COLOURS,
    event_fields,
    LiveTrial,
    printable,
    result_fields,
    shapes_of,
    to_text,
)
from safety_scenarios.scenario.blocks.robot import RobotModel, Separation, Stopping
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.trial.trial import ALL_CLEAR, ONSET
from unit import records
import yaml

HOSTILE = '<script>\x1b[31mred\x00\u202egnirts [bold]' + 'x' * 1_000_000


def state(name, **truth):
    return Event(kind='state', name=name, stamps=records.stamps(0.0), truth=truth)


def bodies_in(picture):
    return [shape for shape in shapes_of(picture) if shape.group == 'bodies']


@pytest.fixture
def live():
    found = LiveTrial()
    found.begin(records.planned(records.hazard(
        robot=RobotModel(kind='mobile_base', max_speed=1.0, radius=0.4,
                         stopping=Stopping(model='worst_case', time=0.5)),
        separation=Separation(signal='speed', approach_speed=1.6, other_time=0.1),
        stimuli=(Person(topic='scan', distance=1.5, bearing=math.pi / 2),))))
    return found


def test_between_trials_there_is_no_picture():
    assert LiveTrial().picture() is None


def test_without_a_world_a_person_is_where_the_stimulus_shows_one_until_the_all_clear(live):
    live.take(records.shown(-100.0, hazard=False, distance=6.0))
    [body] = live.picture().frame.bodies
    assert (body.kind, round(body.x, 6), round(body.y, 6)) == ('person', 6.0, 0.0)
    live.take(records.mark(ONSET, 0.0))
    live.take(records.shown(0.0, distance=1.5))
    picture = live.picture()
    assert [(body.kind, round(body.x, 6), round(body.y, 6)) for body in picture.frame.bodies] == [
        ('person', 0.0, 1.5)], 'to the left (REP 103), and no longer where the nominal one was'
    assert (picture.phase, picture.distance) == ('hazard', 1.5)
    live.take(records.mark(ALL_CLEAR, 100.0))
    assert [body.x for body in live.picture().frame.bodies] == [6.0]


def test_who_is_not_shown_any_more_is_gone(live):
    live.take(records.shown(0.0, distance=1.5))
    live.take(records.command(499.0, 0.0))
    assert len(live.picture().frame.bodies) == 1
    live.take(records.command(501.0, 0.0))
    assert not live.picture().frame.bodies and live.picture().distance is None


def test_in_a_world_everything_is_turned_into_the_robots_own_frame(live):
    live.take(state('robot', x=1.0, y=2.0, heading=math.pi / 2, vx=0.0, vy=0.5, radius=0.3))
    live.take(state('scan', x=1.0, y=5.0, distance=3.0, gap=2.4, radius=0.25, body=1.0))
    live.take(state('wall:north', x=0.0, y=9.0))
    picture = live.picture()
    [body] = bodies_in(picture)
    assert (round(body.x, 6), round(body.y, 6), body.colour) == (3.0, 0.0, BODIES['person'])
    assert (picture.speed, picture.distance, picture.footprint) == (0.5, 2.4, 0.3)
    live.take(state('scan'))
    assert not bodies_in(live.picture()), 'who tells no more is not there'


def test_s_p_is_that_of_the_commanded_speed_and_red_when_somebody_is_inside(live):
    assert live.picture().required is None, 'nobody knows the speed'
    live.take(records.command(0.0, 1.0))
    required = live.picture().required
    assert required == pytest.approx(1.6 * 0.6 + 1.0 * 0.1 + 1.0 * 0.5)
    [ring] = [shape for shape in shapes_of(live.picture()) if shape.group == 'separation']
    assert ring.size[0] == pytest.approx(2 * (required + 0.4))
    live.take(records.shown(0.0, distance=required - 0.01))
    [inside] = [shape for shape in shapes_of(live.picture()) if shape.group == 'separation']
    assert inside.colour != ring.colour


def test_what_is_told_from_the_origin_is_a_separation_less_the_reach():
    found = LiveTrial()
    found.begin(records.planned(records.hazard(separation=Separation(
        signal='speed', approach_speed=1.6, other_time=0.1, reach=0.6))))
    found.take(records.shown(0.0, distance=1.5))
    picture = found.picture()
    assert picture.distance == pytest.approx(0.9) and picture.reach == 0.6
    assert [body.x for body in picture.frame.bodies] == [1.5]


@pytest.mark.parametrize('verdict', Verdict)
def test_the_robot_has_the_colour_of_the_verdict_and_the_next_trial_says_it_too(live, verdict):
    drawn = {shape.group: shape for shape in shapes_of(live.picture(verdict, 12.0))}
    assert drawn['robot'].colour == COLOURS[verdict] != COLOURS[None]
    assert f'{verdict.value}, 12 ms' in drawn['text'].text
    trial = live.trial
    live.over(verdict)
    live.begin(trial)
    drawn = {shape.group: shape for shape in shapes_of(live.picture())}
    assert drawn['robot'].colour == COLOURS[None] and drawn['verdict'].colour == COLOURS[verdict]
    assert f'the trial before: {verdict.value}' in drawn['text'].text


def test_hostile_words_are_shown_as_text_and_cut():
    line = printable(HOSTILE, 100)
    assert line.startswith('<script>\\u001b[31mred\\u0000\\u202egnirts [bold]x')
    assert line.isprintable() and len(line) < 200
    trial = records.planned(records.hazard())
    said = Event(kind='say', name='agent', agent='a', text=HOSTILE, stamps=records.stamps(0.0))
    text = to_text(event_fields(trial, said, 1_500_000))
    assert text.isascii() and text.isprintable() and len(text) < 10_000
    assert json.loads(text)['text'].startswith(HOSTILE[:40]) and json.loads(text)['t_ms'] == 1.5
    assert to_text({'x': math.inf, 'y': [math.nan]}) == '{"x": null, "y": [null]}'


def test_a_verdict_says_what_did_not_pass():
    result = evaluate(records.record(records.driving(-700.0, 0.0)))
    findings = (Finding(check='held', kind='bound', verdict=Verdict.PASS, reason='held'),
                Finding(check='late', kind='latency', verdict=Verdict.FAIL, reason='no reaction',
                        margin=-2.5, unit='ms'))
    told = result_fields(result.model_copy(update={
        'verdict': Verdict.FAIL, 'findings': findings, 'reason': 'no reaction'}), 3, 9)
    again = json.loads(to_text(told))
    assert [(one['check'], one['margin'], one['at_ms']) for one in again['findings']] == [
        ('late', -2.5, None)]
    assert (again['margin'], again['margin_unit']) == (-2.5, 'ms')
    assert (again['verdict'], again['ended'], again['planned']) == ('FAIL', 3, 9)


CONFIG = share_folder() / 'config'
ROS = Path(__file__).resolve().parents[4] / 'safety_scenarios' / 'ros' / 'link' / 'publishing.py'
NODE = '/evaluator_node'


def published():
    """Return the topics that the source of the publisher names, of a node of that name."""
    tree = ast.parse(ROS.read_text(encoding='utf-8'))
    named = next(node for node in tree.body if isinstance(node, ast.Assign)
                 and isinstance(node.targets[0], ast.Tuple)
                 and node.targets[0].elts[0].id == 'DIAGNOSTICS')
    return {topic.replace('~', NODE) for topic in ast.literal_eval(named.value)}


def test_rviz_draws_our_markers_in_the_frame_in_which_they_are_published():
    from safety_scenarios.reports.live.picture import FRAME
    manager = yaml.safe_load((CONFIG / 'rviz' / 'safety_scenarios.rviz').read_text())[
        'Visualization Manager']
    topics = {display['Topic']['Value'] for display in manager['Displays'] if 'Topic' in display}
    assert topics == {f'{NODE}/markers'} <= published()
    assert manager['Global Options']['Fixed Frame'] == FRAME


def test_foxglove_shows_topics_of_ours_and_every_panel_of_the_layout_is_there():
    layout = json.loads((CONFIG / 'foxglove' / 'safety_scenarios.json').read_text())
    named = set(re.findall(r'"(/[a-z_]+(?:/[a-z_]+)*)', json.dumps(layout)))
    assert named == published()

    def panels(part):
        return {part} if isinstance(part, str) else panels(part['first']) | panels(part['second'])
    assert panels(layout['layout']) == set(layout['configById'])


def test_plotjuggler_plots_values_that_the_diagnostics_have():
    root = ElementTree.parse(CONFIG / 'plotjuggler' / 'safety_scenarios.xml').getroot()
    curves = [curve.get('name') for curve in root.iter('curve')]
    assert {topic.get('name') for topic in root.iter('topic')} == {'/diagnostics'} <= published()
    source = ROS.read_text(encoding='utf-8')
    for curve in curves:
        topic, _, rest = curve.partition('/evaluator_node: ')
        status, _, key = rest.partition('/')
        assert topic == '/diagnostics' and f"'{status}'" in source, curve
        assert f"'{key}'" in source or f'{key}=' in source or key in (
            'PASS', 'INCONCLUSIVE', 'ERROR', 'FAIL'), curve
