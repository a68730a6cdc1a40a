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
