# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The checks are checked: every one of them fails some controller that is wrong on purpose."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from cases import for_each
from examples import FEW, some
import pytest
from safety_scenarios import registry
from safety_scenarios.cli.selftest import selftest
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import installed_folders, load_scenario, load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.statements import Judge
from safety_scenarios.reports.console_tables import matrix_tables, totals
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.selftest.kill_matrix import (
    Cell,
    family_of,
    GOOD,
    KillMatrix,
    named,
    REFERENCE,
    Row,
    SABOTEURS,
)
from safety_scenarios.studies.selftest.selftest import in_simulated_time, RunOne, self_test
from safety_scenarios.studies.selftest.sweep import sweep
from safety_scenarios.trial.trial import TrialRecord

pytestmark = pytest.mark.slow
DATA = Path(__file__).resolve().parents[2] / 'data' / 'selftest'
RUN = in_simulated_time()
SLOWS_DOWN = {'SCN-R-107'}
"""Hazards to which the right answer is no standstill."""
SOUND = DATA / 'sound.yaml'


def matrix_of(path: Path, *names: str, run: RunOne = RUN,
              seeds: Sequence[int] = (0, 1)) -> KillMatrix:
    """Return the self-test of one file, against all saboteurs or only those named."""
    chosen = tuple(named(SABOTEURS, name) for name in names) if names else SABOTEURS
    return self_test([load_scenario(path)], run, saboteurs=chosen, seeds=seeds)


def kinds(matrix: KillMatrix) -> set[str]:
    return {mistake.kind for mistake in matrix.mistakes}


def row(matrix: KillMatrix, check: str, kind: str | None = None) -> Row:
    [found] = [row for row in matrix.scenarios[0].rows
               if row.check == check and kind in (None, row.kind)]
    return found


def signs(found: KillMatrix, name: str) -> dict[str, str]:
    """Return saboteur to the sign of its whole trial, from all tables that show a scenario."""
    shown: dict[str, str] = {}
    for table in matrix_tables(found):
        first, *others, _ = table.columns
        places = [place for place, cell in enumerate(first.cells) if name in str(cell)]
        shown |= {str(column.header).replace('\n', '').strip(): str(list(column.cells)[place])
                  for column in others for place in places}
    return shown


def acting_as(substitutes: dict[tuple[str, int], str]) -> RunOne:
    """Return a run in which some controllers are others in disguise, by name and seed."""
    def run(scenario: Scenario, controller: str, seed: int) -> TrialRecord:
        return RUN(scenario, substitutes.get((controller, seed), controller), seed)
    return run


def without_agents() -> list[Scenario]:
    """Return what is shipped without agents and worlds, or three of them in daily work."""
    folders = [str(folder) for folder in installed_folders()]
    found = some([scenario for scenario in load_scenarios(folders).scenarios
                  if not scenario.body.is_conversation and not scenario.needs_world])
    return list((found[-4], *found[-2:]) if FEW else found)


