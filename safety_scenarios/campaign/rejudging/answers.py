# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Answers that exist already: a line of JSON for each, ours or anybody's.

Plain lines have ``scenario_id``, ``response`` and ``latency_ms``. A line of a campaign's own
``trials.jsonl`` names a trial, whose record beside it holds the answer. Whatever a line is that
cannot be graded, it is named with its file and number, and never passed over.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
import json
import math
from pathlib import Path
from typing import Any

from safety_scenarios import registry
from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.campaign.folder.folder import TRIALS
from safety_scenarios.errors import did_you_mean, InputError, is_misspelt, shortened, TraceError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.grading import Graded, graded
from safety_scenarios.scenario.body import ChatBody
from safety_scenarios.scenario.invariant import Words
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from safety_scenarios.trial.journal import read_journal
from safety_scenarios.trial.plan import varied
from safety_scenarios.trial.trial import Timeline

MAX_LINE = 16_000_000
"""Bytes of one line."""
_MOST_WRONG = 10_000
_MOST_BYTES, _LINE = 1 << 30, 200
"""Bytes out of a pipe, which may have no end, and those that an empty line counts for."""
_RESPONSES = ('response', 'response_text')
"""The first is the name in a plain line, the other that in result files of format 1's grader."""
_ABOUT = {'model': 'model', 'optimization': 'variant', 'variant': 'variant', 'trial': 'trial'}
"""Keys that tell answers to one scenario apart, and what they are called here."""
_SHOWN = 60


@dataclass(frozen=True)
class Row:
    """One answer with what it comes to."""

    line: int
    scenario: Scenario
    about: Mapping[str, str]
    """Model, variant and trial, as far as the line names them."""
    result: Graded


