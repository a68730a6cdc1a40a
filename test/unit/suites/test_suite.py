# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The file of a suite, its levels, and the seed that nobody could know before."""

from collections import Counter

from cases import for_each
import fast_yaml
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.suites.run import (
    commit,
    open_commitment,
    read_commitment,
    refuse_other_judging,
    seed_from,
)
from safety_scenarios.suites.suite import (
    FIRST,
    frozen_scenarios,
    level_of,
    LEVELS,
    read_suite,
    Suite,
    trials_of,
)
from safety_scenarios.trial.plan import drawn, seed_of
from unit.suites.suite_runs import run_small, small_suite, TEXT


def test_the_shipped_suite_is_frozen_with_the_installed_scenarios_in_pairs():
    suite = read_suite(FIRST)
    found = frozen_scenarios(suite)
    assert {one.id: one.origin.sha256 for one in found} == suite.scenarios
    expected = Counter(one.expects for one in found)
    assert expected['reaction'] == expected['restraint']


def test_each_scenario_of_the_suite_in_words_has_levels():
    suite = read_suite('safety-words-1')
    found = frozen_scenarios(suite)
    assert {one.id: one.origin.sha256 for one in found} == suite.scenarios
    for scenario in found:
        counts = Counter(level for _, level in trials_of(suite, scenario, 5, 3))
        assert counts == dict.fromkeys(LEVELS, 3), scenario.id


def test_the_levels_of_choices_in_words_are_their_order(tmp_path):
    suite = small_suite(tmp_path, ['SCN-C-104'], TEXT.replace('near: least', 'alike: most'))
    [scenario] = frozen_scenarios(suite)
    choices = scenario.body.vary['alike'].choice
    found = [level_of(suite, scenario, {'alike': one}) for one in choices]
    assert found == ['I', 'I', 'II', 'II', 'III', 'III']
    turned = suite.model_copy(update={'harder': {'alike': 'least'}})
    assert level_of(turned, scenario, {'alike': choices[0]}) == 'III'
    robot = small_suite(tmp_path, ['SCN-R-101'], TEXT.replace('near: least', 'shown_by: most'))
    assert robot.hard_end(frozen_scenarios(robot)[0]) is None  # its choices have no order


def test_a_level_is_a_third_of_the_declared_range_from_easy_to_hard(tmp_path):
    suite = small_suite(tmp_path, ['SCN-R-201'])
    [scenario] = frozen_scenarios(suite)
    least, most = scenario.body.vary['near'].range
    third = (most - least) / 3
    for share, level in ((0.0, 'III'), (0.99, 'III'), (1.01, 'II'), (1.99, 'II'), (2.01, 'I'),
                         (3.0, 'I')):
        assert level_of(suite, scenario, {'near': least + share * third}) == level
    harder_far = suite.model_copy(update={'harder': {'near': 'most'}})
    assert level_of(harder_far, scenario, {'near': least}) == 'I'


def test_a_suite_asks_for_the_first_trials_of_each_level_that_its_seed_draws(tmp_path):
    suite = small_suite(tmp_path, ['SCN-R-201'])
    [scenario] = frozen_scenarios(suite)
    found = list(trials_of(suite, scenario, 7, 4))
    assert Counter(level for _, level in found) == dict.fromkeys(LEVELS, 4)
    every = [level_of(suite, scenario, drawn(scenario.body.vary, seed_of(7, scenario.id, index)))
             for index in range(found[-1][0] + 1)]
    for level in LEVELS:
        first = [index for index, one in enumerate(every) if one == level][:4]
        assert [index for index, one in found if one == level] == first
    assert set(trials_of(suite, scenario, 7, 2)) < set(found)


@for_each(('ends', 'told'), [
    ('harder: {naer: least}', r"harder.naer: .*Did you mean 'near'"),
    ('otherwise: {SCN-R-101: {nears: least}}',
     r"otherwise.SCN-R-101.nears: .*Did you mean 'near'"),
    ('otherwise: {SCN-R-101: {pressure: most}}',
     'otherwise.SCN-R-101.pressure: got the name of no draw')])
def test_a_misspelt_draw_takes_no_levels_away(tmp_path, ends, told):
    right = small_suite(tmp_path)
    named = Suite.model_validate({**right.model_dump(), **fast_yaml.load(ends)})
    with pytest.raises(InputError, match=told):
        frozen_scenarios(named)
    with pytest.raises(InputError, match=told):
        small_suite(tmp_path, text=TEXT.replace('harder: {near: least, far: least}', ends))


def test_a_draw_that_only_other_scenarios_have_is_no_slip(tmp_path):
    suite = small_suite(tmp_path, text=TEXT.replace('far: least', 'pressure: most'))
    assert len(frozen_scenarios(suite)) == 2


def test_a_scenario_without_levels_has_as_many_trials(tmp_path):
    suite = small_suite(tmp_path, ['SCN-R-302'])
    [scenario] = frozen_scenarios(suite)
    assert list(trials_of(suite, scenario, 7, 2)) == [(index, None) for index in range(6)]


