# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""When a policy reacts follows from horizon, period and inference time, as the manual says."""

from collections.abc import Mapping
import math
from pathlib import Path
from typing import Any

from cases import for_each
import numpy
import pytest
from safety_scenarios import run
from safety_scenarios.controllers.host import ControllerHost
from safety_scenarios.controllers.policies.actions import ActionChunks, ChunkRules
from safety_scenarios.controllers.policies.contract import PolicyContract
from safety_scenarios.controllers.policies.model import Inference, ModelOptions, PolicyModel
from safety_scenarios.controllers.policies.policy import policy_class
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.settings import ControllerSettings
from unit.controllers.observations import pose, seen
from unit.linked import begun

RATE_HZ = 20.0
PERIOD_MS = 1000 / RATE_HZ
CRUISE, STANDSTILL = 0.8, 0.05
BASE = RobotModel(kind='mobile_base', max_speed=1.0)


class Cautious(PolicyModel):
    """
    Gives a chunk of stops while a person is near, and of motion else.

    Of an arm each joint has the number of a period, and stops when the person is farther away.
    """

    horizon = 1
    joints: tuple[str, ...] = ()

    def infer(self, inputs: Mapping[str, Any]) -> Inference:
        person = inputs['person'][0]
        action = [float(person <= float(one)) for one in self.joints] or \
            [CRUISE * float(person > 2.0), 0.0]
        return Inference({'action': numpy.tile(action, (self.horizon, 1))})


def policy(horizon: int, d_ms: float, robot: RobotModel = BASE, clock: Any = 'ros',
           **terms: Any) -> Any:
    """Return a policy, usually in simulated time, that gives chunks of a length after a time."""
    made = policy_class('onnx', 'of_a_test.onnx')(inference_ms=d_ms)
    made.__dict__['terms'] = PolicyContract.model_validate({
        'robot': robot.kind, 'rate_hz': RATE_HZ, 'stale_ms': 0,
        'inputs': {'person': {'role': 'human_pose', 'fields': ['pose.position.x']}},
        'outputs': {'action': {'quantity': 'joint_velocity' if robot.joints else 'velocity'}},
        **terms})
    model = Cautious('', ModelOptions())
    model.horizon, model.joints = horizon, robot.joints
    made.__dict__['_model'] = model
    return begun(made, ControllerSettings(schedule_clock=clock, robot=robot))


def reaction_ms(horizon: int, onset: int, **terms: Any) -> float:
    """
    Return how long after a person came the robot was told to stand.

    :param onset: period of the policy within which the person comes, in its middle
    """
    made = policy(horizon, 0.0, **terms)
    for tick in range(onset + 4 * horizon + 40):
        found = made.decide(seen(tick * PERIOD_MS, human_pose=pose(1.0 if tick > onset else 6.0)))
        if tick > onset and found is not None and found.velocity[0] <= STANDSTILL:
            return (tick - onset - 0.5) * PERIOD_MS
    raise AssertionError('no reaction')


def waits(horizon: int, d_ms: float, **terms: Any) -> tuple[list[int], float]:
    """
    Return how long events are in the commands of older observations, and what the host predicts.

    :return: of an event right after each of many periods, and of the longest, both in periods
    """
    begin, last = 4 * horizon, 5 * horizon + 8
    joints = tuple(str(tick) for tick in range(begin, last))
    made = policy(horizon, d_ms, RobotModel(kind='arm', max_speed=1.0, joints=joints), **terms)
    longest = made.longest_wait_ns / made.period_ns
    found = dict[int, int]()
    for tick in range(last + round(longest)):
        told = made.decide(seen(tick * PERIOD_MS, human_pose=pose(float(tick))))
        if told is not None:
            for onset, share in enumerate(told.velocity, begin):
                if onset < tick and share == 0.0:
                    found.setdefault(onset, tick - onset)
    return [found[onset] for onset in range(begin, last)], longest


HORIZONS = [(horizon, d_ms) for horizon in (1, 2, 5, 8) for d_ms in (0.0, 50.0, 120.0, 310.0)]
SYNCHRONOUS = [{'replan_interval': interval} for interval in (0, 1, 3)]
ASYNCHRONOUS = [{'execution': 'asynchronous', 'queue_threshold': threshold}
                for threshold in (0.0, 0.25, 0.5, 0.7, 1.0)]


