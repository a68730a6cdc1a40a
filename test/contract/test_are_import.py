# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
ARE itself imports, runs, exports and judges our traces: portable ones stock, robot ones with ours.

Its judge has no tolerance here and a language model that must not be asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
import importlib.util
import json
import os
from pathlib import Path
import subprocess
from typing import Any

from contract.are_traces import traces
from examples import FEW
import pytest
from safety_scenarios.are.traces.kept_events import PROFILES
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict

pytestmark = pytest.mark.environment
SCRIPT = Path(__file__).with_name('are_import.py')
ROOT = Path(__file__).resolve().parents[2]
CONTROLLERS = ('rule_based', 'always_stop', 'never_stop',
               *(() if FEW else ('late', 'spurious_stop')))
NEEDED = ('click', 're2', 'rich', 'yaml')
"""What our package needs and ARE's environment here has not."""
US = 1e-6
AGENTS = (str(ROOT / 'test' / 'data' / 'agents' / 'greeting.yaml'),
          *(str(ROOT / 'config' / 'scenarios' / 'agents' / f'{name}.yaml')
            for name in ('hand_over', 'maintenance_lock_out', 'resume_too_early', 'lost_child')))


def ran(python: Path, *arguments: str | Path) -> 'subprocess.CompletedProcess[str]':
    """Run the script in ARE's environment, which knows our package from the working copy only."""
    environment = {**os.environ, 'HF_HUB_OFFLINE': '1', 'LITELLM_LOCAL_MODEL_COST_MAP': 'True',
                   'PYTHONPATH': str(ROOT)}
    return subprocess.run([python, SCRIPT, *arguments], env=environment, text=True, timeout=300,
                          capture_output=True, check=False)


def our_needs() -> list[str]:
    """Return the folders of what our package needs and ARE's environment has not."""
    specs = (importlib.util.find_spec(name) for name in NEEDED)
    return sorted({str(Path(spec.origin).parents[bool(spec.submodule_search_locations)])
                   for spec in specs if spec and spec.origin})


@dataclass(frozen=True)
class Written:
    """What was run once, with its traces in both profiles: what is shipped, and with agents."""

    folders: dict[str, Path]
    shipped: dict[str, TrialResult]
    of_agents: dict[str, TrialResult]


@pytest.fixture(scope='module')
def written(tmp_path_factory) -> Written:
    folders = {profile: tmp_path_factory.mktemp(profile) for profile in PROFILES}
    return Written(folders, traces(folders, CONTROLLERS),
                   traces(folders, ('rule_based', 'never_stop'), AGENTS))


Told = list[tuple[TrialResult, dict[str, Any]]]
"""What each trial came to here, and what ARE made of its trace."""


@pytest.fixture(scope='module', params=PROFILES)
def told(request, are_python, written) -> tuple[Told, Told]:
    """Ask ARE once for all traces of a profile: it takes seconds to be imported."""
    folder, results = written.folders[request.param], {**written.shipped, **written.of_agents}
    assert len(results) == len(written.shipped) + len(written.of_agents)
    first: Sequence[str] = ['--robot', *our_needs(), '--'] if request.param == 'robot' else []
    paths = [folder / name for name in results]
    done = ran(are_python, *first, *paths)
    assert done.returncode == 0, done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]
    assert [one['path'] for one in said] == [str(path) for path in paths]
    both = list(zip(results.values(), said, strict=True))
    return both[:len(written.shipped)], both[len(written.shipped):]


@pytest.fixture(scope='module')
def judged(told) -> Told:
    """Return those of what is shipped."""
    assert len(told[0]) >= (4 if FEW else 18) * len(CONTROLLERS)
    return told[0]


@pytest.fixture(scope='module')
def of_agents(told) -> Told:
    """Return those with agents: a greeting, and what is shipped, with tools."""
    assert len(told[1]) >= 2 * len(AGENTS)
    return told[1]


def test_every_trace_is_loaded_both_ways_with_all_events_and_not_a_word_of_complaint(judged):
    for _, said in judged:
        trace = json.loads(Path(said['path']).read_text(encoding='utf-8'))
        assert said['warnings'] == []
        assert said['events'] == [
            [event['event_id'], event['event_type'], event['event_time']]
            for event in trace['completed_events']]
        assert said['benchmark_events'] == len(trace['completed_events']) >= 2
        assert said['scenario_id'] == said['benchmark_id']
        assert said['logs'] == len(trace['world_logs'])
        assert said['tags'] == ['Safety', 'Time']


