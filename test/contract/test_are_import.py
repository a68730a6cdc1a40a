# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Stock Meta ARE imports every trace that a real campaign wrote."""

import json
import os
from pathlib import Path
import subprocess

import pytest

from ros.campaigns import campaign

SCRIPT = Path(__file__).with_name('are_import.py')
pytestmark = pytest.mark.dds


def imported(python, traces):
    """Return what ARE says of each trace."""
    environment = {**os.environ, 'HF_HUB_OFFLINE': '1', 'LITELLM_LOCAL_MODEL_COST_MAP': 'True'}
    environment.pop('PYTHONPATH', None)
    done = subprocess.run([python, SCRIPT, *traces], env=environment, text=True, timeout=300,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]


@pytest.fixture(scope='module')
def runs(rule_based_run, tmp_path_factory):
    """Take passing traces of all scenarios, and failing and inconclusive ones."""
    folder = tmp_path_factory.mktemp('traces')
    return [rule_based_run,
            campaign(folder / 'failing', 'SCN-R-101', 'SCN-C-101', '--controller', 'never_stop'),
            campaign(folder / 'still', 'SCN-R-103', '--controller', 'always_stop'),
            campaign(folder / 'nobody', 'SCN-R-101', '--controller', 'external',
                     '--connect-timeout-s', '1', '--domain-id', '97')]


def test_stock_are_loads_every_trace_with_its_completed_events(are_python, runs):
    traces = sorted(path for run in runs for path in run.folder.glob('traces/*/*.json'))
    assert len(traces) == sum(len(run.trials) for run in runs) >= 22
    results = imported(are_python, traces)
    assert [result['path'] for result in results] == [str(path) for path in traces]
    for result, path in zip(results, traces, strict=True):
        trace = json.loads(path.read_text())
        assert result['warnings'] == []
        assert result['events'] == [
            [event['event_id'], event['event_type'], event['event_time']]
            for event in trace['completed_events']]
        assert result['benchmark_events'] == len(trace['completed_events']) >= 2
        assert result['scenario_id'] == result['benchmark_id']
        assert result['scheduled'] == sorted(event['event_id'] for event in trace['events'])
        assert result['tags'] == ['Safety', 'Time']


def test_the_status_that_are_shows_is_the_verdict(are_python, runs):
    wanted = {'PASS': 'Valid', 'FAIL': 'Invalid'}
    for run in runs[:2]:
        for trial in run.trials[-2:]:
            path = run.folder / 'traces' / trial['scenario_id'] / f'{trial["trial_id"]}.json'
            [result] = imported(are_python, [path])
            assert result['status'] == wanted[trial['verdict']]
