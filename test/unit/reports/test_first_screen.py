# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The first screen of the page: it claims what the trials carry, and is green only for a pass."""

from dataclasses import replace
import gzip
import json
import re

from cases import for_each
import pytest
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.outputs.assurance import claim_of
from safety_scenarios.reports.outputs.report import drawn, write
from safety_scenarios.reports.page.first_screen import fixes, headline, tiles
from safety_scenarios.reports.page.page import compact, render, visible, visible_in
from safety_scenarios.reports.page.source import Source, Trust
from safety_scenarios.reports.page.tables import scenario_rows, sure_rows
from safety_scenarios.scenario.result import Finding, Note
from safety_scenarios.scenario.rounding import percent_down, percent_up
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.identity import Identity
from unit.campaign.statistics.test_summarise import benign_variant, said, STOPPED, summary, trial
from unit.loopback_runs import loopback_run


def source(*results, flaws=(), **more):
    found = summary(*results, **more)
    return Source('run', found, results, claim_of(found, results, flaws), Trust(flaws))


def seen(*results, **more):
    return headline(source(*results, **more))


def many(count, verdict='PASS', **more):
    return [trial(verdict, 50.0 + 0.01 * number, **more) for number in range(count)]


def test_59_trials_without_a_failure_claim_5_percent_and_58_claim_more():
    assert seen(*many(59))['bound'].startswith(
        '0 failures in 59 trials: at most 5 % fail at 95 % confidence')
    assert seen(*many(59))['tone'] == 'pass'
    assert '5.1 %' in seen(*many(58))['bound']
    assert source(*many(59)).claim.needed == {'0.05': 59, '0.01': 299, '0.001': 2995}


def test_trials_that_came_out_alike_are_one_trial():
    bound = seen(*(trial(duration_ms=0.0) for _ in range(59)))['bound']
    assert ('(1 of them differ in what is judged, no bound is narrower than theirs): '
            'at most 95 % fail') in bound


def test_failures_that_came_out_alike_are_counted_each():
    failed = [trial('FAIL', 900.0, duration_ms=0.0) for _ in range(35)]
    found = source(*many(265), *failed)
    assert found.claim.share.high == clopper_pearson(35, 300).high
    assert '35 failures in 300 trials (266 of them differ' in headline(found)['bound']
    several = source(*many(265), *failed, *many(50, scenario='B'), *many(50, scenario='C'))
    assert several.claim.share.value == 35 / 400


def test_how_long_a_trial_was_planned_makes_it_no_other_one_in_simulated_time():
    results = [trial(duration_ms=1000.0 + number) for number in range(59)]
    assert '1 of them differ' in seen(*results, link='loopback')['bound']
    assert 'at most 5 % fail' in seen(*results, link='ros')['bound']
    assert seen(*results, link='loopback', stopped_early={'A': 'accept after 59 trials'})[
        'bound'].startswith('No failure rate is claimed: a sequential test counted')


def test_a_campaign_without_a_hazard_is_not_green():
    found = seen(*many(59, domain='robotic_defer'))
    assert (found['verdict'], found['tone']) == ('PASS', 'partly')
    assert found['remarks'] == ['No trial had a hazard: nothing here shows that it reacts to one']


def test_trials_of_many_scenarios_are_bounded_by_scenarios_not_by_repeats():
    results = [one for name in 'ABCD' for one in many(100, scenario=name)]
    share = source(*results).claim.share
    assert share.value == 0 and share.high > 0.5 and share.low is None
    assert share.high == pytest.approx(clopper_pearson(0, 4, sided='upper').high)


def test_failures_have_both_ends_and_are_never_rounded_towards_what_is_hoped_for():
    share = clopper_pearson(1, 60)
    bound = seen(*many(59), trial('FAIL', 900.0))['bound']
    assert f'between {percent_down(share.low)} and {percent_up(share.high)} fail' in bound
    for value in (0.0499, 0.0501, 0.1009, 0.00012345, 0.99951, 1e-9):
        up, down = percent_up(value), percent_down(value)
        assert up.startswith('below') or float(up[:-2]) >= 100 * value
        assert float(down[:-2]) <= 100 * value
    assert percent_up(0.0) == '0 %' and percent_up(1.0) == '100 %'


@pytest.mark.parametrize('odd', [trial('INCONCLUSIVE'), trial('ERROR', measured=False)])
def test_nothing_is_claimed_over_trials_that_could_not_be_judged(odd):
    found = seen(*many(59), odd)
    assert found['bound'] == ('No failure rate is claimed: 1 of 60 trials could not be judged.')
    assert found['tone'] == odd.verdict.value.lower() and found['remarks']
    failed = seen(*many(58), trial('FAIL', 900.0), odd)
    assert failed['tone'] == 'fail' and failed['bound'].startswith('No failure rate is claimed')


@for_each(('more', 'text'), [
    ({'planned': 60}, '59 of 60 planned trials were completed'),
    ({'interrupted': True}, '59 of 59 planned trials were completed'),
    ({'sut': Identity(changed=('policy.pt changed',))}, 'were of the same controller'),
    ({'flaws': ('trials.jsonl: changed',)}, 'not as its campaign must have left it')])
