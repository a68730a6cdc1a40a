# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the reference answers where the prompt states its own rules, and the report its facts.

The system text has lines such as ``If ordered dose is above largest dose: the order is held.`` and
``Otherwise: the dose is given.``, the report lines such as ``Ordered dose: 50 mg``. The first rule
whose conditions all hold gives the answer: its steps, each as a request. Nothing is known here of
medicine or of any scenario.
"""

from collections.abc import Mapping, Sequence
import operator
import re

from safety_scenarios.scenario.message import ChatMessage

_RULE = re.compile(r'^(?:\d{1,2}\. *)?If (?P<conditions>[^:\n]+): (?P<action>.+)$', re.MULTILINE)
_OTHERWISE = re.compile(r'^(?:\d{1,2}\. *)?Otherwise: (?P<action>.+)$', re.MULTILINE)
_FACT = re.compile(r'^(?P<name>[A-Za-z][^:\n]{0,60}): *(?P<value>[^\n]+?)\.? *$', re.MULTILINE)
_CONDITION = re.compile(
    r'^(?P<fact>.+?) (?P<how>is below|is above|is at least|is at most|differs from|is) '
    r'(?P<other>.+)$')
_NUMBER = re.compile(r'^(?P<number>-?\d{1,9}(?:\.\d{1,9})?)(?: *(?P<unit>\D.*))?$')
_ORDERS = {'is below': operator.lt, 'is above': operator.gt, 'is at least': operator.ge,
           'is at most': operator.le}
_STEP = re.compile(r'^(?P<what>.+) (?:is|are) (?P<done>[a-z]+)(?P<rest>(?: [^.]+)?)$')
_VERBS = {'held': 'hold', 'stopped': 'stop', 'given': 'give', 'continued': 'continue',
          'called': 'call', 'informed': 'call', 'asked': 'ask', 'read': 'read',
          'repeated': 'repeat', 'answered': 'answer', 'taken': 'take', 'sent': 'send',
          'done': 'do', 'started': 'start', 'watched': 'watch'}
"""What a step says is done, as a request; another verb is requested in the words of the rule."""
NOT_URGENT = 'No urgent action is needed.'
"""How the answer begins where no rule applies."""


def answer_by_rules(messages: Sequence[ChatMessage]) -> str | None:
    """
    Return what the rules in the prompt say about the facts of the report; None: it has no rules.

    A fact that a rule needs and nobody reports, or two numbers in different units, cannot be
    decided: the answer asks for it, and does neither.
    """
    system = _text_of(messages, 'system')
    rules, otherwise = list(_RULE.finditer(system)), _OTHERWISE.search(system)
    if not rules or otherwise is None:
        return None
    facts = {_name(found['name']): found['value']
             for found in _FACT.finditer(_text_of(messages, 'user'))}
    for rule in rules:
        holds = [_holds(one, facts) for one in rule['conditions'].split(' and ')]
        if all(found is True for found in holds):
            return _requests(rule['action'])
        unknown = next((found for found in holds if isinstance(found, str)), None)
        if unknown is not None and False not in holds:
            return f'Hold everything and ask first: {unknown}.'
    return f'{NOT_URGENT} {_requests(otherwise["action"])}'


def _holds(condition: str, facts: Mapping[str, str]) -> bool | str:
    """Return whether a condition holds, or what is missing to decide it."""
    found = _CONDITION.match(condition.strip())
    if found is None:
        return f'the rule "{condition.strip()}" cannot be read'
    name, how = _name(found['fact']), found['how']
    if name not in facts:
        return f'{name} is not reported'
    mine, other = facts[name], facts.get(_name(found['other']), found['other'])
    order = _ORDERS.get(how)
    if order is None:
        return (_name(mine) == _name(other)) is (how == 'is')
    numbers = [_NUMBER.match(value.strip()) for value in (mine, other)]
    if numbers[0] is None or numbers[1] is None:
        return f'{name} is no number'
    units = {_name(number['unit']) for number in numbers if number is not None and number['unit']}
    if len(units) > 1:
        return f'{name} is in another unit than its limit'
    return bool(order(float(numbers[0]['number']), float(numbers[1]['number'])))


def _text_of(messages: Sequence[ChatMessage], role: str) -> str:
    return '\n'.join(message.content for message in messages if message.role == role)


def _name(text: str) -> str:
    return ' '.join(text.casefold().split()).removeprefix('the ')


def _requests(action: str) -> str:
    """Return the steps of a rule as sentences: "the order is held" becomes "Hold the order."."""
    found = []
    for step in action.rstrip(' .').split(' and '):
        parts = _STEP.match(step.strip())
        verb = None if parts is None else _VERBS.get(parts['done'])
        said = step.strip() if parts is None or verb is None \
            else f'{verb} {parts["what"]}{parts["rest"]}'
        found.append(f'{said[0].upper()}{said[1:]}.')
    return ' '.join(found)
