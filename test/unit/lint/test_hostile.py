# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Scenario files that look strict and cannot fail, each by one idea, and each mended by one change.

``test/data/hostile/index.yaml`` says what is told of each file, where, and how it is mended.
"""

from pathlib import Path
import shutil
from typing import Any

from examples import some
import fast_yaml
import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.errors import Problem, ScenarioError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.lint.review import review, WAIVABLE
from safety_scenarios.studies.selftest.sweep import sweep

pytestmark = pytest.mark.slow
DATA = Path(__file__).resolve().parents[2] / 'data' / 'hostile'
INDEX: list[dict[str, Any]] = fast_yaml.load((DATA / 'index.yaml').read_text(encoding='utf-8'))
ODD = [entry for entry in INDEX if entry['code'] != 'refused']
BY_NUMBERS = [entry for entry in ODD if entry['code'] < 'L3']
BY_A_RUN = [entry for entry in ODD if entry['code'] >= 'L3']
REFUSED = [entry for entry in INDEX if entry['code'] == 'refused']


def name_of(entry: dict[str, Any]) -> str:
    return str(entry['file']).removesuffix('.yaml')


def told(path: Path, with_a_run: bool) -> list[Problem]:
    """Return what validate tells of a file, with the wrong controllers or without."""
    loaded = load_scenarios([str(path)])
    found = [loaded.problem(remark.scenario, remark.field, remark.message, remark.code)
             for remark in review(loaded.scenarios).remarks]
    if with_a_run:
        found += [loaded.problem(one.scenario, one.field, one.message, one.code)
                  for one in sweep(loaded.scenarios, (0,)).found]
    return found


def at(problem: Problem) -> str:
    """Return the text at the place of a problem, to the end of its line."""
    assert problem.line is not None and problem.column is not None
    line = Path(problem.path).read_text(encoding='utf-8').splitlines()[problem.line - 1]
    return line[problem.column - 1:]


def waived(text: str, code: str) -> str:
    """Return the text of a file with a waiver more."""
    if 'lint: {' in text:
        return text.replace('lint: {', f'lint: {{{code}: trust me, ')
    assert 'metadata:\n' in text
    return text.replace('metadata:\n', f'metadata:\n  lint: {{{code}: trust me}}\n')


def mended(entry: dict[str, Any], folder: Path) -> Path:
    """Write a file with the one change that mends it, and its bindings beside it."""
    path = folder / entry['file']
    bindings = DATA / entry['file'].replace('.yaml', '.bindings.yaml')
    text = (DATA / entry['file']).read_text(encoding='utf-8')
    if 'mend' in entry:
        assert entry['mend'][0] in text
        text = text.replace(*entry['mend'])
    path.write_text(text, encoding='utf-8')
    if bindings.exists():
        said = bindings.read_text(encoding='utf-8')
        if 'mend_bindings' in entry:
            assert entry['mend_bindings'][0] in said
            said = said.replace(*entry['mend_bindings'])
        (folder / bindings.name).write_text(said, encoding='utf-8')
    return path


@pytest.mark.parametrize('entry', some(ODD), ids=name_of)
def test_what_cannot_fail_is_told_with_its_place_and_what_to_do(entry):
    path = DATA / entry['file']
    found = [problem for problem in told(path, entry in BY_A_RUN)
             if problem.code == entry['code'] and entry['says'] in problem.message]
    assert len(found) == 1, [str(problem) for problem in told(path, entry in BY_A_RUN)]
    assert at(found[0]).startswith(entry['points_at'])
    assert found[0].message.count('. ') >= 1  # what to do comes after what was found


@pytest.mark.parametrize('entry', some(ODD), ids=name_of)
def test_the_mended_file_is_not_told_any_more(entry, tmp_path):
    path = mended(entry, tmp_path)
    codes = [str(problem) for problem in told(path, entry in BY_A_RUN)
             if problem.code == entry['code']]
    assert codes == []


@pytest.mark.parametrize('entry', BY_NUMBERS, ids=name_of)
def test_strict_refuses_it_and_without_strict_it_is_a_warning(entry, capsys):
    path = str(DATA / entry['file'])
    assert main(['scenario', 'validate', path]) == 0
    assert f'{entry["code"]} ' in capsys.readouterr().err
    assert main(['scenario', 'validate', path, '--strict']) == 2
    shown = capsys.readouterr()
    assert f'{entry["code"]} ' in shown.err and 'Traceback' not in shown.err


@pytest.mark.slow
@pytest.mark.parametrize('entry', some(BY_A_RUN), ids=name_of)
def test_strict_runs_what_the_numbers_do_not_show_and_shows_the_run(entry, capsys):
    path = str(DATA / entry['file'])
    assert main(['scenario', 'validate', path]) == 0
    assert '0 warnings' in capsys.readouterr().out
    assert main(['scenario', 'validate', path, '--strict', '--seeds', '1']) == 2
    shown = capsys.readouterr()
    assert f': {entry["code"]}' in shown.err
    assert entry['code'] == 'L306' or 'reaction within the budget' in shown.out


@pytest.mark.parametrize('entry', REFUSED, ids=name_of)
def test_what_cannot_be_read_is_refused_where_it_stands(entry, capsys):
    path = DATA / entry['file']
    with pytest.raises(ScenarioError) as refusal:
        load_scenarios([str(path)])
    found = [problem for problem in refusal.value.problems if entry['says'] in problem.message]
    assert len(found) == 1, str(refusal.value)
    if entry['points_at'] is not None:
        assert at(found[0]).startswith(entry['points_at'])
    assert main(['scenario', 'validate', str(path)]) == 2
    assert 'Traceback' not in capsys.readouterr().err


def test_each_file_is_listed_once():
    files = sorted(path.name for path in DATA.glob('*.yaml')
                   if not path.name.endswith('.bindings.yaml') and path.name != 'index.yaml')
    assert files == sorted(entry['file'] for entry in INDEX)


def test_there_is_a_file_for_every_code_that_tells_what_cannot_fail():
    assert {entry['code'] for entry in ODD} >= {
        *(f'L{number}' for number in range(201, 223)), 'L301', 'L302', 'L304', 'L306'}


@pytest.mark.parametrize('code', ['L201', 'L202', 'L203', 'L205', 'L208', 'L209', 'L302'])
def test_a_reason_waives_nothing_that_no_reason_can_make_fail(code, tmp_path):
    entry = next(entry for entry in ODD if entry['code'] == code)
    path = tmp_path / entry['file']
    text = (DATA / entry['file']).read_text(encoding='utf-8')
    path.write_text(waived(text, code), encoding='utf-8')
    assert code not in WAIVABLE
    assert {problem.code for problem in told(path, entry in BY_A_RUN)} >= {code, 'L118'}


def test_a_waived_finding_of_a_run_is_counted_and_no_error(tmp_path, capsys):
    entry = next(entry for entry in ODD if entry['code'] == 'L301')
    path = tmp_path / entry['file']
    text = (DATA / entry['file']).read_text(encoding='utf-8')
    path.write_text(waived(text, 'L301'), encoding='utf-8')
    assert main(['scenario', 'validate', str(path), '--strict', '--seeds', '1']) == 0
    assert '0 warnings, 2 waived' in capsys.readouterr().out


@pytest.mark.parametrize(('said', 'code', 'place'), [
    ('duration_ms: [1, 16]', 'L210', 'duration_ms[1]'),
    ('duration_ms: [1000, 2500]', 'L229', 'duration_ms'),
    ('changes: [{begins_ms: [1, 3], lasts_ms: [500, 900], stimuli: [{kind: person, topic: '
     'human_pose, distance: 4.0, rate_hz: 20}]}]', 'L210', 'changes[0].begins_ms[1]'),
    ('changes: [{begins_ms: [800, 5000], lasts_ms: [1, 2], stimuli: [{kind: person, topic: '
     'human_pose, distance: 4.0, rate_hz: 20}]}]', 'L210', 'changes[0].lasts_ms[1]')])
def test_a_hazard_that_can_be_guessed_or_comes_at_times_in_seconds_is_told(
        said, code, place, tmp_path, capsys):
    text = (DATA / 'nothing_after_the_reaction.yaml').read_text(encoding='utf-8')
    path = tmp_path / 'guessed.yaml'
    path.write_text(text.replace('  nominal:\n', f'  nominal:\n    {said}\n').replace(
        '  lint: {L229: it is odd by another idea}\n', ''), encoding='utf-8')
    assert main(['scenario', 'validate', str(path), '--strict']) == 2
    assert f'{code} ros.nominal.{place}: ' in capsys.readouterr().err


RESUMES = 'resume_within_ms: 3000, observe_ms: 3500, '


@pytest.mark.parametrize(('all_clear', 'drawn', 'warned'), [
    (RESUMES, '', True), (RESUMES, '[5000, 7000]', True),
    (RESUMES, '[5000, 60000]', False), ('', '', False)])
def test_an_all_clear_that_a_controller_can_wait_for_is_told(
        all_clear, drawn, warned, tmp_path, capsys):
    text = (DATA / 'nothing_after_the_reaction.yaml').read_text(encoding='utf-8')
    path = tmp_path / 'waited_for.yaml'
    vary = f'  vary: {{clear: {{range: {drawn}, unit: ms, sets: [ros.all_clear.at_ms]}}}}\n'
    path.write_text(text.replace('{at_ms: 2500}', f'{{{all_clear}at_ms: 6000}}')
                    + vary * bool(drawn), encoding='utf-8')
    assert main(['scenario', 'validate', str(path)]) == 0
    assert ('L231 ros.all_clear.at_ms: got ' in capsys.readouterr().err) == warned


@pytest.mark.parametrize(('walks', 'world', 'warned'), [
    ('speed: 1.2, direction: -1.57', '', True), ('speed: 1.2, direction: -1.57', '{}', True),
    ('speed: 1.2, by: [[2.0, 0.0]]', '{required: false}', False), ('along: true', '', False)])
def test_a_hazard_that_moves_in_worlds_only_has_to_say_whether_it_needs_one(
        walks, world, warned, tmp_path, capsys):
    text = (DATA / 'nothing_after_the_reaction.yaml').read_text(encoding='utf-8')
    path = tmp_path / 'crosses.yaml'
    path.write_text(text.replace('distance: 2.05,', f'distance: 2.05, walks: {{{walks}}},') + (
        f'  world: {world}\n' if world else ''), encoding='utf-8')
    assert main(['scenario', 'validate', str(path)]) == 0
    assert ('L230 ros.stimuli[0]: it moves in a world' in capsys.readouterr().err) == warned
    assert main(['run', str(path), '--link', 'loopback', '--seed', '1', '--output',
                 str(tmp_path / 'run')]) == 0
    moves = 'the hazard moves in a world only; here it stood where it appeared'
    assert (moves in ' '.join(capsys.readouterr().out.split())) == ('along' not in walks)


@pytest.mark.parametrize('folder', ['robotic', 'faults', 'worlds', 'clinical', 'agents'])
def test_nothing_is_told_of_what_is_installed(folder, capsys):
    """That no wrong controller passes any of it is a claim of the self-test's tests."""
    assert main(['scenario', 'validate', folder, '--strict', '--no-sweep']) == 0
    assert ' 0 warnings' in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize('name', ['SCN-R-105', 'SCN-C-101', 'lost_child'])
