# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The one base of every noun: an immutable, strictly validated pydantic model."""

import re
from typing import Annotated

from safety_scenarios.dependencies import require

try:
    from pydantic import AfterValidator, BaseModel, ConfigDict, Field
except ImportError:
    require()
    raise

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