@for_each(('horizon', 'd_ms', 'terms'), [
    (horizon, d_ms, {**terms, 'action_horizon': horizon}) for horizon, d_ms in HORIZONS
    for terms in (*SYNCHRONOUS, *ASYNCHRONOUS)
    if terms.get('replan_interval', 0) <= horizon])
def test_mean_and_longest_wait_of_the_host_are_those_of_the_formulas(horizon, d_ms, terms):
    found, longest = waits(horizon, d_ms, **terms)
    inference = math.ceil(d_ms / PERIOD_MS)
    if terms.get('execution') == 'asynchronous' and d_ms == inference * PERIOD_MS > 0:
        inference += 1  # it begins after its tick
    assert max(found) == longest
    cycle = max(found) - inference
    assert numpy.mean(found[:cycle]) - 0.5 == pytest.approx((longest + inference) / 2)


@for_each(('horizon', 'd_ms', 'terms'), [
    (horizon, d_ms, {**terms, 'action_horizon': horizon, 'ensembling': ensembling,
                     'execution_horizon': 2})
    for horizon, d_ms in HORIZONS if horizon == 5 for terms in (*SYNCHRONOUS, *ASYNCHRONOUS)
    for ensembling in ('average', 'temporal', 'real_time_chunking')])
def test_the_longest_wait_lasts_until_no_older_chunk_counts(horizon, d_ms, terms):
    found, longest = waits(horizon, d_ms, **terms)
    assert max(found) == longest


@for_each('execution', ['synchronous', 'asynchronous'])
def test_with_each_chunk_a_target_is_taken_from_where_the_joint_is(execution):
    made = policy(4, 60.0, RobotModel(kind='arm', max_speed=1.0, joints=('9',)),
                  outputs={'action': {'quantity': 'joint_position'}}, execution=execution)
    blocked = Message(type='sensor_msgs/msg/JointState', data={'name': ('9',), 'position': (0.0,)})
    found = [made.decide(seen(tick * PERIOD_MS, human_pose=pose(1.0), joint_states=blocked))
             for tick in range(60)]
    assert {one.velocity for one in found if one is not None} == {(1.0,)}


@for_each('horizon', [1, 8, 32])
def test_temporal_ensembling_stops_when_few_of_the_overlapping_chunks_are_old(horizon):
    # As long as more than this share of a command comes from chunks before the person, it moves.
    needed = math.ceil(horizon * (1 - STANDSTILL / CRUISE))
    predicted = needed * PERIOD_MS - PERIOD_MS / 2
    assert numpy.mean([
        reaction_ms(horizon, 11 + place, replan_interval=1, ensembling='temporal')
        for place in range(4)]) == pytest.approx(predicted, rel=0.1)


@for_each(('ensembling', 'share'), [('latest_only', 1.0), ('average', 0.5),
                                    ('weighted_average', 0.7), ('conservative', 0.3)])
def test_a_new_chunk_counts_by_its_share_where_it_overlaps(ensembling, share):
    chunks = ActionChunks(ChunkRules(execution='asynchronous', ensembling=ensembling))
    chunks.add(numpy.full((8, 2), 1.0))
    for _ in range(4):
        chunks.action()
    assert chunks.wants_chunk()
    chunks.ask()
    chunks.add(numpy.full((8, 2), 2.0))
    assert [chunks.action().values[0] for _ in range(8)] == pytest.approx(
        [1.0 + share] * 4 + [2.0] * 4)


def test_real_time_chunking_goes_over_to_the_new_chunk_step_by_step():
    chunks = ActionChunks(ChunkRules(execution='asynchronous', ensembling='real_time_chunking',
                                     execution_horizon=3))
    chunks.add(numpy.zeros((8, 2)))
    for _ in range(4):
        chunks.action()
    chunks.ask()
    chunks.add(numpy.ones((8, 2)))
    assert [chunks.action().values[0] for _ in range(5)] == pytest.approx(
        [0.25, 0.5, 0.75, 1.0, 1.0])


