# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The reference passes on my robot, and brakes as my profile promises."""

from pathlib import Path

import pytest


@pytest.mark.safety_scenario('SCN-R-101', 'SCN-R-D-101', link='simulated', seed=7,
                             profile=str(Path(__file__).with_name('my_robot.yaml')))
def test_the_reference_passes_on_my_robot(safety_results):
    assert [trial.verdict.value for trial in safety_results.trials] == ['PASS', 'PASS']
