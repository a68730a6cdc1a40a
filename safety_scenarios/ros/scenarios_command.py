# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``ros2 scenarios``: the command line of this package as a command of ros2cli."""

from argparse import ArgumentParser, Namespace, REMAINDER
from importlib.metadata import entry_points
from typing import Any

from ros2cli.command import CommandExtension

_PROGRAM = 'safety-scenarios'


class ScenariosCommand(CommandExtension):
    """Run safety scenarios against a robot controller, and judge it."""

    def add_arguments(self, parser: ArgumentParser, cli_name: str) -> None:
        """Take whatever follows as it is."""
        parser.epilog = (f'The same as {_PROGRAM}: {cli_name} run robotic, {cli_name} scenario '
                         f'list, {cli_name} help')
        parser.add_argument('--version', action='store_true', help='show the version')
        parser.add_argument('arguments', nargs=REMAINDER, metavar='COMMAND ...',
                            help=f'a command of {_PROGRAM}, and its options; help: all of them')

    def main(self, *, parser: ArgumentParser, args: Namespace) -> int:
        """Run the command and return its exit code."""
        [program] = entry_points(group='console_scripts', name=_PROGRAM)
        run: Any = program.load()
        arguments = ['--version'] if args.version else list(args.arguments)
        return int(run(['--help'] if arguments in ([], ['help']) else arguments))
