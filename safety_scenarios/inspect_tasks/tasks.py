# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The shipped sets in words as tasks: ``inspect eval safety_scenarios/clinical --model NAME``.

Each sample is one trial over the in-process link: the harness publishes, Inspect's model is the
controller, and what is judged is the record of the trial, by the same code as in a campaign.
Scores are the verdict and what the findings of each part come to. Trials run one at a time,
because answers are timed.
"""

import asyncio
from collections.abc import Mapping
import json
from typing import Any

import anyio
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, get_model, ModelOutput
from inspect_ai.scorer import (
    accuracy,
    Metric,
    metric,
    SampleScore,
    Score,
    Scorer,
    scorer,
    stderr,
    Target,
)
from inspect_ai.solver import Generate, Solver, solver, TaskState
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.loading import load_scenarios, share_folder
from safety_scenarios.from_python import run
from safety_scenarios.inspect_tasks.model import InspectModel, messages_of, sent_to
from safety_scenarios.reports.outputs.inspect_log import conversation, score_of, scores_of, VERDICT
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.trial import TrialRecord

_RESULT = 'safety_scenarios:result'
"""Key of the trial's result in a sample's store."""
_PARTS = {'reaction': frozenset(('latency',)), 'checks': frozenset(('invariant', 'rule'))}
"""Score to the sources of the findings that it is the worst of."""
_LONGEST_NAME = 500


@task
def clinical(words: str = 'judge', seed: int = 0, settings: dict[str, Any] | None = None) -> Task:
    """Answers of a bedside assistant."""
    return _task(_shipped('clinical'), words, seed, settings)


@task
def agents(words: str = 'judge', seed: int = 0, settings: dict[str, Any] | None = None) -> Task:
    """A robot that is spoken to while it drives, and that has tools."""
    return _task(_shipped('agents'), words, seed, settings)


@task
def scenarios(files: str, words: str = 'judge', seed: int = 0,
              settings: dict[str, Any] | None = None) -> Task:
    """Any scenarios in words: a file, a folder, an id, or several with commas between them."""
    return _task(files, words, seed, settings)


def _shipped(folder: str) -> str:
    """Return a folder of scenarios that come with the package, whatever the current folder has."""
    return str(share_folder() / 'config' / 'scenarios' / folder)


def _task(files: str, words: str, seed: int, settings: dict[str, Any] | None) -> Task:
    """
    Return the task of some scenarios.

    :param words: who reads what was said: judge or patterns
    :param settings: further settings of ``safety-scenarios run`` by their dotted names
    """
    found = load_scenarios(files.split(',')).scenarios
    spoken = [one for one in found if one.body.is_in_words]
    if not spoken:
        raise SettingsError(f'files: got {len(found)} scenarios of {files}, none of which is in '
                            f'words, expected at least one. Run robots by safety-scenarios run')
    return Task(
        dataset=MemoryDataset([_sample(one) for one in spoken], name=files),
        solver=play(files, words, seed, settings or {}),
        scorer=[verdict(), reaction(), checks()])


def _sample(scenario: Scenario) -> Sample:
    asked: str | list[ChatMessage] = scenario.description
    if scenario.messages:
        asked = messages_of([one.model_dump() for one in scenario.messages])
    origin = scenario.origin
    return Sample(id=scenario.id, input=asked, target=scenario.expected_action or '', metadata={
        'file': '' if origin is None else origin.path,
        'sha256': '' if origin is None else origin.sha256})


@solver
def play(files: str, words: str, seed: int, settings: Mapping[str, Any]) -> Solver:
    """Run the trial of a sample with the model that is evaluated as the controller."""
    known = {one.id: one for one in load_scenarios(files.split(',')).scenarios}
    ones: dict[asyncio.AbstractEventLoop, anyio.Lock] = {}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        controller = InspectModel(model=str(model)[:_LONGEST_NAME])
        kept = _Kept()
        scenario = known[str(state.sample_id)]
        async with ones.setdefault(asyncio.get_running_loop(), anyio.Lock()):
            with sent_to(model) as requests:
                await anyio.to_thread.run_sync(lambda: run(
                    scenario, controller=controller, isolate=False, link='loopback', words=words,
                    seed=seed + state.epoch - 1, trials=1, outputs=(), observers=(kept,),
                    set=dict(settings)))
        if requests.error is not None:
            raise requests.error  # no answer that Inspect could not get counts against the model
        for message in conversation(kept.record) if kept.record else ():
            if message['role'] == 'assistant':
                state.messages.append(ChatMessageAssistant(content=message['content']))
                state.output = ModelOutput.from_content(str(model), message['content'])
        if kept.result is not None:
            state.store.set(_RESULT, kept.result.model_dump(mode='json'))
        return state
    return solve


class _Kept(Observer):
    """Keeps the one trial."""

    reads_events = False

    def __init__(self) -> None:
        self.record: TrialRecord | None = None
        self.result: TrialResult | None = None

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Keep what the trial came to, but for warm-up."""
        if not result.warmup:
            self.record, self.result = record, result


def _result(state: TaskState) -> TrialResult | None:
    data = state.store.get(_RESULT)
    return None if data is None else TrialResult.model_validate_json(json.dumps(data))


@metric
def decided() -> Metric:
    """Return the share of samples with a verdict of PASS or FAIL."""
    def compute(scores: list[SampleScore]) -> float:
        told = [(one.score.metadata or {}).get('verdict') for one in scores]
        return sum(one in (Verdict.PASS.value, Verdict.FAIL.value) for one in told) \
            / len(told) if told else 0.0
    return compute


@scorer(metrics=[accuracy(), stderr(), decided()])
def verdict() -> Scorer:
    """Score C for PASS, I for FAIL, N for what could not be judged."""
    async def score(state: TaskState, target: Target) -> Score:
        result = _result(state)
        if result is None:
            return Score(value='N', explanation='ERROR: the trial has no result',
                         metadata={'verdict': Verdict.ERROR.value})
        found = scores_of(result, state.output.completion)
        return Score(**{**found.pop(VERDICT), 'metadata': {
            'verdict': result.verdict.value, 'trial_id': result.trial_id, 'seed': result.seed,
            'checks': {name: one['explanation'] for name, one in found.items()}}})
    return score


@scorer(metrics=[accuracy()])
def reaction() -> Scorer:
    """Score whether the reaction came within the budget."""
    return _part('reaction')


@scorer(metrics=[accuracy()])
def checks() -> Scorer:
    """Score whether the scenario's own checks and rules held."""
    return _part('checks')


def _part(name: str) -> Scorer:
    """Return the scorer of the worst finding of some sources; of none at all it is unscored."""
    async def score(state: TaskState, target: Target) -> Score:
        result = _result(state)
        found = [one for one in (result.findings if result else ())
                 if one.source in _PARTS[name] and one.verdict is not None]
        worst = max((one.verdict for one in found if one.verdict is not None),
                    key=lambda one: one.rank, default=None)
        return Score(**score_of(worst, '\n'.join(
            f'{one.verdict.value} {one.check}: {one.reason}' for one in found
            if one.verdict is not None) or 'no such check'))
    return score
