# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a terminal and a pipe get: colours are ours, and nothing dies of a character."""

import io
import json
import os
import re
import subprocess
import sys

import pytest
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from safety_scenarios.cli.main import main
from safety_scenarios.errors import escaped_controls, USER_INFO
from safety_scenarios.reports.console_report import Screen
from safety_scenarios.reports.plain_text import (
    never_fail,
    on_one_line,
    plain,
    PlainText,
    speak_plainly,
)

HOSTILE = 'a\x1b[2J\x1b]0;t\x07b\x00c\x9b31md\u202ee\u2066f\rg\x7f'


def printed(*things, width=200):
    file = io.StringIO()
    screen = Screen(file=file, force_terminal=True, highlight=False, width=width)
    for thing in things:
        screen.print(thing, soft_wrap=True)
    return file.getvalue()


def test_a_line_and_a_cell_and_a_title_are_shown_and_not_obeyed():
    rows = Table(escape(HOSTILE), title=escape(HOSTILE), caption=escape(HOSTILE))
    rows.add_row(escape(HOSTILE))
    for text in (printed(f'[red]{escape(HOSTILE)}[/]'), printed(rows)):
        assert not {'\x00', '\x07', '\x9b', '\u202e', '\u2066', '\r', '\x7f'} & set(text)
        assert '\x1b[2J' not in text and '\x1b]' not in text and '\\u001b[2J' in text
    assert '\x1b[31m' in printed('[red]x[/]')


def test_letters_line_ends_and_markup_stay_as_they_are():
    for text in ('\u0645\u0631\u062d\u0628\u0627', 'a\tb\nc', '\U0001f916', '<script>'):
        assert escaped_controls(text) == text
    assert printed(escape('[red]x')).strip() == '[red]x'


def test_of_a_long_message_the_advice_at_its_end_is_shown():
    line = on_one_line(f'got this, expected that: {"word " * 200}. Remap cmd_vel', 300)
    assert len(line) < 340 and line.startswith('got this, ') and line.endswith('Remap cmd_vel')


def test_a_long_answer_takes_one_line_that_says_how_long_it_is():
    line = on_one_line('x\n' * 10**6)
    assert len(line) < 600 and '\n' not in line
    assert re.search(r'\[\.\.\. 1999\d\d\d characters \.\.\.\]', line)


def test_an_error_about_a_hostile_name_is_not_obeyed_either(tmp_path, capsys):
    assert main(['run', f'{tmp_path}/no\x1b[2Jsuch.yaml', '--link', 'loopback']) == 2
    told = capsys.readouterr().err
    assert '\x1b' not in told and '\\u001b[2J' in told


def test_what_is_not_seen_is_escaped_as_in_json():
    text = 'flag \U000e0067\u202e of \x1b'
    assert json.loads(escaped_controls(json.dumps(text, ensure_ascii=False))) == text


def test_who_logs_in_is_hidden_whole():
    assert USER_INFO.sub('***', 'http://user:p@ss@host/@scope') == 'http://***host/@scope'


_COMMAND = 'import sys; from safety_scenarios.cli.main import main; sys.exit(main())'


def test_our_own_signs_have_words_in_ascii_and_letters_become_escapes():
    assert plain('12 ms ± 0.5 ms – “wait…” → 5 ≤ 6') == '12 ms +/- 0.5 ms - "wait..." -> 5 <= 6'
    assert plain('Größe 🤖 \ud800') == 'Gr\\u00f6\\u00dfe \\ud83e\\udd16 \\ud800'
    assert json.loads(plain('"Größe 🤖"')) == 'Größe 🤖', 'JSON stays the JSON it was'


def test_a_table_for_a_log_is_drawn_in_ascii():
    out = io.StringIO()
    table = Table('a', title='± ü')
    table.add_row('ß')
    Console(file=PlainText(out), width=40).print(table)
    assert out.getvalue().isascii() and '+' in out.getvalue() and '|' in out.getvalue()


def test_standard_streams_carry_ascii_or_at_least_never_fail():
    for prepare, encoding in ((speak_plainly, 'utf-8'), (never_fail, 'ascii')):
        raw = io.BytesIO()
        stream = io.TextIOWrapper(raw, encoding=encoding)
        prepare([stream, None])
        print('± ü', file=stream, flush=True)
        assert raw.getvalue() == b'+/- \\u00fc\n'
    utf8 = io.TextIOWrapper(io.BytesIO(), encoding='utf-8')
    never_fail([utf8])
    print('ü', file=utf8, flush=True)
    assert utf8.buffer.getvalue() == 'ü\n'.encode()


@pytest.mark.slow
def test_a_campaign_prints_ascii_into_a_pipe_and_whatever_the_locale(tmp_path):
    for encoding in ('utf-8', 'ascii'):
        done = subprocess.run(
            [sys.executable, '-c', _COMMAND, 'run', 'SCN-R-101', '--link', 'loopback',
             '--output', str(tmp_path / encoding)], check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, 'PYTHONIOENCODING': encoding, 'LANG': 'C'})
        assert done.returncode == 0 and b'PASS' in done.stdout
        assert done.stdout.isascii(), done.stdout
