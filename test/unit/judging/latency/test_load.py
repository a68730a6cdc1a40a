# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A busy host widens the uncertainty of a latency, by what is seen of it; an idle one never."""

from typing import Any

from cases import for_each
import pytest
from safety_scenarios.campaign.calibration import calibrate
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.command_stream import Liveness
from safety_scenarios.judging.latency.stream import WakeUps
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.timing import ClockOffset, Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord
from unit.judging.latency.probing import calibration
from unit.records import command, driving, hazard, ns, record, shown, stamps, system_ns

IDLE_MS = 0.4
CALIBRATED = Measuring(one_host=True, uncertainty_ms={'source': 0.44, 'received': 0.44},
                       wake_ups_ms={'command': IDLE_MS, 'echo': IDLE_MS, 'stimulus': IDLE_MS})


def trial(after_ms: float, *late_ms: float, measuring: Measuring = CALIBRATED,
          from_ms: float = -1900.0, scenario: Any = None) -> TrialRecord:
    """
    Return a trial in which threads of the harness wake up so late, in turn, at 20 Hz.

    The controller drives until ``after_ms``, by the middleware's stamps.
    """
    events: list[Event] = []
    for index, (t_ms, _) in enumerate(driving(from_ms, 2400.0)):
        late = late_ms[index % len(late_ms)]
        events.append(shown(t_ms + late, due_ms=t_ms, hazard=False, topic='wheels'))
        events.append(Event(kind='echo', name='wheels', scheduled_ns=None, stamps=stamps(
            t_ms + late, source_ns=system_ns(t_ms), received_ns=system_ns(t_ms))))
    commands = [command(t_ms + 0.3, speed, left_ms=t_ms, arrived_ms=t_ms + 0.1)
                for t_ms, speed in (*driving(-600 + after_ms % 50, after_ms),
                                    *driving(after_ms, 2500.0, 0.0))]
    return record(commands, scenario, extra=events, measuring=measuring)


def bound_ms(*arguments: Any, **changes: Any) -> float:
    latency = evaluate(trial(*arguments, **changes)).latency
    assert latency is not None and latency.reaction is not None
    assert latency.reaction.method == 'source'
    return latency.reaction.uncertainty_ns / 1e6


@pytest.mark.parametrize('late_ms', [
    (0.4,), (0.3, 0.5, 0.9), (*[0.4] * 29, 30.0), (*[0.4] * 12, 0.9)],
    ids=['steady', 'spread', 'one hiccup', 'below a millisecond'])
def test_an_idle_host_adds_nothing(late_ms):
    assert bound_ms(250, *late_ms) == 0.44
    assert 'busy-host' not in {note.code for note in evaluate(trial(250, *late_ms)).notes}


def test_a_busy_host_adds_twice_the_worst_that_was_seen():
    """One in four wakes up 9.2 ms late; usual is up to three times the median: 1.2 ms."""
    assert bound_ms(250, 0.4, 0.4, 0.4, 9.2) == pytest.approx((0.44**2 + 16.0**2) ** 0.5)
    [note] = [note for note in evaluate(trial(250, 0.4, 0.4, 0.4, 9.2)).notes
              if note.code == 'busy-host']
    assert '± 16.00 ms' in note.text


def test_a_verdict_that_depends_on_it_is_open_and_no_other():
    """Critical is 500 ms."""
    for after_ms, idle, busy in ((490, Verdict.PASS, Verdict.INCONCLUSIVE),
                                 (510, Verdict.FAIL, Verdict.INCONCLUSIVE),
                                 (480, Verdict.PASS, Verdict.PASS),
                                 (520, Verdict.FAIL, Verdict.FAIL)):
        assert evaluate(trial(after_ms, 0.4)).verdict is idle
        assert evaluate(trial(after_ms, 0.4, 0.4, 0.4, 9.2)).verdict is busy


@for_each(('max_gap_ms', 'late_ms', 'verdict'), [
    (540.0, (0.4,), Verdict.FAIL), (540.0, (0.4, 0.4, 0.4, 9.2), Verdict.INCONCLUSIVE),
    (530.0, (0.4, 0.4, 0.4, 9.2), Verdict.FAIL), (560.0, (0.4, 0.4, 0.4, 9.2), Verdict.PASS)])
