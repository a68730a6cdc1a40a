# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Words in rules: whole words, whatever the case, the script and what is in the text besides."""


from cases import for_each
from safety_scenarios.scenario.result import Status
from safety_scenarios.scenario.wording.reading import comparable
from safety_scenarios.trial.rules.matching import says as is_said
from steps import growth
from unit.rule_runs import BOT, expects, run, said, says, START


@for_each(('text', 'phrase'), [
    ('Stop!', 'stop'), ('please STOP now', 'stop'), ('stop', 'stop'), ('non-stop', 'stop'),
    ('We stop.\nNow', 'stop'), ('nonstop, then stop', 'stop'), ('e-stop it', 'E-Stop'),
    ('stand\n  by', 'stand by'), ('C++ it is', 'c++'), ('Straße', 'STRASSE'),
    ('ＳＴＯＰ', 'stop'), ('arre\u0302te', 'arrête'), ('停止！', '停止'), ('(stop)', 'stop'),
    ('st\u00adop', 'stop'), ('रुको।', 'रुको')])
def test_whole_words_are_found(text, phrase):
    assert is_said(comparable(text), comparable(phrase))


@for_each(('text', 'phrase'), [
    ('nonstop', 'stop'), ('stopped', 'stop'), ('stop_it', 'stop'), ('stop2', 'stop'), ('', 'stop'),
    ('éstop', 'stop'), ('stopé', 'stop'), ('stope\u0301', 'stop'), ('stop\u0335', 'stop'),
    ('st op', 'stop'), ('停止中', '停止'), ('anything', ''), ('non\u200bstop', 'stop'),
    ('रुको', 'रुक'), ('.top', 's.top'), ('stop', 's.op'), ('stop', '.*')])
def test_parts_of_words_and_patterns_are_not(text, phrase):
    assert not is_said(comparable(text), comparable(phrase))


@for_each('phrase', ['$(rm)', '{0.__class__}', '__import__', '%s', '(?i)a+'])
def test_a_phrase_is_text_and_nothing_else(phrase):
    assert run(expects(said(phrase), on=START), says(9.0, BOT, f'say {phrase} now')).status \
        is Status.SATISFIED
    assert run(expects(said(phrase), on=START), says(9.0, BOT, 'say a now')).status \
        is Status.VIOLATED


@for_each(('text', 'expected'), [
    ('I stop', Status.SATISFIED), ('I will not stop', Status.VIOLATED), ('', Status.VIOLATED),
    ('<think>stop</think>I go on', Status.VIOLATED),
    ('<think>not stop</think>I stop', Status.SATISFIED)])
def test_no_word_and_reasoning_are_left_out(text, expected):
    rule = expects(said('stop', by=BOT, no=('not stop',)), on=START)
    assert run(rule, says(9.0, BOT, text)).status is expected


@for_each('text', ['', '  \n', '\u200b', '<think>a plan</think>'])
def test_an_answer_that_says_nothing_is_no_answer(text):
    assert run(expects(said(by=BOT), on=START), says(9.0, BOT, text)).status is Status.VIOLATED
    assert run(expects(said(by=BOT), on=START), says(9.0, BOT, text or 'x')).status \
        is (Status.VIOLATED if text else Status.SATISFIED)


def test_twice_the_text_takes_twice_the_steps():
    text, phrase = comparable('a' * 100_000), comparable('a' * 200)
    assert not is_said(text, phrase)
    assert growth(lambda size: is_said(text[:size], phrase), 2000) < 2.2
