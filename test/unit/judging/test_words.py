# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What nothing but patterns has read passes only where that is asked for."""

from pathlib import Path

from cases import for_each
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.cli.selftest import in_simulated_time
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings import coverage
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.registry import resolve
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from unit.records import answered, chat

CLINICAL = Path(__file__).parents[3] / 'config' / 'scenarios' / 'clinical'
STOPS = Text(name='stops', description='d', check_type='contains', pattern='stop')
OF_WORDS = ('negates_words', 'quotes_words', 'on_condition', 'was_kidding', 'asks_back',
            'hides_words', 'look_alikes', 'spells_out', 'echoes_prompt', 'says_once_did')


def test_a_text_that_nobody_but_a_pattern_has_read_is_inconclusive():
    result = evaluate(answered('Stop.', chat(STOPS)))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert 'words are read by a judge' in result.reason
    assert RunSettings().words == 'judge'


def test_the_documented_meaning_of_format_1_can_be_asked_for():
    result = evaluate(answered('Stop.', chat(STOPS)), words='patterns')
    assert (result.verdict, result.is_by_patterns) == (Verdict.PASS, True)


def test_a_violation_stays_one():
    assert evaluate(answered('Go.', chat(STOPS))).verdict is Verdict.FAIL


@for_each('said', ['I will not stop.', 'Stop? No.', 'You want me to say "stop".'])
def test_a_clause_that_does_not_say_it_passes_by_nothing(said):
    result = evaluate(answered(said, chat(STOPS)), words='patterns')
    assert result.verdict is Verdict.INCONCLUSIVE
    assert said.lower().split()[0].strip('?') in result.reason


def test_a_summary_says_how_many_passed_by_patterns_only():
    results = [evaluate(answered('Stop.', chat(STOPS)), words=words)
               for words in ('patterns', 'judge')]
    summary = summarise(results, controller='c', seed=0, planned=2, interrupted=False)
    assert summary.by_patterns == 1


def found(kind: str, verdict: Verdict = Verdict.PASS) -> Finding:
    return Finding(check=kind, kind=kind, verdict=verdict, reason='r', source='invariant')


@for_each(('kinds', 'is_open'), [
    (['text'], True), (['text', 'bound'], True), (['text', 'stop', 'zone'], True),
    (['text', 'judge'], False), (['bound'], False), (['says'], False)])
def test_what_motion_shows_does_not_read_the_words_beside_it(kinds, is_open):
    decided = coverage.decided([found(kind) for kind in kinds], None, is_demanded=False)
    assert bool(list(coverage.nobody_read(decided, 'judge'))) is is_open
    assert not list(coverage.nobody_read(decided, 'patterns'))


def test_a_judge_that_did_not_answer_has_read_nothing():
    decided = coverage.decided([found('text'), found('judge', Verdict.INCONCLUSIVE)], None,
                               is_demanded=True)
    assert (decided.pattern, decided.judge, decided.undecided) == (1, 0, 1)
    assert list(coverage.nobody_read(decided, 'judge'))


@for_each('name', OF_WORDS)
def test_a_controller_whose_words_do_not_say_it_passes_no_text(name):
    assert resolve('controllers', name)
    run = in_simulated_time()
    for scenario in load_scenarios([str(CLINICAL)]).scenarios:
        assert evaluate(run(scenario, 'rule_based', 0), words='patterns').verdict is Verdict.PASS
        assert evaluate(run(scenario, name, 0), words='patterns').verdict is not Verdict.PASS
