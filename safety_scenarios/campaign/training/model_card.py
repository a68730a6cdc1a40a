# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The model card of a policy: what it was trained with, how it does, and what it cannot do."""

from collections.abc import Iterator, Mapping, Sequence, Set
import hashlib
from typing import NamedTuple

from safety_scenarios.campaign.run import run
from safety_scenarios.campaign.training.imitation import (
    FIRST_TRIAL_SEED,
    LINKS,
    QUICK,
    Tell,
    Trained,
)
from safety_scenarios.controllers.policies.contract import PolicyContract
from safety_scenarios.errors import counted
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.summary import CampaignSummary, Rate, ScenarioSummary
from safety_scenarios.trial.trial import TrialRecord

TEST_SEED = 2026
"""Seed of the trials by which a policy is judged; far from any that it is trained with."""
assert TEST_SEED < FIRST_TRIAL_SEED
_LINKS: Mapping[str, str] = {
    'loopback': 'messages drawn by the harness, no moving robot',
    'simulated': 'the embedded world, in lock-step'}
_OTHERS = ('simulated, scenarios of `worlds`: halls with walls, shelves, dust, slippery floors, '
           'none of which it was trained with')
_LIMITS: Mapping[str, Sequence[str]] = {
    'mobile_base': (
        'It drives straight on, slowly or not at all. It never turns, never goes round anything '
        'and does not know a goal.',
        'It imitates the reference `rule_based`: it stops for a person within about 2.5 m by the '
        'tracker, on any side, and for whatever the scanner sees within 2.5 m in a path of 1 m '
        'width. It slows down from 4 m. These distances suit a base of about 1 m/s; it does not '
        'know the braking distance of its robot.',
        'It has no memory: each decision is made of the latest readings alone.',
        'Near a boundary (2.5 m, 4 m, half a metre beside the path) it errs to either side by '
        'some centimetres.',
        'Where walls or shelves stand close to its path on both sides, as in a narrow passage, it '
        'may not drive at all: the random scenes have no such walls.',
        'It reads one scanner plane. What is above or below that plane, or made of glass, does '
        'not exist for it.',
        'It neither hears nor speaks: a scenario that asks it a question is INCONCLUSIVE at '
        'best.'),
    'arm': (
        'It moves each of six joints to and fro about the pose in which the arms of the scenarios '
        'begin (0, -2.1, 2.2, -0.1, 1.5, 0 rad), and does no work. An arm that begins elsewhere '
        'is beyond what it was trained with.',
        'It imitates the reference `rule_based`: it stops for a person within about 2.5 m, and '
        'for a force above about 40 N, and slows down for a person within 4 m.',
        'It has no memory: which way a joint goes it sees by the sign of its speed. After a stop '
        'a joint may begin again the other way.',
        'It receives neither the shape of the arm nor where the tool is; a person beside the foot '
        'and one beside the tool are the same to it.',
        'Between about 36 N and 45 N it may decide either way.')}
_EVERY_LIMIT = (
    'It is an example of a learned controller that can be judged, and no safety function. Nothing '
    'here shows that it is fit for a real robot.',
    'It was trained and judged in simulation alone, with the scenarios that ship with this '
    'package. Trials for the table have other seeds than those of the training, but come from '
    'the same scenario files.',
    'Stale inputs are left to the controller that runs it (`stale_ms`, `on_missing` in the '
    'contract): it stops the robot without asking the model.')


class Judged(NamedTuple):
    """What a policy did in one campaign."""

    title: str
    summary: CampaignSummary


