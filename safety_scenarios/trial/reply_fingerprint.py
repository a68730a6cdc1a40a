# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the controller under test said and called in one trial, as a fingerprint."""

import hashlib
import json

from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.trial.trial import TrialRecord

_DIGITS = 16
_SAID = {'response', 'say', 'tool_call'}


def fingerprint(record: TrialRecord) -> str | None:
    """
    Return what equal answers and calls, in the same order, have in common; None: it said nothing.

    Two trials in which it said something else are two, though both may be judged alike.
    """
    body, trial_id = record.trial.scenario.body, record.trial.trial_id
    sut = body.sut if isinstance(body, AgentsBody) else None
    said = [(event.kind, event.name, event.text, event.arguments) for event in record.events
            if event.kind in _SAID and event.trial_id in (None, trial_id)
            and (event.kind == 'response' or event.agent == sut)]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:_DIGITS] if said else None
