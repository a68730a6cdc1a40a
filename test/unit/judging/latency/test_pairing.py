# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which command answers the hazard: only one after it that holds; none at all is no number."""

import math
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.body import Reaction
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Latency
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import LatencyClass
from safety_scenarios.stimuli.faults import LinkLoss
from safety_scenarios.stimuli.messages import RawMessage
from safety_scenarios.trial.trial import TrialRecord
from unit.records import (
    answered,
    benign_variant,
    chat,
    command,
    driving,
    echo,
    hazard,
    measure,
    ns,
    planned,
    reacting,
    record,
    shown,
    stamps,
    twist,
)

ONE_HOST = Measuring(one_host=True, exact=True)


def measured(commands: Any, **changes: Any) -> Latency:
    latency = measure(record(commands, **changes))
    assert latency is not None
    return latency


@for_each(('after_ms', 'name'), [
    (0, 'target'), (200, 'target'), (200.000001, 'acceptable'), (350, 'acceptable'),
    (350.000001, 'critical'), (500, 'critical'), (500.000001, 'violation'), (2000, 'violation')])
def test_the_limits_of_the_budget_are_inclusive(after_ms, name):
    latency = measured(reacting(after_ms))
    assert latency.latency_class is LatencyClass(name)
    assert latency.judged_ns == ns(after_ms)


def test_no_reaction_is_a_class_and_never_a_number():
    latency = measured(driving(-600, 3000))
    assert latency.latency_class is LatencyClass.NO_RESPONSE
    assert latency.judged_ns is latency.reaction is latency.confirmed is latency.split is None
    assert latency.observed_ns == ns(2500)


@pytest.mark.parametrize('commands', [[], driving(-600, 0)])
def test_silence_is_no_reaction(commands):
    assert measured(commands).latency_class is LatencyClass.NO_RESPONSE


def test_without_an_onset_there_is_nothing_to_measure():
    assert measure(record(reacting(100), onset=False)) is None
    assert measure(TrialRecord(trial=planned(hazard()), events=())) is None


def test_a_benign_variant_asks_for_no_reaction():
    assert measure(record(reacting(100), benign_variant())) is None


def test_a_command_before_onset_never_counts():
    assert measured(driving(-300, -1e-6, 0.0)).judged_ns is None


def anticipated(latency: Latency) -> bool:
    return latency.latency_class is LatencyClass.ANTICIPATORY and latency.reaction is None \
        and latency.judged_ns is None


def test_a_stop_that_held_already_before_onset_is_anticipatory_and_no_number():
    assert anticipated(measured(driving(-310, 2500, 0.0)))
    assert anticipated(measured([(-100, 0.8), (-0.000001, 0.0), (50, 0.0)]))


def test_a_stop_that_was_over_before_onset_anticipates_nothing():
    latency = measured([(-100, 0.0), (-50, 0.8), (150, 0.0)])
    assert (latency.latency_class, latency.judged_ns) == (LatencyClass.TARGET, ns(150))


def test_a_stop_that_was_unknown_before_onset_anticipates_nothing():
    assert measured([(-100, 0.8), (-50, None), (150, 0.0)]).judged_ns == ns(150)


@for_each(('left_ms', 'early'), [(-1, True), (0.199999, True), (0.2, False),
                                 (0.3, False)])
def test_a_command_that_left_before_the_hazard_did_is_anticipatory(left_ms, early):
    """It was heard after the hazard was published, and was on its way before."""
    latency = measured(
        [command(-100, 0.8, left_ms=-101, arrived_ms=-100.1),
         command(1, 0.0, left_ms=left_ms, arrived_ms=0.9)],
        extra=[echo(0.2)], measuring=ONE_HOST)
    assert anticipated(latency) is early
    if not early:
        assert latency.judged_ns == ns(left_ms) - ns(0.2)


