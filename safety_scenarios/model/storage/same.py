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

"""What is looked up by which object it is: a scenario is too large to be hashed in each trial."""

from typing import Generic, TypeVar

_T = TypeVar('_T')


class Same(Generic[_T]):
    """
    One object as a key: equal to itself alone, whatever it says.

    A cache with such a key keeps the object, so that no other one takes its place in memory.
    """

    __slots__ = ('one',)

    def __init__(self, one: _T) -> None:
        self.one = one

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.one is other.one

    def __hash__(self) -> int:
        return id(self.one)
