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

"""A fake server for the judge, and no settings of whoever runs the tests."""

from collections.abc import Iterator

import pytest
from unit.controllers.fake_server import FakeServer, serving
from unit.llm_judge.judges import opinion


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
