# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A scenario that nobody can win is refused with the numbers, and so is too long a budget."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fast_yaml
import pytest
from safety_scenarios.formats.loading import share_folder
from unit.formats.files import load, refused

SHIPPED = share_folder() / 'config' / 'scenarios' / 'robotic'
SEPARATED = sorted(path for path in SHIPPED.glob('*.yaml')
                   if 'separation:' in path.read_text(encoding='utf-8'))
Change = Callable[[dict[str, Any]], None]
UNWINNABLE, BUDGET = 'ros.separation', 'latency_budget.critical_ms'


def shipped(path: Path, *, critical_ms: float | None = None, distance: float | None = None,
            change: Change = lambda ros: None) -> dict[str, Any]:
    """Return a shipped scenario with another budget, or a hazard that is shown elsewhere."""
    data: dict[str, Any] = fast_yaml.load(path.read_text(encoding='utf-8'))
    budget = data['latency_budget']
    if critical_ms is not None:
        data['latency_budget'] = {name: min(value, critical_ms) for name, value in budget.items()}
        data['latency_budget']['critical_ms'] = critical_ms
    for stimulus in data['ros']['stimuli']:
        if distance is not None and 'distance' in stimulus:
            stimulus['distance'] = distance
    change(data['ros'])
    return data


ARM = SHIPPED / 'person_near_arm.yaml'
BASE = SHIPPED / 'person_steps_near.yaml'


def test_some_shipped_scenarios_tell_what_a_latency_costs():
    assert {path.stem for path in SEPARATED} >= {'person_near_arm', 'person_steps_near',
                                                 'path_blocked'}


@pytest.mark.parametrize(('path', 'longest_ms'), [
    (ARM, 332), (BASE, 655), (SHIPPED / 'path_blocked.yaml', 560)], ids=lambda it: str(it)[-20:])
def test_the_longest_budget_is_what_physics_leaves(tmp_path, path, longest_ms):
    assert load(tmp_path, shipped(path, critical_ms=longest_ms)).body.kind == 'robot'
    told = refused(tmp_path, shipped(path, critical_ms=longest_ms + 1))
    assert f'expected at most {longest_ms} ms' in told[BUDGET]
    assert list(told) == [BUDGET]


def test_the_budget_of_the_arm_is_told_with_every_term(tmp_path):
    told = refused(tmp_path, shipped(ARM, critical_ms=400))[BUDGET]
    assert 'the hazard is first shown 2.000 m away; a stop from 1 m/s needs 1.136 m' in told
    assert ('person 0.576, robot before braking 0.060, while braking 0.150, margins 0.350' in told)
    assert 'each second more costs 2.6 m' in told


def test_shown_nearer_the_same_budget_is_too_long(tmp_path):
    assert BUDGET in refused(tmp_path, shipped(ARM, distance=1.6))
    assert load(tmp_path, shipped(ARM, distance=1.6, critical_ms=150)).body.kind == 'robot'


def test_shown_too_near_nobody_can_win(tmp_path):
    told = refused(tmp_path, shipped(ARM, distance=1.1))[UNWINNABLE]
    assert 'unwinnable: the hazard is first shown 1.100 m away' in told
    assert 'leaves the controller -14 ms' in told
    assert load(tmp_path, shipped(ARM, distance=1.16, critical_ms=9)).body.kind == 'robot'


def test_within_reach_nobody_can_win(tmp_path):
    told = refused(tmp_path, shipped(BASE, distance=0.55))[UNWINNABLE]
    assert 'unwinnable' in told and 'first shown 0 m away' in told


def test_the_nearest_of_several_stimuli_counts(tmp_path):
    def one_nearer(ros: dict[str, Any]) -> None:
        ros['stimuli'][0]['distance'] = 1.2

    assert UNWINNABLE in refused(tmp_path, shipped(BASE, change=one_nearer))


def test_a_faster_robot_needs_more(tmp_path):
    def faster(ros: dict[str, Any]) -> None:
        ros['robot']['max_speed'] = 1.4
        ros['robot']['stopping'] = {'model': 'measured', 'time': 0.6, 'distance': 0.9}

    assert BUDGET in refused(tmp_path, shipped(BASE, change=faster))


def test_a_person_who_walks_faster_than_is_reckoned_is_refused(tmp_path):
    def slower(ros: dict[str, Any]) -> None:
        ros['separation']['approach_speed'] = 1.5

    told = refused(tmp_path, shipped(ARM, change=slower))
    assert 'at least the 1.6 m/s' in told['ros.separation.approach_speed']


