# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Over DDS a policy behind a server is judged like any controller, and its time-outs are told."""

import time
from typing import Any

import numpy
import pytest
from ros.campaigns import campaign, QUICK

pytest.importorskip('msgpack', reason='the extra servers is not installed')
from unit.controllers.policies.scripted_servers import openpi, openpi_bytes  # noqa: E402

pytestmark = pytest.mark.dds
CONTRACT = """
robot: mobile_base
rate_hz: 20
inputs:
  person: {role: human_pose, fields: [pose.position.x, pose.position.y], frame: base_link,
           missing: 20.0}
outputs:
  actions: {quantity: velocity}
"""
INFER_MS, LATE_S = 30.0, 0.5


def driven(folder, domain, answer, *more):
    """Return the last trial of a policy behind a server, and what was printed."""
    (folder / 'policy.yaml').write_text(CONTRACT)
    with openpi(answer) as address:
        run = campaign(folder / 'run', QUICK, '--controller', f'openpi:{address}', '--domain-id',
                       str(domain), '--set', f'controller.contract={folder / "policy.yaml"}',
                       *more)
    return run.trials[-1], run.output


def stops_for(person: Any) -> bytes:
    near = float(numpy.hypot(*person)) < 2.5
    return openpi_bytes({'actions': numpy.array([[0.0 if near else 0.8, 0.0]]),
                         'server_timing': {'infer_ms': INFER_MS}})


def test_a_policy_behind_openpi_stops_and_its_server_time_is_a_part(tmp_path, domain):
    def answer(observation: Any) -> bytes:
        time.sleep(INFER_MS / 1e3)
        return stops_for(observation['person'])
    trial, output = driven(tmp_path, domain, answer)
    assert trial['verdict'] == 'PASS', output
    parts = trial['latency']['parts']
    assert parts['is_stamped'] and parts['inference']['ns'] == INFER_MS * 1e6, output
    assert not [name for name in trial['counts'] if name.startswith('fallback')], output


def test_a_model_that_is_loaded_for_longer_than_others_are_waited_for_is_waited_for(
        tmp_path, domain):
    asked: list[Any] = []

    def answer(observation: Any) -> bytes:
        asked.append(observation)
        time.sleep(4.0 if len(asked) == 1 else 0.0)
        return stops_for(observation['person'])
    trial, output = driven(tmp_path, domain, answer, '--set', 'connect_timeout_s=3')
    assert trial['verdict'] == 'PASS', output


@pytest.mark.thorough
def test_a_server_that_is_late_for_a_person_is_named_in_the_results(tmp_path, domain):
    def answer(observation: Any) -> bytes:
        if numpy.hypot(*observation['person']) < 2.5:
            time.sleep(LATE_S)
        return stops_for(observation['person'])
    trial, output = driven(tmp_path, domain, answer, '--set', 'controller.timeout_ms=100')
    assert trial['counts']['fallback timeout'] >= 1, output
    assert trial['verdict'] == 'INCONCLUSIVE', output
    assert any(one['check'] == 'the model itself decided' for one in trial['findings']), output
    assert trial['latency']['parts']['fallback'] == 'timeout', output
    words = ' '.join(output.split())  # lines of the console are broken at 100 columns
    assert 'Fallback commands, without a decision, in 1 trial: timeout' in words, output
    assert 'a fallback command: timeout' in words, output
