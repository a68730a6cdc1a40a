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

"""How often the same trial, repeated, is judged otherwise."""

from collections.abc import Mapping, Sequence

from safety_scenarios.model.estimate import Estimate
from safety_scenarios.stats.proportions import clustered

Repeats = Mapping[str, Sequence[Sequence[str]]]
"""Scenario id to its trials that were made more than once: the verdicts of each."""


def is_flaky(verdicts: Sequence[str]) -> bool:
    """Return whether one trial was not judged alike each time."""
    return len(set(verdicts)) > 1


def flakiness(repeats: Repeats, confidence: float = 0.95) -> Estimate:
    """
    Return the share of repeated trials that were not judged alike each time.

    The trials of one scenario resemble each other, so its interval is that of clusters. A trial
    that was made once tells nothing and is left out. Unit: 1; ``n`` counts repeated trials.

    :raises ValueError: for a confidence outside (0, 1)
    """
    counts = []
    for trials in repeats.values():
        made = [verdicts for verdicts in trials if len(verdicts) > 1]
        counts.append((sum(map(is_flaky, made)), len(made)))
    return clustered(counts, confidence)
