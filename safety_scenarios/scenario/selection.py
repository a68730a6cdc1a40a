# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which scenarios of many are meant: by tag, domain, severity and id."""

from collections.abc import Iterable, Sequence
import re

from safety_scenarios.errors import counted, did_you_mean, SettingsError
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.scenario import Scenario

_NUMBER = r'\d+(?:\.\d+)?|\.\d+'
_SEVERITY = re.compile(rf'(?P<sign>>=|<=|>|<)?\s*(?P<low>{_NUMBER})'
                       rf'(?:\s*\.\.\s*(?P<high>{_NUMBER}))?')
_MOST_SHOWN = 60
"""Values that are listed."""


class Selection(Noun):
    """Values of one kind are alternatives; of several kinds a scenario must have one each."""

    tag: tuple[str, ...] = ()
    """Only scenarios with this tag; repeat it for alternatives."""
    domain: tuple[str, ...] = ()
    """Only scenarios of this domain, such as clinical_defer; repeat it for alternatives."""
    severity: tuple[str, ...] = ()
    """Only scenarios of this severity: 0.9, '>=0.9', '<0.5' or 0.3..0.6; repeat it for
    alternatives."""
    skip: tuple[str, ...] = ()
    """All but the scenarios with these ids."""

    def __bool__(self) -> bool:
        """Return whether anything is asked for."""
        return bool(self.tag or self.domain or self.severity or self.skip)

    def of(self, scenarios: Iterable[Scenario]) -> tuple[Scenario, ...]:
        """
        Return the scenarios that are meant, in their order.

        :raises SettingsError: none is, or a tag, domain or id is that of no scenario; the message
            lists the values that there are
        """
        known = tuple(scenarios)
        ranges = [severity_range(text) for text in self.severity]
        found = tuple(one for one in known if self._takes(one, ranges))
        ids = [one.id for one in known]
        for name in self.skip:
            if name not in ids:
                raise SettingsError(f'selection.skip: got {name!r}, which is no id of these '
                                    f'{counted(len(known), "scenario")}, expected one of '
                                    f'{", ".join(ids[:_MOST_SHOWN])}.{did_you_mean(name, ids)}')
        if self and not found:
            raise SettingsError(self._nothing(known))
        for name, there in (('tag', {tag for one in known for tag in one.tags}),
                            ('domain', {one.domain for one in known})):
            odd = next((text for text in getattr(self, name) if text not in there), None)
            if odd is not None:
                raise SettingsError(
                    f'--{name}: got {odd!r}, which none of {counted(len(known), "scenario")} has, '
                    f'so that some may be missing, expected one of '
                    f'{", ".join(sorted(there)[:_MOST_SHOWN])}.{did_you_mean(odd, there)}')
        return found

    def _takes(self, scenario: Scenario, ranges: Sequence['SeverityRange']) -> bool:
        return scenario.id not in self.skip \
            and (not self.tag or not set(self.tag).isdisjoint(scenario.tags)) \
            and (not self.domain or scenario.domain in self.domain) \
            and (not ranges or any(one.has(scenario.severity) for one in ranges))

    def _nothing(self, known: Sequence[Scenario]) -> str:
        """Return that nothing is selected, each value that no scenario has, and what there is."""
        there = {'tag': sorted({tag for one in known for tag in one.tags}),
                 'domain': sorted({one.domain for one in known}),
                 'severity': [f'{value:g}' for value in sorted({one.severity for one in known})]}
        parts = []
        for name in ('tag', 'domain', 'severity'):
            asked: tuple[str, ...] = getattr(self, name)
            if not asked:
                continue
            values = there[name]
            more = len(values) - _MOST_SHOWN
            hints = {did_you_mean(text, values) for text in asked if text not in values} \
                if name != 'severity' else set()
            parts.append(f'{name} {", ".join(map(repr, asked))}, where there is '
                         f'{", ".join(values[:_MOST_SHOWN]) or "none"}'
                         + (f' and {more} more' if more > 0 else '')
                         + ''.join(f' ({hint.strip()})' for hint in sorted(hints) if hint))
        if self.skip:
            parts.append(f'skip {", ".join(self.skip)}')
        return (f'--tag, --domain, --severity: got none of '
                f'{counted(len(known), "scenario")} by {"; and ".join(parts)}. Correct or remove '
                f'what matches nothing')


class SeverityRange(Noun):
    """Severities between two others, of which each may belong to it or not."""

    low: float
    high: float
    has_low: bool = True
    has_high: bool = True

    def has(self, severity: float) -> bool:
        """Return whether a severity is meant."""
        return (severity > self.low or (self.has_low and severity == self.low)) \
            and (severity < self.high or (self.has_high and severity == self.high))


def severity_range(text: str) -> SeverityRange:
    """
    Return what is meant by a number, a comparison or a range.

    :raises SettingsError: it is none of them
    """
    match = _SEVERITY.fullmatch(text.strip())
    try:
        if match is None or (match['sign'] and match['high']):
            raise ValueError
        low = float(match['low'])
        high = float(match['high']) if match['high'] else low
        if not 0 <= low <= high <= 1:
            raise ValueError
    except ValueError:
        raise SettingsError(f'--severity: got {text!r:.60}, expected a number from 0 to 1 such as '
                            f'0.9, a comparison such as >=0.9, or a range such as 0.3..0.6'
                            ) from None
    sign = match['sign']
    if sign is None:
        return SeverityRange(low=low, high=high)
    if sign.startswith('>'):
        return SeverityRange(low=low, high=1.0, has_low=sign == '>=')
    return SeverityRange(low=0.0, high=low, has_high=sign == '<=')
