# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A policy whose chunks can take longer than the budget is named: one trial may pass by luck."""

from pathlib import Path

from cases import for_each
from safety_scenarios import run

POLICY = Path(__file__).parents[4] / 'config' / 'policies' / 'base.onnx'
"""One action a chunk, at 20 Hz."""


@for_each(('inference_ms', 'execution', 'longest_ms'), [
    (0.0, 'synchronous', None), (200.0, 'synchronous', None), (300.0, 'synchronous', 650),
    (200.0, 'asynchronous', None), (201.0, 'asynchronous', 550)])
def test_a_wait_beyond_critical_is_a_warning_of_the_preflight(
        inference_ms, execution, longest_ms):
    results = run('SCN-R-101', link='loopback', controller=f'onnx:{POLICY}', seed=1, set={
        'controller.inference_ms': inference_ms, 'controller.execution': execution})
    found = [row.detail for one in results.summary.preflight for row in one.rows
             if row.check == 'chunks']
    assert len(found) == (longest_ms is not None)
    assert all(f'may take {longest_ms} ms, longer than critical (500 ms)' in one for one in found)
