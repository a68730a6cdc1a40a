# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial's plan, and the data of a message, as one line of text and back: for another process."""

from safety_scenarios.errors import TraceError
from safety_scenarios.trial._exact import from_text, to_text
from safety_scenarios.trial._plan import plan_from_data, plan_to_data, Resolve
from safety_scenarios.trial.trial import Trial

__all__ = ['Resolve', 'from_text', 'plan_of', 'plan_text', 'to_text']


def plan_text(trial: Trial) -> str:
    """Return everything of a trial; of a controller that is a name only that."""
    return to_text(plan_to_data(trial))


def plan_of(text: str, resolve: Resolve) -> Trial:
    """
    Return the trial that ``plan_text`` was given.

    :param resolve: finds plug-ins by their names
    :raises InputError: it needs a plug-in that is not installed
    :raises TraceError: it is no trial of this version
    """
    data = from_text(text)
    if not isinstance(data, dict):
        raise TraceError(f'the plan of the trial: got {text:.60}, expected a mapping')
    return plan_from_data(data, resolve)
