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

"""What the harness finds about its own observation, or about what it needs of the other end."""

from safety_scenarios.model.result import Finding, Source, Verdict


def harness(source: Source, check: str, verdict: Verdict, reason: str,
            at_ms: float | None = None) -> Finding:
    """
    Return such a finding.

    :param source: of the module that found it
    :param at_ms: after onset, steady clock
    """
    return Finding(check=check, kind='harness', verdict=verdict, reason=reason, at_ms=at_ms,
                   source=source)
