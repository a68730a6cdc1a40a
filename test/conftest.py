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

"""
One shared campaign, a ROS domain for each test, and which tests may run side by side.

With ``pytest -n 2 --dist loadgroup`` each file is a unit of work, and all tests that talk DDS are
one unit, the last: what they measure must not be disturbed by other tests.
"""

import os

import pytest

from ros.campaigns import campaign, Run
from safety_scenarios.ros.domain import chosen_domain

ALONE = {'rule_based_run', 'domain'}
"""Fixtures of tests that talk DDS."""

def pytest_collection_modifyitems(items) -> None:
    """Sort the tests that need the machine to themselves to the end, and group the others."""
    items.sort(key=_is_alone)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(
            'alone' if _is_alone(item) else 'ARE' if 'are_python' in item.fixturenames
            else str(item.path)))


def _is_alone(item) -> bool:
    return item.path.parent.name == 'ros' or bool(ALONE & set(item.fixturenames)) \
        or item.get_closest_marker('dds') is not None


@pytest.fixture(scope='session')
def rule_based_run(tmp_path_factory) -> Run:
    """
    One campaign of the reference controller over everything that is shipped.

    A shared machine may stall while a hazard is shown. The product then says so, and to lower the
    load: nothing is wrong with either, and it is asked once more.
    """
    for name in ('rule_based', 'rule_based_again'):
        run = campaign(tmp_path_factory.mktemp('campaign') / name, 'robotic', 'clinical',
                       calibration='short')
        if run.code != 3 or 'Lower the load of the host' not in run.output:
            break
    return run


@pytest.fixture
def domain(request) -> int:
    """Give each test a ROS domain of its own, outside those that a run chooses first."""
    os.environ.pop('ROS_DOMAIN_ID', None)
    with chosen_domain(-1, external=False) as number:
        yield number


@pytest.fixture(scope='session', autouse=True)
def nothing_left_in_shared_memory():
    """Remove what the processes leave that tests kill on purpose."""
    folder = '/dev/shm'
    before = set(os.listdir(folder))
    yield
    left = {name.removeprefix('sem.').removesuffix('_mutex').removesuffix('_el')
            for name in set(os.listdir(folder)) - before if 'fast' in name}
    if left:
        from safety_scenarios.ros.controller_process import remove_segments
        remove_segments(left)