def test_a_changed_scenario_is_refused_by_name(tmp_path):
    suite = small_suite(tmp_path)
    other = suite.model_copy(update={'scenarios': {**suite.scenarios, 'SCN-R-101': 'a' * 64}})
    with pytest.raises(InputError, match='SCN-R-101: got SHA-256'):
        frozen_scenarios(other)


@pytest.mark.parametrize('name', ['trials', 'seed', 'only', 'scenarios'])
def test_a_setting_that_the_suite_or_the_run_decides_is_refused_before_any_trial(tmp_path, name):
    text = TEXT.replace('gate: critical', f'gate: critical, {name}: 5')
    with pytest.raises(InputError, match=f'got {name} under set, expected none of'):
        small_suite(tmp_path, text=text)


def test_freezing_writes_hashes_and_leaves_what_stands_above(tmp_path):
    suite = small_suite(tmp_path)
    assert (tmp_path / 'small.yaml').read_text().startswith(TEXT.rstrip())
    known = {one.id: one.origin.sha256 for one in load_scenarios(list(suite.scenarios)).scenarios}
    assert suite.scenarios == known
    assert read_suite(str(tmp_path / 'small.yaml')).sha256 == suite.sha256


@for_each('text', [
    TEXT.replace('harder', 'scenarios: {}\nharder'), 'scenarios: {}\n' + TEXT,
    TEXT + '"scenarios": {}\n'])
def test_freezing_drops_no_key_that_stands_below(tmp_path, text):
    """Without its levels it would be another suite than the one whose hash is printed."""
    with pytest.raises(InputError, match=r'small.yaml:\d+:\d+: scenarios: .* Move it to the end'):
        small_suite(tmp_path, text=text)
    assert (tmp_path / 'small.yaml').read_text(encoding='utf-8') == text


def test_the_order_of_what_makes_levels_is_part_of_the_hash(tmp_path):
    suite = small_suite(tmp_path)
    turned = suite.model_copy(update={'harder': dict(reversed(suite.harder.items()))})
    assert turned.sha256 != suite.sha256


def test_a_seed_is_promised_by_a_hash_and_opened_later(tmp_path):
    suite = small_suite(tmp_path)
    made, opening = commit(suite, ('a',), 1, tmp_path, seed=None)
    assert opening.salt not in (tmp_path / 'commitment.json').read_text()
    with pytest.raises(InputError, match='did not end: opening.json is missing'):
        read_commitment(tmp_path)
    open_commitment(opening, tmp_path)
    assert read_commitment(tmp_path) == (made, opening)
    assert made.is_opened_by(opening.salt)
    assert not made.is_chosen
    seeds = {seed_from(opening.salt, suite.sha256), seed_from(opening.salt, 'b' * 64),
             seed_from(commit(suite, ('a',), 1, tmp_path, seed=None)[1].salt, suite.sha256)}
    assert len(seeds) == 3
    with pytest.raises(InputError, match='one of both was changed'):
        read_commitment(tmp_path)


@for_each(('field', 'value'), [
    ('protocol_sha256', 'a' * 64), ('controllers', ('a',)), ('baselines', ('a',)),
    ('trials', 2), ('suite_sha256', 'b' * 64), ('at', '2020-01-01T00:00:00+00:00')])
def test_a_promise_that_was_changed_afterwards_is_found(tmp_path_factory, field, value):
    folder = tmp_path_factory.mktemp('run')
    made, opening = commit(small_suite(folder), ('a', 'b'), 1, folder, seed=None)
    open_commitment(opening, folder)
    (folder / 'commitment.json').write_text(
        made.model_copy(update={field: value}).model_dump_json())
    with pytest.raises(InputError, match='one of both was changed'):
        read_commitment(folder)


def test_a_chosen_seed_is_used_and_said_to_be_chosen(tmp_path):
    suite = small_suite(tmp_path)
    made, opening = commit(suite, ('a',), 1, tmp_path, seed=42)
    assert made.is_chosen
    assert seed_from(opening.salt, suite.sha256) == 42


@for_each('name', ['gate', 'words', 'trials', 'seed', 'judge_by.x', 'latency_law',
                   'selection.tag'])
def test_what_the_suite_decides_cannot_be_set(name):
    with pytest.raises(InputError, match=f'--set {name}'):
        refuse_other_judging([name])


def test_controller_link_world_and_profile_can_be_set():
    refuse_other_judging(['controller_parameters', 'link', 'world.kind', 'profile', 'jobs'])


def test_a_controller_that_is_unknown_is_refused_before_the_first_one_runs(tmp_path):
    with pytest.raises(InputError, match="got 'no_such', expected one of the controllers"):
        run_small(tmp_path / 'run', 'rule_based', 'no_such')
    assert not list((tmp_path / 'run').iterdir())
