# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The journal: every event of a trial as it happens, one JSON value a line, read back exactly.

The lines are compressed by gzip; ``zcat`` prints them, also those of a trial that still runs.

First line: the trial as it was planned. Then one line for each event: ``[kind, name, [steady,
system, ros, source, received, header], {the rest}]``, each time in ns after the same one before
in the file (the first after 0; null: there is none), then its message if it has one:
``[type, data]``, or ``"same"`` as before on its topic. Last line: how it was measured and what a
judge said, and the chain of hashes over all lines (``lines``). A journal without its last line
belongs to a trial that never ended. NaN and infinity are written by those names, as Python's
``json`` reads them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
import json
from operator import attrgetter, sub
import os
from pathlib import Path
import threading
from typing import Any

from pydantic_core import from_json, to_json
from safety_scenarios.errors import in_words, TraceError
from safety_scenarios.scenario.event import Event, MAX_RECORD, Stamps
from safety_scenarios.scenario.invariant import Judgement
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import frozen
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.trial.lines import (
    break_in,
    Chain,
    Compressor,
    head_of,
    lines_in,
    open_lines,
    ReadChain,
)
from safety_scenarios.trial.plan_data import (
    Change,
    from_text,
    plan_from_data,
    plan_to_data,
    refuse_unplanned,
    Resolve,
    to_text,
)
from safety_scenarios.trial.trial import PlannedTrial, Trial, TrialRecord

VERSION = 2
"""Of the format; one that readers of this version cannot read gets the next."""
SUFFIX, UNFINISHED = '.events.jsonl.gz', '.part'
FLUSH_S = 0.05
"""A killed process loses at most the events of this long, and of one write."""
_STAMPS = ('steady_ns', 'system_ns', 'ros_ns', 'source_ns', 'received_ns', 'header_ns')
_REST = ('text', 'hazard', 'truth', 'scheduled_ns', 'trial_id', 'agent', 'symbol', 'arguments',
         'depth', 'sequence')
_DEFAULTS = {name: Event.model_fields[name].get_default() for name in _REST}
_RARE = {name: default for name, default in _DEFAULTS.items() if name != 'truth'}
_OF_MOST = tuple(_RARE.values())
_BEYOND = 1 << 63
"""No clock counts so far (ns)."""
_SAME = 'same'
_UNNUMBERED = {name: default for name, default in _RARE.items() if name != 'sequence'}
_OF_UNNUMBERED = tuple(_UNNUMBERED.values())
_stamps, _rare, _unnumbered = attrgetter(*_STAMPS), attrgetter(*_RARE), attrgetter(*_UNNUMBERED)
_json = json.JSONEncoder(separators=(',', ':'), default=dict).encode
_value = json.JSONDecoder().decode
_TEXTS = 64
"""Truths of which the text is kept: of the things in a world, with those of a moment before."""
_OFTEN = 'state', 'sensed'
"""What a world tells again and again, with nothing but numbers and names in it."""


def _list(texts: Iterable[str]) -> str:
    return f'[{",".join(texts)}]'


def _number_json(value: Any) -> str:
    """Return the same JSON as ``_json``, four times as fast."""
    return to_json(value, inf_nan_mode='constants').decode()


