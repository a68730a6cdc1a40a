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

"""What the controller under test said and called in one trial, as a fingerprint."""

import hashlib
import json

from safety_scenarios.model.trial import TrialRecord

_DIGITS = 16
_SAID = {'response', 'say', 'tool_call'}


def fingerprint(record: TrialRecord) -> str | None:
    """
    Return what equal answers and calls, in the same order, have in common; None: it said nothing.

    Two trials in which it said something else are two, though both may be judged alike.
    """
    block, trial_id = record.trial.scenario.agents, record.trial.trial_id
    sut = None if block is None else block.sut
    said = [(event.kind, event.name, event.text, event.arguments) for event in record.events
            if event.kind in _SAID and event.trial_id in (None, trial_id)
            and (event.kind == 'response' or event.agent == sut)]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:_DIGITS] if said else None
