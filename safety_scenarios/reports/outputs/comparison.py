# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Campaigns over what was varied in them."""

from collections.abc import Mapping, Sequence
from typing import Any

from safety_scenarios.campaign.statistics.degradation import degradations, is_number, Varying
from safety_scenarios.reports.page.source import Source
from safety_scenarios.reports.trial_view.comparison import varied

_UNTOLD = ('seed', 'trials', 'warmup', 'domain_id', 'connect_timeout_s', 'hil',
           'server', 'judge', 'selection', 'sequential')
"""Numbers among the settings that nobody expects a controller to depend on."""


def over_what_varied(sources: Sequence[Source],
                     varying: Sequence[Varying] | None = None) -> Sequence[Mapping[str, Any]]:
    """
    Return trials over what was drawn for each, and over what the campaigns differ in.

    Nothing of folders that are not as their campaigns left them: a plot would look like evidence.

    :param varying: the campaigns with the numbers that count; None: all in which they differ
    """
    if any(source.trust.flaws for source in sources):
        return ()
    if varying is not None:
        return varied(list(degradations(varying)))
    names = [source.name for source in sources]
    names = [name if names.count(name) == 1 else f'{name} ({number})'
             for number, name in enumerate(names, 1)]
    return varied(list(degradations([
        Varying(name, source.results, source.summary, {
            **_numbers(source.settings.get('settings')),
            **_numbers(source.summary.spec.parameters if source.summary.spec else None)})
        for name, source in zip(names, sources, strict=True)])))


def _numbers(data: Any, before: str = '') -> Mapping[str, float]:
    """Return the numbers among settings, by their names with dots."""
    found: dict[str, float] = {}
    for name, value in data.items() if isinstance(data, Mapping) else ():
        if not before and name in _UNTOLD:
            continue
        if isinstance(value, Mapping):
            found |= _numbers(value, f'{before}{name}.')
        elif is_number(value):
            found[f'{before}{name}'] = float(value)
    return found
