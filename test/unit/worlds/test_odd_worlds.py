# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Worlds that cannot be, or in which nothing follows: each is told, none of them passes."""

from typing import Any

import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.lint.review import review
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.selftest.selftest import in_simulated_time
from safety_scenarios.studies.selftest.sweep import impossible
import yaml

CROSSES = share_folder() / 'config/scenarios/worlds/person_crosses_and_stands.yaml'
SHIPPED = yaml.safe_load(CROSSES.read_text(encoding='utf-8'))
BOTH = 0, 1


def written(folder: Any, world: dict[str, Any], hazard: dict[str, Any],
            nominal: dict[str, Any], vary: dict[str, Any]) -> str:
    """Write the shipped scenario with other values, and return where."""
    ros = SHIPPED['ros']
    changed = {**SHIPPED, 'id': 'ODD', 'ros': {
        **{key: value for key, value in ros.items() if key != 'vary'},
        **({'vary': vary} if vary else {}),
        'world': {'required': True, **world},
        'nominal': {**ros['nominal'], 'stimuli': [
            {**ros['nominal']['stimuli'][index], **nominal} for index in BOTH]},
        'stimuli': [{key: value for key, value in {**ros['stimuli'][index], **hazard}.items()
                     if value is not None} for index in BOTH]}}
    path = folder / 'odd.yaml'
    path.write_text(yaml.safe_dump(changed, sort_keys=False, allow_unicode=True), encoding='utf-8')
    return str(path)


def told(path: str) -> list[str]:
    """Return what is told of a file when it is read, or of its world."""
    try:
        found = load_scenarios([path])
    except ScenarioError as error:
        return [f'{problem.field}: {problem.message}' for problem in error.problems]
    return [f'{one.code} {one.message}' for one in (*impossible(found.scenarios),
                                                    *review(found.scenarios).remarks)]


WALL = {'name': 'w', 'begin': [0, -1], 'end': [0, 1]}
BOX = {'name': 'b', 'at': [5, 5], 'size': [1, 1, 1]}
AHEAD = {'walks': None, 'bearing': 0.0}
NAN = float('nan')


@pytest.mark.parametrize(('world', 'hazard', 'nominal', 'vary', 'says'), [
    ({'walls': [WALL]}, {}, {}, {}, 'L225 no trial can be run: got robot and wall:w'),
    ({'boxes': [{**BOX, 'at': [0, 0], 'size': [9, 9, 1]}]}, {}, {}, {}, 'got robot and box:b'),
    ({'boxes': [{**BOX, 'mass': 9}, {**BOX, 'name': 'c', 'mass': 9}]}, {}, {}, {},
     'got box:b and box:c 1.00 m inside'),
    ({'boxes': [BOX, BOX]}, {}, {}, {}, 'got b more than once'),
    ({'boxes': [{**BOX, 'size': [0, 0, 0]}]}, {}, {}, {}, 'size[0]: got 0, expected'),
    ({'boxes': [{**BOX, 'name': f'b{i}'} for i in range(501)]}, {}, {}, {}, 'at most 500'),
    ({'walls': [{**WALL, 'name': 'стена'}]}, {}, {}, {}, 'walls[0].name: got'),
    ({'robot': 'small_dif_drive'}, {}, {}, {}, "Did you mean 'small_diff_drive'?"),
    ({'robot': '../../etc/passwd.yaml'}, {}, {}, {}, 'where no file is'),
    ({'robot': 'arm6'}, {}, {}, {}, 'expected a base that drives'),
    ({'senses': {'mounts': {'laser': {}}}}, {}, {}, {}, 'expected the topic of a scanner: scan'),
    ({'camera': {'rate_hz': 1000}}, {}, {}, {}, 'camera.rate_hz: got 1000, expected'),
    ({'camera': {'topic': 'scan'}}, {}, {}, {}, 'on which ros.world.camera publishes'),
    ({'route': [[0, 0]]}, {}, {}, {}, 'L226 got a route that goes no farther than 0 m'),
    ({'route': [[5, 0], [9, 0]], 'goal_radius': 99}, {}, {}, {}, 'the task is done before it'),
    ({'payload': 'ten'}, {}, {}, {}, "payload: got 'ten', expected a number"),
    ({'route': [[1e9, 0]]}, {}, {}, {}, 'expected x and y within 400 m'),
    ({'start': {'x': 499.0, 'y': 530.0}}, {}, {}, {}, 'start.x: got 499'),
    ({}, {**AHEAD, 'distance': 0.1}, {}, {}, 'L225 no trial can be run: the world: got what app'),
    ({}, {}, {'distance': 0.1}, {}, 'appears on scan 0.34 m inside the robot'),
    ({}, {'distance': NAN}, {}, {}, 'stimuli[0].distance: got nan'),
    ({}, {'distance': 1e308}, {}, {}, 'stimuli[0].distance: got 1e+308'),
    ({}, {'radius': -0.3}, {}, {}, 'stimuli[0].radius: got -0.3'),
    ({}, {'walks': {'speed': 3e8, 'by': [[2, 0]]}}, {}, {}, 'walks.speed: got 300000000'),
    ({}, {'walks': {'speed': 1, 'by': [[1e308, 0]]}}, {}, {}, 'expected x and y within 200 m'),
    ({}, {'figure': {'height': 50}}, {}, {}, 'figure.height: got 50'),
    ({}, {'figure': {'mass': 1e-9}}, {}, {}, 'figure.mass: got 1e-09'),
    ({}, {}, {}, {'x': {'range': [0.05, 0.3], 'unit': 'm', 'sets': ['ros.stimuli[0].distance']}},
     'in some of the draws of ros.vary no trial can be run'),
    ({'walls': [{**WALL, 'begin': [5, -1], 'end': [5, 1]}]}, {}, {},
     {'x': {'range': [4.7, 5.3], 'unit': 'm', 'sets': ['ros.world.start.x']}},
     'in some of the draws of ros.vary no trial can be run: got robot and wall:w'),
    ({}, {}, {}, {'x': {'range': [0, 1], 'sets': ['ros.world.senses.dirtiness']}},
     "'dirtiness' is unknown")])
