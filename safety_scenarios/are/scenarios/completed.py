# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The ``completed_events`` of an ARE file: what happened in a run, as ARE's importer takes it."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from safety_scenarios.are.scenarios.events import Apps, read_action
from safety_scenarios.are.scenarios.nouns import Completed
from safety_scenarios.formats.document.fields import as_number, Fields
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Path

TYPES = ('AGENT', 'ENV', 'USER', 'CONDITION', 'VALIDATION', 'STOP')
_LATEST_S = 1e11
"""No time of a run: more than three thousand years after the epoch."""
_KEYS = ('class_name', 'event_type', 'event_time', 'event_id', 'dependencies',
         'event_relative_time', 'action', 'metadata')
_METADATA = ('return_value', 'return_value_type', 'exception', 'exception_stack_trace')


def completed_events(fields: Fields, data: Mapping[str, Any],
                     apps: Apps) -> Iterator[Completed]:
    """
    Yield what happened, in the order of the file; tells what ARE refuses of it.

    :param apps: the names of the apps that the file has, each with its class
    """
    for place, block in fields.mappings(data, (), 'completed_events'):
        found = _completed(fields, place, block, apps)
        if found is not None:
            yield found


def _completed(fields: Fields, place: Path, block: Mapping[str, Any],
               apps: Apps) -> Completed | None:
    fields.unknown_keys(block, place, _KEYS)
    lacks = [key for key in _KEYS if key not in block]
    if lacks:
        fields.deviates(place, f'got no {", ".join(lacks)}; ARE refuses that. Add the keys')
    kind, event_id = block.get('event_type'), block.get('event_id')
    if isinstance(kind, str) and kind not in TYPES:
        fields.deviates((*place, 'event_type'), f'got {show(kind)}, expected one of '
                        f'{", ".join(TYPES)}; ARE refuses it. Correct it')
    metadata = fields.mapping(block, place, 'metadata')
    if 'metadata' in block and block['metadata'] is None:
        fields.deviates((*place, 'metadata'), 'got nothing, expected a mapping, which may be '
                                              'empty; ARE refuses it. Correct it')
    fields.unknown_keys(metadata, (*place, 'metadata'), _METADATA)
    action = read_action(fields, place, block, apps)
    seconds = as_number(block.get('event_time'))
    if not isinstance(event_id, str) or not isinstance(kind, str) or seconds is None \
            or abs(seconds) > _LATEST_S:
        return None
    return Completed(
        event_id=event_id, event_type=kind.upper(),
        at_ns=round(Decimal(repr(seconds)) * 10**9), action=action,
        returned=_text(metadata.get('return_value')), exception=_text(metadata.get('exception')))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) or value is None else str(value)
