# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A robot file: YAML to a ``RobotFile``, every problem with its line and column."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError
from safety_scenarios.errors import InputError
from safety_scenarios.formats.document.messages import describe, show
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.scenario.world.robot_file import RobotFile


class ReadRobot:
    """A robot file that was read, and where in it each thing stands."""

    def __init__(self, file: RobotFile, path: Path, document: Document) -> None:
        self.file, self.path = file, path
        self._document = document

    def refused(self, field: str, message: str) -> InputError:
        """Return what to raise about one of its fields: file, line, column, field, message."""
        return InputError(str(self._document.problem((field,), message)))


def read_robot(path: Path) -> ReadRobot:
    """
    Read a robot file.

    :raises InputError: it cannot be read, or every problem in it with its line and field
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f'{path}: cannot be read: {error.strerror}. Check the path') from None
    document = Document(str(path), raw)
    problems = list(document.problems)
    if not problems and not isinstance(document.data, Mapping):
        problems.append(document.problem((), f'got {show(document.data)}, expected a mapping with '
                                             f'model, base and joints'))
    if not problems:
        try:
            return ReadRobot(RobotFile.model_validate(document.data), path, document)
        except ValidationError as error:
            problems += [document.problem(place, sentence, at_key) for place, sentence, at_key
                         in describe(error.errors(include_url=False), RobotFile)]
    raise InputError('\n'.join(map(str, problems)))