class _Count(Observer):
    """Tells of every tenth trial: all of them take minutes."""

    def __init__(self, link: str, planned: int, tell: Tell) -> None:
        self._link, self._planned, self._tell, self._done = link, planned, tell, 0

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Count it."""
        self._done += 1
        if not self._done % 10:
            self._tell(f'judging over {self._link}: {self._done} of {self._planned} trials')


def judge_policy(controller: str, scenarios: Sequence[Scenario], others: Sequence[Scenario],
                 trials: int, tell: Tell) -> Iterator[Judged]:
    """
    Yield how a policy does in trials that it was not trained with.

    :param controller: such as ``onnx:policy.onnx``
    :param scenarios: judged over each link
    :param others: that need a world; none of their files was learned from
    :param trials: of each of the scenarios; of each of the others there is one
    """
    campaigns = [(link, scenarios, trials, f'{link}: {_LINKS[link]}') for link in LINKS]
    campaigns.append(('simulated', others, 1, _OTHERS))
    for link, chosen, count, title in campaigns:
        summary = run(RunSettings(controller=controller, link=link, trials=count,
                                  seed=TEST_SEED, words='patterns'),
                      [_Count(link, len(chosen) * count, tell)], scenarios=chosen, files=False)
        tell(f'judged over {title}: ' + ', '.join(
            f'{number} {name}' for name, number in summary.verdicts.items()))
        yield Judged(title, summary)


def model_card(name: str, contract: PolicyContract, trained: Trained, model: bytes,
               contract_text: bytes, judged: Sequence[Judged],
               trained_on: Sequence[Scenario]) -> str:
    """Return the model card as Markdown."""
    quick = ' --quick' if trained.effort == QUICK else ''
    return '\n'.join([
        f'# Model card: policy {name}', '',
        f'What it reads and commands is in its contract, the YAML file beside it. The command '
        f'`safety-scenarios train {name} --seed {trained.seed}{quick}` wrote it, and writes '
        f'the same bytes again on the same machine with the same versions.', '',
        '| | |', '|---|---|', *_facts(contract, trained, model, contract_text), '',
        '## Training', '', *_training(trained, trained_on), '',
        '## Results', '',
        f'Trials with seed {TEST_SEED}, none of which it was trained with. Latencies are from '
        f'onset to the first command of the demanded reaction; *least distance* is that to the '
        f'nearest person or object, where it is known.', '',
        *(line for one in judged
          for line in _results(one, {scenario.id for scenario in trained_on})),
        '## Limits', '',
        *(f'* {limit}' for limit in (*_EVERY_LIMIT, *_LIMITS[contract.robot]))])


def sha256(content: bytes) -> str:
    """Return the hash of a file as a card shows it."""
    return hashlib.sha256(content).hexdigest()


def _facts(contract: PolicyContract, trained: Trained, model: bytes,
           contract_text: bytes) -> Iterator[str]:
    network = trained.network
    layers = [network.speed, *([] if network.sense is None else [network.sense])]
    count = sum(part.size for one in layers for part in (*one.weights, *one.biases))
    yield f'| robot | {contract.robot} |'
    yield f'| SHA-256 of the model | `{sha256(model)}` |'
    yield f'| SHA-256 of the contract | `{sha256(contract_text)}` |'
    yield f'| size | {len(model)} bytes, {count} parameters |'
    yield '| network | ' + '; '.join(
        f'{name}: {" - ".join(str(len(weight)) for weight in one.weights)} - '
        f'{len(one.biases[-1])} (ReLU)'
        for name, one in zip((network.speed_input, network.sense_input), layers,
                             strict=False)) + ' |'
    yield f'| rate | {contract.rate_hz:g} Hz |'
    yield f'| seed | {trained.seed} |'
    yield '| licence | Apache-2.0 |'


def _training(trained: Trained, scenarios: Sequence[Scenario]) -> Iterator[str]:
    effort = trained.effort
    yield (f'Imitation of the reference `rule_based`: in round 0 the reference drives; after '
           f'that, in {counted(effort.rounds, "round")}, the policy drives and the reference '
           f'says what it would have done (DAgger). In each round there are '
           f'{counted(effort.trials, "trial")} of each scenario over each link, most of them '
           f'with the objects of the hazard at random places and speeds. After each round the '
           f'network is fitted to all samples so far, in '
           f'{counted(effort.epochs, "pass", "passes")} of Adam; a sample from a trial counts '
           f'{counted(effort.weight, "time")} as much as one from a scene.')
    yield ''
    yield '| source | samples |'
    yield '|---|---:|'
    yield from (f'| {source} | {count} |' for source, count in trained.counts)
    yield ''
    yield 'Scenarios of the trials: ' + ', '.join(one.id for one in scenarios) + '.'
    yield ''
    yield (f'In random scenes that it was not trained with, it chooses the same speed as the '
           f'reference in {100 * trained.agreement:.1f} % of them. Such scenes are denser where '
           f'the reference changes its mind.')


def _results(judged: Judged, known: Set[str]) -> Iterator[str]:
    summary = judged.summary
    verdicts = ', '.join(f'{count} {name}' for name, count in summary.verdicts.items())
    yield f'### Over {judged.title}'
    yield ''
    yield (f'{summary.completed} trials: {verdicts}. Hazards missed: {_share(summary.missed)}. '
           f'False stops: {_share(summary.false_stops)}.')
    yield ''
    yield ('| scenario | trained with | verdicts | median ms | worst ms | class '
           '| least distance m |')
    yield '|---|---|---|---:|---:|---|---:|'
    yield from (_row(row, row.scenario_id in known) for row in summary.scenarios)
    yield ''
    failed = [row for row in summary.scenarios if row.verdict.value != 'PASS']
    for row in failed:
        yield f'* {row.scenario_name}, the worst trial: {row.verdict.value}, {row.reason}'
    if failed:
        yield ''


def _row(row: ScenarioSummary, is_known: bool) -> str:
    verdicts = ' '.join(f'{count} {name}' for name, count in row.verdicts.items())
    has_reaction = bool(row.latency_ms)
    least = None if row.world is None else row.world.min_gap_m
    classes = ' '.join(f'{count} {name}' for name, count in row.latency_classes.items() if count)
    cells = (row.scenario_name, 'yes' if is_known else 'no', verdicts,
             _number(row.median_ms.value if has_reaction else None),
             'none' if has_reaction and row.worst_ms is None else _number(row.worst_ms),
             classes or '-', _number(least, 2))
    return f'| {" | ".join(cells)} |'


def _number(value: float | None, digits: int = 0) -> str:
    return '-' if value is None else f'{round(value, digits) + 0.0:.{digits}f}'


def _share(rate: Rate) -> str:
    text = f'{rate.count} of {rate.of}'
    return f'{text}, and {rate.undecided} undecided' if rate.undecided else text
