# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Nouns of which a trial has many: fields in slots, with neither a dict nor a set for each."""

from collections.abc import Mapping
from dataclasses import make_dataclass
from typing import Any, cast, ClassVar, TypeVar

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass
from pydantic.fields import FieldInfo
from safety_scenarios.scenario.noun import Noun
from typing_extensions import dataclass_transform, Self

_T = TypeVar('_T', bound='Slotted')
_CONFIG = cast(ConfigDict, {key: value for key, value in Noun.model_config.items()
                            if key != 'frozen'})
"""Being frozen is said to the dataclass itself."""


class Slotted:
    """What makes a slotted dataclass usable as every other noun is."""

    __slots__ = ()
    model_fields: ClassVar[Mapping[str, FieldInfo]]
    _open: ClassVar[type[Any]]
    """The same fields in the same slots, which a plain constructor fills."""
    _defaults: ClassVar[Mapping[str, Any]]

    @classmethod
    def model_construct(cls, **values: Any) -> Self:
        """
        Return one of values that are known to be right: nothing is validated.

        :raises TypeError: a field without a default is not given, or there is no such field
        """
        made: Self = cls._open(**{**cls._defaults, **values})
        made.__class__ = cls  # frozen from now on: to write into that takes five times as long
        return made

    @classmethod
    def model_validate(cls, values: Mapping[str, Any]) -> Self:
        """
        Return one of values that came from outside.

        :raises pydantic.ValidationError: they do not fit
        """
        return cls(**values)

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return a copy with some fields changed, which are not validated."""
        values = {name: getattr(self, name) for name in self.model_fields}
        return self.model_construct(**values | dict(update or {}))

    def model_dump(self, mode: str = 'python') -> dict[str, Any]:
        """Return plain data."""
        serializer = cast(Any, self).__pydantic_serializer__
        return cast(dict[str, Any], serializer.to_python(self, mode=mode))


@dataclass_transform(kw_only_default=True, frozen_default=True)
def slotted(cls: type[_T]) -> type[_T]:
    """Make a frozen noun, as strictly validated as any, whose fields are in slots."""
    made: Any = dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)(cls)
    made.model_fields = fields = made.__pydantic_fields__
    made._open = make_dataclass(cls.__name__, list(fields), bases=cls.__bases__, slots=True)
    made._defaults = {name: field.get_default() for name, field in fields.items()
                      if not field.is_required()}
    return cast(type[_T], made)
