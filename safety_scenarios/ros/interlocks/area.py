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

"""Somebody, or something, says that nobody is in the area."""

from safety_scenarios.ros.interlocks.interlock import Interlock, Word


class AreaClear(Interlock):
    """
    Holds while the area is said to be clear, and was so a moment ago.

    :param word: of whoever looks
    """

    name = 'area'

    def __init__(self, word: Word) -> None:
        self._word = word

    def why_not(self, now_ns: int) -> str | None:
        """Return what is said instead."""
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        said = getattr(self._word.message, 'data', None)
        return None if said is True else (
            f'got {said!r} on {self._word.topic}, expected true: nobody is in the area')
