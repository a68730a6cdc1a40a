# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ``evaluate --set`` changes before a trial is judged again."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from safety_scenarios.errors import did_you_mean, SettingsError
from safety_scenarios.scenario.message import parse_path
from safety_scenarios.scenario.noun import frozen
from safety_scenarios.scenario.settings import JudgedBy
import yaml

Change = tuple[str | None, str, Any]
"""(id of the scenario or None for all, key, value)."""


def parsed(text: str) -> Change:
    """
    Return what one ``--set`` asks for.

    :raises SettingsError: it asks for nothing
    """
    key, equals, value = text.partition('=')
    scenario, colon, path = key.rpartition(':')
    if not equals or not path.strip():
        raise SettingsError(f'--set: got {text!r}, expected [SCENARIO:]KEY=VALUE, such as '
                            f'latency_budget.critical_ms=300')
    try:
        parse_path(path.strip())
        parsed = yaml.safe_load(value)
    except (ValueError, yaml.YAMLError) as error:
        raise SettingsError(f'--set {path}: {str(error)[:300]}') from None
    return (scenario if colon else None), path.strip(), frozen(parsed)


def named(change: Change) -> str:
    """Return what a change is for, as it was written."""
    scenario, key, _ = change
    return key if scenario is None else f'{scenario}:{key}'


def refuse_unknown(changes: Sequence[Change], scenarios: Collection[str]) -> None:
    """
    Refuse a change for a scenario that is not there, or of what no scenario says.

    :raises SettingsError: the first such change
    """
    for change in changes:
        scenario, key, _ = change
        if scenario is None:
            continue
        if scenario not in scenarios:
            raise SettingsError(f'--set {named(change)}: got the id {scenario!r}, expected one of '
                                f'this campaign: {ids(scenarios)}.'
                                f'{did_you_mean(scenario, scenarios)} Correct the id')
        if key in OF_THE_CAMPAIGN:
            raise SettingsError(f'--set {named(change)}: got an id before {key}, which is of the '
                                f'whole campaign, expected none. Write --set {key}=VALUE')


def ids(scenarios: Collection[str], most: int = 10) -> str:
    """Return ids of scenarios in words, not more of them than anybody reads."""
    found = sorted(scenarios)
    more = f' and {len(found) - most} more' if len(found) > most else ''
    return ', '.join(found[:most]) + more or 'none'


def set_in(scenario: dict[str, Any], key: str, value: Any) -> None:
    """
    Write one value into a scenario's plain data; of one with agents its rules are judged.

    :raises SettingsError: it has no such key
    """
    if scenario.get('agents') is not None and key.startswith('latency_budget'):
        raise SettingsError(f'--set {key}: scenario {scenario.get("id")} has agents, so that its '
                            f'budgets are those of its rules. Set '
                            f'agents.rules[0].expect.budget.critical_ms or whichever is meant')
    try:
        scenario.update(_with(scenario, parse_path(key), value))
    except (LookupError, TypeError, ValueError):
        raise SettingsError(f'--set {key}: scenario {scenario.get("id")} has no such key. '
                            f'Write it as in the file') from None


def _with(target: Any, steps: Sequence[str | int], value: Any) -> Any:
    """Return a copy with one value changed; a key that is not there is a LookupError."""
    if not steps:
        return float(value) if isinstance(target, float) and type(value) is int else value
    step = steps[0]
    inner = _with(target[step], steps[1:], value)
    if isinstance(target, Mapping):
        return {**target, step: inner}
    items = list(target)
    items[int(step)] = inner
    return tuple(items)


OF_THE_CAMPAIGN = {'gate': ('target', 'acceptable', 'critical'), 'words': ('judge', 'patterns'),
                   'subject': ('model', 'system')}
"""What may be changed that no scenario says, and the values that it may have."""


def judged_by(by: JudgedBy, changes: Sequence[Change]) -> JudgedBy:
    """
    Return by what the changes ask to judge, else by what was judged.

    :raises SettingsError: there is no such value
    """
    for _, key, value in changes:
        if key in OF_THE_CAMPAIGN:
            *most, last = OF_THE_CAMPAIGN[key]
            if value not in (*most, last):
                raise SettingsError(f'--set {key}: got {value!r}, expected {", ".join(most)} or '
                                    f'{last}')
            by = by.model_copy(update={key: value})
    return by
