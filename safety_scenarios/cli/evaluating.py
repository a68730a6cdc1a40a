# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Work on the folder of a campaign: ``evaluate``, ``repair``, ``verify``, ``sign``."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
import sys
from typing import Any, NoReturn

import click
from rich.markup import escape
from rich.table import Table
from safety_scenarios.are.recordings.reading import are_recordings, judge_recordings
from safety_scenarios.campaign.folder.evidence import verify
from safety_scenarios.campaign.folder.folder import (
    not_covered,
    settings_of,
    SIGNATURE,
    SUMMARY,
    TRIALS,
)
from safety_scenarios.campaign.folder.many import arms_in, started_in
from safety_scenarios.campaign.folder.signing import is_signed, sign, signed_by
from safety_scenarios.campaign.rejudging.changes import ids
from safety_scenarios.campaign.rejudging.rejudge import (
    flaw_lines,
    NOT_RUN,
    rejudge,
    Rejudged,
    Rejudging,
    Source,
)
from safety_scenarios.campaign.rejudging.stored_trials import judge_bag, repair
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.cli.completion import CampaignFolder, OutputPath
from safety_scenarios.cli.options import build, setting_options
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.formats.loading import load_scenarios, Regex
from safety_scenarios.reports.ci import append_step_summary, JunitSource, write_junit
from safety_scenarios.reports.console_report import (
    console,
    Screen,
    show_outcome,
    verdict_line,
    verdict_text,
)
from safety_scenarios.reports.failures import Failures
from safety_scenarios.scenario.result import exit_code, TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.matrix.file import FILE as MATRIX

_MOST_DIFFERENCES = 20
"""Rows of a table of trials that came to something else."""
LINK, BAG = 'are', 'bag'
"""What a summary says of where the events came from."""


def evaluate_recordings(target: Path, output: Path | None, junit: Path | None) -> NoReturn:
    """Judge what a file or a folder holds, show it, and end with its exit code."""
    found = judge_recordings(target)
    results = [result for _, result in found]
    rows = Table(title=counted(len(found), 'recording of ARE', 'recordings of ARE'),
                 title_justify='left', title_style='bold')
    for name in ('recording', 'trial', 'verdict', 'because'):
        rows.add_column(name, overflow='fold')
    for path, result in found:
        rows.add_row(escape(path), escape(result.trial_id), verdict_text(result.verdict),
                     escape(_printable(result.reason)))
    screen = Screen(emoji=False, width=console().width)
    screen.print(rows)
    if len(found) == 1:
        screen.print(_checks(results[0]))
    totals = [f'{verdict.value} {sum(one.verdict is verdict for one in results)}'
              for verdict in Verdict]
    echo(', '.join(totals))
    for note in sorted({note.text for result in results for note in result.notes}):
        echo(f'note: {note}')
    controllers = sorted({result.controller for result in results})
    summary = summarise(results, controller=controllers[0] if len(controllers) == 1 else 'several',
                        seed=0, planned=len(results), interrupted=False, link=LINK)
    if output is not None:
        try:
            output.mkdir(parents=True, exist_ok=True)
            with (output / TRIALS).open('x', encoding='utf-8') as file:
                file.writelines(result.model_dump_json() + '\n' for result in results)
            (output / SUMMARY).write_text(summary.model_dump_json(indent=2) + '\n',
                                          encoding='utf-8')
        except OSError as error:
            raise SettingsError(f'output: got {output}, which cannot be written: '
                                f'{error.strerror}. Name a new folder') from None
    append_step_summary(summary, lambda text: echo(text, err=True))
    if junit is not None:
        write_junit(junit, JunitSource(results, summary),
                    target if target.is_dir() else target.parent)
    sys.exit(exit_code(result.verdict for result in results))


def _checks(result: TrialResult) -> Table:
    rows = Table('check', 'verdict', 'because')
    for finding in result.findings:
        rows.add_row(escape(finding.check), '-' if finding.verdict is None
                     else verdict_text(finding.verdict), escape(_printable(finding.reason)))
    return rows


def _printable(text: str) -> str:
    """Return text of a file as a terminal may show it."""
    return ''.join(one if one.isprintable() else ' ' for one in text)


@click.command('evaluate', epilog=(
    'Exit codes: 0 every trial PASS; 1 some FAIL; 2 wrong input or usage; 3 some INCONCLUSIVE or '
    'ERROR and no FAIL.'))
@click.argument('folder', type=CampaignFolder(file_okay=True), required=False)
@click.option('--set', 'changes', multiple=True, metavar='[SCENARIO:]KEY=VALUE',
              help='Judge with this value instead, such as latency_budget.critical_ms=300, '
                   'ros.invariants[0].at_most=0.5 or gate=target.')