class Journal:
    """
    Writes a trial's events from a thread of its own; ``add`` only hands them over.

    :param path: of the finished journal; until then it has the suffix ``.part``
    :param campaign: stands beside the plan: what tells the campaign's terms from others
    :raises TraceError: it cannot be written
    """

    def __init__(self, path: Path, trial: Trial, campaign: str = '') -> None:
        self._path = path
        self._waiting: list[Event] = []
        self._before: dict[str, tuple[Message, str]] = {}
        self._times = _Times()
        self._reported = _Reported(self._times)
        self._chain, self._compressor = Chain(), Compressor()
        self._head = ''
        self._error: Exception | None = None
        self._ended = threading.Event()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = unfinished(path).open('xb', buffering=0)
            terms = {'campaign': campaign} if campaign else {}
            self._write(to_text({'journal': VERSION, **terms, 'trial': plan_to_data(trial)})
                        + '\n')
        except OSError as error:
            raise _unwritten(path, error) from error
        self._begin(self._run)

    def _begin(self, work: Callable[[], None]) -> None:
        def begun() -> None:
            try:
                work()
            except Exception as error:  # told by close, on the thread that can end the campaign
                self._error = error
        self._thread = threading.Thread(target=begun, name='journal', daemon=True)
        self._thread.start()

    def add(self, event: Event) -> None:
        """Take one event; what cannot be written is told by ``close``."""
        self._waiting.append(event)

    def seal(self, record: TrialRecord) -> str:
        """
        Write what is left and the last line; the file is as unfinished as before.

        The disk takes it while other files of the trial are written.

        :return: the head of the chain of hashes, which other files of the trial name
        :raises TraceError: the disk is full, or the folder is gone
        """
        self._stop()
        try:
            if self._error is not None:
                raise self._error
            self._flush()
            line, self._head = self._chain.end((_json({
                'measuring': record.measuring.model_dump(mode='json'),
                'judgements': [found.model_dump(mode='json') for found in record.judgements]})
                + '\n').encode())
            self._write_bytes(self._compressor.end(line))
        except Exception as error:
            self._file.close()
            raise _unwritten(self._path, error) from error
        self._begin(lambda: os.fsync(self._file.fileno()))
        return self._head

    def close(self, record: TrialRecord) -> None:
        """
        Seal the journal unless it is, and give the file its name when it is on the disk.

        :raises TraceError: the disk is full, or the folder is gone
        """
        if not self._head:
            self.seal(record)
        self._thread.join()
        try:
            if self._error is not None:
                raise self._error
            os.replace(unfinished(self._path), self._path)
        except Exception as error:
            raise _unwritten(self._path, error) from error
        finally:
            self._file.close()

    def abandon(self) -> None:
        """Stop writing; the file stays unfinished."""
        self._stop()
        self._file.close()

    def _stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(FLUSH_S):
            self._flush()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._write(*map(self._line, waiting))

    def _write(self, *lines: str) -> None:
        data = [line.encode() for line in lines]
        for line in data:
            self._chain.add(line)
        self._write_bytes(self._compressor.piece(b''.join(data)))

    def _write_bytes(self, found: bytes) -> None:
        data = memoryview(found)
        while data:
            data = data[self._file.write(data):]

    def _line(self, event: Event) -> str:
        message = event.message
        if message is None and event.kind in _OFTEN and _rare(event) == _OF_MOST:
            return self._reported.line(event)
        line = (f'{_opening(event.kind, event.name)}{self._times.after(event.stamps)},'
                f'{_rest_text(event)}]')
        if message is None:
            return line + '\n'
        before = self._before.get(event.name)
        if before is not None and before[0].is_same(message):
            return f'{line[:-1]},"{_SAME}"]\n'
        text = _json([message.type, message.data])
        self._before[event.name] = message, text
        if before is not None and before[1] == text:
            return f'{line[:-1]},"{_SAME}"]\n'
        return f'{line[:-1]},{text}]\n'


class _Times:
    """Writes each time as what it is after the one before: a third of the digits."""

    def __init__(self) -> None:
        self._before: Sequence[int] = (0,) * len(_STAMPS)
        self._stamps: Stamps | None = None
        self._none_passed = ''

    def after(self, stamps: Stamps) -> str:
        """Return the differences to the times before as JSON; null: there is no such time."""
        times, before = _stamps(stamps), self._before
        if stamps is self._stamps:  # of the same moment, as most that a world reports
            if not self._none_passed:
                self._none_passed = _list(['null' if new is None else '0' for new in times])
            return self._none_passed
        self._stamps, self._none_passed = stamps, ''
        if None not in times:
            self._before = times
            return _list(map(str, map(sub, times, before)))
        self._before = [old if new is None else new
                        for new, old in zip(times, before, strict=True)]
        return _list(['null' if new is None else str(new - old)
                      for new, old in zip(times, before, strict=True)])


class _Reported:
    """
    Writes what a world reports: of one moment with the same stamps, and often the same truth.

    Of the latest truths the text is kept: topics share one, and what stands still has the same
    again and again.
    """

    def __init__(self, times: _Times) -> None:
        self._times = times
        self._texts: dict[int, tuple[Mapping[str, float], str]] = {}

    def line(self, event: Event) -> str:
        """Return the line of an event of which nothing is known but what is true."""
        truth = event.truth
        return (f'{_opening(event.kind, event.name)}{self._times.after(event.stamps)},'
                f'{self._text(truth) if truth else "{}"}]\n')

    def _text(self, truth: Mapping[str, float]) -> str:
        known = self._texts.get(id(truth))
        if known is None:
            if len(self._texts) >= _TEXTS:
                self._texts.clear()
            # with the truth itself, so that no other one gets its id
            known = self._texts[id(truth)] = truth, _number_json({'truth': truth})
        return known[1]


