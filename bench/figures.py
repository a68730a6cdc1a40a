# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is measured: figures with their targets, their file and their table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import math
from typing import Any

from rich.table import Table
from safety_scenarios.campaign.statistics.quantiles import quantile
from safety_scenarios.scenario.verdict import Estimate

QUANTILES = {'p50': 0.5, 'p99': 0.99}


@dataclass(frozen=True)
class Figure:
    """One number; without a target it is there to explain the others."""

    name: str
    value: float | None
    unit: str
    n: int
    """Observations behind it."""
    method: str
    low: float | None = None
    """Lower end of its 95 % interval, None where none is claimed."""
    high: float | None = None
    at_most: float | None = None
    at_least: float | None = None

    @property
    def target(self) -> str | None:
        """Return the limit in words."""
        if self.at_most is not None:
            return f'<= {self.at_most:g}'
        return None if self.at_least is None else f'>= {self.at_least:g}'

    @property
    def met(self) -> bool | None:
        """Whether the target is met; what could not be measured does not meet it."""
        if self.target is None:
            return None
        return self.value is not None and \
            (self.at_most is None or self.value <= self.at_most) and \
            (self.at_least is None or self.value >= self.at_least)

    def as_json(self) -> dict[str, Any]:
        """Return what stands in the file."""
        return {'name': self.name, 'value': self.value, 'unit': self.unit, 'n': self.n,
                'low': self.low, 'high': self.high, 'target': self.target, 'met': self.met,
                'method': self.method}


def spread(name: str, values: Sequence[float | None], unit: str, method: str,
           at_most: tuple[float | None, float | None] = (None, None)) -> list[Figure]:
    """
    Return the median and the 99th percentile; without intervals: values in a row are alike.

    :param values: None for what never came, which counts as later than every number
    :param at_most: the targets of the two
    """
    found = []
    for (label, share), limit in zip(QUANTILES.items(), at_most, strict=True):
        estimate: Estimate = quantile(values, share, unit)
        found.append(Figure(f'{name}, {label}', estimate.value, unit, estimate.n,
                            method, at_most=limit))
    return found


def ratios(name: str, values: Sequence[float | None], base: Sequence[float | None], method: str,
           at_most: tuple[float | None, float | None] = (None, None)) -> list[Figure]:
    """Return medians and 99th percentiles of values in those of ``base``."""
    found = []
    for (label, share), limit in zip(QUANTILES.items(), at_most, strict=True):
        above, below = (quantile(side, share, '1').value for side in (values, base))
        value = None if above is None or not below else above / below
        found.append(Figure(f'{name}, {label}', value, '1', min(len(values), len(base)), method,
                            at_most=limit))
    return found


def table(title: str, figures: Iterable[Figure]) -> Table:
    """Return one section for people to read."""
    rows = Table(title=title, title_justify='left', title_style='bold')
    rows.add_column('figure', min_width=56)
    for heading in ('value', 'unit', 'n', 'target'):
        rows.add_column(heading, justify='left' if heading == 'unit' else 'right')
    rows.add_column('')
    for figure in figures:
        met = {None: '', True: '[green]met[/]', False: '[bold red]missed[/]'}[figure.met]
        rows.add_row(figure.name, number(figure.value), figure.unit, str(figure.n),
                     figure.target or '', met)
    return rows


def number(value: float | None) -> str:
    """Return three digits that count, or a dash."""
    if value is None:
        return '-'
    if value == 0 or abs(value) >= 100:
        return f'{value:.0f}'
    return f'{value:.{2 - math.floor(math.log10(abs(value)))}f}'
