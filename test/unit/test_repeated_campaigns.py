# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which trials the tests over DDS may repeat: those that the host kept from being measured."""

import json

import pytest
from ros.campaigns import Run, unmeasured
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.result import TrialResult
from unit.judging.latency.test_load import trial
from unit.records import command, driving, record, shown

BUSY = 0.4, 0.4, 0.4, 9.2


def late(by_ms: float) -> TrialResult:
    """Return what a trial comes to whose hazard leaves late."""
    commands = [command(t_ms, speed) for t_ms, speed in (*driving(-600.0, 200.0),
                                                         *driving(200.0, 2500.0, 0.0))]
    return evaluate(record(commands, extra=[shown(by_ms + 1000.0, due_ms=1000.0)]))


def line(result: TrialResult) -> dict:
    return json.loads(result.model_dump_json())


@pytest.mark.parametrize(('result', 'verdict', 'is_told'), [
    (late(0.0), 'PASS', False), (late(60.0), 'INCONCLUSIVE', True),
    (evaluate(trial(490, *BUSY)), 'INCONCLUSIVE', True),
    (evaluate(trial(480, *BUSY)), 'PASS', False), (evaluate(trial(520, *BUSY)), 'FAIL', False),
    (evaluate(record([command(t_ms, speed) for t_ms, speed in driving(-600.0, 2500.0, 0.0)])),
     'INCONCLUSIVE', False)],
    ids=['on time', 'late', 'busy and near the limit', 'busy', 'busy and too slow', 'at rest'])
def test_a_trial_is_repeated_only_where_the_product_names_the_host(result, verdict, is_told):
    assert result.verdict.value == verdict
    assert unmeasured(line(result)) is is_told


def test_a_repeated_scenario_counts_by_its_last_campaign(tmp_path):
    def run(name: str, code: int, **verdicts: str) -> Run:
        (tmp_path / name).mkdir()
        (tmp_path / name / 'trials.jsonl').write_text(''.join(json.dumps(
            {'scenario_id': key, 'verdict': verdict, 'notes': [], 'findings': [
                {'check': 'stimuli left on time', 'verdict': verdict}]}) + '\n'
            for key, verdict in verdicts.items()))
        return Run(code, name, tmp_path / name)

    first = run('first', 3, A='PASS', B='INCONCLUSIVE')
    assert (first.code, first.unmeasured) == (3, {'B'})
    first.again.append(run('second', 0, B='PASS'))
    assert (first.code, first.unmeasured) == (0, set())
    assert first.verdicts == {'A': 'PASS', 'B': 'PASS'}
    assert first.output == 'first\nsecond'
    first.again.append(run('third', 1, B='FAIL'))
    assert first.code == 1
