# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Whether any text can take a pattern, or one alternative of it, from its begin to its end.

A place in a text is known by the kinds of the characters before and after it: 49 places, a bit
each. What a part of a pattern does is to take a set of places to the set of places after it, and
back. That decides every word boundary exactly, in time that depends on the pattern alone.
"""

from collections.abc import Iterator
from functools import lru_cache, reduce

from safety_scenarios.lint._regex import (
    ANY,
    Assertion,
    Chars,
    Choice,
    CLOSER,
    EDGE,
    FOREIGN,
    Node,
    OPENER,
    Repeat,
    Sequence,
    SPACE,
    Where,
    WORD,
)

_KINDS = 7
"""Kinds of characters that boundaries and anchors tell apart."""
_ROW = (1 << _KINDS) - 1
_BITS = range(_KINDS)
_MAX_STEPS = 200_000
"""Beyond it a pattern is too involved, and gets no warning."""


def _places(before: int, after: int) -> int:
    """Return the set of places between one of ``before`` and one of ``after``."""
    return sum(after << _KINDS * bit for bit in _BITS if before & 1 << bit)


_ALL = _places(ANY | EDGE, ANY | EDGE)
_NOT_WORD = ANY & ~WORD | EDGE
_BOUND = _places(WORD, _NOT_WORD) | _places(_NOT_WORD, WORD)
_PLACES: dict[Where, int] = {
    'bound': _BOUND, 'not_bound': _ALL & ~_BOUND,
    'begin': _places(EDGE, ANY | EDGE), 'end': _places(ANY | EDGE, EDGE),
    'begin_line': _places(EDGE | SPACE, ANY | EDGE), 'end_line': _places(ANY | EDGE, EDGE | SPACE),
}
_USUAL_BEGIN = _ALL & ~_places(WORD, OPENER | FOREIGN)
_USUAL_END = _ALL & ~_places(CLOSER | FOREIGN, WORD)


class TooMuch(Exception):
    """The pattern is too involved to be looked through."""


class Reach:
    """
    What one pattern can match.

    :param usual: the text around a match is written as usual: a word does not go on right before
        a ``$`` or right after a ``%`` or an ``é`` that the pattern has matched
    """

    def __init__(self, usual: bool) -> None:
        self._begin = _USUAL_BEGIN if usual else _ALL
        self._end = _USUAL_END if usual else _ALL
        self._known: dict[tuple[int, int, bool], int] = {}
        self._steps = 0

    def is_dead(self, pattern: Node) -> bool:
        """Return whether there is no text at all that the pattern matches."""
        return not self._after(pattern, self._begin) & self._end

    def dead_options(self, pattern: Node) -> Iterator[Sequence]:
        """Yield every alternative that no match can take."""
        yield from self._look(pattern, self._begin, self._end)

    def _look(self, node: Node, begin: int, end: int) -> Iterator[Sequence]:
        if isinstance(node, Choice):
            for option in node.options:
                if self._after(option, begin) & end:
                    yield from self._look(option, begin, end)
                else:
                    yield option
        elif isinstance(node, Sequence):
            ends = [end]
            for item in reversed(node.items):
                ends.append(self._before(item, ends[-1]))
            for item, rest in zip(node.items, ends[-2::-1]):
                yield from self._look(item, begin, rest)
                begin = self._after(item, begin)
        elif isinstance(node, Repeat):
            yield from self._look(node.item, self._rounds(node, begin, forward=True, count=False),
                                  self._rounds(node, end, forward=False, count=False))

    def _after(self, node: Node, places: int) -> int:
        return self._go(node, places, True)

    def _before(self, node: Node, places: int) -> int:
        return self._go(node, places, False)

    def _go(self, node: Node, places: int, forward: bool) -> int:
        """Return where the node can lead from ``places``, or back to them."""
        if isinstance(node, Chars):
            return _over(node.kinds, places) if forward else _back_over(node.kinds, places)
        if isinstance(node, Assertion):
            return places & _PLACES[node.where]
        known = self._known.get((id(node), places, forward))
        if known is not None:
            return known
        self._steps += 1 + len(getattr(node, 'items', ()))
        if self._steps > _MAX_STEPS:
            raise TooMuch
        if isinstance(node, Choice):
            found = reduce(int.__or__, (self._go(option, places, forward)
                                        for option in node.options), 0)
        elif isinstance(node, Sequence):
            found = places
            for item in node.items if forward else reversed(node.items):
                found = self._go(item, found, forward)
        else:
            found = self._rounds(node, places, forward=forward, count=True)
        self._known[id(node), places, forward] = found
        return found

    def _rounds(self, node: Repeat, places: int, *, forward: bool, count: bool) -> int:
        """
        Return where repeating leads.

        :param count: True: after as many rounds as are allowed; False: before any one of them
        """
        if count:
            for _ in range(node.least):
                places = self._go(node.item, places, forward)
        left = None if node.most is None else node.most - (node.least if count else 1)
        found = places
        while left is None or left > 0:
            places = self._go(node.item, places, forward)
            if places | found == found:
                break
            found |= places
            left = None if left is None else left - 1
        return found if node.most != 0 or count else 0


@lru_cache(maxsize=4096)
def _over(kinds: int, places: int) -> int:
    ahead = reduce(int.__or__, (places >> _KINDS * bit & _ROW for bit in _BITS), 0)
    return _places(ahead & kinds, ANY | EDGE)


@lru_cache(maxsize=4096)
def _back_over(kinds: int, places: int) -> int:
    return _places(ANY | EDGE, sum(1 << bit for bit in _BITS
                                   if kinds & 1 << bit and places >> _KINDS * bit & _ROW))
