# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Pages of one card and of several, without network, and their pictures: badge, Pareto (SVG)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from importlib.util import find_spec
import math
from pathlib import Path
from typing import Any

from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.reports.card_text import (
    about_lines,
    badge_text,
    figure_rows,
    level_name,
    table_rows,
)
from safety_scenarios.reports.page.page import visible_in
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.suites.card import Card

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
    return escape(''.join(one if one.isprintable() else '\N{REPLACEMENT CHARACTER}'
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
