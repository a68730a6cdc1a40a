# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The formulas: frozen nodes, and what each of them means.

Signals are samples (ns, value), each held until the next one; all of them are resampled to the
union of their stamps. NaN is unknown. A formula has at each stamp a robustness (margin), > 0 where
it is satisfied; at zero it counts as violated. What is not known is an interval (``trace``)::

    a >= b, a > b        a - b                    not f      -f
    f and g              smaller                  f or g     larger
    f -> g               larger of -f, g
    f <-> g              f -> g and g -> f; xor is its opposite
    rise(f)              f now, not f at the stamp before; at the first stamp f
    fall(f)              not f now, f at the stamp before; at the first stamp not f
    always, eventually   smallest, largest of f over [t+a, t+b]
    historically, once   smallest, largest of f over [t-b, t-a]
    f until g            g at some t' of [t+a, t+b], and f on [t, t')
    f weak_until g       f until g, or f on [t, t+b]
    f since g            g at a sample k' of [t-b, t-a], and f at the samples after it up to now

Windows are closed, in integer ns, and include the value in force at their begin, held from the
sample before. Without bounds they reach to the end (see ``Ending``) or to the first sample. A
window that lies before the first sample is empty: ``once`` is -inf there, ``historically`` +inf.
Formulas are asked at stamps only: between two stamps the answer at the earlier one stands.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Callable, NamedTuple, TypeAlias


class Bounds(NamedTuple):
    """A window relative to now, in ns."""

    first_ns: int
    last_ns: int


@dataclass(frozen=True, slots=True)
class Name:
    """The value of a signal."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Sum:
    """Two or more terms added."""

    parts: 'tuple[Term, ...]'


@dataclass(frozen=True, slots=True)
class Scaled:
    """A term times a constant."""

    factor: float
    part: 'Term'


@dataclass(frozen=True, slots=True)
class Size:
    """The absolute value of a term."""

    part: 'Term'


Term: TypeAlias = Name | Number | Sum | Scaled | Size


@dataclass(frozen=True, slots=True)
class Constant:
    """``true`` or ``false``: robustness +inf or -inf."""

    value: bool


@dataclass(frozen=True, slots=True)
class Predicate:
    """``larger`` is at least ``smaller``; the margin is their difference."""

    larger: Term
    smaller: Term
    text: str
    """As the user wrote it."""


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    part: 'Formula'


@dataclass(frozen=True, slots=True)
class And:
    """All of them."""

    parts: 'tuple[Formula, ...]'


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of them."""

    parts: 'tuple[Formula, ...]'


@dataclass(frozen=True, slots=True)
class Implies:
    """Whenever the left side, also the right side."""

    left: 'Formula'
    right: 'Formula'


@dataclass(frozen=True, slots=True)
class Iff:
    """Both or neither."""

    left: 'Formula'
    right: 'Formula'


@dataclass(frozen=True, slots=True)
class Edge:
    """It has just become true (``rising``) or untrue."""

    part: 'Formula'
    rising: bool


@dataclass(frozen=True, slots=True)
class Future:
    """``always`` (``every``) or ``eventually``."""

    part: 'Formula'
    every: bool
    bounds: Bounds | None


@dataclass(frozen=True, slots=True)
class Past:
    """``historically`` (``every``) or ``once``."""

    part: 'Formula'
    every: bool
    bounds: Bounds | None


@dataclass(frozen=True, slots=True)
class Until:
    """``until``, or ``weak_until`` (``weak``)."""

    left: 'Formula'
    right: 'Formula'
    weak: bool
    bounds: Bounds | None


@dataclass(frozen=True, slots=True)
class Since:
    """The left side ever since the right one."""

    left: 'Formula'
    right: 'Formula'
    bounds: Bounds | None


Formula: TypeAlias = (Constant | Predicate | Not | And | Or | Implies | Iff | Edge | Future | Past
                      | Until | Since)
Node: TypeAlias = Formula | Term


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes right below one."""
    match node:
        case Predicate(larger, smaller):
            return larger, smaller
        case And(parts) | Or(parts) | Sum(parts):
            return parts
        case Implies(left, right) | Iff(left, right) | Until(left, right) | Since(left, right):
            return left, right
        case Not(part) | Edge(part) | Future(part) | Past(part) | Size(part):
            return (part,)
        case Scaled(_, part):
            return (part,)
    return ()


def walk(node: Node) -> Iterator[tuple[Node, int]]:
    """Yield a node and all below it, each with its depth; without recursion."""
    waiting: list[tuple[Node, int]] = [(node, 1)]
    while waiting:
        found, depth = waiting.pop()
        yield found, depth
        waiting.extend((child, depth + 1) for child in reversed(children(found)))


def names_in(node: Node) -> tuple[str, ...]:
    """Return the signals that a formula reads, each once, in the order they first appear."""
    return tuple(dict.fromkeys(found.name for found, _ in walk(node) if isinstance(found, Name)))


def reader(term: Term) -> Callable[[Mapping[str, Any]], Any]:
    """
    Return how to compute a term from the values of the signals, be they numbers or arrays.

    The same operations in the same order, so that both give the same bits.
    """
    match term:
        case Name(name):
            return lambda values: values[name]
        case Number(value):
            return lambda values: value
        case Scaled(factor, part):
            read = reader(part)
            return lambda values: factor * read(values)
        case Size(part):
            read = reader(part)
            return lambda values: abs(read(values))
        case Sum(parts):
            reads = [reader(part) for part in parts]
            return lambda values: reduce(lambda so_far, read: so_far + read(values), reads[1:],
                                         reads[0](values))
