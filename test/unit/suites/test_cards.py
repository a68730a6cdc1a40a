# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Cards: what they say, that nothing undecided is green, and that a changed one is refused."""

import json
import shutil
from xml.etree import ElementTree

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.reports.cards import badge, badge_text, card_page, pareto, table_page
from safety_scenarios.scenario.result import StopPath
from safety_scenarios.scenario.settings import JudgedBy
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.suites.card import (
    Card,
    CardTrial,
    differences,
    dominated,
    figures,
    ordered,
    refuse_incomparable,
)
from safety_scenarios.suites.cards import (
    installed_suite,
    judged_run,
    read_card,
    suite_of,
    unlike_run,
    unlike_suite,
    write_cards,
)
from safety_scenarios.suites.run import read_commitment, seed_from
from safety_scenarios.trial.plan import seed_of
from unit.campaign.statistics.test_compare import trial
from unit.suites.suite_runs import copied, run_small

GREEN = '#2e7d32'


@pytest.fixture(scope='session')
def cards(small_run):
    return {path.stem: read_card(path) for path in sorted((small_run / 'cards').glob('*.json'))}


@pytest.fixture
def folder(small_run, tmp_path):
    return copied(small_run, tmp_path)


def with_trials(card, **verdicts):
    """Return a card with other counts, as if trials had come to something else."""
    whole = card.whole.model_copy(update=verdicts)
    return card.model_copy(update={'levels': (whole, *card.levels[1:])})


def with_rate(card, figure, part, value):
    """Return a card whose row of all levels has another value in one rate."""
    rate = getattr(card.whole, figure)
    first, _, second = part.partition('.')
    if second:
        value = getattr(rate, first).model_copy(update={second: value})
    return with_trials(card, **{figure: rate.model_copy(update={first: value})})


def test_every_card_that_is_shipped_is_of_an_installed_suite_and_agrees_with_it():
    folder = share_folder() / 'config' / 'cards'
    paths = sorted(folder.rglob('*.json'))
    assert {path.parent.name for path in paths} == {'cards', 'words'}
    for path in paths:
        card = read_card(path)
        assert list(unlike_suite(card, installed_suite(card))) == [], path


def test_the_reference_misses_nothing_and_a_blind_controller_everything(cards):
    found = cards['rule_based'].whole
    assert (found.missed.count, found.missed.of, found.false_stops.count) == (0, 3, 0)
    assert cards['rule_based'].state == 'no failure'
    assert found.reaction_ms.value < found.slowest_ms + 1e-9
    assert 0.0 < found.most_budget_used < 1.0
    assert cards['blind_clock'].whole.missed.count == 3
    assert cards['blind_clock'].state == 'failures'


def test_a_base_that_never_stood_has_gone_farther_than_any_that_did():
    scenarios = {one.id: one for one in load_scenarios(['SCN-R-101']).scenarios}
    stop = StopPath(stands_ns=1, way=0.3, unit='m', source='s')

    def way(missed):
        name = 'SCN-R-101'
        results = [trial('FAIL', None, name, index) for index in range(missed)] + [
            one.model_copy(update={'latency': one.latency.model_copy(update={'stop': stop})})
            for one in (trial('PASS', 100.0, name, index) for index in range(missed, 9))]
        asked = [CardTrial(scenario=name, index=index, seed=0, level='I', verdict=None,
                           kind='hazard') for index in range(9)]
        return figures(results, asked, scenarios, 'ros')[0].stop_m
    assert [way(missed).value for missed in (0, 4, 7)] == [0.3, 0.3, None]


def test_a_card_has_every_trial_on_its_level_with_its_seed(small_run, cards):
    made, opening = read_commitment(small_run)
    seed = seed_from(opening.salt, suite_of(small_run).sha256)
    for card in cards.values():
        assert (card.seed, card.commitment, card.salt) == (seed, made, opening.salt)
        assert sorted(str(one.level) for one in card.trials) == ['I', 'I', 'II', 'II', 'III',
                                                                 'III']
        assert not list(unlike_suite(card, suite_of(small_run)))
    assert [one.seed for one in cards['rule_based'].trials] == [
        one.seed for one in cards['blind_clock'].trials]


def test_cards_are_what_the_records_give(small_run):
    assert not list(unlike_run(small_run))


