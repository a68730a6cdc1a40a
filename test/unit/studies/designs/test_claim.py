# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A claim in words is read, and takes as many trials as the exact binomial law says."""

from bisect import bisect_left
from io import StringIO
import json
import os

from cases import for_each
import pytest
from rich.console import Console
from safety_scenarios.campaign.statistics.paired import difference_of_failures, Outcomes
from safety_scenarios.cli.main import main
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.study_text import claim_lines, claim_table
from safety_scenarios.studies.designs.claim import (
    Claim,
    EXAMPLES,
    measured_time,
    plan_claim,
    read_claim,
    TrialTime,
)
from safety_scenarios.studies.matrix.file import freeze, matrix_of_controllers, write_matrix
from scipy import stats
from unit.loopback_runs import loopback_run

SLOW = TrialTime(20.0, 'assumed')


@for_each(('text', 'claim'), [
    ('miss rate <= 1e-3 at 95 %', Claim('miss rate', 1e-3)),
    ('False stop rate <= 2 %', Claim('false stop rate', 0.02)),
    ('failure rate<=0.1% at 99.9%', Claim('failure rate', 0.001, 0.999)),
    ('pass rate >= 99 % at 0.9', Claim('pass rate', 0.99, 0.9)),
    ('p99 reaction <= 500 ms at 95 %', Claim('reaction', 500.0, quantile=0.99)),
    ('p99.9 reaction <= 0.5 s', Claim('reaction', 500.0, quantile=0.999)),
    ('difference of failures <= 2 %', Claim('difference of failures', 0.02))])
def test_a_claim_is_read_as_it_is_said(text, claim):
    found = read_claim(text)
    assert (found.subject, found.limit) == (claim.subject, pytest.approx(claim.limit))
    assert (found.confidence, found.quantile) == (
        pytest.approx(claim.confidence), pytest.approx(claim.quantile))
    assert read_claim(str(found)) == found


@for_each(('text', 'says'), [
    ('mis rate <= 1e-3', "got 'mis rate', expected one of miss rate, .* reaction. "
                         r"Did you mean 'miss rate'\? For"),
    ('miss rate >= 1e-3', "got '>=' behind 'miss rate', expected <=: it must not be higher"),
    ('pass rate <= 99 %', "got '<=' behind 'pass rate', expected >="),
    ('miss rate < 1e-3', "got '<' behind 'miss rate', expected <="),
    ('miss rate <= 5', 'got the limit 5, expected a share below 1, or 5 %'),
    ('miss rate <= 0', 'got the limit 0, expected a share above 0'),
    ('miss rate <= 100 %', 'got the limit 100, expected a share above 0 and below 1'),
    ('miss rate <= many', "got 'many', expected the limit, a number"),
    ('miss rate <= 1.2.3', "got '1.2.3', expected the limit, a number"),
    ('miss rate <=', 'got the end of the text, expected the limit'),
    ('p99 reaction <= 500', "got 'no unit' behind the time, expected ms or s"),
    ('p20 reaction <= 1 s', 'got p20, expected p50 to p99.99'),
    ('miss rate <= 1e-3 in 95 %', "got 'in', expected 'at' and a confidence"),
    ('miss rate <= 1e-3 at 30 %', 'got a confidence of 30 %, expected more than 50 %'),
    ('miss rate <= 1e-3 at 50 %', 'got a confidence of 50 %, expected more than 50 %'),
    ('miss rate <= 1e-3 at 95 % or so', "got 'or so' behind the claim"),
    ('', "got '', expected one of miss rate"),
    ('miss rate <= ' + '9' * 500, 'got 513 characters')])
def test_what_is_no_claim_is_refused_with_what_would_be_one(text, says):
    with pytest.raises(SettingsError, match=says) as caught:
        read_claim(text)
    assert EXAMPLES[0] in str(caught.value)


@for_each(('text', 'rate', 'confidence'), [
    ('miss rate <= 1e-3 at 95 %', 1e-3, 0.95), ('pass rate >= 99 % at 99 %', 0.01, 0.99),
    ('p95 reaction <= 500 ms', 0.05, 0.95)])
