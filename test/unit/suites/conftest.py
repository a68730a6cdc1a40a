# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One run of a small suite, which tests that change it copy."""

import pytest
from safety_scenarios.suites.cards import write_cards
from unit.suites.suite_runs import run_small


@pytest.fixture(scope='session')
def small_run(tmp_path_factory):
    """Run the reference and a blind controller, and write their cards."""
    folder = run_small(tmp_path_factory.mktemp('suite') / 'run', 'rule_based', 'blind_clock')
    write_cards(folder)
    return folder
