# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Every exception that this package raises.

::

    SafetyScenariosError
    |-- InputError                 the user can fix it; shown without a traceback, exit code 2
    |   |-- ScenarioError          a scenario file: every problem of it, with line and column
    |   |-- SettingsError          an option, a ROS parameter or a settings key
    |   |-- UnknownPluginError     a name that no table and no entry point knows
    |   |-- SeveralErrors          more than one of these, of different kinds
    |   |-- UnreadableError        a folder that is there and cannot be read
    |   `-- MissingDependencyError a feature whose package is not installed
    |-- MeasurementError           the harness could not observe; the trial becomes ERROR
    |   |-- LinkTimeoutError       nobody on the other end of a topic
    |   |-- ClockError             a clock that cannot be trusted
    |   |-- InterlockError         an interlock did not hold; the trial becomes INCONCLUSIVE
    |   `-- TraceError             a trace that cannot be written or read
    |       `-- UnfitPlanError     a trial's plan that does not fit the model
    `-- ControllerError            the controller under test failed as a program

A violated invariant is a ``Finding``, never an exception.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
import difflib
from operator import eq
import os
from os.path import basename, commonprefix, dirname, join
import re
from traceback import walk_tb
from typing import Any

_SLIP = 0.86
"""How alike two names are that differ in one or two letters."""
_BEGINNING, _WINKLER = 4, 0.1
"""Letters of a beginning that count more, and how much: the weight of Winkler (1990)."""
_SHOWN = 100
"""Characters of a value that a message quotes whole."""
UNSEEN = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e'
                    '\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]')
"""
What nobody sees and a terminal or a browser obeys: it clears a screen or turns text around.

Line feeds and tabs are none of it.
"""
USER_INFO = re.compile(r'(?<=://)[^/\s]+@')
"""Name and password in an address: refused, and not to be read in a log."""
_QUERY = re.compile(r'(://[^\s?#]{0,2000}\?)[^\s#\'"]+')
"""What follows the question mark in an address: there may be a key in it."""
_WORD = re.compile(r"'([^']*)'")
"""A word that pydantic lists as allowed."""
_BOUNDS = {'greater_than_equal': ('ge', 'at least'), 'greater_than': ('gt', 'more than'),
           'less_than_equal': ('le', 'at most'), 'less_than': ('lt', 'less than')}
"""Kinds of pydantic's errors, each with the name of its limit and our word for it."""
_KINDS = {'int': 'a whole number', 'float': 'a number', 'finite': 'a finite number',
          'bool': 'true or false', 'string': 'text', 'list': 'a list', 'tuple': 'a list',
          'dict': 'a mapping', 'model': 'a mapping'}
"""How the names of pydantic's errors of type begin, and what is expected then."""
_WRONG_TYPE = re.compile(r'(int|float|finite|bool|string|list|tuple|dict|model)_'
                         r'(parsing|type|from_float|number)')
_SETTINGS = {'links': 'link: ', 'traces': 'record: ', 'outputs': 'outputs: '}
"""Kinds of plug-ins that a setting alone names, and how a message about it begins."""
_MOST_LISTED = 40
"""Names of plug-ins that a message lists: behind a hundred nobody finds the advice."""


@dataclass(frozen=True)
class Problem:
    """
    One thing that is wrong with a file, where it is, and what to do.

    :param path: the file as the user named it
    :param line: 1-based line, None when the whole file is meant
    :param column: 1-based column
    :param field: the field's path, such as ``ros.invariants[2].at_most``
    :param message: ``got ..., expected .... what to do``
    :param code: of a lint warning, such as ``L101``
    """

    path: str
    line: int | None
    column: int | None
    field: str
    message: str
    code: str = ''

    def __str__(self) -> str:
        place = self.path
        if self.line is not None:
            place += f':{self.line}:{self.column}'
        subject = ' '.join(filter(None, (self.code, self.field)))
        return escaped_line(': '.join(filter(None, (place, subject, self.message))))


class SafetyScenariosError(Exception):
    """Base of everything raised on purpose by this package."""


class InputError(SafetyScenariosError):
    """Something the user wrote is wrong; the message says what to do."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Return what to show, each line with what it is: an error, a warning or a note."""
        return tuple(f'error: {line}' for line in str(self).splitlines())


