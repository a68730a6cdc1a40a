# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``compare``: campaigns against the first one, and limits of acceptance."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
import json
from pathlib import Path
import re
import sys
from typing import Any

import click
from safety_scenarios.campaign.folder.folder import settings_of
from safety_scenarios.campaign.folder.many import arms_in
from safety_scenarios.campaign.statistics.noninferiority import Margin
from safety_scenarios.cli.completion import CampaignFolder
from safety_scenarios.cli.result_files import ResultFile, write_result
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.reports.comparison_tables import (
    arms_table,
    comparison_table,
    conclusion,
    gate_table,
)
from safety_scenarios.reports.console_report import console, Screen
from safety_scenarios.reports.console_tables import failed_by
from safety_scenarios.reports.trial_view.comparison import compared
from safety_scenarios.scenario.result import failed_checks
from safety_scenarios.studies.designs.limits import GateOutcome, held, read_gate
from safety_scenarios.studies.side_by_side import Campaign, side_by_side
from safety_scenarios.trial.trial import PlannedTrial

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
    the limits alone decide: 0 all hold; 1 one is broken; 3 one cannot be determined.

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
        _tell(one, folder, err=is_piped)
    for one in campaigns[1:]:
        if one.against is not None:
            echo(conclusion(one.against, campaigns[0].name, one.name), err=is_piped)
    sys.exit(code)


def _bar(plan: Collection[PlannedTrial]) -> AbstractContextManager[Iterable[PlannedTrial]]:
    """Show on standard error how far the judging is; where that is no terminal, what is judged."""
    return click.progressbar(plan, file=sys.stderr,
                             label=f'judging {counted(len(plan), "trial")} from their records')


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


def _tell(one: Campaign, folder: Path, err: bool) -> None:
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
    from safety_scenarios.cli.reporting import page_for
    from safety_scenarios.reports.page.page import require
    require()
    return page_for(folders, page, '--html')
