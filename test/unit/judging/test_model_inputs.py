# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a model read and gave is told where its trial does not pass, and decides nothing."""

from collections.abc import Mapping, Sequence
import json
import math
from pathlib import Path
import re
from typing import Any

from cases import for_each
from safety_scenarios.campaign.run import run
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.message import CommandStamps
from safety_scenarios.scenario.result import MODEL_INPUTS, TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.timing import (
    note_of,
    read_and_gave,
    read_report,
    read_timing,
    Timing,
)
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.trial import TrialRecord
from unit.controllers.policies.onnx_models import contract, stops_near
from unit.records import stamps

QUICK = Path(__file__).parents[2] / 'data' / 'quick_person.yaml'
CRUISE = [[0.8, 0.0]] * 4


class Kept(Observer):
    """Keeps the record and the result of the last trial."""

    record: TrialRecord
    result: TrialResult

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        self.record, self.result = record, result


def driven(folder: Path, *parameters: str, person: Mapping[str, Any] = {}, limit: float = 2.5,
           actions: Sequence[Sequence[float]] = CRUISE) -> Kept:
    stops_near(folder / 'policy.onnx', actions, limit=limit)
    contract(folder / 'policy.yaml', inputs={'person': {
        'role': 'human_pose', 'fields': ['pose.position.x'], **person}})
    kept = Kept()
    run(RunSettings(scenarios=(str(QUICK),), link='loopback', controller_parameters=parameters,
                    controller=f'onnx:{folder}/policy.onnx'), [kept], files=False)
    return kept


def told(result: TrialResult) -> str:
    return ''.join(note.text for note in result.notes if note.code == MODEL_INPUTS)


def within_budget(result: TrialResult) -> str:
    [reason] = [one.reason for one in result.findings if one.check == 'reaction within the budget']
    return reason


def test_a_model_that_saw_the_hazard_and_drove_on_is_shown_with_its_numbers(tmp_path):
    found = driven(tmp_path, limit=-1.0).result
    assert found.verdict is Verdict.FAIL
    assert re.fullmatch(
        r'action and inputs of the model before the hazard and \d+ ms after the onset, as the '
        r'controller reports: action \[0.8, 0\], then \[0.8, 0\]; person \[6\], then \[1.5\]',
        told(found))
    assert 'stayed in the range' not in within_budget(found)


def test_the_summary_says_of_which_trial_the_numbers_are(tmp_path):
    driven(tmp_path, limit=-1.0)
    summary = run(RunSettings(scenarios=(str(QUICK),), link='loopback', trials=3,
                              controller=f'onnx:{tmp_path}/policy.onnx'), [], files=False)
    [row] = summary.scenarios
    assert row.notes[MODEL_INPUTS].endswith('person [6], then [1.5] (QUICK, trial 1)')


def test_a_model_that_was_not_shown_the_hazard_is_told_from_it(tmp_path):
    found = driven(tmp_path, person={'clip': [6.0, 9.0]}).result
    assert 'action [0.8, 0], then [0.8, 0]; person [6], then [6]' in told(found)
    assert 'stayed in the range from before the hazard. If all of them are reported, check the ' \
           'roles, frames, sector, units and clip of its contract' in within_budget(found)


def test_of_a_late_reaction_it_is_what_the_reaction_was_decided_from(tmp_path):
    found = driven(tmp_path, 'inference_ms=400').result
    assert found.verdict is Verdict.FAIL and found.latency is not None
    assert told(found).endswith('action [0.8, 0], then [0, 0]; person [6], then [1.5]')


def test_a_robot_that_did_not_get_moving_is_told_what_its_model_read(tmp_path):
    found = driven(tmp_path, actions=[[0.0, 0.8]])
    assert found.result.verdict is Verdict.INCONCLUSIVE
    assert told(found.result) == ('action and inputs of the model at last, as the controller '
                                  'reports: action [0, 0.8]; person [6]')


def test_a_trial_that_passes_has_no_such_note_and_a_chunk_is_reported_once(tmp_path):
    found = driven(tmp_path)
    assert found.result.verdict is Verdict.PASS and not told(found.result)
    timings = found.record.of_kind('timing')
    reported = [read_timing(one) for one in timings if read_and_gave(one)[1]]
    assert len(reported) == len({one.chunk for one in reported}) < len(timings)
    assert {one.index for one in reported} == {0}


@for_each('said', [
    {'read': {'person': [math.nan]}, 'gave': ['x']}, {'read': [1.0], 'gave': 7},
    {'read': {'\x1b[31m': [True], 'person': [10**400]}, 'gave': [math.inf]}, {'read': 'person'}])
def test_what_is_no_number_is_not_told_and_changes_no_verdict(tmp_path, said):
    text = json.dumps({'topic': 'cmd_vel', 'sequence': 3, 'began': 5, **said})
    assert read_report(text) == ('cmd_vel', 3, Timing({'began': 5}))
    found = driven(tmp_path, limit=-1.0)
    spoilt = found.record.model_copy(update={'events': tuple(
        event.model_copy(update={'arguments': json.dumps(said)}) if event.kind == 'timing'
        else event for event in found.record.events)})
    judged = evaluate(spoilt)
    assert judged.verdict is found.result.verdict and not told(judged)


def test_numbers_travel_with_the_report_few_and_short():
    found = Timing.of(CommandStamps(
        read={f'x{count}\n': [1.23456789] * 20 for count in range(40)}, gave=[1e-9, 2.0],
        note='timeout'), 0)
    assert found.read == {f'x{count}': (1.235,) * 8 for count in range(16)}
    assert note_of(found.event('cmd_vel', 1, stamps(0))) == 'timeout'
    assert read_report(found.to_json('cmd_vel', 1)) == ('cmd_vel', 1, found)
    assert read_timing(found.event('cmd_vel', 1, stamps(0))) == found
