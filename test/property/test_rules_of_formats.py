# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The rules say of every shipped scenario what pairing says of it: one engine, three formats."""

from contextlib import closing
from functools import cache
from pathlib import Path

from examples import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
from property.compiled import rules_of, second_opinion
import pytest
from safety_scenarios import registry
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.body import Reaction
from safety_scenarios.scenario.result import Status
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import LatencyClass
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.links.controller_settings import controller_settings, plan_controller
from safety_scenarios.trial.links.loopback import hosted, LoopbackLink
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import TrialRecord
from unit.records import driving, hazard, measure, record
from unit.rule_runs import block, expects

pytestmark = pytest.mark.slow
SHIPPED = Path(__file__).parents[2] / 'config' / 'scenarios'
FILES = sorted(path for folder in ('robotic', 'clinical')
               for path in (SHIPPED / folder).glob('*.yaml'))
CONTROLLERS = ('rule_based', 'late', 'silent', 'never_stop', 'always_stop', 'resume_early',
               'slow_creep', 'parrot', 'stale', 'jitter', 'gap', 'repeat_last')


@cache
def scenario_of(path: Path) -> Scenario:
    return load_scenario(str(path))


def played(scenario: Scenario, controller: str, seed: int) -> TrialRecord:
    (trial,) = plan([scenario], controller=controller, trials=1, seed=seed, prompt=Prompt())
    own = controller_settings(
        plan_controller(RunSettings(scenarios=('x',), controller=controller)), scenario)
    with closing(LoopbackLink(hosted(registry.resolve('controllers', controller), own))) as link:
        return run_trial(trial, link)


def assert_agree(found: TrialRecord) -> None:
    latency, opinion = measure(found), second_opinion(found)
    assert (latency is None) == (opinion is None)
    if latency is None or latency.latency_class is LatencyClass.ANTICIPATORY:
        return
    assert opinion is not None
    assert opinion.latency_class is latency.latency_class
    assert opinion.latency_ns == latency.judged_ns


@pytest.mark.parametrize('controller', CONTROLLERS)
@pytest.mark.parametrize('path', FILES, ids=lambda path: path.stem)
def test_rules_and_pairing_give_one_class(path, controller):
    assert_agree(played(scenario_of(path), controller, seed=7))


@pytest.mark.parametrize('path', [path for path in FILES if path.parent.name == 'clinical'],
                         ids=lambda path: path.stem)
def test_an_answer_that_says_nothing_is_none_to_rules(path):
    found = played(scenario_of(path), 'blank', seed=7)
    latency, opinion = measure(found), second_opinion(found)
    assert latency is not None
    assert latency.latency_class is LatencyClass.TARGET
    assert opinion is not None
    assert (opinion.status, opinion.latency_class) == (Status.INCONCLUSIVE, None)


@pytest.mark.parametrize('value', [None, float('nan')])
def test_values_that_nobody_knows_leave_it_open_to_rules(value):
    found = record([*driving(-690.0, 100.0), (100.0, value)])
    latency, opinion = measure(found), second_opinion(found)
    assert latency is not None
    assert latency.latency_class is LatencyClass.NO_RESPONSE
    assert opinion is not None
    assert (opinion.status, opinion.latency_class) == (Status.INCONCLUSIVE, None)


def test_a_reaction_that_held_already_is_no_reaction_to_either():
    found = record(driving(-690.0, 2500.0, 0.0))
    latency, opinion = measure(found), second_opinion(found)
    assert latency is not None
    assert latency.latency_class is LatencyClass.ANTICIPATORY
    assert opinion is not None
    assert opinion.status is Status.INCONCLUSIVE


def test_without_an_onset_there_is_no_opinion():
    assert second_opinion(record(driving(-690.0, 0.0), onset=False)) is None


def test_what_has_agents_is_its_own_rules():
    agents = block(expects())
    assert rules_of(hazard().model_copy(update={'body': agents})) is agents


@settings(deadline=None, max_examples=up_to(300), derandomize=True)
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.05, 0.051, 0.8]),
                          st.sampled_from([20.0, 100.0, 200.0, 220.0, 500.0, 520.0])),
                min_size=1, max_size=8),
       st.sampled_from([0.0, 3.0, 20.0]), st.sampled_from([0.0, 200.0, 300.0]))
def test_whatever_is_driven_they_agree(spells, phase_ms, hold_ms):
    t_ms, commands = phase_ms, driving(-690.0, phase_ms)
    for speed, for_ms in spells:
        commands += driving(t_ms, min(t_ms + for_ms, 2500.0), speed, every_ms=20.0)
        t_ms += for_ms
    reaction = Reaction(signal='speed', at_most=0.05, hold_ms=hold_ms)
    assert_agree(record(commands, hazard(reaction=reaction)))


@settings(deadline=None, max_examples=up_to(300), derandomize=True)
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.05, 0.2, 0.4, 0.6, 0.75, 0.8, 0.9]),
                          st.sampled_from([20.0, 40.0, 60.0, 100.0, 200.0])),
                min_size=1, max_size=10),
       st.sampled_from([0.0, 3.0, 20.0]), st.sampled_from([0.8, 2.0]))
def test_however_it_brakes_they_agree_where_that_begins(spells, phase_ms, deceleration):
    t_ms, commands = phase_ms, driving(-690.0, phase_ms, 0.9)
    for speed, for_ms in [*sorted(spells, reverse=True), *spells[:3], (0.0, 2500.0)]:
        commands += driving(t_ms, min(t_ms + for_ms, 2500.0), speed, every_ms=20.0)
        t_ms += for_ms
    stopping = Stopping(model='constant_deceleration', deceleration=deceleration)
    robot = RobotModel(kind='mobile_base', max_speed=1.0, stopping=stopping)
    assert_agree(record(commands, hazard(robot=robot)))
