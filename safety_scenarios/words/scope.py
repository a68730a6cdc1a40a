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
