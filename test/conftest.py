# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One shared campaign, a ROS domain for each test, which tests run side by side, and when."""

from collections.abc import Iterator
from contextlib import suppress
import gc
import os
from pathlib import Path
import time

from alone import pytest_itemcollected, pytest_runtest_protocol  # noqa: F401
import hypothesis
from order import pytest_collection_modifyitems  # noqa: F401
import pytest
from reported import pytest_sessionstart  # noqa: F401
from ros.campaigns import BEDSIDE, brief, campaign, DRIVEN, Run, SOON
from safety_scenarios.ros.middleware import abandoned, chosen_domain, remove_segments
from safety_scenarios.scenario import settings
from uncollected import pytest_ignore_collect  # noqa: F401

os.environ.update(SOON)
os.environ.pop('COLUMNS', None)  # of whoever runs the tests: what is said has the usual width
os.environ['SAFETY_SCENARIOS_REPORT'] = 'off'  # hundreds of runs, of which few are about the page
_BORN_S = 0.5
"""Whoever has just made a segment, and does not hold it yet, does so by then."""


_SESSION = 'SAFETY_SCENARIOS_TESTED_BY'
"""Variable by which processes are known that tests have started, whoever their parent is now."""
_ENDED_S = 10.0


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage while modules are imported, then seldom, and not in what they hold."""
    gc.disable()
    yield
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    gc.enable()


@pytest.fixture(scope='session', autouse=True)
def the_fresh_seed_of_tests() -> Iterator[None]:
    """Let each campaign in this process that names no seed have 0, so that a test repeats."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, 'fresh_seed', lambda: 0)
        yield


@pytest.fixture(scope='session')
def rule_based_run(tmp_path_factory) -> Run:
    """
    Run one campaign of the reference over what is shipped, each hazard soon.

    One that does not pass is no fixture: it fails here, so that another try makes another one.
    """
    folder = tmp_path_factory.mktemp('campaign')
    found = campaign(folder / 'rule_based', *brief(folder / 'scenarios', *DRIVEN), *BEDSIDE,
                     '--words', 'patterns', calibration='short')
    assert found.code == 0, found.output
    return found


@pytest.fixture
def domain(request) -> int:
    """Give each test a ROS domain of its own, outside those that a run chooses first."""
    os.environ.pop('ROS_DOMAIN_ID', None)
    with chosen_domain(-1, external=False) as number:
        yield number


_BEFORE = pytest.StashKey[set[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Look what others have left, before a worker has begun; let a busy machine be slow."""
    hypothesis.settings.register_profile('any machine', deadline=None, suppress_health_check=[
        hypothesis.HealthCheck.too_slow])
    hypothesis.settings.load_profile('any machine')
    config.stash[_BEFORE] = abandoned()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what workers had open to their end, and whose owners were killed."""
    if not hasattr(config, 'workerinput'):
        remove_segments(abandoned() - config.stash[_BEFORE])


@pytest.fixture(scope='session', autouse=True)
def nothing_left_in_shared_memory():
    """Remove what the processes leave that tests kill on purpose, and what they had sent to."""
    before = abandoned()
    os.environ[_SESSION] = str(os.getpid())
    yield
    deadline = time.monotonic() + _ENDED_S
    while _ours_alive() and time.monotonic() < deadline:  # who ends after a killed parent
        time.sleep(_BORN_S)
    left = abandoned() - before
    if left:
        time.sleep(_BORN_S)
        remove_segments(left)


def _ours_alive() -> bool:
    """Return whether a process lives that a test of this session has started."""
    ours = f'{_SESSION}={os.getpid()}\0'.encode()
    for entry in Path('/proc').glob('[0-9]*'):
        with suppress(OSError):  # it has ended meanwhile, or is somebody else's
            if ours in (entry / 'environ').read_bytes():
                return True
    return False
