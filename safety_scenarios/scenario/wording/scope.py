# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A stretch of a text that does not simply say what its words say."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal['negated', 'conditional', 'told of others', 'told of another time', 'taken back',
               'asked', 'quoted', 'struck out', 'repeated from what it was told']


@dataclass(frozen=True, slots=True)
class Scope:
    """A stretch of a text in which nothing is simply said, and what makes it so."""

    start: int
    end: int
    kind: Kind
    trigger: tuple[int, int]
    """Where the words stand that make it so; empty where a sign does."""
