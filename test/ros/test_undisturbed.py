# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The interpreter keeps out of the way while it measures, and is itself again after."""

import gc
import os
import sys

import pytest
from safety_scenarios.ros.spinning import undisturbed

pytestmark = pytest.mark.exact


def test_no_collection_and_short_turns_while_measuring_only():
    before = sys.getswitchinterval()
    with undisturbed(realtime=False) as scheduling:
        assert scheduling == 'normal'
        assert not gc.isenabled()
        assert sys.getswitchinterval() < before
    assert gc.isenabled()
    assert sys.getswitchinterval() == before


def test_real_time_scheduling_is_granted_or_its_refusal_is_recorded():
    policy = os.sched_getscheduler(0)
    with undisturbed(realtime=True) as scheduling:
        granted = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO
        assert scheduling.startswith('SCHED_FIFO' if granted else 'normal; SCHED_FIFO was refused')
    assert os.sched_getscheduler(0) == policy
