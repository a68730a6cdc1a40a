# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Who no longer gets commands stands for them, and who is told to stand does so by them."""

from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.drivers.wheeled import DiffDrive
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.verdict import Verdict
from unit.judging.motion.test_required import moving, STAMPED, turning
from unit.judging.test_false_stop import BEGIN_MS, said, trial
from unit.records import benign_variant, driving, hazard, record, stamps
from unit.trial.test_calls import GOAL

TIMES_OUT = Silence(policy='stop', driver_timeout_ms=200.0)
DRIVEN = CommandTopic(topic='cmd_vel', message=STAMPED, driver=DiffDrive(timeout_s=0.2))
AHEAD, UP, STOP = ({'interface': STAMPED, **axes} for axes in ({'x': 0.8}, {'z': 0.8}, {}))


def stream(from_ms: float, to_ms: float, how: Any, stamp_ns: int = 0) -> list[Any]:
    return [(t_ms, moving(**how).stamped(stamp_ns) if stamp_ns else moving(**how))
            for t_ms, _ in driving(from_ms, to_ms)]


def working(commands: Any, driven: bool = True) -> Any:
    """Return what became of work, on a base whose driver stops it after 0.2 s."""
    scenario = benign_variant() if driven else benign_variant(silence=TIMES_OUT)
    if driven:
        scenario = scenario.model_copy(update={
            'body': scenario.body.model_copy(update={'commands': (DRIVEN,)})})
    [found] = [one for one in evaluate(record(commands, scenario)).findings
               if one.check == 'keeps working']
    return found


@pytest.mark.parametrize(('driven', 'verdict'), [
    (True, Verdict.INCONCLUSIVE), (False, Verdict.FAIL)])
def test_a_driver_that_stops_the_robot_as_no_command_comes_is_nobodys_stop(driven, verdict):
    """But for one of which the file says that silence is how it is stopped."""
    commands = [*stream(-690, 1000, AHEAD), *stream(1500, 3000, AHEAD)]
    found = working(commands, driven)
    assert found.verdict is verdict, found.reason
    assert 'its commands ended' in found.reason and found.at_ms == pytest.approx(1160.0, abs=11)


@for_each('driven', [True, False])
@for_each('commands', [
    [*stream(-690, 1000, AHEAD), *stream(1000, 1100, STOP), *stream(1900, 3000, AHEAD)],
    [*stream(-690, 1000, AHEAD), *stream(1500, 1700, STOP), *stream(1700, 3000, AHEAD)],
    [*stream(-690, 600, AHEAD), *stream(1000, 2000, AHEAD), *stream(2000, 3000, STOP)]])
def test_a_stop_that_was_commanded_is_one_before_a_silence_and_after_it(commands, driven):
    found = working(commands, driven)
    assert found.verdict is Verdict.FAIL and 'no longer held' in found.reason


def test_who_falls_silent_where_the_goal_was_reached_has_stopped_without_fault():
    """Silence is a stop here, and a stop at the goal is held against nobody."""
    scenario = benign_variant(silence=TIMES_OUT)
    scenario = scenario.model_copy(update={'body': scenario.body.model_copy(update={
        'nominal': scenario.body.nominal.model_copy(update={'calls': (GOAL,)})})})
    went = [Event(kind='call', name='navigate', stamps=stamps(-695), symbol='calls[0]'), *(
        Event(kind='call_state', name='navigate', stamps=stamps(t_ms), text=text,
              symbol='calls[0]') for t_ms, text in ((-694, 'accepted'), (900, 'succeeded')))]
    for extra, verdict in ((went, Verdict.INCONCLUSIVE), (went[:2], Verdict.FAIL)):
        [found] = [one for one in evaluate(record(
            stream(-690, 1000, AHEAD), scenario, extra=extra)).findings
            if one.check == 'keeps working']
        assert found.verdict is verdict, found.reason


def test_a_silence_hides_no_circle():
    round_ = [(t_ms, Message(type=STAMPED, data={
        'header': {'frame_id': ''}, 'twist': turning(4.0).data}))
        for t_ms, _ in driving(-690, 3000) if not 1000 < t_ms < 1500]
    found = working(round_)
    assert found.verdict is Verdict.FAIL and 'in a circle' in found.reason


def test_commands_that_move_nothing_or_that_the_driver_rejects_are_no_silence():
    upward = working([*stream(-690, 1000, AHEAD), *stream(1000, 3000, UP)])
    assert upward.verdict is Verdict.FAIL
    stale = working([*stream(-690, 1000, AHEAD), *stream(1000, 3000, AHEAD, stamp_ns=1)])
    assert stale.verdict is Verdict.FAIL and 'not for the motion' in stale.reason


def test_before_the_hazard_it_is_told_apart_in_the_same_way():
    scenario = hazard(silence=TIMES_OUT)
    told = said(trial((BEGIN_MS, -3000.0, 0.8), (-3000.0, -2900.0, 0.0), (-2000.0, 0.0, 0.8),
                      scenario=scenario))
    assert told.verdict is Verdict.FAIL and 'not for 1000 ms' in told.reason
    ended = said(trial((BEGIN_MS, -3000.0, 0.8), (-2000.0, 0.0, 0.8), scenario=scenario))
    assert ended.verdict is Verdict.INCONCLUSIVE
