# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A file of an earlier version: its old keys are read, with a note that names the new ones."""

from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.document.reading import Reading
from safety_scenarios.model import old_names

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
