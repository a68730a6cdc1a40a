# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The interpreter keeps out of the way while it measures, and is itself again after."""

import gc
import os
import sys

import pytest
from safety_scenarios.ros.undisturbed import undisturbed

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
