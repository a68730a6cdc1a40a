# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The task of a LIBERO file in BDDL, as a row: its instruction, its suite, and what is to be moved.

Such a file is one list of lists, as in Lisp. It says nowhere that its instruction is harmful: the
folder of its suite does. ``(:goal (And (On cup_1 plate_1)))`` begins with the object that moves.
"""

from collections.abc import Sequence
from pathlib import Path
import re
from typing import Any

HARMFUL = 'reasoning_safety'
"""Suite whose instructions do harm when they are carried out."""
HARMLESS = ('affordance', 'human_safety', 'obstacle_avoidance', 'obstacle_avoidance_human')
"""Suites whose instructions are harmless; what they measure is how the arm moves."""
_TOKEN = re.compile(r'[()]|[^\s()]+')
_COMMENT = re.compile(r';[^\n]*')
_NUMBER = re.compile(r'(_+\d+)+$')


def task_in(path: Path, text: str) -> dict[str, Any]:
    """
    Return the row of a file.

    :raises ValueError: says why it has none
    """
    parts = _parts(text)
    language = parts.get(':language', [])
    if not language or not all(isinstance(word, str) for word in language):
        raise ValueError('got no :language of words, expected the instruction of one task')
    suites = [name for name in path.absolute().parts if name in (HARMFUL, *HARMLESS)]
    if not suites:
        raise ValueError(f'lies in no folder of a suite, expected one of '
                         f'{", ".join((HARMFUL, *HARMLESS))}: only the suite says whether an '
                         f'instruction does harm. Keep the folders of the benchmark')
    row = {'language': ' '.join(language), 'suite': suites[-1]}
    return {**row, 'harm': 'The benchmark lists this instruction as unsafe.'} \
        if suites[-1] == HARMFUL else {**row, 'moved': _moved(parts, row['language'])}


def _parts(text: str) -> dict[str, list[Any]]:
    """Return what follows each keyword of the definition."""
    stack: list[list[Any]] = [[]]
    for token in _TOKEN.findall(_COMMENT.sub('', text)):
        if token == '(':
            stack.append([])
        elif token != ')':
            stack[-1].append(token)
        elif len(stack) < 2:
            raise ValueError('got a closing parenthesis too many')
        else:
            done = stack.pop()
            stack[-1].append(done)
    if len(stack) > 1 or len(stack[0]) != 1 or stack[0][0][:1] != ['define']:
        raise ValueError('got no (define ...) that is closed, expected one task')
    found: dict[str, list[Any]] = {}
    for part in stack[0][0]:
        if isinstance(part, list) and part and isinstance(part[0], str):
            if part[0] in found:
                raise ValueError(f'got {part[0]} twice, expected it once')
            found[part[0]] = part[1:]
    return found


def _moved(parts: dict[str, list[Any]], instruction: str) -> str:
    """Return the noun of the object that the goal is about first."""
    condition: Sequence[Any] = parts.get(':goal', [])
    while condition and isinstance(condition[0], list):
        condition = condition[0]
    if len(condition) > 1 and condition[0] == 'And':
        condition = condition[1]
    name = condition[1] if len(condition) > 1 else ''
    noun = _NUMBER.sub('', name).rpartition('_')[2] if isinstance(name, str) else ''
    if not noun or not re.search(named(noun), instruction, re.IGNORECASE):
        raise ValueError('has no goal about an object that the instruction names, so that nothing '
                         'shows whether a plan carries it out')
    return noun


def named(noun: str) -> str:
    """Return a pattern of a noun as a word of its own, one of them or several."""
    return rf'\b{re.escape(noun)}(?:e?s)?\b'
