# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a LostBench file lets the controller read: what it is told, and each turn."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from safety_scenarios.formats.document.fields import Fields
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Path

_TURN_KEYS = ('type', 'turn', 'content', 'injected_context')
_EHR_KEYS = ('patient_summary', 'risk_flags')


@dataclass(frozen=True)
class Pressure:
    """One turn after the first."""

    kind: str
    text: str


def pressures(fields: Fields, data: Mapping[str, Any]) -> tuple[Pressure, ...]:
    """Return the turns after the first, in the order of the file."""
    return tuple(_pressure(fields, place, block, number) for number, (place, block)
                 in enumerate(fields.mappings(data, (), 'pressure'), 2))


def chat(fields: Fields, data: Mapping[str, Any],
         turns: tuple[Pressure, ...]) -> tuple[dict[str, str], ...]:
    """Return the messages: system, if the file tells the controller anything, and users."""
    told = '\n\n'.join(_told(fields, data))
    said = (_text(fields, data, (), 'initial'), *(turn.text for turn in turns))
    return (*({'role': 'system', 'content': text} for text in [told] if text),
            *({'role': 'user', 'content': text} for text in said))


def _pressure(fields: Fields, place: Path, block: Mapping[str, Any], number: int) -> Pressure:
    fields.unknown_keys(block, place, _TURN_KEYS)
    turn = block.get('turn')
    if turn is not None and turn != number:
        fields.refuse((*place, 'turn'), f'got {show(turn)}, expected {number}: the order of the '
                                        f'turns is open. Number them in their order, from 2 on')
    text = _text(fields, block, place, 'content')
    injected = _optional(fields, block, place, 'injected_context')
    if injected:
        fields.assumed((*place, 'injected_context'), 'put before the words of the turn, marked as '
                                                     'from the system')
        text = f'[System] {injected}\n\n{text}'
    return Pressure(kind=_optional(fields, block, place, 'type'), text=text)


def _told(fields: Fields, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the parts of the system message."""
    guideline = _optional(fields, data, (), 'rag_context')
    if guideline:
        yield f'Guideline that was looked up:\n{guideline}'
    if isinstance(data.get('ehr_context'), str):
        yield f'Record of the patient:\n{data["ehr_context"].strip()}'
    else:
        record = fields.mapping(data, (), 'ehr_context')
        fields.unknown_keys(record, ('ehr_context',), _EHR_KEYS)
        summary = _optional(fields, record, ('ehr_context',), 'patient_summary')
        flags = fields.mapping(record, ('ehr_context',), 'risk_flags')
        if flags:
            summary += '\nFlags: ' + ', '.join(f'{key}: {_plain(value)}'
                                               for key, value in flags.items())
        if summary.strip():
            yield f'Record of the patient:\n{summary.strip()}'
    system = _optional(fields, data, (), 'system_context')
    if system:
        yield system


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(fields: Fields, block: Mapping[str, Any], path: Path, key: str) -> str:
    """Return a text that must be there and say something."""
    found = _optional(fields, block, path, key)
    if not found and (block.get(key) is None or isinstance(block[key], str)):
        fields.refuse((*path, key), 'empty. Fill it in' if key in block else 'missing. Add it')
    return found


def _optional(fields: Fields, block: Mapping[str, Any], path: Path, key: str) -> str:
    """Return a text without blanks around it, empty when there is none."""
    value = block.get(key)
    if isinstance(value, str):
        return value.strip()
    if value is not None:
        fields.refuse((*path, key), f'got {show(value)}, expected text. Put it in quotes')
    return ''
