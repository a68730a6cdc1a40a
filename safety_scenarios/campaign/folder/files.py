# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The files of one trial: its journal, and what trace writers write.

Trace writers are found by name: kind ``traces`` of the registry.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from functools import partial
import hashlib
import io
import json
import os
from pathlib import Path
import shutil
from typing import Any, Protocol, TextIO

from safety_scenarios import registry
from safety_scenarios.are.traces.writer import write_are
from safety_scenarios.campaign.folder.provenance import versions
from safety_scenarios.errors import TraceError
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.event import Event, EventSink
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.identity import digest, Identity
from safety_scenarios.trial.journal import Journal, SUFFIX, UNFINISHED
from safety_scenarios.trial.lines import compressed, head_of
from safety_scenarios.trial.session import Observer, TraceContext
from safety_scenarios.trial.trial import PlannedTrial, Trial, TrialRecord

WriteTrace = Callable[[TextIO, TrialRecord, TrialResult], None]
Definition = Callable[[str], str | None]
"""Name of a message type to the text of its .msg file."""

_WHERE_FILES_ARE = ('output', 'outputs', 'junit', 'scenarios', 'profile', 'jobs',
                    'shard', 'engine', 'ray')
"""The same trials may be run and lie anywhere, and leave the same journals; what they are is in
the plan."""
TRACES, TRACE_SUFFIX = 'traces', '.json.gz'
RECORDINGS = 'recordings'
ARE = 'are'
"""Trace writer of every campaign: judging again compares its files with the records."""


CHAIN = '#chain'
"""Behind the name of a journal: the head of its chain of hashes, in the manifest."""


class JournalFile(EventSink, Protocol):
    """What is written while a trial runs."""

    def seal(self, record: TrialRecord) -> str:
        """Write all of it, and return the head of its chain of hashes."""

    def close(self, record: TrialRecord) -> None:
        """Finish the file."""

    def abandon(self) -> None:
        """Stop writing; the file stays unfinished."""


class LiveSink:
    """Feeds a sink while a trial runs; its mistake changes no trial, and waits until the end."""

    def __init__(self, sink: EventSink) -> None:
        self._sink = sink
        self._error: Exception | None = None

    def add(self, event: Event) -> None:
        """
        Pass the event on, unless the sink has failed.

        :raises TraceError: the disk is full
        """
        if self._error is not None:
            return
        try:
            self._sink.add(event)
        except TraceError:
            raise
        except Exception as error:
            self._error = error

    def raise_error(self) -> None:
        """Raise what the sink has raised."""
        if self._error is not None:
            raise self._error


class TrialFiles:
    """
    Writes the files of one trial after the other.

    :param traces: what writes the other files, in the order in which they are written
    :param journal: opens a trial's journal, from which verdicts are computed
    """

    def __init__(self, folder: Path, traces: Sequence[Observer],
                 journal: Callable[[Path, Trial], JournalFile] = Journal) -> None:
        self.folder = folder
        self._traces, self._open_journal = traces, journal
        self._journal: JournalFile | None = None
        self._sinks: Sequence[LiveSink] = ()

    def sinks(self, trial: Trial) -> Sequence[EventSink]:
        """
        Return what takes a trial's events while it runs.

        :raises TraceError: the disk is full, or the folder is gone
        """
        self._journal = self._open_journal(self.folder / journal_path(trial.trial_id), trial)
        self._sinks = [LiveSink(sink) for trace in self._traces for sink in trace.sinks(trial)]
        return self._journal, *self._sinks

    def write(self, record: TrialRecord, result: TrialResult) -> Mapping[str, str]:
        """
        Seal the journal, write the traces, which name the head of its chain, and finish it.

        :return: names of the trial's journal and trace to their hashes, as the manifest has them
        :raises TraceError: the disk is full, or the folder is gone
        """
        head: str | None = None
        if self._journal is not None:
            head = self._journal.seal(record)
            record = record.with_chain(head)
        for sink in self._sinks:
            sink.raise_error()
        for trace in self._traces:
            trace.trial_ended(record, result)
        if self._journal is not None:
            journal, self._journal = self._journal, None
            journal.close(record)
        return hashed_files(self.folder, result.trial_id, head)

    def close(self) -> None:
        """Give up a journal that nothing has finished."""
        if self._journal is not None:
            self._journal.abandon()


class AreTrace(Observer):
    """Writes each trial's trace as ARE imports it, when the trial has ended."""

    def __init__(self, context: TraceContext) -> None:
        self._folder, self._write = context.folder, trace_writer(context.settings)

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """
        Write the file.

        :raises TraceError: the disk is full, or the folder is gone
        """
        text = io.StringIO()
        self._write(text, record, result)
        write_whole(self._folder / trace_path(record.trial.trial_id),
                    compressed(text.getvalue().encode()), is_synced=False)


def counts_for_terms(setting: str) -> bool:
    """Return whether a setting decides what trials come to, and not only where they run."""
    return setting not in _WHERE_FILES_ARE


def files_of(settings: RunSettings, folder: Path,
             definition: Definition | None = None, sut: Identity | None = None, *,
             controller: ControllerSpec, plan: str) -> TrialFiles:
    """
    Return what writes the files that the settings ask for.

    :param definition: knows the text of the .msg files that are installed
    :param sut: what tells the controller that is judged from others
    :param plan: SHA-256 of everything that is planned
    :raises UnknownPluginError: there is no trace writer of a name in the settings
    :raises MissingDependencyError: recordings without the extra mcap
    """
    context = TraceContext(settings, folder, definition, settings.names.full)
    return TrialFiles(folder, [registry.resolve('traces', name)(context)
                               for name in dict.fromkeys([ARE, *settings.record])],
                      journal_writer(settings.model_dump(mode='json'), controller, plan, sut=sut))


