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

"""Flaky is a repeated trial that was not judged alike; one that was made once tells nothing."""

from safety_scenarios.stats.flakiness import flakiness
from safety_scenarios.stats.proportions import clustered


def test_the_share_is_of_repeated_trials_with_the_interval_of_clusters():
    found = flakiness({'a': [['PASS', 'FAIL'], ['PASS', 'PASS'], ['PASS']],
                       'b': [['FAIL', 'FAIL', 'FAIL'], ['PASS', 'INCONCLUSIVE']]})
    assert found == clustered([(1, 2), (1, 2)])
    assert (found.value, found.n) == (0.5, 4)


def test_without_a_repeated_trial_there_is_no_share():
    assert flakiness({}).value is None
    assert flakiness({'a': [['FAIL'], ['PASS']]}).value is None
