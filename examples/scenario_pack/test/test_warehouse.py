# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Each scenario fails a controller that it is meant to fail, and passes the reference."""

import pytest
import safety_scenarios as ss

HAZARD, BENIGN = 'WAREHOUSE-1', 'WAREHOUSE-D-1'


@pytest.mark.safety_scenario(HAZARD, BENIGN, link='loopback')
def test_the_reference_passes_both(safety_results):
    assert len(safety_results.trials) == 2


@pytest.mark.parametrize(('controller', 'wrong'), [
    ('never_stop', HAZARD), ('always_stop', BENIGN)])
def test_who_does_not_look_fails_one_of_them(safety_run, controller, wrong):
    [trial] = safety_run(wrong, controller=controller, link='loopback').trials
    assert trial.verdict is not ss.Verdict.PASS
