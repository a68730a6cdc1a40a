# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""With how many examples a property is tried: a tenth by ``make``, all by plain pytest."""

from collections.abc import Sequence
import os
from typing import TypeVar

Case = TypeVar('Case')
FEW = os.environ.get('EXAMPLES') == 'few'
_SHARE = 10
_LEAST = 10


def some(cases: Sequence[Case]) -> Sequence[Case]:
    """Return the cases of a test, or every twelfth of them where few examples are wanted."""
    return cases[::12] if FEW else cases


def up_to(most: int) -> int:
    """Return ``most``, or a tenth of them where the environment says ``EXAMPLES=few``."""
    return max(_LEAST, most // _SHARE) if FEW else most
