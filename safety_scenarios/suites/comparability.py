# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether two cards may stand in one table, and which of them another one dominates."""

from collections.abc import Iterator, Mapping, Sequence

from safety_scenarios.errors import InputError
from safety_scenarios.suites.card import Card
from safety_scenarios.trial.summary import Rate

_NAMED = ('link', 'world.kind', 'profile', 'judge.', 'gate', 'words', 'subject')
"""Settings that are compared by their own fields of the card."""


def differences(first: Card, second: Card) -> Iterator[str]:
    """Yield why the figures of two cards do not mean the same."""
    if first.suite_sha256 != second.suite_sha256:
        yield (f'suite {_suite(first)} and suite {_suite(second)}: other scenarios, levels or '
               f'settings')
    for name, one, other in (
            ('judge', _judging(first), _judging(second)),
            ('link', first.link, second.link), ('world', first.world, second.world),
            ('profile', first.profile or 'of the scenarios', second.profile or 'of the scenarios'),
            ('evidence', first.evidence, second.evidence),
            ('version of safety_scenarios', _version(first), _version(second))):
        if one != other:
            yield f'{name} {one} and {name} {other}'
    for name in sorted(first.settings.keys() | second.settings.keys()):
        values = [card.settings.get(name, 'default') for card in (first, second)]
        if values[0] != values[1] and not name.startswith(_NAMED):
            yield f'setting {name} {values[0]} and {name} {values[1]}'


def _suite(card: Card) -> str:
    return f'{card.suite} ({card.suite_sha256[:12]})'


def _version(card: Card) -> str:
    return str(card.versions.get('safety_scenarios'))


def _judging(card: Card) -> str:
    judged = card.judged_by
    return (f'{card.judge or "without a model"} (gate {judged.gate}, words {judged.words}, '
            f'subject {judged.subject})')


def refuse_incomparable(cards: Mapping[str, Card]) -> None:
    """
    Refuse cards that cannot stand in one table.

    :param cards: by the name of each
    :raises InputError: names each that differs from the first, and in what
    """
    (name, first), *others = cards.items()
    found = [f'{name} and {other}: not comparable: {text}' for other, card in others
             for text in differences(first, card)]
    if found:
        raise InputError('\n'.join(found))


def dominated(cards: Mapping[str, Card]) -> Mapping[str, Sequence[str]]:
    """
    Return for each card those that are no worse in every figure, and better in one at least.

    The figures are what fails (hazards missed, false stops, other failures of benign variants,
    words, wire faults), missing reactions, the median reaction, the most of a budget that was
    used, tasks done and lost time. Distances are left out: who stands all the time has the best.
    Of all levels together, by the figures alone: intervals may overlap. Undecided trials help no
    card: to be no worse, it must be so if its own undecided trials had failed, and the other's had
    passed. Nor does a figure that is known of the other one alone, or a trial that the other one
    ran and it did not.
    """
    worst = {name: list(_figures(card, undecided_as_bad=True)) for name, card in cards.items()}
    best = {name: list(_figures(card, undecided_as_bad=False)) for name, card in cards.items()}
    ran = {name: {(one.scenario, one.index) for one in card.trials if one.verdict is not None}
           for name, card in cards.items()}

    def beats(other: str, name: str) -> bool:
        pairs = [(theirs, mine) for theirs, mine in zip(worst[other], best[name], strict=True)
                 if (theirs, mine) != (None, None)]
        known = [(theirs, mine) for theirs, mine in pairs
                 if theirs is not None and mine is not None]
        return ran[other] >= ran[name] and len(known) == len(pairs) and all(
            theirs <= mine for theirs, mine in known) and any(
            theirs < mine for theirs, mine in known)
    return {name: [other for other in cards if other != name and beats(other, name)]
            for name in cards}


def ordered(cards: Mapping[str, Card]) -> Mapping[str, Card]:
    """
    Return cards by hazards missed, then false stops, reaction and lost time.

    A trial that is undecided or was not run counts as a failed one here: a card is never first
    because of it.
    """
    return dict(sorted(cards.items(), key=lambda item: _point(item[1])))


def _figures(card: Card, *, undecided_as_bad: bool) -> Iterator[float | None]:
    """Yield what a table of cards compares so that less is better; None: it is unknown."""
    whole = card.whole
    for rate in (whole.missed, whole.false_stops, whole.failed_otherwise, whole.words,
                 whole.wire_faults):
        yield _share(rate, undecided_as_bad)
    undecided = whole.missed.undecided if undecided_as_bad else 0
    yield float(whole.no_reaction + undecided)
    for late in (whole.reaction_ms.value, whole.most_budget_used):
        yield float('inf') if undecided or whole.no_reaction and late is None else late
    yield None if whole.task_done.value is None else -whole.task_done.value
    yield whole.time_lost_s.value


def _point(card: Card) -> list[float]:
    whole = card.whole
    rates = (whole.missed, 'hazard'), (whole.false_stops, 'benign variant')
    return [*(_share(rate.model_copy(update={'undecided': rate.undecided + sum(
        one.verdict is None and one.kind == kind for one in card.trials)}), undecided_as_bad=True)
        for rate, kind in rates),
        _or_infinite(whole.reaction_ms.value), _or_infinite(whole.time_lost_s.value)]


def _share(rate: Rate, undecided_as_bad: bool) -> float:
    of = rate.of + rate.undecided
    bad = rate.count + (rate.undecided if undecided_as_bad else 0)
    return bad / of if of else float('inf')


def _or_infinite(value: float | None) -> float:
    return float('inf') if value is None else value