def test_nothing_is_claimed_and_nothing_is_green_where_something_is_missing(more, text):
    found = seen(*many(59), **more)
    assert found['tone'] == 'inconclusive' and found['verdict'] == 'INCONCLUSIVE'
    assert text in found['bound'] and found['remarks']


def test_no_trial_at_all_is_no_pass():
    found = seen()
    assert found['verdict'] == 'INCONCLUSIVE' and 'no trial was run' in found['bound']


@pytest.mark.parametrize('odd', [
    {'findings': (said('latency', Verdict.PASS), said('judge', None))},
    {'notes': (Note(code='by-patterns', text='only patterns'),)}])
def test_a_pass_of_which_something_was_not_judged_is_not_green(odd):
    found = seen(*many(58), trial('PASS', 10.0, **odd))
    assert (found['verdict'], found['tone']) == ('PASS', 'partly') and found['remarks']


def test_warm_up_is_in_no_number_of_the_screen():
    found = source(*many(59), trial('FAIL', 900.0, warmup=True))
    assert found.claim.trials == 59 and fixes(found) == []


def test_a_reaction_that_could_not_be_measured_was_asked_for_and_bounds_nothing():
    def said_of_it(*results):
        return [one['more'] for one in tiles(source(*results)) if one['name'].startswith('Slow')]
    early = trial('INCONCLUSIVE', anticipatory=True, scenario='B')
    assert said_of_it(early) == ['in 1 trial it could not be measured']
    assert '99 of 100' in said_of_it(*many(299))[0]
    assert '99 of 100' not in said_of_it(*many(299), early)[0]


def test_the_worst_margin_is_what_was_too_little_before_what_was_left():
    near = Finding(check='keeps away', kind='separation', verdict=Verdict.PASS, reason='r',
                   margin=0.01, unit='m')
    late = Finding(check='in time', kind='latency', verdict=Verdict.FAIL, reason='r',
                   margin=-0.2, unit='s')
    good = trial('PASS', 50.0, findings=(near,))
    [tile] = [one for one in tiles(source(good, trial('FAIL', 700.0, findings=(near, late))))
              if one['name'] == 'Worst margin']
    assert (tile['value'], tile['tone']) == ('-200 ms', 'fail')
    [tile] = [one for one in tiles(source(good)) if one['name'] == 'Worst margin']
    assert tile['value'] == '+0.01 m'


def test_what_to_look_at_first_is_the_worst_trial_of_each_scenario():
    found = fixes(source(trial('INCONCLUSIVE', scenario='B'),
                         trial('FAIL', 700.0, scenario='A', failure_class='D'),
                         trial('FAIL', 700.0, scenario='C', failure_class='A'), *many(3)))
    assert [(one['id'], one['verdict']) for one in found] == [
        ('C', 'FAIL'), ('A', 'FAIL'), ('B', 'INCONCLUSIVE')]
    assert found[1]['count'] == '1 of 4'


def test_the_badge_of_the_worst_verdict_counts_no_other_one():
    [found] = fixes(source(trial('ERROR'), trial('INCONCLUSIVE'), *many(2, 'FAIL'), trial()))
    assert (found['verdict'], found['count']) == ('FAIL', '2 of 5')


def test_the_worst_trial_is_that_of_show():
    close = Finding(check='stays', kind='standing', verdict=Verdict.FAIL, reason='r', margin=-0.01,
                    unit='m/s')
    first, worst = (trial('FAIL', 50.0, findings=findings, failure_class='A', index=index)
                    for index, findings in enumerate(((close,), (close, close))))
    found = source(first, worst)
    assert fixes(found)[0]['trial'] == scenario_rows(found)[0]['trial'] == worst.trial_id
    assert worst.trial_id != first.trial_id


def test_each_region_of_a_page_of_several_campaigns_has_a_name_of_its_own():
    one, other = (replace(source(*many(3)), name=name) for name in ('one', 'other'))
    names = re.findall(r'role="region" aria-label="([^"]*)"', render([one, other]).html)
    assert len(names) == len(set(names)) > 4


@for_each(('text', 'shown'), [
    ('a\x00b\x1b[0m', 'a␀b␛[0m'), ('\u202eevil\u2028', '[U+202E]evil[U+2028]'),
    ('\ud800', '[U+D800]'), ('two\nlines\t', 'two\nlines\t'), ('שלום 😀', 'שלום 😀')])
def test_what_nobody_sees_becomes_a_sign_and_letters_stay(text, shown):
    assert visible(text) == shown and visible(shown) == shown


def test_a_book_is_cut_and_says_so():
    assert len(visible('A' * 1_000_000)) < 5000 and '1000000 characters' in visible('A' * 10**6)
    assert json.loads(compact(visible_in({'a\x00': ['\x1b', 1, None]}))) == {'a␀': ['␛', 1, None]}


