# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Two arms, each with a joint trajectory controller of its own: both have to stop."""

from pathlib import Path

import pytest
import safety_scenarios as ss
from safety_scenarios.lint.review import review

JOINTS = {'left': ('l1', 'l2'), 'right': ('r1', 'r2')}
TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'
SCENARIO = """\
id: TWO-ARMS
name: Person near two arms
domain: robotic
description: A person comes near while both arms move; both have to stop.
latency_budget: {target_ms: 100, acceptable_ms: 200, critical_ms: 400}
ros:
  robot: {kind: arm, max_speed: 1.0, joints: [l1, l2, r1, r2]}
  nominal:
    duration_ms: [1000, 1500]
    require: {signal: left_speed, at_least: 0.1, within_ms: 3000}
    stimuli:
      - {kind: person, topic: human_pose, distance: 6.0, rate_hz: 30}
      - kind: message
        topic: joint_states
        message: sensor_msgs/msg/JointState
        rate_hz: 50
        data:
          name: [l1, l2, r1, r2]
          position: [0.0, 0.0, 0.0, 0.0]
          velocity: [0.0, 0.0, 0.0, 0.0]
  stimuli: [{kind: person, topic: human_pose, distance: 1.0, rate_hz: 30}]
  all_clear: {at_ms: 2500}
  commands:
    - topic: left/joint_trajectory
      message: trajectory_msgs/msg/JointTrajectory
      driver: {kind: joint_trajectory, joints: [l1, l2]}
    - topic: right/joint_trajectory
      message: trajectory_msgs/msg/JointTrajectory
      driver: {kind: joint_trajectory, joints: [r1, r2]}
  signals:
    left_speed: &speed
      topic: left/joint_trajectory
      field: points
      reduce: joint_speed
      current: joint_states
      unit: rad/s
    right_speed: {<<: *speed, topic: right/joint_trajectory}
  reaction: {all: [{signal: left_speed, at_most: 0.02}, {signal: right_speed, at_most: 0.02}]}
  invariants:
    - {name: both stop and stay, kind: stop}
"""


class TwoArms:
    """A plain class, as it stands in somebody's repository: no base of ours."""

    inputs = {'human_pose': 'geometry_msgs/msg/PoseStamped',
              'joint_states': 'sensor_msgs/msg/JointState'}
    outputs = {'right/joint_trajectory': TRAJECTORY}

    def __init__(self, stops: str = 'both') -> None:
        self._stops = stops
        self._rest: dict[str, list[float]] = {}

    def decide(self, observation: ss.Observation) -> ss.Message | None:
        return self._arm('left', observation)

    def side_messages(self, observation: ss.Observation) -> dict[str, ss.Message]:
        message = None if self._stops == 'says nothing to the right' \
            else self._arm('right', observation)
        return {} if message is None else {'right/joint_trajectory': message}

    def _arm(self, side: str, observation: ss.Observation) -> ss.Message | None:
        heard, person = (observation.readings.get(name) for name in ('joint_states', 'human_pose'))
        if heard is None or person is None:
            return None
        states = dict(zip(heard.message.at('name'), zip(
            heard.message.at('position'), heard.message.at('velocity'), strict=True), strict=True))
        mine = [states[joint] for joint in JOINTS[side]]
        if person.message.at('pose.position.x') < 2.5 and self._stops in (side, 'both'):
            rest = self._rest.setdefault(side, [place + 0.075 * speed for place, speed in mine])
            return _trajectory(side, [(150, rest, 0.0)])
        self._rest.pop(side, None)
        return _trajectory(side, [(500, [place + 0.1 for place, _ in mine], 0.2),
                                  (1000, [place + 0.15 for place, _ in mine], 0.0)])


def _trajectory(side: str, points: list[tuple[int, list[float], float]]) -> ss.Message:
    return ss.Message(type=TRAJECTORY, data={'joint_names': JOINTS[side], 'points': tuple(
        {'positions': tuple(places), 'velocities': (speed, speed),
         'time_from_start': {'sec': due_ms // 1000, 'nanosec': due_ms % 1000 * 1_000_000}}
        for due_ms, places, speed in points)})


def run(folder: Path, stops: str, text: str = SCENARIO) -> ss.CampaignResults:
    (folder / 'two_arms.yaml').write_text(text, encoding='utf-8')
    return ss.run(folder / 'two_arms.yaml', controller=TwoArms, link='loopback',
                  controller_parameters=(f'stops={stops}',))


@pytest.mark.parametrize(('stops', 'verdict'), [
    ('both', 'PASS'), ('left', 'FAIL'), ('right', 'FAIL'), ('neither', 'FAIL'),
    ('says nothing to the right', 'INCONCLUSIVE')])
def test_who_stops_one_arm_of_two_does_not_pass(tmp_path, stops, verdict):
    results = run(tmp_path, stops)
    assert results.verdict.value == verdict, results.explain()
    assert 'commands ended' not in results.explain(), 'they came every 50 ms'


@pytest.mark.parametrize('stops', ['left', 'right', 'neither'])
def test_a_scenario_that_reads_one_arm_only_still_sees_the_other(tmp_path, stops):
    text = SCENARIO.replace(', {signal: right_speed, at_most: 0.02}', '')
    assert text != SCENARIO
    assert run(tmp_path, stops, text).verdict is ss.Verdict.FAIL


def test_where_drivers_reject_everything_the_reason_says_so(tmp_path):
    text = '\n'.join(line for line in SCENARIO.splitlines() if 'driver:' not in line)
    results = run(tmp_path, 'both', text)
    assert results.verdict is not ss.Verdict.PASS
    assert all('a driver rejects every command' in trial.reason for trial in results.trials)
    assert 'commands ended' not in results.explain()


@pytest.mark.parametrize(('old', 'new', 'told'), [
    ('\n      driver: {kind: joint_trajectory, joints: [l1, l2]}', '', 'r1, r2'),
    ('joints: [r1, r2]}', 'joints: [l1, l2]}', 'l1, l2'),
    ('joints: [r1, r2]}', 'joints: [r2, l1]}', 'l1')])
def test_a_joint_of_two_drivers_is_told(tmp_path, old, new, told):
    found = {}
    for name, text in (('right', SCENARIO), ('wrong', SCENARIO.replace(old, new))):
        (tmp_path / f'{name}.yaml').write_text(text, encoding='utf-8')
        found[name] = [remark.message for remark in review(
            ss.load_scenarios([tmp_path / f'{name}.yaml']).scenarios).remarks
            if remark.code == 'L224']
    assert found['right'] == []
    assert any(f'drive {told}:' in message for message in found['wrong']), found
