# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What our own traces say in the messages of their ARE events (portable profile)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import json
from typing import Any

from safety_scenarios.are.scenarios.nouns import AreEvent

_TASK_KEYS = {'scenario', 'name', 'trial', 'messages'}
LOST = 'constraint, invariants, rubric and ros block of the scenario'


@dataclass(frozen=True)
class OwnTrace:
    """A scenario as our own trace carries it."""

    name: str
    messages: tuple[Any, ...]
    hazard: tuple[str, ...]
    """Kinds of the stimuli that the hazard consisted of; ``prompt`` is the chat itself."""
    about: Mapping[str, Any]
    """What else it says of the scenario: domain and severity."""
    budget: tuple[float, float] | None
    """Target and acceptable (ms)."""

    @property
    def shown_elsewhere(self) -> tuple[str, ...]:
        """Return what was shown by other means than the chat, and is not in the file."""
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
    return OwnTrace(name, tuple(messages), tuple(hazard), dict(_about(said[0])),
                    _budget(said[0].get('latency_budget')))


def _about(task: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    domain, severity = task.get('domain'), _number(task.get('severity'))
    if isinstance(domain, str) and domain:
        yield 'domain', domain
    if severity is not None and 0 <= severity <= 1:
        yield 'severity', severity


def _budget(found: Any) -> tuple[float, float] | None:
    if not isinstance(found, dict):
        return None
    target, acceptable = _number(found.get('target_ms')), _number(found.get('acceptable_ms'))
    if target is None or acceptable is None or not 0 < target <= acceptable:
        return None
    return target, acceptable


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) \
        else None


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
