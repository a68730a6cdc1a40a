# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios with agents in ARE traces: what is expected is planned behind what triggers it."""

import io
import json
from typing import Any

from cases import for_each
from safety_scenarios.are.traces.writer import write_are
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.blocks.agents import Pattern
from safety_scenarios.scenario.verdict import Verdict
from unit.rule_runs import answers, block, calls, expects, greets, record_of

SEARCHES = Pattern(kind='tool_call', agents=('a2',), name='search')
MET = greets(1000), answers(1300), calls(1900, 'search')


def written(*events: Any, profile: Any = 'portable') -> tuple[Verdict, dict[str, Any]]:
    """Return the verdict and the trace of a run with two demands that one greeting makes."""
    record = record_of(block(expects(), expects(SEARCHES)), events)
    result, file = evaluate(record, words='patterns'), io.StringIO()
    write_are(file, record, result, profile)
    return result.verdict, json.loads(file.getvalue())


def test_a_demand_whose_turn_is_over_goes_on_in_the_next_with_the_time_that_is_left():
    _, trace = written(*MET)
    plan = {event['event_id']: (event['dependencies'], event['event_relative_time'])
            for event in trace['events']}
    assert plan['expect0'] == (['rule0.fired0'], 2.0)
    assert plan['before_expect1'] == (['expect0'], 0.0)
    assert plan['expect1'] == (['before_expect1'], 1.7)


@for_each('profile', ['portable', 'robot'])
@for_each('events', [MET, (MET[0], MET[2], answers(2500)), MET[:2], MET[:1], ()])
def test_no_answer_is_planned_at_the_time_of_its_trigger(profile, events):
    _, trace = written(*events, profile=profile)
    limits = [event['event_relative_time'] for event in trace['events']
              if event['event_type'] == 'AGENT']
    assert len(limits) == 2 and min(limits) >= 1e-6


def test_what_is_compared_stands_in_the_plan_of_a_pass_in_the_order_in_which_it_came():
    for events in (MET, (MET[0], calls(1100, 'search'), answers(1300))):
        verdict, trace = written(*events)
        assert verdict is Verdict.PASS
        compared = [event['event_id'] for event in trace['completed_events']
                    if not event['event_id'].endswith('env_expansion')
                    and (event['event_type'], event['action']['operation_type']) != (
                        'AGENT', 'READ')]
        assert compared == [event['event_id'] for event in trace['events']]


def test_our_own_reader_takes_the_trace(tmp_path):
    for place, events in enumerate((MET, MET[:1])):
        path = tmp_path / f'{place}.json'
        path.write_text(json.dumps(written(*events)[1]))
        assert load_scenarios([str(path)]).scenarios


def test_our_own_reader_takes_traces_with_operation_types_in_lower_case_too(tmp_path):
    path = tmp_path / 'old.json'
    path.write_text(json.dumps(written(*MET)[1]).replace('"WRITE"', '"write"'))
    assert not [one for one in load_scenarios([str(path)]).warnings if one.code == 'A101']
