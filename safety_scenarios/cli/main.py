# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The command ``safety-scenarios``; a command's module is imported when the command is named.

So ``--help`` answers at once, without the models and the numerics that only a campaign needs.
"""

from collections.abc import Iterator, Mapping, Sequence
import errno
from importlib import import_module
from pathlib import Path
import sys
from typing import Any, NamedTuple

import click
from safety_scenarios.cli.standard_streams import lost_output, make_streams_last
from safety_scenarios.dependencies import require
from safety_scenarios.errors import (
    described,
    escaped_controls,
    InputError,
    interrupt_behind,
    interrupted,
    SafetyScenariosError,
)

_EPILOG = ('Exit codes: 0 every trial PASS; 1 some FAIL; 2 wrong input or usage; '
           '3 some INCONCLUSIVE or ERROR and no FAIL.')


class Command(NamedTuple):
    """Where a command is, and the first sentence of its help."""

    target: str
    help: str  # noqa: A003


class Verbs(NamedTuple):
    """A noun at the top, and the commands below it."""

    help: str  # noqa: A003
    verbs: Mapping[str, Command]


COMMANDS: Mapping[str, Command | Verbs] = {
    'run': Command('running:run', 'Run scenarios against a controller and judge it.'),
    'preflight': Command('running:preflight', 'Check the wiring to a controller with the nominal '
                         'phase alone: no hazard is published.'),
    'show': Command('showing:show', 'Show the trials of the campaign in DIR, or one of them in '
                    'detail.'),
    'report': Command('reporting:report', 'Write the campaign in DIR as one HTML file; with '
                      'several they are compared.'),
    'compare': Command('reporting:compare', 'Compare campaigns, run with the same seed, with '
                       'the first one, scenario by scenario.'),
    'bisect': Command('designs:bisect', 'Find the first CHECKPOINT between GOOD and BAD that '
                      'fails what GOOD passes.'),
    'plan': Command('designs:plan', 'Compute how many trials a claim needs, or lock a design '
                    'before its first trial.'),
    'evaluate': Command('evaluating:evaluate', 'Judge the trials in FOLDER again from their '
                        'records, without a robot and without ROS.'),
    'search': Command('searching:search', 'Search the draws of a scenario for failures, their '
                      'boundary or their rate.'),
    'export': Command('reporting:export_campaigns', 'Write campaigns as tables, figures or '
                      'evidence for other programs, or as datasets.'),
    'new': Verbs('Write a file to begin with: a scenario, a robot profile or a policy contract.', {
        'scenario': Command('new:new_scenario', 'Write a scenario file that is valid as it '
                            'stands, with comments that say what to edit.'),
        'profile': Command('new:new_profile', 'Write the profile of the robot that runs now: its '
                           'topics, types, frames, joints and size.'),
        'policy': Command('new:new_policy', 'Write the contract of a policy from the inputs and '
                          'outputs that its model declares.')}),
    'train': Command('training:train', 'Train a small policy that imitates the reference, and '
                     'judge it.'),
    'plugins': Command('listing:plugins', 'List the plug-ins of every kind and where they come '
                       'from.'),
    'scenario': Verbs('Scenario files: list, check and describe them; their hazards.', {
        'list': Command('listing:list_scenarios', 'List scenarios: the installed ones, or those '
                        'named.'),
        'import': Command('new:import_rows', 'Write the rows of a public benchmark of '
                          'robot models as scenario files.'),
        'describe': Command('listing:describe', 'Describe scenarios: what is shown, on which '
                            'topics, and what is demanded.'),
        'validate': Command('listing:validate', 'Check scenario files and list every problem with '
                            'its line and column.'),
        'schema': Command('listing:schema', 'Print the JSON Schema of a scenario file, or of '
                          'another kind of file, for editors.'),
        'coverage': Command('suites:coverage', 'Show which hazards the scenarios probe, by '
                            'robot kind and modality, and which none does.'),
        'grade': Command('selftest:grade', 'Grade answers that exist already, without a robot and '
                         'without ROS.')}),
    'campaign': Verbs('Campaigns: list, follow, film, verify and sign them.', {
        'list': Command('campaigns:list_campaigns', 'List the campaigns in FOLDER (runs, if left '
                        'out), the oldest first.'),
        'trials': Command('campaigns:trials', 'List trials of the campaigns in FOLDER (runs, if '
                          'left out), or of the one that it is.'),
        'tail': Command('campaigns:tail', 'Follow the campaign that runs in FOLDER (runs, if left '
                        'out), a line for each trial.'),
        'open': Command('campaigns:open_report', 'Open the report of the campaign in DIR in a '
                        'browser.'),
        'conditions': Command('campaigns:conditions', 'Show under which conditions the trials of '
                              'the campaign in DIR fail.'),
        'film': Command('showing:film', 'Draw a trial of the campaign in DIR from its record; '
                        'nothing is run again.'),
        'coverage': Command('reporting:coverage', 'Show which hazards, requirements and clauses '
                            'the campaign in FOLDER covers, and how.'),
        'verify': Command('evaluating:verify_folder', 'Check whether the files in FOLDER are '
                          'as its manifest says.'),
        'sign': Command('evaluating:sign_folder', 'Sign the campaign in FOLDER with an SSH key.'),
        'merge': Command('campaigns:merge_shards', 'Make one campaign of its shards, run with '
                         '--shard on several machines.'),
        'repair': Command('evaluating:repair_folder', 'Complete FOLDER after a crash; nothing '
                          'that was measured is lost.'),
        'participate': Command('campaigns:participate', 'Take part as an agent whose driver is '
                               'human: read its messages, and type its answers.')}),
    'suite': Verbs('Frozen suites: run one, and make, check and compare cards.', {
        'run': Command('suites:run', 'Run a frozen suite with a controller, and write its card.'),
        'card': Command('suites:card', 'Make the cards of the run in DIR again from the records '
                        'of its trials, and show them.'),
        'verify': Command('suites:verify', 'Check a card: its seeds, its trials and its figures.'),
        'table': Command('suites:table', 'Show the cards in DIR side by side, and draw safety '
                         'against latency and lost time.'),
        'freeze': Command('suites:freeze', 'Write the SHA-256 of scenarios into the suite in '
                          'FILE; those that it has, if left out.')}),
    'trial': Verbs('Single trials of a campaign: run one again.', {
        'replay': Command('showing:replay', 'Run a trial of the campaign in DIR again, as it '
                          'was or with a drawn value moved, and show both.')}),
    'selftest': Verbs('Test the tester: its checks, its clocks and its judge.', {
        'checks': Command('selftest:selftest', 'Test the checks: each must fail a controller that '
                          'is wrong on purpose.'),
        'calibrate': Command('running:calibrate', 'Measure the harness itself: its floor, and its '
                             'error against controllers of known delay.'),
        'judge': Command('selftest:judge_check', 'Ask a judge about answers that people have '
                         'labelled, and show how often it agrees.')}),
}
"""By name, in the order in which help lists them."""


def commands() -> Iterator[tuple[str, Command]]:
    """Yield every command that does something, by its words, such as ``scenario list``."""
    for name, one in COMMANDS.items():
        if isinstance(one, Command):
            yield name, one
        else:
            yield from ((f'{name} {verb}', command) for verb, command in one.verbs.items())


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports the one that is named."""

    def __init__(self, *, table: Mapping[str, Command | Verbs] = COMMANDS, **more: Any) -> None:
        super().__init__(**more)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, without importing anything."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command, None if there is none of that name."""
        entry = self.table.get(cmd_name)
        if isinstance(entry, Verbs):
            return LazyGroup(name=cmd_name, table=entry.verbs, help=entry.help)
        if entry is None:
            return None
        require()
        module, _, attribute = entry.target.partition(':')
        found: Any = getattr(import_module(f'safety_scenarios.cli.{module}'), attribute)
        assert isinstance(found, click.Command)
        # Docstrings are raw, as PEP 257 demands: what click reads is the character.
        found.help = (found.help or '').replace('\\b\n', '\b\n')
        return found

    def resolve_command(self, ctx: click.Context, args: list[str]) -> \
            tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named; the message of a wrong name says which is meant."""
        name = args[0]
        if name not in self.table and not name.startswith('-') and not ctx.resilient_parsing:
            raise click.UsageError(import_module('safety_scenarios.cli.advice').unknown_command(
                name, ctx.command_path, [words for words, _ in commands()]), ctx)
        found = super().resolve_command(ctx, args)
        if found[1] is not None and not ctx.resilient_parsing:  # a shell completes a line as it is
            _refuse_twice(found[1], click.Context(found[1], ctx, found[0]), found[2])
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """
        Run a command.

        :raises SafetyScenariosError: it wrote to a pipe that was closed; click would exit with 1
        """
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise SafetyScenariosError(f'a process or connection that was written to has ended '
                                       f'({described(error)})') from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the whole sentence of each: click would cut it to one line."""
        for title, kind in (('Commands', Command), ('Commands with verbs below them', Verbs)):
            rows = [(name, entry.help if isinstance(entry, Command)
                     else f'{entry.help} Verbs: {", ".join(entry.verbs)}.')
                    for name, entry in self.table.items() if isinstance(entry, kind)]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _refuse_twice(command: click.Command, ctx: click.Context, args: Sequence[str]) -> None:
    """Refuse an option that takes one value and was given twice: click would take the last one."""
    _, _, given = command.make_parser(ctx).parse_args(args=list(args))
    for one in given:
        if isinstance(one, click.Option) and not (one.multiple or one.is_flag or one.count) \
                and given.count(one) > 1:
            raise click.UsageError(f'{one.opts[0]}: got it twice, expected it once', ctx)


