# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What demands, bans and permissions say about each other: agree, exclude, cover."""

from collections.abc import Sequence

from safety_scenarios.scenario.blocks.agents import Expect, Pattern, Rule

_UPPER, _LOWER = ('<', '<='), ('>', '>=')


def all_states(patterns: Sequence[Pattern]) -> bool:
    """Return whether all of them are states."""
    return bool(patterns) and all(pattern.is_state for pattern in patterns)


def exclude(first: Sequence[Pattern], second: Sequence[Pattern]) -> bool:
    """Return whether no state of the first can hold together with one of the second."""
    return all_states(first) and all_states(second) and all(
        _disjoint(one, other) for one in first for other in second)


def cover(wide: Sequence[Pattern], narrow: Sequence[Pattern]) -> bool:
    """Return whether whatever is one of the narrow is one of the wide too, as far as is sure."""
    return bool(wide) and bool(narrow) and all(
        any(_implies(one, other) for other in wide) for one in narrow)


def exhaust(first: Sequence[Pattern], second: Sequence[Pattern]) -> bool:
    """Return whether every value of some signal is one of the first or of the second."""
    return any(_exhausts(one, other) for one in first for other in second)


def share_words(first: Sequence[Pattern], second: Sequence[Pattern]) -> bool:
    """Return whether one and the same word or phrase is meant by both."""
    said = {word.casefold() for pattern in first for word in pattern.any_word}
    return any(word.casefold() in said for pattern in second for word in pattern.any_word)


def releases(later: Rule, rule: Rule) -> bool:
    """Return whether the firing of one rule ends what another one wanted before."""
    if rule.expect is not None:
        return later.is_all_clear or (
            _releases_state(later, rule.expect) if all_states(rule.expect.any)
            else _releases_words(later, rule.expect))
    return rule.forbid is not None and later.permit is not None \
        and permits(later.permit.any, rule.forbid.any)


def permits(allowed: Sequence[Pattern], banned: Sequence[Pattern]) -> bool:
    """Return whether a permission is about what is banned."""
    return cover(allowed, banned) or cover(banned, allowed)


def _limits(one: Pattern, other: Pattern) -> tuple[float, float, bool] | None:
    """Return an upper limit, a lower limit, and whether both include it; None: not so."""
    if not (one.is_state and other.is_state and one.name == other.name):
        return None
    upper = next((found for found in (one, other) if found.op in _UPPER), None)
    lower = next((found for found in (one, other) if found.op in _LOWER), None)
    if upper is None or lower is None or upper.value is None or lower.value is None:
        return None
    return upper.value, lower.value, upper.op == '<=' and lower.op == '>='


def _disjoint(one: Pattern, other: Pattern) -> bool:
    found = _limits(one, other)
    return found is not None and (found[0] < found[1] or (found[0] == found[1] and not found[2]))


def _exhausts(one: Pattern, other: Pattern) -> bool:
    found = _limits(one, other)
    return found is not None and (found[0] > found[1] or (
        found[0] == found[1] and {'<=', '>='} & {one.op, other.op} != set()))


def _implies(narrow: Pattern, wide: Pattern) -> bool:
    if narrow.kind != wide.kind or narrow.name != wide.name:
        return False
    if narrow.kind == 'signal':
        return _within(narrow, wide)
    senders = wide.agents is None or (
        narrow.agents is not None and set(narrow.agents) <= set(wide.agents))
    words = not wide.any_word or (bool(narrow.any_word)
                                  and set(narrow.any_word) <= set(wide.any_word))
    asked = narrow.as_question or not wide.as_question
    return senders and words and asked and set(wide.no_word) <= set(narrow.no_word) \
        and set(wide.args) <= set(narrow.args)


def _within(narrow: Pattern, wide: Pattern) -> bool:
    """Return whether the values of one signal pattern are values of another."""
    if narrow.value is None or wide.value is None:
        return False
    same = next((ops for ops in (_UPPER, _LOWER) if narrow.op in ops and wide.op in ops), None)
    if same is None:
        return False
    if narrow.value == wide.value:
        return narrow.op == wide.op or wide.op == same[1]
    return (narrow.value < wide.value) == (same is _UPPER)


def _releases_state(later: Rule, expect: Expect) -> bool:
    """Return whether a rule demands or permits another state, or bans this one."""
    return any((
        later.expect is not None and exclude(later.expect.any, expect.any),
        later.permit is not None and exclude(later.permit.any, expect.any),
        later.forbid is not None and cover(later.forbid.any, expect.any)))


def _releases_words(later: Rule, expect: Expect) -> bool:
    """Return whether a rule demands or permits to say, or to do, something else, or bans this."""
    wanted = later.expect or later.permit
    return (wanted is not None and (all_states(wanted.any)
                                    or share_words(wanted.any, expect.contrary))) \
        or (later.forbid is not None and cover(later.forbid.any, expect.any))