def test_so_many_trials_and_no_fewer_show_it_by_the_binomial_law(text, rate, confidence):
    for row in plan_claim(read_claim(text), SLOW, [rate / 5.0]).rows:
        for n, is_enough in ((row.fixed, True), (row.fixed - 1, False)):
            miss = stats.binom.cdf(row.failures, n, rate)
            assert (miss <= (1.0 - confidence) * (1.0 + 1e-9)) == is_enough
            upper = stats.beta.ppf(confidence, row.failures + 1, n - row.failures)
            assert (upper <= rate * (1.0 + 1e-9)) == is_enough
        assert row.power[0] == pytest.approx(stats.binom.cdf(row.failures, row.fixed, rate / 5.0))
        assert row.fixed < row.anytime < 1.6 * row.fixed


@for_each('text', ['difference of failures <= 2 %', 'difference of failures <= 10 % at 90 %'])
def test_a_gate_accepts_a_difference_by_so_many_pairs_and_by_no_fewer(text):
    claim = read_claim(text)
    for row in plan_claim(claim, SLOW).rows:
        assert is_accepted(claim, row.failures, 0, row.fixed)
        assert not is_accepted(claim, row.failures, 0, row.fixed - 1)
        assert row.anytime is None


def is_accepted(claim: Claim, losses: int, gains: int, pairs: int) -> bool:
    """Return whether an interval of one-sided pairs is within the limit."""
    kinds = {(True, False): losses, (False, True): gains, (True, True): pairs - losses - gains}
    found = difference_of_failures([Outcomes({kind: 1}) for kind, many in kinds.items()
                                    for _ in range(many)], 2.0 * claim.confidence - 1.0)
    return found.high <= claim.limit


def test_the_numbers_of_the_standards_are_found():
    rows = plan_claim(read_claim('p99 reaction <= 500 ms at 95 %'), SLOW).rows
    assert [row.fixed for row in rows[:3]] == [299, 473, 628]
    found = plan_claim(read_claim('miss rate <= 1e-3'), SLOW)
    assert (found.rows[0].fixed, found.rows[0].anytime, found.sequential) == (2995, 3787, 3327)


def test_hours_and_processes_follow_from_the_time_of_a_trial():
    found = plan_claim(read_claim('miss rate <= 1e-3'), SLOW)
    assert found.hours(found.rows[0].fixed) == pytest.approx(2995 * 20 / 3600)
    assert [found.jobs(hours) for hours in (100.0, 8.0, 1.0)] == [1, 3, 17]
    both = plan_claim(read_claim('difference of failures <= 2 %'), SLOW)
    assert both.hours(149) == pytest.approx(2 * 149 * 20 / 3600)


def test_the_plan_of_a_difference_says_what_compare_asks_for():
    lines = list(claim_lines(plan_claim(read_claim('difference of failures <= 2 %'), SLOW), None))
    assert any('takes 183 pairs without a failure' in line for line in lines)
    assert any('compare --margin 2% ' in line for line in lines)
    assert not any('after each' in line or 'sequential' in line for line in lines)
    asked = plan_claim(read_claim('difference of failures <= 2 % at 97.5 %'), SLOW)
    assert asked.rows[0].fixed == 183
    assert not any('compare --margin' in line for line in claim_lines(
        plan_claim(read_claim('miss rate <= 2 %'), SLOW), None))


@for_each(('limit', 'discordant'), [(0.05, 0.0025), (0.05, 0.02), (0.1, 0.1)])
def test_pairs_of_a_difference_reach_the_power_that_is_promised(limit, discordant):
    """Every count that can come is held against the limit, as a gate does."""
    claim = read_claim(f'difference of failures <= {limit}')
    [pairs] = plan_claim(claim, SLOW, [discordant]).pairs
    power, likely = 0.0, int(stats.binom.ppf(1.0 - 1e-4, pairs, discordant))
    for differ in range(likely + 1):
        losses = bisect_left(range(differ + 1), True, key=lambda one: not is_accepted(
            claim, one, differ - one, pairs)) - 1
        power += stats.binom.pmf(differ, pairs, discordant) * stats.binom.cdf(losses, differ, 0.5)
    assert power >= 0.9 - 1e-4


