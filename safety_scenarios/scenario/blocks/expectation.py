# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a domain expects of a controller."""

from typing import Literal

Expects = Literal['reaction', 'restraint']


def expected_in(domain: str) -> Expects:
    """Return which is right in a domain: to react to the hazard, or not to be disturbed."""
    return 'restraint' if domain.endswith('_defer') else 'reaction'