@lru_cache(maxsize=1024)
def _opening(kind: str, name: str) -> str:
    return _json([kind, name])[:-1] + ','


def _rest_text(event: Event) -> str:
    """Return what else is known of an event; of most commands that is their number."""
    if not event.truth and _unnumbered(event) == _OF_UNNUMBERED:
        return '{}' if event.sequence is None else f'{{"sequence":{event.sequence}}}'
    return (_number_json if event.kind in _OFTEN else _json)(_rest(event))


def _rest(event: Event) -> dict[str, Any]:
    """Return what else is known of an event."""
    return {name: value for name, default in _DEFAULTS.items()
            if (value := getattr(event, name)) != default}


def read_journal(path: Path, resolve: Resolve, change: Change | None = None, *,
                 partial: bool = False, planned: PlannedTrial | None = None,
                 campaign: str = '', damage: list[str] | None = None) -> TrialRecord:
    """
    Return the record of a trial, equal to the one that was written.

    :param change: alters the trial's plan before it is read
    :param partial: take a trial that never ended too, with what it has; half a line is cut
    :param planned: what must have been planned in it
    :param campaign: what must stand beside the plan
    :param damage: takes what is wrong with the events, of which then what stands before is read
    :raises UnfitPlanError: the plan is none, or the change made it so
    :raises TraceError: the file is no journal, is damaged, or has no last line
    """
    events: list[Event] = []
    before: dict[str, Message] = {}
    moments, left = _Moments(), 2 * MAX_RECORD  # the last events of a trial may exceed it
    try:
        file, compressed = open_lines(path)
    except OSError as error:
        raise TraceError(f'{path}: cannot be read: {error.strerror}') from None
    with file:
        first = file.readline()
        chain, head = ReadChain(first), _head(path, first)
        _refuse_foreign(path, head, planned, campaign)
        trial = plan_from_data(head['trial'], resolve, change)
        for number, line in enumerate(file, 2):
            if partial and not line.endswith(b'\n'):
                break
            try:
                value = _read(line)
                if isinstance(value, dict):
                    if file.read(1):
                        raise ValueError('got something after the last line, expected its end')
                    sealed = chain.head(line)
                    if sealed is None:
                        return _broken(path, trial, events, damage)
                    if not compressed.is_whole:
                        _note(f'{path}: {compressed.problem or "the end of the file is missing"}',
                              damage)
                    return _record(trial, events, value).with_chain(sealed)
                chain.add(line)
                events.append(_event(value, moments, before))
                left -= events[-1].size
            except (ValueError, LookupError, TypeError, RecursionError) as error:
                if not partial and head_of(path):  # one before it may be gone
                    return _broken(path, trial, events, damage)
                why = compressed.problem or in_words(error)
                _note(f'{path}:{number}: cannot be read: {why:.300}', damage)
                break
            if left < 0:
                raise TraceError(f'{path}:{number}: got more than {2 * MAX_RECORD / 1e6:.0f} MB '
                                 f'of events, expected at most that. No trial records so many')
        else:
            if compressed.problem:
                _note(f'{path}: {compressed.problem}', damage)
    if not (partial or damage):
        _note(f'{path}: the last line is missing: its trial never ended. Run campaign repair',
              damage)
    return TrialRecord(trial=trial, events=tuple(events))


def read_plan(path: Path, resolve: Resolve) -> Trial:
    """
    Return what was planned in a trial; its events are not read.

    :raises UnfitPlanError: the plan is none
    :raises TraceError: the file is no journal
    """
    try:
        file, _ = open_lines(path)
    except OSError as error:
        raise TraceError(f'{path}: cannot be read: {error.strerror}') from None
    with file:
        return plan_from_data(_head(path, file.readline())['trial'], resolve)


def _note(text: str, damage: list[str] | None) -> None:
    """Keep what is wrong with a journal."""
    if damage is None:
        raise TraceError(text)
    damage.append(text)


def _broken(path: Path, trial: Trial, events: Sequence[Event],
            damage: list[str] | None) -> TrialRecord:
    """Return the record up to the first line at which the chain of hashes is broken."""
    number, why = break_in(lines_in(path)) or (1, 'its chain of hashes changed while it was read')
    _note(f'{path}:{number}: the chain of hashes is broken here: {why}. It is no record of what '
          f'was measured', damage)
    return TrialRecord(trial=trial, events=tuple(events[:max(0, number - 2)]))


