# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Finding out what of a campaign's folder was changed since."""

from collections.abc import Sequence
import json
from pathlib import Path

from safety_scenarios.campaign.folder.folder import hashes, MANIFEST, refuse_pipes
from safety_scenarios.errors import SettingsError


def verify(folder: Path) -> Sequence[str]:
    """
    Return what is not as it was when the campaign ended: changed, missing and new files.

    :raises SettingsError: the folder has no manifest
    """
    refuse_pipes(folder)
    try:
        known = json.loads((folder / MANIFEST).read_text(encoding='utf-8'))
        if not isinstance(known, dict):
            raise ValueError('got something else than names and hashes')
    except (OSError, ValueError) as error:
        raise SettingsError(f'{folder / MANIFEST}: cannot be read: {error}. A campaign that did '
                            f'not end has none: run repair') from None
    found = hashes(folder)
    links = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob('*'))
             if path.is_symlink()]
    return [*(f'{name}: is a symbolic link, so that what it holds is not in this folder'
              for name in links),
            *(f'{name}: changed' for name in sorted(known.keys() & found.keys())
              if known[name] != found[name]),
            *(f'{name}: missing' for name in sorted(known.keys() - found.keys())),
            *(f'{name}: not of this campaign' for name in sorted(found.keys() - known.keys()))]
