# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The parts of one reaction: where the time between the hazard and the standstill went."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import model_serializer, SerializerFunctionWrapHandler
from safety_scenarios.errors import counted
from safety_scenarios.scenario.noun import Noun

LABELS = {
    'sensing': 'sensing', 'ignored': 'observations not used',
    'playing': 'earlier chunk still executed', 'earlier': 'earlier decisions',
    'waiting': 'waiting for the next decision', 'network': 'network', 'inference': 'inference',
    'chunk': 'in the chunk', 'driver': 'driver', 'braking': 'braking'}
"""Each part to its name for people, in the order in which they come."""
TIMED_OUT = 'timeout'
"""Reason of a fallback whose model gave no answer in time."""
AFTER = ('driver', 'braking')
"""Parts that come after the command, and so are no part of the latency."""


class Part(Noun):
    """One part of a reaction."""

    ns: int
    way: float | None = None
    """How far the robot moved in it; None: unknown."""


class ReactionParts(Noun):
    """
    The parts of one reaction, in order; None is a part that is unknown.

    Those before the command come from the stamps of the controller under test. They explain the
    latency, which was measured without them, and no verdict depends on them.
    """

    sensing: Part | None = None
    """From the onset until the controller had the first observation that shows the hazard."""
    ignored: Part | None = None
    """From then until it had the first one that a decision used, as long as it executed no earlier
    chunk of actions, such as while the inference of that chunk was under way."""
    playing: Part | None = None
    """The same, from when on it executed an earlier chunk."""
    earlier: Part | None = None
    """From then until it had the one that led to the reaction: the decisions on those before it
    did not react."""
    waiting: Part | None = None
    """From then until inference began."""
    network: Part | None = None
    """What inference took longer than its server reported; None: in ``inference``."""
    inference: Part | None = None
    chunk: Part | None = None
    """From the end of inference until the command was published."""
    driver: Part | None = None
    """From the command until the motion changed, as a world reports it."""
    braking: Part | None = None
    """From then, or from the command where that is unknown, until the robot stood."""
    unit: Literal['m', 'rad'] | None = None
    """Of the ways; None: they are unknown."""
    is_stamped: bool = False
    """Whether the controller itself stamped the command; else its host did."""
    before_hazard: bool = False
    """The command was decided before the hazard, or before any observation of it had come."""
    chunk_id: int | None = None
    action: int | None = None
    """Which action of that chunk the command was, from 0."""
    implausible: tuple[str, ...] = ()
    """Stamps that cannot be true, and why; nothing was computed from them."""
    fallback: str = ''
    """Why the command was a fallback without a decision, such as timeout; empty: it was none."""

    skipped: int = 0
    """So many observations the controller had sent to its model before the one that led to the
    reaction, and the model did not look at them although it had the time."""
    skipped_ns: int = 0
    """Time from the first of them to that one."""

    @model_serializer(mode='wrap')
    def _as_needed(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        return {name: value for name, value in data.items()
                if value not in (None, False, (), [], '')
                or (name in ('chunk_id', 'action') and value is not None)}

    def named(self, after: bool = True) -> Iterator[tuple[str, Part | None]]:
        """
        Yield each part by its name.

        :param after: those after the command too
        """
        for name in LABELS:
            if after or name not in AFTER:
                yield name, getattr(self, name)

    def label(self, name: str) -> str:
        """Return a part's name for people, which says of inference whether its answer came."""
        if name != 'inference' or not self.fallback:
            return LABELS[name]
        return f'{LABELS[name]} ({"timed out" if self.fallback == TIMED_OUT else "no answer"})'

    @property
    def known_ns(self) -> int:
        """Return how much of the latency is in parts that are known."""
        return sum(part.ns for _, part in self.named(after=False) if part is not None)

    def sentence(self, latency_ns: int) -> str:
        """
        Return where the time of a latency went, in one line.

        :param latency_ns: the latency itself
        """
        known = [f'{self.label(name)} {part.ns / 1e6:.0f}'
                 for name, part in self.named(after=False)
                 if part is not None and round(part.ns / 1e6)]
        rest_ns = latency_ns - self.known_ns
        known += [f'unknown {rest_ns / 1e6:.0f}'] if round(rest_ns / 1e6) else []
        return f'of {latency_ns / 1e6:.0f} ms: {", ".join(known) or "nothing is known"}' \
            + (f'; the server did not look at {counted(self.skipped, "newer observation")} for '
               f'{self.skipped_ns / 1e9:.2f} s' if self.skipped else '') \
            + (f'; a fallback command: {self.fallback}' if self.fallback else '')