class ScenarioError(InputError):
    """
    One or more problems in scenario files.

    :param problems: every problem found, in file order
    :param notes: what helps to understand them, such as for which format a file was taken
    :param warnings: what else is odd about the files: often the reason, such as a misspelt key
    """

    def __init__(self, problems: Iterable[Problem], notes: Iterable[str] = (),
                 warnings: Iterable[Problem] = ()) -> None:
        self.problems = tuple(problems)
        self.notes = tuple(notes)
        self.warnings = tuple(warnings)
        self._beside = (*(f'warning: {warning}' for warning in self.warnings),
                        *(f'note: {note}' for note in self.notes))
        super().__init__('\n'.join([*map(str, self.problems), *self._beside]))

    @property
    def lines(self) -> tuple[str, ...]:
        return (*(f'error: {problem}' for problem in self.problems), *self._beside)


class SettingsError(InputError):
    """An option, ROS parameter or settings key is wrong."""


class UnknownPluginError(InputError):
    """No plug-in of that kind has that name."""

    def __init__(self, kind: str, name: str, known: Iterable[str], advice: str = '') -> None:
        names = sorted(known)
        self._asked, self._known, self._advice = (kind, name), names, advice
        listed = f': {", ".join(names)}' if len(names) <= _MOST_LISTED else \
            f' ("safety-scenarios plugins" lists all {len(names)})'
        super().__init__(
            f'{_SETTINGS.get(kind, "")}got {name!r}, expected one of the {kind}{listed}.'
            f'{did_you_mean(name, names)}{advice}')

    def without(self, *names: str) -> 'UnknownPluginError':
        """Return the same where some names are not offered."""
        return UnknownPluginError(*self._asked, (one for one in self._known if one not in names),
                                  self._advice)


class SeveralErrors(InputError):
    """
    Several things are wrong, of different kinds.

    :param errors: each of them, in the order in which they are shown
    """

    def __init__(self, errors: Iterable[InputError]) -> None:
        self.errors = tuple(errors)
        super().__init__('\n'.join(map(str, self.errors)))

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(line for error in self.errors for line in error.lines)


class UnreadableError(InputError):
    """A folder is there and cannot be read, so that what it has is unknown."""


class MissingDependencyError(InputError):
    """
    A feature was named whose package is not installed.

    :param command: what mends it
    :param found: what there is instead
    :param advice: said in place of the command, where no single one mends it
    """

    def __init__(self, feature: str, package: str, command: str = '', *,
                 found: str = 'which is not installed', advice: str = '') -> None:
        super().__init__(f'{feature} needs {package}, {found}. {advice or f"Run: {command}"}')


class MeasurementError(SafetyScenariosError):
    """The harness could not observe what it had to observe."""


class LinkTimeoutError(MeasurementError):
    """
    An endpoint did not appear in time.

    :param topic: fully qualified topic name
    :param wanted: what was waited for, with type
    :param waited_s: how long, in seconds
    :param discovered: what the graph showed instead
    :param advice: what to do
    """

    def __init__(self, topic: str, wanted: str, waited_s: float, discovered: str,
                 advice: str) -> None:
        self.topic = topic
        super().__init__(f'not connected: {topic}: waited {waited_s:.1f} s for {wanted}; '
                         f'discovered {discovered}. {advice}')


class LiveDataError(MeasurementError):
    """Live data that a stimulus is drawn into is missing, old, or hides what is drawn."""


class ClockError(MeasurementError):
    """A clock stood still, stepped or cannot be compared."""


class InterlockError(MeasurementError):
    """An interlock of hardware in the loop does not hold, so that no stimulus may leave."""


class TraceError(MeasurementError):
    """A trace could not be written or read."""


class UnfitPlanError(TraceError):
    """The plan of a trial in a trace does not fit the model, or a change made it so."""


class ControllerError(SafetyScenariosError):
    """The controller under test failed as a program: it crashed or did not start."""


def refuse(errors: Iterable[InputError]) -> None:
    """
    Raise everything that is wrong at once; nothing if nothing is.

    :raises InputError: of the kind that all of them have
    """
    found = tuple({(type(error), str(error)): error for error in errors}.values())
    if not found:
        return
    if len(found) == 1:
        raise found[0]
    scenarios = [error for error in found if type(error) is ScenarioError]
    if len(scenarios) == len(found):
        raise ScenarioError((problem for error in scenarios for problem in error.problems),
                            (note for error in scenarios for note in error.notes),
                            (warning for error in scenarios for warning in error.warnings))
    if all(type(error) is SettingsError for error in found):
        raise SettingsError('\n'.join(map(str, found)))
    raise SeveralErrors(found)


