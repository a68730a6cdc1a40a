# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The pytest plug-in: safety scenarios as tests; ``doc/manual/ci.md`` shows it.

pytest imports it at every start, so it imports nothing itself until a test asks for a run.
"""

from collections.abc import Callable, Mapping
from typing import Any, TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from safety_scenarios.from_python import CampaignResults

_MARK = 'safety_scenario'
_RESULTS = '_safety_scenarios_results'


def pytest_configure(config: 'pytest.Config') -> None:
    """Register the marker."""
    config.addinivalue_line('markers', (
        f'{_MARK}(*scenarios, **settings): run safety scenarios before the test; what fails them '
        f'fails it, with the findings as its text. The arguments are those of '
        f'safety_scenarios.run'))


@pytest.fixture
def safety_settings() -> Mapping[str, Any]:
    """Return the settings of every run; override it, as with the controller that you test."""
    return {}


@pytest.fixture
def safety_run(safety_settings: Mapping[str, Any]) -> 'Callable[..., CampaignResults]':
    """Return ``safety_scenarios.run`` with ``safety_settings``; a FAIL is yours to judge."""
    def run(*scenarios: Any, **settings: Any) -> 'CampaignResults':
        from safety_scenarios.from_python import run as run_scenarios  # takes a second
        return run_scenarios(*scenarios, **{**safety_settings, **settings})
    return run


@pytest.fixture
def safety_results(request: pytest.FixtureRequest,
                   safety_run: 'Callable[..., CampaignResults]') -> 'CampaignResults':
    """
    Return the results of the scenarios that the test's marker names.

    INCONCLUSIVE and ERROR are an error of the test: what could not be judged is not skipped.
    """
    markers = list(request.node.iter_markers(_MARK))
    if len(markers) > 1:
        pytest.fail(f'safety_results: got {len(markers)} markers {_MARK}, on the test, its class '
                    f'or its module, expected one. Name all scenarios in one', pytrace=False)
    if not markers or not markers[0].args:
        pytest.fail('safety_results: the test names no scenario. Mark it, for example with '
                    f"@pytest.mark.{_MARK}('SCN-R-101')", pytrace=False)
    [marker] = markers
    from safety_scenarios.errors import SafetyScenariosError
    try:
        results = safety_run(*marker.args, **marker.kwargs)
    except SafetyScenariosError as error:
        pytest.fail(str(error), pytrace=False)
    if results.verdict.value not in ('PASS', 'FAIL'):
        pytest.fail(results.explain(), pytrace=False)
    setattr(request.node, _RESULTS, results)
    return results


@pytest.fixture(autouse=True)
def _safety_scenario(request: pytest.FixtureRequest) -> None:
    """Run what the marker names, also for a test that does not look at the results."""
    if request.node.get_closest_marker(_MARK) is not None:
        request.getfixturevalue('safety_results')


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: 'pytest.Item') -> None:
    """Fail the test before its body, if its scenarios failed or were never run."""
    if item.get_closest_marker(_MARK) is None:
        return
    results = getattr(item, _RESULTS, None)
    if results is None:
        pytest.fail(f'{_MARK}: the scenarios were not run, because this test takes no fixtures. '
                    f'Mark a test function', pytrace=False)
    if results.verdict.value != 'PASS':
        pytest.fail(results.explain(), pytrace=False)
