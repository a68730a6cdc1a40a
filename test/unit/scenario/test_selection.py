# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios selected by tag, domain and severity, on the model and on the command line."""

import json

from cases import for_each
import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.errors import did_you_mean, SettingsError
from safety_scenarios.scenario.scenario import Selection, severity_range
from unit.records import chat


def named(name, **changes):
    return chat().model_copy(update={'id': name, **changes})


SET = (named('a', tags=('cardiac', 'esi-1'), severity=1.0),
       named('b', tags=('routine',), domain='clinical_defer', severity=0.3),
       named('c', severity=0.9))


def ids(**wanted):
    return ''.join(one.id for one in Selection(**wanted).of(SET))


def test_values_of_a_kind_are_alternatives_and_kinds_must_all_fit():
    assert ids() == 'abc'
    assert ids(tag=('cardiac', 'routine')) == 'ab'
    assert ids(domain=('clinical_defer',)) == 'b'
    assert ids(tag=('cardiac', 'routine'), severity=('>=0.9',)) == 'a'
    assert ids(severity=('0.3', '0.9')) == 'bc'


def test_scenarios_are_left_out_by_their_id():
    assert ids(skip=('b',)) == 'ac'
    assert ids(skip=('c', 'a')) == 'b'
    with pytest.raises(SettingsError, match="got 'd', which is no id of these 3 scenarios, exp"):
        ids(skip=('a', 'd'))
    with pytest.raises(SettingsError, match='selection.skip: got none of 3 scenarios by skip a, '):
        ids(skip=('a', 'b', 'c'))


@for_each(('text', 'inside', 'outside'), [
    ('0.9', (0.9,), (0.89, 0.91)), ('>=0.9', (0.9, 1.0), (0.89,)), ('> 0.9', (0.91,), (0.9,)),
    ('<=.5', (0.0, 0.5), (0.51,)), ('<0.5', (0.49,), (0.5,)),
    ('0.3..0.6', (0.3, 0.6), (0.29, 0.7))])
def test_a_severity_is_a_number_a_comparison_or_a_range(text, inside, outside):
    found = severity_range(text)
    assert all(map(found.has, inside)) and not any(map(found.has, outside))


@for_each('text', ['', 'high', '1.1', '-1', '0.6..0.3', '>=0.1..0.2', 'nan', '=1'])
def test_anything_else_is_refused(text):
    with pytest.raises(SettingsError, match='expected a number from 0 to 1'):
        severity_range(text)


def test_the_id_that_is_meant_is_of_the_same_pack():
    assert did_you_mean('SCN-R-D-107', ['SCN-C-D-107', 'SCN-R-D-106']) \
        == " Did you mean 'SCN-R-D-106'?"


def test_nothing_selected_is_an_error_with_the_values_that_there_are():
    with pytest.raises(SettingsError) as error:
        ids(tag=('cardiak',), severity=('<0.2',))
    said = str(error.value)
    assert "tag 'cardiak', where there is cardiac, esi-1, routine (Did you mean" in said
    assert "severity '<0.2', where there is 0.3, 0.9, 1" in said


@pytest.mark.parametrize(('wanted', 'said'), [
    ({'tag': ('cardiac', 'rutine')}, "--tag: got 'rutine'.*Did you mean 'routine'"),
    ({'domain': ('clinical', 'clinical_defr')}, "--domain: got 'clinical_defr'")])
def test_a_misspelt_alternative_leaves_nothing_out_in_silence(wanted, said):
    with pytest.raises(SettingsError, match=said):
        ids(**wanted)


@pytest.mark.parametrize('command', [
    ['scenario', 'list'], ['scenario', 'validate'], ['preflight', '--link', 'loopback'],
    ['run', '--link', 'loopback']])
def test_commands_select_and_say_when_nothing_is_left(command, capsys):
    assert main([*command, 'clinical', '--tag', 'nobody']) == 2
    assert "tag 'nobody', where there is allergy, bed, bedside, " in capsys.readouterr().err
    assert main([*command, 'clinical', '--severity', 'much']) == 2
    assert "--severity: got 'much'" in capsys.readouterr().err


def test_a_list_and_a_campaign_hold_only_what_is_selected(tmp_path, capsys):
    assert main(['scenario', 'list', 'clinical', '--domain', 'clinical_defer']) == 0
    shown = capsys.readouterr().out
    assert 'SCN-C-D-101' in shown and 'SCN-C-101' not in shown
    assert main(['run', 'SCN-C-101', 'SCN-C-D-101', '--link', 'loopback', '--severity', '>=0.9',
                 '--words', 'patterns', '--output', str(tmp_path / 'run')]) == 0
    lines = (tmp_path / 'run' / 'trials.jsonl').read_text().splitlines()
    assert [json.loads(line)['scenario_id'] for line in lines] == ['SCN-C-101']
