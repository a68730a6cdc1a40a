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

"""What was said or called in a trial and belongs to another one."""

from safety_scenarios.model.trial import TrialRecord


def of_other_trials(record: TrialRecord) -> int:
    """Return how many sayings and calls carry no or another trial id."""
    return sum(event.kind in ('say', 'tool_call')
               and event.trial_id not in (None, record.trial.trial_id) for event in record.events)
