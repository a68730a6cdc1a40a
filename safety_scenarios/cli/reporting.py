# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Reports of campaigns: ``report``, ``compare``, ``campaign coverage`` and ``export``."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
import json
from pathlib import Path
import re
import sys
from typing import Any

import click
from safety_scenarios.campaign.folder.folder import PAGE, settings_of
from safety_scenarios.campaign.folder.many import arms_in
from safety_scenarios.campaign.rejudging.rejudge import flaw_lines, rejudge
from safety_scenarios.campaign.statistics.paired import Margin
from safety_scenarios.cli.completion import CampaignFolder, OutputPath
from safety_scenarios.cli.result_files import ResultFile, ResultFolder, write_result
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.errors import counted, in_words, SettingsError
from safety_scenarios.formats.document.file_contents import bytes_of
from safety_scenarios.reports.comparison_tables import (
    arms_table,
    comparison_table,
    conclusion,
    gate_table,
)
from safety_scenarios.reports.console_report import console, Screen
from safety_scenarios.reports.console_tables import failed_by
from safety_scenarios.reports.outputs.columns import Table, TABLE_NAMES
from safety_scenarios.reports.outputs.exporting import export, Format, FORMATS, judged
from safety_scenarios.reports.outputs.matrix_report import is_matrix, report_matrix
from safety_scenarios.reports.outputs.release import Review, REVIEWS
from safety_scenarios.reports.outputs.report import report as write_report
from safety_scenarios.reports.plain_text import on_one_line
from safety_scenarios.reports.study_text import answer_lines
from safety_scenarios.reports.traceability import coverage_csv, coverage_of, listed_in, UNNAMED
from safety_scenarios.reports.trial_view.comparison import compared
from safety_scenarios.scenario.result import exit_code, failed_checks
from safety_scenarios.scenario.untrusted_text import each_key_once
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.designs.limits import GateOutcome, held, read_gate
from safety_scenarios.studies.selftest.kill_matrix import KillMatrix
from safety_scenarios.studies.side_by_side import Campaign, side_by_side
from safety_scenarios.trial.trial import PlannedTrial


@click.command('report', epilog=(
    'Exit codes: 0 written; 2 wrong input; 3 written, but a folder is not as its campaign left it '
    'or lacks trials, which the page states, or the question of a locked design cannot be '
    'answered.'))
@click.argument('folders', type=CampaignFolder(), metavar='DIR...', nargs=-1, required=True)
@click.option('--output', type=OutputPath(), metavar='FILE',
              help=f'The page; without it {PAGE} in DIR, and of several in the current folder.')
@click.option('--kill-matrix', 'matrix', metavar='FILE',
              type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help='What selftest checks --json wrote: which check catches which controller.')
@click.option('--again/--as-written', default=True, show_default=True,
              help='Judge every trial again from its record first, as evaluate does, or show what '
                   'the files say, which is faster. The page then states it.')
@click.option('--unblind', is_flag=True,
              help='Open the codes of a blinded design, and note that in DIR.')
def report(folders: tuple[Path, ...], output: Path | None, matrix: Path | None,
           again: bool, unblind: bool) -> None:
    r"""
    Write the campaign in DIR as one HTML file; with several they are compared.

    DIR may be the folder of a matrix: then the page shows its arms side by side. It needs no
    network and the extra report (pip install 'safety_scenarios[report]'). A run writes it by
    itself. Trials are judged again from their records first, as evaluate does. Of a locked design
    the answer to its question comes first.

    \b
    safety-scenarios report runs/today
    safety-scenarios report runs/before runs/after --output compared.html
    """
    from safety_scenarios.cli.designs import answered, opened
    for folder in folders:
        if not opened(folder, unblind):
            sys.exit(3)
    found = answered(folders[0]) if len(folders) == 1 else None
    page = page_for(folders, output)
    if len(folders) == 1 and is_matrix(folders[0]):
        flaws = report_matrix(
            folders[0], page, again=again, answer=list(answer_lines(found)) if found else ())
    else:
        flaws = write_report(folders, page, again=again,
                             matrix=None if matrix is None else _matrix(matrix))
    echo(str(page))
    for text in flaws:
        echo(f'error: {text}', err=True)
    sys.exit(3 if flaws or (found is not None and found.shown == 'cannot be determined') else 0)


