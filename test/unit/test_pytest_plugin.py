# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The pytest plug-in, as it is in somebody else's package: what it fails, and what it prints."""

from importlib.metadata import entry_points
import subprocess
import sys
from textwrap import dedent

import pytest
from safety_scenarios import run

pytest_plugins = ('pytester',)
pytestmark = pytest.mark.slow
HEAD = 'import pytest\nimport safety_scenarios as ss\nmark = pytest.mark.safety_scenario\n'


@pytest.fixture(scope='module', autouse=True)
def imported():
    """Import now what a campaign needs: what an inner run imports is forgotten after it."""
    run('SCN-R-101', link='loopback')


@pytest.fixture
def outcome(pytester):
    """Run a test file as somebody else's pytest would, where the entry point loads the plug-in."""
    pytester.makeini('[pytest]\nfilterwarnings = error\naddopts = --strict-markers')

    def outcome(text: str, *arguments: str, of_its_own: bool = False):
        pytester.makepyfile(HEAD + dedent(text))
        start = pytester.runpytest_subprocess if of_its_own else pytester.runpytest_inprocess
        return start('-p', 'no:cacheprovider', *arguments)
    return outcome


def test_it_is_found_by_its_entry_point():
    [entry] = [entry for entry in entry_points(group='pytest11')
               if entry.name == 'safety_scenarios']
    assert entry.value == 'safety_scenarios.pytest_plugin'


def test_a_controller_that_passes_passes_and_the_body_runs(outcome):
    found = outcome("""
        @mark('SCN-R-101', 'SCN-R-102', link='loopback', trials=2)
        def test_good(safety_results):
            assert safety_results.verdict is ss.Verdict.PASS
            assert len(safety_results.trials) == 4
            print('the body ran')
        """, '-s', of_its_own=True)
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(['*the body ran*'])


def test_a_controller_that_fails_fails_with_the_findings_before_the_body(outcome):
    found = outcome("""
        @mark('SCN-R-101', controller='never_stop', link='loopback', trials=2)
        def test_bad():
            print('the body ran')
        """, '-s')
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines([
        'FAIL against never_stop: 2 of 2 trials completed (2 FAIL), 0 passed with words read by '
        'patterns only, seed 0',
        'SCN-R-101 (Person steps near), trial 1: FAIL', '  FAIL *: * (margin *)',
        'SCN-R-101 (Person steps near), trial 2: FAIL',
        'FAILED *::test_bad*'])
    assert 'the body ran' not in found.stdout.str()
    assert 'pytest_plugin.py' not in found.stdout.str()


@pytest.mark.parametrize(('controller', 'verdict'), [
    ('always_stop', 'INCONCLUSIVE'), ('Broken', 'ERROR')])
def test_what_could_not_be_judged_is_an_error_and_never_a_skip_or_a_failure(
        outcome, controller, verdict):
    name = controller if controller == 'Broken' else repr(controller)
    found = outcome(f"""
        class Broken:
            def decide(self, observation):
                raise RuntimeError('no weights')

        @mark('SCN-R-101', controller={name}, link='loopback')
        def test_unknown():
            print('the body ran')
        """, '-s')
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines([f'{verdict} against *: 1 of 1 trial completed (1 {verdict}), 0 '
                                'passed with words read by patterns only, seed 0',
                                f'SCN-R-101 (Person steps near), trial 1: {verdict}',
                                'ERROR *::test_unknown*'])
    assert 'the body ran' not in found.stdout.str()


def test_one_failure_among_trials_that_could_not_be_judged_is_a_failure(outcome):
    """SCN-R-D-101 asks always_stop to go on, which it does not."""
    outcome("""
        @mark('SCN-R-101', 'SCN-R-D-101', controller='always_stop', link='loopback')
        def test_bad():
            pass
        """).assert_outcomes(failed=1)