def test_pairs_of_which_many_differ_are_those_of_the_normal_law():
    [pairs] = plan_claim(read_claim('difference of failures <= 5 %'), SLOW, [0.4]).pairs
    power = stats.norm.cdf(0.05 * (pairs / 0.4)**0.5 - stats.norm.ppf(0.95))
    assert power == pytest.approx(0.9, abs=0.002)


def test_a_power_is_never_said_to_be_higher_than_it_is():
    found = plan_claim(read_claim('miss rate <= 2 %'), SLOW, [0.0001])
    assert all(0.985 < row.power[0] < 1.0 for row in found.rows)
    screen = Console(width=200, file=StringIO())
    screen.print(claim_table(found))
    assert '99 %' in screen.file.getvalue() and '100 %' not in screen.file.getvalue()


def test_the_time_of_a_matrix_and_of_an_arm_is_that_of_the_trials_of_all(tmp_path):
    """The arms took turns: each of them lasted as long as both."""
    write_matrix(freeze(matrix_of_controllers(['a', 'b'], ['SCN-R-101'])), tmp_path)
    for name, began, ended_s in (('a', '00', 40), ('b', '04', 44)):
        folder = loopback_run(tmp_path / name, 'SCN-R-101', trials=2).folder
        settings = json.loads((folder / 'settings.json').read_text(encoding='utf-8'))
        settings['started'] = f'2026-01-01T00:00:{began}+00:00'
        (folder / 'settings.json').write_text(json.dumps(settings), encoding='utf-8')
        os.utime(folder / 'trials.jsonl', (1767225600 + ended_s,) * 2)
    assert [measured_time(tmp_path / name).seconds for name in ('', 'a', 'b')] == [
        pytest.approx(44 / 4)] * 3
    (tmp_path / 'matrix.yaml').write_text('scenarios: [SCN-R-101]\naxes: {period_ms: [50, 100]}\n')
    assert measured_time(tmp_path / 'a').seconds == pytest.approx(40 / 2), "a user's own file"


def test_a_rate_that_cannot_be_shown_or_assumed_is_refused():
    with pytest.raises(SettingsError, match='fewer cannot be shown by trials'):
        plan_claim(read_claim('miss rate <= 1e-12'), SLOW)
    with pytest.raises(SettingsError, match=r'--assume: got 0\.01, expected a rate above 0'):
        plan_claim(read_claim('miss rate <= 1e-3'), SLOW, [0.01])


def test_the_command_says_trials_and_takes_the_time_from_a_campaign(tmp_path, capsys):
    folder = loopback_run(tmp_path / 'run', 'SCN-R-101', trials=2).folder
    settings = json.loads((folder / 'settings.json').read_text(encoding='utf-8'))
    settings['started'] = '2026-01-01T00:00:00+00:00'
    (folder / 'settings.json').write_text(json.dumps(settings), encoding='utf-8')
    count = len((folder / 'trials.jsonl').read_text(encoding='utf-8').splitlines())
    os.utime(folder / 'trials.jsonl', (1767225600 + 7 * count,) * 2)
    assert measured_time(folder).seconds == pytest.approx(7.0)
    assert main(['plan', '--claim', 'miss rate <= 1 %', '--from', str(folder),
                 '--hours', '0.25']) == 0
    told = ' '.join(capsys.readouterr().out.split())
    assert 'Claim: miss rate <= 0.01 at 95 %' in told and ' 299 378 ' in told
    assert '7 s a trial (measured in run' in told and '3 processes at once' in told
    settings['settings']['jobs'] = 2  # each of two processes took twice as long for a trial
    (folder / 'settings.json').write_text(json.dumps(settings), encoding='utf-8')
    assert measured_time(folder).seconds == pytest.approx(14.0)
    os.utime(folder / 'trials.jsonl', (0, 0))
    assert main(['plan', '--claim', 'miss rate <= 1 %', '--from', str(folder)]) == 2
    assert 'as it left its files' in capsys.readouterr().err