def page_for(folders: Sequence[Path], output: Path | None, option: str = '--output') -> Path:
    """
    Return where the page goes: of what is in a campaign's folder its manifest must not know.

    :param option: that ``output`` was given by
    :raises SettingsError: it cannot be there
    """
    if output is None:
        return folders[0] / PAGE if len(folders) == 1 else Path(PAGE)
    page = output / PAGE if output.is_dir() else output
    if page.suffix.lower() not in ('.html', '.htm'):
        raise SettingsError(f'{option}: got {output}, expected a folder, or a file that ends in '
                            f'.html')
    for folder in folders:
        inside = page.resolve().is_relative_to(folder.resolve())
        if inside and page.resolve() != (folder / PAGE).resolve():
            raise SettingsError(f"{option}: got {page}, which is in the campaign's own folder, "
                                f'expected {folder / PAGE} or a place beside it: its manifest '
                                f'holds every other file of it')
    return page


def _matrix(path: Path) -> KillMatrix:
    try:
        return KillMatrix.model_validate_json(each_key_once(bytes_of(path)))
    except (OSError, ValueError) as error:
        raise SettingsError(f'--kill-matrix: {path}: cannot be read: {in_words(error):.200}. '
                            f'Name the file that safety-scenarios selftest checks --json '
                            f'wrote') from None


_FIRST_KEYS: Mapping[Review, str] = {
    'sarif': '$schema', 'oscal': 'assessment-results', 'cyclonedx': 'bomFormat'}
"""Format to the first key in its file."""


@click.command('export', epilog=(
    'Exit codes: 0 written; 2 wrong input or usage; 3 written, but a folder is not as its '
    'campaign left it: what is wrong is named, and no trial that it touches is a PASS.'))
@click.argument('folders', type=CampaignFolder(),
                nargs=-1, required=True, metavar='DIR...')
@click.option('--format', '--for', 'formats', type=click.Choice(FORMATS), multiple=True,
              help='csv, parquet: tables. svg, png: figures. evidence: an item for a safety case. '
                   'lerobot: trials as a dataset for imitation. inspect: a log for Inspect View. '
                   'sarif: failures for code scanning. oscal: assessment results. cyclonedx: '
                   'bill of materials of the model. May be given several times; csv if left out. '
                   'A recording in MCAP is made while a trial runs: run --record mcap.')
@click.option('--output', required=True, type=ResultFolder(
    {**{how: (f'{{\n  "{_FIRST_KEYS[how]}": ', (name,)) for how, name in REVIEWS.items()},
     'csv': ('campaign,trial_id,', tuple(f'{name}.csv' for name in TABLE_NAMES))}, 'csv'),
              help='Folder to write into; files of the same names are replaced.')
@click.option('--table', 'tables', type=click.Choice(TABLE_NAMES), multiple=True,
              help='Write only this table; may be given several times.')
def export_campaigns(folders: tuple[Path, ...], formats: tuple[Format, ...], output: Path,
                     tables: tuple[Table, ...]) -> None:
    r"""
    Write campaigns as tables, figures or evidence for other programs, or as datasets.

    Trials are judged again from their records first, as evaluate does. The data dictionary beside
    the tables explains each column: its meaning, unit and clock, and what an empty cell means.

    \b
    safety-scenarios export runs/today --output tables
    safety-scenarios export runs/before runs/after --format parquet --table trials --output tables
    safety-scenarios export runs/today --format svg --format evidence --output paper
    safety-scenarios export runs/today --format lerobot --output datasets
    safety-scenarios export runs/today --format sarif --format cyclonedx --output review
    safety-scenarios export runs/today --for inspect --output logs
    """
    chosen: tuple[Format, ...] = tuple(dict.fromkeys(formats)) or ('csv',)
    if tables and not {'csv', 'parquet'} & set(chosen):
        raise SettingsError(f'--table: got it with --format {chosen[0]}, expected it with csv or '
                            f'parquet. Leave it out')
    campaigns = judged(folders)
    for path in export(campaigns, chosen, tuple(dict.fromkeys(tables)) or TABLE_NAMES, output,
                       lambda line: echo(f'note: {on_one_line(line)}', err=True)):
        echo(str(path))
    flawed = [one for one in campaigns if one.found.flaws]
    for one in flawed:
        for line in flaw_lines(one.found.flaws):
            echo(f'error: {on_one_line(f"{one.folder}: {line}")}', err=True)
    sys.exit(3 if flawed else 0)


@click.command('coverage', epilog=(
    'Exit codes: 0 every label is covered and every trial a PASS; 1 some FAIL; 2 wrong input or '
    'usage; 3 some label is not covered, or some trial INCONCLUSIVE or ERROR, and no FAIL.'))
