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

"""The one base of every noun: an immutable, strictly validated pydantic model."""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

TopicName = Annotated[str, Field(
    max_length=200, pattern=r'^[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*$')]
"""A relative ROS topic name."""


_CONTROL = re.compile(r'[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]')


def _shown_as_written(text: str) -> str:
    found = _CONTROL.search(text.rstrip('\n'))  # a block of text ends with one
    if found:
        raise ValueError(f'got the control character U+{ord(found[0]):04X}, expected text on one '
                         f'line. Remove it')
    return text


Label = Annotated[str, AfterValidator(_shown_as_written)]
"""A name that is shown in tables: nothing in it moves the cursor or turns the text around."""


TOLD = ConfigDict(use_attribute_docstrings=True)
"""
Of nouns whose fields are options or parameters: the docstring below each is its help.

It makes a class ten times slower to make; ``explained`` does it for the schema of all others.
"""


class Noun(BaseModel):
    """A frozen value: unknown keys, NaN, infinity and silent conversions are refused."""

    model_config = ConfigDict(
        frozen=True, extra='forbid', strict=True, allow_inf_nan=False)
