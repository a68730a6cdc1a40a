# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The names of the files that a scenario or a trial leaves."""

import hashlib
import re


def file_name(identifier: str) -> str:
    """Return an identifier as a file name; where characters had to go, a hash tells it apart."""
    safe = re.sub(r'[^A-Za-z0-9_-]', '_', identifier)[:80]
    return safe if safe == identifier else \
        f'{safe}-{hashlib.sha256(identifier.encode()).hexdigest()[:8]}'


def log_name(scenario_id: str, participant: str = '') -> str:
    """
    Return the log of a scenario's controller, relative to the campaign's folder.

    :param participant: another agent whose controller it is
    """
    return f'logs/{file_name(scenario_id)}{"." + participant if participant else ""}.log'
