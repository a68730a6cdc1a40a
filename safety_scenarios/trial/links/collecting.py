# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Keep the search for garbage out of trials in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
import gc

_OBJECTS = 20_000
"""Python searches when it has so many more than before, by itself 700: a trial makes 8 000."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """
    Let Python search for garbage seldom, and only among what comes from now on.

    A record is no garbage, nor is what is loaded, and to look through both again and again took a
    twentieth of each trial. It goes on searching: a controller may leave circles of objects. Who
    searches as seldom already, as within another session, or never, is left alone, and what
    others have frozen stays so.
    """
    before = gc.get_threshold()
    if not 0 < before[0] < _OBJECTS:
        yield
        return
    is_theirs = gc.get_freeze_count() > 0
    gc.set_threshold(_OBJECTS, *before[1:])
    if not is_theirs:
        gc.freeze()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not is_theirs:
            gc.unfreeze()
