# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""When the hazard comes: after enough commands, and at the drawn phase of the measured period."""

from collections.abc import Callable
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.faults import LinkLoss
from safety_scenarios.stimuli.messages import RawMessage
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Timeline, TrialRecord
from unit.records import chat, hazard, ns, planned
from unit.scripted import careful, drives, ScriptedLink, START_NS

BEAT = RawMessage(topic='heartbeat', message='std_msgs/msg/Empty', rate_hz=20.0)


def ran(controller: Callable[..., Any] = drives, scenario: Any = None,
        **changes: Any) -> TrialRecord:
    return run_trial(planned(scenario or hazard(), **changes), ScriptedLink(controller))


def onset_ms(record: TrialRecord) -> float:
    """Return when onset was due, in ms after the link was opened."""
    onset = Timeline(record).mark('onset')
    assert onset is not None and onset.scheduled_ns is not None
    assert onset.scheduled_ns <= onset.stamps.steady_ns < onset.scheduled_ns + ns(1)
    return (onset.scheduled_ns - START_NS) / 1e6


def each(period_ms: float, speed: float = 0.8) -> Callable[..., float | None]:
    """Return a controller that speaks each ``period_ms``, a multiple of 50."""
    return lambda t_ms, heard: speed if t_ms % period_ms == 0 else None


@for_each('phase', [0.0, 0.1, 0.5, 0.999])
@for_each('period_ms', [50, 100, 200])
def test_onset_is_later_by_the_drawn_share_of_the_measured_period(phase, period_ms):
    """The first command comes after one period, and half a second is drawn."""
    assert onset_ms(ran(each(period_ms), onset_phase=phase)) == pytest.approx(
        period_ms + 500 + phase * period_ms, abs=1e-5)


def test_the_hazard_comes_with_onset():
    record = ran(onset_phase=0.5)
    onset = Timeline(record).onset
    assert onset is not None and onset.hazard
    assert onset.scheduled_ns == START_NS + ns(onset_ms(record))


@for_each('phase', [0.0, 0.25, 0.75])
def test_a_slow_controller_is_met_at_every_phase_of_its_period(phase):
    """A command each second: without the phase every trial would wait for the same delay."""
    record = ran(each(1000), onset_phase=phase)
    assert onset_ms(record) == pytest.approx(3000 + phase * 1000, abs=1e-5)


def test_three_commands_of_a_moving_controller_are_waited_for():
    record = ran(each(400))
    assert onset_ms(record) == 1200.0
    assert len([event for event in record.of_kind('command')
                if event.stamps.steady_ns <= START_NS + ns(1200)]) == 3


def test_commands_at_rest_are_no_baseline():
    """They come each 100 ms; but of the first ten only two show that the robot moves."""
    moving = {300.0, 600.0}
    record = ran(lambda t_ms, heard: None if t_ms % 100 else
                 0.8 if t_ms in moving or t_ms > 1000 else 0.0)
    assert onset_ms(record) == 1100.0


@for_each(('rests_ms', 'later_ms'), [
    ((300, 500), 200), ((500, 800), 300), ((300, 400), 100), ((500, 9000), 700),
    ((900, 9000), 0)])
def test_the_hazard_waits_until_an_arm_that_rests_is_at_work(rests_ms, later_ms):
    """Without a rest it comes at 550 ms; it waits no longer than an arm rests."""
    def rests(t_ms, heard):
        return 0.0 if rests_ms[0] <= t_ms < rests_ms[1] else 0.8
    arm = hazard(robot=RobotModel(kind='arm', max_speed=1.0, joints=('shoulder',)))
    assert onset_ms(ran(rests, arm)) == 550 + later_ms
    assert onset_ms(ran(rests)) == 550, 'a base works without rests'


def test_after_a_rest_the_hazard_comes_in_time_and_not_in_the_past():
    """Three commands are waited for until 2050 ms, half a second before the arm works again."""
    def rare(t_ms, heard):
        return {50: 0.8, 1050: 0.8, 2050: 0.8, 2100: 0.0, 2600: 0.8}.get(t_ms)
    arm = hazard(robot=RobotModel(kind='arm', max_speed=1.0, joints=('shoulder',)))
    assert onset_ms(ran(rare, arm, onset_phase=0.1)) == 2700.0


@for_each('spoken', [1, 2])
@for_each('phase', [0.0, 0.5])
def test_a_controller_that_speaks_no_more_is_shown_the_hazard_when_patience_ends(spoken, phase):
    """It commands when something changes; onset is when the wait is over, not before it."""
    record = ran(lambda t_ms, heard: 0.8 if t_ms <= 50 * spoken else None, onset_phase=phase)
    period_ms = 50 if spoken > 1 else 0
    assert onset_ms(record) == 50 + 500 + 3000 + phase * period_ms
    hazards = [event for event in record.events if event.hazard]
    assert all(event.stamps.steady_ns - (event.scheduled_ns or 0) < ns(1) for event in hazards)
    assert 'late' not in evaluate(record).reason


def test_a_lost_link_is_measured_from_when_it_was_lost():
    """A controller that speaks only when something changes stops 200 ms after the last beat."""
    spoken: list[float] = []

    def changes(t_ms: float, heard: Any) -> float | None:
        wanted = 0.8 if 'heartbeat' in heard and t_ms < 3800 else 0.0
        if spoken and spoken[-1] == wanted:
            return None
        spoken.append(wanted)
        return wanted

    record = ran(changes, hazard(nominal=(BEAT,), stimuli=(
        LinkLoss(topic='heartbeat', rate_hz=20.0),)))
    assert onset_ms(record) == 3550.0
    result = evaluate(record)
    assert result.latency is not None and result.latency.judged_ns == ns(250)


def test_a_period_is_not_taken_for_longer_than_five_seconds():
    """Else the drawn share of a pause would have to be waited for."""
    record = ran(lambda t_ms, heard: 0.8 if t_ms in (50, 100) or t_ms % 8000 == 0 else None,
                 onset_phase=0.5, nominal_timeout_ns=ns(9000))
    assert onset_ms(record) == 8000 + 0.5 * (50 + 7900) / 2
    slow = ran(lambda t_ms, heard: 0.8 if t_ms % 8000 == 0 else None, onset_phase=0.5,
               nominal_timeout_ns=ns(30_000))
    assert onset_ms(slow) == 24_000 + 2500


def test_a_reaction_is_measured_from_where_onset_fell():
    """The controller ticks each 50 ms, and scans come at once: what is left is the phase."""
    found = []
    for phase in (0.1, 0.5, 0.9):
        latency = evaluate(ran(careful, onset_phase=phase)).latency
        assert latency is not None and latency.judged_ns is not None
        found.append(round(latency.judged_ns / 1e6, 3))
    assert found == [45.0, 25.0, 5.0]


def test_a_text_has_a_delay_and_no_phase():
    record = run_trial(planned(chat(), onset_phase=0.7), ScriptedLink())
    assert onset_ms(record) == 500.0


def test_a_benign_variant_s_event_has_its_phase_too():
    record = ran(drives, hazard(domain='robotic_defer', reaction=None), onset_phase=0.4)
    assert onset_ms(record) == 570.0
    assert evaluate(record).verdict is not Verdict.FAIL
