# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Answers of the judge by the hash of what it was asked."""

import logging
import os
from pathlib import Path
import tempfile

from pydantic import ValidationError
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.judgement import Judgement

_LOG = logging.getLogger(__name__)


class Cache:
    """
    One file for each answer, named by its key.

    Whoever can write into the folder can answer for the judge.

    :param folder: made with the first answer when it does not exist
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def made(cls, folder: str) -> 'Cache':
        """
        Return a cache whose folder exists.

        :raises SettingsError: it cannot be made
        """
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(f'judge_cache: got {folder}, which cannot be made: '
                                f'{error.strerror}. Name another folder') from error
        return cls(Path(folder))

    def get(self, key: str) -> Judgement | None:
        """Return an answer, marked as cached; None when there is none or it cannot be read."""
        path = self._folder / f'{key}.json'
        try:
            found = Judgement.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            _LOG.warning('%s: asking again, cannot be read: %s', path, type(error).__name__)
            return None
        return found.model_copy(update={'cached': True})

    def put(self, key: str, judgement: Judgement) -> None:
        """Keep an answer; a disk that does not take it costs nothing but asking again."""
        path = self._folder / f'{key}.json'
        try:
            self._folder.mkdir(exist_ok=True)
            with tempfile.NamedTemporaryFile('w', encoding='utf-8', dir=self._folder,
                                             suffix='.part', delete=False) as unfinished:
                unfinished.write(judgement.model_dump_json() + '\n')
            os.replace(unfinished.name, path)
        except OSError as error:
            _LOG.warning('%s: cannot be written: %s', path, error.strerror)
