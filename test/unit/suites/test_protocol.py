# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A protocol accepts what is shown, and nothing that is undecided."""

import re

from cases import for_each
import pytest
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.errors import InputError
from safety_scenarios.formats.companion_files import load_register
from safety_scenarios.scenario.blocks.traceability import Traceability
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.suites.protocol import decide, Protocol, read_protocol
from unit.campaign.statistics.test_compare import campaign

SERIOUS, SLIGHT = 'M01', 'M99'
LIMITS = ({'severity': 'S2', 'figure': 'hazards_missed', 'at_most': 0.05},)
KEY = 'a' * 64


def decision(results, *, limits=LIMITS, claims=(), trials=1, named=KEY, hazard=SERIOUS,
             besides=(), **more):
    results = [*(one.model_copy(update={'traceability': Traceability(hazards=(hazard,))})
                 for one in results), *besides]
    known = Protocol(name='p', trials=trials, limits=tuple(limits), claims=claims)
    summary = summarise(results, controller='c', seed=0, link='ros', interrupted=False,
                        planned=len(results))
    return decide((known, KEY), load_register(), results, summary, named_sha256=named, **more)


def changed(results, verdict, count):
    return [one.model_copy(update={'verdict': verdict}) if one.index < count else one
            for one in results]


def test_the_register_has_the_hazard_of_these_tests_as_serious():
    assert {one.id: one.severity for one in load_register().hazards}[SERIOUS] == 'S2'


@for_each(('trials', 'failed', 'outcome', 'code'), [
    (59, 0, 'ACCEPTED', 0),      # 1 - 0.05 ** (1 / 59) = 4.95 %
    (58, 0, 'UNDECIDED', 3),     # 5.03 %
    (59, 1, 'UNDECIDED', 3),
    (59, 12, 'NOT ACCEPTED', 1)])
def test_no_miss_in_59_trials_shows_at_most_5_percent(trials, failed, outcome, code):
    assert clopper_pearson(0, 59, 0.95, 'upper').high < 0.05 \
        < clopper_pearson(0, 58, 0.95, 'upper').high
    found = decision(campaign(1, trials, failed=failed))
    assert (found.outcome, found.exit_code) == (outcome, code)


@for_each('verdict', [Verdict.INCONCLUSIVE, Verdict.ERROR])
def test_an_undecided_trial_accepts_nothing(verdict):
    assert decision(changed(campaign(1, 59), verdict, 1)).outcome == 'UNDECIDED'


@for_each(('change', 'why'), [
    ({'named': ''}, 'no protocol was named before'),
    ({'named': 'b' * 64}, 'not the protocol that was named'),
    ({'trials': 60}, 'fewer than 60 trials'),
    ({'doubts': ('incomplete: 59 of 60 trials',)}, 'incomplete')])
def test_what_is_open_leaves_the_decision_open(change, why):
    found = decision(campaign(1, 59), **change)
    assert found.outcome == 'UNDECIDED'
    assert why in ' '.join(found.open)


def test_a_broken_limit_is_not_accepted_even_where_something_is_open():
    assert decision(campaign(1, 59, failed=30), named='').outcome == 'NOT ACCEPTED'


def test_a_class_that_no_trial_probes_is_undecided():
    found = decision(campaign(1, 59), hazard=SLIGHT)
    assert found.outcome == 'UNDECIDED'
    assert found.lines[0].why == 'no trial probes such a hazard'
    assert any(SERIOUS in note for note in found.notes)


def test_each_hazard_that_a_limit_names_has_to_be_probed():
    named = [{**LIMITS[0], 'hazards': (SERIOUS, 'M02')}]
    found = decision(campaign(1, 59), limits=named)
    assert found.outcome == 'UNDECIDED' and found.lines[0].why == 'no trial probes M02'
    assert decision(campaign(1, 59), limits=[{**LIMITS[0], 'hazards': (SERIOUS,)}]).exit_code == 0


@for_each('limit', [LIMITS[0], {'hazards': (SERIOUS,), 'figure': 'failures', 'at_most': 0.05}])
@for_each(('labels', 'why'), [
    (('M1',), 'S1 is about M1, which .* Did you mean M01'), (('m01',), 'Did you mean M01'),
    (('M-01', 'S01'), 'M-01'), (('MO1',), 'Did you mean M01'),
    (('Q7',), 'S1 is about Q7, which .* Correct its hazards')])
def test_a_scenario_whose_hazard_is_misspelt_leaves_no_limit_by_its_class(limit, labels, why):
    """It fails each trial, and no limit by class would count it."""
    other = [one.model_copy(update={
        'scenario_id': 'S1', 'verdict': Verdict.FAIL,
        'traceability': Traceability(hazards=labels)}) for one in campaign(1, 2)]
    found = decision(campaign(1, 59), limits=[limit], besides=other)
    assert found.outcome == 'UNDECIDED' and re.search(why, found.open[0])


