# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What every interlock is, and those on the wiring. Unknown, stale and NaN never hold."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from safety_scenarios.trial.summary import PreflightRow

MS = 1_000_000


class Interlock:
    """
    Base of every interlock; all times are of the steady clock, which nobody can set.

    Told from one thread and asked from others: what it keeps is replaced, never changed.
    """

    name: ClassVar[str] = ''
    """As results, the run log and ``hil.without`` call it."""

    def begin(self) -> None:
        """Get ready for another trial."""

    def why_not(self, now_ns: int) -> str | None:
        """Return what it got and what it expected instead; None: it holds."""
        raise NotImplementedError


_CHANGED_NS = 1000 * MS
"""So long another publisher is one: longer than anybody who asks for a word waits to ask again."""


class Word:
    """
    What was said last on a topic, and whether it still counts.

    A publisher that hangs may repeat its last message for ever, or what it has recorded, so a
    header stamp has to go on, and must neither be older than the message may be nor lie in the
    future. And it has to be the same publisher: another one may be that of another robot.

    :param age_ns: how old it may be; None: it was said once, and counts while its publisher lives
    :param tolerance_ns: how far a header stamp may be off the system clock beside that
    :param system_ns: reads the system clock; None: the publisher has a clock of its own, and the
        two are not compared
    """

    def __init__(self, topic: str, age_ns: int | None, tolerance_ns: int = 0,
                 system_ns: Callable[[], int] | None = None) -> None:
        self.topic = topic
        self.publishers: int | None = None
        """How many publishers the graph shows; None: nobody has looked."""
        self.unread = ''
        """Why nothing of what is published there can be read; empty: it can."""
        self.is_kept = age_ns is None
        self._age_ns, self._tolerance_ns, self._system_ns = age_ns, tolerance_ns, system_ns
        self._off = ''
        self._said: tuple[Any, int] | None = None
        self._stamp: tuple[int, int] | None = None
        self._goes_back = False
        self._who: frozenset[str] = frozenset()
        self._changed_ns: int | None = None

    @property
    def message(self) -> Any:
        """Return the last message; ask ``why_not`` first."""
        return None if self._said is None else self._said[0]

    def saw(self, who: Iterable[str], now_ns: int) -> bool:
        """
        Take who publishes there by the graph, and return whether that is somebody else.

        What was said before is then nobody's word any more.
        """
        found, before = frozenset(who), self._who
        self.publishers = len(found)
        if not found:
            return False
        self._who = found
        if not before or found == before:
            return False
        self._changed_ns, self._said = now_ns, None
        self._stamp, self._goes_back, self._off = None, False, ''
        return True

    def take(self, message: Any, now_ns: int) -> None:
        """Keep a message; one whose stamp stands still, or goes back, makes nothing younger."""
        stamp = getattr(getattr(message, 'header', None), 'stamp', None)
        found = None if stamp is None else (stamp.sec, stamp.nanosec)
        self._off = self._off_clock(*found) if found and any(found) else ''
        if found and any(found) and not self._off:
            known = self._stamp
            if known is not None and found <= known and self._said is not None:
                now_ns = self._said[1]
            self._goes_back = known is not None and (
                found < known or (found == known and self._goes_back))
            self._stamp = found if known is None else max(known, found)
        self._said = message, now_ns

    def _off_clock(self, seconds: int, nanoseconds: int) -> str:
        """Return how a header stamp is off the system clock; empty: it is not, or may be."""
        if self._system_ns is None:
            return ''
        ahead_ns = seconds * 10**9 + nanoseconds - self._system_ns()
        if ahead_ns > self._tolerance_ns:
            return f'{ahead_ns / 1e9:.1f} s ahead of'
        if self._age_ns is not None and -ahead_ns > self._tolerance_ns + self._age_ns:
            return f'{-ahead_ns / 1e9:.1f} s behind'
        return ''

    def why_not(self, now_ns: int) -> str | None:
        """Return why what was said does not count."""
        said = self._said
        if self.publishers is not None and self.publishers > 1:
            return (f'got {self.publishers} publishers on {self.topic}, expected one: whose word '
                    f'would count?')
        if self._changed_ns is not None and now_ns - self._changed_ns < _CHANGED_NS:
            return (f'got another publisher on {self.topic} than before, expected the same: it '
                    f'may be that of another robot')
        if self._off:
            return (f'got a header stamp on {self.topic} that is {self._off} the clock of this '
                    f'host, expected {self._tolerance_ns / 1e9:g} s at most '
                    f'(hil.stamp_tolerance_s). Synchronise the clocks of robot and host')
        if self._goes_back:
            return (f'got a header stamp on {self.topic} that is older than one before it, '
                    f'expected stamps that go on: something recorded, or a clock that was set')
        if said is None:
            return (f'got nothing on {self.topic} so far, expected '
                    f'{self.unread or "a publisher whose messages arrive"}')
        if self._age_ns is None:
            return None if self.publishers else (
                f'got a word on {self.topic} whose publisher is gone, expected it to be there')
        age_ns = now_ns - said[1]
        if age_ns > self._age_ns:
            return (f'got nothing new on {self.topic} for {age_ns / MS:.0f} ms, expected it to be '
                    f'{self._age_ns / MS:g} ms old at most')
        return None


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
