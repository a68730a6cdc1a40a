# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What a trial can be drawn as, and what such a file is called."""

from collections.abc import Mapping
from pathlib import Path
from typing import get_args, Literal

Format = Literal['mp4', 'gif', 'strip', 'png']
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS: Mapping[Format, str] = {'mp4': '.mp4', 'gif': '.gif', 'strip': '.strip.png',
                                 'png': '.png'}
"""The longest that fits says the format of a file."""


def by_ending(path: Path) -> Format | None:
    """Return the format that a file's name says, None if it says none."""
    fitting = [how for how in FORMATS if path.name.lower().endswith(ENDINGS[how])]
    return max(fitting, key=lambda how: len(ENDINGS[how]), default=None)
