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

"""What our own traces say in the messages of their ARE events (portable profile)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import json
from typing import Any

from safety_scenarios.formats._are_nouns import AreEvent

_TASK_KEYS = {'scenario', 'name', 'trial', 'messages'}
LOST = ('domain, severity, constraint, invariants, rubric and ros block of the scenario, and its '
        'target and acceptable budget')


@dataclass(frozen=True)
class OwnTrace:
    """A scenario as our own trace carries it."""

    name: str
    messages: tuple[Any, ...]
    hazard: tuple[str, ...]
    """Kinds of the stimuli that the hazard consisted of; ``prompt`` is the chat itself."""

    @property
    def shown_elsewhere(self) -> tuple[str, ...]:
        """What was shown by other means than the chat, and is not in the file."""
        return tuple(kind for kind in self.hazard if kind != 'prompt')


def own_trace(told: Sequence[AreEvent]) -> OwnTrace | None:
    """Return what an own trace carries, None for a file of anybody else."""
    said = [_json(event) for event in told]
    if len(said) != 2 or _TASK_KEYS - set(said[0]) or set(said[1]) != {'hazard'}:
        return None
    name, messages, hazard = said[0]['name'], said[0]['messages'], said[1]['hazard']
    if not isinstance(name, str) or not isinstance(messages, list) \
            or not isinstance(hazard, list) or not all(isinstance(kind, str) for kind in hazard):
        return None
    return OwnTrace(name, tuple(messages), tuple(hazard))


def expected_action(event: AreEvent) -> str | None:
    """Return what an own trace expects in an event's message."""
    found = _json(event).get('expected')
    return found if isinstance(found, str) and found.strip() else None


def _json(event: AreEvent) -> Mapping[str, Any]:
    content = event.action.content if event.action else None
    try:
        found = json.loads(content.value) if content and content.value else None
        json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair is no text
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
