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
