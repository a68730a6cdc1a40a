# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

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
