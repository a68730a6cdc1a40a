# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Films and pictures of trials that lie beside a campaign's folder, as ``film`` names them."""

from collections.abc import Collection, Mapping
import os
from pathlib import Path
from urllib.parse import quote

from safety_scenarios.reports.film.formats import ENDINGS


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
