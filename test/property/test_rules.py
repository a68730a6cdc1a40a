# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What must hold of rules, whatever happens."""

from collections.abc import Sequence
from typing import Any

from examples import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
from safety_scenarios.scenario.blocks.agents import End, Line, Permit, Rule
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Outcome, Status
from safety_scenarios.trial.rules.engine import replay
from safety_scenarios.trial.rules.matching import compares
from unit.records import command, ns, ONSET_STEADY_NS
from unit.rule_runs import (
    ALICE,
    block,
    BOT,
    BUDGET,
    does,
    expects,
    forbids,
    run,
    said,
    says,
    speed,
    START,
    utters,
    when,
    World,
)

fast = settings(deadline=None, max_examples=up_to(150), derandomize=True)
WORDS = ('go', 'stop', 'left', 'right')
MOST_MS = 5000

times = st.integers(0, MOST_MS // 50).map(lambda step: step * 50.0)
words = st.sampled_from(WORDS)
by_alice = words.map(lambda word: said(word, by=ALICE))
by_bot = words.map(lambda word: said(word, by=BOT))
speeds = st.builds(speed, st.sampled_from(['<', '<=', '>', '>=']), st.sampled_from([0.2, 0.5]))
triggers = st.one_of(st.just(START), st.builds(
    when, st.one_of(by_alice, by_bot, speeds), after_ms=st.sampled_from([0.0, 50.0, 700.0])))
repeats = st.integers(1, 3)
obligations = st.one_of(
    st.builds(lambda pattern, on, repeat: expects(pattern, on=on, repeat=repeat),
              st.one_of(by_bot, speeds), triggers, repeats),
    st.builds(lambda pattern, on, repeat, for_ms: forbids(
        pattern, on=on, repeat=repeat, for_ms=for_ms),
        st.one_of(by_bot, speeds), triggers, repeats, st.sampled_from([None, 0.0, 500.0, 1000.0])))
effects = st.builds(lambda word, on, repeat: does(utters(word), on=on, repeat=repeat),
                    words, triggers, st.integers(1, 20))
endings = st.builds(lambda how, on: does(End(how=how), on=on),
                    st.sampled_from(['pass', 'fail', 'stop']), triggers)
sayings = st.builds(lambda t_ms, who, word: says(t_ms, who, word), times,
                    st.sampled_from([ALICE, BOT]), words)
samples = st.builds(command, times, st.sampled_from([0.0, 0.2, 0.3, 0.5, 0.7, None]))


def in_time(events: Sequence[Event]) -> list[Event]:
    return sorted(events, key=lambda event: event.stamps.steady_ns)


happenings = st.lists(st.one_of(sayings, samples), max_size=40).map(in_time)


def by_rule(outcome: Outcome, rules: Sequence[Rule]) -> list[dict[str, Any]]:
    """Return what each rule came to, in the order of ``rules``, without its place."""
    return [found.model_dump(exclude={'index'}) for found in outcome.rules[:len(rules)]]


@fast
@given(st.lists(obligations, min_size=1, max_size=5), happenings, st.randoms())
def test_the_order_of_rules_without_effects_changes_nothing(rules, events, chance):
    shuffled = list(range(len(rules)))
    chance.shuffle(shuffled)
    first = run(block(*rules), *events)
    other = run(block(*(rules[place] for place in shuffled)), *events)
    assert other.status is first.status
    assert by_rule(other, rules) == [by_rule(first, rules)[place] for place in shuffled]


@fast
@given(st.lists(st.one_of(obligations, effects, endings), min_size=1, max_size=6), happenings,
       st.lists(st.tuples(times, words), max_size=3))
def test_a_run_that_is_replayed_comes_to_the_same_to_the_byte(rules, events, lines):
    script = tuple(Line(at_ns=ns(t_ms), say=utters(word)) for t_ms, word in sorted(lines))
    world = World(block(*rules, script=script), events)
    record = world.play()
    live = world.outcome.model_dump_json()
    assert replay(record).model_dump_json() == live
    assert replay(record).model_dump_json() == live


def decided(outcome: Outcome, until_ns: int) -> dict[tuple[int, int], Status]:
    """Return the obligations that were decided before a time, by rule and opening."""
    return {(found.index, place): one.status for found in outcome.rules
            for place, one in enumerate(found.obligations)
            if one.at_ns is not None and one.at_ns < until_ns
            and one.status is not Status.INCONCLUSIVE}


@fast
@given(st.lists(obligations, min_size=1, max_size=4), happenings, st.integers(0, 40))
def test_what_comes_later_changes_nothing_that_was_decided(rules, events, place):
    place = min(place, len(events))
    cut_ns = events[place].stamps.steady_ns if place < len(events) else 2 ** 62
    end_ms = (events[place - 1].stamps.steady_ns - ONSET_STEADY_NS) / 1e6 if place else 0.0
    before = run(block(*rules), *events[:place], end_ms=end_ms, is_complete=False)
    after = run(block(*rules), *events)
    early = decided(before, cut_ns)
    assert {key: status for key, status in decided(after, 2 ** 62).items() if key in early} \
        == early


def simply(rules: AgentsBody, events: Sequence[Event], end_ms: float) -> list[list[str]]:
    """Judge expect and forbid of sayings by their definition, as slowly as it reads."""
    told = [(event.stamps.steady_ns - ONSET_STEADY_NS, event.agent, event.text)
            for event in events if event.kind == 'say']
    found = []
    for rule in rules.rules:
        trigger = rule.trigger.any[0]
        fired = [-1] if trigger.kind == 'start' else [
            place for place, (_, who, word) in enumerate(told)
            if who in trigger.agents and word in trigger.any_word]
        used: set[int] = set()
        came = []
        for first in fired[:rule.repeat]:
            opened = 0 if first < 0 else told[first][0]
            wanted = (rule.expect or rule.forbid).any[0]
            limit = BUDGET.limit_ns('critical') if rule.expect else rule.forbid.for_ns
            hits = [place for place, (t_ns, who, word) in enumerate(told)
                    if place > first and place not in used and who in wanted.agents
                    and word in wanted.any_word and (limit is None or t_ns - opened <= limit)]
            over = limit is None or ns(end_ms) - opened >= limit
            if rule.forbid and opened == (ns(end_ms) if limit is None
                                          else min(ns(end_ms), opened + limit)):
                over = False  # nothing was watched
            if rule.expect and hits:
                used.add(hits[0])
            came.append(('satisfied' if hits else 'violated') if rule.expect and (hits or over)
                        else 'violated' if hits else 'satisfied' if over else 'inconclusive')
        found.append(came)
    return found


plain = st.one_of(st.just(START), st.builds(when, st.one_of(by_alice, by_bot)))
simple = st.one_of(
    st.builds(lambda pattern, on, repeat: expects(pattern, on=on, repeat=repeat), by_bot, plain,
              repeats),
    st.builds(lambda pattern, on, repeat, for_ms: forbids(
        pattern, on=on, repeat=repeat, for_ms=for_ms), by_bot, plain, repeats,
        st.sampled_from([None, 0.0, 500.0, 1000.0])))


@settings(deadline=None, max_examples=up_to(400), derandomize=True)
@given(st.lists(simple, min_size=1, max_size=3), st.lists(sayings, max_size=25).map(in_time))
def test_the_definition_says_the_same(rules, events):
    made = block(*rules)
    outcome = run(made, *events)
    assert [[one.status.value for one in found.obligations] for found in outcome.rules] \
        == simply(made, events, 5000.0)


LOW, HIGH = speed('<=', 0.2), speed('>', 0.2)
AGAINST = {
    'nothing': lambda state, other: does(utters('well'), on=when(said('never'))),
    'a permission': lambda state, other: permits(other, RELEASED),
    'a demand': lambda state, other: expects(other, on=RELEASED, repeat=3),
    'a ban': lambda state, other: forbids(state, on=RELEASED, repeat=3),
    'the same demand': lambda state, other: expects(state, on=RELEASED, repeat=3)}
RELEASED = when(said('right', by=ALICE))


def permits(pattern, on):
    return Rule(trigger_text='t', action_text='permit', trigger=on, repeat=3,
                permit=Permit(any=(pattern,)))


def kept_by_definition(rule: Rule, against: str, events: Sequence[Event], end_ms: float,
                       until: str) -> list[str]:
    """Judge the demand of a state by its definition: every sample against every other."""
    order = [((event.stamps.steady_ns - ONSET_STEADY_NS), place)
             for place, event in enumerate(events)]
    low = rule.expect.any[0].op == '<='
    told = [(key, (event.message.data['linear']['x'] <= 0.2) is low)
            for key, event in zip(order, events, strict=True) if event.kind == 'command']
    heard = [(key, event.text) for key, event in zip(order, events, strict=True)
             if event.kind == 'say' and event.agent == ALICE]
    opened = [(0, -1)] if rule.trigger == START else \
        [key for key, text in heard if text == 'go'][:rule.repeat]
    freed = [key for key, text in heard if text == until]
    if against in ('a permission', 'a demand', 'a ban'):
        freed += [key for key, text in heard if text == 'right'][:3]
    end = (ns(end_ms), len(events))
    due_ns, for_ns = BUDGET.limit_ns('critical'), rule.expect.for_ns

    def lasts(begin: tuple[int, int], free: tuple[int, int]) -> bool | None:
        """Return whether the state was kept from then on, None when the run was too short."""
        if for_ns == 0:
            return True
        last = end if for_ns is None else (begin[0] + for_ns, len(events))
        if not all(holds for key, holds in told if begin < key < min(last, free, end)):
            return False
        return None if end < min(last, free) else True

    found = []
    for opening in opened:
        free = min((key for key in freed if key > opening), default=(2 ** 62, 0))
        in_time = [(key, place) for place, (key, holds) in enumerate(told)
                   if holds and key > opening and key[0] <= opening[0] + due_ns]
        rises = [key for key, place in in_time if place and not told[place - 1][1]]
        before = [holds for key, holds in told if key < opening]
        might = [key for key, _ in in_time] + ([opening] if before and before[-1] else [])
        if any(lasts(key, free) is True for key in rises):
            found.append('satisfied')
        elif any(lasts(key, free) is not False for key in might) or end[0] < opening[0] + due_ns \
                or (not rises and free[0] < opening[0] + due_ns):
            found.append('inconclusive')
        else:
            found.append('violated')
    return found


known = st.builds(command, times, st.sampled_from([0.0, 0.2, 0.3, 0.5]))
by_word = st.builds(says, times, st.just(ALICE), words)


@settings(deadline=None, max_examples=up_to(600), derandomize=True)
@given(st.sampled_from([LOW, HIGH]), st.sampled_from([START, when(said('go', by=ALICE))]),
       st.integers(1, 3), st.sampled_from([None, None, 0.0, 200.0, 1500.0]),
       st.sampled_from(sorted(AGAINST)), st.sampled_from(['left', 'never']),
       st.lists(st.one_of(known, known, known, by_word), max_size=30).map(in_time))
def test_a_state_is_kept_as_the_definition_says(state, on, repeat, for_ms, against, until, events):
    rule = expects(state, on=on, repeat=repeat)
    rule = rule.model_copy(update={'expect': rule.expect.model_copy(update={
        'for_ns': None if for_ms is None else ns(for_ms), 'until': (said(until, by=ALICE),)})})
    other = AGAINST[against](state, HIGH if state is LOW else LOW)
    outcome = run(block(rule, other, stale_ms=86_400_000.0), *events)
    assert [one.status.value for one in outcome.rules[0].obligations] \
        == kept_by_definition(rule, against, events, 5000.0, until)


@fast
@given(st.lists(obligations, min_size=1, max_size=4), happenings)
def test_between_reaching_a_state_and_its_end_no_sample_breaks_it(rules, events):
    outcome = run(block(*rules), *events)
    for found in outcome.rules:
        expect = rules[found.index].expect
        if expect is None or not expect.is_state:
            continue
        for one in found.obligations:
            if one.status is not Status.SATISFIED:
                continue
            begin_ns = one.opened_ns + one.latency_ns
            inside = [event.message.data['linear']['x'] for event in events
                      if event.kind == 'command'
                      and begin_ns < event.stamps.steady_ns < one.at_ns]
            assert all(compares(expect.any[0], value) is not False for value in inside)


@fast
@given(st.lists(st.one_of(obligations, effects, endings), min_size=1, max_size=6), happenings,
       st.sampled_from([0.0, 15.0]))
def test_only_what_is_satisfied_passes(rules, events, uncertainty_ms):
    outcome = run(block(*rules), *events, uncertainty_ms=uncertainty_ms)
    assert (outcome.status.verdict.value == 'PASS') == (
        any(found.is_obligation for found in outcome.rules) and not outcome.error and all(
            found.status is Status.SATISFIED for found in outcome.rules
            if found.is_obligation or found.status is Status.VIOLATED))


@fast
@given(st.lists(simple, min_size=1, max_size=3), st.lists(sayings, max_size=25).map(in_time))
def test_uncertainty_turns_no_violation_into_a_pass_nor_the_other_way(rules, events):
    exact, blurred = run(block(*rules), *events), run(block(*rules), *events, uncertainty_ms=15.0)
    for one, other in zip(exact.rules, blurred.rules):
        if rules[one.index].repeat == 1:
            assert {one.status, other.status} != {Status.SATISFIED, Status.VIOLATED}