def test_a_tampered_card_is_refused_by_name(cards, tmp_path):
    data = json.loads(cards['blind_clock'].model_dump_json())
    data['levels'][0]['missed']['count'] = 0
    path = tmp_path / 'card.json'
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match='card.json: sha256: got'):
        read_card(path)
    path.write_text(Card.model_validate_json(json.dumps(data)).sealed().model_dump_json())
    with pytest.raises(InputError, match='levels.all.missed.count: got 0, expected 3'):
        read_card(path)


@for_each(('field', 'value', 'message'), [
    ('salt', '0', 'salt: it is not what the commitment'),
    ('seed', 5, 'seed: got 5'), ('completed', 5, 'completed: got 5, expected 6'),
    ('planned', 5, 'planned: got 5'), ('salt', 'chosen:abc', 'salt: got no card'),
    ('suite', 'other', 'suite: got other, expected small as in the commitment'),
    ('started', '1999-01-01T00:00:00+00:00', 'started: got .* a time after the commitment'),
    ('started', '2999-01-01T00:00:00', 'started: got .* a time with its zone'),
    ('started', 'today', "started: got 'today', expected a date"),
    ('settings', {}, "settings.link: got 'ros', expected 'loopback' as the card states"),
    ('profile', 'base', "settings.profile: got '', expected 'base'"),
    ('judge', 'gpt', "settings.judge.model: got '', expected 'gpt'"),
    ('levels', (), 'levels: got other rows')])
def test_a_card_that_contradicts_itself_is_refused_whatever_its_hash(
        cards, tmp_path_factory, field, value, message):
    path = tmp_path_factory.mktemp('card') / 'card.json'
    path.write_text(cards['rule_based'].model_copy(
        update={field: value}).sealed().model_dump_json())
    with pytest.raises(InputError, match=message):
        read_card(path)


@for_each(('figure', 'part', 'value', 'message'), [
    ('missed', 'share.value', 0.5, 'share.value: got 0.5, expected 0'),
    ('missed', 'share.high', 0.001, 'share.high: got 0.001, expected'),
    ('missed', 'share.low', -1.0, 'share.low: got -1.0, expected'),
    ('missed', 'share.confidence', 0.5, 'share.confidence: got 0.5, expected 0.95'),
    ('missed', 'share.unit', 'ms', 'share.unit: got ms, expected 1'),
    ('missed', 'share.n', 5, 'share.n: got 5, expected at most 3'),
    ('missed', 'worst', 'SCN-R-101', 'worst: got SCN-R-101, expected None'),
    ('missed', 'undecided', 1, 'undecided: got 1, expected 0'),
    ('failed_otherwise', 'of', 1, 'of: got 1, expected 3')])
def test_a_rate_that_its_trials_cannot_give_is_refused(
        cards, tmp_path_factory, figure, part, value, message):
    card = cards['rule_based']
    path = tmp_path_factory.mktemp('card') / 'card.json'
    path.write_text(with_rate(card, figure, part, value).sealed().model_dump_json())
    with pytest.raises(InputError, match=f'levels.all.{figure}.{message}'):
        read_card(path)


def with_figure(card, figure, value):
    """Return a card whose row of all levels has other values in one measured figure."""
    if isinstance(value, dict):
        value = getattr(card.whole, figure).model_copy(update=value)
    return with_trials(card, **{figure: value})


@for_each(('figure', 'value', 'message'), [
    ('reaction_ms', {'value': -5.0, 'low': -6.0}, 'value: got -5.0, expected 0 to'),
    ('reaction_ms', {'n': 0}, 'reaction_ms.n: got a number from 0 trials, expected none'),
    ('reaction_ms', {'n': 4}, 'reaction_ms.n: got 4, expected at most 3'),
    ('reaction_ms', {'value': None}, 'slowest_ms: got .*, expected at least the median, None'),
    ('gap_m', {'n': 7}, 'gap_m.n: got 7, expected at most 6'),
    ('reaction_ms', {'confidence': 0.5}, 'reaction_ms.confidence: got 0.5, expected 0.95'),
    ('reaction_ms', {'unit': 's'}, 'unit: got s, expected ms'),
    ('task_done', {'value': 1.7, 'low': 1.0, 'high': 2.0}, 'value: got 1.7, expected 0 to 1'),
    ('time_lost_s', {'value': -3.0, 'low': -4.0}, 'value: got -3.0, expected 0 to'),
    ('slowest_ms', 1e-6, ' got 1e-06, expected at least the median'),
    ('most_budget_used', 1e-6, ' got 1e-06, expected at least the median'),
    ('no_reaction', 1, 'expected none: 1 trials have no reaction'),
    ('no_reaction', 4, ' got 4, expected 0 to 3, which'),
    ('no_reaction', -1, ' got -1, expected 0 to 3, which'),
    ('least_gap_m', 99.0, ' got 99.0, expected at most the median')])
