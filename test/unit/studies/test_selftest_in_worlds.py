# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The self-test of robots that move in a world."""

from click.testing import CliRunner
import pytest
import safety_scenarios
from safety_scenarios.cli.options import survey_of
from safety_scenarios.cli.selftest import _runnable, selftest
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.selftest.kill_matrix import KillMatrix, named, SABOTEURS


@pytest.mark.slow
def test_a_robot_in_a_world_is_tested_there(tmp_path, monkeypatch):
    monkeypatch.setattr('safety_scenarios.cli.selftest.SABOTEURS', tuple(
        named(SABOTEURS, name) for name in ('never_stop', 'late')))
    file = tmp_path / 'matrix.json'
    done = CliRunner().invoke(selftest, [
        'SCN-R-101', '--link', 'simulated', '--seeds', '1', '--chance-trials', '0',
        '--json', str(file)])
    [matrix] = KillMatrix.model_validate_json(file.read_text()).scenarios
    assert matrix.reference.verdicts == (Verdict.PASS,), done.output
    [reason] = [trial.reason for trial in matrix.trials if trial.saboteur == 'never_stop']
    assert matrix.trials[0].verdicts == (Verdict.FAIL,) and reason
    [found] = [row for row in matrix.rows if row.kind == 'separation']
    assert 'as the simulator publishes it' in found.cells[1].reason


@pytest.mark.slow
def test_what_only_a_world_shows_is_tested_where_it_is_named():
    for link, left_out in (('loopback', True), ('simulated', False)):
        runnable, untested = _runnable(survey_of((), {}), link, are_named=False)
        assert not untested
        assert left_out is not any(scenario.needs_world for scenario in runnable)
    [named_one], _ = _runnable(survey_of(('SCN-R-201',), {}), 'loopback', are_named=True)
    assert named_one.needs_world


@pytest.mark.parametrize(('scenario', 'check'), [
    ('SCN-R-D-201', 'keeps its protective distance'), ('SCN-R-D-203', 'keeps away from people')])
def test_who_turns_to_people_beside_its_path_fails_and_who_weaves_does_not(scenario, check):
    for controller, verdict in (('swerves_at_people', Verdict.FAIL),
                                ('weaves_slowly', Verdict.PASS)):
        [trial] = safety_scenarios.run(scenario, controller=controller, link='simulated', seed=17,
                                       words='patterns', calibration='off').trials
        [found] = [one for one in trial.findings if one.check == check]
        assert (trial.verdict, found.verdict) == (verdict, verdict), trial.reason


def test_nobody_beside_the_path_of_a_benign_variant_may_be_passed_closely_at_speed():
    """Who is 10 m away is out of reach, and for things there is the check of contacts."""
    for scenario in load_scenarios(['worlds']).scenarios:
        near = [one for one in scenario.body.stimuli
                if one.kind == 'person' and one.distance < 10.0]
        if scenario.is_benign and near and scenario.body.robot.kind == 'mobile_base':
            assert {'separation', 'zone'} & {one.kind for one in scenario.body.invariants}
