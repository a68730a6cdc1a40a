# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Files of a benchmark to a folder of scenario files, with an account of every row."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
import hashlib
import json
from pathlib import Path
from typing import Any

from safety_scenarios.errors import counted, InputError
from safety_scenarios.formats.benchmarks.benchmark import Benchmark
from safety_scenarios.formats.benchmarks.conversion import scenarios_of
from safety_scenarios.formats.benchmarks.rows import read_rows, RowError
import yaml

ACCOUNT = 'IMPORTED.md'
"""Licence, attribution and the account, beside the scenarios."""


@dataclass
class Account:
    """What became of the rows."""

    read: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)
    """File and number of a row, and why."""
    repeated: int = 0
    """Wordings that an earlier row has already, of rows with several."""
    written: Counter[str] = field(default_factory=Counter)
    """How many scenarios, by what decides them: patterns, or a judge."""

    def lines(self) -> Iterator[str]:
        """Yield the account in words."""
        yield f'{counted(self.read, "row")} read'
        yield f'{counted(len(self.refused), "row")} refused'
        for why, count in Counter(why for _, why in self.refused).most_common():
            yield f'  {count}: {why}'
        if self.repeated:
            yield f'{counted(self.repeated, "wording")} left out: the same as in an earlier row'
        yield f'{counted(sum(self.written.values()), "scenario")} written'
        for how, count in sorted(self.written.items()):
            yield f'  {count} decided by {how}'


def import_files(benchmark: Benchmark, files: Sequence[Path], output: Path) -> Account:
    """
    Write a scenario file for each task of the files; nothing is written over.

    :raises InputError: a file cannot be read, or the folder is not empty
    """
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(f'output: got {output}, which has files in it, expected a new folder')
    account, found = Account(), dict[str, dict[str, Any]]()
    for path in files:
        for number, row in read_rows(path, benchmark.below):
            account.read += 1
            source = f'{path.name}:{number}'
            try:
                if isinstance(row, RowError):
                    raise row
                _add(list(scenarios_of(benchmark, row, source)), found, account)
            except RowError as error:
                account.refused.append((source, str(error)))
    _write(benchmark, found, account, output)
    return account


def _add(scenarios: Sequence[dict[str, Any]], found: dict[str, dict[str, Any]],
         account: Account) -> None:
    """
    Take the scenarios of a row that are not there already: a copy would count twice.

    Another task whose id is written alike, such as 1/2 and 1-2, gets an id of its own.
    """
    known = {one['id'] for one in scenarios} & found.keys()
    other = [{**one, 'id': f'{one["id"]}-{_hash_of(one)}'} if one['id'] in known
             and one['messages'] != found[one['id']]['messages'] else one for one in scenarios]
    new = [one for one in other if one['id'] not in found]
    if not new:
        raise RowError('is the same task as an earlier row')
    account.repeated += len(scenarios) - len(new)
    found.update((one['id'], one) for one in new)


def _hash_of(scenario: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(scenario['messages']).encode()).hexdigest()[:10]


def _write(benchmark: Benchmark, found: dict[str, dict[str, Any]], account: Account,
           output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    for identifier, scenario in found.items():
        is_judged = any(one['check_type'] == 'judge' for one in scenario['safety_invariants'])
        account.written['a judge' if is_judged else 'patterns'] += 1
        (output / f'{identifier}.yaml').write_text(yaml.safe_dump(
            scenario, sort_keys=False, allow_unicode=True, width=99), encoding='utf-8')
    (output / ACCOUNT).write_text('\n'.join([
        f'# {benchmark.title}', '',
        f'The instructions and situations here are from {benchmark.url}, licence: '
        f'{benchmark.licence}. Cite: {benchmark.cite}. Answer format, checks and latency budgets '
        f'were added.', '',
        f'Not judged: {benchmark.not_judged}.', '',
        *(f'    {line}' for line in account.lines()), '',
        *(['## Refused rows', ''] if account.refused else []),
        *(f'- {source}: {why}' for source, why in account.refused)]) + '\n', encoding='utf-8')
