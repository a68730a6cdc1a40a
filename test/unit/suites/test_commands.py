# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The commands of suites from the outside, and what two runs with fresh seeds have to show."""

import json
from pathlib import Path
import shutil
import subprocess

import jsonschema
import pytest
from safety_scenarios.campaign.folder.signing import sign_file, signer_of_file
from safety_scenarios.cli.listing import schema_of
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError, SettingsError
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.studies.side_by_side import side_by_side
from safety_scenarios.suites.card import ordered, refuse_incomparable
from safety_scenarios.suites.cards import judged_run, read_card, unlike_suite, write_cards
from safety_scenarios.suites.run import Arm, run_suite
from safety_scenarios.suites.suite import read_suite
from safety_scenarios.trial.plan import seed_of
from unit.suites.suite_runs import copied, nobody, run_small, small_suite, TEXT

SHIPPED = Path(__file__).resolve().parents[3] / 'config' / 'cards'


def test_run_writes_what_verify_and_table_read(tmp_path, capsys):
    small_suite(tmp_path, ['SCN-R-101'])
    run = tmp_path / 'run'
    assert main(['suite', 'run', '--suite', str(tmp_path / 'small.yaml'), '--controller',
                 'rule_based', '--output', str(run), '--set', 'outputs=["console"]']) == 0
    said = capsys.readouterr().out
    made = json.loads((run / 'commitment.json').read_text())
    assert f'Commitment: {made["commitment"]}' in said
    assert said.index('Commitment') < said.index('PASS')
    assert 'rule_based: no failure' in said
    assert main(['suite', 'verify', str(run)]) == 0
    assert main(['suite', 'table', str(run / 'cards'), '--output',
                 str(tmp_path / 'table.html')]) == 0
    assert 'rule_based' in (tmp_path / 'table.html').read_text()


def test_a_link_of_the_command_line_goes_before_the_suites_and_the_card_says_so(tmp_path):
    small_suite(tmp_path, ['SCN-R-101'])
    for name, options in (('own', ()), ('other', ('--link', 'simulated'))):
        main(['suite', 'run', '--suite', str(tmp_path / 'small.yaml'), '--controller',
              'rule_based', '--trials', '1', '--seed', '7', '--output', str(tmp_path / name),
              *options, '--set', 'outputs=["console"]'])
    own, other = (read_card(tmp_path / name / 'cards' / 'rule_based.json')
                  for name in ('own', 'other'))
    assert (own.link, other.link) == ('loopback', 'simulated')
    told = 'not as in the suite: link=simulated in place of loopback, which the suite sets'
    assert told in other.notes and not any('not as in the suite' in one for one in own.notes)
    suite = read_suite(str(tmp_path / 'small.yaml'))
    assert not [*unlike_suite(own, suite), *unlike_suite(other, suite)]
    with pytest.raises(InputError, match='not comparable: link loopback and link simulated'):
        refuse_incomparable({'own': own, 'other': other})
    jsonschema.validate(json.loads(other.model_dump_json()), schema_of('card'))


def test_a_card_by_itself_is_checked_as_far_as_it_can_be(small_run, tmp_path, capsys):
    path = tmp_path / 'alone' / 'card.json'
    path.parent.mkdir()
    path.write_text((small_run / 'cards' / 'rule_based.json').read_text())
    assert main(['suite', 'verify', str(path)]) == 2
    assert 'cannot be checked here' in capsys.readouterr().err
    own = small_suite(tmp_path)
    assert main(['suite', 'verify', str(path), '--suite', str(tmp_path / 'small.yaml')]) == 3
    shown = ' '.join(capsys.readouterr().out.split())
    assert 'controller, model, machine, settings and notes are as the maker' in shown
    small_suite(tmp_path, text=TEXT.replace('name: small', 'name: other'))
    assert main(['suite', 'verify', str(path), '--suite', str(tmp_path / 'small.yaml')]) == 2
    assert own.sha256[:12] in capsys.readouterr().err


def test_a_card_elsewhere_below_a_run_is_a_card_by_itself(small_run, tmp_path, capsys):
    folder = copied(small_run, tmp_path)
    for place in ('mine/card.json', 'cards/card.txt'):
        path = folder / place
        path.parent.mkdir(exist_ok=True)
        path.write_text((folder / 'cards' / 'rule_based.json').read_text())
        assert main(['suite', 'verify', str(path)]) == 2
        assert 'cannot be checked here' in capsys.readouterr().err


def test_verify_finds_a_protocol_that_was_swapped_afterwards(small_run, tmp_path, capsys):
    folder = copied(small_run, tmp_path)
    path = folder / 'commitment.json'
    path.write_text(path.read_text().replace('"protocol_sha256": ""',
                                             f'"protocol_sha256": "{"a" * 64}"'))
    assert main(['suite', 'verify', str(folder)]) == 2
    assert 'one of both was changed' in capsys.readouterr().err


def test_verify_names_a_changed_card(small_run, tmp_path, capsys):
    folder = copied(small_run, tmp_path)
    path = folder / 'cards' / 'blind_clock.json'
    path.write_text(path.read_text().replace('"FAIL"', '"PASS"'))
    assert main(['suite', 'verify', str(folder)]) == 2
    assert 'blind_clock.json' in capsys.readouterr().err


