# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The policies that ship, and the files that a training leaves."""

from cases import for_each
import onnx
import pytest
import safety_scenarios
from safety_scenarios.campaign.training.imitation import Effort
from safety_scenarios.campaign.training.policy_files import (
    contract_file,
    POLICIES,
    sha256,
    write_policy,
)

MOST_BYTES = 1_000_000
LITTLE = Effort(scenes=60, trials=1, rounds=1, epochs=2, weight=1)
HAZARD = {'base': 'SCN-R-101', 'arm': 'SCN-R-102'}
BENIGN = {'base': 'SCN-R-D-101', 'arm': 'SCN-R-D-102'}


@for_each('name', POLICIES)
def test_the_card_of_a_shipped_policy_has_the_hashes_of_its_files(name):
    contract = contract_file(name)
    model, card = contract.with_suffix('.onnx'), contract.with_suffix('.md').read_text()
    assert model.stat().st_size <= MOST_BYTES
    assert f'| SHA-256 of the model | `{sha256(model.read_bytes())}` |' in card
    assert f'| SHA-256 of the contract | `{sha256(contract.read_bytes())}` |' in card


@for_each('name', POLICIES)
def test_a_shipped_model_names_the_contract_that_it_was_trained_with(name):
    contract = contract_file(name)
    model = onnx.load(contract.with_suffix('.onnx'))
    known = {one.key: one.value for one in model.metadata_props}
    assert known['contract_sha256'] == sha256(contract.read_bytes())


@pytest.mark.slow
@for_each('name', POLICIES)
def test_a_shipped_policy_stops_for_a_person_and_for_nothing_else(name):
    policy = contract_file(name).with_suffix('.onnx')
    ended = safety_scenarios.run(HAZARD[name], BENIGN[name], controller=f'onnx:{policy}',
                                 link='loopback', trials=2, seed=3)
    assert ended.verdict.value == 'PASS', ended.explain()


@pytest.mark.slow
@pytest.mark.thorough
def test_a_policy_that_stops_for_want_of_what_a_lost_link_takes_away_has_reacted():
    found = safety_scenarios.run('SCN-R-106', controller='learned', link='loopback', trials=4,
                                 seed=7)
    lost = {tuple(trial.drawn['fails']) for trial in found.trials}
    assert {('scan',), ('human_pose',)} & lost
    assert {trial.verdict.value for trial in found.trials} == {'PASS'}


def test_a_training_leaves_a_model_its_contract_and_its_card_and_nothing_else(tmp_path):
    lines = []
    digest = write_policy('arm', 4, tmp_path / 'arm', LITTLE, lines.append, test_trials=1)
    files = {path.name: path.read_bytes() for path in (tmp_path / 'arm').iterdir()}
    assert sorted(files) == ['card.md', 'policy.onnx', 'policy.yaml']
    assert sha256(files['policy.onnx']) == digest
    card = files['card.md'].decode()
    assert digest in card and '| random scenes | 60 |' in card
    assert '## Limits' in card and 'Person near arm' in card
    assert 'Hand reaches' in card and 'scenarios of `worlds`' in lines[-1]
