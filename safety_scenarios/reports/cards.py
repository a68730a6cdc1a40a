# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Cards as text and as pages without network, and their pictures: badge, Pareto (SVG)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
import html
from importlib.util import find_spec
import math
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table
from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.reports.page.page import visible_in
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


_COLOURS = {'no failure': '#2e7d32', 'failures': '#b71c1c', 'undecided': '#616161'}
_LETTER, _HEIGHT = 6.6, 20
_WIDE, _HIGH, _LEFT, _BOTTOM, _TOP = 460, 320, 60, 46, 28
_POINTS = ('#1565c0', '#b71c1c', '#2e7d32', '#6a1b9a', '#ef6c00', '#00838f', '#4e342e', '#455a64')
_STEPS = 4


def badge(card: Card) -> str:
    """
    Return a badge as SVG.

    Green is a complete card alone, without a failure and without a doubt.
    """
    texts = card.suite, f'{card.controller}: {badge_text(card)}'
    widths = [round(len(text) * _LETTER) + 14 for text in texts]
    whole = sum(widths)
    colours = '#424242', _COLOURS[card.state]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{_HEIGHT}" '
            f'role="img" aria-label="{_escaped(": ".join(texts))}">'
            f'<title>{_escaped(": ".join(texts))}</title>'
            + ''.join(
                f'<rect x="{left}" width="{wide}" height="{_HEIGHT}" fill="{colour}"/>'
                f'<text x="{left + wide / 2:g}" y="14" fill="#fff" text-anchor="middle" '
                f'font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" '
                f'textLength="{wide - 14}">{_escaped(text)}</text>'
                for left, wide, colour, text in zip(
                    (0, widths[0]), widths, colours, texts, strict=True)) + '</svg>')


def pareto(cards: Mapping[str, Card]) -> str:
    """Return hazards missed against reaction, and against lost time, as one SVG."""
    panels = (('reaction, median (ms)', lambda card: card.whole.reaction_ms),
              ('time lost by standing, mean of a trial (s)', lambda card: card.whole.time_lost_s))
    legend = 18 * len(cards) + 10
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * _WIDE}" '
            f'height="{_HIGH + legend}" font-family="sans-serif" font-size="11" role="img">'
            '<title>Hazards missed against reaction and lost time</title>'
            + ''.join(f'<g transform="translate({place * _WIDE} 0)">'
                      + ''.join(_panel(cards, name, figure)) + '</g>'
                      for place, (name, figure) in enumerate(panels))
            + ''.join(_legend(cards)) + '</svg>')


def _escaped(text: str) -> str:
    """Return a text as XML can hold it: it has no form of a control character."""
    return html.escape(''.join(one if one.isprintable() else '\N{REPLACEMENT CHARACTER}'
                               for one in text))


def _legend(cards: Mapping[str, Card]) -> Iterator[str]:
    for place, (name, card) in enumerate(cards.items()):
        y = _HIGH + 18 * place + 8
        lacks = [text for text, value in (
            ('no median reaction', card.whole.reaction_ms.value),
            ('no lost time', card.whole.time_lost_s.value),
            ('no hazard decided', card.whole.missed.share.value)) if value is None]
        note = '; '.join([*lacks, *card.reservations])
        yield (f'<circle cx="{_LEFT}" cy="{y - 4}" r="4" fill="{_colour(place)}"/>'
               f'<text x="{_LEFT + 10}" y="{y}">{_escaped(name)}'
               f'{_escaped(f" ({note})" if note else "")}</text>')


def _colour(place: int) -> str:
    return _POINTS[place % len(_POINTS)]


