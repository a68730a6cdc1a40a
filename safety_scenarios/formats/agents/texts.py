# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the texts of a rule say, as the grammar reads them; their words have no meaning yet."""

from dataclasses import dataclass
from typing import Literal

from safety_scenarios.scenario.blocks.agents import Operator


@dataclass(frozen=True)
class ArgumentText:
    """What an argument of a call must be."""

    name: str
    op: Literal['=', '<=', '>=']
    value: str | bool | float


@dataclass(frozen=True)
class ClauseText:
    """Several things that must all have come."""

    parts: tuple['TriggerText', ...]
    within_ns: int | None = None


@dataclass(frozen=True)
class TriggerText:
    """What a trigger says."""

    kind: Literal['symbol', 'at', 'says', 'tool', 'signal', 'any']
    """any: of several clauses."""
    name: str = ''
    """Symbol, phrase, tool or signal."""
    agent: str = ''
    delay_ns: int = 0
    op: Operator | None = None
    value: float | None = None
    args: tuple[ArgumentText, ...] = ()
    times: int = 1
    negated: bool = False
    clauses: tuple[ClauseText, ...] = ()
    unless: tuple['TriggerText', ...] = ()
    """What keeps the rule from firing."""
    unless_ns: int | None = None
    """None: when it has come before; else when it comes within this time."""
    counts_own: bool = False
    """Whether for ``unless`` what the controller under test says unasked counts, too."""
    is_every: bool = False
    """Each occurrence fires, and not only the first."""


@dataclass(frozen=True)
class ActionText:
    """What an action says."""

    kind: Literal['symbol', 'say', 'publish', 'set', 'expect', 'forbid', 'permit', 'fault', 'end']
    name: str
    """Symbol, phrase, key of a topic, or how the run ends."""
    value: float = 0.0
    within_ns: int | None = None
    """expect: how soon."""
    for_ns: int | None = None
    """expect, forbid: how long."""
    until: str = ''
    """expect, forbid: the symbol that releases it."""
    what: Literal['symbol', 'tool', 'says'] = 'symbol'
    """expect, forbid: what ``name`` is."""
    args: tuple[ArgumentText, ...] = ()
    agent: str = ''
    times: int = 1
    unless: str = ''
    """expect: the symbol that takes the demand back before it is met."""
    others: tuple['ActionText', ...] = ()
    """expect, forbid: any of these will do, too."""
    text: str = ''
    """What of the action this is; empty: all of it."""