def test_a_world_that_cannot_be_is_told_with_its_place(world, hazard, nominal, vary, says,
                                                       tmp_path):
    found = told(written(tmp_path, world, hazard, nominal, vary))
    assert any(says in one for one in found), found


def test_what_is_shipped_can_be():
    assert list(impossible(load_scenarios([str(CROSSES), 'robotic']).scenarios)) == []


def test_validate_tells_it_and_strict_refuses_it(tmp_path, capsys):
    path = written(tmp_path, {'walls': [WALL]}, {}, {}, {})
    assert main(['scenario', 'validate', path]) == 0
    assert 'L225 ros.world: no trial can be run: got robot and wall:w' in capsys.readouterr().err
    assert main(['scenario', 'validate', path, '--strict']) == 2


def played(folder: Any, controller: str, world: dict[str, Any], **hazard: Any) -> Any:
    path = written(folder, world, hazard, {}, {})
    [scenario] = load_scenarios([path]).scenarios
    return evaluate(in_simulated_time()(scenario, controller, 0))


def test_a_robot_that_stood_all_the_time_passes_nothing_by_standing(tmp_path):
    """Without grip it only spins its wheels: what it would have done was judged, and it passed."""
    found = played(tmp_path, 'rule_based', {'floor': {'friction': 1e-12}})
    assert found.verdict is Verdict.INCONCLUSIVE, found.reason
    assert 'according to the simulator: it stood before it was to stop' in found.reason


@pytest.mark.parametrize('world', [
    {'senses': {'dropouts': 1.0, 'darkness': 1.0}},
    {'senses': {'range_max': 0.05, 'darkness': 1.0}},
    {'senses': {'mounts': {'scan': {'height': 2.5}}, 'darkness': 1.0}}],
    ids=['nothing returns', 'sees nothing so far away', 'looks over people'])
def test_no_answer_to_what_no_sensor_showed_is_no_failure_and_no_pass(world, tmp_path):
    found = played(tmp_path, 'never_stop', world, walks=None, bearing=0.9)
    assert found.verdict is Verdict.INCONCLUSIVE, found.reason
    by_name = {one.check: one for one in found.findings}
    assert 'no sensor of the robot ever showed human_pose, scan' in \
        by_name['a sensor showed the hazard'].reason
    assert by_name['reaction within the budget'].verdict is Verdict.INCONCLUSIVE


def test_what_one_sensor_shows_is_to_be_answered(tmp_path):
    world = {'senses': {'mounts': {'scan': {'height': 2.5}}}}
    found = played(tmp_path, 'never_stop', world, walks=None, bearing=0.9)
    assert found.verdict is Verdict.FAIL and 'a sensor showed the hazard' not in {
        one.check for one in found.findings}


def test_what_no_sensor_showed_may_not_be_driven_into_either(tmp_path):
    found = played(tmp_path, 'never_stop', {'senses': {'dropouts': 1.0, 'darkness': 1.0}},
                   walks=None, bearing=0.0)
    assert found.verdict is Verdict.FAIL
    assert {one.check for one in found.findings if one.verdict is Verdict.FAIL} <= {
        'touches nobody', 'touches nothing'}


def test_a_person_who_appears_inside_of_a_box_is_refused(tmp_path):
    found = played(tmp_path, 'rule_based', {'boxes': [
        {**BOX, 'at': [12.0, 1.0], 'size': [22, 0.5, 1]}]})
    assert found.verdict is Verdict.ERROR
    assert 'inside of box:b, expected room for it' in found.reason
