# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Commands of the group ``campaign``, but for those that judge, film or sign one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import json
import os
from pathlib import Path
import sys
import time
from typing import Any
import webbrowser

import click
from pydantic import ValidationError
from rich.markup import escape
from rich.table import Table
from safety_scenarios.campaign.folder.folder import no_campaign, PAGE
from safety_scenarios.campaign.folder.many import campaigns_in, follow, least_margins, Listed
from safety_scenarios.campaign.merging import merge
from safety_scenarios.campaign.open_session import from_ros
from safety_scenarios.campaign.process import interruptible
from safety_scenarios.campaign.refusals import refuse_rules
from safety_scenarios.campaign.rejudging.rejudge import flaw_lines, rejudge
from safety_scenarios.cli.completion import CampaignFolder, OutputPath
from safety_scenarios.cli.options import build, setting_options
from safety_scenarios.cli.standard_streams import echo, lost_output
from safety_scenarios.errors import counted, SafetyScenariosError, SettingsError
from safety_scenarios.judging.findings.harness import doubted
from safety_scenarios.reports.console_report import (
    console,
    latency_text,
    print_text,
    show,
    verdict_line,
    verdict_text,
)
from safety_scenarios.reports.failures import condition_lines, conditions_data
from safety_scenarios.reports.plain_text import on_one_line
from safety_scenarios.scenario.blocks.agents import AGENTS, ros_token
from safety_scenarios.scenario.result import exit_code, TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.conditions.failures import conditions_of

_FOLDER = click.argument(
    'folder', type=click.Path(exists=True, file_okay=False, path_type=Path), default='runs',
    metavar='[FOLDER]')
_EVERY_S = 0.2
"""How often a campaign that runs is looked at."""
_DISPLAYS = ('DISPLAY', 'WAYLAND_DISPLAY', 'BROWSER')
"""Environment variables of which one says that a browser can be shown."""
_MOST_MARGINS = 4


@click.command('list')
@_FOLDER
def list_campaigns(folder: Path) -> None:
    r"""
    List the campaigns in FOLDER (runs, if left out), the oldest first.

    Each that has ended is judged again from its records, as evaluate does. One that still runs,
    was cut off or is broken is named as such and has no verdict. Worst margins are the least in
    each unit. The exit code is that of the worst campaign; one that was cut off or is broken
    counts as INCONCLUSIVE, and one that runs does not count.

    \b
    safety-scenarios campaign list runs
    """
    found = _some(folder)
    judged = {one.folder: _judged_again(one) for one in found}
    rows = Table(title=f'{counted(len(found), "campaign")} in {_plain(folder)}',
                 title_justify='left', title_style='bold')
    for name in ('campaign', 'started (UTC)', 'controller', 'scenarios', 'verdict', 'trials',
                 'worst margins', 'state'):
        rows.add_column(name, justify='right' if name == 'scenarios' else 'left')
    for one in found:
        made = '-' if one.state in ('broken', 'judged again') else f'{len(one.results)}'
        made += '' if one.planned is None else f' of {one.planned}'
        rows.add_row(
            _plain(one.name), _plain(one.when) or '-', _plain(one.controller),
            str(len({result.scenario_id for result in one.results})),
            verdict_text(verdict).strip() if (verdict := judged[one.folder].verdict) else '-',
            made, _margins(least_margins(one.results)),
            ('interrupted' if one.summary and one.summary.interrupted else one.state)
            + (f': {_plain(one.problem)}' if one.problem else '')
            + ''.join(f'; {_plain(text)}' for text in judged[one.folder].remarks))
    show(rows)
    counting = [judged[one.folder].verdict or Verdict.INCONCLUSIVE for one in found
                if one.state in ('ended', 'cut off', 'broken')]
    sys.exit(exit_code(counting) if counting else 0)


def _some(folder: Path) -> Sequence[Listed]:
    """Return the campaigns in a folder, the oldest first."""
    found = campaigns_in(folder)
    if not found:
        raise no_campaign(folder)
    return found


@dataclass(frozen=True)
class _Judged:
    """What a campaign comes to by its records."""

    verdict: Verdict | None = None
    remarks: tuple[str, ...] = ()


