# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The example of the manual, one file of another package, is a body in every kind of trial."""

import importlib
import math
from pathlib import Path
import re
import subprocess
import sys

import pytest
from safety_scenarios import registry
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.ros.worlds.external.bodies import Course, models_of
from safety_scenarios.scenario.intent import read_intent
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.scenario.world.body import Body, Solid
from safety_scenarios.scenario.world.motion import Motion
from safety_scenarios.stimuli.person import Person
from safety_scenarios.trial.journal import read_journal

ROOT = Path(__file__).parents[3]
MANUAL = (ROOT / 'doc' / 'reference' / 'world.md').read_text()
CONTEXT = StimulusContext('t', (), None)
PERSON = ROOT / 'config' / 'scenarios' / 'robotic' / 'person_steps_near.yaml'
HAZARD = re.compile(r'    - \{kind: person, topic: scan, distance: 2.05, rate_hz: 20\}\n'
                    r'    - \{kind: person, topic: human_pose, distance: 2.05, rate_hz: 20\}\n')


@pytest.fixture(scope='module')
def package(tmp_path_factory) -> Path:
    """Install the example of the manual as another package: its file and its entry points."""
    folder = tmp_path_factory.mktemp('package')
    [code] = re.findall(r'```python\n(.+?)```', MANUAL, re.DOTALL)
    [points] = re.findall(r'```toml\n(.+?)```', MANUAL, re.DOTALL)
    (folder / 'drone.py').write_text(code)
    info = folder / 'drone-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: drone\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(
        re.sub(r"\[project\.entry-points\.'(.+)'\]", r'[\1]', points).replace("'", ''))
    return folder


@pytest.fixture
def drone(package, monkeypatch):
    """Return the module of the package, found by its entry points in this process."""
    monkeypatch.syspath_prepend(str(package))
    registry._entries.cache_clear()
    yield importlib.import_module('drone')
    registry._entries.cache_clear()
    sys.modules.pop('drone')


def hazard(folder: Path, stimulus: str) -> Path:
    """Write the shipped scenario of a person with another hazard instead; return the file."""
    text, count = HAZARD.subn(f'    - {stimulus}\n', PERSON.read_text())
    assert count == 1
    text = text.replace('id: SCN-R-101', 'id: SCN-DRONE')
    file = folder / 'drone.yaml'
    text = re.sub(r'    scanner: .*\n(?: {6,}.*\n)+', '', text)
    file.write_text(re.sub(r'    (near|side|shown_by|# either).*\n', '', text))
    return file


def run(package: Path, file: Path, link: str, output: Path) -> Path:
    """Run it against the reference in a process of its own; return the journal of its trial."""
    arguments = ['run', str(file), '--link', link, '--controller', 'rule_based', '--output',
                 str(output)]
    code = (f'import sys; sys.path.insert(0, {str(package)!r})\n'
            f'from safety_scenarios.cli.main import main; sys.exit(main({arguments}))')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [journal] = output.glob('traces/*/*.events.jsonl.gz')
    return journal


def test_its_intent_is_read_again_from_a_record(drone):
    intent = drone.DroneAt(distance=2.5, speed=1.0, above=2.0)
    assert read_intent(intent.model_dump_json()) == intent


def test_an_intent_whose_package_is_missing_is_refused_by_name():
    with pytest.raises(ValueError, match="kind: got 'drone_at', expected one of the intents"):
        read_intent('{"kind": "drone_at", "distance": 2.5, "speed": 1.0, "above": 2.0}')


def test_a_package_that_names_its_stimulus_alone_is_refused_with_the_file(
        drone, tmp_path, monkeypatch):
    known = registry.is_known
    monkeypatch.setattr(registry, 'is_known', lambda kind, name: known(kind, name) and (
        kind != 'intents' or name in registry.BUILT_IN[kind]))
    file = hazard(tmp_path, '{kind: drone, topic: human_pose, distance: 2.2, rate_hz: 20}')
    with pytest.raises(ScenarioError, match='needs the entry point safety_scenarios.intents'):
        load_scenario(file)


def test_a_stimulus_that_fails_when_it_is_asked_costs_its_file_alone(drone, tmp_path, monkeypatch):
    monkeypatch.setattr(drone.Drone, 'intent', lambda self, context: 1 / 0)
    file = hazard(tmp_path, '{kind: drone, topic: human_pose, distance: 2.2, rate_hz: 20}')
    with pytest.raises(ScenarioError, match="the stimulus plug-in 'drone' failed") as refused:
        load_scenario(file)
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
    course = Course(body, is_kept=False)
    assert course.begin((0.0, 0.0, 0.0), 0)[:2] == (2.5, 0.0)
    x, y, _ = course.go_on((0.0, 0.0, 0.0), 100_000_000, lambda place: True)
    assert (x, y) == pytest.approx((2.4, 0.0))


def test_a_picture_draws_it_by_its_outline_and_look(drone):
    [(body, place)] = drone.DroneAt(distance=2.5, speed=1.0, above=2.0).places(1.5)
    assert (body.look, body.label, body.radius) == ('robot', 'drone', 0.3)
    assert place[:2] == pytest.approx((1.5, 0.0))


@pytest.mark.slow
@pytest.mark.parametrize(('link', 'in_world'), [('loopback', False), ('simulated', True)])
def test_a_trial_with_it_is_judged_and_read_again(package, drone, tmp_path, link, in_world):
    file = hazard(tmp_path, '{kind: drone, topic: human_pose, distance: 2.2, rate_hz: 20}')
    record = read_journal(run(package, file, link, tmp_path / 'run'), registry.resolve)
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
