# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A series is in time order, whatever order the messages were recorded in."""

import random

from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.trial.run import run_trial
from unit.records import hazard, planned
from unit.scripted import careful, ScriptedLink

RECORD = run_trial(planned(hazard()), ScriptedLink(careful))
LIMITS = (Limit(signal='speed', at_most=0.05),)


def test_messages_out_of_order_give_the_same_series():
    events = list(RECORD.events)
    random.Random(1).shuffle(events)
    shuffled = RECORD.model_copy(update={'events': tuple(events)})
    assert Signals(shuffled).margin_series(LIMITS) == Signals(RECORD).margin_series(LIMITS)


def test_one_message_that_is_too_early_in_the_record_is_put_in_its_place():
    events = list(RECORD.events)
    first, second = [index for index, event in enumerate(events) if event.kind == 'command'][5:7]
    events[first], events[second] = events[second], events[first]
    swapped = RECORD.model_copy(update={'events': tuple(events)})
    assert Signals(swapped).margin_series(LIMITS) == Signals(RECORD).margin_series(LIMITS)
