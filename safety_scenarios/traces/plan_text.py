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

"""A trial's plan, and the data of a message, as one line of text and back: for another process."""

from safety_scenarios.errors import TraceError
from safety_scenarios.model.trial import Trial
from safety_scenarios.traces._exact import from_text, to_text
from safety_scenarios.traces._plan import plan_from_data, plan_to_data, Resolve

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