def unfinished(path: Path) -> Path:
    """Return the name of a journal as long as its trial runs."""
    return path.with_name(path.name + UNFINISHED)


def _head(path: Path, line: bytes) -> Mapping[str, Any]:
    try:
        head: Mapping[str, Any] = from_text(line.decode())
        version = head['journal']
        if not isinstance(head['trial'], Mapping):
            raise TypeError
    except (TraceError, UnicodeDecodeError, KeyError, TypeError):
        raise TraceError(f'{path}:1: is no journal of a trial') from None
    if version != VERSION:
        raise TraceError(f'{path}:1: got version {version}, expected {VERSION}. Read it with the '
                         f'version that wrote it')
    return head


def refuse_other_campaign(path: Path, campaign: str) -> None:
    """
    Refuse a journal that was written for another campaign.

    :param campaign: what must stand beside the plan
    :raises TraceError: it says something else, or is no journal
    """
    with open_lines(path)[0] as file:
        _refuse_foreign(path, _head(path, file.readline()), None, campaign)


def _refuse_foreign(path: Path, head: Mapping[str, Any], planned: PlannedTrial | None,
                    campaign: str) -> None:
    try:
        if planned is not None:
            refuse_unplanned(head['trial'], planned)
    except TraceError as error:
        raise TraceError(f'{path}:1: {error}') from None
    if campaign and head.get('campaign') != campaign:
        raise TraceError(f'{path}:1: the record is of a campaign with other terms: got '
                         f'{str(head.get("campaign"))[:12]}, expected {campaign[:12]}. Were '
                         f'settings, plan, version, controller or what was judged (sut) '
                         f'changed in settings.json?')


def _record(trial: Trial, events: list[Event], last: dict[str, Any]) -> TrialRecord:
    return TrialRecord(
        trial=trial, events=tuple(events),
        measuring=Measuring.model_validate_json(json.dumps(last['measuring'])),
        judgements=tuple(Judgement.model_validate_json(json.dumps(found))
                         for found in last['judgements']))


class _Moments:
    """Reads what ``_Times`` writes; what happened at the same moment has the same stamps."""

    def __init__(self) -> None:
        self._before = [0] * len(_STAMPS)
        self._unmoved: Sequence[int | None] = ()
        self._stamps: Stamps | None = None

    def after(self, differences: Sequence[int | None]) -> Stamps:
        """Return the stamps of the next event."""
        if self._stamps is not None and differences == self._unmoved:
            return self._stamps
        stamps = [None if after is None else old + after
                  for old, after in zip(self._before, differences, strict=True)]
        for place, stamp in enumerate(stamps):
            if stamp is None:
                continue
            if not -_BEYOND < stamp < _BEYOND:
                raise ValueError(f'got a stamp of {stamp} ns, expected one that has 64 bits')
            self._before[place] = stamp
        known: dict[str, Any] = dict(zip(_STAMPS, stamps, strict=True))
        self._stamps = Stamps(**known)
        self._unmoved = [None if stamp is None else 0 for stamp in stamps]
        return self._stamps


def _event(value: Any, moments: _Moments, before: dict[str, Message]) -> Event:
    kind, name, differences, rest, *message = value
    if len(message) > 1 or (message and message[0] != _SAME and len(message[0]) != 2):
        raise ValueError('got more than an event has, expected kind, name, stamps, what else is '
                         'known and a message of a type and its data')
    stamps = moments.after(differences)
    if not message and kind in _OFTEN and type(name) is str and _is_truth_alone(rest):
        return Event.model_construct(kind, name, stamps, truth=rest.get('truth', {}))
    if message and message[0] != _SAME:
        before[name] = Message(type=message[0][0], data=frozen(message[0][1]))
    return Event(kind=kind, name=name, stamps=stamps,
                 message=before[name] if message else None, **rest)


def _is_truth_alone(rest: Any) -> bool:
    """Return whether nothing but numbers is known, as of most events: none has to be checked."""
    if type(rest) is not dict or rest.keys() - {'truth'}:
        return False
    truth = rest.get('truth', {})
    return type(truth) is dict and set(map(type, truth.values())) <= {float}


def _read(line: bytes) -> Any:
    """Return what ``json`` reads, in a third of the time; what is refused, ``json`` explains."""
    try:
        return from_json(line)
    except ValueError:
        return _value(line.decode())


def _unwritten(path: Path, error: Exception) -> TraceError:
    return TraceError(f'{path}: cannot be written: {in_words(error)}. Everything before it is '
                      f'complete')