def missing_ros(error: ImportError, feature: str, instead: str = '') -> MissingDependencyError:
    """
    Return what to say when a module that needs ROS cannot be imported.

    :param instead: what works without ROS
    :raises ImportError: what is missing is a module of this package, which is no fault of ROS
    """
    if (error.name or '').partition('.')[0] == 'safety_scenarios':
        raise error
    return MissingDependencyError(
        feature, f'{error.name or "rclpy"} ({str(error).partition(chr(10))[0]})',
        'source your ROS installation, or pip install ros-jazzy-rclpy '
        f'ros-jazzy-rmw-fastrtps-cpp ros-jazzy-common-interfaces{instead}',
        found='which is not installed' if isinstance(error, ModuleNotFoundError) else
        'which is there, but cannot be loaded')


def refused(place: str, error: Mapping[str, Any]) -> str:
    """
    Return one error of a settings model in our words.

    :param error: one entry of pydantic's ``ValidationError.errors()``
    """
    message = str(error['msg'])
    if error['type'] == 'value_error':
        return f'{place}: {message.removeprefix("Value error, ")}'
    got = f'{place}: got {without_credentials(repr(error["input"]))}'
    if error['type'] == 'missing':
        return f'{place}: missing, {got.removeprefix(place + ": ")}. Add it'
    if error['type'] == 'literal_error' and isinstance(error['input'], str):
        words = _WORD.findall(str(error['ctx']['expected']))
        allowed = [word for word in words if word] + ['nothing'] * ('' in words)
        return f'{got}, expected one of {", ".join(allowed)}.{did_you_mean(error["input"], words)}'
    if (bound := _BOUNDS.get(error['type'])) is not None:
        return f'{got}, expected {bound[1]} {error["ctx"][bound[0]]}'
    if error['type'] == 'string_pattern_mismatch':
        return f'{got}, expected text of the form {error["ctx"]["pattern"]}'
    kind = _WRONG_TYPE.fullmatch(error['type'])
    return f'{got}, expected: {message}' if kind is None else f'{got}, expected {_KINDS[kind[1]]}'


def without_credentials(text: str) -> str:
    """Return a text with ``***`` for users, passwords and queries of the addresses in it."""
    return _QUERY.sub(r'\1***', USER_INFO.sub('***@', text))


def described(error: BaseException) -> str:
    """
    Return an exception in words: ours as they stand, anybody else's as Python tells them.

    What a plug-in raises often says nothing without its kind (``KeyError: 'left_arm'``). Half a
    surrogate pair, which no file holds, is an escape.
    """
    return _described(error).encode(errors='backslashreplace').decode()


