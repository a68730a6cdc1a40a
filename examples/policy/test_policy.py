# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The policy stops for a box at the bumper, and does not stop for one beside it."""

from pathlib import Path
import runpy

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def safety_settings(tmp_path, monkeypatch):
    """Write the model, beside the contract that says what it reads and commands."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(HERE / 'make_policy.py'))
    return {'controller': 'onnx:policy.onnx', 'link': 'loopback',
            'set': {'controller.contract': str(HERE / 'policy.yaml')}}


@pytest.mark.safety_scenario('SCN-R-110', 'SCN-R-D-110', trials=2)
def test_it_reacts_between_two_chunks_of_actions(safety_results):
    assert len(safety_results.trials) == 4