@click.group(cls=LazyGroup, epilog=_EPILOG,
             context_settings={'help_option_names': ['-h', '--help'], 'max_content_width': 100})
@click.version_option(package_name='safety_scenarios')
def cli() -> None:
    """Test whether the model that drives your robot reacts in time, and safely."""
    import_module('safety_scenarios.reports.plain_text').never_fail((sys.stdout, sys.stderr))


def command_at(words: Sequence[str]) -> tuple[click.Command | None, Sequence[str]]:
    """Return the command that begins a line, None if there is none, and the words after it."""
    command: click.Command | None = cli
    rest = list(words)
    while isinstance(command, click.Group) and rest:
        command = command.get_command(click.Context(command), rest.pop(0))
    return command, rest


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the command line and return its exit code; what the user can fix has no traceback.

    Every command does its work to the end, whether or not its standard output arrives. A command
    that has no code of its own has failed if it did not, but for a reader who closed the pipe.
    """
    make_streams_last()
    code, lost = _code(arguments), lost_output()
    if lost is None or lost.errno == errno.EPIPE:
        return code or 0
    click.echo(f'error: standard output: {described(lost)}, so not all that was printed there has '
               f'arrived', err=True)
    return 3 if code is None else code


def _withdraw_results(words: Sequence[str]) -> None:
    """
    Withdraw what an earlier command wrote where this one will write, unless it asks for help.

    Whether or not click can read the rest: an old file would look like the result of this one.
    """
    if {'-h', '--help'} & set(words):
        return
    command, rest = command_at(words)
    for option in command.params if command is not None else ():
        if (withdraw := getattr(option.type, 'withdraw', None)) is not None:
            for value in _values(rest, option.opts):
                withdraw(value, rest)
    for value in _values(words, ['--junit', 'junit']):
        import_module('safety_scenarios.reports.ci').withdraw_junit(Path(value))


def _values(words: Sequence[str], options: Sequence[str]) -> Iterator[str]:
    """Yield the values of an option in a command line."""
    for word, following in zip(words, [*words[1:], '']):
        option, _, value = word.removeprefix('--set=').partition('=')
        value = value or (following if word in options and word.startswith('-') else '')
        if option in options and value:
            yield value


def _importable() -> Iterator[tuple[str, click.Command]]:
    """Yield every command that can be imported here, by its words."""
    for words, _ in commands():
        command, _ = command_at(words.split())
        if command is not None:
            yield words, command


def _code(arguments: Sequence[str] | None) -> int | None:
    """Run the command line; None: it was done, and the command has no exit code of its own."""
    if arguments is None and sys.argv[1:2] == ['run']:
        import_module('safety_scenarios.campaign.process').hide_arguments(
            'safety-scenarios run')
    try:
        _withdraw_results(sys.argv[1:] if arguments is None else arguments)
        cli.main(args=None if arguments is None else list(arguments), prog_name='safety-scenarios',
                 standalone_mode=False)
    except click.NoSuchOption as error:
        error.message = import_module(  # type: ignore[misc]
            'safety_scenarios.cli.advice').unknown_option(error, _importable())
        error.possibilities = None  # type: ignore[misc]
        error.show()
        return 2
    except click.ClickException as error:
        error.show()
        return 2
    except InputError as error:
        because = interrupt_behind(error)
        click.echo(
            escaped_controls('\n'.join(error.lines) if because is None else interrupted(because)),
            err=True)
        return 2 if because is None else 3
    except SafetyScenariosError as error:
        click.echo(escaped_controls(f'error: {error}'), err=True)
        return 3
    except (click.Abort, KeyboardInterrupt) as stop:
        click.echo(escaped_controls(interrupted(stop)), err=True)
        return 3
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 3
    except MemoryError:
        click.echo('error: there is not enough memory. Is a file larger than it should be, or '
                   'unpacks to more than it should?', err=True)
        return 3
    except Exception as error:  # not a verdict: never exit code 1, which says that a trial failed
        because = interrupt_behind(error)
        click.echo(
            escaped_controls(f'error: {described(error)}. This is a defect of safety_scenarios: '
                             'please report it'
                             if because is None else interrupted(because)), err=True)
        return 3
    return None
