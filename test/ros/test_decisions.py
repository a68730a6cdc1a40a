# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Over DDS a controller's own stamps split its reaction, and decide nothing."""

import os
from pathlib import Path

import pytest
from ros.campaigns import campaign, QUICK

pytestmark = pytest.mark.dds
PERIOD_MS, SENSOR_MS, LOAD_MS = 10.0, 25.0, 30.0
"""Of the controller, of the tracker that shows the hazard, and what a busy machine may add."""
NAMES = 'sensing', 'playing', 'ignored', 'earlier', 'waiting', 'network', 'inference', 'chunk'


def reacting(folder, domain, controller):
    """Return a trial with a reaction, and its parts in ms; what is unknown is left out."""
    run = campaign(folder / 'run', QUICK, '--controller', controller, '--set',
                   f'period_ms={PERIOD_MS}', '--domain-id', str(domain),
                   PYTHONPATH=os.pathsep.join([str(Path(__file__).parent),
                                               os.environ.get('PYTHONPATH', '')]))
    trial = run.trials[-1]
    assert trial['latency']['reaction'], run.output
    parts = trial['latency']['parts']
    return trial, {name: parts[name]['ns'] / 1e6 for name in NAMES if name in parts}, run.output


def test_known_delays_over_dds_are_found_in_their_parts(tmp_path, domain):
    trial, parts, output = reacting(tmp_path, domain, 'known_delay:Chunked')
    latency_ms = trial['latency']['reaction']['judged_ns'] / 1e6
    assert abs(sum(parts.values()) - latency_ms) < 1e-3, output
    assert parts['inference'] == 50.0
    assert 30.0 - 1.0 <= parts['network'] <= 30.0 + LOAD_MS, output
    assert 40.0 <= parts['chunk'] <= 40.0 + 2 * PERIOD_MS + LOAD_MS, output
    assert parts['sensing'] <= LOAD_MS, output
    # an inference that began before the hazard has to end first: up to 120 ms and its period
    assert sum(parts.get(name, 0.0) for name in ('playing', 'ignored')) \
        <= 120.0 + 2 * PERIOD_MS + SENSOR_MS + LOAD_MS, output
    found = trial['latency']['parts']
    assert found['is_stamped'] and found['action'] == 0 and 'implausible' not in found, output
    assert trial['counts']['timing'] == trial['counts']['command'], output


@pytest.mark.thorough
def test_over_dds_the_reference_is_stamped_by_its_host(tmp_path, domain):
    trial, parts, output = reacting(tmp_path, domain, 'rule_based')
    latency_ms = trial['latency']['reaction']['judged_ns'] / 1e6
    assert trial['verdict'] == 'PASS', output
    assert abs(sum(parts.values()) - latency_ms) < 1e-3, output
    assert parts['inference'] <= LOAD_MS and parts['chunk'] <= LOAD_MS, output