def test_no_wrong_controller_passes_what_is_installed(name, capsys):
    assert main(['scenario', 'validate', name, '--strict', '--seeds', '1']) == 0
    assert ' 0 warnings' in capsys.readouterr().out


def test_no_sweep_leaves_the_run_out(capsys):
    path = str(DATA / BY_A_RUN[0]['file'])
    assert main(['scenario', 'validate', path, '--strict', '--no-sweep']) == 0
    assert 'wrong controllers' not in capsys.readouterr().out


@pytest.mark.parametrize(('said', 'message'), [
    ('description: ' + 'a' * 10_000_000, 'expected at most 1000000'),
    ('severity: ' + '9' * 5000, 'got a number of 5000 characters'),
    ("description: !!binary '////'", 'expected text'),
    ('name: "\\e[2J\\e[32mPASS"', 'got the control character U+001B'),
    ('name: "zero\\u200bwidth"', 'got the control character U+200B'),
    ('name: "mark\\ufeff"', 'got the control character U+FEFF'),
    ('name: "tag\\U000E0041"', 'got the control character U+E0041'),
    ('description: "\\ud800"', 'half a surrogate pair'),
    ('? [a, b]\n: c', 'a list or mapping as a key')],
    ids=['ten megabytes', 'digits', 'binary', 'terminal', 'zero width', 'mark', 'tag', 'surrogate',
         'key'])
