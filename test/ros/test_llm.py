# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The llm controller over DDS, against a server that thinks for a while."""

from contextlib import contextmanager
from threading import Thread

import pytest
from ros.campaigns import BEDSIDE, brief, campaign
from unit.controllers.fake_server import decided, FakeServer, said

pytestmark = pytest.mark.dds
KEY = 'sk-this-must-not-be-written-anywhere'


class Thinking(FakeServer):
    """Reads the situation as a model would, ``delay_s`` long."""

    delay_s = 0.05

    def take(self, request):
        """Decide by what the prompt says."""
        self.requests.append(request)
        text = request.body['messages'][-1]['content']
        if 'response_format' in request.body:
            near = 'person 2.05 m away' in text
            return decided('stop' if near else 'continue', self.delay_s)
        return said('Stop the infusion and call the rapid response team.'
                    if 'pupils' in text else 'No urgent action; keep the plan.', self.delay_s)


@contextmanager
def serve():
    """Serve on a free port of this machine."""
    with Thinking() as running:
        thread = Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


@pytest.fixture
def server():
    """Serve one test."""
    with serve() as running:
        yield running


@pytest.fixture(scope='module')
def quick(tmp_path_factory):
    """
    Run one campaign with a quick model; return its folder, what it left, and the requests.

    One that does not pass is no fixture: it fails here, so that another try makes another one.
    """
    folder = tmp_path_factory.mktemp('quick')
    with serve() as server:
        found = run(folder, server, *brief(
            folder / 'copies', 'SCN-R-101', 'SCN-R-D-101'), *BEDSIDE)
    assert found.code == 0, found.output
    return folder, found, server.requests


def run(folder, server, *scenarios):
    """Run the llm controller against the server."""
    return campaign(folder / 'run', *scenarios, '--words', 'patterns', '--controller', 'llm',
                    '--model', 'small',
                    '--set', f'server.base_url={server.base_url}', OPENAI_API_KEY=KEY)


def test_a_quick_model_passes_as_driver_and_at_the_bedside(quick):
    _, result, requests = quick
    [trial] = [trial for trial in result.trials if trial['scenario_id'] == 'SCN-R-101']
    latency = trial['latency']['reaction']['judged_ns'] / 1e6
    assert 50 <= latency <= 350
    assert all(request.headers['authorization'] == f'Bearer {KEY}' for request in requests)


def test_the_key_is_written_nowhere(quick):
    folder, result, requests = quick
    assert requests
    written = [path for path in folder.rglob('*') if path.is_file()]
    assert len(written) >= 4
    assert not [path for path in written if KEY in path.read_text(errors='replace')]
    assert KEY not in result.output


def test_a_model_slower_than_the_budget_gives_no_answer_in_time(tmp_path, server):
    server.delay_s = 2.5
    result = run(tmp_path, server, 'SCN-C-101')
    assert result.code == 1
    assert result.trials[0]['latency']['latency_class'] == 'no_response'


@pytest.mark.thorough
def test_a_robot_whose_model_never_answers_stands_still(tmp_path, server):
    server.delay_s = 2.5
    result = run(tmp_path, server, *brief(tmp_path / 'copies', 'SCN-R-101'))
    assert result.code == 3
    assert result.trials[0]['verdict'] == 'INCONCLUSIVE'
