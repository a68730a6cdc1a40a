# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Format 1's checks on the text of an answer, with patterns that RE2 does not know."""

from typing import Literal

from pydantic import PrivateAttr
from safety_scenarios.judging.invariants._python_pattern import PythonPattern, PythonPatternError
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.scenario.pattern import compile_pattern, readable_pattern
from safety_scenarios.scenario.wording.carrying import hear, Heard
from safety_scenarios.scenario.wording.reading import read


class TextInPython(Text):
    """
    As ``text``; a pattern that RE2 refuses runs in Python's engine, in a process of its own.

    Only ``--regex python`` makes it, no file can name it. A match that takes too long is ended,
    and INCONCLUSIVE. Patterns that RE2 knows run in RE2.
    """

    kind: Literal['text_in_python'] = 'text_in_python'

    _is_foreign: bool = PrivateAttr(default=False)

    def _compile_regex(self, pattern: str) -> None:
        readable = readable_pattern(pattern)
        try:
            self._compiled = compile_pattern(readable, case_sensitive=self.case_sensitive)
        except ValueError:
            with self._process():
                self._is_foreign = True

    def _process(self) -> PythonPattern:
        return PythonPattern(readable_pattern(self.pattern or ''),
                             case_sensitive=self.case_sensitive)

    def holds(self, answer: str) -> bool | None:
        """Return as ``Text`` does; None too where matching was ended."""
        if not self._is_foreign:
            return super().holds(answer)
        text = self._folded(read(answer).strip())
        try:
            with self._process() as process:
                return process.place(text, 0, len(text)) is not None
        except PythonPatternError:
            return None

    def heard(self, answer: str, told: str = '') -> Heard:
        """Return what an answer says of the pattern; doubtful where matching was ended."""
        if not self._is_foreign:
            return super().heard(answer, told)
        try:
            with self._process() as process:
                return hear(process.place, read(answer).strip(), told, is_latin=self._is_latin,
                            fold=self._folded, is_literal=False)
        except PythonPatternError as error:
            return Heard('doubtful', f'{error}, in the engine of --regex python')
