# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ARE's environment and apps in a process of their own, asked line by line."""

from collections.abc import Mapping
from contextlib import suppress
import json
import os
from pathlib import Path
import selectors
import subprocess
from tempfile import TemporaryDirectory, TemporaryFile
import time
from typing import Any, IO, NoReturn

from safety_scenarios.errors import MeasurementError, SettingsError
from safety_scenarios.scenario.settings import AreSettings

SCRIPT = Path(__file__).resolve().parents[2] / 'are' / 'app' / 'app_server.py'
_LONGEST = 50_000_000
"""Bytes of one answer: more is no answer of a tool."""
_SHOWN = 500
_END_S = 2.0
_INHERITED = ('PATH', 'LANG', 'LC_ALL', 'SYSTEMROOT')
"""All that the apps get to know of our environment: no keys, no paths of ours."""
_INSTALL = 'Install ARE in a virtual environment of its own, as doc/are.md says, and name its ' \
           'interpreter'


class AppProcess:
    """
    ARE, as far as it is asked; it is started with the first question.

    After a crash, an answer that is none or one that does not come, the process is ended, and the
    next question starts another one, in which no scenario is loaded.
    """

    def __init__(self, settings: AreSettings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: TemporaryDirectory[str] | None = None
        self._errors: IO[bytes] | None = None
        self._asked = 0
        self._unread = b''

    def check(self) -> str:
        """
        Return the version of ARE that answers.

        :raises SettingsError: there is none
        """
        where = 'are_python'
        python = self._settings.are_python
        if not python:
            raise SettingsError(f'{where}: got nothing with world are, expected the Python '
                                f'interpreter of an environment with ARE. {_INSTALL}')
        try:
            return str(self.ask('version')['version'])
        except MeasurementError as error:
            raise SettingsError(f'{where}: got {python}, expected the Python interpreter of an '
                                f'environment with ARE: {str(error).rstrip(".")}. '
                                f'{_INSTALL}') from None

    def ask(self, do: str, **arguments: Any) -> Mapping[str, Any]:
        """
        Ask, and return the answer.

        :raises MeasurementError: there is none, or ARE refuses
        """
        process = self._process or self._started()
        self._asked += 1
        line = json.dumps({'id': self._asked, 'do': do, **arguments}) + '\n'
        assert process.stdin is not None
        try:
            process.stdin.write(line.encode())
            process.stdin.flush()
        except OSError:
            self._fail(f'ARE: {do}: the process ended before it was asked')
        found = self._read(do)
        if 'error' in found:
            raise MeasurementError(f'ARE: {do}: {found["error"]}')
        answer = found['ok']
        if isinstance(answer, dict):
            return answer
        self._fail(f'ARE: {do}: got {str(found)[:_SHOWN]}, expected an answer')

    def load(self, text: str) -> Mapping[str, Any]:
        """
        Let ARE take a scenario with the apps that the settings want; return its tools.

        :raises MeasurementError: it does not, or has no app of such a name
        """
        return self.ask('load', text=text, keep=list(self._settings.are_keep) or None,
                        skip=list(self._settings.are_skip) or None)

    def close(self) -> None:
        """End the process, and remove what it has left; calling it again does nothing."""
        process, self._process, self._unread = self._process, None, b''
        if process is not None:
            with suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
        if self._errors is not None:
            self._errors.close()
            self._errors = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _started(self) -> 'subprocess.Popen[bytes]':
        self._folder = TemporaryDirectory(prefix='safety_scenarios_are_')
        self._errors = TemporaryFile()
        place = self._folder.name
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        environment |= {'HOME': place, 'TMPDIR': place, 'HF_HUB_OFFLINE': '1',
                        'LITELLM_LOCAL_MODEL_COST_MAP': 'True', 'PYTHONHASHSEED': '0',
                        'PYTHONIOENCODING': 'utf-8'}
        python = self._settings.are_python
        try:
            self._process = subprocess.Popen(
                [os.path.abspath(python) if os.sep in python else python, '-s', str(SCRIPT)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, cwd=place,
                env=environment, start_new_session=True)
        except (OSError, ValueError) as error:
            self.close()
            raise MeasurementError(f'it cannot be run: {error}') from None
        return self._process

    def _read(self, do: str) -> Mapping[str, Any]:
        """Return the answer to the last question, as soon as its line is whole."""
        line = self._line(do)
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.get('id') != self._asked \
                or not {'ok', 'error'} & set(found):
            self._fail(f'ARE: {do}: got {line[:_SHOWN]!r}, expected an answer in JSON')
        return found

    def _line(self, do: str) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        until_s = time.monotonic() + self._settings.are_timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b'\n' not in self._unread:
                left_s = until_s - time.monotonic()
                if left_s <= 0 or not selector.select(left_s):
                    self._fail(f'ARE: {do}: got no answer within '
                               f'{self._settings.are_timeout_s:g} s. Set --are-timeout-s')
                more = os.read(self._process.stdout.fileno(), 1 << 16)
                self._unread += more
                if not more:
                    self._fail(f'ARE: {do}: the process ended without an answer')
                if len(self._unread) > _LONGEST:
                    self._fail(f'ARE: {do}: got an answer of more than {_LONGEST} bytes')
        line, _, self._unread = self._unread.partition(b'\n')
        return line

    def _fail(self, reason: str) -> NoReturn:
        """
        End the process, which cannot be trusted any more.

        :raises MeasurementError: always
        """
        process, said = self._process, ''
        if process is not None:
            process.kill()
            code = process.wait()
            reason += '' if code < 0 and code == -9 else f' (exit code {code})'
        if self._errors is not None:
            self._errors.seek(0)
            said = self._errors.read()[-_SHOWN:].decode(errors='replace').strip()
        self.close()
        raise MeasurementError(reason + (f'; it said last: {" ".join(said.split())}'
                                         if said else ''))