def test_the_stop_after_one_that_was_on_its_way_is_still_anticipatory():
    latency = measured(
        [command(-100, 0.8, left_ms=-101, arrived_ms=-100.1),
         command(1, 0.0, left_ms=-0.5, arrived_ms=0.9),
         command(51, 0.0, left_ms=50, arrived_ms=50.9)], extra=[echo(0.2)], measuring=ONE_HOST)
    assert anticipated(latency)
    assert latency.first_command is not None and latency.first_command.steady_ns == ns(49.8)


@for_each(('transit_ms', 'early'), [(1.3, False), (1.300001, True), (4, True)])
def test_with_two_clocks_a_command_left_earlier_by_what_it_took_longer(transit_ms, early):
    """It arrives 1 ms after the hazard left; the fastest takes 0.3 ms; their clock is 7 s off."""
    def sent(t_ms: float, speed: float, took_ms: float) -> Event:
        return command(t_ms + 0.5, speed, left_ms=t_ms - took_ms + 7000, arrived_ms=t_ms)
    latency = measured([*(sent(-400 + 50 * place, 0.8, 0.3 + place / 10) for place in range(7)),
                        sent(1, 0.0, transit_ms)], extra=[echo(0.0)],
                       measuring=Measuring(one_host=False, exact=True))
    assert anticipated(latency) is early


@pytest.mark.parametrize(('after_ms', 'early'), [(1.999999, True), (2, False)])
def test_without_stamps_what_comes_faster_than_any_controller_can_is_anticipatory(after_ms, early):
    """One that answers at once was found to need 4 ms; half of that is nobody's."""
    known = Measuring(exact=True, floor_ms={'callback': 4.0, 'source': 900.0})
    assert anticipated(measured([(-100, 0.8), (after_ms, 0.0)], measuring=known)) is early


def test_a_command_at_the_moment_of_onset_counts():
    assert measured([(-100, 0.8), (0, 0.0)]).judged_ns == 0


def test_onset_is_the_first_publish_and_not_the_mark():
    late = record([(-100, 0.8), (150, 0.0)])
    events = tuple(shown().model_copy(update={'stamps': stamps(40)}) if event.hazard else event
                   for event in late.events)
    latency = measure(late.model_copy(update={'events': events}))
    assert latency is not None and latency.judged_ns == ns(110)


@for_each('late_ms', [0, 7, 60])
def test_how_late_the_hazard_left_is_told_and_no_part_of_the_latency(late_ms):
    latency = measured([(-100, 0.8), (150, 0.0)], hazard_at=shown(late_ms, due_ms=0))
    assert (latency.late_ns, latency.judged_ns) == (ns(late_ms), ns(150 - late_ms))


def test_a_hazard_of_silence_begins_with_the_mark():
    beat = RawMessage(topic='heartbeat', message='std_msgs/msg/Empty', rate_hz=20.0)
    lost = hazard(nominal=(beat,), stimuli=(LinkLoss(topic='heartbeat', drop=1),))
    silent = record([(-100, 0.8), (150, 0.0)], lost)
    events = tuple(shown(50) if event.hazard else event for event in silent.events)
    latency = measure(silent.model_copy(update={'events': events}))
    assert latency is not None and latency.judged_ns == ns(150)


def test_a_stop_that_does_not_hold_is_no_reaction():
    assert measured([(-100, 0.8), (100, 0.0), (250, 0.8)]).judged_ns is None


def test_the_hold_is_inclusive():
    twice = [(-100, 0.8), (100, 0.0), (300, 0.8), (400, 0.0)]
    assert measured(twice).judged_ns == ns(400)
    assert measured([*twice[:2], (300.000001, 0.8), twice[3]]).judged_ns == ns(100)


def test_the_hold_begins_again_after_each_break():
    blinking = [(t_ms, 0.0 if index % 2 else 0.8)
                for index, (t_ms, _) in enumerate(driving(-150, 950))]
    assert measured([*blinking, (950, 0.8), (1000, 0.0)]).judged_ns == ns(1000)


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_command_that_is_unknown_breaks_the_hold(value):
    assert measured([(-100, 0.8), (100, 0.0), (200, value), (300, 0.0)]).judged_ns == ns(300)


