# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From a name and a seed to the three files of a policy: model, contract and model card."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.training.imitation import (
    Effort,
    FULL,
    one_thread,
    Tell,
    train,
)
from safety_scenarios.campaign.training.model_card import judge_policy, model_card, sha256
from safety_scenarios.campaign.training.model_file import onnx_bytes
from safety_scenarios.campaign.training.packages import NEEDED, package
from safety_scenarios.controllers.policies.contract import load_contract
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.scenario.scenario import Scenario

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
    :param effort: how much is spent on the training
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
