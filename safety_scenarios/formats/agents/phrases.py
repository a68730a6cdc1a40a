# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Words that are looked for with no quotes around them, though they were meant as the rule."""

from collections.abc import Iterator, Sequence
import re

from safety_scenarios.formats.agents.cursor import GrammarError
from safety_scenarios.formats.agents.file import AgentFile
from safety_scenarios.formats.agents.grammar import parse_trigger
from safety_scenarios.formats.agents.remarks import Remarks, SWALLOWED

_BARE = re.compile(r'says:\s*(?=[^\s"“])', re.IGNORECASE)
_GOES_ON = re.compile(
    r'\s+(?=(?:does\s+not\s+happen\s+within|unless|within|at\s+least|from'
    r'|(?:and|or)\s+(?:not\s+)?(?:says|tool|signal):)(?!\S))', re.IGNORECASE)

_RULE = re.compile(
    r'says:\s*[^\s"“].*\s(?:does\s+not\s+happen|at\s+least\s+\d+\s+times?'
    r'|within\s+\d[\d.]*\s*(?:ms|s|min))(?!\S)', re.IGNORECASE | re.DOTALL)


def check_phrases(file: AgentFile, remarks: Remarks) -> None:
    """
    Warn of triggers that would go on behind a phrase, had it quotes around it.

    All that follows ``says:`` without quotes is looked for, such as "stop within 5 s".
    """
    tools, agents = [one.name for one in file.tools], [one.id for one in file.agents]
    for index, rule in enumerate(file.rules):
        quoted = next(_quoted(rule.trigger, tools, agents), '')
        if quoted or _RULE.search(rule.trigger):
            remarks.warn(('rules', index, 'trigger'), f'got words of a rule in what has to be '
                         f'said: without quotes it is all that follows. If that is not meant, '
                         f'{f"write {quoted}" if quoted else "put what is said in quotes"}',
                         SWALLOWED)


def _quoted(text: str, tools: Sequence[str], agents: Sequence[str]) -> Iterator[str]:
    """Yield the trigger with quotes around the first words of what is said, where that is one."""
    bare = _BARE.search(text)
    if bare is None:
        return
    for place in _GOES_ON.finditer(text, bare.end()):
        said, rest = text[bare.end():place.start()], text[place.end():].strip()
        told = f'{text[:bare.start()]}says: "{said.strip()}" {rest}'
        try:
            found = parse_trigger(told, tools, agents)
        except GrammarError:
            continue
        if found.agent.casefold() in ('', *(one.casefold() for one in agents)):
            yield told