def _judged_again(one: Listed) -> _Judged:
    """Judge a campaign that has ended again; no other one has a verdict."""
    if one.summary is None:
        return _Judged()
    try:
        found = rejudge(one.folder)
    except SafetyScenariosError as error:
        return _Judged(Verdict.ERROR, (str(error),))
    flaws = found.unexpected
    remarks = [f'{counted(len(flaws), "thing is", "things are")} not as the campaign left '
               f'it, the first {flaw}' for flaw in flaws[:1]]
    if found.summary.repaired:
        remarks.insert(0, 'repaired')
    if found.summary.interrupted:
        remarks.insert(0, f'safety-scenarios run --resume {one.folder} continues it')
    return _Judged(found.summary.verdict, tuple(remarks))


@click.command('tail', epilog=(
    'Exit codes: those of the campaign; 3 if it was cut off or is broken; 2 wrong input or '
    'usage.'))
@_FOLDER
def tail(folder: Path) -> None:
    r"""
    Follow the campaign that runs in FOLDER (runs, if left out), a line for each trial.

    FOLDER is that of a campaign, or one with many, of which the newest that runs is followed, or
    the newest of all if none does. It ends when the campaign ends.

    \b
    safety-scenarios campaign tail runs
    """
    found = _some(folder)
    chosen = next((one for one in reversed(found) if one.state == 'running'), found[-1])
    click.echo(f'{on_one_line(str(chosen.folder))}: {chosen.state}', err=True)
    screen = console()
    number = 0
    for result in follow(chosen.folder, lambda: time.sleep(_EVERY_S)):
        number += 1
        screen.print(f'[dim]{number}[/] {_line(result)}', soft_wrap=True, highlight=False)
        if lost_output() is not None:
            sys.exit(3)
    [now] = campaigns_in(chosen.folder)
    summary = now.summary
    if summary is None:
        click.echo('error: it was cut off. Run campaign repair' if now.state != 'broken'
                   else f'error: no verdict: {on_one_line(now.problem)}', err=True)
        sys.exit(3)
    click.echo(f'{summary.verdict.value}, exit code {summary.exit_code}', err=True)
    sys.exit(summary.exit_code)


@click.command('trials', epilog=(
    'Exit codes: 0 listed; 2 wrong input or usage; 3 listed, but a campaign is broken or not as '
    'it was left, so that trials may be missing.'))
@_FOLDER
@click.option('--failed', is_flag=True, help='The same as --verdict FAIL.')
@click.option('--verdict', 'verdicts', multiple=True,
              type=click.Choice([verdict.value for verdict in Verdict], case_sensitive=False),
              help='Only trials of this verdict; may be given several times.')
@click.option('--scenario', 'scenarios', multiple=True, metavar='ID',
              help='Only trials of this scenario; may be given several times.')
def trials(folder: Path, failed: bool, verdicts: tuple[str, ...],
           scenarios: tuple[str, ...]) -> None:
    r"""
    List trials of the campaigns in FOLDER (runs, if left out), or of the one that it is.

    Each trial is judged again from its record, as evaluate does. One whose record does not give
    its result is INCONCLUSIVE at best.

    \b
    safety-scenarios campaign trials runs --failed
    safety-scenarios campaign trials runs --verdict ERROR --verdict INCONCLUSIVE
    """
    found = _some(folder)
    wanted = {verdict.upper() for verdict in verdicts} | ({'FAIL'} if failed else set())
    judged = [(one, *_trials_judged_again(one)) for one in found]
    known = {result.scenario_id for _, results, _ in judged for result in results}
    for name in scenarios:
        if name not in known:
            raise SettingsError(f'--scenario: got {name}, expected one of '
                                f'{", ".join(sorted(known)) or "(there is no trial)"}')
    rows, left, open_ = _trial_table(), 0, 0
    for one, results, _ in judged:
        for result in results:
            if scenarios and result.scenario_id not in scenarios:
                continue
            if wanted and result.verdict.value not in wanted:
                left += 1
                open_ += not result.is_decided
                continue
            rows.add_row(_plain(one.name), _plain(result.trial_id),
                         verdict_text(result.verdict).strip(), latency_text(result.latency),
                         _plain(result.reason))
    show(rows)
    click.echo(f'{counted(rows.row_count, "trial")} of {counted(len(found), "campaign")}'
               + (f'; {left} not listed, of which {open_} INCONCLUSIVE or ERROR' if left else ''),
               err=True)
    errors = [f'{one.folder}: {text}' for one, _, flaws in judged for text in (
        [f'{one.state}: {one.problem}'] if one.state in ('broken', 'cut off') else flaws)]
    for text in errors:
        click.echo(f'error: {on_one_line(text)}', err=True)
    sys.exit(3 if errors else 0)


