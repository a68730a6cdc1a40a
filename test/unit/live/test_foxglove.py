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

"""The live server for Foxglove, looked at by a WebSocket client that is not ours."""

from contextlib import ExitStack
import json
import socket
import struct
import threading

import pytest
from safety_scenarios.campaign.live import shown_live
from safety_scenarios.campaign.run import run
from safety_scenarios.errors import SettingsError
from safety_scenarios.links.loopback_session import Loopback
from safety_scenarios.model.observer import Observer
from safety_scenarios.model.settings import RunSettings
from websockets.sync.client import connect

_PATIENCE_S = 20


def free_port():
    with socket.socket() as found:
        found.bind(('127.0.0.1', 0))
        return found.getsockname()[1]


class Client(Observer):
    """Subscribes to everything when the campaign begins, and keeps what comes."""

    def __init__(self, port):
        self._port = port
        self._opened, self.is_told = ExitStack(), threading.Event()
        self.info, self.topics, self.heard = {}, {}, {}

    def campaign_began(self, beginning):
        self._socket = self._opened.enter_context(connect(
            f'ws://127.0.0.1:{self._port}', subprotocols=['foxglove.sdk.v1'], max_size=None))
        while len(self.topics) < 4:
            told = json.loads(self._socket.recv(_PATIENCE_S))
            if told['op'] == 'serverInfo':
                self.info = told
            for channel in told.get('channels', ()):
                self.topics[channel['id']] = channel['topic']
                self.heard[channel['topic']] = []
        self._socket.send(json.dumps({'op': 'subscribe', 'subscriptions': [
            {'id': number, 'channelId': number} for number in self.topics]}))
        self._socket.ping().wait(_PATIENCE_S)  # what was sent before it has come there
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self):
        for frame in self._socket:
            if isinstance(frame, bytes) and frame[0] == 1:
                [number] = struct.unpack_from('<I', frame, 1)
                self.heard[self.topics[number]].append(frame[13:])
                if b'safety_scenarios/campaign/1' in frame:
                    self.is_told.set()

    def end(self):
        self._thread.join(_PATIENCE_S)
        self._opened.close()
        assert not self._thread.is_alive()


def test_a_client_sees_events_verdicts_and_the_scene_of_a_campaign_in_loopback(tmp_path):
    port = free_port()
    client = Client(port)
    settings = RunSettings(scenarios=('SCN-R-101',), link='loopback', foxglove=port, trials=2,
                           output=str(tmp_path / 'run'))
    with shown_live(settings) as shown:
        summary = run(settings.model_copy(update={'foxglove': 0}), [client, *shown], Loopback)
        assert client.is_told.wait(_PATIENCE_S)
    client.end()
    assert client.info['capabilities'] == [], 'a client can look, and nothing else'
    *trials, campaign = map(json.loads, client.heard['/evaluator_node/verdict'])
    lines = (tmp_path / 'run' / 'trials.jsonl').read_text(encoding='utf-8').splitlines()
    assert [(one['verdict'], one['reason'], one['latency_ms']) for one in trials] == [
        (result['verdict'], result['reason'], result['latency']['reaction']['judged_ns'] / 1e6)
        for result in map(json.loads, lines)]
    assert campaign['schema'] == 'safety_scenarios/campaign/1'
    assert campaign['verdict'] == summary.verdict.value and campaign['planned'] == 2
    events = list(map(json.loads, client.heard['/evaluator_node/event']))
    assert [one['name'] for one in events if one['kind'] == 'mark'] == [
        'nominal', 'onset', 'all_clear', 'end'] * 2
    assert any(one['kind'] == 'stimulus' and one['hazard'] for one in events)
    scenes = client.heard['/evaluator_node/markers']
    assert any(b'base_link' in scene and b'bodies/0' in scene for scene in scenes)
    assert any(scene and b'base_link' not in scene for scene in scenes), \
        'the scene is taken away between trials'
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(('127.0.0.1', port)).close()


@pytest.mark.parametrize(('more', 'told'), [
    ({'foxglove_host': '0.0.0.0'}, 'got foxglove_host 0.0.0.0 without foxglove'),
    ({'live_topics': 'on', 'link': 'loopback'}, 'got live_topics on with link loopback')])
def test_a_setting_that_would_do_nothing_is_refused(more, told):
    with pytest.raises(ValueError, match=told):
        RunSettings(**more)


def test_a_port_in_use_is_refused_before_anything_is_run(tmp_path):
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=f'foxglove: got 127.0.0.1:{port}, .*another'):
            run(RunSettings(scenarios=('SCN-R-101',), link='loopback', foxglove=port,
                            output=str(tmp_path / 'run')), [], Loopback)
    assert not (tmp_path / 'run').exists()
