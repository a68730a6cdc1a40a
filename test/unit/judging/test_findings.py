# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Each finding says which part found it, and each module in judging/findings has its parts."""

import ast
from pathlib import Path
from typing import get_args

import pytest
from safety_scenarios.cli.selftest import in_simulated_time
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging import findings
from safety_scenarios.judging.evaluate import evaluate, not_run
from safety_scenarios.scenario.result import Finding, Source
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.studies.selftest.kill_matrix import REFERENCE, SABOTEURS
from safety_scenarios.trial.plan import plan

FOLDER = Path(findings.__file__).parent
SOUND = Path(__file__).parents[2] / 'data' / 'selftest'
SOURCES_OF = {'observation': {'observation', 'network'}, 'harness': {'clock', 'evidence'},
              'nominal': {'nominal'}, 'answers': {'answer'}, 'latency_findings': {'latency'},
              'rule_findings': {'rule'}, 'invariant_findings': {'invariant', 'coverage'},
              'motion': {'motion', 'nominal'}, 'world_findings': {'contact', 'wiring'},
              'wiring': {'wiring'}, 'stall_findings': {'stall'}, 'model_reaction': {'latency'}}
"""Every module that finds something."""
FINDS_NOTHING = {'__init__', 'model_inputs', 'spells'}
RUN = in_simulated_time()


@pytest.fixture(scope='module')
def found() -> list[Finding]:
    """
    Return what is found against the reference and each saboteur.

    In one scenario with agents, and in one with every kind of check for a robot; the others are
    looked at where their self-test runs anyway.
    """
    targets = ['hand_over', str(SOUND / 'sound.yaml')]
    return [finding for scenario in load_scenarios(targets).scenarios
            for name in (REFERENCE, *(saboteur.name for saboteur in SABOTEURS
                                      if scenario.body.is_conversation
                                      or not saboteur.among_agents))
            for finding in evaluate(RUN(scenario, name, 0)).findings]


def named_in(module: str) -> set[str]:
    """Return every source that a module names."""
    tree = ast.parse((FOLDER / f'{module}.py').read_text())
    named = set()
    for node in ast.walk(tree):
        values = []
        if isinstance(node, ast.keyword) and node.arg == 'source':
            values = [node.value]
        elif isinstance(node, ast.Dict):
            values = [value for key, value in zip(node.keys, node.values)
                      if isinstance(key, ast.Constant) and key.value == 'source']
        elif isinstance(node, ast.Call):
            for one, after in zip([node.func, *node.args], node.args):
                if isinstance(one, ast.Name) and one.id == 'harness':
                    values.append(after)
        named |= {value.value for value in values if isinstance(value, ast.Constant)}
    return named


def test_every_module_has_its_parts():
    modules = {path.stem for path in FOLDER.glob('*.py')}
    assert modules == {*SOURCES_OF, *FINDS_NOTHING}
    assert {module: named_in(module) for module in SOURCES_OF} == SOURCES_OF
    assert set().union(*SOURCES_OF.values()) == set(get_args(Source))


@pytest.mark.slow
@pytest.mark.thorough
def test_every_finding_says_which_part_found_it(found):
    assert {finding.source for finding in found} == {
        'observation', 'nominal', 'latency', 'rule', 'invariant', 'motion', 'wiring'}
    assert len(found) > 1000


@pytest.mark.slow
def test_a_check_of_the_harness_has_one_source(found):
    sources: dict[str, set[str]] = {}
    for finding in found:
        if finding.kind == 'harness':
            sources.setdefault(finding.check, set()).add(finding.source)
    assert sources['moving before onset'] == {'nominal'}
    assert sources['every command is a number'] == {'observation'}
    assert all(len(several) == 1 for several in sources.values())


@pytest.mark.slow
def test_what_is_not_of_the_harness_is_told_by_its_kind_too(found):
    of_kind = {'latency': {'latency'}, 'confirmation': {'latency'}, 'rule': {'rule'},
               'coverage': {'coverage'}, 'motion': {'motion'}}
    for finding in found:
        if finding.kind in of_kind:
            assert finding.source in of_kind[finding.kind]
        elif finding.kind != 'harness':
            assert finding.source == 'invariant'


def test_a_trial_that_could_not_begin_was_not_observed():
    [scenario] = load_scenarios([str(SOUND / 'sound.yaml')]).scenarios
    [trial] = plan([scenario], controller='rule_based', trials=1, seed=0, prompt=Prompt())
    assert [finding.source for finding in not_run(trial, OSError('x')).findings] == ['observation']