def test_are_s_own_export_of_a_trace_keeps_every_event(judged):
    assert all(said['kept'] for _, said in judged)


def test_the_completed_events_that_are_exports_are_those_that_it_imported(judged, of_agents):
    assert all(said['fixpoint'] for _, said in (*judged, *of_agents))
    assert all(said['planned_kept'] for _, said in (*judged, *of_agents))


def test_the_scenario_runs_as_it_is_scheduled(judged):
    for _, said in judged:
        trace = json.loads(Path(said['path']).read_text(encoding='utf-8'))
        at_s, wanted = 0.0, []
        for event in trace['events']:
            at_s += event['event_relative_time']
            wanted.append((event['event_id'], at_s))
        assert [event_id for event_id, _ in said['ran']] == [event_id for event_id, _ in wanted]
        for (_, found_s), (_, wanted_s) in zip(said['ran'], wanted, strict=True):
            assert abs(found_s - wanted_s) < US


def test_are_s_judge_passes_a_trial_if_and_only_if_we_do(judged):
    """With no tolerance, and with its own 25 s; and it asks no language model."""
    for result, said in judged:
        score = float(result.verdict is Verdict.PASS)
        assert said['judged'] == [score, score], (result.trial_id, result.reason)
    verdicts = {(result.verdict, result.is_benign) for result, _ in judged}
    assert verdicts >= {(Verdict.PASS, True), (Verdict.PASS, False), (Verdict.FAIL, True),
                        (Verdict.FAIL, False), (Verdict.INCONCLUSIVE, False)}


def test_a_reaction_at_the_limit_passes_and_one_a_millisecond_later_fails(judged):
    shifted = [said['shifted'] for result, said in judged
               if said['limit_s'] is not None and result.verdict is Verdict.PASS]
    assert len(shifted) >= (5 if FEW else 10)
    assert all(scores == [1.0, 0.0] for scores in shifted)


def test_the_status_that_are_shows_is_the_verdict(judged):
    wanted = {Verdict.PASS: 'Valid', Verdict.FAIL: 'Invalid'}
    for result, said in judged:
        assert said['status'] == wanted.get(result.verdict, 'AwaitingReview')


def test_agents_tools_and_rules_are_loaded_without_a_word_of_complaint(of_agents):
    for _, said in of_agents:
        trace = json.loads(Path(said['path']).read_text(encoding='utf-8'))
        assert said['warnings'] == []
        assert said['events'] == [[event['event_id'], event['event_type'], event['event_time']]
                                  for event in trace['completed_events']]
        assert said['benchmark_events'] == len(trace['completed_events'])
        assert said['logs'] == len(trace['world_logs'])
    names = [name for _, said in of_agents for name, _, _ in said['events']]
    assert any(name.startswith('rule0.fired0') for name in names)
    assert any(name.startswith('rule0.decided0') for name in names) and 'expect0' in names


def test_are_s_own_export_keeps_every_event_time_and_dependency_of_agents(of_agents):
    for _, said in of_agents:
        trace = json.loads(Path(said['path']).read_text(encoding='utf-8'))
        assert said['kept'] and said['chain_kept']
        assert [one[:4] for one in said['chain']] == sorted(
            [event['event_id'], event['event_type'], event['event_relative_time'],
             event['dependencies']] for event in trace['events'])


def test_the_script_runs_and_what_is_expected_comes_at_its_limit(of_agents):
    for _, said in of_agents:
        trace = json.loads(Path(said['path']).read_text(encoding='utf-8'))
        due_s = {}
        for event in trace['events']:
            due_s[event['event_id']] = event['event_relative_time'] + sum(
                due_s[name] for name in event['dependencies'])
        assert {name for name, _ in said['ran']} == set(due_s)
        for name, at_s in said['ran']:
            assert abs(at_s - due_s[name]) < US


def test_are_s_judge_passes_agents_if_and_only_if_we_do(of_agents):
    """With no tolerance, and with its own 25 s; and of a PASS it asks no language model."""
    for result, said in of_agents:
        if result.verdict is Verdict.PASS:
            assert said['judged'] == [1.0, 1.0], (result.trial_id, said['judged'])
        else:
            assert 1.0 not in said['judged'], (result.trial_id, result.reason)
    assert {result.verdict for result, _ in of_agents} >= {Verdict.PASS, Verdict.FAIL}


def test_stock_are_refuses_the_robot_profile(are_python, written):
    """That is why it is not the default."""
    done = ran(are_python, written.folders['robot'] / next(iter(written.shipped)))
    assert done.returncode != 0 and 'RobotApp' in done.stderr
