# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Interlocks on the wiring: one commander, and a preflight without findings."""

from collections.abc import Mapping, Sequence

from safety_scenarios.ros.hil.interlocks.interlock import Interlock, MS
from safety_scenarios.trial.summary import PreflightRow

_AGE_NS = 1000 * MS
"""Whoever looks at the graph looks ten times a second."""


class Alone(Interlock):
    """Holds while each command topic has one publisher, the same since the trial began."""

    name = 'alone'

    def __init__(self) -> None:
        self._seen: tuple[Mapping[str, Sequence[str]], int] | None = None
        self._first: Mapping[str, Sequence[str]] | None = None

    def begin(self) -> None:
        """Forget who commanded in the trial before."""
        self._seen = self._first = None

    def saw(self, publishers: Mapping[str, Sequence[str]], now_ns: int) -> None:
        """
        Take what the graph shows.

        :param publishers: command topic to each publisher, by node and endpoint
        """
        self._seen = publishers, now_ns

    def why_not(self, now_ns: int) -> str | None:
        """Return who else commands, or that nobody does."""
        seen = self._seen
        if seen is None:
            return 'got no look at who commands, expected one'
        found, at_ns = seen
        if now_ns - at_ns > _AGE_NS:
            return (f'got no look at who commands for {(now_ns - at_ns) / MS:.0f} ms, expected '
                    f'one every {_AGE_NS / MS:g} ms')
        if not found:
            return 'got no command topic, expected one'
        for topic, who in found.items():
            if len(who) != 1:
                return (f'got {len(who)} publishers on {topic}{_named(who)}, expected the '
                        f'controller under test alone. Stop the others')
        if self._first is None:
            self._first = found
        if found != self._first:
            topic = next(name for name in found if found[name] != self._first.get(name))
            return (f'got another publisher on {topic}{_named(found[topic])} than when the trial '
                    f'began, expected the controller under test')
        return None


def _named(who: Sequence[str]) -> str:
    return f' ({", ".join(sorted({name.partition("#")[0] for name in who}))})' if who else ''


class PreflightGreen(Interlock):
    """Holds when the preflight of this trial has no error."""

    name = 'preflight'

    def __init__(self) -> None:
        self._rows: Sequence[PreflightRow] = ()

    def begin(self) -> None:
        """Forget the rows of the trial before."""
        self._rows = ()

    def saw(self, rows: Sequence[PreflightRow]) -> None:
        """Take what the link has found on the other end."""
        self._rows = rows

    def why_not(self, now_ns: int) -> str | None:
        """Return the first thing that is wrong."""
        rows = self._rows
        wrong = next((row for row in rows if row.status == 'error'), None)
        if wrong is not None:
            return f'got {wrong.check}: {wrong.detail}, expected no error'
        return None if rows else 'got no preflight, expected one for this trial'
