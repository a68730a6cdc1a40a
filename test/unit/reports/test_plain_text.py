# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where no terminal reads it, what is printed is ASCII, and nothing dies of a character."""

import io
import json
import os
import subprocess
import sys

import pytest
from rich.console import Console
from rich.table import Table
from safety_scenarios.reports.plain_text import never_fail, plain, PlainText, speak_plainly

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
