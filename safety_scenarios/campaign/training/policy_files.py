# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From a name and a seed to the three files of a policy: model, contract and model card.

The same network gives the same bytes of a model, in ONNX.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy
from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.run import run
from safety_scenarios.campaign.training.imitation import (
    Effort,
    FIRST_TRIAL_SEED,
    FULL,
    LINKS,
    NEEDED,
    one_thread,
    package,
    QUICK,
    Tell,
    train,
    Trained,
)
from safety_scenarios.campaign.training.network import Layers, Network
from safety_scenarios.controllers.policies.contract import load_contract, PolicyContract
from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.formats.scenario_files import share_folder
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


_OPSET, _IR_VERSION = 17, 8
"""Read by onnxruntime 1.12 and newer."""
_NAME = 'safety_scenarios'


def onnx_bytes(network: Network, output: str, metadata: Mapping[str, str]) -> bytes:
    """
    Return the content of an ONNX file.

    :param metadata: goes into the file, such as the hash of the contract
    :raises MissingDependencyError: without the extra train
    """
    onnx, helper, numbers = map(package, ('onnx', 'onnx.helper', 'onnx.numpy_helper'))
    nodes, constants = list[Any](), list[Any]()

    def constant(name: str, values: Any) -> str:
        constants.append(numbers.from_array(
            numpy.ascontiguousarray(values, dtype=numpy.float32), name))
        return name

    def layers(prefix: str, source: str, part: Layers) -> str:
        for place, (weight, bias) in enumerate(zip(part.weights, part.biases, strict=True)):
            summed = f'{prefix}_{place}'
            nodes.append(helper.make_node('Gemm', [
                source, constant(f'{summed}_weight', weight), constant(f'{summed}_bias', bias)],
                [summed]))
            source = summed
            if place < len(part.weights) - 1:
                nodes.append(helper.make_node('Relu', [summed], [f'{summed}_relu']))
                source = f'{summed}_relu'
        return source

    def clipped(source: str, least: float, name: str) -> str:
        nodes.append(helper.make_node('Clip', [
            source, constant(f'{name}_least', least), constant(f'{name}_most', 1.0)], [name]))
        return name

    units = clipped(layers('speed', network.speed_input, network.speed), 0.0, 'units')
    share = output if network.sense is None else 'share'
    steps = numpy.array(network.steps)[:, None]
    nodes.append(helper.make_node('MatMul', [units, constant('steps', steps)], [share]))
    if network.sense is not None:
        senses = clipped(layers('sense', network.sense_input, network.sense), -1.0, 'senses')
        nodes.append(helper.make_node('Mul', [share, senses], [output]))
    graph = helper.make_graph(
        nodes, _NAME, [_vector(onnx, name, size) for name, size in _inputs(network)],
        [_vector(onnx, output, 1 if network.sense is None else len(network.sense.biases[-1]))],
        constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', _OPSET)],
                              ir_version=_IR_VERSION, producer_name=_NAME)
    helper.set_model_props(model, dict(sorted(metadata.items())))
    package('onnx.checker').check_model(model)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def _inputs(network: Network) -> Iterator[tuple[str, int]]:
    yield network.speed_input, len(network.speed.weights[0])
    if network.sense is not None:
        yield network.sense_input, len(network.sense.weights[0])


def _vector(onnx: Any, name: str, size: int) -> Any:
    return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, size])


POLICIES = 'base', 'arm'
MODEL, CONTRACT, CARD = 'policy.onnx', 'policy.yaml', 'card.md'
_FOLDERS = 'robotic', 'worlds'
"""Of scenarios: those that are learned from, and others by which a policy is judged as well."""
_NOT_TRAINED_WITH = frozenset({'SCN-R-110', 'SCN-R-D-110', 'SCN-R-111', 'SCN-R-D-111'})
"""Scenarios that a policy is judged by and has never seen: what it can do with others."""
_TEST_TRIALS, QUICK_TEST_TRIALS = 5, 1


def write_policy(name: str, seed: int, output: Path, effort: Effort = FULL,
                 tell: Tell = lambda line: None, test_trials: int = _TEST_TRIALS) -> str:
    """
    Train a policy, judge it and write its files; return the hash of the model.

    :param name: base or arm
    :param output: a folder that is new or empty
    :param tell: takes a line of progress
    :param test_trials: trials of each scenario and link by which the policy is judged
    :raises SettingsError: there are files in that folder
    :raises MissingDependencyError: without the extra train
    :raises TraceError: a file cannot be written
    """
    for needed in NEEDED:
        package(needed)
    _refuse_files_in(output)
    source = contract_file(name)
    contract, contract_text = load_contract(source), source.read_bytes()
    scenarios, others = (tuple(_for_robot(contract.robot, folder)) for folder in _FOLDERS)
    learned_from = [one for one in scenarios if one.id not in _NOT_TRAINED_WITH]
    trained = train(contract, learned_from, seed, effort, tell)
    model = onnx_bytes(trained.network, contract.action_name, {
        'contract_sha256': sha256(contract_text), 'seed': str(seed)})
    with TemporaryDirectory() as folder:
        place = Path(folder)
        write_whole(place / MODEL, model)
        write_whole(place / CONTRACT, contract_text)
        with one_thread():
            judged = tuple(judge_policy(f'onnx:{place / MODEL}', scenarios, others,
                                        test_trials, tell))
        card = model_card(name, contract, trained, model, contract_text, judged, learned_from)
    write_whole(output / MODEL, model)
    write_whole(output / CONTRACT, contract_text)
    write_whole(output / CARD, card)
    return sha256(model)


def contract_file(name: str) -> Path:
    """Return the installed contract of a policy, which is written beside what is trained."""
    return share_folder() / 'config' / 'policies' / f'{name}.yaml'


def _for_robot(kind: str, folder: str) -> Iterator[Scenario]:
    for scenario in load_scenarios([folder]).scenarios:
        robot = scenario.body.robot
        if robot is not None and robot.kind == kind:
            yield scenario


def _refuse_files_in(output: Path) -> None:
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise SettingsError(f'output: got {output}, where there are files already, expected a '
                            f'new or an empty folder. Name another one')
