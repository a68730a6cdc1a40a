# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L201, L209 among agents: conditions of rules that every motion meets, or none."""

from collections.abc import Iterator

from safety_scenarios.lint._motion import BEYOND, is_signed, reach
from safety_scenarios.lint._remark import FieldPath, Remark
from safety_scenarios.scenario.blocks.agents import Pattern, Rule
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.scenario import Scenario


def check(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on every signal that a rule waits for, demands or forbids."""
    block = scenario.body
    if not isinstance(block, AgentsBody):
        return
    for index, rule in enumerate(block.rules):
        for path, verb, patterns in _roles(rule, block.entry(index)):
            known = [_known(pattern, block) for pattern in patterns]
            if verb == 'expect' and True in known:
                yield _told(scenario, path, patterns[known.index(True)], block,
                            'every motion meets it: the demand cannot be broken')
            elif known and all(one is False for one in known):
                yield _told(scenario, path, patterns[0], block, {
                    'trigger': 'no motion meets it: the rule never fires',
                    'expect': 'no motion meets it: the demand cannot be met',
                    'forbid': 'no motion meets it: the ban cannot be broken'}[verb])
            elif verb == 'forbid' and True in known:
                yield _told(scenario, path, patterns[known.index(True)], block,
                            'every motion meets it: the ban cannot be kept')
            if verb == 'expect':
                yield from _signed(scenario, path, patterns, block)


def _roles(rule: Rule, index: int) -> Iterator[tuple[FieldPath, str, tuple[Pattern, ...]]]:
    if rule.trigger is not None:
        yield ('rules', index, 'trigger'), 'trigger', rule.trigger.any
    if rule.expect is not None:
        yield ('rules', index, 'action'), 'expect', rule.expect.any
    if rule.forbid is not None:
        yield ('rules', index, 'action'), 'forbid', rule.forbid.any


def _known(pattern: Pattern, block: AgentsBody) -> bool | None:
    """Return what a condition on a signal is whatever the robot does; None: that depends."""
    signal = block.signals.get(pattern.name) if pattern.kind == 'signal' else None
    if signal is None or pattern.op is None or pattern.value is None:
        return None
    can = reach(signal, block.robot)
    high, value = can.high * BEYOND, pattern.value
    if pattern.op in ('<', '<='):
        if value >= high or (value >= can.high and pattern.op == '<='):
            return True
        return False if value < can.low or (value == can.low and pattern.op == '<') else None
    if value < can.low or (value == can.low and pattern.op == '>='):
        return True
    return False if value >= can.high and (value > can.high or pattern.op == '>') else None


def _told(scenario: Scenario, path: FieldPath, pattern: Pattern, block: AgentsBody,
          what: str) -> Remark:
    can = reach(block.signals[pattern.name], block.robot)
    return Remark('L201', scenario, path, (
        f'got {pattern.name} {pattern.op} {pattern.value:g}, and the signal is between '
        f'{can.low:g} and {can.high:g} whatever the robot does: {what}. Correct the number in '
        f'the bindings'))


def _signed(scenario: Scenario, path: FieldPath, patterns: tuple[Pattern, ...],
            block: AgentsBody) -> Iterator[Remark]:
    for pattern in patterns:
        signal = block.signals.get(pattern.name) if pattern.kind == 'signal' else None
        if signal is not None and is_signed(signal) and pattern.op in ('<', '<=') \
                and pattern.value is not None and pattern.value >= 0:
            yield Remark('L209', scenario, path, (
                f'got {pattern.name} {pattern.op} {pattern.value:g}, and {pattern.name} is '
                f'negative in reverse: any speed backward meets it. Give the signal reduce: abs '
                f'or norm in the bindings'))