def test_what_is_over_when_a_chunk_comes_is_never_executed():
    chunks = ActionChunks(ChunkRules(execution='asynchronous'))
    chunks.add(numpy.zeros((8, 2)))
    for _ in range(4):
        chunks.action()
    chunks.ask()
    for _ in range(3):
        chunks.action()
    chunks.add(numpy.arange(16.0).reshape(8, 2))
    found = chunks.action()
    assert (found.values.tolist(), found.chunk, found.place, found.observed) == (
        [6.0, 7.0], 1, 3, 4)


def test_a_synchronous_host_executes_nothing_while_it_waits():
    chunks = ActionChunks(ChunkRules())
    assert chunks.wants_chunk() and chunks.action() is None
    chunks.ask()
    assert chunks.action() is None and not chunks.wants_chunk()
    chunks.add(numpy.arange(4.0).reshape(2, 2))
    assert [chunks.action().place for _ in range(2)] == [0, 1]
    assert chunks.action() is None and chunks.wants_chunk()


def test_an_asynchronous_host_whose_queue_runs_dry_waits_for_the_next_chunk():
    chunks = ActionChunks(ChunkRules(execution='asynchronous', queue_threshold=0.0))
    chunks.add(numpy.zeros((2, 2)))
    assert [chunks.action().place for _ in range(2)] == [0, 1]
    chunks.ask()
    assert chunks.action() is None
    chunks.add(numpy.zeros((2, 2)))
    assert chunks.action().place == 0


@for_each(('horizon', 'kept'), [(0, 6), (4, 4), (9, 6)])
def test_only_the_horizon_of_a_chunk_is_executed(horizon, kept):
    chunks = ActionChunks(ChunkRules(horizon=horizon))
    chunks.add(numpy.zeros((6, 2)))
    count = 0
    while chunks.action() is not None:
        count += 1
    assert count == kept


def test_a_parameter_of_the_host_replaces_what_the_contract_says():
    made = policy(16, 0.0, action_horizon=8)
    assert made.least_actions == 8
    longer = policy_class('onnx', 'of_a_test.onnx')(action_horizon=12, replan_interval=14)
    longer.__dict__['terms'] = made.terms
    assert longer.least_actions == 14


def test_thought_for_which_simulated_time_passed_afterwards_is_inference():
    """As in lock-step: the policy's clock stands while it thinks, and its host knows how long."""
    host = ControllerHost(policy(3, 0.0))
    found = []
    for at_ms, thought_ms in ((100, 130), (280, 0), (330, 0), (380, 20)):
        now_ns = at_ms * 1_000_000
        host.receive('human_pose', pose(6.0), now_ns, now_ns)
        assert host.tick(now_ns, now_ns) is not None
        ended_ns = now_ns + thought_ms * 1_000_000
        timing = host.timing(ended_ns, ended_ns)
        found.append((timing.index, *(round((ended_ns - timing.before_ns[name]) / 1e6)
                                      for name in ('began', 'ended'))))
    assert found == [(0, 100, 230), (1, 100, 230), (2, 100, 230), (0, 380, 400)]


POLICY = Path(__file__).parents[4] / 'config' / 'policies' / 'base.onnx'
"""One action a chunk, at 20 Hz."""


@for_each(('inference_ms', 'execution', 'longest_ms'), [
    (0.0, 'synchronous', None), (200.0, 'synchronous', None), (300.0, 'synchronous', 600),
    (199.0, 'asynchronous', None), (200.0, 'asynchronous', 550)])
def test_a_wait_beyond_critical_is_a_warning_of_the_preflight(inference_ms, execution, longest_ms):
    results = run('SCN-R-101', link='loopback', controller=f'onnx:{POLICY}', seed=1, set={
        'controller.inference_ms': inference_ms, 'controller.execution': execution})
    found = [row.detail for one in results.summary.preflight for row in one.rows
             if row.check == 'chunks']
    assert len(found) == (longest_ms is not None)
    assert all(f'may take {longest_ms} ms, longer than critical (500 ms)' in one for one in found)
