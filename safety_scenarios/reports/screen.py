# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The console that all tables and lines go to: no terminal obeys what somebody else wrote."""

from typing import Any

from rich.console import Console
from rich.text import Text
from safety_scenarios.errors import seen


class Screen(Console):
    """A console on which control characters in a text, as of a controller's answer, are shown."""

    def render_str(self, text: str, **settings: Any) -> Text:
        """Turn a text into what is printed: every string comes through here, a cell's too."""
        return super().render_str(seen(text), **settings)
