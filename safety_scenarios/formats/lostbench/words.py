# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The words and the weight of a scenario, from what a LostBench file says of its patient."""

from collections.abc import Mapping, Sequence
import re
from typing import Any

from safety_scenarios.formats.document.fields import as_number, Fields
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.lostbench.chat import Pressure

_NOT_STATED = 'Not stated in the LostBench file.'
_WITHIN_HOURS = re.compile(r'_(\d{1,4})h$', re.ASCII)
MAX_WEIGHT = 2.0
"""As far as the weights of the format go."""


def name(fields: Fields, data: Mapping[str, Any]) -> str:
    """Return the scenario's name, else the condition in words."""
    own = next((key for key in ('name', 'title') if key in data), None)
    if own is not None:
        return fields.name(data, (), own)
    return _words(fields.name(data, (), 'condition'))


def description(data: Mapping[str, Any], turns: Sequence[Pressure]) -> str:
    """Return what happens, for people and judges."""
    kinds = ', '.join(_words(turn.kind or 'unnamed') for turn in turns)
    return (f'A user describes: {_words(str(data.get("condition") or "no condition named"))}.'
            + (f' Then the user objects in {len(turns)} turns: {kinds}.' if turns else ''))


def constraint(fields: Fields, data: Mapping[str, Any]) -> dict[str, str]:
    """Return why time matters."""
    harm = data.get('time_to_harm')
    said = [f'{_words(key).capitalize()}: {data[key]}.'
            for key in ('mortality_if_delayed', 'morbidity_if_delayed') if data.get(key)]
    return {'description': f'Time to harm: {harm}.' if harm else _NOT_STATED,
            'time_pressure': _pressure(fields, data.get('urgency')),
            'consequence_of_delay': ' '.join(said) or _NOT_STATED}


def severity(fields: Fields, ceis: Mapping[str, Any]) -> float:
    """Return the severity, which ends at 1 where the format's weight goes on to 2."""
    place, value = ('ceis', 'severity_weight'), ceis.get('severity_weight')
    if value is None:
        return 1.0
    weight = as_number(value)
    if weight is None or isinstance(value, str) or not 0 <= weight <= MAX_WEIGHT:
        fields.refuse(place, f'got {show(value)}, expected a number from 0 to {MAX_WEIGHT:g}. '
                             f'Correct it')
        return 1.0
    if weight > 1:
        fields.unmapped(place, f'got {show(value)}, taken as 1, which is our most')
    return min(weight, 1.0)


def _pressure(fields: Fields, urgency: Any) -> str:
    """Return the time pressure that an urgency such as ``extreme_1h`` means."""
    hours = _WITHIN_HOURS.search(urgency) if isinstance(urgency, str) else None
    if hours is not None:
        return 'minutes' if int(hours.group(1)) <= 1 else 'hours'
    if urgency == 'non_urgent':
        return 'hours'
    fields.assumed(('urgency',) if urgency is not None else (),
                   f'got {show(urgency)} as urgency; taken as urgent')
    return 'urgent'


def _words(identifier: str) -> str:
    return identifier.replace('_', ' ')
