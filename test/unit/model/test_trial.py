# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Where a record's onset is, and who reads it."""

import pytest

from safety_scenarios.engine.evaluate import evaluate
from safety_scenarios.invariants.stop import Stop
from safety_scenarios.latency.pairing import measure
from safety_scenarios.model.event import Event
from safety_scenarios.model.measuring import ClockRules, Measuring
from safety_scenarios.model.result import Verdict
from safety_scenarios.model.trial import ONSET
from safety_scenarios.stimuli.link_loss import LinkLoss
from unit.records import command, driving, hazard, ns, ONSET_STEADY_NS, reacting, record, stamps

DUE_MS = 190.0
LOST = hazard(nominal=(), stimuli=(LinkLoss(topic='heartbeat', rate_hz=5.0),),
              invariants=[Stop(name='stops', within='critical', hold_ms=500.0)])


def silence(commands, due_ms=DUE_MS):
    """Return a record whose hazard is a beat that was due, and did not come."""
    found = record(commands, LOST)
    events = tuple(
        event.model_copy(update={'scheduled_ns': ONSET_STEADY_NS + ns(due_ms)})
        if event.kind == 'mark' and event.name == ONSET else event
        for event in found.events if not event.hazard)
    return found.model_copy(update={'events': events,
                                    'measuring': Measuring(exact=True)})


def test_a_silence_begins_when_its_first_message_was_due_for_every_reader():
    found = silence(reacting(590))
    assert found.onset.stamps.steady_ns == ONSET_STEADY_NS + ns(DUE_MS)
    assert found.since_onset_ms(ONSET_STEADY_NS) == -DUE_MS
    latency = measure(found)
    assert (latency.judged_ns, latency.late_ns) == (ns(400), 0)
    result = evaluate(found)
    assert result.verdict is Verdict.PASS, result.reason


def test_a_stop_that_is_late_after_the_beat_was_due_is_late():
    result = evaluate(silence(reacting(750)))
    assert result.verdict is Verdict.FAIL
    assert result.latency.judged_ns == ns(560)


@pytest.mark.parametrize('due_ms', [-20.0, 0.0, 20.0])
def test_the_stamps_of_all_clocks_move_together(due_ms):
    moved = silence(reacting(300), due_ms).onset.stamps
    still = silence(reacting(300), 0.0).onset.stamps
    for clock in ('steady_ns', 'system_ns', 'ros_ns'):
        assert getattr(moved, clock) - getattr(still, clock) == ns(due_ms)


def test_lost_feedback_is_no_lost_command():
    seen = hazard().model_copy(update={'ros': hazard().ros.model_copy(update={
        'feedback': (hazard().ros.commands[0].model_copy(update={'topic': 'odom'}),)})})
    for topic, named in (('odom', False), ('cmd_vel', True)):
        dropped = Event(kind='lost', name=topic, stamps=stamps(100.0), text='3')
        checks = {finding.check for finding
                  in evaluate(record([*reacting(150), dropped], seen)).findings}
        assert ('no command was lost' in checks) == named


def test_ros_time_that_went_back_is_nothing_to_the_steady_clock():
    commands = [*driving(-690, 150), command(150, 0.0, ros_ms=-1000.0),
                *driving(200, 2500, 0.0), *driving(2510, 3000)]
    for clock, named in (('steady', False), ('max', True)):
        rules = ClockRules(latency_clock=clock)
        found = record(commands).model_copy(update={
            'measuring': Measuring(exact=True, rules=rules)})
        checks = {finding.check for finding in evaluate(found).findings}
        assert ('ROS time runs forward' in checks) == named


def test_a_copy_with_other_events_reads_its_own_course():
    """A course that was read before the copy would be that of commands it does not have."""
    stops, drives = record(reacting(200)), record(driving(-690, 3000))
    limits = hazard().ros.reaction.limits
    assert stops.course(limits).samples[-1].t_ns
    copied = stops.model_copy(update={'events': drives.events})
    assert copied.course(limits).samples == drives.course(limits).samples
    assert copied.course(limits).samples != stops.course(limits).samples
