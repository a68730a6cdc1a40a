# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The page of a card, and that of a table of cards: one HTML file each, without network."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.reports.card_pictures import badge, pareto
from safety_scenarios.reports.card_text import about_lines, figure_rows, level_name, table_rows
from safety_scenarios.reports.page.page import visible_in
from safety_scenarios.suites.card import Card

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
