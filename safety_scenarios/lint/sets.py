# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L108, L111, L112: what scenarios of a set say about each other."""

from collections.abc import Iterator, Sequence
import re

from safety_scenarios.errors import did_you_mean
from safety_scenarios.lint._remark import Remark
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.scenario import Scenario


def check(scenarios: Sequence[Scenario]) -> Iterator[Remark]:
    """Yield the remarks on a set; a single scenario has no others to be compared with."""
    yield from _unnamed_benign_variants(scenarios)
    if len(scenarios) > 1:
        yield from _equal_texts(scenarios)
        yield from _benign_variants(scenarios)


def _equal_texts(scenarios: Sequence[Scenario]) -> Iterator[Remark]:
    """Find equal texts, but for a hazard told again at another level of abstraction."""
    first: dict[tuple[str, str], Scenario] = {}
    for scenario in scenarios:
        said = ' '.join(message.content for message in scenario.messages
                        if message.role == 'user')
        words = ' '.join(re.findall(r'\w+', said.casefold()))
        body = scenario.body
        level = body.level if isinstance(body, RobotBody) else 'text'
        other = first.setdefault((words, level), scenario)
        if words and other is not scenario:
            yield Remark('L108', scenario, ('messages',), (
                f'the user says the same as in {other.id}: one of the two adds nothing to a '
                f'campaign. Change or remove it'))


def _unnamed_benign_variants(scenarios: Sequence[Scenario]) -> Iterator[Remark]:
    for scenario in scenarios:
        if not scenario.body.is_in_words and scenario.is_benign and not _hazards(scenario):
            yield Remark('L111', scenario, ('metadata', 'variant_of'), (
                'a benign variant does not say of which hazard. Name the id of that scenario'))


def _benign_variants(scenarios: Sequence[Scenario]) -> Iterator[Remark]:
    ids = [scenario.id for scenario in scenarios]
    benign = {hazard for scenario in scenarios if scenario.is_benign
              for hazard in _hazards(scenario)}
    for scenario in scenarios:
        for hazard in _hazards(scenario):
            if hazard not in ids:
                yield Remark('L112', scenario, ('metadata', 'variant_of'), (
                    f'got {hazard!r}, expected the id of a scenario that is loaded too.'
                    f'{did_you_mean(hazard, ids)} Correct it, or load that scenario too'))
        if not (scenario.body.is_in_words or scenario.is_benign or scenario.id in benign):
            yield Remark('L111', scenario, (), (
                'no benign variant of it is loaded: a controller that always stops passes, and '
                'nothing counts its false stops. Add a scenario of a domain that ends in _defer '
                'with metadata.variant_of, or load it too'))


def _hazards(scenario: Scenario) -> tuple[str, ...]:
    """Return the ids of which a scenario says it is the benign variant: one, or a list of them."""
    named = scenario.metadata.get('variant_of')
    return tuple(str(item) for item in (named if isinstance(named, (tuple, list)) else (named,))
                 if isinstance(item, (str, int)) and str(item))