def test_a_measured_figure_that_no_trials_can_give_is_refused(
        cards, tmp_path_factory, figure, value, message):
    path = tmp_path_factory.mktemp('card') / 'card.json'
    path.write_text(with_figure(cards['rule_based'], figure, value).sealed().model_dump_json())
    with pytest.raises(InputError, match=message):
        read_card(path)


def test_a_level_exceeds_no_extreme_of_all_trials(cards, tmp_path):
    card, path = cards['rule_based'], tmp_path / 'card.json'
    place, level = next((place, one) for place, one in enumerate(card.levels)
                        if place and one.slowest_ms is not None)
    levels = [*card.levels]
    levels[place] = level.model_copy(update={'slowest_ms': 1e6})
    path.write_text(card.model_copy(update={'levels': tuple(levels)}).sealed().model_dump_json())
    with pytest.raises(InputError, match='levels.all.slowest_ms: got .*which a level exceeds'):
        read_card(path)


@for_each(('change', 'message'), [
    ({'evidence': 'hardware'}, 'evidence: got hardware, expected simulated'),
    ({'notes': ()}, 'notes: lacks "simulated time')])
def test_evidence_that_the_link_cannot_give_is_refused(
        cards, tmp_path_factory, change, message):
    path = tmp_path_factory.mktemp('card') / 'card.json'
    path.write_text(cards['rule_based'].model_copy(update=change).sealed().model_dump_json())
    with pytest.raises(InputError, match=message):
        read_card(path)


def test_a_false_stop_is_a_failed_benign_variant(cards, tmp_path):
    card, path = cards['rule_based'], tmp_path / 'card.json'
    first = card.trials[0].model_copy(update={'is_false_stop': True})
    path.write_text(card.model_copy(update={'trials': (first, *card.trials[1:])}).sealed()
                    .model_dump_json())
    with pytest.raises(InputError, match='false stop that is no FAIL of a benign variant'):
        read_card(path)


def test_more_trials_than_were_promised_are_refused(cards, tmp_path):
    card, path = cards['rule_based'], tmp_path / 'card.json'
    more = [one.model_copy(update={'index': one.index + 1000, 'seed': seed_of(
        card.seed, one.scenario, one.index + 1000)}) for one in card.trials]
    path.write_text(card.model_copy(update={'trials': (*card.trials, *more)}).sealed()
                    .model_dump_json())
    with pytest.raises(InputError, match='on level I+, expected at most 1 by the commitment'):
        read_card(path)


def test_a_trial_that_is_counted_twice_is_refused(cards, tmp_path):
    card = cards['blind_clock']
    path = tmp_path / 'card.json'
    path.write_text(card.model_copy(update={'trials': (*card.trials, card.trials[-1])}).sealed()
                    .model_dump_json())
    with pytest.raises(InputError, match='trials: got a trial twice'):
        read_card(path)


def test_what_depends_on_the_suite_is_held_against_it(small_run, cards):
    card, suite = cards['blind_clock'], suite_of(small_run)
    for one, message in (
            (with_rate(card, 'words', 'count', 1), 'levels.all.words.count: got 1, expected 0'),
            (with_rate(card, 'wire_faults', 'of', 1), 'levels.all.wire_faults.of: got 1'),
            (card.model_copy(update={'judged_by': card.judged_by.model_copy(
                update={'gate': 'target'})}),
             'gate: got target, expected critical as in the suite'),
            (card.model_copy(update={'link': 'dds', 'notes': (
                'not as in the suite: world.kind=are in place of none, which the suite sets',)}),
             'link: got dds, expected loopback as in the suite, or a note of it'),
            (card.model_copy(update={'suite_trials': 5}), 'suite_trials: got 5, expected 1')):
        [problem] = unlike_suite(one, suite)
        assert problem.startswith(message)