def test_what_cannot_be_drawn_says_why_and_costs_nothing_else():
    assert 'error' in json.loads(drawn(None, trial()))


def test_a_page_says_by_its_policy_that_it_asks_no_network(tmp_path, monkeypatch):
    monkeypatch.delenv('SAFETY_SCENARIOS_REPORT')
    run = loopback_run(tmp_path / 'run', 'SCN-R-D-102')
    data = gzip.decompress((run.folder / 'views.jsonl.gz').read_bytes())
    lines = list(map(json.loads, data.splitlines()))
    assert [sorted(line) for line in lines] == [['about', 'scenario_id'], ['trial_id', 'view']]
    assert 'views.jsonl.gz' in json.loads((run.folder / 'manifest.json').read_text())
    html = render([source(*many(3))]).html
    policy = html.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and 'http' not in policy
    assert 'unsafe-inline' not in policy.partition('script-src')[2].partition(';')[0]
    assert '<script src' not in html


@pytest.mark.parametrize('theirs', ['1.js', '2.js/data'])
def test_files_of_others_beside_the_page_stay_whatever_they_are_called(theirs, tmp_path):
    kept, ours = tmp_path / 'page_data' / theirs, tmp_path / 'page_data' / '0.js'
    kept.parent.mkdir(parents=True)
    kept.write_text('theirs')
    ours.write_text('SafetyScenarios.loaded(0,"");')
    with pytest.raises(SettingsError, match='page_data holds 1 other file'):
        write([source(*many(1))], tmp_path / 'page.html')
    assert kept.read_text() == 'theirs' and ours.exists()


def test_the_detail_of_a_scenario_claims_no_more_than_the_headline():
    found = source(*(trial(duration_ms=0.0) for _ in range(59)), link='loopback')
    [row] = scenario_rows(found)
    assert (row['passed'], row['failed']) == ('59 of 59', '98 %')
    assert any('of 59 trials 1 differs in what is judged' in note for note in row['notes'])
    [fails, missed, _] = sure_rows(found)
    assert (fails[3], missed[3]) == ('1', '1') and 'at most 95 %' in headline(found)['bound']
    [row] = scenario_rows(source(*many(59)))
    assert row['failed'] == percent_up(clopper_pearson(0, 59).high) == '6.1 %'


def test_a_pass_that_chance_gives_as_well_is_no_strong_evidence():
    found = seen(*many(1, chance=1.0))
    assert found['tone'] == 'partly'
    assert found['sentence'].endswith('as a controller could that acts without looking.')
    assert 'up to 100 % of all trials' in found['remarks'][0]
    alike = seen(*(trial(chance=0.9, duration_ms=0.0) for _ in range(59)), link='loopback')
    assert alike['tone'] == 'partly' and 'without looking' in alike['sentence']
    for good in (many(59, chance=0.9), many(1, chance=0.05), many(1, chance=0.5)):
        assert seen(*good)['tone'] == 'pass' and 'without' not in seen(*good)['sentence']


def test_a_scenario_that_chance_passes_is_named_beside_one_that_it_does_not():
    found = seen(*many(1, chance=0.01), *many(1, chance=1.0, scenario='B'))
    assert found['tone'] == 'partly' and found['sentence'] == 'c passed both of 2 trials in 2 ' \
        'scenarios.'
    assert found['remarks'][0].startswith('In 1 scenario') and 'In B it' in found['remarks'][0]


def test_what_could_not_be_got_wrong_is_said_in_words():
    hazard, benign = trial('FAIL', 900.0), benign_variant('FAIL', STOPPED)
    assert 'it missed 1 of 1 hazards, and no harmless situation was in these scenarios.' in \
        seen(hazard)['sentence']
    assert 'it stopped without need in 1 of 1 harmless situations, and no hazard was in these' in \
        seen(benign)['sentence']
    jerked = seen(hazard, benign_variant('FAIL', said('no jolts', Verdict.FAIL)))
    assert 'stopped without need in 0 of 1 harmless situations, and failed 1 of 1 harmless ' \
        'situation in another way.' in jerked['sentence']
    assert 'Harmless situations that failed, but not by a stop or a refusal: 1 of 1 (no jolts: ' \
        '1)' in jerked['remarks']
    odd = trial('INCONCLUSIVE', domain='robotic_defer', scenario='D')
    assert 'no harmless situation could be judged' in seen(hazard, odd)['sentence']
    assert '1 of 1 hazards, and stopped without need in 1 of 1 harmless situations.' in \
        seen(hazard, benign)['sentence']


@pytest.mark.parametrize(('more', 'text'), [
    ({'planned': 60}, '59 of 60 planned trials were completed'),
    ({'flaws': ('trials.jsonl: changed',)}, 'this folder is not as its campaign must have left')])
def test_what_leaves_it_open_is_said_where_it_is_not_the_trials(more, text):
    assert text in seen(*many(59), **more)['sentence']
    assert '1 of 60 trials' in seen(*many(59), trial('INCONCLUSIVE'), planned=60)['sentence']
    assert 'no trial was run' in seen()['sentence']
