# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Between two hosts: what the network held up, lost or cut off is no doing of the controller."""

from collections.abc import Collection, Mapping
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.observation import CARRIED
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import Verdict
from unit.records import command, hazard, mark, record, reported

TWO = Measuring(hosts_because='the endpoints carry different host ids',
                uncertainty_ms={'received': 1.0})
KNOWN = TWO.model_copy(update={'acknowledged': True})
ONE = TWO.model_copy(update={'one_host': True})
AHEAD_MS = 3000.0
"""The other host's clock; none of the stamps of both may be compared."""
STOPS = Silence(policy='stop', driver_timeout_ms=100.0)
PASS, FAIL, INCONCLUSIVE = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE


def stream(reacts_ms: float = 50.0, *, late: Mapping[int, float] | None = None,
           lost: Collection[int] = (), until_ms: float = 3000.0, ppm: float = 0.0,
           speed: float = 0.0) -> list[Event]:
    """
    Return a command each 50 ms from -700 ms on, which take 2 ms.

    :param late: time at which one left, in ms, to how much longer it took
    :param lost: when those left that never came
    """
    waits = late or {}
    found = [command(
        at_ms + 2 + waits.get(at_ms, 0), 0.8 if at_ms < reacts_ms else speed,
        left_ms=at_ms + AHEAD_MS + at_ms * ppm / 1e6, arrived_ms=at_ms + 2 + waits.get(at_ms, 0),
        sequence=at_ms // 50 + 100) for at_ms in range(-700, round(until_ms), 50)
        if at_ms not in lost]
    return sorted(found, key=lambda event: event.stamps.steady_ns)


def judged(commands: list[Event], measuring: Measuring = TWO, silence: Silence | None = None,
           **changes: Any) -> TrialResult:
    return evaluate(record(commands, hazard(silence=silence or Silence()), measuring=measuring,
                           **changes))


def reached(*gap: int) -> list[Event]:
    """Return the acknowledgements of a responder, but for those within a gap (ms)."""
    return [mark('calibration/probe', at_ms).model_copy(update={'kind': 'reached'})
            for at_ms in range(-700, 3001, 50) if not gap or not gap[0] < at_ms < gap[1]]


def why(result: TrialResult) -> str:
    """Return what is said of the network, empty: nothing."""
    return next((one.reason for one in result.findings if one.check == CARRIED), '')


def held_up(from_ms: int, to_ms: int) -> dict[int, float]:
    """Return how late each message is of a stretch that arrives at its end."""
    return {at_ms: to_ms - at_ms for at_ms in range(from_ms, to_ms, 50)}


@pytest.mark.parametrize('ppm', [200.0, -200.0])
def test_a_clock_that_is_off_and_drifts_changes_nothing(ppm):
    assert judged(stream(ppm=ppm)).verdict is PASS
    assert judged(stream(reacts_ms=9999, ppm=ppm)).verdict is FAIL
    assert not why(judged(stream(ppm=ppm)))


def test_what_came_late_and_decides_nothing_is_judged():
    late = {600: 40.0, 650: 45.0}
    assert judged(stream(late=late)).verdict is PASS
    assert judged(stream(9999, late=late)).verdict is FAIL


def test_a_reaction_that_only_the_network_made_late_is_no_fail():
    late = held_up(50, 800)
    assert judged(stream(late=late), ONE).verdict is FAIL
    result = judged(stream(late=late))
    assert result.verdict is INCONCLUSIVE
    assert 'came 750 ms later' in why(result)
    assert 'FAIL as the messages arrived, and PASS as they left' in why(result)


def test_who_never_stops_is_not_found_out_through_a_network_that_held_up_the_hazard_too():
    result = judged(stream(9999, late=held_up(0, 300)))
    assert result.verdict is INCONCLUSIVE
    assert 'how late the hazard came there is unknown' in why(result)


def test_a_silence_that_the_network_made_stops_no_robot():
    late = held_up(0, 300)
    assert judged(stream(late=late), ONE, STOPS).verdict is PASS
    assert judged(stream(late=late), silence=STOPS).verdict is INCONCLUSIVE
    assert judged(stream(until_ms=1), ONE, STOPS).verdict is PASS
    result = judged(stream(until_ms=1), silence=STOPS)
    assert result.verdict is INCONCLUSIVE
    assert 'a network that is cut looks the same as a controller that stops sending' in why(result)


def test_a_silence_is_the_controllers_while_others_are_heard_from_its_host():
    reports = [reported(at_ms, 0.8, left_ms=at_ms + AHEAD_MS - 1, arrived_ms=at_ms)
               for at_ms in range(-700, 3000, 80)]
    assert judged([*stream(until_ms=1), *reports], silence=STOPS).verdict is PASS
    assert judged([*stream(until_ms=1), *reached()], KNOWN, STOPS).verdict is PASS
    assert judged([*stream(until_ms=1), *reached()], KNOWN).verdict is FAIL


@pytest.mark.parametrize(('lost', 'verdict'), [
    ((1000,), FAIL), ((1000, 1050, 1100), INCONCLUSIVE)])
def test_what_is_lost_for_long_may_have_been_the_stop(lost, verdict):
    result = judged(stream(9999, lost=lost))
    assert result.verdict is verdict
    assert ('3 messages were lost between two hosts' in why(result)) is (verdict is INCONCLUSIVE)


def test_a_hazard_that_nobody_knows_to_have_arrived_is_neither_missed_nor_answered():
    assert 'delivery-unknown' in {note.code for note in judged(stream()).notes}
    found = judged([*stream(), *reached()], KNOWN)
    assert 'delivery-unknown' not in {note.code for note in found.notes}
    for reacts_ms, verdict in ((50.0, PASS), (9999.0, FAIL)):
        assert judged([*stream(reacts_ms), *reached()], KNOWN).verdict is verdict
        result = judged([*stream(reacts_ms), *reached(0, 400)], KNOWN)
        assert result.verdict is INCONCLUSIVE
        assert 'for 400 ms nothing reached the other host' in why(result)
        assert judged([*stream(reacts_ms), *reached(-600, -300)], KNOWN).verdict is verdict


@for_each('gap', [(-701, 3001), (-550, 3001), (-701, 2900), (-10, 2400)])
def test_a_wire_that_was_cut_from_the_beginning_or_to_the_end_hides_the_hazard(gap):
    for reacts_ms in (50.0, 9999.0):
        assert judged([*stream(reacts_ms), *reached(*gap)], KNOWN).verdict is INCONCLUSIVE


def test_what_would_have_been_found_stays_readable():
    result = judged(stream(9999, lost=(1000, 1050, 1100)))
    assert any('not judged because of the network; it would be FAIL' in one.reason
               for one in result.findings)


def test_who_commands_twice_may_have_commanded_again_unless_the_other_host_was_heard():
    """Go and stop arrive, and then nothing: another go would look the same on a cut network."""
    twice = [command(at_ms + 2, speed, left_ms=at_ms + AHEAD_MS, arrived_ms=at_ms + 2,
                     sequence=number) for number, (at_ms, speed) in enumerate(
                         [(-600, 0.8), (50, 0.0)])]
    result = judged(twice)
    assert result.verdict is INCONCLUSIVE
    assert 'nothing was received from the other host' in why(result)
    assert judged(twice, ONE).verdict is PASS
    assert judged(twice, KNOWN, extra=reached()).verdict is PASS
    assert judged(twice, KNOWN, extra=reached(1000, 1500)).verdict is INCONCLUSIVE
