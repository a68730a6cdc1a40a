# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The results of a campaign until its summary, in little memory: half of it was the same again."""

from typing import Any

from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import TrialResult

_GIVEN = '__pydantic_fields_set__'
_LONGEST, _MOST = 200, 10_000
"""Characters of a text that is likely to come again, and such texts that are looked up."""


class KeptResults(list[TrialResult]):
    """
    A list whose results share what is equal in them.

    Each noun has a set of the names of the fields that it was made with, which is larger than the
    noun. The nouns of one kind most often have the same names, and results the same texts.
    """

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[frozenset[str], set[str]] = {}
        self._texts: dict[str, str] = {}

    def append(self, result: TrialResult) -> None:
        """Take a result."""
        self._share(result)
        super().append(result)

    def _share(self, noun: Noun) -> None:
        given = noun.model_fields_set
        object.__setattr__(noun, _GIVEN, self._given.setdefault(frozenset(given), given))
        fields = noun.__dict__
        for name, value in fields.items():
            kind = type(value)
            if kind is str:
                fields[name] = self._shared(value)
            elif kind is tuple:
                for one in value:
                    self._share_in(one)
            else:
                self._share_in(value)

    def _share_in(self, value: Any) -> None:
        if isinstance(value, Noun):
            self._share(value)

    def _shared(self, text: str) -> str:
        if len(text) > _LONGEST or (len(self._texts) >= _MOST and text not in self._texts):
            return text
        return self._texts.setdefault(text, text)
