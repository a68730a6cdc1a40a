# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What differs from trial to trial: drawn from the trial's seed, and put into the scenario."""

from collections.abc import Mapping
import hashlib
import random
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.blocks.vary import Draw, steps_to, with_value
from safety_scenarios.scenario.scenario import Scenario


def drawn(draws: Mapping[str, Draw], seed: int) -> dict[str, Any]:
    """
    Return the value of each draw in a trial.

    Each has a source of chance of its own, made of the seed and its name: what is drawn for one
    does not depend on which others there are, nor on their order.

    :param seed: of the trial
    """
    return {name: _value(draw, random.Random(hashlib.sha256(f'{seed}/{name}'.encode()).digest()))
            for name, draw in sorted(draws.items())}


def _value(draw: Draw, chance: random.Random) -> Any:
    if draw.range is not None:
        return chance.uniform(*draw.range)
    assert draw.choice is not None
    return draw.choice[chance.randrange(len(draw.choice))]


def unvaried(scenario: Scenario) -> Scenario:
    """Return the scenario with what its file says, in which nothing differs any more."""
    body = scenario.body
    return scenario.model_copy(update={'body': body.model_copy(update={'vary': {}})}) \
        if body.vary else scenario


def varied(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """
    Return the scenario as one trial plays it, each value in all the places that take it.

    :param values: by name of the draw; others of the scenario keep what the file says
    :raises InputError: a value does not fit
    """
    body = scenario.body
    if not values:
        return scenario
    block: Any = body
    kept: list[Any] = []
    for name, draw in body.vary.items():
        if name not in values:
            continue
        if draw.keeps is not None:
            kept.append(values[name])
        for path in draw.sets:
            try:
                block = _with(block, steps_to(path)[1:], values[name])
            except (LookupError, ValueError, ValidationError) as error:
                raise InputError(f'{scenario.id}: ros.vary.{name}: {path}: got '
                                 f'{values[name]!r:.60}: {error}') from None
    for topics in kept:
        block = block.model_copy(update={'stimuli': tuple(
            stimulus for stimulus in block.stimuli if stimulus.topic in topics)})
    return scenario.model_copy(update={'body': block})


def _with(block: Any, steps: tuple[str | int, ...], value: Any) -> Any:
    """Return the block with one value changed; the block itself holds nouns, each checked."""
    first = str(steps[0])
    return block.model_copy(update={first: with_value(getattr(block, first), steps[1:], value)})