def _panel(cards: Mapping[str, Card], name: str,
           figure: Callable[[Card], Estimate]) -> Iterator[str]:
    known = [(place, figure(card), card.whole.missed.share)
             for place, card in enumerate(cards.values())
             if figure(card).value is not None and card.whole.missed.share.value is not None]
    ends = [value for _, one, _ in known for value in (one.value, one.high) if value is not None]
    most = _round_up(max([*ends, 1e-9]))
    end, low = _WIDE - 20, _HIGH - _BOTTOM

    def x(value: float) -> float:
        return _LEFT + (end - _LEFT) * min(value, most) / most

    def y(share: float) -> float:
        return low - (low - _TOP) * share
    yield (f'<path d="M{_LEFT} {_TOP}V{low}H{end}" fill="none" stroke="#000"/>'
           f'<text x="{(_LEFT + end) / 2}" y="{_HIGH - 10}" text-anchor="middle">'
           f'{_escaped(name)}</text><text x="{_LEFT - 40}" y="{_TOP - 12}">hazards missed (%)'
           '</text>')
    for step in range(_STEPS + 1):
        share = step / _STEPS
        yield (f'<text x="{_LEFT - 6}" y="{y(share) + 4:.1f}" text-anchor="end">'
               f'{100 * share:g}</text><text x="{x(most * share):.1f}" y="{low + 16}" '
               f'text-anchor="middle">{most * share:.3g}</text>')
    for place, one, missed in known:
        assert one.value is not None and missed.value is not None
        colour, right, up = _colour(place), x(one.value), y(missed.value)
        if one.low is not None and one.high is not None:
            yield (f'<path d="M{x(max(one.low, 0.0)):.1f} {up:.1f}H{x(one.high):.1f}" '
                   f'stroke="{colour}"/>')
        if missed.low is not None and missed.high is not None:
            yield (f'<path d="M{right:.1f} {y(missed.low):.1f}V{y(missed.high):.1f}" '
                   f'stroke="{colour}"/>')
        yield f'<circle cx="{right:.1f}" cy="{up:.1f}" r="4" fill="{colour}"/>'


def _round_up(value: float) -> float:
    """Return the next number with one digit, or a half of it."""
    size = 10.0 ** math.floor(math.log10(value))
    return next(step * size for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * size >= value)


_FOLDER = Path(__file__).parent / 'page'
_HEAD = ('card', 'hazards missed', 'false stops', 'reaction, median', 'share of the budget, most',
         'task done', 'time lost', 'state', 'dominated by')


def card_page(name: str, card: Card, cards: Mapping[str, Card],
              dominated: Mapping[str, Sequence[str]]) -> str:
    """
    Return the page of a card.

    :param cards: with which it can be compared, itself among them
    :raises MissingDependencyError: jinja2 is not installed
    """
    tables = [{'title': 'Figures by level', 'head': ['figure', *map(level_name, card.levels)],
               'rows': list(figure_rows(card.levels))}]
    if len(cards) > 1:
        tables.append(_side_by_side(cards, dominated, 'Beside it, on the same trials'))
    tables.append({'title': 'What the figures depend on', 'head': ['', ''],
                   'rows': [(title, [text]) for title, text in about_lines(card)]})
    return _rendered(title=f'{card.suite}: {name}', picture=badge(card), tables=tables,
                     reservations=list(card.reservations), notes=card.notes)


def table_page(cards: Mapping[str, Card], dominated: Mapping[str, Sequence[str]]) -> str:
    """
    Return the page of several cards.

    :raises MissingDependencyError: jinja2 is not installed
    """
    suite = next(iter(cards.values())).suite
    return _rendered(title=f'{suite}: {len(cards)} cards', picture=pareto(cards), notes=(),
                     tables=[_side_by_side(cards, dominated, 'All levels')], reservations=[])


def _side_by_side(cards: Mapping[str, Card], dominated: Mapping[str, Sequence[str]],
                  title: str) -> dict[str, Any]:
    return {'title': title, 'head': _HEAD, 'rows': list(table_rows(cards, dominated))}


def _rendered(*, picture: str, **values: Any) -> str:
    if find_spec('jinja2') is None:
        raise MissingDependencyError('The page of a card', 'jinja2',
                                     "pip install 'safety_scenarios[report]'")
    import jinja2
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    return environment.get_template('card.html.j2').render(picture=picture, **visible_in(values))
