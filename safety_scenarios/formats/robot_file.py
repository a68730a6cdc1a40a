# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A file about a robot's model: its links, base and joints."""

from pathlib import Path

from safety_scenarios.errors import InputError
from safety_scenarios.formats.document.noun_file import read_noun
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
    file, document = read_noun(path, RobotFile, 'model, base and joints')
    return ReadRobot(file, path, document)