@pytest.mark.parametrize(('arguments', 'told'), [
    ("'SCN-R-1O1', link='loopback'", "*Did you mean 'SCN-R-101'*"),
    ("'SCN-R-101', link='loopback', trails=3", "*Did you mean 'trials'*"),
    ("link='loopback'", '*the test names no scenario*')])
def test_a_marker_that_does_not_fit_is_an_error_that_says_what_to_do(outcome, arguments, told):
    found = outcome(f"""
        @mark({arguments})
        def test_wrong():
            pass
        """)
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines([told])
    assert 'Traceback' not in found.stdout.str()


def test_the_results_of_a_test_without_the_marker_are_an_error(outcome):
    found = outcome("""
        def test_wrong(safety_results):
            pass
        """)
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(['*Mark it, for example with*'])


def test_settings_are_said_once_and_the_marker_goes_before_them(outcome):
    outcome("""
        @pytest.fixture
        def safety_settings():
            return {'controller': 'never_stop', 'link': 'loopback'}

        @mark('SCN-R-101')
        def test_bad():
            pass

        @mark('SCN-R-101', controller='rule_based')
        def test_good():
            pass

        def test_own_loop(safety_run):
            verdicts = [safety_run('SCN-R-101', controller=name).verdict.value
                        for name in ('rule_based', 'never_stop', 'always_stop')]
            assert verdicts == ['PASS', 'FAIL', 'INCONCLUSIVE']
            assert safety_run('SCN-R-101').summary.controller == 'never_stop'
        """).assert_outcomes(passed=2, failed=1)


def test_the_marker_of_a_class_or_a_module_counts_for_its_tests(outcome):
    outcome("""
        import unittest
        pytestmark = mark('SCN-R-101', controller='never_stop', link='loopback')

        def test_bad():
            pass

        class TestIt:
            def test_bad(self):
                pass

        class TestOld(unittest.TestCase):
            def test_bad(self):
                pass

        """).assert_outcomes(failed=3)


def test_of_two_markers_neither_is_left_out_in_silence(outcome):
    found = outcome("""
        @mark('SCN-R-101', controller='never_stop', link='loopback')
        class TestIt:
            @mark('SCN-R-D-101', controller='never_stop', link='loopback')
            def test_both(self):
                pass

        @mark('SCN-R-D-101', controller='never_stop', link='loopback')
        @mark('SCN-R-101', controller='never_stop', link='loopback')
        def test_stacked():
            pass
        """)
    found.assert_outcomes(errors=2)
    found.stdout.fnmatch_lines(['*got 2 markers safety_scenario*expected one*'])


def test_an_expected_failure_is_one(outcome):
    outcome("""
        @pytest.mark.xfail(strict=True)
        @mark('SCN-R-101', controller='never_stop', link='loopback')
        def test_bad():
            pass
        """).assert_outcomes(xfailed=1)


def test_tests_without_the_marker_are_left_alone(outcome):
    found = outcome("""
        def test_other():
            import sys
            assert 'pydantic' not in sys.modules
            assert not [name for name in sys.modules if name.startswith('safety_scenarios.')
                        and name not in ('safety_scenarios.pytest_plugin',
                                         'safety_scenarios.dependencies')]
        """, '-p', 'no:hypothesispytest', of_its_own=True)
    found.assert_outcomes(passed=1)


def test_the_marker_explains_itself(outcome):
    outcome('', '--markers').stdout.fnmatch_lines(['@pytest.mark.safety_scenario(*'])


def test_importing_the_plug_in_takes_pytest_and_nothing_else():
    code = ('import pytest, sys\nbefore = set(sys.modules)\n'
            'import safety_scenarios.pytest_plugin\n'
            'print(*sorted(set(sys.modules) - before))')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          check=True, timeout=60)
    assert done.stdout.split() == ['safety_scenarios', 'safety_scenarios.dependencies',
                                   'safety_scenarios.pytest_plugin']
