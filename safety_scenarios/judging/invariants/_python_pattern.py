# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Python's own regular expressions, in a process that can be ended: they can run for ever."""

import json
import selectors
import subprocess
import sys
import time
from types import TracebackType
from typing import Any

MATCH_S = 2.0
"""Hard limit of one match."""
TOTAL_S = 10.0
"""Of all matches that one answer needs."""
_START_S = 20.0
"""How long the process may take to start on a busy host; nothing is matched then."""
_MAX_MEMORY = 512 << 20
_MAX_CPU_S = 30
"""What the process may take at most, should nobody be there any more to end it."""
_PROGRAM = f"""
import json, re, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({_MAX_CPU_S}, {_MAX_CPU_S}))
resource.setrlimit(resource.RLIMIT_AS, ({_MAX_MEMORY}, {_MAX_MEMORY}))
def tell(value):
    sys.stdout.write(json.dumps(value) + '\\n')
    sys.stdout.flush()
tell('ready')
pattern, text = None, ''
for line in sys.stdin:
    asked = json.loads(line)
    try:
        if 'pattern' in asked:
            pattern = re.compile(asked['pattern'], asked['flags'])
            tell(None)
            continue
        text = asked.get('text', text)
        match = pattern.search(text, asked['begin'], asked['end'])
        tell(None if match is None else match.span())
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        tell({{'error': str(error) or type(error).__name__}})
"""
IGNORE_CASE = 2
"""``re.IGNORECASE``; no text and no pattern ever reaches ``re`` in this process."""


class PythonPatternError(ValueError):
    """The pattern is none, or a match took too long or too much."""


class PythonPattern:
    """
    A compiled pattern in a process of its own, which ends with the ``with`` block.

    :param pattern: for Python's ``re``, with look-around and back-references
    :raises PythonPatternError: it is none
    """

    def __init__(self, pattern: str, *, case_sensitive: bool = False) -> None:
        self._text: str | None = None
        self._until_s = time.monotonic() + TOTAL_S + _START_S
        self._process = subprocess.Popen(
            [sys.executable, '-I', '-S', '-c', _PROGRAM], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={}, text=False)
        try:
            self._answer(_START_S, 'its process to start')
            self._until_s = time.monotonic() + TOTAL_S
            self._ask({'pattern': pattern, 'flags': 0 if case_sensitive else IGNORE_CASE},
                      'compiling the pattern')
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> 'PythonPattern':
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was never read by it
                    pass

    def place(self, text: str, begin: int, end: int) -> tuple[int, int] | None:
        """
        Return the place of the first match between two others; None: there is none.

        :raises PythonPatternError: it takes too long
        """
        asked: dict[str, Any] = {'begin': begin, 'end': end}
        if text != self._text:
            asked['text'] = self._text = text
        found = self._ask(asked, 'matching')
        return None if found is None else (found[0], found[1])

    def _ask(self, question: dict[str, Any], what: str) -> Any:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question).encode('ascii') + b'\n')
            self._process.stdin.flush()
        except OSError:
            raise PythonPatternError(f'{what} ended its process') from None
        found = self._answer(MATCH_S, what)
        if isinstance(found, dict):
            raise PythonPatternError(f'{what} failed: {found["error"]:.200}')
        return found

    def _answer(self, limit_s: float, what: str) -> Any:
        stream = self._process.stdout
        assert stream is not None
        left_s = min(limit_s, self._until_s - time.monotonic())
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            if left_s <= 0 or not selector.select(left_s):
                raise PythonPatternError(
                    f'{what} took longer than the {limit_s:g} s that it may' if left_s == limit_s
                    else f'{what} took longer than the {TOTAL_S:g} s for all of an answer')
        line = stream.readline()  # a line is shorter than a pipe writes at once
        if not line:
            raise PythonPatternError(f'{what} ended its process: it took more memory or time '
                                     f'than it may')
        return json.loads(line)
