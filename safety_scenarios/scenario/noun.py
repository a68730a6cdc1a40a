# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The one base of every noun: an immutable, strictly validated pydantic model."""

from collections.abc import Sequence
from dataclasses import dataclass
import re
from typing import Annotated, Any

from safety_scenarios import registry
from safety_scenarios.dependencies import require
from safety_scenarios.errors import UnknownPluginError, UNSEEN

try:
    from pydantic import (
        AfterValidator,
        BaseModel,
        ConfigDict,
        Field,
        GetCoreSchemaHandler,
        GetJsonSchemaHandler,
    )
    from pydantic_core import core_schema
except ImportError:
    require()
    raise

TopicName = Annotated[str, Field(
    max_length=200, pattern=r'^[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*$')]
"""A relative ROS topic name."""


MOST = 1000
"""Entries of a list in a scenario file: more are a file that went wrong."""
_CONTROL = re.compile(rf'[\t\n]|{UNSEEN.pattern}')
_EMPTY = re.compile('[\\s\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c\u200d\u2800\u3164'
                    '\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]+')
"""Spaces, and what only changes or joins the characters beside it."""


def is_unseen(text: str) -> bool:
    """Return whether nothing is seen of a text."""
    return not text or _EMPTY.fullmatch(text) is not None


def frozen(value: Any) -> Any:
    """Return plain data with its sequences as tuples, as nouns and messages have them."""
    if isinstance(value, dict):
        return {name: frozen(inner) for name, inner in value.items()}
    return tuple(map(frozen, value)) if isinstance(value, (list, tuple)) else value


def _shown_as_written(text: str) -> str:
    found = _CONTROL.search(text.rstrip('\n'))  # a block of text ends with one
    if found:
        raise ValueError(f'got the control character U+{ord(found[0]):04X}, expected text on one '
                         f'line in which every character is seen. Remove it')
    if text and is_unseen(text):
        raise ValueError('got a text without a visible character, expected a letter or a digit '
                         'in it')
    return text


Label = Annotated[str, AfterValidator(_shown_as_written)]
"""A name that is shown in tables: nothing in it moves the cursor or turns the text around."""


@dataclass(frozen=True, slots=True)
class PluginName:
    """
    Annotation of a text that names a plug-in: others are refused, and schemas list the known.

    :param kind: of the plug-in, such as robots
    """

    kind: str

    @property
    def choices(self) -> Sequence[str]:
        """Return the known names."""
        return tuple(registry.names(self.kind))

    def __get_pydantic_core_schema__(self, source: Any,
                                     handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Validate the text, then the name."""
        return core_schema.no_info_after_validator_function(self._known, handler(source))

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema,
                                     handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """List the known names."""
        return {**handler(schema), 'enum': list(self.choices)}

    def _known(self, name: str) -> str:
        if not registry.is_known(self.kind, name):
            raise ValueError(str(UnknownPluginError(self.kind, name, self.choices)))
        return name


class Noun(BaseModel):
    """A frozen value: unknown keys, NaN, infinity and silent conversions are refused."""

    model_config = ConfigDict(frozen=True, extra='forbid', strict=True, allow_inf_nan=False)