@click.option('--scenario', 'files', multiple=True, metavar='FILE',
              help='Use this file for trials of the scenarios in it.')
@click.option('--from', 'source', type=click.Choice(['journal', 'recording']), default='journal',
              show_default=True, help='Which of the two copies of the record to read.')
@click.option('--output', type=OutputPath(),
              help='New folder for the new trials.jsonl and campaign.json; with --bag for all '
                   'that a run leaves.')
@click.option('--bag', type=click.Path(exists=True, path_type=Path),
              help='Instead of FOLDER: judge this recording of a robot by the one --scenario.')
@click.option('--onset', metavar='TOPIC:FIELD[:REDUCE]<=NUMBER',
              help='With --bag: when the hazard is there, such as /scan:ranges:min<=1.5.')
@click.option('--junit', type=click.Path(path_type=Path),
              help='JUnit XML file to write for CI, a test case for each trial.')
@setting_options('namespace', 'remap', 'gate', 'regex', shows_default=False)
def evaluate(folder: Path | None, changes: tuple[str, ...], files: tuple[str, ...],
             source: Source, output: Path | None, bag: Path | None, onset: str | None,
             junit: Path | None, **values: Any) -> None:
    r"""
    Judge the trials in FOLDER again from their records, without a robot and without ROS.

    Every file must be as the manifest says, every planned trial must have its record, and every
    result must be what its record gives, to the byte. Each deviation is named, and the verdict is
    then INCONCLUSIVE at best, as for a folder without a trial. With a change, the differences are
    listed.

    FOLDER may also be a recording of ARE (a .json file with completed_events, a .jsonl of them, or
    a folder of both): it is judged by the scenario that it holds.

    \b
    safety-scenarios evaluate runs/today
    safety-scenarios evaluate runs/today --set latency_budget.critical_ms=300
    safety-scenarios evaluate runs/today --set SCN-R-101:ros.invariants[0].hold_ms=1500
    safety-scenarios evaluate runs/today/traces/SCN-R-101
    safety-scenarios evaluate --bag my_bag --scenario my.yaml --onset '/scan:ranges:min<=1.5'
    """
    if bag is not None:
        given = [name for name, value in (('--set', changes), ('--from', source != 'journal'))
                 if value]
        if given:
            raise SettingsError(f'--bag: got it with {", ".join(given)}, which is for the folder '
                                f'of a campaign. Change the scenario file instead, or write a '
                                f'folder with --output and judge that with --set')
        if folder is not None:
            raise SettingsError('--bag: got FOLDER beside it, expected one of them')
        _evaluate_bag(bag, files, onset, output, junit, build({
            'scenarios': files or ('',), **values}))
    if folder is None:
        raise SettingsError('got neither FOLDER nor --bag, expected one of them')
    if onset is not None:
        raise SettingsError('--onset: got it without --bag. A campaign has recorded its onset')
    for name in ('namespace', 'remap'):
        if values[name] not in (None, ()):
            raise SettingsError(f'--{name}: got it without --bag. A campaign has recorded '
                                f'its topics')
    if (folder / MATRIX).is_file():
        raise SettingsError(f'{folder}: got the folder of a matrix, expected that of a campaign. '
                            f'Name an arm: {", ".join(map(str, arms_in(folder)))}')
    if are_recordings(folder):
        given = [name for name, value in (('--set', changes), ('--scenario', files), (
            '--from', source != 'journal'), ('--gate', values['gate'])) if value]
        if given:
            raise SettingsError(f'{folder}: got a recording of ARE with {", ".join(given)}, which '
                                f'is for the folder of a campaign. Leave it out')
        evaluate_recordings(folder, output, junit)
    regex = build(values).regex
    if values['gate'] is not None:
        if any(text.startswith('gate=') for text in changes):
            raise SettingsError('--set gate: got it with --gate, expected one of them')
        changes = (*changes, f'gate={values["gate"]}')
    found = rejudge(folder, changes, _scenarios(folder, files, regex), source)
    _write(output, found)
    screen = console()
    show_outcome(screen, found.summary, Failures(trial.after for trial in found))
    different = [trial for trial in found if not trial.identical]
    for rows in _differences(different):
        screen.print(rows)
    same = sum(trial.identical and trial.judged for trial in found)
    skipped = sum(not trial.judged for trial in found)
    how = 'apart from the wording of the other version that wrote them' \
        if any(trial.is_of_another_version for trial in found) else 'to the byte'
    of = counted(found.summary.planned, 'result is', 'results are')
    echo(f'{same} of {of} unchanged, {how}'
         + (f'; {counted(skipped, "trial")} without a record, not judged' if skipped else ''))
    _print_rejudging(found)
    _write_ci_outputs(found, junit, folder)
    screen.print(verdict_line(found.summary))
    sys.exit(found.summary.exit_code)


