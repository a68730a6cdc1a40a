# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Patterns that RE2 refuses run in a process that can be ended, and only if somebody asks."""

from pathlib import Path
import subprocess

import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants import text
from safety_scenarios.judging.invariants.text import (
    PythonPattern,
    PythonPatternError,
    TextInPython,
)
from safety_scenarios.scenario.verdict import Verdict
from unit.formats.files import plain, robot, write
from unit.records import answered, chat

AHEAD = r'stop(?! not)'
FOR_EVER = r'^(a+)+(?=z)'


def check(pattern, check_type='regex', **changes):
    return TextInPython(name='n', description='d', check_type=check_type, pattern=pattern,
                        **changes)


@pytest.fixture
def processes(monkeypatch):
    """Return every process that is started."""
    started = []

    def popen(*arguments, **options):
        started.append(subprocess.Popen(*arguments, **options))
        return started[-1]
    monkeypatch.setattr(text, 'subprocess', type('', (), {
        'Popen': staticmethod(popen), 'PIPE': subprocess.PIPE, 'DEVNULL': subprocess.DEVNULL}))
    return started


def test_look_ahead_and_back_references_are_found_in_a_process_that_has_ended(processes):
    assert check(AHEAD).holds('  STOP now') is True
    assert check(AHEAD).holds('stop not') is False
    assert check(r'(\w)\1').holds('speed') is True
    assert check(r'(?=Stop)', case_sensitive=True).holds('stop') is False
    assert evaluate(answered('Stop.', chat(check(AHEAD))), words='patterns').verdict \
        is Verdict.PASS
    assert evaluate(answered('Stop joking.', chat(check(AHEAD))), words='patterns').verdict \
        is Verdict.INCONCLUSIVE
    assert processes and all(one.returncode is not None for one in processes)


def test_what_re2_knows_starts_no_process(processes):
    assert check('st[ao]p').holds('stop') and check('stop', 'contains').holds('stop')
    assert processes == []


def test_a_match_that_never_ends_is_ended_and_inconclusive(monkeypatch, processes):
    monkeypatch.setattr(text, 'MATCH_S', 0.2)
    endless = 'a' * 60
    found = evaluate(answered(endless, chat(check(FOR_EVER))), words='patterns')
    assert found.verdict is Verdict.INCONCLUSIVE
    assert 'matching took longer than the 0.2 s that it may' in found.reason
    assert check(FOR_EVER).holds(endless) is None
    assert all(one.returncode is not None for one in processes)


def test_a_pattern_that_python_refuses_too_is_refused_and_leaves_no_process(processes):
    with pytest.raises(ValueError, match='compiling the pattern failed'):
        check('(?=a')
    assert [one.returncode is not None for one in processes] == [True]


def test_a_process_that_is_gone_is_no_match(processes):
    with PythonPattern(AHEAD) as pattern:
        processes[0].kill()
        with pytest.raises(PythonPatternError, match='ended its process'):
            pattern.place('stop', 0, 4)


def test_the_option_allows_it_and_the_refusal_names_the_option(tmp_path, capsys):
    path = write(tmp_path / 'my_scenario.yaml', plain(safety_invariants=[
        {'name': 'n', 'description': 'd', 'check_type': 'regex', 'pattern': AHEAD}]))
    with pytest.raises(ScenarioError, match='--set regex=python'):
        load_scenarios([path])
    assert main(['scenario', 'validate', path, '--regex', 'python']) == 0
    folder = tmp_path / 'run'
    assert main(['run', path, '--set', 'regex=python', '--link', 'loopback', '--words', 'patterns',
                 '--controller', 'parrot', '--output', str(folder)]) == 3
    capsys.readouterr()
    assert main(['evaluate', str(folder)]) == 3
    assert '1 of 1 result is unchanged, to the byte' in capsys.readouterr().out


@pytest.mark.parametrize('pattern', [
    r'(?<!not )stop', r'(?<=now )stop', r'(?!go)stop', r'(stop)\1', r'(?P<n>a)(?P=n)', r'(?>stop)',
    r'(?#remark)stop', r'(?x) stop', r'stop++', r'\Z', r'(?P<ü>stop)', r'[[]stop', r'\u0073top'])
def test_whatever_python_takes_is_validated(tmp_path, pattern):
    path = write(tmp_path / 'my_scenario.yaml', plain(safety_invariants=[
        {'name': 'n', 'description': 'd', 'check_type': 'regex', 'pattern': pattern}]))
    assert main(['scenario', 'validate', path, '--regex', 'python']) == 0


def test_no_file_can_ask_for_it(tmp_path):
    path = Path(write(tmp_path / 'a.yaml', robot(invariants=[
        {'name': 'n', 'kind': 'text_in_python', 'description': 'd', 'check_type': 'regex',
         'pattern': AHEAD}])))
    with pytest.raises(ScenarioError, match='which only the setting regex=python makes'):
        load_scenarios([path], 'python')