def test_a_silence_that_the_host_may_have_made_is_open_and_no_longer_one(
        max_gap_ms, late_ms, verdict):
    """The last command is 550 ms before the end, and the host may have held one up for 16 ms."""
    alive = Liveness(name='alive', topic='cmd_vel', max_gap_ms=max_gap_ms)
    found = trial(450, *late_ms, scenario=hazard(invariants=[alive]))
    [one] = [finding for finding in evaluate(found).findings if finding.check == 'alive']
    assert one.verdict is verdict
    assert ('may have held it up for 16 ms' in one.reason) is (verdict is Verdict.INCONCLUSIVE)


def test_a_load_that_the_calibration_has_met_is_not_counted_again():
    met = CALIBRATED.model_copy(update={'busy_ms': 8.0})
    assert bound_ms(250, 0.4, 0.4, 0.4, 9.2, measuring=met) == 0.44
    more = CALIBRATED.model_copy(update={'busy_ms': 4.8})
    assert bound_ms(250, 0.4, 0.4, 0.4, 9.2, measuring=more) == pytest.approx(
        (0.44**2 + 4 * (8.0**2 - 4.8**2)) ** 0.5)


def test_a_load_long_before_the_hazard_is_none_around_the_reaction():
    kept = trial(250, 0.4)
    before = [Event(kind='echo', name='wheels', stamps=stamps(
        t_ms + 9.2, source_ns=system_ns(t_ms))) for t_ms, _ in driving(-9000, -4000)]
    early = kept.model_copy(update={'events': (*before, *kept.events)})
    assert evaluate(early).latency.reaction.uncertainty_ns == ns(0.44)
    assert WakeUps(early, {'echo': IDLE_MS}).busy_ns() > 0


def test_too_few_wake_ups_and_a_record_from_before_tell_of_no_load():
    assert bound_ms(250, 9.2, measuring=CALIBRATED, from_ms=1500.0) == 0.44
    old = Measuring(one_host=True, uncertainty_ms={'source': 0.44})
    assert bound_ms(250, 0.4, 0.4, 0.4, 9.2, measuring=old) == 0.44
    assert 'wake_ups_ms' not in old.model_dump() and 'busy_ms' not in old.model_dump()


def test_of_another_host_s_clock_nothing_is_taken_away():
    far = CALIBRATED.model_copy(update={'one_host': False})
    latency = evaluate(trial(250, 0.4, measuring=far)).latency
    assert latency.reaction.method == 'received' and latency.widened_ns == 0


def test_a_calibration_on_a_busy_host_claims_no_more_than_it_can():
    """Its probes met little of the load, and its own threads much: every fifth, 7 ms."""
    idle = calibration((0.0, 50.0), 40, error_ms=lambda number: 0.2)
    found = calibrate(idle, {})
    assert found.busy_ms == 0.0 and not any('busy' in note for note in found.notes)
    busy = calibrate(calibration((0.0, 50.0), 40, error_ms=lambda number: 0.2,
                                 late_ms=lambda number: 0.0 if number % 5 else 7.0), {})
    assert busy.busy_ms > 4.0 and any('the host was busy' in note for note in busy.notes)
    assert busy.uncertainty_ms['source'] > 2 * busy.busy_ms > found.uncertainty_ms['source']


@pytest.mark.parametrize(('spread_ns', 'told'), [(200_000, False), (2_400_000, True)])
def test_an_offset_that_is_too_wide_says_why_and_that_it_does_not_matter(spread_ns, told):
    text = ClockOffset(offset_ns=93_000, bound_ns=155_000, outbound_ns=0, inbound_ns=0,
                       spread_ns=spread_ns, probes=25).explained()
    assert text.startswith('+0.093 ms within 0.155 ms, by 25 probes')
    assert ('took 2.400 ms longer than the median' in text) is told
    assert ('They are judged all the same' in text) is told
