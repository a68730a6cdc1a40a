# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A file of an earlier version: its old keys are read, with a note that names the new ones."""

from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.document.reading import Reading
from safety_scenarios.scenario import old_names

OLD_NAME = 'N001'


def rename_old_keys(document: Document, names: old_names.Names, reading: Reading) -> None:
    """
    Give the document today's names; places of problems stay those in the user's file.

    :param names: of this kind of file
    :param reading: takes the notes, and the problem of a key that is there under both names
    """
    for path in old_names.used(document.data, names):
        old, new = path[-1], names[path]
        if old_names.used(document.data, {(*path[:-1], new): ''}):
            reading.problems.append(document.problem(
                path, f'got it beside {new}, which is the new name of the same key, expected one '
                      f'of them. Remove {old}', at_key=True))
            continue
        reading.notes.append(document.problem(
            path, f'the key {old} is now called {new} and means the same. Rename it when you '
                  f'edit the file', at_key=True, code=OLD_NAME))
        document.rename(path, new)