def _trials_judged_again(one: Listed) -> tuple[Sequence[TrialResult], Sequence[str]]:
    """
    Return the trials of a campaign by their records, and what is not as it was left.

    A campaign that runs writes on while it is read: what it lacks yet is no flaw.
    """
    if one.state in ('broken', 'judged again'):
        return (), ()
    try:
        found = rejudge(one.folder, has_ended=one.state == 'ended')
    except SafetyScenariosError as error:
        return [doubted(result, [str(error)]) for result in one.results], [str(error)]
    judged = [trial.after for trial in found if not trial.after.warmup]
    known = {result.trial_id for result in judged}
    return [*judged, *(doubted(result, ['it could not be judged again']) for result in one.results
                       if result.trial_id not in known)], \
        flaw_lines(found.flaws) if one.state == 'ended' else ()


@click.command('open')
@click.argument('folder', type=CampaignFolder(file_okay=True), metavar='DIR')
def open_report(folder: Path) -> None:
    r"""
    Open the report of the campaign in DIR in a browser.

    Where there is no display, its path is printed and nothing else happens.

    \b
    safety-scenarios campaign open runs/today
    """
    page = _page(folder).resolve()
    click.echo(on_one_line(str(page), 4096))
    if not any(os.environ.get(name) for name in _DISPLAYS):
        click.echo('note: there is no display to open it on', err=True)
    elif not webbrowser.open(page.as_uri()):
        click.echo('note: no browser could be started', err=True)


def _page(folder: Path) -> Path:
    if folder.is_file():
        if folder.suffix.lower() not in ('.html', '.htm'):
            raise SettingsError(f'DIR: got {folder}, expected a folder or an HTML file')
        return folder
    if (folder / PAGE).is_file():
        return folder / PAGE
    found: Sequence[Listed] = campaigns_in(folder)
    if any(one.folder == folder for one in found):
        raise SettingsError(f'{folder}: got no {PAGE} in it. Run safety-scenarios report '
                            f'{folder}')
    raise no_campaign(folder)


def _trial_table() -> Table:
    rows = Table()
    for name in ('campaign', 'trial', 'verdict', 'latency', 'reason'):
        rows.add_column(name)
    return rows


def _line(result: TrialResult) -> str:
    reason = '' if result.verdict is Verdict.PASS else f'  {_plain(result.reason)}'
    warmup = ' [dim]warm-up[/]' if result.warmup else ''
    return (f'{verdict_text(result.verdict)} {_plain(result.scenario_name)} '
            f'[dim]{_plain(result.trial_id)}[/]{warmup}  {latency_text(result.latency)}{reason}')


def _plain(text: object) -> str:
    """Return foreign text so that neither a terminal nor the table takes it for more."""
    return escape(on_one_line(str(text)))


def _margins(found: Mapping[str, float]) -> str:
    least = sorted(found.items(), key=lambda pair: pair[0] not in ('m', 's'))[:_MOST_MARGINS]
    return ', '.join(f'{value:.3g} {_plain(unit)}' for unit, value in least) or '-'


@click.command('merge')
@click.argument('folders', nargs=-1, required=True, metavar='DIR...', type=CampaignFolder())
@click.option('--output', required=True, metavar='DIR', type=OutputPath(),
              help='New folder for the campaign.')
