# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Files beside scenarios: prompts for language models that drive, hazard registers, robots."""

import os
from pathlib import Path

from safety_scenarios.errors import did_you_mean, InputError
from safety_scenarios.formats.document.noun_file import read_noun
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.document.positions import Path as Place
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.scenario.driving_prompt import DrivingPrompt
from safety_scenarios.scenario.hazard_register import HazardRegister
from safety_scenarios.scenario.world.robot_file import RobotFile

DEFAULT = 'language_model'
"""Name of the prompt that ships."""
_SUFFIXES = ('.yaml', '.yml')


def load_prompt(name: str) -> DrivingPrompt:
    """
    Read a prompt.

    :param name: its path, or the name of a shipped one
    :raises InputError: there is no such prompt, or every problem in it with line and column
    """
    found, _ = read_noun(_path(name), DrivingPrompt, 'system and actions', _named)
    return found


def _path(name: str) -> Path:
    if name.lower().endswith(_SUFFIXES) or os.sep in name or os.path.isfile(name):
        return Path(name)
    folder = share_folder() / 'config' / 'prompts'
    path = folder / f'{name}.yaml'
    if path.is_file():
        return path
    known = sorted(path.stem for path in folder.glob('*.yaml'))
    raise InputError(f'controller.prompt: got {name!r}, expected the path of a YAML file, or one '
                     f'of {", ".join(known)}.{did_you_mean(name, known)}')


def _named(place: Place, sentence: str) -> tuple[Place, str]:
    """Return the place and the sentence, in our own words for the name of an action."""
    if place and place[-1] == '[key]':
        return place[:-1], (f'got the name {place[-2]!r}, expected at most 64 letters, digits, '
                            f'underscores and hyphens, and a letter first')
    return place, sentence


def load_register(path: Path | None = None) -> HazardRegister:
    """
    Return a hazard register.

    :param path: of a file; None: the one that comes with the package
    :raises InputError: it cannot be read, or every problem in it with its line and field
    """
    found, _ = read_noun(path or share_folder() / 'config' / 'hazards.yaml', HazardRegister,
                         'name and hazards')
    return found


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
