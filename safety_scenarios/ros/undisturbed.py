# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Keep the interpreter itself from disturbing what is measured."""

from collections.abc import Iterator
from contextlib import contextmanager
import gc
import os
import sys

_SWITCH_S = 5e-5
"""How long a thread may hold the interpreter while another waits; the default is 5 ms."""
_PRIORITY = 10
"""Above ordinary threads, below the interrupt threads of a real-time kernel (50)."""


@contextmanager
def undisturbed(realtime: bool) -> Iterator[str]:
    """
    Measure without garbage collection, with short turns between threads.

    The link collects between trials. Enter before the first DDS thread starts: real-time
    scheduling is inherited by later threads, but not by child processes.

    :param realtime: ask for SCHED_FIFO
    :return: how this process is scheduled, for the record
    """
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    gc.collect()
    gc.freeze()
    gc.disable()
    scheduling = _ask() if realtime else 'normal'
    try:
        yield scheduling
    finally:
        if scheduling.startswith('SCHED_FIFO'):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        gc.enable()
        gc.unfreeze()
        sys.setswitchinterval(before_s)


def _ask() -> str:
    policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
    try:
        os.sched_setscheduler(0, policy, os.sched_param(_PRIORITY))
    except (OSError, AttributeError) as error:
        return f'normal; SCHED_FIFO was refused: {error}'
    return f'SCHED_FIFO {_PRIORITY}'
