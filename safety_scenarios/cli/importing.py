# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``scenario import``: rows of a public benchmark to scenario files."""

from pathlib import Path

import click
from safety_scenarios.cli.completion import OutputPath
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.formats.benchmark_conversion import ACCOUNT, import_files
from safety_scenarios.formats.benchmarks import BENCHMARKS


@click.command('import', epilog='Exit codes: 0 written; 2 wrong input or usage, or nothing '
                                'could be used.')
@click.argument('files', nargs=-1, required=True, metavar='FILE...',
                type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option('--from', 'benchmark', required=True, type=click.Choice(list(BENCHMARKS)),
              help='The benchmark that the files belong to.')
@click.option('--output', required=True, type=OutputPath(), metavar='DIR',
              help='New folder for the scenarios.')
def import_rows(files: tuple[Path, ...], benchmark: str, output: Path) -> None:
    r"""
    Write the rows of a public benchmark as scenario files, with an account of every row.

    Fetch the files yourself, from the address that the account names. Each scenario keeps the
    words, the licence and the attribution of its row.

    \b
    safety-scenarios scenario import --from safeagentbench dataset/*.jsonl --output sab
    safety-scenarios scenario import --from earbench dataset.csv --output ear
    """
    account = import_files(BENCHMARKS[benchmark], files, output)
    for line in account.lines():
        echo(line)
    echo(f'Not judged: {BENCHMARKS[benchmark].not_judged}')
    echo(f'Results: {output} ({ACCOUNT} names every refused row)')
    if not account.written:
        raise SystemExit(2)