def journal_writer(settings: Mapping[str, Any], controller: ControllerSpec, plan: str,
                   version: str | None = None,
                   sut: Identity | None = None) -> Callable[[Path, Trial], Journal]:
    """
    Return what opens a trial's journal.

    :param settings: as ``settings.json`` has them
    :param plan: SHA-256 of everything that is planned
    :param version: of this package, which has run the campaign; by default this one
    :param sut: what tells the controller that is judged from others
    """
    return partial(Journal, campaign=terms_of(
        settings, controller, plan,
        versions()['safety_scenarios'] if version is None else version, sut))


def terms_of(settings: Mapping[str, Any], controller: ControllerSpec, plan: str,
             version: str | None, sut: Identity | None = None) -> str:
    """
    Return the SHA-256 of who was judged, which trials there are, and how they count.

    Every journal holds it, so that nothing of it can be changed in ``settings.json`` alone.

    :param settings: as ``settings.json`` has them; every one counts but where files are
    :param controller: that is judged, with its parameters
    :param plan: SHA-256 of everything that is planned, so that no scenario can be taken out
    :param version: of this package, which has run the campaign
    :param sut: what tells the controller that is judged from others; None in earlier versions
    """
    terms = {'settings': {name: value for name, value in settings.items()
                          if counts_for_terms(name)}, 'version': version,
             'plan': plan, 'controller': controller.model_dump(mode='json'),
             **({} if sut is None else {'sut': sut.at_start.model_dump(mode='json')})}
    return hashlib.sha256(json.dumps(terms, sort_keys=True).encode()).hexdigest()


def plan_sha256(plan: Iterable[PlannedTrial]) -> str:
    """Return the SHA-256 of which trials there are; what is planned in each is in its record."""
    found = hashlib.sha256()
    for entry in plan:
        found.update(entry.model_dump_json(exclude={'sha256'}).encode())
    return found.hexdigest()


def trace_writer(settings: RunSettings) -> WriteTrace:
    """Return what writes a trial's trace as ARE imports it."""
    return partial(write_are, profile=settings.trace_profile,
                   export_apps=not settings.trace_without_apps)


def trace_path(trial_id: str) -> str:
    """Return a trial's trace file, relative to the campaign's folder."""
    return f'{TRACES}/{trial_id.partition(".")[0]}/{trial_id}{TRACE_SUFFIX}'


def journal_path(trial_id: str) -> str:
    """Return a trial's journal, relative to the campaign's folder."""
    return f'{TRACES}/{trial_id.partition(".")[0]}/{trial_id}{SUFFIX}'


def hashed(folder: Path, name: str, head: str | None = None) -> dict[str, str]:
    """
    Return the SHA-256 of a file, and of a journal the head of its chain of hashes too.

    :param head: of whoever has written the journal; None: it is read from the file
    """
    path = folder / name
    if not name.endswith(SUFFIX):
        return {name: digest(path)}
    return {name: digest(path), f'{name}{CHAIN}': head_of(path) if head is None else head}


def hashed_files(folder: Path, trial_id: str, head: str | None = None) -> dict[str, str]:
    """
    Return names of a trial's journal and trace to their hashes, as the manifest has them.

    :param head: of the chain of the journal; None: it is read from the file
    """
    found: dict[str, str] = {}
    for name in (journal_path(trial_id), trace_path(trial_id)):
        if (folder / name).is_file():
            found |= hashed(folder, name, head)
    return found


def remove_trial(folder: Path, trial_id: str) -> bool:
    """Remove every file of a trial, half-written ones too; return whether there was one."""
    found = False
    for name in (journal_path(trial_id), trace_path(trial_id)):
        for path in (folder / name, folder / f'{name}{UNFINISHED}'):
            found |= path.exists()
            path.unlink(missing_ok=True)
    recording = folder / RECORDINGS / trial_id
    if recording.is_dir():
        found = True
        shutil.rmtree(recording)
    return found


def new_in_runs(what: str = '') -> Path:
    """Return where results go that were given no folder: one by the time, below ``runs``."""
    return Path('runs') / datetime.now(timezone.utc).strftime(f'{what}%Y%m%d-%H%M%S-%f')


def write_whole(path: Path, content: str | bytes | Callable[[TextIO], None], *,
                is_synced: bool = True) -> None:
    """
    Write a file that is whole or absent, whatever happens meanwhile.

    A device or a pipe, such as /dev/null, is written to, and stays what it is.

    :param content: text without its last line's end, or what writes it; or all bytes
    :param is_synced: also if the power is lost; False for what a record gives again
    :raises TraceError: the disk is full, or the folder is gone
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_replaced = path.is_file() or not path.exists()
        unfinished = path.with_name(path.name + '.part') if is_replaced else path
        with unfinished.open('wb') as file, io.TextIOWrapper(file, 'utf-8') as text:
            if isinstance(content, bytes):
                file.write(content)
            elif isinstance(content, str):
                text.write(content + '\n')
            else:
                content(text)
            text.flush()
            if is_synced and is_replaced:
                os.fsync(file.fileno())
        if is_replaced:
            os.replace(unfinished, path)
        if is_synced and is_replaced:
            sync_names(path.parent)
    except OSError as error:
        raise unwritten(path, error) from error


def sync_names(folder: Path) -> None:
    """Let the disk take the names of the files in a folder, where its file system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def unwritten(path: Path, error: OSError) -> TraceError:
    """Return how to say that a file could not be written."""
    return TraceError(f'{path}: cannot be written: {error.strerror}. Everything before it is '
                      f'complete')
