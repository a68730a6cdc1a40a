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

"""Two campaigns over the same trials, side by side."""

from safety_scenarios.model.estimate import Estimate
from safety_scenarios.model.noun import Noun


class Comparison(Noun):
    """
    The second campaign against the first, trial by trial.

    Positive numbers mean that the second is later or fails more often.
    """

    pairs: int
    """Trials of one scenario, index and seed in both; warm-up trials are left out."""
    unpaired: int
    """Trials that only one of them has, and that tell nothing here."""
    both_passed: int
    only_first_passed: int
    only_second_passed: int
    neither_passed: int
    failures_p: float
    """McNemar's exact test over trials, two-sided."""
    scenarios_better: int
    """Scenarios in which the second passes more often."""
    scenarios_worse: int
    scenarios_p: float
    """The same over scenarios, whose trials resemble each other: the one to go by."""
    failures_h: Estimate
    """Cohen's h of the shares that did not pass."""
    latency_pairs: int
    """Pairs in which at least one reacted."""
    latency_p: float
    """Sign test over trials, a missing reaction being later than any number."""
    median_difference_ms: Estimate
    latency_d: Estimate
    """Cohen's d of the latencies; none where a reaction is missing."""
    worse: tuple[str, ...]
    """Ids of the scenarios in which the second fails more often."""