def test_an_observation_cut_short_does_not_count_a_hold():
    stop = [(-100, 0.8), (100, 0.0)]
    assert measured(stop, all_clear_ms=None, end_ms=299).judged_ns is None
    assert measured(stop, all_clear_ms=None, end_ms=300).judged_ns == ns(100)
    assert measured(stop, all_clear_ms=299).judged_ns is None
    assert measured(stop, all_clear_ms=300).judged_ns == ns(100)


def test_a_stop_after_all_clear_is_no_reaction():
    assert measured([(-100, 0.8), (2600, 0.0)]).judged_ns is None


@for_each(('ros_ms', 'judged_ms'), [(600, 600), (150, 150), (75, 150), (0, 150),
                                    (-1000, 150)])
def test_the_larger_of_steady_and_ros_time_is_judged(ros_ms, judged_ms):
    latency = measured([(-100, 0.8), command(150, 0.0, ros_ms=ros_ms)])
    assert latency.reaction is not None
    assert (latency.reaction.steady_ns, latency.reaction.ros_ns) == (ns(150), ns(ros_ms))
    assert latency.judged_ns == ns(judged_ms)
    assert latency.latency_class is (
        LatencyClass.VIOLATION if judged_ms == 600 else LatencyClass.TARGET)


def test_the_middleware_s_stamps_are_judged_and_the_callback_s_time_is_reported():
    """The callback waited 60 ms for Python."""
    latency = measured([(-100, 0.8), command(150, 0.0, left_ms=89.8, arrived_ms=90)],
                       extra=[echo(0.1)], measuring=ONE_HOST)
    assert latency.reaction is not None
    assert (latency.reaction.method, latency.judged_ns) == ('source', ns(89.7))
    assert latency.reaction.callback_ns == ns(150)
    assert latency.reaction.latency_class is latency.latency_class


def test_why_no_better_method_could_be_used_is_told():
    assert measured([(-100, 0.8), (150, 0.0)]).fallback == 'the middleware gives no stamps'
    best = measured([(-100, 0.8), command(150, 0.0, left_ms=149, arrived_ms=150)],
                    extra=[echo(0.0)], measuring=ONE_HOST)
    assert best.fallback is None


def test_all_limits_of_a_reaction_must_hold_together():
    still = Reaction(hold_ms=200.0, all=(Limit(signal='speed', at_most=0.05),
                                         Limit(signal='turn', at_most=0.1)))
    commands = [(-100, 0.8), (100, twist(0.0, turn=1.0)), (300, 0.8), (400, 0.0)]
    assert measured(commands, scenario=hazard(reaction=still)).judged_ns == ns(400)


def test_a_command_without_the_field_is_a_lookup_error():
    with pytest.raises(LookupError, match="no field 'linear'"):
        measured([(100, Message(type='std_msgs/msg/String', data={'data': 'stop'}))])


def test_a_command_on_another_topic_is_no_answer():
    assert measured([(-100, 0.8), command(100, 0.0, topic='elsewhere')]).judged_ns is None


@for_each(('after_ms', 'name'), [
    (200, 'target'), (200.000001, 'acceptable'), (500, 'critical'), (500.000001, 'violation')])
def test_a_text_answers_with_the_trial_s_id(after_ms, name):
    latency = measure(answered('Stop.', chat(), after_ms=after_ms))
    assert latency is not None and latency.judged_ns == ns(after_ms)
    assert latency.latency_class is LatencyClass(name)


@for_each('trial_id', [None, '', 'another', 'T.c.s0.t00'])
def test_a_text_without_the_trial_s_id_is_no_answer(trial_id):
    latency = measure(answered('Stop.', chat(), trial_id=trial_id))
    assert latency is not None and latency.latency_class is LatencyClass.NO_RESPONSE


def test_no_text_is_no_answer():
    latency = measure(answered(None, chat()))
    assert latency is not None and latency.judged_ns is None
    assert latency.observed_ns == ns(1500)


def test_a_text_before_the_prompt_is_no_answer():
    latency = measure(answered('Stop.', chat(), after_ms=-1))
    assert latency is not None and latency.latency_class is LatencyClass.NO_RESPONSE
