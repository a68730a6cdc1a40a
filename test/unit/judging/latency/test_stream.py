# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the command stream tells besides latency: what was lost, and what its stamps are worth."""

from collections.abc import Callable, Iterable
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.latency.stream import (
    header_notes,
    interleaved,
    lost,
    period_ns,
    stream_rows,
)
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import Verdict
from unit.records import (
    answered,
    benign_variant,
    chat,
    command,
    driving,
    hazard,
    ns,
    ONSET_ROS_NS,
    ONSET_STEADY_NS,
    ONSET_SYSTEM_NS,
    reacting,
    record,
    reported,
    shown,
    stamps,
)


def counted(commands: Iterable[tuple[float, Any]], numbers: Iterable[int]) -> list[Event]:
    return [command(*entry, sequence=number)
            for entry, number in zip(commands, numbers, strict=True)]


def without(missing: Iterable[int], after_ms: float = 150.0) -> list[Event]:
    """Return a drive that stops, but for the commands of these numbers; onset lies before 15."""
    drive = reacting(after_ms)
    return [event for event in counted(drive, range(len(drive)))
            if event.sequence not in set(missing)]


def said(*numbers: int | None, topic: str = 'cmd_vel') -> list[Event]:
    return [command(10.0 + 50 * place, 0.8, sequence=number, topic=topic)
            for place, number in enumerate(numbers)]


@for_each(('numbers', 'count'), [
    ((1, 2, 3), 0), ((1, 3), 1), ((1, 2, 6), 3), ((1, 3, 4, 7), 3), ((41, 42), 0), ((9,), 0),
    ((None, None), 0), ((1, None, 9), 0)])
def test_a_gap_in_the_publisher_s_count_is_what_was_lost(numbers, count):
    assert lost(record(said(*numbers))) == ({'cmd_vel': count} if count else {})


def test_each_topic_has_a_count_of_its_own():
    both = [*said(1, 3, 4), *said(7, 8, 11, topic='arm')]
    assert lost(record(both)) == {'cmd_vel': 1, 'arm': 2}


def dropped(t_ms: float, text: str | None, topic: str = 'cmd_vel') -> Event:
    return Event(kind='lost', name=topic, stamps=stamps(t_ms), text=text)


@for_each(('text', 'count'), [('3', 3), ('1', 1), (None, 1)])
def test_without_a_count_what_the_middleware_reports_is_lost(text, count):
    assert lost(record(said(None, None), extra=[dropped(30, text)])) == {'cmd_vel': count}


def test_each_report_tells_what_was_lost_since_the_one_before():
    assert lost(record([], extra=[dropped(30, '2'), dropped(80, '3')])) == {'cmd_vel': 5}


def test_a_loss_that_shows_in_both_ways_is_counted_once():
    assert lost(record(said(1, 4, 5), extra=[dropped(30, '2')])) == {'cmd_vel': 2}


def test_what_was_lost_before_does_not_count_from_then_on():
    gap = without({3, 4})
    assert lost(record(gap)) == {'cmd_vel': 2}
    assert lost(record(gap), ONSET_STEADY_NS) == {}
    early = [dropped(-300, '2')]
    assert lost(record(said(1, 2), extra=early), ONSET_STEADY_NS) == {}


def test_what_was_lost_around_onset_may_have_come_after_it():
    assert lost(record(without({14, 15})), ONSET_STEADY_NS) == {'cmd_vel': 2}


def finding(result: TrialResult, check: str) -> Any:
    return next((found for found in result.findings if found.check == check), None)


def test_a_command_lost_since_onset_leaves_the_verdict_open():
    assert evaluate(record(without(()))).verdict is Verdict.PASS
    result = evaluate(record(without({20})))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert finding(result, 'no command was lost').verdict is Verdict.INCONCLUSIVE
    assert 'cmd_vel: 1 command was lost' in result.reason


def test_a_command_lost_before_onset_leaves_it_as_it_is():
    result = evaluate(record(without({3})))
    assert result.verdict is Verdict.PASS and not finding(result, 'no command was lost')


def test_a_loss_does_not_hide_a_failure():
    assert evaluate(record(without({40}, after_ms=600))).verdict is Verdict.FAIL


def test_a_loss_in_a_benign_variant_counts_from_its_event():
    drive = driving(-690, 3000)
    gap = [event for event in counted(drive, range(len(drive))) if event.sequence != 40]
    assert finding(evaluate(record(gap, benign_variant())), 'no command was lost') is not None


