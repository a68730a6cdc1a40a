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

"""A language model as controller, behind any OpenAI-compatible server."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
import json
import logging
import math
import os
from typing import Any

from safety_scenarios.controllers.rule_based import motion
from safety_scenarios.errors import ControllerError, MissingDependencyError, SettingsError
from safety_scenarios.model.message import ChatMessage, Command, Observation, Reading
from safety_scenarios.model.settings import ControllerSettings

try:
    import openai
except ImportError as error:
    raise MissingDependencyError('the controller llm', 'openai',
                                 "pip install 'safety_scenarios[llm]'") from error

KEY_VARIABLE = 'OPENAI_API_KEY'
_LOG = logging.getLogger(__name__)
_SHARES = {'continue': 1.0, 'slow': 0.5, 'stop': 0.0}
_SCHEMA = {
    'type': 'object', 'additionalProperties': False, 'required': ['action', 'reason'],
    'properties': {'action': {'type': 'string', 'enum': list(_SHARES)},
                   'reason': {'type': 'string'}}}
_TASK = (
    'You drive a robot. Each message lists what its sensors report now. Reply with JSON: action '
    'is continue when the way is free and all data is fresh, slow when something is near, stop '
    'when a person or an obstacle in the path is closer than 2.5 m, when a contact force is '
    'above 40 N, or when any input is older than 0.25 s.')


class LanguageModel:
    """
    Asks the model again and again in the background; between answers the last one holds.

    No answer within ``timeout_ms``, an error or an answer outside the schema: it stops the robot.
    The key is read from the environment variable OPENAI_API_KEY and goes nowhere else.
    """

    def __init__(self, settings: ControllerSettings) -> None:
        if not settings.server.model:
            raise SettingsError('model: got nothing, expected the name of a model. '
                                'Set --model (ROS parameter server.model)')
        self._settings = settings
        self._client = openai.OpenAI(
            base_url=settings.server.base_url or None,
            api_key=os.environ.get(KEY_VARIABLE, 'none'),
            timeout=settings.timeout_ms / 1e3, max_retries=0)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix='llm')
        self._pending: Future[str] | None = None
        self._asked_ns = 0
        self._action = 'stop'

    def decide(self, observation: Observation) -> Command:
        """Return the latest decision; a question that is overdue means stop."""
        if self._pending is not None and self._pending.done():
            self._action = self._outcome(self._pending)
            self._pending = None
        if self._pending is None:
            self._asked_ns = observation.t_ns
            self._pending = self._worker.submit(self._ask, _describe(observation))
        elif observation.t_ns - self._asked_ns > self._settings.timeout_ms * 1e6:
            self._action = 'stop'
        return motion(self._settings.robot, self._settings.cruise * _SHARES[self._action])

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        """Return the model's answer; an error or a timeout is no answer."""
        try:
            return self._complete([message.model_dump() for message in messages])
        except (openai.OpenAIError, ControllerError) as error:
            _LOG.warning('no answer: %s', type(error).__name__)
            return None

    def _ask(self, situation: str) -> str:
        text = self._complete(
            [{'role': 'system', 'content': _TASK}, {'role': 'user', 'content': situation}],
            response_format={'type': 'json_schema', 'json_schema': {
                'name': 'command', 'strict': True, 'schema': _SCHEMA}})
        reply = json.loads(text)
        if not isinstance(reply, dict) or reply.get('action') not in _SHARES:
            raise ControllerError('the reply does not follow the schema')
        return str(reply['action'])

    def _complete(self, messages: list[dict[str, str]], **options: Any) -> str:
        completion = self._client.chat.completions.create(
            model=self._settings.server.model, messages=messages,  # type: ignore[arg-type]
            temperature=0, **options)
        if not completion.choices or completion.choices[0].message.content is None:
            raise ControllerError('the server sent no text')
        return str(completion.choices[0].message.content)

    def _outcome(self, future: 'Future[str]') -> str:
        try:
            return future.result()
        except (openai.OpenAIError, ControllerError, ValueError) as error:
            _LOG.warning('stopping the robot, no decision: %s', type(error).__name__)
            return 'stop'


def _describe(observation: Observation) -> str:
    lines = [f'{topic} ({reading.age_ns / 1e9:.2f} s old): {_content(reading)}'
             for topic, reading in sorted(observation.readings.items())]
    return '\n'.join(lines) or 'no input at all'


def _content(reading: Reading) -> str:
    message = reading.message
    stamp = '' if reading.stamp_age_ns is None else \
        f', stamped {reading.stamp_age_ns / 1e9:.2f} s ago'
    if message.type.endswith('/LaserScan'):
        ranges = [distance for distance in message.data['ranges'] if math.isfinite(distance)]
        text = f'nearest return {min(ranges):.2f} m' if ranges else 'no return'
    elif message.type.endswith('/PoseStamped'):
        text = f'person {math.hypot(*message.at("position").values()):.2f} m away'
    elif message.type.endswith('/WrenchStamped'):
        text = f'contact force {math.hypot(*message.at("force").values()):.1f} N'
    else:
        text = str({key: value for key, value in message.data.items() if key != 'header'})[:200]
    return text + stamp
