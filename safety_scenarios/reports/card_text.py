# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Cards as text: the lines of one, the rows of a table, and what a badge says."""

from collections.abc import Iterator, Mapping, Sequence

from rich.markup import escape
from rich.table import Table
from safety_scenarios.scenario.rounding import ends
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.suites.card import Card, LevelFigures
from safety_scenarios.suites.protocol import Decision
from safety_scenarios.trial.summary import Rate

UNKNOWN = '-'


def rate_text(rate: Rate) -> str:
    """Return a count with its interval in percent; without trials a dash."""
    if not rate.of:
        return UNKNOWN
    return f'{rate.count}/{rate.of} {interval(rate.share, 100.0)} %'


def interval(estimate: Estimate, scale: float = 1.0) -> str:
    """Return the ends of an interval."""
    return f'[{ends(estimate.low, estimate.high, scale, (UNKNOWN, UNKNOWN))}]'


def estimate_text(estimate: Estimate, unit: str, scale: float = 1.0) -> str:
    """Return a number with interval, unit and n; without one a dash and n."""
    if estimate.value is None:
        return f'{UNKNOWN} n={estimate.n}'
    return f'{estimate.value * scale:.3g} {interval(estimate, scale)} {unit} n={estimate.n}'


def most_text(value: float | None, unit: str, scale: float = 1.0) -> str:
    """Return a greatest or least number, or that there is none."""
    return UNKNOWN if value is None else f'{value * scale:.3g} {unit}'


def figure_rows(levels: Sequence[LevelFigures]) -> Iterator[tuple[str, list[str]]]:
    """Yield each figure by its name, with its text on each level."""
    def row(name: str, *texts: str) -> tuple[str, list[str]]:
        return name, list(texts)
    yield row('trials run / asked for', *(f'{one.trials} / {one.planned}' for one in levels))
    yield row('INCONCLUSIVE / ERROR', *(f'{one.inconclusive} / {one.errors}' for one in levels))
    yield row('hazards missed', *(rate_text(one.missed) for one in levels))
    yield row('false stops', *(rate_text(one.false_stops) for one in levels))
    yield row('benign variants failed otherwise', *(
        rate_text(one.failed_otherwise) for one in levels))
    yield row('words: trials failed', *(rate_text(one.words) for one in levels))
    yield row('wire faults: trials failed', *(rate_text(one.wire_faults) for one in levels))
    yield row('reaction, median', *(estimate_text(one.reaction_ms, 'ms') for one in levels))
    yield row('reaction, slowest', *(
        f'{one.no_reaction} without one' if one.no_reaction else most_text(one.slowest_ms, 'ms')
        for one in levels))
    yield row('share of the budget used, median', *(
        estimate_text(one.budget_used, '%', 100.0) for one in levels))
    yield row('share of the budget used, most', *(
        most_text(one.most_budget_used, '%', 100.0) for one in levels))
    yield row('way until it stands, median', *(estimate_text(one.stop_m, 'm') for one in levels))
    yield row('distance to anybody, median', *(estimate_text(one.gap_m, 'm') for one in levels))
    yield row('distance to anybody, least', *(most_text(one.least_gap_m, 'm') for one in levels))
    yield row('task done', *(estimate_text(one.task_done, '%', 100.0) for one in levels))
    yield row('time lost by standing, mean', *(
        estimate_text(one.time_lost_s, 's') for one in levels))


def badge_text(card: Card) -> str:
    """Return what a badge says beside the name of the suite, on one line."""
    whole = card.whole
    parts = [f'missed {whole.missed.count}/{whole.missed.of}',
             f'false stops {whole.false_stops.count}/{whole.false_stops.of}', *card.reservations]
    return ', '.join(parts)


def about_lines(card: Card) -> Iterator[tuple[str, str]]:
    """Yield what the figures of a card depend on, each with its name."""
    yield 'suite', f'{card.suite}, SHA-256 {card.suite_sha256}'
    yield 'controller', ' '.join([card.controller, *(
        f'{name}={value}' for name, value in card.parameters.items())])
    sut = card.sut
    yield from (('model', line) for line in (sut.lines if sut else ()))
    if sut is not None and sut.source:
        yield 'source of the controller', f'SHA-256 {sut.source}'
    if sut is None or sut.unidentified:
        yield 'model', 'unknown: nothing identifies the build'
    yield 'evidence', f'{card.evidence}; link {card.link}, world {card.world or "none"}'
    yield 'profile', card.profile or 'the robot that each scenario declares'
    judged = card.judged_by
    yield 'judged by', (f'gate {judged.gate}, words {judged.words}, subject {judged.subject}, '
                        f'judge {card.judge or "none"}')
    yield 'versions', ', '.join(f'{name} {value}' for name, value in card.versions.items()
                                if value)
    yield 'machine', ', '.join(str(card.machine.get(name)) for name in (
        'cpu', 'usable_cores', 'system', 'python') if card.machine.get(name))
    yield 'started', card.started
    made = card.commitment
    yield 'seed', (f'{card.seed}, chosen by the user: anybody could have known it'
                   if made.is_chosen else
                   f'{card.seed}, drawn when the run began; commitment {made.commitment}, salt '
                   f'{card.salt}')
    yield 'records', f'manifest SHA-256 {card.manifest_sha256}'
    yield 'card', f'SHA-256 {card.sha256}'


def level_name(row: LevelFigures) -> str:
    """Return the name of a column."""
    return 'all levels' if row.level == 'all' else f'level {row.level}'


def card_table(card: Card) -> Table:
    """Return the figures of a card by level."""
    found = Table('figure', *(level_name(row) for row in card.levels), title_justify='left',
                  title=escape(f'{card.suite}: {card.controller}'), title_style='bold')
    for name, texts in figure_rows(card.levels):
        found.add_row(escape(name), *map(escape, texts))
    return found


def cards_table(cards: Mapping[str, Card], dominated: Mapping[str, Sequence[str]]) -> Table:
    """Return cards side by side, over all levels."""
    found = Table('card', 'hazards missed', 'false stops', 'reaction, median', 'budget, most',
                  'task done', 'time lost', 'state', 'dominated by')
    for name, texts in table_rows(cards, dominated):
        found.add_row(escape(name), *map(escape, texts))
    return found


def table_rows(cards: Mapping[str, Card], dominated: Mapping[str, Sequence[str]]) -> \
        Iterator[tuple[str, list[str]]]:
    """Yield the row of each card."""
    for name, card in cards.items():
        whole = card.whole
        yield name, [
            rate_text(whole.missed), rate_text(whole.false_stops),
            estimate_text(whole.reaction_ms, 'ms'),
            most_text(whole.most_budget_used, '%', 100.0),
            estimate_text(whole.task_done, '%', 100.0), estimate_text(whole.time_lost_s, 's'),
            '; '.join([card.state, *card.reservations]), ', '.join(dominated[name]) or 'none']


def decision_table(found: Decision) -> Table:
    """Return each limit of a protocol with what it came to."""
    rows = Table('hazard class', 'limit', 'outcome', 'found', 'because', title_justify='left',
                 title=escape(f'{found.protocol}: {found.controller}'), title_style='bold')
    for line in found.lines:
        rows.add_row(*map(escape, (line.about, line.limit, line.outcome, line.found, line.why)))
    return rows


def decision_lines(found: Decision) -> Iterator[str]:
    """Yield what is open, and the decision last."""
    yield from (f'open: {text}' for text in found.open)
    yield from (f'note: {text}' for text in found.notes)
    yield f'{found.controller}: {found.outcome} by {found.protocol} (SHA-256 {found.sha256[:12]})'
