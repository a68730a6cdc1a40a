# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where the time of the slowest reactions went, on the console."""

from collections.abc import Iterator

from rich import box
from rich.markup import escape
from rich.table import Table
from safety_scenarios.scenario.reaction_parts import AFTER, LABELS, Part, ReactionParts
from safety_scenarios.scenario.result import Latency, TrialResult


class SlowestReactions:
    """Keeps the slowest trial of each scenario, of those whose reaction has known parts."""

    def __init__(self) -> None:
        self._slowest: dict[str, tuple[int, TrialResult, ReactionParts]] = {}

    def add(self, result: TrialResult) -> None:
        """Take note of a trial; a warm-up is in no number."""
        latency = result.latency
        if result.warmup or latency is None or latency.parts is None \
                or latency.judged_ns is None:
            return
        known = self._slowest.get(result.scenario_id)
        if known is None or latency.judged_ns > known[0]:
            self._slowest[result.scenario_id] = latency.judged_ns, result, latency.parts

    def lines(self) -> Iterator[str]:
        """Yield where the time of the slowest reaction of all went, and what cannot be true."""
        if not self._slowest:
            return
        latency_ns, result, parts = max(self._slowest.values(), key=lambda one: one[0])
        yield (f'Where the time went in {result.scenario_name} (trial {result.index + 1}): '
               f'{parts.sentence(latency_ns)}.')
        odd = sorted({text for _, _, one in self._slowest.values() for text in one.implausible})
        if odd:
            yield f'Stamps of the controller that cannot be true, ignored: {", ".join(odd)}.'

    def table(self) -> Table | None:
        """Return a row for the slowest trial of each scenario; None where no parts are known."""
        rows = [(result, result.latency, parts) for _, result, parts in self._slowest.values()]
        if not rows:
            return None
        names = [name for name in LABELS if any(
            getattr(parts, name) is not None for _, _, parts in rows)]
        table = Table(title='Where the time went: ms (and way) of the slowest trial',
                      title_justify='left', title_style='bold', box=box.SIMPLE_HEAD,
                      pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column('scenario')
        table.add_column('latency', justify='right')
        for name in names:
            table.add_column(LABELS[name] + (' *' if name in AFTER else ''), justify='right')
        for result, latency, parts in rows:
            table.add_row(escape(result.scenario_name), _latency(latency), *(
                _cell(getattr(parts, name), parts.unit) for name in names))
        table.caption = ('?: unknown, because the controller did not stamp it. * after the '
                         'command, and no part of the latency')
        table.caption_justify = 'left'
        return table


def _latency(latency: Latency | None) -> str:
    return '' if latency is None or latency.judged_ns is None \
        else f'{latency.judged_ns / 1e6:.0f}'


def _cell(part: Part | None, unit: str | None) -> str:
    if part is None:
        return '?'
    return f'{part.ns / 1e6:.0f}' + ('' if part.way is None else f' ({part.way:.2f} {unit})')