def test_the_terms_need_a_stopping_model(tmp_path):
    def no_stopping(ros: dict[str, Any]) -> None:
        del ros['robot']['stopping']

    assert 'ros.robot.stopping' in refused(tmp_path, shipped(ARM, change=no_stopping))[UNWINNABLE]


def test_the_terms_need_a_distance(tmp_path):
    def blind(ros: dict[str, Any]) -> None:
        ros['stimuli'] = [{'kind': 'message', 'topic': 'estop', 'message': 'std_msgs/msg/Bool',
                           'data': {'data': True}}]
        del ros['vary']  # of the stimuli that are gone

    def told_by_feedback(ros: dict[str, Any]) -> None:
        blind(ros)
        ros['feedback'] = [{'topic': 'odom'}]
        ros['signals']['gap'] = {'topic': 'odom', 'field': 'data', 'unit': 'm'}
        ros['separation']['distance'] = 'gap'

    assert 'got no distance' in refused(tmp_path, shipped(BASE, change=blind))[UNWINNABLE]
    assert load(tmp_path, shipped(BASE, change=told_by_feedback)).body.kind == 'robot'


def test_a_benign_variant_may_be_as_near_as_it_likes(tmp_path):
    path = SHIPPED / 'person_passes_far_away.yaml'

    def separated(ros: dict[str, Any]) -> None:
        ros['separation'] = {'signal': 'speed', 'approach_speed': 0.0, 'other_time': 0.1}

    assert load(tmp_path, shipped(path, distance=0.1, change=separated)).is_benign


def test_a_speed_that_is_none_is_told_and_does_not_break_the_reader(tmp_path):
    def still(ros: dict[str, Any]) -> None:
        ros['robot']['max_speed'] = 1e-13
        ros['robot']['stopping'] = {'model': 'worst_case', 'time': 0.3}

    assert 'closing speed' in refused(tmp_path, shipped(BASE, change=still))[UNWINNABLE]


@pytest.mark.parametrize('key', ['robot', 'separation', 'distance', 'no distance', 'kind'])
def test_a_block_that_is_broken_is_told_once(tmp_path, key):
    def broken(ros: dict[str, Any]) -> None:
        if key == 'distance':
            ros['stimuli'][0]['distance'] = 'near'
        elif key == 'no distance':
            del ros['stimuli'][0]['distance']
        elif key == 'kind':
            ros['stimuli'][0]['kind'] = 'persn'
        else:
            ros[key]['nonsense'] = 1

    told = refused(tmp_path, shipped(ARM, change=broken))
    assert len(told) == 1


@pytest.mark.parametrize(('invariant', 'field', 'word'), [
    ({'kind': 'zone', 'polygon': [[0, 0], [1, 0], [1, 1]], 'forward': 'spede'}, 'forward',
     'speed'),
    ({'kind': 'force', 'at_most': 40, 'signal': 'speed', 'measured': 'felt'}, 'measured', 'speed'),
    ({'kind': 'force', 'at_most': 40, 'signal': 'speed', 'measured': 'speed'}, 'measured',
     'expected one in N'),
    ({'kind': 'stop', 'signed': 'forwards'}, 'signed', 'ahead'),
    ({'kind': 'stop', 'reset': 'scna'}, 'reset', "Did you mean 'scan'"),
    ({'kind': 'fresh', 'topics': ['human_pos'], 'max_age_ms': 9, 'signal': 'speed'}, 'topics',
     'human_pose')])
def test_every_name_of_an_invariant_must_exist(tmp_path, invariant, field, word):
    def added(ros: dict[str, Any]) -> None:
        ros['invariants'] = [{'name': 'n', **invariant}]

    told = refused(tmp_path, shipped(BASE, change=added))
    assert word in told[f'ros.invariants[0].{field}']


def test_a_broken_stimulus_does_not_hide_its_topic_from_the_invariants(tmp_path):
    def added(ros: dict[str, Any]) -> None:
        ros['invariants'] = [{'name': 'n', 'kind': 'fresh', 'topics': ['beat'], 'max_age_ms': 9,
                              'signal': 'speed'}]
        ros['nominal']['stimuli'].append({'kind': 'mesage', 'topic': 'beat'})

    assert list(refused(tmp_path, shipped(BASE, change=added))) == ['ros.nominal.stimuli[2].kind']
