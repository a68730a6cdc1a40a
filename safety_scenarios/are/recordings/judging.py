# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ARE files with ``completed_events``, judged: our own traces, and what ARE recorded itself."""

from collections.abc import Iterator, Sequence
import os
from pathlib import Path

from safety_scenarios.are.recordings import foreign as are_foreign
from safety_scenarios.are.recordings import own_trace as are_own
from safety_scenarios.are.scenarios.recording import read_recording, Recording
from safety_scenarios.errors import InputError, Problem, ScenarioError
from safety_scenarios.formats.document import json_lines
from safety_scenarios.formats.document.opening import raw_of
from safety_scenarios.scenario.result import TrialResult

SUFFIXES = ('.json', '.jsonl')
_JOURNAL = '.events.jsonl'
"""Beside each trace of ours lies the journal of the same trial, which is for its campaign."""
_OF_CAMPAIGN = ('settings.json', 'trials.jsonl', 'campaign.json', 'manifest.json', 'journal')


def are_recordings(target: Path) -> bool:
    """Return whether a target is a file, or a folder with such files, and not of a campaign."""
    if not target.is_dir():
        return True
    return not any((target / name).exists() for name in _OF_CAMPAIGN) and any(
        name.lower().endswith(SUFFIXES) for _, _, names in os.walk(target) for name in names)


def judge_recordings(target: Path) -> Sequence[tuple[str, TrialResult]]:
    """
    Return (file, result) of every recording that a file, or a folder to its bottom, holds.

    :raises ScenarioError: with every problem of every file
    :raises InputError: there is no recording
    """
    problems, found, seen = list[Problem](), list[tuple[str, TrialResult]](), set[str]()
    for path, raw in _texts(target):
        if os.path.realpath(path) in seen:  # an index names the files beside it
            continue
        seen.add(os.path.realpath(path))
        if isinstance(raw, Problem):
            problems.append(raw)
            continue
        try:
            found.append((path, _judged(read_recording(path, raw))))
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    if not found:
        raise InputError(f'{target}: got no file that ends in {" or ".join(SUFFIXES)}, expected '
                         f'recordings of ARE, or the folder of a campaign')
    return found


def _judged(recording: Recording) -> TrialResult:
    if not recording.file.completed:
        raise ScenarioError([Problem(
            recording.path, None, None, 'completed_events', (
                'got none, expected a recording of a run: this is a scenario, and nobody has run '
                'it. safety-scenarios run FILE does'))])
    return are_own.restated(recording) if are_own.is_own(recording) \
        else are_foreign.judged(recording)


def _texts(target: Path) -> Iterator[tuple[str, bytes | Problem]]:
    """
    Yield each document with the place that it is from; a line of JSONL is one of its own.

    In a folder the journals of our own trials are passed over: their traces are beside them.
    """
    paths = [target] if not target.is_dir() else sorted(
        Path(folder) / name for folder, _, names in os.walk(target) for name in names
        if name.lower().endswith(SUFFIXES) and not name.endswith(_JOURNAL))
    for path in paths:
        if path.name.lower().endswith('.jsonl'):
            yield from json_lines.documents(str(path))
        else:
            yield str(path), raw_of(str(path))
