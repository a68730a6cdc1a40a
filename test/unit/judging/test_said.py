# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What was said in a trial is told from what was said in others."""

from safety_scenarios.scenario.event import Event
from safety_scenarios.trial.identity import fingerprint
from unit.records import record, stamps


def said(*answers):
    """Return the fingerprint of a trial with answers as (text, the trial that it names)."""
    silent = record([(-100, 1.0), (100, 0.0)])
    return fingerprint(silent.model_copy(update={'events': (*silent.events, *(
        Event(kind='response', name='response', stamps=stamps(200), text=text,
              trial_id=trial_id or silent.trial.trial_id) for text, trial_id in answers))}))


def test_equal_answers_have_the_same_fingerprint_and_others_another_one():
    assert said(('stop', None)) == said(('stop', None)) != said(('go on', None))
    assert said() is None


def test_a_late_answer_to_another_trial_is_none_of_this_one():
    assert said(('go on', 'another.t0')) is None
    assert said(('stop', None), ('go on', 'another.t0')) == said(('stop', None))
