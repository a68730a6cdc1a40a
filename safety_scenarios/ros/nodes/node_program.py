# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the programs of our nodes have in common: help, signals, exit codes, the parent's end."""

import _thread
import atexit
from collections.abc import Callable, Sequence
from dataclasses import dataclass
import logging
import os
import signal
import sys
import threading
import time

from rclpy.context import Context
from safety_scenarios.errors import SafetyScenariosError
from safety_scenarios.reports.plain_text import speak_plainly
from safety_scenarios.ros.domain import abandoned, remove_segments
from safety_scenarios.ros.nodes.node_arguments import usage, wants_help
from safety_scenarios.ros.parameters import names_of, NOT_PARAMETERS
from safety_scenarios.ros.spinning import ros_context
from safety_scenarios.scenario.noun import Noun

_PATIENCE_S = 5.0
"""Threads of a node have this long to end by themselves after its parent has gone."""
_MAPPED_S = 1.2
"""After a participant has gone, Fast DDS keeps the memory of its peers mapped for a second."""


@dataclass(frozen=True)
class NodeProgram:
    """
    A program that runs one node until it is told to end.

    :param name: the node's
    :param what: what it does, in a sentence or two
    :param parameters: the node's
    :param more: what else its help says
    """

    name: str
    what: str
    parameters: type[Noun]
    more: str

    def run(self, arguments: Sequence[str] | None,
            work: Callable[[Sequence[str], Context, threading.Event], int]) -> int:
        """
        Print the help, or do the work in a ROS context, and return the exit code.

        :param arguments: those of the command line; None takes the process's own
        :param work: what the node does until the event is set, as SIGINT and SIGTERM set it;
            it returns the exit code
        """
        arguments = sys.argv[1:] if arguments is None else arguments
        speak_plainly((sys.stdout, sys.stderr))
        logging.basicConfig(level=logging.INFO, stream=sys.stderr)
        ended = ended_by_signal()
        try:
            if wants_help(arguments, names_of(self.parameters)):
                print(usage(self.name, self.what, self.parameters, NOT_PARAMETERS, self.more))
                return 0
            with ros_context(arguments, None) as context:
                return work(arguments, context, ended)
        except SafetyScenariosError as error:
            print(f'{self.name}: {error}', file=sys.stderr)
            return 2


def ended_by_signal() -> threading.Event:
    """
    Return an event that SIGINT and SIGTERM set from now on, in place of what they did.

    A thread sets it: the main thread, in which handlers run, may hold the lock of the event just
    then, because it waits for it, and would wait for itself for ever.
    """
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: _thread.start_new_thread(ended.set, ()))
    return ended


def end_with_parent(ended: threading.Event) -> None:
    """Set ``ended`` when standard input closes, as it does when the parent is gone."""
    threading.Thread(target=_until_stdin_closes, args=(ended,), name='parent',
                     daemon=True).start()


def _until_stdin_closes(ended: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    atexit.register(_remove_segments)
    ended.set()
    time.sleep(_PATIENCE_S)
    os._exit(1)  # a plug-in that hangs must not outlive the evaluator


def _remove_segments() -> None:
    """Remove the shared memory of a parent that was killed."""
    time.sleep(_MAPPED_S)
    remove_segments(abandoned())