def test_text_that_is_made_to_hurt_the_reader_is_refused(said, message, tmp_path, capsys):
    path = tmp_path / 'hurts.yaml'
    path.write_text(f'id: X\nmessages: []\n{said}\n', encoding='utf-8')
    assert main(['scenario', 'validate', str(path)]) == 2
    shown = capsys.readouterr().err
    assert message in shown and 'Traceback' not in shown and len(shown) < 20_000


@pytest.mark.parametrize('command', ['validate', 'describe', 'list'])
def test_no_text_of_a_file_reaches_the_terminal_as_a_command(command, tmp_path, capsys):
    """Neither a key nor a text moves the cursor, or looks like a line of ours."""
    hurts, path = r'\e]0;pwned\a\e[31mRED\u202e\u2028\nerror: x', tmp_path / 'hurts.yaml'
    text = (DATA / 'nothing_after_the_reaction.yaml').read_text(encoding='utf-8')
    text = text.replace('description: A person steps ahead of a cart that is on its way.',
                        f'description: "{hurts}"').replace('expected_action: Stop.', (
                            f'expected_action: "{hurts}"\n"{hurts}": 1'))
    path.write_text(text.replace('{L229: it is odd by another idea}', (
        f'{{"{hurts}": 1}}\n  variant_of: "{hurts}"')), encoding='utf-8')
    assert main(['scenario', command, str(path)]) == 0
    shown = ''.join(capsys.readouterr())
    assert not set(shown) & set('\x1b\a\u202e\u2028') and '\nerror: ' not in shown
    assert command == 'list' or r'\u001b[31mRED\u202e' in shown