@for_each('name', ['../suites/safety-suite-1', '/tmp/own', 'own.yaml', 'a' * 5000, 'small'])
def test_a_card_names_no_file_that_is_opened(cards, name):
    assert installed_suite(cards['rule_based'].model_copy(update={'suite': name})) is None


def test_a_card_whose_trials_were_swapped_for_passed_ones_is_not_that_of_the_run(folder):
    path = folder / 'cards' / 'blind_clock.json'
    passed = read_card(folder / 'cards' / 'rule_based.json').model_copy(
        update={'controller': 'blind_clock'}).sealed()
    path.write_text(passed.model_dump_json())
    read_card(path)
    [problem] = list(unlike_run(folder))
    assert 'blind_clock.json' in problem
    assert 'trials' in problem


def test_two_scenarios_that_are_equally_bad_change_no_card(tmp_path):
    folder = run_small(tmp_path / 'run', 'never_stop', ids=('SCN-R-101', 'SCN-R-104'))
    [one] = write_cards(folder).values()
    assert one.card.whole.missed.tied == 1
    assert list(unlike_run(folder)) == []


def test_a_card_of_no_controller_of_the_run_is_named(folder):
    (folder / 'cards' / 'best.json').write_text((folder / 'cards' / 'rule_based.json').read_text())
    assert list(unlike_run(folder)) == [
        f'{folder / "cards" / "best.json"}: got a card of no controller of the run']


def test_a_controller_that_the_commitment_names_cannot_be_left_out(folder):
    """Nobody may run several candidates and show the best alone."""
    shutil.rmtree(folder / 'blind_clock')
    (folder / 'cards' / 'blind_clock.json').unlink()
    [problem] = unlike_run(folder)
    assert problem.startswith(f'{folder / "blind_clock"}: got no trials of this controller')


@for_each(('name', 'old', 'new', 'message'), [
    ('rule_based/trials.jsonl', '"verdict":"PASS"', '"verdict":"FAIL"', 'trials.jsonl'),
    ('suite.json', '"trials": 1', '"trials": 2', 'suite.json'),
    ('opening.json', '"salt": "', '"salt": "0', 'opening.json'),
    ('rule_based/settings.json', '"words": "patterns"', '"words": "judge"', 'settings.json')])
def test_a_tampered_folder_is_refused_by_the_name_of_the_file(
        small_run, tmp_path_factory, name, old, new, message):
    folder = copied(small_run, tmp_path_factory.mktemp('tampered'))
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        judged_run(folder)


def test_a_campaign_with_another_seed_than_the_promised_one_is_refused(folder, tmp_path):
    other = run_small(tmp_path / 'other', 'rule_based', suite=suite_of(folder))
    for name in ('commitment.json', 'opening.json'):
        (other / name).write_text((folder / name).read_text())
    with pytest.raises(InputError, match='expected .* by the commitment'):
        judged_run(other)


@for_each(('change', 'reason'), [
    ({'suite_sha256': 'a' * 64}, 'suite'), ({'link': 'ros'}, 'link'),
    ({'world': 'external'}, 'world'), ({'profile': 'turtlebot4'}, 'profile'),
    ({'judged_by': JudgedBy(gate='target', words='patterns')}, 'judge'),
    ({'judge': 'some-model'}, 'judge'), ({'evidence': 'hardware'}, 'evidence'),
    ({'versions': {'safety_scenarios': '9.9'}}, 'version'),
    ({'settings': {'robot.max_speed': 2.0}}, 'setting')])
def test_cards_that_do_not_mean_the_same_are_not_comparable(cards, change, reason):
    card = cards['rule_based']
    assert not list(differences(card, cards['blind_clock']))
    with pytest.raises(InputError, match=f'one and two: not comparable: {reason}'):
        refuse_incomparable({'one': card, 'two': card.model_copy(update=change)})


