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

"""What was said in a trial is told from what was said in others."""

from safety_scenarios.engine.said import fingerprint
from safety_scenarios.model.event import Event
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
