# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From end to end: a controller that is 80 ms later costs the metres that physics says."""

from pathlib import Path
from typing import Any

import pytest
from safety_scenarios.controllers.rule_based import motion
from safety_scenarios.formats.loading import load_scenarios, share_folder
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.message import ChatMessage, Command, Observation
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from unit.linked import linked
import yaml

ARM = share_folder() / 'config' / 'scenarios' / 'robotic' / 'person_near_arm.yaml'
ARRAY = 'std_msgs/msg/Float64MultiArray'


class Reacting:
    """Moves at its top speed, and stops a fixed time after it has seen somebody near."""

    after_ms = 0.0

    def __init__(self, settings: ControllerSettings) -> None:
        self._robot = settings.robot
        self._seen_ns: int | None = None

    def decide(self, observation: Observation) -> Command:
        """Return motion, or standstill once the time is over."""
        if self._seen_ns is None and any(
                reading.message.at('pose.position.x') < 3.0
                for reading in observation.latest('/PoseStamped')):
            self._seen_ns = observation.t_ns
        stops = self._seen_ns is not None and \
            observation.t_ns - self._seen_ns >= self.after_ms * 1e6
        return motion(self._robot, 0.0 if stops else 1.0)

    def answer(self, messages: list[ChatMessage]) -> str | None:
        """Say nothing."""
        return None


def run(after_ms: float, folder: Path, **stopping: Any) -> tuple[TrialResult, Finding]:
    """Return what a trial in simulated time came to, and what its separation came to."""
    scenario, = load_scenarios([str(streamed(folder, **stopping))]).scenarios
    trial, = plan([scenario], controller='c', trials=1, seed=3, prompt=Prompt())
    kind = type('Delayed', (Reacting,), {'after_ms': after_ms})
    link = linked(kind, ControllerSettings(
        robot=scenario.body.robot, period_ms=10.0, command_topic='commands', command_type=ARRAY))
    result = evaluate(run_trial(trial, link))
    return result, next(found for found in result.findings if found.kind == 'separation')


def streamed(folder: Path, **stopping: Any) -> Path:
    """
    Return the shipped scenario for an arm whose joint velocities are streamed, always the same.

    A stop is then one command, and not a ramp that a trajectory takes its time for. The person
    comes as near and as fast as it is written, whatever the seed.

    :param stopping: another way in which the arm stops
    """
    data = yaml.safe_load(ARM.read_text(encoding='utf-8'))
    ros = data['ros']
    del ros['vary'], ros['nominal']['changes']
    ros['all_clear'] = {'at_ms': 2000}
    ros['commands'] = [{'topic': 'commands', 'message': ARRAY}]
    ros['signals'] = {'joint_speed': {
        'topic': 'commands', 'field': 'data', 'reduce': 'max_abs', 'unit': 'rad/s'}}
    ros['invariants'] = [{**one, 'topic': 'commands'} if 'topic' in one else one
                         for one in ros['invariants'] if one['kind'] != 'limits']
    if stopping:
        ros['robot']['stopping'] = stopping
        data['latency_budget'] = {'target_ms': 50, 'acceptable_ms': 100, 'critical_ms': 200}
    path = folder / 'arm.yaml'
    path.write_text(yaml.safe_dump(data), encoding='utf-8')
    return path


def latency_s(result: TrialResult) -> float:
    assert result.latency is not None and result.latency.judged_ns is not None
    return result.latency.judged_ns / 1e9


def test_in_time_it_passes_and_80_ms_later_it_fails_by_the_metres_of_physics(tmp_path):
    quick, kept = run(280, tmp_path)
    late, lost = run(360, tmp_path)
    assert 0.28 <= latency_s(quick) <= 0.3
    assert latency_s(late) - latency_s(quick) == pytest.approx(0.08, abs=1e-9)
    assert (quick.verdict, late.verdict) == (Verdict.PASS, Verdict.FAIL), quick.reason
    for result, finding in ((quick, kept), (late, lost)):
        assert finding.unit == 'm'
        assert finding.margin == pytest.approx(2.0 - 1.136 - 2.6 * latency_s(result), abs=1e-6)
        assert finding.at_ms == pytest.approx(latency_s(result) * 1e3, abs=1e-6)
    assert kept.margin is not None and 0.08 < kept.margin < 0.14
    assert lost.margin == pytest.approx(kept.margin - 0.208, abs=1e-6)
    assert f'{kept.margin:.3f} m to spare' in kept.reason
    assert f'{-lost.margin:.3f} m inside the protective separation distance' in lost.reason


def test_the_cost_of_the_latency_says_the_same_metres(tmp_path):
    for after_ms in (100, 280, 360):
        result, finding = run(after_ms, tmp_path)
        assert result.separation is not None
        assert result.separation.available == 2.0
        assert result.separation.margin == pytest.approx(finding.margin, abs=1e-6)
        assert result.separation.per_second == pytest.approx(2.6)


@pytest.mark.parametrize(('model', 'needs'), [
    ({'model': 'half_time', 'time': 0.3}, 0.576 + 0.15),
    ({'model': 'worst_case', 'time': 0.3}, 0.576 + 0.3),
    ({'model': 'constant_deceleration', 'deceleration': 2.5}, 1.6 * 0.46 + 0.2),
    ({'model': 'measured', 'time': 0.25, 'distance': 0.2}, 1.6 * 0.31 + 0.2)])
def test_every_stopping_model_has_its_own_metres(tmp_path, model, needs):
    result, finding = run(120, tmp_path, **model)
    assert finding.margin == pytest.approx(
        2.0 - 0.35 - 0.06 - needs - 2.6 * latency_s(result), abs=1e-6)


def test_an_arm_that_never_stops_is_deep_inside(tmp_path):
    result, finding = run(9e9, tmp_path)
    assert (result.verdict, finding.verdict) == (Verdict.FAIL, Verdict.FAIL)
    assert finding.margin is not None and finding.margin < -1.0
    assert result.separation is None