@click.argument('folder', type=CampaignFolder())
@click.option('--requirements', type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help='What must be covered: a text file with one label a line, or a CSV with a '
                   'column label, and a column kind if not all are requirements.')
@click.option('--output', type=ResultFile('"kind","label","covered",'),
              help='CSV file to write; without it the table goes to the screen.')
def coverage(folder: Path, requirements: Path | None, output: Path | None) -> None:
    r"""
    Show which hazards, requirements and clauses the campaign in FOLDER covers, and how.

    One row each, as CSV. Trials are judged again from their records first, as evaluate does. A
    label is covered if a trial of a scenario that names it came to PASS or FAIL; one that is named
    and only INCONCLUSIVE is not. Neither is one with a planned trial without a record.

    \b
    safety-scenarios campaign coverage runs/today --requirements requirements.txt
    safety-scenarios campaign coverage runs/today --output coverage.csv
    """
    listed = listed_in(requirements) if requirements is not None else ()
    found = rejudge(folder)
    rows = coverage_of(folder, found, listed)
    text = coverage_csv(rows)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_result('--output', output, text)
    for line in flaw_lines(found.flaws):
        echo(f'error: {line}', err=True)
    labels = [row for row in rows if row.kind != UNNAMED]
    open_ = [row for row in labels if not row.is_covered]
    echo(f'{len(labels) - len(open_)} of {len(labels)} labels are covered; '
         f'{len(rows) - len(labels)} of the scenarios name none', err=True)
    if not labels:
        echo('note: no scenario names a hazard, a requirement or a clause: '
             'doc/reference/scenario_file.md shows where to write them', err=True)
    for row in open_[:40]:
        echo(f'not covered: {row.kind} {row.label}: {row.why}', err=True)
    worst = [found.summary.verdict, *([Verdict.INCONCLUSIVE] if open_ or not labels else [])]
    sys.exit(exit_code(worst))


_MARGIN = re.compile(r'([0-9]+(?:\.[0-9]+)?) ?(%|ms)')


@click.command()
@click.argument('folders', metavar='FIRST [OTHER]...', nargs=-1, required=True,
                type=CampaignFolder())
@click.option('--margin', 'margins', metavar='N%|Nms', multiple=True,
              help='By how much others may be worse than FIRST: 2% more failed trials, or 50ms '
                   'later in the median. Shows whether they are not worse than that; repeat it '
                   'for both.')
@click.option('--gate', 'limits', metavar='FILE', type=click.Path(path_type=Path),
              help='File with limits of acceptance (scenario schema gate), which decide the exit '
                   'code. It is no latency class, as --gate of run and evaluate is.')
@click.option('--json', 'file', metavar='FILE', type=ResultFile('{\n  "first": '),
              help='Also write the comparison to this file; - for standard output, with the table '
                   'on standard error.')
@click.option('--html', 'page', metavar='FILE', type=click.Path(path_type=Path),
              help='Also write all as one page, with plots of the pairs, every trial whose '
                   'verdict is another, and the Pareto front; needs the extra report.')