def test_only_a_complete_card_without_doubt_and_failure_is_green(cards, tmp_path):
    card = cards['rule_based']
    assert GREEN in badge(card)
    undecided = with_trials(card, inconclusive=1)
    error = with_trials(card, errors=1)
    incomplete = card.model_copy(update={'completed': 5})
    chosen = card.model_copy(update={
        'commitment': card.commitment.model_copy(update={'is_chosen': True})})
    failed = card.model_copy(update={'trials': (
        card.trials[0].model_copy(update={'verdict': Verdict.FAIL}), *card.trials[1:])})
    doubted = card.model_copy(update={'doubts': ('the model changed',)})
    for one in (undecided, error, incomplete, chosen, failed, doubted):
        assert GREEN not in badge(one)
        assert one.state != 'no failure'
    assert 'incomplete: 5 of 6 trials' in badge(incomplete)
    assert '1 INCONCLUSIVE' in badge_text(undecided)


def test_fewer_trials_than_the_suite_asks_for_make_an_incomplete_card(small_run, tmp_path):
    suite = suite_of(small_run).model_copy(update={'trials': 2})
    folder = run_small(tmp_path / 'run', 'rule_based', suite=suite, trials=1)
    card = judged_run(folder)['rule_based'].card
    assert (card.completed, card.planned, card.state) == (6, 12, 'undecided')
    assert 'incomplete: 6 of 12 trials' in list(card.reservations)


def test_undecided_trials_put_no_card_first(cards):
    card = cards['rule_based']
    missed = card.whole.missed.model_copy(update={'of': 1, 'undecided': 2})
    unclear = with_trials(card, missed=missed, inconclusive=2)
    assert list(ordered({'unclear': unclear, 'clear': card})) == ['clear', 'unclear']
    assert dominated({'unclear': unclear, 'clear': card}) == {'unclear': [], 'clear': []}
    worse = with_trials(card, missed=card.whole.missed.model_copy(update={'count': 1, 'of': 1}))
    assert dominated({'worse': worse, 'clear': card}) == {'worse': ['clear'], 'clear': []}


def test_trials_that_were_not_run_put_no_card_first(cards):
    card = cards['rule_based']
    some = card.model_copy(update={
        'completed': card.planned - 1, 'trials': tuple(one.model_copy(update={
            'verdict': None if one.kind == 'hazard' else one.verdict}) for one in card.trials)})
    worse = with_trials(card, missed=card.whole.missed.model_copy(update={'count': 1, 'of': 3}))
    assert dominated({'some': some, 'worse': worse}) == {'some': [], 'worse': []}
    assert dominated({'whole': card, 'worse': worse})['worse'] == ['whole']
    assert dominated({'some': some, 'worse': worse.model_copy(update={
        'completed': some.completed, 'trials': some.trials})})['worse'] == ['some']
    assert list(ordered({'some': some, 'worse': worse})) == ['worse', 'some']


def test_a_card_that_is_worse_in_any_figure_dominates_no_other(cards):
    good, bad = cards['rule_based'], cards['blind_clock']
    whole = good.whole
    for worse in ({'words': whole.missed.model_copy(update={'count': 1, 'of': 1})},
                  {'wire_faults': whole.missed.model_copy(update={'count': 1, 'of': 1})},
                  {'failed_otherwise': whole.missed.model_copy(update={'count': 1, 'of': 1})},
                  {'task_done': whole.task_done.model_copy(update={'value': 0.0, 'low': 0.0})}):
        assert dominated({'good': with_trials(good, **worse), 'bad': with_trials(bad, **{
            name: value.model_copy(update={'count': 0, 'of': 2}) if name != 'task_done'
            else value.model_copy(update={'value': 1.0, 'high': 1.0})
            for name, value in worse.items()})})['bad'] == []


def test_pictures_are_well_formed_whatever_a_card_says(cards):
    card = cards['rule_based'].model_copy(update={'controller': 'a\x00\x1b&\ud83e\uffff<b>'})
    for picture in (badge(card), pareto({'\x0c\ufffe': card})):
        ElementTree.fromstring(picture.encode())


def test_page_table_and_plot_say_what_the_cards_say_and_load_nothing(cards):
    beaten = dominated(cards)
    page = card_page('blind_clock', cards['blind_clock'], cards, beaten)
    for text in ('3/3', 'level III', cards['blind_clock'].salt, 'hazards missed'):
        assert text in page
    table = table_page(cards, beaten)
    assert 'rule_based' in table
    assert pareto(cards) in table
    for text in (page, table):
        assert 'src=' not in text
        assert 'href=' not in text