def merge_shards(folders: tuple[Path, ...], output: Path) -> None:
    r"""
    Make one campaign of its shards, each of which is the folder of a run with --shard.

    Every shard is judged again from its records first. The numbers are those of one run.

    \b
    safety-scenarios run robotic --link loopback --trials 100 --seed 1 --shard 1/2 --output one
    safety-scenarios run robotic --link loopback --trials 100 --seed 1 --shard 2/2 --output two
    safety-scenarios campaign merge one two --output both
    """
    summary = merge(folders, output)
    screen = console()
    screen.print(f'Results: {output}', markup=False)
    screen.print(verdict_line(summary))
    sys.exit(summary.exit_code)


@click.command('conditions', epilog=(
    'Exit codes: 0 shown, also where no condition stands out; 2 wrong input; 3 the folder is not '
    'as its campaign left it.'))
@click.argument('folder', type=CampaignFolder(), metavar='DIR')
@click.option('--json', 'as_json', is_flag=True,
              help='Print it as JSON on standard output instead.')
def conditions(folder: Path, as_json: bool) -> None:
    r"""
    Show under which conditions the trials of the campaign in DIR fail.

    For each scenario with a failure it names the interval or value of one draw, or of two, in
    which trials fail more often than elsewhere, with both rates. The p-value is corrected for all
    conditions that were looked at. Trials are judged again from their records first. ERROR and
    INCONCLUSIVE do not count as failures, and have conditions of their own.

    \b
    safety-scenarios campaign conditions runs/today
    """
    found = rejudge(folder)
    known = conditions_of([(trial.after, trial.trial) for trial in found], found.summary.link)
    if as_json:
        click.echo(json.dumps([conditions_data(one) for one in known], indent=2))
    else:
        for one in known:
            for line in condition_lines(one):
                print_text(line)
        if not known:
            print_text('every trial passed: no failure to look at. Conditions in which no trial '
                       'was drawn were not tested')
    for line in flaw_lines(found.flaws):
        echo(f'error: {line}', err=True)
    sys.exit(3 if found.flaws else 0)


_TOOL = '/tool'


@click.command()
@click.argument('agent_id')
@setting_options('namespace', 'remap')
@click.option('--domain-id', 'domain_id', metavar='N',
              help='ROS domain of the campaign; ROS_DOMAIN_ID, or 0, if left out.')
def participate(agent_id: str, **values: Any) -> None:
    r"""
    Take part as an agent whose driver is human: read its messages, and type its answers.

    Each line is said to everybody. /tool NAME {JSON} calls a tool. Ctrl-D (the end of input) and
    Ctrl-C leave; a trial that is still running then ends as an error. Start this command before
    the campaign, in the same ROS domain.

    \b
    safety-scenarios campaign participate a1 --domain-id 17
    """
    settings = build(values)
    space = f'{AGENTS}/{ros_token(agent_id)}'
    refuse_rules(settings.remap, (f'{space}/in', f'{space}/out'), settings.namespace)
    taking_part = from_ros('nodes.participant_node', 'taking part').taking_part
    interruptible()
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(errors='backslashreplace')  # type: ignore[union-attr]
    try:
        with taking_part(agent_id, settings.names.arguments, settings.domain_id, _show) as node:
            _show(f'{agent_id} waits for a trial')
            node.begun.wait()
            for line in iter(sys.stdin.readline, ''):
                if line.strip():
                    _say(node, line.strip())
    except KeyboardInterrupt:
        pass


def _say(node: Any, line: str) -> None:
    try:
        if line.partition(' ')[0] == _TOOL:
            name, args = _call(line)
            node.speak('tool_call', name=name, args=args)
        else:
            node.speak('say', text=line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        click.echo(f'not sent: {first["loc"][0]}: {first["msg"]}', err=True)
    except ValueError as error:
        click.echo(f'not sent: {error}', err=True)


def _call(line: str) -> tuple[str, dict[str, Any]]:
    """Return name and arguments of a tool call."""
    _, name, text = (*line.split(maxsplit=2), '', '')[:3]
    try:
        args = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        args = None
    if not name or not isinstance(args, dict):
        raise ValueError(f'got {line[:100]}, expected {_TOOL} NAME, or {_TOOL} NAME {{"key": 1}}')
    return name, args


def _show(line: str) -> None:
    """Print a line; what a terminal might obey is shown and not sent there."""
    click.echo(''.join(one if one.isprintable() else one.encode('unicode_escape').decode('ascii')
                       for one in line))