@for_each(('numbers', 'place'), [
    ((1, 2, 3), None), ((1, 7, 8), None), ((1, 50, 2, 51, 3), 1), ((1, 1, 1), 1),
    ((None, None), None), ((1, None, 2), None), ((7, 8, 9, 1, 2, 3), None),
    ((7, 8, 1, 9, 10), 2), ((7, 8, 1, 2, 10), 2), ((7, 8, 30, 31, 9, 10), 2),
    ((7, 9, 10, 3, 4, 5), None), ((0, 1, 2, 4, 3, 5, 6), None),
    ((7, 8, 1, 4, 5, 7, 8, 9), None), ((7, 8, None, 1, 9), 3)])
def test_two_publishers_show_by_a_count_that_is_left_and_taken_up_again(numbers, place):
    """One fall is a publisher that was made anew."""
    events = said(*numbers)
    assert interleaved(record(events)) == (
        None if place is None else ('cmd_vel', events[place].stamps.steady_ns))
    assert place is None or lost(record(events)) == {}, 'from one count to the other'


def test_two_publishers_on_two_topics_are_none_too_many():
    both = sorted([*said(1, 2, 3), *said(1, 2, 3, topic='arm')],
                  key=lambda event: event.stamps.steady_ns)
    assert interleaved(record(both)) is None