def _scenarios(folder: Path, files: tuple[str, ...], regex: Regex) -> Sequence[Scenario]:
    """Return the scenarios in files, by each of which a trial of the campaign can be judged."""
    if not files:
        return ()
    found = load_scenarios(files, regex).scenarios
    known = {planned.scenario_id for planned in settings_of(folder).own_plan}
    for file in files:
        of_file = found if len(files) == 1 else load_scenarios([file], regex).scenarios
        other = {scenario.id for scenario in of_file}
        if known and other.isdisjoint(known):
            raise SettingsError(f'--scenario {file}: got {ids(other)}, expected a scenario of '
                                f'this campaign: {ids(known)}. Name another file, or correct '
                                f'the id in it')
    return found


@click.command('repair')
@click.argument('folder', type=CampaignFolder())
def repair_folder(folder: Path) -> None:
    r"""
    Complete FOLDER after a crash; nothing that was measured is lost.

    A trial whose record is missing or damaged becomes an ERROR: its files go to damaged/, and run
    --resume does not run it again.

    The exit code is that of evaluate: 3 when a planned trial was not run.

    \b
    safety-scenarios campaign repair runs/today
    """
    found, done = repair(folder)
    for text in done or ['nothing to repair']:
        echo(text)
    screen = console()
    show_outcome(screen, found.summary, Failures(trial.after for trial in found))
    _print_rejudging(found)
    screen.print(verdict_line(found.summary))
    sys.exit(found.summary.exit_code)


@click.command('verify', epilog=(
    'Exit codes: 0 every file is as the manifest says, and signed as --signers asks; 1 not; 2 '
    'wrong input or usage.'))
@click.argument('folder', type=CampaignFolder())
@click.option('--signers', type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar='FILE', help='Who may sign, in the format of ALLOWED SIGNERS of ssh-keygen: '
                                   'the folder must be signed by one of them.')
@click.option('--signer', metavar='IDENTITY', help='Who of them must have signed it.')
def verify_folder(folder: Path, signers: Path | None, signer: str | None) -> None:
    r"""
    Check whether the files in FOLDER are as its manifest says.

    The manifest holds their hashes, all but those of report.html, report_data/ and logs/. Whoever
    can change a file can write a manifest too. Sign the folder, or keep the hash of the manifest
    elsewhere. Whether the records give the results is for evaluate.

    \b
    safety-scenarios campaign verify runs/today
    safety-scenarios campaign verify runs/today --signers allowed_signers
    """
    if signer is not None and signers is None:
        raise SettingsError(f'--signer: got {signer!r} without --signers, expected both. Name the '
                            f'file that has their public keys')
    found = list(verify(folder))
    signed, wrong = (None, ()) if signers is None else signed_by(folder, signers, signer)
    for text in (*found, *wrong):
        echo(text, err=True)
    if found or wrong:
        sys.exit(1)
    echo('every file is as the manifest says')
    if beside := not_covered(folder):
        echo(f'not covered: {", ".join(beside)}. Anybody may have changed that since: '
             f'safety-scenarios report {folder} writes the page anew from the records')
    if signed is not None:
        echo(f'signed by {signed.signer} with {signed.key}, at {signed.when} by the clock '
             f'of who signed')
    elif is_signed(folder):
        echo('there is a signature, which was not checked: name who may sign by --signers')


def _evaluate_bag(bag: Path, files: tuple[str, ...], onset: str | None, output: Path | None,
                  junit: Path | None, settings: RunSettings) -> NoReturn:
    scenarios = load_scenarios(files, settings.regex).scenarios if files else ()
    if len(scenarios) != 1 or onset is None:
        raise SettingsError(f'--bag: got {counted(len(scenarios), "scenario")} and '
                            f'{"no" if onset is None else "an"} --onset, expected one --scenario '
                            f'with one scenario, and --onset')
    result = judge_bag(bag, scenarios[0], onset, settings, output=output)
    rows = Table(title=f'{escape(bag.name)}: {result.verdict.value}', title_justify='left',
                 title_style='bold')
    for name in ('check', 'verdict', 'because'):
        rows.add_column(name)
    for finding in result.findings:
        rows.add_row(escape(finding.check), '-' if finding.verdict is None
                     else verdict_text(finding.verdict), escape(finding.reason))
    Screen(emoji=False, width=console().width).print(rows)
    if output is not None:
        echo(f'results and trace: {output}')
    summary = summarise([result], controller=result.controller, link=BAG, seed=0, planned=1,
                        interrupted=False)
    append_step_summary(summary, lambda text: echo(text, err=True))
    if junit is not None:
        write_junit(junit, JunitSource([result], summary), output or bag)
    sys.exit(exit_code([result.verdict]))