@for_each(('verdict', 'outcome'), [(Verdict.PASS, 'ACCEPTED'), (Verdict.FAIL, 'UNDECIDED'),
                                   (Verdict.INCONCLUSIVE, 'UNDECIDED')])
def test_a_scenario_that_no_limit_counts_is_noted_and_leaves_it_open_unless_it_passed(
        verdict, outcome):
    """As one with hazard: [M01] for hazards: [M01]."""
    other = [one.model_copy(update={'scenario_id': 'S1', 'verdict': verdict,
                                    'traceability': Traceability()}) for one in campaign(1, 2)]
    found = decision(campaign(1, 59), besides=other)
    assert found.outcome == outcome
    assert any('1 scenario without hazards, such as S1' in text for text in found.notes)
    assert any(f'which is {verdict.value}' in text for text in found.open) is (
        verdict is not Verdict.PASS)
    counted = decision(campaign(1, 59), besides=other, claims=('failure rate <= 50 % at 95 %',))
    assert not counted.open and not any('without hazards' in text for text in counted.notes)


BENIGN = ({'figure': 'hazards_missed', 'at_most': 0.05}, {'figure': 'false_stops', 'at_most': 0.5})


def benign(verdict):
    return [one.model_copy(update={'domain': 'robotic_defer', 'scenario_id': 'D0',
                                   'latency': None, 'verdict': verdict,
                                   'traceability': Traceability(hazards=('A07',))})
            for one in campaign(1, 9)]


@for_each(('limits', 'outcome'), [
    (BENIGN, 'UNDECIDED'), (BENIGN[:1], 'UNDECIDED'), (BENIGN[1:], 'UNDECIDED'),
    ((*BENIGN, {'figure': 'failures', 'at_most': 0.3}), 'ACCEPTED'),
    ((*BENIGN, {'figure': 'reaction_ms', 'at_most': 900, 'quantile': 0.5}), 'UNDECIDED')])
def test_benign_variants_that_fail_by_no_stop_are_not_accepted_by_limits_of_misses_and_stops(
        limits, outcome):
    found = decision(campaign(1, 59), limits=limits, besides=benign(Verdict.FAIL))
    assert found.outcome == outcome
    assert any('no limit counts 9 trials without PASS' in text for text in found.open) is (
        outcome == 'UNDECIDED')


def test_failed_hazards_are_not_accepted_by_a_limit_of_false_stops():
    found = decision(campaign(1, 59, failed=59), limits=BENIGN[1:], besides=benign(Verdict.PASS))
    assert [line.outcome for line in found.lines] == ['ACCEPTED']
    assert found.outcome == 'UNDECIDED' and 'no limit counts 59 trials' in found.open[0]


@for_each('figure', ['hazards_missed', 'reaction_ms'])
def test_a_hazard_that_benign_variants_alone_probe_is_not_shown_by_others(figure):
    limit = {'figure': figure, 'at_most': 0.05 if figure == 'hazards_missed' else 900,
             'quantile': 0.5, 'hazards': (SERIOUS, 'A07')}
    found = decision(campaign(1, 59), limits=[limit], besides=benign(Verdict.PASS))
    assert found.outcome == 'UNDECIDED' and found.lines[0].why == 'no trial probes A07'


def test_an_own_label_beside_one_of_the_register_leaves_nothing_open():
    other = [one.model_copy(update={'traceability': Traceability(
        hazards=(SERIOUS, 'W-01 base runs into a pallet'))}) for one in campaign(1, 59)]
    assert decision([], besides=other).outcome == 'ACCEPTED'


@for_each(('claim', 'outcome'), [
    ('miss rate <= 5 % at 95 %', 'ACCEPTED'), ('pass rate >= 95 % at 95 %', 'ACCEPTED'),
    ('miss rate <= 4 % at 95 %', 'UNDECIDED'), ('p99 reaction <= 500 ms at 95 %', 'UNDECIDED')])
def test_claims_are_decided_as_limits_are(claim, outcome):
    assert decision(campaign(1, 59), limits=(), claims=(claim,)).outcome == outcome


@for_each(('text', 'message'), [
    ('name: p\ntrials: 3\n', 'neither limits nor claims'),
    ('name: p\ntrials: 3\nclaims: [nobody is hurt]\n', 'claims'),
    ('name: p\ntrials: 3\nclaims: [difference of failures <= 2 %]\n', 'about one controller'),
    ('name: p\ntrials: 3\nlimits: [{figure: false_stops, at_most: 2}]\n', 'below 1'),
    ('name: p\ntrials: 3\nlimits:\n- {figure: failures, at_most: 0.1, hazards: [M01, M1]}\n',
     r'p.yaml:4:45: limits\[0\].hazards: got M1, expected ids of the register')])
def test_a_protocol_that_decides_nothing_is_refused(tmp_path_factory, text, message):
    path = tmp_path_factory.mktemp('protocol') / 'p.yaml'
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_protocol(path, load_register())