def _described(error: BaseException) -> str:
    if isinstance(error, SafetyScenariosError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f'{error.filename}: {error.strerror}' if error.filename else error.strerror
    if isinstance(error, SystemExit):
        return f'it asked to exit with {error.code!r}'
    details, title = getattr(error, 'errors', None), getattr(error, 'title', None)
    if callable(details) and isinstance(title, str):  # pydantic's, which is slow to import
        first = details(include_url=False)[0]
        return refused('.'.join(map(str, (title, *first['loc']))), first)
    return f'{type(error).__name__}: {error}'


def place_of(error: BaseException) -> str:
    """Return in which line of a plug-in an error was raised: `` (my_robot.py:14)``, or nothing."""
    return _place(line_of(error))


def place_in(traceback: Iterable[str]) -> str:
    """Return the same of a traceback that was printed, by its lines."""
    return _place(_own_line([(found[1], int(found[2]))
                             for found in map(_FRAME.match, traceback) if found]))


def line_of(error: BaseException) -> tuple[str, int] | None:
    """
    Return the file and the last line of a plug-in that led to an error.

    Lines of this package and of libraries are passed over. Of a plug-in that is installed like a
    library it is the first line.
    """
    return _own_line([(frame.f_code.co_filename, line)
                      for frame, line in walk_tb(error.__traceback__)])


def _own_line(lines: Iterable[tuple[str, int]]) -> tuple[str, int] | None:
    lines = [one for one in lines if not one[0].startswith((_HERE, '<')) and (
        not one[0].startswith(_STANDARD) or '-packages/' in one[0])]
    own = [one for one in lines if '/lib/python' not in one[0]]
    return next(iter(own[-1:] or lines[:1]), None)


def _place(line: tuple[str, int] | None) -> str:
    return f' ({basename(line[0])}:{line[1]})' if line else ''


_FRAME = re.compile(r' *File "(.+)", line (\d+)')
_HERE, _STANDARD = (join(dirname(path), '') for path in (__file__, os.__file__))


def interrupt_behind(error: BaseException) -> KeyboardInterrupt | None:
    """
    Return the interrupt that led to an error; None: none did.

    A library in C that Ctrl-C stops while it is imported raises an ImportError from that.
    """
    found: BaseException | None = error
    while found is not None and not isinstance(found, KeyboardInterrupt):
        found = found.__cause__ or found.__context__
    return found


def interrupted(stop: BaseException) -> str:
    """
    Return what to say of an interrupt, with the error that it would keep from being told.

    :param stop: it, or what somebody else has made of it
    """
    because = stop.__cause__ if isinstance(stop, KeyboardInterrupt) \
        else getattr(stop.__cause__, '__cause__', None)
    return 'interrupted' if because is None else \
        f'interrupted, after an error: {described(because)}'


def in_words(error: BaseException) -> str:
    """Return why data cannot be read, on one line; of a missing key only its name is known."""
    if isinstance(error, KeyError) and error.args:
        return f'{error.args[0]!r} is missing'
    reason = getattr(error, 'strerror', None) or _validation_error_text(error) or str(error)
    return ' '.join(str(reason).split()) or 'no reason is known'


def _validation_error_text(error: BaseException) -> str:
    """Return the first of pydantic's errors in words; empty for any other error."""
    details, title = getattr(error, 'errors', None), getattr(error, 'title', None)
    if not callable(details) or not isinstance(title, str):
        return ''
    first = details(include_url=False)[0]
    place = '.'.join(map(str, first['loc']))
    is_short = first['type'] != 'json_invalid' and len(repr(first['input'])) <= _SHOWN
    told = refused(place, first) if is_short else f'{place}: {first["msg"]}'
    return told.removeprefix(': ')


def escaped_controls(text: str) -> str:
    """Return a text in which what would be obeyed is shown as an escape, as in JSON."""
    return UNSEEN.sub(_as_escape, text)


def escaped_line(text: str) -> str:
    """Return the same with line breaks and tabs as escapes: else what follows looks like ours."""
    return escaped_controls(text).replace('\n', '\\n').replace('\t', '\\t')


def _as_escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f'\\u{code:04x}'
    return ''.join(f'\\u{half:04x}' for half in (
        0xd800 + (code - 0x10000 >> 10), 0xdc00 + (code & 0x3ff)))


def shortened(text: str, most: int) -> str:
    """Return a text, of a longer one as many characters and dots."""
    return text if len(text) <= most else f'{text[:most]}...'


def path_on_one_line(path: str) -> str:
    """
    Return a path to write to as it is, if a line can show it: else it may look like a verdict.

    :raises ValueError: it holds a control character
    """
    if UNSEEN.search(path) or '\n' in path or '\t' in path:
        raise ValueError(f'got {path!r}, expected a path without control characters. Name it '
                         f'otherwise')
    return path


def counted(number: int, noun: str, plural: str = '') -> str:
    """
    Return ``1 trial``, ``2 trials``: a number with what it counts.

    :param plural: where that is not the noun with an s
    """
    return f'{number} {noun if number == 1 else plural or noun + "s"}'


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the nearest known name, or an empty string."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=len(names) or 1, cutoff=0.6)
    if not near:
        return ''

    def nearness(other: str) -> tuple[float, int, int]:
        """Of names that share as much, one with more of it in place, then with the same begin."""
        ratio = difflib.SequenceMatcher(a=other, b=name).ratio()
        begins = len(commonprefix([name, other]))
        return (ratio + min(begins, _BEGINNING) * _WINKLER * (1 - ratio),
                sum(map(eq, name, other)), begins)
    return f' Did you mean {max(sorted(near), key=nearness)!r}?'


def is_misspelt(name: str, meant: str) -> bool:
    """Return whether a name can hardly be anything but another one with a slip in it."""
    plain = name.strip().strip('_').lower()
    return sorted(plain) == sorted(meant) or \
        difflib.SequenceMatcher(a=meant, b=plain).ratio() > _SLIP