def test_the_commands_of_two_publishers_are_an_error():
    drive = reacting(150)
    turns = counted(drive, (number // 2 + 1000 * (number % 2) for number in range(len(drive))))
    result = evaluate(record(turns))
    assert result.verdict is Verdict.ERROR
    assert 'two publishers took turns' in result.reason
    assert finding(result, 'no command was lost') is None


@for_each(('times', 'period'), [
    ((), None), ((5,), None), ((0, 50), 50), ((0, 50, 100, 900), 50), ((0, 40, 100), 50)])
def test_the_period_is_the_median_gap(times, period):
    assert period_ns(times) == period


TWIST, TRAJECTORY = 'geometry_msgs/msg/TwistStamped', 'trajectory_msgs/msg/JointTrajectory'
DRIVE = driving(-690, 3000)
Stamp = Callable[[Event], int | None]


def stamped(stamp: Stamp, kind: str = TWIST, every: int = 1) -> list[Event]:
    """Return commands with header stamps; of ``every`` n-th by ``stamp``, else honest ones."""
    found = []
    for place, (t_ms, speed) in enumerate(DRIVE):
        event = command(t_ms, Message(type=kind, data={
            'linear': {'x': speed, 'y': 0.0, 'z': 0.0}}))
        write = stamp if place % every == 0 else honest
        found.append(event.model_copy(update={'stamps': event.stamps.model_copy(
            update={'header_ns': write(event)})}))
    return found


def honest(event: Event) -> int:
    return event.stamps.ros_ns - ns(1)


SCANS = tuple(shown(50.0 * place, header_ns=ONSET_ROS_NS + ns(50.0 * place) - ns(0.5))
              for place in range(50))


def copied(event: Event) -> int | None:
    """Return the stamp of the last scan, as a controller does that passes its header on."""
    before = [scan.stamps.header_ns for scan in SCANS
              if scan.stamps.steady_ns <= event.stamps.steady_ns]
    return before[-1] if before else honest(event)


def noted(stamp: Stamp, measuring: Measuring | None = None, **changes: Any) -> dict[str, str]:
    return {note.code: note.text for note in header_notes(
        record(stamped(stamp, **changes), extra=SCANS, measuring=measuring or Measuring()))}


def test_honest_stamps_are_nothing_to_note():
    assert noted(honest) == {}


def test_messages_without_stamps_are_nothing_to_note():
    assert noted(lambda event: None) == {}
    assert header_notes(record([])) == ()


def test_stamps_that_are_zero_are_noted():
    assert noted(lambda event: 0) == {'header-zero': 'cmd_vel: 74 of 74 header stamps are zero'}
    assert noted(lambda event: 0, every=2) == {
        'header-zero': 'cmd_vel: 37 of 74 header stamps are zero'}


def test_a_trajectory_that_begins_at_once_has_a_stamp_of_zero():
    assert noted(lambda event: 0, kind=TRAJECTORY) == {}


def test_stamps_copied_from_the_stimulus_are_noted():
    found = noted(copied)
    assert list(found) == ['header-copied'] and 'copied from a stimulus' in found['header-copied']


def test_stamps_that_meet_those_of_a_stimulus_now_and_then_are_not_copied():
    assert noted(copied, every=3) == {}


def test_a_stamp_of_the_very_moment_of_its_command_is_not_copied():
    """In simulated time a command and a stimulus may well be of one moment."""
    own = [shown((event.stamps.steady_ns - ONSET_STEADY_NS) / 1e6,
                 header_ns=event.stamps.ros_ns) for event in stamped(honest)]
    exact = record(stamped(lambda event: event.stamps.ros_ns), extra=own)
    assert header_notes(exact) == ()


@for_each(('ahead_ms', 'told'), [(5, False), (5.000001, True), (400, True)])
def test_stamps_of_the_future_are_noted(ahead_ms, told):
    found = noted(lambda event: event.stamps.ros_ns + ns(ahead_ms))
    assert list(found) == (['header-future'] if told else [])
    if told:
        assert f'by up to {ahead_ms:.1f} ms' in found['header-future']


@pytest.mark.parametrize(('age_ms', 'told'), [(1000, False), (1000.000001, True)])
def test_stamps_that_are_old_on_arrival_are_noted(age_ms, told):
    found = noted(lambda event: event.stamps.ros_ns - ns(age_ms))
    assert list(found) == (['header-stale'] if told else [])


@pytest.mark.parametrize(('clock', 'name'), [
    ('system_ns', 'system time'), ('steady_ns', 'the steady clock')])
def test_stamps_of_another_clock_are_noted_with_its_name(clock, name):
    assert noted(lambda event: getattr(event.stamps, clock) - ns(1)) == {
        'header-wrong-clock': f'cmd_vel: header stamps are of {name}, not ROS time. '
                              "Stamp with the node's clock"}


@pytest.mark.parametrize('measuring', [Measuring(sim_time=True), Measuring(pace=1.0)])
def test_in_simulated_time_the_note_says_which_parameter_a_node_needs(measuring):
    text = noted(lambda event: 12_345, measuring)['header-wrong-clock']
    assert text.endswith("Set use_sim_time:=true on its node, and stamp with the node's clock")


def test_stamps_of_no_clock_that_is_known_are_noted():
    assert 'an unknown clock' in noted(lambda event: 12_345)['header-wrong-clock']
    assert abs(ONSET_SYSTEM_NS - ONSET_STEADY_NS) > ns(60_000)


ODD: dict[str, Stamp] = {
    'copied': copied, 'zero': lambda event: 0, 'future': lambda event: event.stamps.ros_ns + 10**9,
    'past': lambda event: event.stamps.ros_ns - 10**12, 'none': lambda event: None}


@for_each('stamp', ODD.values(), ids=ODD)
def test_what_the_sender_wrote_into_its_headers_decides_nothing(stamp):
    def judged(write: Stamp) -> TrialResult:
        drive = [event.model_copy(update={'stamps': event.stamps.model_copy(
            update={'header_ns': write(event)})})
            for event in (command(*entry) for entry in reacting(250))]
        return evaluate(record(drive, hazard_at=shown(header_ns=ONSET_ROS_NS)))
    plain, odd = judged(honest), judged(stamp)
    assert (odd.verdict, odd.reason, odd.findings) == (plain.verdict, plain.reason, plain.findings)
    assert plain.latency and odd.latency and plain.latency.reaction and odd.latency.reaction
    assert odd.latency.reaction.model_copy(update={'header_ns': None}) == \
        plain.latency.reaction.model_copy(update={'header_ns': None})


def test_what_is_odd_stands_in_the_result():
    notes = evaluate(record(stamped(lambda event: 0), extra=SCANS)).notes
    assert 'header-zero' in [note.code for note in notes]


def rows(commands: Iterable[Any], **changes: Any) -> dict[str, tuple[str, str]]:
    return {row.check: (row.status, row.detail)
            for row in stream_rows(record(commands, **changes))}


def test_a_good_stream_is_three_good_rows():
    assert rows(reacting(150)) == {
        'rate': ('ok', 'cmd_vel: a command each 50 ms'), 'loss': ('ok', 'no command was lost'),
        'stamps': ('ok', 'nothing odd')}


def test_of_no_stream_nothing_is_said():
    assert rows([]) == {}


def test_the_rate_is_that_before_the_hazard():
    slow_then_fast = [*driving(-690, 0, every_ms=200.0), *driving(5, 2500, every_ms=5.0)]
    assert rows(slow_then_fast)['rate'] == ('ok', 'cmd_vel: a command each 200 ms')


@pytest.mark.parametrize(('early', 'count'), [([], '0 commands'), ([(-100, 0.8)], '1 command')])
def test_a_stream_too_thin_to_have_a_rate_is_warned_of(early, count):
    assert rows([*early, *driving(10, 500)])['rate'] == (
        'warn', f'cmd_vel: {count} before the hazard')


def test_what_is_lost_or_odd_is_warned_of():
    found = rows([*without({3, 4})])
    assert found['loss'] == ('warn', 'cmd_vel: 2 lost')
    assert rows(stamped(lambda event: 0))['stamps'][0] == 'warn'


def test_a_text_has_no_stream_and_a_robot_s_state_is_none():
    assert [row.check for row in stream_rows(answered('Stop.', chat()))] == ['loss', 'stamps']
    state = hazard(feedback=('odom',))
    assert 'odom' not in str(rows([reported(-300, 0.8), reported(-200, 0.8)], scenario=state))
