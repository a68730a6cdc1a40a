# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``make bench`` measures everything it promises; whether a target is met depends on the host."""

from contextlib import suppress
import json
import math
import os
from pathlib import Path
import subprocess
import sys
import time

from examples import FEW
import pytest
from ros.campaigns import environment

pytestmark = pytest.mark.exact

BENCH = Path(__file__).parents[2] / 'bench' / 'run.py'
SECTIONS = {
    'An echo against the bare round trip', 'Error against known delays', 'Four topics at once',
    'One topic', 'By number of command topics', 'Campaigns in loopback', 'A campaign over DDS',
    'Signal temporal logic', 'ARE traces', 'The embedded world'}
SOME = {'An echo against the bare round trip', 'One topic', 'Campaigns in loopback'}
FIELDS = {'section', 'name', 'value', 'unit', 'n', 'low', 'high', 'target', 'met', 'method'}
WITH_TARGET = (
    'echo: reported / bare round trip, p50', 'echo: reported / bare round trip, p99',
    *(f'error, idle, {delay} ms, {share}' for delay in (5, 50, 200) for share in ('p50', 'p99')),
    *(f'error, {what} / idle, {share}' for what in ('recording', '5 ms callbacks', 'busy thread')
      for share in ('p50', 'p99')),
    '4 topics at 1 kHz: lost', '4 topics at 1 kHz: error / idle, p50',
    '4 topics at 1 kHz: error / idle, p99', '1 topic at 1 kHz: CPU a message',
    'loopback: trials a second', 'whole trials, judged: faster than real time', 'offline',
    'times as fast as rtamt 0.4.10',
    *(f'{verb}{what}' for verb in ('write', 'read')
      for what in (', share of ARE', ' memory, share of ARE', ' memory, growth')))


def abandoned() -> set[str]:
    """Return the locks in shared memory that no living process holds, whoever has left them."""
    held = set()
    for link in Path('/proc').glob('[0-9]*/fd/*'):
        with suppress(OSError):
            held.add(os.readlink(link))
    return {path.name for path in Path('/dev/shm').glob('*fast*_el') if str(path) not in held}


@pytest.mark.dds
@pytest.mark.slow
@pytest.mark.thorough
def test_a_quick_run_measures_every_figure_and_leaves_nothing_behind(tmp_path):
    before, written = abandoned(), tmp_path / 'results.json'
    sections = SOME if FEW else SECTIONS
    chosen = [f'--section={title}' for title in sections] if FEW else []
    ended = subprocess.run([sys.executable, BENCH, '--quick', '--output', written, *chosen],
                           env=environment(), timeout=400, text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, check=False)
    assert ended.returncode == 0, ended.stdout
    results = json.loads(written.read_text(encoding='utf-8'))
    assert results['quick'] and results['made'] and results['versions']['rclpy']
    assert results['host']['cores'] and len(results['load_after']) == 3
    figures = results['figures']
    assert {figure['section'] for figure in figures} == sections
    aimed = {figure['name'] for figure in figures if figure['target']}
    assert aimed == set(WITH_TARGET) or (FEW and aimed < set(WITH_TARGET))
    assert {name for name in WITH_TARGET if name.startswith(('echo', '1 topic'))} <= aimed
    for figure in figures:
        assert set(figure) == FIELDS
        assert figure['unit'] and figure['n'] > 0 and figure['method'], figure
        assert math.isfinite(figure['value']), figure
        assert figure['met'] in ((True, False) if figure['target'] else (None,))
        assert figure['name'] in ended.stdout
    missed = [figure['name'] for figure in figures if figure['met'] is False]
    assert ended.stdout.count('missed') == len(missed) + bool(missed)
    left = abandoned() - before
    time.sleep(1)  # others may have been ending
    assert not left & abandoned()
