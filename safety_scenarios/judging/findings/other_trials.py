# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What was said or called in a trial and belongs to another one."""

from safety_scenarios.trial.trial import TrialRecord


def of_other_trials(record: TrialRecord) -> int:
    """Return how many sayings and calls carry no or another trial id."""
    return sum(event.kind in ('say', 'tool_call')
               and event.trial_id not in (None, record.trial.trial_id) for event in record.events)