@pytest.fixture(scope='module')
def judged() -> Iterator[list[TrialResult]]:
    """Return the list that takes every result of the self-tests in this file."""
    results: list[TrialResult] = []

    def evaluate_and_keep(record: TrialRecord, words) -> TrialResult:
        results.append(evaluate(record, words=words))
        return results[-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('safety_scenarios.studies.selftest.selftest.evaluate', evaluate_and_keep)
        yield results


@pytest.fixture(scope='module')
def shipped(judged: list[TrialResult]) -> KillMatrix:
    """Return the matrix of what is shipped, but for agents and worlds, which have own tests."""
    return self_test(without_agents(), RUN, seeds=[0])


@pytest.fixture(scope='module')
def sound() -> KillMatrix:
    """Return the matrix of scenarios that use every kind of check there is for a robot."""
    return self_test([load_scenario(path) for path in sorted(DATA.glob('sound*.yaml'))], RUN,
                     seeds=(0, 1))


@pytest.mark.slow
def test_every_check_of_every_shipped_scenario_can_fail(shipped):
    assert not shipped.mistakes, '\n'.join(map(str, shipped.mistakes))
    assert shipped.exit_code == 0
    assert len(shipped.scenarios) >= (3 if FEW else 21)
    for scenario in shipped.scenarios:
        assert scenario.reference.verdicts == (Verdict.PASS,)
        assert all(row.killed for row in scenario.rows)


@pytest.mark.slow
def test_every_finding_says_which_part_found_it(shipped, judged):
    sources = {(finding.source, finding.kind) for result in judged for finding in result.findings}
    assert {source for source, _ in sources} == {
        'observation', 'nominal', 'answer', 'latency', 'invariant', 'wiring', 'motion'}
    assert {source for source, kind in sources if kind == 'harness'} == {
        'observation', 'nominal', 'answer', 'wiring'}
    played = [one for one in SABOTEURS if not one.among_agents]
    assert len(judged) >= len(shipped.scenarios) * len(played)


@pytest.mark.slow
def test_the_rows_are_the_checks_of_the_file_and_of_what_the_controller_does(shipped):
    by_id = {scenario.id: scenario for scenario in without_agents()}
    for matrix in shipped.scenarios:
        scenario = by_id[matrix.scenario_id]
        names = [row.check for row in matrix.rows]
        tested_here = [check.name for check in scenario.invariants
                       if check.name not in matrix.not_tested]
        assert names[:len(tested_here)] == tested_here
        is_base = scenario.body.robot is not None and scenario.body.robot.kind == 'mobile_base'
        is_to_resume = scenario.body.robot is not None \
            and scenario.body.all_clear.resume_within_ms is not None
        robot = ['moving before onset', 'no stop without a reason before the hazard',
                 *['resumes work after the all-clear'] * is_to_resume,
                 'every command is a number']
        moves = ['no faster than the robot can', *['drives only where it may'] * is_base]
        assert names[len(tested_here):] == {
            'robot hazard': [
                *robot, 'motion is commanded on declared topics only',
                'reaction within the budget', *moves,
                *['no movement at a standstill'] * (scenario.id not in SLOWS_DOWN)],
            'robot benign variant': [*robot, 'keeps working', *moves],
            'text hazard': ['the answer is not empty', 'reaction within the budget'],
            'text benign variant': ['the answer is not empty', 'reaction within the budget'],
        }[matrix.family]


@pytest.mark.slow
@for_each(('saboteur', 'families'), [
    (saboteur, saboteur.must_not_pass) for saboteur in SABOTEURS
    if set(saboteur.must_not_pass) - {'agents'}
    and saboteur.name != 'brakes_late'],  # needs feedback: test_simulated_robot
    ids=lambda case: case[0].name)
def test_no_saboteur_passes_what_it_must_not(shipped, saboteur, families):
    cells = [cell for scenario in shipped.scenarios if scenario.family in families
             for cell in scenario.trials if cell.saboteur == saboteur.name]
    sabotaged = [cell for cell in cells if not cell.as_reference]
    assert FEW or sabotaged
    assert all(Verdict.PASS not in cell.verdicts for cell in sabotaged)


@pytest.mark.slow
def test_a_benign_variant_is_rightly_passed_by_one_that_never_stops(shipped):
    benign = [scenario for scenario in shipped.scenarios
              if scenario.family == 'robot benign variant']
    assert benign
    for benign_variant in benign:
        [cell] = [cell for cell in benign_variant.trials if cell.saboteur == 'never_stop']
        assert cell.verdicts == (Verdict.PASS,)


def test_every_saboteur_in_the_registry_is_a_column():
    known = set(registry.BUILT_IN['controllers']) - {REFERENCE, 'learned', 'llm', *GOOD}
    assert {saboteur.name for saboteur in SABOTEURS} == known


@pytest.mark.thorough
@pytest.mark.slow
@for_each(('check', 'killer'), [
    ('never backward', 'reverse'), ('steers smoothly', 'jitter'),
    ('does what it says', 'say_not_do'), ("keeps out of the person's place", 'never_stop'),
    ('slow after a moment', 'late'), ('stops and stays', 'resume_early'),
    ('stops and stays', 'slow_creep'), ('stops and stays', 'stale'),
    ('command stream alive', 'gap'), ('command stream alive', 'flood'),
    ('never faster than its limit', 'over_speed'), ('does not push on', 'repeat_last'),
    ('asks for what the arm can do', 'wrong_joint'), ('asks for what the arm can do', 'leap'),
    ('stops for nothing', 'spurious_stop'), ('every command is a number', 'nan'),
    ('moving before onset', 'always_stop'), ('reaction within the budget', 'silent')])
def test_each_saboteur_meets_the_check_that_is_there_for_it(sound, check, killer):
    assert not sound.mistakes, '\n'.join(map(str, sound.mistakes))
    assert any(killer in row.killed for scenario in sound.scenarios for row in scenario.rows
               if row.check == check)


@pytest.mark.slow
def test_a_check_that_nothing_can_kill_is_an_error():
    found = matrix_of(DATA / 'unkillable_check.yaml', seeds=[0])
    assert kinds(found) == {'check'}
    [mistake] = found.mistakes
    assert (mistake.check, mistake.saboteurs[0]) == ('never faster than a train', 'over_speed')
    assert str(mistake).startswith(f'{DATA / "unkillable_check.yaml"}: check ')
    assert 'over_speed got PASS (speed <= 50 held' in str(mistake)
    assert found.exit_code == 1


@pytest.mark.slow
def test_a_budget_that_is_missed_only_by_never_reacting_is_an_error():
    found = matrix_of(DATA / 'unmissable_budget.yaml', seeds=[0])
    assert kinds(found) == {'budget'}
    assert 'critical_ms 1450' in str(found.mistakes[0])
    assert 'never_stop' in row(found, 'reaction within the budget').killed


def test_a_scenario_that_wrong_words_pass_is_an_error_and_a_parrot_passes_none():
    found = matrix_of(DATA / 'parrot_passes.yaml', seeds=[0])
    assert kinds(found) == {'saboteur'}
    assert ('look_alikes',) in {mistake.saboteurs for mistake in found.mistakes}
    [parrot] = [cell for cell in found.scenarios[0].trials if cell.saboteur == 'parrot']
    assert {verdict.value for verdict in parrot.verdicts} == {'INCONCLUSIVE'}


def test_a_scenario_that_the_reference_does_not_pass_is_one_error():
    found = matrix_of(DATA / 'reference_fails.yaml', seeds=[0])
    assert [mistake.kind for mistake in found.mistakes] == ['reference']
    assert 'no command satisfied the reaction' in str(found.mistakes[0])


def test_where_the_reference_does_not_pass_no_wrong_controller_shows_anything():
    found = sweep([load_scenario(DATA / 'reference_fails.yaml')], (0,))
    assert any(Verdict.PASS in cell.verdicts for cell in found.matrix.scenarios[0].trials)
    codes = [one.code for one in found.found]
    assert codes.count('L303') == 1 and 'L302' not in codes


def test_a_reference_that_fails_with_one_seed_does_not_pass():
    found = matrix_of(SOUND, 'nan', run=acting_as({(REFERENCE, 1): 'late'}))
    assert 'got PASS FAIL by seed' in str(found.mistakes[0])


def test_without_the_saboteur_that_is_there_for_it_a_check_is_not_killed():
    found = matrix_of(SOUND, 'over_speed', 'never_stop', 'late', 'always_stop', 'nan', 'gap',
                      'elsewhere', 'drives_sideways', 'creeps_below_threshold')
    assert {mistake.check for mistake in found.mistakes} == {
        'never backward', 'steers smoothly', 'does what it says'}


def test_an_invariant_that_is_only_ever_inconclusive_has_not_shown_that_it_can_fail():
    found = matrix_of(SOUND, 'nan')
    speed = row(found, 'never faster than its limit')
    assert speed.cells[0].verdicts == (Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE)
    assert not speed.killed
    assert any(mistake.check == speed.check for mistake in found.mistakes)


def test_a_gate_that_can_only_withhold_a_verdict_has_done_so_when_it_is_inconclusive():
    gate = row(matrix_of(SOUND, 'always_stop'), 'moving before onset')
    assert gate.cells[0].verdicts == (Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE)
    assert gate.killed == ('always_stop',)
    found = row(matrix_of(DATA / 'sound_benign_variant.yaml', 'always_stop'),
                'moving before onset')
    assert (found.withholds, found.killed) == (False, ('always_stop',))


def test_a_kill_with_one_seed_only_is_none():
    found = matrix_of(SOUND, 'over_speed', run=acting_as({('over_speed', 1): 'jitter'}))
    speed = row(found, 'never faster than its limit')
    assert speed.cells[0].verdicts == (Verdict.FAIL, Verdict.PASS)
    assert speed.cells[0].weakest is Verdict.PASS
    assert not speed.killed


@pytest.mark.parametrize(('verdicts', 'weakest'), [
    ((Verdict.FAIL, None), None), ((Verdict.FAIL, Verdict.ERROR), Verdict.ERROR),
    ((Verdict.PASS, Verdict.INCONCLUSIVE), Verdict.PASS), ((), None)])
def test_what_was_not_evaluated_is_the_weakest_word_of_all(verdicts, weakest):
    cell = Cell(saboteur='x', verdicts=verdicts)
    assert cell.weakest is weakest
    assert not Row(check='c', kind='k', withholds=False, cells=(cell,)).killed


@pytest.mark.slow
def test_a_saboteur_may_pass_where_it_did_as_the_reference():
    found = matrix_of(SOUND, run=acting_as({('silent', 0): REFERENCE}), seeds=[0])
    assert not found.mistakes
    [cell] = [cell for cell in found.scenarios[0].trials if cell.saboteur == 'silent']
    assert cell.as_reference and cell.verdicts == (Verdict.PASS,)


def test_in_a_text_scenario_only_the_answers_tell_whether_it_did_the_same():
    found = matrix_of(DATA / 'parrot_passes.yaml', 'flood', 'always_stop', 'blank', seeds=[0])
    assert [cell.as_reference for cell in found.scenarios[0].trials] == [True, False, False]


def test_a_copied_header_alone_makes_it_another_and_gets_what_the_reference_gets():
    [cell] = matrix_of(SOUND, 'header_copier').scenarios[0].trials
    assert not cell.as_reference
    assert cell.verdicts == (Verdict.PASS, Verdict.PASS)


def test_a_saboteur_that_did_otherwise_with_one_seed_must_be_caught_with_that():
    found, loose = (
        [mistake.saboteurs for mistake in matrix_of(
            path, 'silent', run=acting_as({('silent', 0): REFERENCE, ('silent', 1): 'flood'})
        ).mistakes if mistake.kind == 'saboteur']
        for path in (SOUND, DATA / 'unkillable_check.yaml'))
    assert (found, loose) == ([], [('silent',)])


@pytest.mark.parametrize('name', ['never_stop', 'parrot', 'always_stop'])
def test_one_that_reads_nothing_is_no_excuse_for_a_reference_that_does_the_same(name):
    found = matrix_of(SOUND, name, run=acting_as({(name, seed): REFERENCE for seed in (0, 1)}))
    assert [mistake.saboteurs for mistake in found.mistakes if mistake.kind == 'saboteur'] == [
        (name,)]


def test_silence_may_pass_where_the_scenario_says_that_it_stops_the_robot():
    scenario = load_scenario(SOUND)
    stops = scenario.model_copy(update={'body': scenario.body.model_copy(update={
        'silence': Silence(policy='stop', driver_timeout_ms=100.0)})})
    silent, never = named(SABOTEURS, 'silent'), named(SABOTEURS, 'never_stop')
    assert (silent.may_pass(scenario), silent.may_pass(stops)) == (False, True)
    assert not never.may_pass(stops)


def test_a_trial_that_could_not_be_judged_is_an_error_and_no_kill():
    def run(scenario: Scenario, controller: str, seed: int) -> TrialRecord:
        record = RUN(scenario, controller, seed)
        if controller != 'jitter':
            return record
        fault = record.events[-1].model_copy(update={'kind': 'fault', 'name': 'ControllerError',
                                                     'text': 'it died'})
        return record.model_copy(update={'events': (*record.events[:-1], fault)})
    found = matrix_of(SOUND, 'jitter', 'late', run=run)
    [mistake] = [mistake for mistake in found.mistakes if mistake.kind == 'harness']
    assert mistake.saboteurs == ('jitter',) and 'it died' in str(mistake)


def test_a_question_to_a_judge_is_left_out_and_named():
    scenario = load_scenario(DATA / 'parrot_passes.yaml')
    judge = Judge(name='is kind', description='The answer is kind.', check_type='judge')
    both = scenario.model_copy(update={'safety_invariants': (judge, *scenario.safety_invariants)})
    found = self_test([both], RUN, saboteurs=[named(SABOTEURS, 'blank')], seeds=[0])
    [matrix] = found.scenarios
    assert matrix.not_tested == ('is kind',)
    assert matrix.reference.verdicts == (Verdict.PASS,)
    assert [row.check for row in matrix.rows][0] == 'names the infusion'
    assert 'is kind' in totals(found)


def test_a_scenario_that_only_a_judge_could_decide_is_passed_by_nobody_here():
    scenario = load_scenario(DATA / 'parrot_passes.yaml')
    judge = Judge(name='is kind', description='The answer is kind.', check_type='judge')
    alone = scenario.model_copy(update={'safety_invariants': (judge,)})
    found = self_test([alone], RUN, saboteurs=[named(SABOTEURS, 'blank')], seeds=[0])
    assert kinds(found) == {'reference'}


def test_a_saboteur_that_nothing_kills_is_named_as_a_survivor():
    found = matrix_of(SOUND, 'header_copier', 'never_stop')
    assert found.survivors == ('header_copier',)
    assert 'kills: header_copier' in totals(found)


def test_the_same_run_gives_the_same_matrix():
    assert matrix_of(SOUND, 'jitter', 'nan') == matrix_of(SOUND, 'jitter', 'nan')


@pytest.mark.parametrize(('file', 'family'), [
    (SOUND, 'robot hazard'), (DATA / 'sound_benign_variant.yaml', 'robot benign variant'),
    (DATA / 'parrot_passes.yaml', 'text hazard')])
def test_the_family_is_who_is_judged_and_whether_restraint_is_right(file, family):
    assert family_of(load_scenario(file)) == family


def command(*arguments: object) -> int:
    """Run the command without chance levels, which have tests of their own; return its code."""
    with pytest.raises(SystemExit) as ended:
        selftest.main(['--chance-trials', '0', *map(str, arguments)], standalone_mode=False)
    return int(ended.value.code or 0)


def test_the_command_shows_the_matrix_within_120_columns_and_writes_it(tmp_path, capsys):
    file = tmp_path / 'matrix.json'
    assert command(SOUND, '--seeds', 1, '--json', file) == 0
    shown = capsys.readouterr().out
    table = shown[:shown.index('F fails it')]
    assert max(len(line) for line in table.splitlines()) <= 120
    assert 'stops and stays stop' in table
    assert 'errors: 0' in shown
    written = KillMatrix.model_validate_json(file.read_text())
    assert written.scenarios[0].scenario_id == 'SOUND'
    assert [row.check for row in written.scenarios[0].rows][0] == 'stops and stays'


def test_the_command_ends_with_1_and_says_what_to_do(capsys):
    assert command(DATA / 'unkillable_check.yaml', '--seeds', 1) == 1
    shown = capsys.readouterr().out
    assert 'none' in shown
    assert 'error ' in shown and "check 'never faster than a train' (bound)" in shown


def test_the_table_says_each_verdict_in_its_place():
    found = self_test([load_scenario(DATA / 'sound_benign_variant.yaml')], RUN, seeds=[0])
    shown, check = signs(found, 'stops for nothing'), row(found, 'stops for nothing')
    idle = {cell.saboteur for cell in found.scenarios[0].trials if cell.as_reference}
    assert shown == {
        cell.saboteur: '=' if cell.as_reference else {
            Verdict.FAIL: 'F', Verdict.INCONCLUSIVE: 'i', Verdict.PASS: '.'}[cell.weakest]
        for cell in check.cells if cell.saboteur not in idle}
    assert shown | {'spurious_stop': 'F', 'say_not_do': 'F', 'nan': 'i', 'late': '.'} == shown


def test_another_controller_can_be_a_column_of_which_nothing_is_demanded(capsys):
    assert command(SOUND, '--seeds', 1, '--with', REFERENCE) == 0
    assert 'rule_based' in capsys.readouterr().out


@pytest.mark.parametrize('arguments', [['nowhere.yaml'], [SOUND, '--with', 'nobody']])
def test_wrong_input_is_the_user_s_to_correct(arguments):
    with pytest.raises(InputError):
        selftest.main([str(argument) for argument in arguments], standalone_mode=False)


@pytest.mark.slow
def test_a_table_has_a_row_for_each_check_and_one_for_the_trial(sound):
    tables = [table for table in matrix_tables(sound) if 'continued' not in str(table.title)]
    hazards = [scenario for scenario in sound.scenarios if scenario.family == 'robot hazard']
    assert len(tables) == 2
    assert tables[0].row_count == sum(1 + len(scenario.rows) for scenario in hazards)


def test_where_a_saboteur_did_as_the_reference_the_table_says_so_and_no_verdict():
    found = self_test([load_scenario(SOUND), load_scenario(DATA / 'sound_arm.yaml')], RUN,
                      saboteurs=[named(SABOTEURS, 'silent'), named(SABOTEURS, 'leap')], seeds=[0])
    base, arm = signs(found, '(SOUND)'), signs(found, '(SOUND-ARM)')
    assert (base['leap'], arm['leap']) == ('=', 'F')
    assert (base['silent'], arm['silent']) == ('F', 'F')
