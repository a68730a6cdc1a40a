# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The body of ``examples/intent``, of another package, is one in every kind of trial."""

import importlib
import math
from pathlib import Path
import sys

import pytest
from safety_scenarios import registry
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.from_python import run
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.ros.worlds.external.bodies import BodyPath, models_of
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import read_intent, StimulusContext
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.scenario.world_body import Body, Motion, Solid
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.trial.journal import read_journal

EXAMPLE = Path(__file__).parents[3] / 'examples' / 'intent'
SCENARIO = EXAMPLE / 'drone.yaml'
CONTEXT = StimulusContext('t', (), None)
POINTS = {'stimuli': (('drone', 'drone:Drone'),), 'intents': (('drone_at', 'drone:DroneAt'),)}
"""The entry points of the package; ``test/contract/test_examples.py`` installs them."""


@pytest.fixture
def drone(monkeypatch):
    """Return the module of the package, whose entry points are known in this process."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.setattr(registry, '_entries', lambda kind: POINTS.get(kind, ()))
    yield importlib.import_module('drone')
    sys.modules.pop('drone')


def test_its_intent_is_read_again_from_a_record(drone):
    intent = drone.DroneAt(distance=2.5, speed=1.0, above=2.0)
    assert read_intent(intent.model_dump_json()) == intent


def test_an_intent_whose_package_is_missing_is_refused_by_name():
    with pytest.raises(ValueError, match="kind: got 'drone_at', expected one of the intents"):
        read_intent('{"kind": "drone_at", "distance": 2.5, "speed": 1.0, "above": 2.0}')


def test_a_package_that_names_its_stimulus_alone_is_refused_with_the_file(drone, monkeypatch):
    known = registry.is_known
    monkeypatch.setattr(registry, 'is_known', lambda kind, name: known(kind, name) and (
        kind != 'intents' or name in registry.BUILT_IN[kind]))
    with pytest.raises(ScenarioError, match='needs the entry point safety_scenarios.intents'):
        load_scenario(SCENARIO)


def test_a_stimulus_that_fails_when_it_is_asked_costs_its_file_alone(drone, monkeypatch):
    monkeypatch.setattr(drone.Drone, 'intent', lambda self, context: 1 / 0)
    with pytest.raises(ScenarioError, match="the stimulus plug-in 'drone' failed") as refused:
        load_scenario(SCENARIO)
    assert str(refused.value).count('failed') == 1, 'said once, though it is published as hazard'


def test_who_inherits_a_person_and_moves_otherwise_is_asked_for_each_message():
    class Pacing(Person):

        def at(self, elapsed_ns, index, context):
            return super().at(elapsed_ns, index, context)
    assert Person(topic='scan', distance=2.0).is_constant
    assert not Person(topic='scan', distance=2.0, speed=1.0).is_constant
    assert not Pacing(topic='scan', distance=2.0).is_constant


def test_without_a_world_a_tracker_shows_it_where_it_comes(drone):
    stimulus = drone.Drone(topic='human_pose', distance=2.5, speed=1.0)
    shown = stimulus.at(1_000_000_000, 10, CONTEXT)
    assert shown.truth == (('distance', 1.5),)
    assert shown.message.at('pose.position.x') == pytest.approx(1.5)
    assert stimulus.at(10**10, 100, CONTEXT).truth == (('distance', 0.5),), 'its nearest'


def test_without_a_world_a_scanner_shows_its_outline(drone):
    message: Message = drone.Drone(topic='scan', distance=2.0).at(0, 0, CONTEXT).message
    hit = [(math.degrees(message.data['angle_min'] + place * message.data['angle_increment']),
            length) for place, length in enumerate(message.data['ranges'])
           if math.isfinite(length)]
    assert min(length for _, length in hit) == pytest.approx(1.7)
    assert max(abs(angle) for angle, _ in hit) == pytest.approx(
        math.degrees(math.asin(0.3 / 2.0)), abs=1.0)


def test_another_simulator_gets_a_model_in_the_air_and_moves_it(drone):
    intent = drone.DroneAt(distance=2.5, speed=1.0, above=2.0)
    [model], [body] = models_of(intent, True), intent.bodies()
    assert '<pose>0 0 2.1 0 0 0</pose>' in model.sdf('drone', 'robot', 'gz')
    assert model.is_tracked and not model.is_person
    course = BodyPath(body, is_kept=False)
    assert course.begin((0.0, 0.0, 0.0), 0)[:2] == (2.5, 0.0)
    x, y, _ = course.go_on((0.0, 0.0, 0.0), 100_000_000, lambda place: True)
    assert (x, y) == pytest.approx((2.4, 0.0))


def test_a_picture_draws_it_by_its_outline_and_look(drone):
    [(body, place)] = drone.DroneAt(distance=2.5, speed=1.0, above=2.0).places(1.5)
    assert (body.look, body.label, body.radius) == ('robot', 'drone', 0.3)
    assert place[:2] == pytest.approx((1.5, 0.0))


@pytest.mark.slow
@pytest.mark.parametrize(('link', 'in_world'), [('loopback', False), ('simulated', True)])
def test_a_trial_with_it_is_judged_and_read_again(drone, tmp_path, link, in_world):
    run(SCENARIO, link=link, seed=0, output=tmp_path / 'run')
    [journal] = (tmp_path / 'run').glob('traces/*/*.events.jsonl.gz')
    record = read_journal(journal, registry.resolve)
    result = evaluate(record)
    assert result.verdict is Verdict.PASS and result.latency.reaction is not None
    shown = [event for event in record.of_kind('stimulus', 'human_pose') if event.hazard]
    put = [read_intent(event.arguments) for event in shown if event.arguments is not None]
    assert put == [drone.DroneAt(distance=2.2, speed=0.0, above=2.0)] * in_world
    gaps = [event.truth['gap'] for event in record.of_kind('state', 'human_pose')
            if event.truth.get('radius') == pytest.approx(0.3)]
    assert bool(gaps) is in_world and all(gap > 1.5 for gap in gaps), 'it is overhead'


@pytest.mark.parametrize(('changes', 'why'), [
    ({'motion': Motion(1.0)}, 'expected one with a mass'),
    ({'motion': Motion(1.0), 'mass': 2.0, 'to_face': True}, 'whose distance is to its middle'),
    ({'is_glass': True}, 'a pane is flat')])
def test_a_body_that_no_world_could_build_is_refused(changes, why):
    with pytest.raises(ValueError, match=why):
        Body(Solid('cylinder', 0.6, 0.6, 0.2), 2.0, 0.0, **changes)