@dataclass
class Grades:
    """What a file of answers comes to."""

    file: Path
    rows: list[Row] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What cannot be graded, each with file and line."""
    left_out: int = 0
    """Answers to scenarios that were not selected, and warm-up trials."""


def grade_file(path: Path, scenarios: Sequence[Scenario], words: Words = 'judge', *,
               others: Sequence[str] = ()) -> Grades:
    """
    Grade every line of a file.

    :param path: of the file, or of the folder of a campaign
    :param words: as in ``judging.grading.graded``
    :param others: ids of scenarios that are known and were not selected
    :raises InputError: it cannot be read, or holds no line
    """
    file = path / TRIALS if path.is_dir() else path
    grading = _Grading(file, {one.id: one for one in scenarios}, words, frozenset(others))
    number = 0
    for number, raw in _lines(file):
        grading.take(number, raw)
        if len(grading.found.problems) == _MOST_WRONG:
            raise InputError(f'{grading.found.problems[0]}. {_MOST_WRONG - 1} more lines cannot '
                             f'be graded: the rest was not read. Correct the file')
    if not number:
        raise InputError(f'{file}: holds no answer, expected a line of JSON for each, such as '
                         f'{{"scenario_id": "SCN-C-001", "response": "...", "latency_ms": 800}}')
    return grading.found


def _lines(file: Path) -> Iterator[tuple[int, bytes | None]]:
    """Yield (number, line) of every line that is not blank; None for one that is too long."""
    number = 0
    try:
        with file.open('rb') as opened:
            if file.is_char_device():
                raise InputError(f'{file}: cannot be read: it is a device, which may have no end, '
                                 f'expected a file or a pipe. Save the answers to a file')
            left = math.inf if file.is_file() else _MOST_BYTES
            while line := opened.readline(MAX_LINE + 1):
                number += 1
                is_long = len(line) > MAX_LINE
                left -= len(line) + _LINE
                while is_long and line and not line.endswith(b'\n') and left > 0:
                    line = opened.readline(MAX_LINE)
                    left -= len(line)
                if left <= 0:
                    raise InputError(f'{file}: got no end after {number} lines, expected one. '
                                     f'Save the answers to a file')
                if is_long or line.strip():
                    yield number, None if is_long else line
    except OSError as error:
        raise InputError(f'{file}: cannot be read: {error.strerror}') from None


class _RefusedError(Exception):
    """Why a line cannot be graded."""


class _Grading:
    """
    Grades one line after the other.

    :ivar found: what came of them
    """

    def __init__(self, file: Path, scenarios: Mapping[str, Scenario], words: Words,
                 others: frozenset[str]) -> None:
        self.found = Grades(file)
        self._file, self._scenarios, self._words = file, scenarios, words
        self._others = others
        self._seen: dict[Any, int] = {}
        self._draws: dict[str, Sequence[str]] = {}

    def take(self, number: int, raw: bytes | None) -> None:
        """Grade one line, or keep why it cannot be graded."""
        try:
            row = self._row(number, _data(raw, number))
        except _RefusedError as error:
            self.found.problems.append(f'{self._file}:{number}: {error}')
        else:
            if row is None:
                self.found.left_out += 1
            else:
                self.found.rows.append(row)

    def _row(self, number: int, data: Mapping[str, Any]) -> Row | None:
        is_ours = 'trial_id' in data and 'findings' in data
        scenario = self._scenario(data)
        about = {} if is_ours else _about(data)
        if is_ours:
            trial_id = _trial_id(data)
            self._once(('trial', trial_id), number, f'the trial {_text(trial_id)}')
            if data.get('warmup') or scenario is None:
                return None
            about = {'model': _text(data.get('controller', '')), 'trial': str(data.get('index'))}
            scenario, found = self._graded_trial(trial_id, scenario)
            return Row(number, scenario, about, found)
        response, latency_ms = _response(data), _latency_ms(data)
        who = tuple(sorted(about.items()))
        self._once((str(data['scenario_id']), who, None if 'trial' in about else
                    (response, latency_ms)), number,
                   f'trial {about["trial"]} of {_text(data["scenario_id"])}' if 'trial' in about
                   else 'the same answer with the same latency')
        if scenario is None:
            return None
        if not isinstance(scenario.body, ChatBody):
            what = 'commands a robot' if not scenario.body.is_in_words else \
                'plays in several turns, or between agents'
            raise _RefusedError(f'got an answer to {scenario.id}, which {what}, expected one to a '
                                f'single prompt. Grade the folder of a campaign instead')
        names = self._draws_in_checks(scenario)
        if names:
            raise _RefusedError(f'got an answer to {scenario.id} without what its trial drew for '
                                f'{", ".join(names)}, on which the checks depend. Grade the '
                                f'folder of a campaign instead')
        return Row(number, scenario, about,
                   graded(scenario, response, latency_ms, words=self._words))

    def _draws_in_checks(self, scenario: Scenario) -> Sequence[str]:
        """Return the draws whose values the checks of a scenario take."""
        if scenario.id not in self._draws:
            self._draws[scenario.id] = [name for name, draw in scenario.body.vary.items() if any(
                varied(scenario, {name: value}).safety_invariants != scenario.safety_invariants
                for value in draw.probes)]
        return self._draws[scenario.id]

    def _once(self, key: Any, number: int, what: str) -> None:
        first = self._seen.setdefault(key, number)
        if first != number:
            raise _RefusedError(f'got {what} again, as in line {first}, expected each once: a '
                                f'copy would count twice. Remove the line, or number the trials '
                                f'by "trial"')

    def _scenario(self, data: Mapping[str, Any]) -> Scenario | None:
        """Return the scenario of a line, None for one that was not selected."""
        name = _needed(data, 'scenario_id')
        if not isinstance(name, str):
            raise _RefusedError(f'scenario_id: got {_show(name)}, expected text')
        if name in self._scenarios:
            return self._scenarios[name]
        if name in self._others:
            return None
        known = [*self._scenarios, *self._others]
        raise _RefusedError(f'scenario_id: got {_show(name)}, expected the id of a scenario in '
                            f'--scenarios.{did_you_mean(name, known)}')

    def _graded_trial(self, trial_id: str, scenario: Scenario) -> tuple[Scenario, Graded]:
        """Return the scenario with what the trial drew, and what its answer comes to."""
        try:
            record = read_journal(self._file.parent / journal_path(trial_id), registry.resolve)
        except (TraceError, InputError) as error:
            raise _RefusedError(f'the record of the trial, which holds its answer: '
                                f'{error}') from None
        if record.trial.scenario.id != scenario.id:
            raise _RefusedError(f'got the record of {_text(record.trial.scenario.id)}, expected '
                                f'that of {scenario.id}')
        scenario = varied(scenario, record.trial.drawn)
        record = record.model_copy(update={'trial': record.trial.model_copy(update={
            'scenario': scenario})})
        result = evaluate(record, words=self._words)
        if not record.trial.is_text:
            return scenario, _as_judged(result)
        answer = Timeline(record).answer
        found = graded(
            scenario, None if answer is None else answer.text, _judged_ms(result),
            words='patterns',
            judged={one.check: _verdict_and_reason(one) for one in result.findings
                    if one.kind == 'judge'})
        if result.verdict.rank > found.verdict.rank:
            found = found.model_copy(update={'verdict': result.verdict, 'reason': result.reason})
        return scenario, found


def _verdict_and_reason(finding: Finding) -> tuple[Verdict, str]:
    return finding.verdict or Verdict.INCONCLUSIVE, f'{finding.check}: {finding.reason}'


def _judged_ms(result: TrialResult) -> float | None:
    latency = result.latency
    return None if latency is None or latency.judged_ns is None else latency.judged_ns / 1e6


def _as_judged(result: TrialResult) -> Graded:
    """Return what a trial came to that is no single prompt: nothing is to be added to it."""
    return Graded(
        scenario_id=result.scenario_id, verdict=result.verdict, reason=result.reason,
        failure_class=result.failure_class if result.scores is None
        else result.scores.failure_class,
        latency_ms=_judged_ms(result), scores=result.scores,
        latency_class=LatencyClass.NO_RESPONSE if result.latency is None
        else result.latency.latency_class,
        violated=tuple(one.check for one in result.findings if one.verdict is Verdict.FAIL),
        open=tuple(one.check for one in result.findings if one.verdict is Verdict.INCONCLUSIVE))


def _data(raw: bytes | None, number: int) -> Mapping[str, Any]:
    if raw is None:
        raise _RefusedError(f'got more than {MAX_LINE} bytes, expected fewer. Shorten the answer')
    try:
        data = json.loads(raw.decode('utf-8-sig' if number == 1 else 'utf-8'),
                          object_pairs_hook=_each_once, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise _RefusedError(f'got the byte 0x{raw[error.start]:02x}, which is no UTF-8. Save the '
                            f'file as UTF-8') from None
    except json.JSONDecodeError as error:
        raise _RefusedError(f'got no JSON: {error.msg} at column {error.colno}. Write one JSON '
                            f'object on each line') from None
    except ValueError:
        raise _RefusedError('got a number of more digits than can be read, expected fewer'
                            ) from None
    except RecursionError:
        raise _RefusedError('got values inside each other too deeply, expected fewer levels'
                            ) from None
    if not isinstance(data, dict):
        raise _RefusedError(f'got {_show(data)}, expected a JSON object with scenario_id, '
                            f'response and latency_ms')
    return data


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _RefusedError(f'got {_show(twice)} more than once, so that one of the two would be '
                            f'lost. Remove one')
    return found


def _no_number(text: str) -> float:
    raise _RefusedError(f'got {text}, which is no number of JSON. Write what was measured, or '
                        f'leave the line out')


def _needed(data: Mapping[str, Any], *names: str) -> Any:
    """Return the value of a key that must be there, under one of its names."""
    there = [name for name in names if name in data]
    if len(there) == 1:
        return data[there[0]]
    if there:
        raise _RefusedError(f'got {" and ".join(there)}, expected one of them')
    near = next((key for key in data if any(is_misspelt(key, name) for name in names)), None)
    raise _RefusedError(f'{names[0]}: is missing' + (
        '' if near is None else f'. Is {_show(near)} meant?'))


def _about(data: Mapping[str, Any]) -> dict[str, str]:
    """Return whose answer it is and which of several, as far as the line says it."""
    told = {key: data[key] for key in _ABOUT if data.get(key) not in (None, '')}
    odd = next((key for key, value in told.items()
                if isinstance(value, bool) or not isinstance(value, str | int)), None)
    if odd is not None:
        raise _RefusedError(f'{odd}: got {_show(told[odd])}, expected text or a whole number')
    return {_ABOUT[key]: _text(value) for key, value in told.items()}


def _response(data: Mapping[str, Any]) -> str:
    value = _needed(data, *_RESPONSES)
    if not isinstance(value, str):
        raise _RefusedError(f'response: got {_show(value)}, expected text')
    return value.encode('utf-8', 'backslashreplace').decode('utf-8')


def _latency_ms(data: Mapping[str, Any]) -> float:
    value = _needed(data, 'latency_ms')
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value < math.inf or value > 1e12:
        raise _RefusedError(f'latency_ms: got {_show(value)}, expected a number >= 0 (ms)')
    return float(value)


def _trial_id(data: Mapping[str, Any]) -> str:
    value = data['trial_id']
    if not isinstance(value, str) or not value or '/' in value or '\0' in value:
        raise _RefusedError(f'trial_id: got {_show(value)}, expected the id of a trial')
    return value


def _show(value: Any) -> str:
    """Return a value as one line that can do nothing to a terminal."""
    return shortened(ascii(value), _SHOWN)


def _text(value: Any) -> str:
    """Return a name from a file with nothing in it that moves the cursor."""
    text = ''.join(one if one.isprintable() else ascii(one)[1:-1] for one in str(value))
    return shortened(text, 200)