def compare(folders: tuple[Path, ...], margins: tuple[str, ...], limits: Path | None,
            file: Path | None, page: Path | None) -> None:
    r"""
    Compare campaigns, run with the same seed, with the first one, scenario by scenario.

    A folder of campaigns, such as that of a matrix, stands for all of them. Several are corrected
    for their number, each against the first (Holm).

    Results are judged again from their records first, as evaluate does: a folder with anything in
    it that its campaign cannot have left is refused. Campaigns that are not to be judged alike,
    by other budgets, gates, scenarios or clocks, are not comparable: every difference is named,
    there is no p-value, and the exit code is 2. Trials that are INCONCLUSIVE or ERROR do
    not count as a difference: where they might hide one, the comparison is undecided.

    Exit codes: 0 compared, also if a regression or "inconclusive" is printed; 2 wrong input, or
    not comparable; 3 no pair of trials that is PASS or FAIL in both, or a folder that cannot be
    relied on. With --margin also 1 shown worse than a margin; 3 a margin not shown. With --gate
    the limits decide: 0 all hold; 1 one is broken; 3 one cannot be determined, or no limit
    counts a trial that is not PASS.

    \b
    safety-scenarios compare runs/before runs/after
    safety-scenarios compare runs/before runs/after --margin 2% --margin 50ms
    safety-scenarios compare runs/before runs/after --gate gate.yaml --json comparison.json
    safety-scenarios compare runs/before runs/a runs/b --html comparison.html
    """
    gate = None if limits is None else read_gate(limits)
    stated = [_margin(text) for text in margins]
    folders = tuple(arm for folder in folders for arm in arms_in(folder))
    if len(folders) < 2 and gate is None:
        raise SettingsError(f'compare: got one campaign, {folders[0]}, expected two or more, or '
                            f'--gate with limits for one')
    page = None if page is None else _page(page, folders)
    campaigns = side_by_side(folders, stated, _bar)
    outcome = None if gate is None else held(gate, campaigns)
    code = outcome.exit_code if outcome else _exit_code(campaigns)
    is_piped = file == Path('-')
    if file is not None:
        text = json.dumps(_data(folders, campaigns, outcome, code), indent=2, ensure_ascii=False)
        echo(text) if is_piped else write_result('--json', file, text)
    screen = Screen(emoji=False, width=console().width, stderr=is_piped)
    if len(campaigns) > 2:
        screen.print(arms_table(campaigns))
    for one in campaigns[1:]:
        if one.against is not None:
            screen.print(comparison_table(one.against, campaigns[0].name, one.name))
    if outcome is not None:
        screen.print(gate_table(outcome))
    if page is not None:
        from safety_scenarios.reports.outputs.report import report
        report(folders, page, again=True, comparison=compared(campaigns))
        echo(f'  {page}', err=is_piped)
    for one, folder in zip(campaigns, folders, strict=True):
        _print_campaign(one, folder, err=is_piped)
    for one in campaigns[1:]:
        if one.against is not None:
            echo(conclusion(one.against, campaigns[0].name, one.name), err=is_piped)
    sys.exit(code)


def _bar(plan: Collection[PlannedTrial]) -> AbstractContextManager[Iterable[PlannedTrial]]:
    """Show on standard error how far the judging is; where that is no terminal, what is judged."""
    return click.progressbar(plan, file=sys.stderr,
                             label=f'judging {counted(len(plan), "trial")} again')


def _margin(text: str) -> Margin:
    found = _MARGIN.fullmatch(text.strip())
    if found is None:
        raise SettingsError(f'--margin: got {text!r}, expected a share of trials such as 2%, or a '
                            f'time such as 50ms')
    number = float(found[1])
    if found[2] == 'ms':
        return Margin('reaction', number)
    if number >= 100.0:
        raise SettingsError(f'--margin: got {text!r}, expected less than 100%')
    return Margin('failures', number / 100.0)


def _exit_code(campaigns: Sequence[Campaign]) -> int:
    """Return the worst of all comparisons: 1 before 3 before 0."""
    codes = {one.against.exit_code for one in campaigns if one.against is not None}
    return 1 if 1 in codes else max(codes)


def _data(folders: Sequence[Path], campaigns: Sequence[Campaign], outcome: GateOutcome | None,
          code: int) -> Mapping[str, Any]:
    return {'first': str(folders[0]), 'exit_code': code, 'others': [
        {'folder': str(folder), 'name': one.name, 'warning': one.warning,
         **one.against.model_dump(mode='json')}
        for folder, one in zip(folders, campaigns, strict=True) if one.against is not None],
        **({} if outcome is None else {'gate': outcome.model_dump(mode='json')})}


def _print_campaign(one: Campaign, folder: Path, err: bool) -> None:
    """Print who was judged, and what the comparison found or could not find."""
    settings = settings_of(folder)
    known = settings.sut
    echo(f'{one.name}: seed {settings.run.seed}', err=err)
    told = [] if known is None else [*known.lines, *filter(None, [known.unidentified])]
    for text in told:
        echo(f'{one.name}: {text}', err=err)
    failed = failed_by(failed_checks(result for result in one.results if not result.warmup))
    if failed:
        echo(f'{one.name}: failed by: {failed}', err=err)
    found = one.against
    if found is None:
        return
    if one.warning:
        echo(f'warning: {one.name}: {one.warning}', err=True)
    for text in found.regressions:
        echo(f'regression: {one.name} {text}', err=True)
    if not found.decided:
        echo(f'error: {one.name}: nothing could be compared: no pair of trials is PASS or '
             f'FAIL in both', err=True)
    for text in found.doubts:
        echo(f'inconclusive: {one.name}: {text}', err=True)


def _page(page: Path, folders: Sequence[Path]) -> Path:
    """Return where the page goes, before anything is judged."""
    from safety_scenarios.reports.page.page import require
    require()
    return page_for(folders, page, '--html')