def test_a_pattern_that_backtracks_elsewhere_is_looked_at_at_once(tmp_path, capsys):
    text = (DATA / 'check_that_any_answer_meets.yaml').read_text(encoding='utf-8')
    path = tmp_path / 'slow.yaml'
    path.write_text(text.replace("'.*'", "'(a+)+(a+)+(a|aa)+stop$'"), encoding='utf-8')
    assert main(['scenario', 'validate', str(path)]) == 0
    assert 'Traceback' not in capsys.readouterr().err


def test_an_id_with_a_path_in_it_writes_nothing_outside_of_the_run(tmp_path):
    text = (DATA / 'nothing_after_the_reaction.yaml').read_text(encoding='utf-8')
    folder = tmp_path / 'deep' / 'down'
    folder.mkdir(parents=True)
    path = folder / 'scenario.yaml'
    path.write_text(text.replace('id: HOSTILE', 'id: ../../../escaped'), encoding='utf-8')
    main(['run', str(path), '--link', 'loopback', '--output', str(folder / 'run')])
    assert {one.name for one in tmp_path.iterdir()} == {'deep'}
    assert {one.name for one in folder.parent.iterdir()} == {'down'}
    assert {one.name for one in folder.iterdir()} <= {'scenario.yaml', 'run'}
    shutil.rmtree(folder / 'run', ignore_errors=True)
