# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a card states about its run, against what else it states.

Anybody can compute the hash of a card again. So without the records or a signature a reader can
find contradictions alone: the controller, its model, the machine and the verdicts are as the
maker of the card states them.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.studies.side_by_side import judging_settings
from safety_scenarios.suites.card import Card
from safety_scenarios.suites.suite import LEVELS

UNPROVED = 'verdicts, times, distances, controller, model, machine, settings and notes'
"""What only the records of a run prove, or somebody who signs for it."""


def contradictions(card: Card) -> Iterator[str]:
    """Yield what a card states about its run that cannot be."""
    made = card.commitment
    if card.suite != made.suite:
        yield f'suite: got {card.suite}, expected {made.suite} as in the commitment'
    yield from _times(card)
    ran = Counter((one.scenario, one.level) for one in card.trials if one.verdict is not None)
    for (scenario, level), count in ran.items():
        most = made.trials * (len(LEVELS) if level is None else 1)
        if count > most:
            yield (f'trials: got {count} of {scenario} on level {level or "none"}, expected at '
                   f'most {most} by the commitment')
            break
    usual = judging_settings(RunSettings())
    for name, value in (
            ('link', card.link), ('world.kind', card.world), ('profile', card.profile),
            ('judge.model', card.judge), *card.judged_by.model_dump().items()):
        got = card.settings.get(name, usual.get(name, value))
        if got != value:
            yield f'settings.{name}: got {got!r}, expected {value!r} as the card states elsewhere'


def _times(card: Card) -> Iterator[str]:
    times = []
    for name, text in (('commitment.at', card.commitment.at), ('started', card.started)):
        try:
            times.append(datetime.fromisoformat(text))
        except ValueError:
            yield f'{name}: got {text!r}, expected a date and time in ISO 8601'
            continue
        if times[-1].tzinfo is None:
            yield f'{name}: got {text!r}, expected a time with its zone, such as +00:00'
            return
    if len(times) == 2 and times[1] < times[0]:
        yield (f'started: got {card.started}, expected a time after the commitment, '
               f'{card.commitment.at}')
