# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Two hosts with a network of their own: a clock that is off, a wire that delays and one cut."""

import importlib
import json
from pathlib import Path
import subprocess
import sys

import pytest

BENCH = Path(__file__).parents[2] / 'bench'


@pytest.fixture
def network(monkeypatch):
    """Return the bench's own module, if there can be two hosts here."""
    monkeypatch.syspath_prepend(BENCH)
    module = importlib.import_module('network')
    reason = module.missing()
    if reason is not None:
        pytest.skip(f'no two hosts on this machine: {reason}')
    return module


def rows_of(written: Path) -> list[dict]:
    ended = subprocess.run([sys.executable, BENCH / 'hosts.py', '--quick', '--output', written],
                           timeout=180, text=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert ended.returncode == 0, ended.stdout
    return json.loads(written.read_text(encoding='utf-8'))['rows']


@pytest.mark.dds
@pytest.mark.thorough
def test_neither_a_clock_that_is_off_nor_a_wire_that_delays_or_is_cut_changes_a_verdict(
        network, tmp_path):
    if network.faketime() is None:
        pytest.skip('libfaketime is not installed, so that no host can have another clock')
    for _ in range(3):  # a busy machine holds up messages as a network does
        delayed, cut = rows_of(tmp_path / 'hosts.json')
        if set(delayed['verdicts']) != {'INCONCLUSIVE'}:
            break
    assert delayed['verdicts'] == {'PASS': 1}, delayed
    assert delayed['method'] == 'received'
    assert delayed['latency_ms'] > 20, 'the way there and back takes 20 ms at the least'
    assert cut['verdicts'] == {'INCONCLUSIVE': 1}, cut
    assert any('the network carried what was sent' in reason for reason in cut['why_inconclusive'])


@pytest.mark.dds
def test_packets_are_seen_with_the_time_of_the_kernel_and_the_source_stamp(network, tmp_path):
    written = tmp_path / 'witness.json'
    ended = subprocess.run([sys.executable, BENCH / 'witness.py', '--trials', '1', '--output',
                            written], timeout=180, text=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert ended.returncode == 0, ended.stdout
    figures = {figure['name']: figure
               for figure in json.loads(written.read_text(encoding='utf-8'))['figures']}
    for method in ('received', 'source'):
        assert figures[f'{method}: without a packet']['value'] == 0
        assert figures[f'{method}: |difference|, reactions, p50']['n'] == 1
        assert figures[f'{method}: |difference|, each command, p50']['value'] < 20
        for part in ('a stimulus leaves after its source stamp',
                     'a command is stamped before it leaves',
                     'a command is stamped after it arrives'):
            assert figures[f'{method}: {part}, p50']['value'] > 0