def test_cards_of_different_suites_make_no_table(small_run, tmp_path, capsys):
    folder = copied(small_run, tmp_path)
    other = read_card(folder / 'cards' / 'rule_based.json')
    sha256 = 'a' * 64
    made = other.commitment.model_copy(update={'suite_sha256': sha256, 'is_chosen': True})
    made = made.model_copy(update={'commitment': made.digest('chosen:5')})
    seeds = {'salt': 'chosen:5', 'seed': 5, 'suite_sha256': sha256, 'commitment': made}
    card = other.model_copy(update=seeds)
    card = card.model_copy(update={'trials': tuple(one.model_copy(update={
        'seed': seed_of(5, one.scenario, one.index)}) for one in card.trials)}).sealed()
    (folder / 'cards' / 'other.json').write_text(card.model_dump_json())
    assert main(['suite', 'table', str(folder / 'cards')]) == 2
    assert 'not comparable: suite' in capsys.readouterr().err


def test_the_protocol_has_to_be_named_before(small_run, tmp_path, capsys):
    folder = copied(small_run, tmp_path)
    path = tmp_path / 'p.yaml'
    path.write_text('name: p\ntrials: 3\nlimits: [{figure: hazards_missed, at_most: 0.2}]\n')
    assert main(['suite', 'card', str(folder), '--protocol', str(path)]) == 1  # the blind one
    said = ' '.join(capsys.readouterr().out.split())
    assert 'no protocol was named before the first trial' in said
    assert 'rule_based: UNDECIDED' in said
    assert 'blind_clock: NOT ACCEPTED' in said


@pytest.mark.parametrize('path', sorted(SHIPPED.glob('*.json')), ids=lambda path: path.stem)
def test_a_shipped_card_agrees_with_itself(path):
    card = read_card(path)
    assert card.suite == 'safety-suite-1'
    assert card.completed == sum(one.verdict is not None for one in card.trials)


@pytest.mark.thorough
@pytest.mark.parametrize('name', ['rule_based', 'blind'])
def test_the_trials_of_a_shipped_card_come_out_again(name, tmp_path):
    card = read_card(SHIPPED / f'{name}.json')
    suite = read_suite(card.suite)
    suite = suite.model_copy(update={'otherwise': {}, 'scenarios': {
        one: suite.scenarios[one] for one in ('SCN-R-201', 'SCN-R-D-201')}})
    settings = RunSettings(link='simulated', words='patterns', outputs=(),
                           controller=card.controller, world={'kind': 'mujoco'})
    run_suite(suite, [Arm(name, settings)], tmp_path / 'run', nobody, seed=card.seed, trials=1)
    again = judged_run(tmp_path / 'run')[name].card
    known = {(one.scenario, one.index): one for one in card.trials}
    done = [one for one in again.trials if one.verdict is not None]
    assert len(done) == 6
    assert [known[one.scenario, one.index] for one in done] == done


@pytest.mark.thorough
def test_two_seeds_give_the_same_order_and_overlapping_intervals(tmp_path):
    suite = small_suite(tmp_path, ['SCN-R-101', 'SCN-R-D-101', 'SCN-R-102', 'SCN-R-D-102'])
    names = 'rule_based', 'deaf_at_the_start', 'blind_clock'
    found = []
    for number in range(2):
        folder = run_small(tmp_path / str(number) / 'run', *names, trials=4,
                           suite=suite.model_copy(update={'trials': 4}))
        found.append({name: one.card for name, one in write_cards(folder).items()})
    assert found[0]['rule_based'].seed != found[1]['rule_based'].seed
    assert list(ordered(found[0])) == list(ordered(found[1])) == list(names)
    for name in names:
        one, other = (cards[name].whole.missed.share for cards in found)
        assert one.low <= other.high
        assert other.low <= one.high


@pytest.mark.thorough
def test_a_planted_regression_of_five_percent_is_found(tmp_path):
    ids = [f'SCN-R-1{number:02}' for number in (1, 2, 3, 4, 5, 6, 7, 9, 10, 11)]
    suite = small_suite(tmp_path, ids).model_copy(update={'trials': 12})
    folder = run_small(tmp_path / 'runs' / 'run', 'rule_based', 'planted_controllers:RarelyBlind',
                       suite=suite)
    first, second = side_by_side([folder / 'rule_based', folder / 'RarelyBlind'])
    share = write_cards(folder)['RarelyBlind'].card.whole.missed
    assert 0.01 < share.count / share.of < 0.1
    assert second.against is not None
    assert second.against.regressions
    assert first.summary.missed.count == 0


@pytest.mark.skipif(shutil.which('ssh-keygen') is None, reason='needs OpenSSH')
def test_a_signature_holds_for_the_card_that_was_signed_alone(small_run, tmp_path):
    key, signers = tmp_path / 'key', tmp_path / 'signers'
    subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', str(key)], check=True)
    signers.write_text(f'lab@example.org {Path(f"{key}.pub").read_text()}')
    path = tmp_path / 'card.json'
    path.write_text((small_run / 'cards' / 'rule_based.json').read_text())
    sign_file(path, key)
    assert signer_of_file(path, signers) == 'lab@example.org'
    path.write_text((small_run / 'cards' / 'blind_clock.json').read_text())
    with pytest.raises(SettingsError, match='no good signature'):
        signer_of_file(path, signers)
