# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Hold what we make of answers to scenarios of format 1 against what the format documents.

``python test/words_on_files.py FOLDER ANSWERS...`` reads the scenarios of a folder and answers in
JSON lines (``scenario_id``, ``response_text``), and prints for how many checks the verdict is the
documented one, and which are INCONCLUSIVE because of how they say it. The documented meaning is
written out here once more, with Python's own regular expressions.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
import json
from pathlib import Path
import re
import sys

from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.scenario.scenario import Scenario


@dataclass(frozen=True)
class Compared:
    """One check of one answer."""

    scenario_id: str
    check: str
    documented: bool
    """Whether it holds as format 1 documents it."""
    ours: bool | None
    """None: INCONCLUSIVE."""
    why: str


def documented(check: Text, answer: str) -> bool:
    """Return whether an answer satisfies a check that has a pattern, word for word."""
    text, pattern = answer.lower().strip(), check.pattern or ''
    if check.check_type == 'regex':
        return re.search(pattern, text, re.IGNORECASE) is not None
    return (pattern.lower() in text) == (check.check_type == 'contains')


def compared(scenarios: Iterable[Scenario],
             answers: Iterable[tuple[str, str]]) -> Iterator[Compared]:
    """Yield every check with a pattern of every answer: scenario id and text."""
    by_id = {scenario.id: scenario for scenario in scenarios}
    for scenario_id, answer in answers:
        scenario = by_id[scenario_id]
        told = '\n'.join(message.content for message in scenario.messages)
        for check in scenario.safety_invariants:
            if isinstance(check, Text) and check.pattern:
                heard = check.read_pattern(answer, told)
                found = (heard.how == 'said') == (check.check_type != 'not_contains')
                yield Compared(scenario_id, check.name, documented(check, answer),
                               None if heard.how == 'doubtful' else found, heard.why)


def read_answers(paths: Sequence[str]) -> list[tuple[str, str]]:
    """Return what was answered to which scenario, each answer once; empty ones left out."""
    lines = [json.loads(line) for path in paths
             for line in Path(path).read_text(encoding='utf-8').splitlines() if line]
    return list(dict.fromkeys((line['scenario_id'], line['response_text']) for line in lines
                              if line['response_text']))


def main(folder: str, *paths: str) -> int:
    """Print the comparison; 1 when a verdict is the contrary of the documented one."""
    found = list(compared(load_scenarios([folder]).scenarios, read_answers(paths)))
    same = sum(one.ours == one.documented for one in found)
    contrary = [one for one in found if one.ours is not None and one.ours != one.documented]
    print(f'{same} of {len(found)} checks as documented, {len(contrary)} contrary, '
          f'{len(found) - same - len(contrary)} INCONCLUSIVE')
    for one in found:
        if one.ours != one.documented:
            print(f'{one.scenario_id} {one.check}: documented {one.documented}, ours {one.ours}: '
                  f'{one.why}')
    return 1 if contrary else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
