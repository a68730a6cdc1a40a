# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What a trial can be drawn as, what such a file is called, and where it lies."""

from collections.abc import Collection, Mapping
import os
from pathlib import Path
from typing import get_args, Literal
from urllib.parse import quote

Format = Literal['mp4', 'gif', 'strip', 'png']
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS: Mapping[Format, str] = {'mp4': '.mp4', 'gif': '.gif', 'strip': '.strip.png',
                                 'png': '.png'}
"""The longest that fits says the format of a file."""


def by_ending(path: Path) -> Format | None:
    """Return the format that a file's name says, None if it says none."""
    fitting = [how for how in FORMATS if path.name.lower().endswith(ENDINGS[how])]
    return max(fitting, key=lambda how: len(ENDINGS[how]), default=None)


def films_beside(folder: Path) -> Mapping[str, Path]:
    """
    Return trial id to its film, or else its picture.

    They are looked for in the folder that the campaign's is in, and in ``films`` there: in the
    campaign's own folder, whose manifest holds every file of it, is none.
    """
    found: dict[str, Path] = {}
    parent = folder.resolve().parent
    for place in (parent / 'films', parent):
        try:
            names = {path.name: path for path in place.iterdir() if path.is_file()}
        except OSError:
            continue
        for ending in reversed(list(ENDINGS.values())):
            found |= {name.removesuffix(ending): path for name, path in names.items()
                      if name.endswith(ending)}
    return found


def links_to_films(folder: Path, page: Path, trials: Collection[str]) -> Mapping[str, str]:
    """Return the id of each of these trials to its film, as a page links to it."""
    return {trial_id: quote(os.path.relpath(path, page.resolve().parent))
            for trial_id, path in films_beside(folder).items() if trial_id in trials}
