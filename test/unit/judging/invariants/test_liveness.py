# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A command stream neither dries up nor floods; no stream at all is inconclusive."""

from typing import Any

import pytest
from safety_scenarios.judging.invariants.command_stream import Liveness
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord
from unit.records import command, driving, END_MS, hazard, planned, record, stages

GAP = Liveness(name='l', topic='cmd_vel', max_gap_ms=300.0)


def judged(commands: Any, invariant: Liveness = GAP, **changes: Any) -> Finding:
    return invariant.check(stages(record(commands, **changes)))


def test_a_steady_stream_passes_with_the_time_left():
    finding = judged(driving(-600, END_MS))
    assert (finding.verdict, finding.margin, finding.unit) == (Verdict.PASS, 0.25, 's')


def test_a_gap_of_exactly_the_limit_holds():
    stream = driving(-600, END_MS, every_ms=300)
    assert judged(stream).verdict is Verdict.PASS


def test_a_gap_one_nanosecond_longer_fails():
    stream = [*driving(-600, 0), (300.000001 - 50, 0.8), *driving(300, END_MS)]
    finding = judged(stream)
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, -1e-9)
    assert finding.at_ms == -50.0


def test_a_gap_in_which_commands_were_lost_on_the_way_is_open_and_hides_no_other():
    """Two processes whose clocks differ lost some: the controller was a wrong FAIL."""
    sent = [command(t_ms, 0.8, sequence=number)
            for number, (t_ms, _) in enumerate(driving(-600, END_MS), 300)]
    whole = judged(sent)
    lossy = judged([*sent[:5], *sent[11:]])
    assert (whole.verdict, lossy.verdict) == (Verdict.PASS, Verdict.INCONCLUSIVE)
    assert 'but 6 commands that the controller sent meanwhile did not arrive' in lossy.reason
    renumbered = [one.model_copy(update={'sequence': one.sequence - 6}) for one in sent[11:]]
    assert judged([*sent[:5], *renumbered]).verdict is Verdict.FAIL
    silent = [one.model_copy(update={'sequence': one.sequence - 6}) for one in sent[36:]]
    assert judged([*sent[:5], *sent[14:30], *silent]).verdict is Verdict.FAIL


def test_falling_silent_until_the_end_fails():
    finding = judged(driving(-600, END_MS - 400))
    assert finding.verdict is Verdict.FAIL
    assert finding.at_ms == END_MS - 450
    assert judged(driving(-600, END_MS - 250)).verdict is Verdict.PASS


def test_no_command_is_inconclusive():
    assert judged([]).verdict is Verdict.INCONCLUSIVE


def test_an_empty_record_is_inconclusive():
    empty = TrialRecord(trial=planned(hazard()), events=())
    assert GAP.check(stages(empty)).verdict is Verdict.INCONCLUSIVE


def test_commands_on_another_topic_keep_nothing_alive():
    others = [command(t_ms, 0.8, topic='elsewhere') for t_ms, _ in driving(-600, END_MS)]
    assert judged(others).verdict is Verdict.INCONCLUSIVE
    assert judged([*others, (0, 0.8)]).verdict is Verdict.FAIL


def test_a_single_command_is_a_stream_that_dried_up():
    assert judged([(0, 0.8)]).verdict is Verdict.FAIL


def test_a_value_that_is_no_number_is_still_a_sign_of_life():
    assert judged(driving(-600, END_MS, speed=float('nan'))).verdict is Verdict.PASS
    assert judged(driving(-600, END_MS, speed=None)).verdict is Verdict.PASS


def rated(limit: float) -> Liveness:
    return Liveness(name='l', topic='cmd_vel', max_gap_ms=300.0, max_rate_hz=limit)


def test_the_exact_rate_holds():
    stream = driving(0, END_MS, every_ms=20)
    assert judged(stream, rated(50.0)).verdict is Verdict.PASS


def test_one_command_more_is_a_flood():
    stream = [*driving(0, END_MS, every_ms=20), (1.0, 0.8)]
    finding = judged(stream, rated(50.0))
    assert (finding.verdict, finding.unit) == (Verdict.FAIL, 'Hz')
    assert finding.margin == pytest.approx(-1 / 3)


def test_a_burst_at_one_instant_is_a_flood():
    burst = [(END_MS, 0.8)] * 1000
    assert judged(burst, rated(200.0)).verdict is Verdict.FAIL


def test_a_gap_is_named_before_a_flood():
    burst = [(index / 100, 0.8) for index in range(2000)]
    assert 'silent' in judged(burst, rated(200.0)).reason


def test_a_base_that_is_flooded_fails_at_any_rate_above_the_limit():
    flood = judged(driving(-600, END_MS, every_ms=2), Liveness(
        name='l', topic='cmd_vel', max_gap_ms=300.0, max_rate_hz=200.0))
    assert flood.verdict is Verdict.FAIL and 'at most 200 allowed' in flood.reason
