# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where the time of the slowest reactions went, on the console."""

from collections import Counter
from collections.abc import Iterator

from rich.markup import escape
from rich.table import Table
from safety_scenarios.errors import counted
from safety_scenarios.scenario.result import FALLBACK, TrialResult
from safety_scenarios.scenario.verdict import AFTER, LABELS, Part, ReactionParts


class SlowestReactions:
    """
    Keeps the slowest trial of each scenario, of those whose reaction has known parts.

    It counts the commands of all trials that nobody decided on, too.
    """

    def __init__(self) -> None:
        self._fallbacks = Counter[str]()
        self._trials = 0
        self._slowest: dict[str, tuple[int, TrialResult, ReactionParts]] = {}

    def add(self, result: TrialResult) -> None:
        """Take note of a trial; a warm-up is in no number."""
        latency = result.latency
        if not result.warmup:
            found = {name.removeprefix(FALLBACK): count for name, count in result.counts.items()
                     if name.startswith(FALLBACK)}
            self._fallbacks.update(found)
            self._trials += bool(found)
        if result.warmup or latency is None or latency.parts is None \
                or latency.judged_ns is None:
            return
        known = self._slowest.get(result.scenario_id)
        if known is None or latency.judged_ns > known[0]:
            self._slowest[result.scenario_id] = latency.judged_ns, result, latency.parts

    def lines(self) -> Iterator[str]:
        """Yield where the time of the slowest reaction of all went, and what cannot be true."""
        if self._fallbacks:
            yield (f'Fallback commands, without a decision, in {counted(self._trials, "trial")}: '
                   + ', '.join(f'{why} ({count})' for why, count in self._fallbacks.most_common())
                   + '.')
        if not self._slowest:
            return
        latency_ns, result, parts = max(self._slowest.values(), key=lambda one: one[0])
        yield (f'Where the time went in {result.scenario_name} (trial {result.index + 1}): '
               f'{parts.sentence(latency_ns)}.')
        odd = sorted({text for _, _, one in self._slowest.values() for text in one.implausible})
        if odd:
            yield f'Stamps of the controller that cannot be true, ignored: {", ".join(odd)}.'

    def table(self) -> Table | None:
        """Return the parts of the slowest trial of each scenario; None where none are known."""
        if not self._slowest:
            return None
        table = Table(title='Where the time went, of the slowest trial of each scenario',
                      title_justify='left', title_style='bold', box=None, pad_edge=False,
                      padding=(0, 2, 0, 0))
        for name in ('scenario', 'part', 'ms', 'way'):
            table.add_column(name, justify='right' if name in ('ms', 'way') else 'left')
        for latency_ns, result, parts in self._slowest.values():
            head = escape(result.scenario_name)
            for cells in _rows(parts, latency_ns):
                table.add_row(head, *cells)
                head = ''
        return table


def _rows(parts: ReactionParts, latency_ns: int) -> Iterator[tuple[str, str, str]]:
    """Yield the parts that take time, and in between what is no part of them."""
    for name, part in parts.named(after=False):
        if part is not None and part.ns:
            yield parts.label(name), *_cells(part, parts.unit)
    unknown_ns = latency_ns - parts.known_ns
    if unknown_ns:
        yield 'unknown, not stamped', f'{unknown_ns / 1e6:.1f}', ''
    yield 'latency', f'{latency_ns / 1e6:.1f}', ''
    if parts.fallback:
        yield f'a fallback command: {escape(parts.fallback)}', '', ''
    for name in AFTER:
        part = getattr(parts, name)
        if part is not None:
            yield f'{LABELS[name]}, after the command', *_cells(part, parts.unit)


def _cells(part: Part, unit: str | None) -> tuple[str, str]:
    return f'{part.ns / 1e6:.1f}', '' if part.way is None else f'{part.way:.3f} {unit}'