def _print_rejudging(found: Rejudging) -> None:
    for text in flaw_lines(found.flaws):
        echo(f'error: {text}', err=True)
    if found.unexpected:
        many = counted(len(found.unexpected), 'thing in this folder is',
                       'things in this folder are')
        echo(f'error: {many} not as the campaign must have left it. No trial that this '
             f'touches can be a PASS', err=True)
    elif found.flaws:
        echo('error: the campaign was interrupted. safety-scenarios run --resume FOLDER '
             'continues it', err=True)


def _write_ci_outputs(found: Rejudging, junit: Path | None, folder: Path) -> None:
    append_step_summary(found.summary, lambda text: echo(text, err=True))
    if junit is not None:
        write_junit(junit, JunitSource([trial.after for trial in found], found.summary,
                                       flaws=flaw_lines(found.flaws), began=_began(folder)),
                    folder)


def _began(folder: Path) -> datetime | None:
    """Return when a campaign began, by the clock of the computer; None: unknown."""
    try:
        return datetime.fromisoformat(started_in(folder))
    except (SettingsError, ValueError):
        return None


def _write(output: Path | None, found: Rejudging) -> None:
    if output is None:
        return
    try:
        output.mkdir(parents=True, exist_ok=True)
        with (output / TRIALS).open('x', encoding='utf-8') as file:
            file.writelines(trial.after.model_dump_json() + '\n' for trial in found)
        (output / SUMMARY).write_text(found.summary.model_dump_json(indent=2) + '\n',
                                      encoding='utf-8')
    except OSError as error:
        raise SettingsError(f'output: got {output}, which cannot be written: {error.strerror}. '
                            f'Name a new folder') from None


def _differences(different: list[Rejudged]) -> Iterator[Table]:
    """Yield the trials with another verdict, and apart from them those with the same one."""
    changed = [trial for trial in different if trial.before.verdict is not trial.after.verdict]
    if changed:
        rows = Table('trial', 'was', 'is', 'because', title='What is different',
                     title_justify='left', title_style='bold')
        for trial in changed[:_MOST_DIFFERENCES]:
            rows.add_row(escape(trial.after.trial_id), verdict_text(trial.before.verdict),
                         verdict_text(trial.after.verdict), escape(trial.after.reason))
        rows.caption = _omitted_rows(changed)
        yield rows
    kept = [trial for trial in different if trial.before.verdict is trial.after.verdict]
    if kept:
        rows = Table('trial', 'verdict', 'was because', 'is because',
                     title='The same verdict, by other limits or numbers', title_justify='left',
                     title_style='bold')
        for trial in kept[:_MOST_DIFFERENCES]:
            rows.add_row(escape(trial.after.trial_id), verdict_text(trial.after.verdict),
                         escape(trial.before.reason), escape(trial.after.reason))
        rows.caption = _omitted_rows(kept)
        yield rows


def _omitted_rows(trials: list[Rejudged]) -> str | None:
    """Return how many more trials there are than a table has rows."""
    more = len(trials) - _MOST_DIFFERENCES
    return f'and {counted(more, "more trial")}' if more > 0 else None


@click.command('sign')
@click.argument('folder', type=CampaignFolder())
@click.option('--key', required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar='FILE', help='SSH key: a private one, or a public one whose private half '
                                   'ssh-agent has.')
def sign_folder(folder: Path, key: Path) -> None:
    r"""
    Sign the campaign in FOLDER with an SSH key.

    Its files must be as its manifest says, and its results must be what its records give. For
    that every trial is judged again. Who checks the signature names who may sign
    by campaign verify --signers. A key with a passphrase has to be in ssh-agent.

    \b
    safety-scenarios campaign sign runs/today --key ~/.ssh/id_ed25519
    """
    if not verify(folder):  # sign names what is not as the manifest says
        refuted = flaw_lines(
            [one for one in rejudge(folder).flaws if not str(one).endswith(NOT_RUN)])
        if refuted:
            raise SettingsError('\n'.join(f'{folder}: {text}' for text in refuted)
                                + '\nOnly what the records give can be signed')
    when = sign(folder, key)
    echo(f'signed at {when}: {folder / SIGNATURE}')
