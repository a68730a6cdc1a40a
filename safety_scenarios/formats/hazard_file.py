# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Hazard registers: the one that comes with the package, or a file of the user's."""

from pathlib import Path

from safety_scenarios.formats.document.noun_file import read_noun
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.scenario.hazard_register import HazardRegister


def load_register(path: Path | None = None) -> HazardRegister:
    """
    Return a hazard register.

    :param path: of a file; None: the one that comes with the package
    :raises InputError: it cannot be read, or every problem in it with its line and field
    """
    found, _ = read_noun(path or share_folder() / 'config' / 'hazards.yaml', HazardRegister,
                         'name and hazards')
    return found
