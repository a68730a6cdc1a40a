# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A process that executes trials for another one: what runs in it."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
import ctypes
import logging
from multiprocessing.connection import Connection
import os
from pathlib import Path
import pickle
import select
import signal
import sys
import threading
from typing import Any, NamedTuple

from safety_scenarios.campaign.engines.engine import Raised
from safety_scenarios.campaign.open_session import OpenSession
from safety_scenarios.campaign.plan import TrialSetup, TrialTask, Wants
from safety_scenarios.campaign.signals import interruptible
from safety_scenarios.campaign.trials import execute, open_session, TrialDone
from safety_scenarios.errors import described, SafetyScenariosError
from safety_scenarios.trial.trial import Trial

_MOST_OPEN = 8
"""Campaigns whose controllers a worker keeps at a time, such as the arms of a comparison."""
_PR_SET_PDEATHSIG = 1


class Ordered(NamedTuple):
    """One task for a worker; what many tasks have in common is sent with the first of them."""

    campaign: int
    setup: TrialSetup | None
    trial: Trial
    folder: Path | None
    wants: Wants
    is_counted: bool


class Sessions:
    """
    The sessions that a process has open, one for each campaign; the one used last is kept longest.

    :param opens: task to its session
    """

    def __init__(self, opens: Callable[[TrialTask], Any] = open_session) -> None:
        self._opens = opens
        self._open: OrderedDict[Any, tuple[ExitStack, OpenSession]] = OrderedDict()

    def execute(self, campaign: Any, task: TrialTask) -> TrialDone:
        """Execute a task by the session of its campaign, which stays open."""
        found = self._open.pop(campaign, None)
        if found is None:
            while len(self._open) >= _MOST_OPEN:
                self._open.popitem(last=False)[1][0].close()
            with ExitStack() as stack:
                session = stack.enter_context(self._opens(task))
                stack.enter_context(session)
                found = stack.pop_all(), session
        self._open[campaign] = found
        return execute(task, found[1])

    def close(self) -> None:
        """Close them all."""
        while self._open:
            self._open.popitem()[1][0].close()


def portable_error(error: BaseException) -> BaseException:
    """Return an exception that another process can read: itself, or one of its kind."""
    try:
        if str(pickle.loads(pickle.dumps(error))) == str(error):
            return error
    except Exception:  # its class takes other arguments than it keeps
        pass
    for kind in type(error).__mro__:
        try:
            if issubclass(kind, SafetyScenariosError) and str(kind(str(error))) == str(error):
                return kind(str(error))
        except TypeError:
            continue
    return RuntimeError(described(error))


def serve(descriptor: int, cores: Sequence[int] = ()) -> None:
    """
    Execute tasks until the other process wants no more, or has ended.

    :param descriptor: of the socket to it
    :param cores: that this process may use; empty: as it is
    """
    _end_with_parent(descriptor)
    interruptible()
    if cores:
        os.sched_setaffinity(0, cores)
    connection, sessions, setups = Connection(descriptor), Sessions(), dict[int, TrialSetup]()
    try:
        while True:
            ordered: Ordered | None = connection.recv()
            if ordered is None:
                break
            connection.send(_replied(ordered, sessions, setups))
    except (KeyboardInterrupt, EOFError, OSError):
        pass  # between two trials nothing is lost
    try:
        sessions.close()
    except (Exception, SystemExit) as error:
        logging.getLogger(__name__).warning('a link could not be closed: %s', described(error))


def _replied(ordered: Ordered, sessions: Sessions,
             setups: dict[int, TrialSetup]) -> TrialDone | Raised:
    setup = setups.setdefault(ordered.campaign, ordered.setup) if ordered.setup is not None \
        else setups[ordered.campaign]
    task = TrialTask(setup, ordered.trial, ordered.folder, ordered.wants, ordered.is_counted)
    try:
        return sessions.execute(ordered.campaign, task)
    except (Exception, SystemExit) as error:
        return Raised(portable_error(error))


def _end_with_parent(descriptor: int) -> None:
    """End this process as soon as the other one has, whatever runs here: it writes its files."""
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_watch, args=(descriptor,), name='parent', daemon=True).start()


def _watch(descriptor: int) -> None:
    watched = select.poll()
    watched.register(descriptor, 0)  # what is always reported: that it was hung up
    watched.poll()
    os._exit(1)
