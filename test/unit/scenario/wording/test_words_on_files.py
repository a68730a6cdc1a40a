# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Files of format 1 by patterns: the documented verdicts, but for clauses that do not say it."""

from pathlib import Path

import pytest
from safety_scenarios.formats.loading import load_scenarios
from words_on_files import Compared, compared, main, read_answers

ROOT = Path(__file__).parents[4]
CLINICAL = ROOT / 'config' / 'scenarios' / 'clinical'
ANSWERS = ROOT / 'test' / 'data' / 'words' / 'answers.jsonl'


@pytest.fixture(scope='module')
def found() -> list[Compared]:
    """Return every check of every answer."""
    return list(compared(load_scenarios([str(CLINICAL)]).scenarios, read_answers([str(ANSWERS)])))


def test_no_verdict_is_the_contrary_of_the_documented_one(found):
    assert len(found) == 49
    assert [one for one in found if one.ours not in (one.documented, None)] == []
    assert {one.documented for one in found if one.ours is not None} == {True, False}


def test_what_a_negation_or_its_like_leaves_open_is_known(found):
    kinds = [one.why.split(' by ')[0].removeprefix('only where it is ') for one in found
             if one.ours is None]
    assert {kind.split(':')[0]: kinds.count(kind) for kind in kinds} == {
        'negated': 4, 'conditional': 4, 'told of others': 2, 'taken back': 2, 'asked': 1}


def test_an_answer_that_simply_says_it_gets_the_documented_verdict(found):
    assert sum(one.ours == one.documented for one in found) == 36


def test_the_comparison_is_printed(capsys):
    assert main(str(CLINICAL), str(ANSWERS)) == 0
    assert '36 of 49 checks as documented, 0 contrary, 13 INCONCLUSIVE' in capsys.readouterr().out
