# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A fake server for the judge, and no settings of whoever runs the tests."""

from collections.abc import Iterator

import pytest
from unit.controllers.fake_server import FakeServer, serving
from unit.judging.llm_judge.judges import opinion


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('http_proxy', 'https_proxy', 'all_proxy', 'openai_base_url', 'openai_org_id',
                 'openai_project_id', 'openai_admin_key', 'openai_api_key', 'judge_api_key'):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """Serve a judge that is satisfied until a test says otherwise."""
    with serving(opinion('satisfied')) as running:
        yield running
