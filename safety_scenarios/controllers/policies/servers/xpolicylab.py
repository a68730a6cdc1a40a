# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A policy that XPolicyLab serves: WebSocket, one envelope for all, msgpack with arrays."""

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, ClassVar
from uuid import uuid4

from safety_scenarios.controllers.policies.model import (
    duration_ns,
    Inference,
    ModelOptions,
    named_outputs,
)
from safety_scenarios.controllers.policies.servers.failures import (
    as_mapping,
    Deadline,
    malformed,
    server_error,
)
from safety_scenarios.controllers.policies.servers.messages import (
    msgpack_numpy_array,
    packed,
    unpacked,
)
from safety_scenarios.controllers.policies.servers.server import ServerModel
from safety_scenarios.controllers.policies.servers.websocket import WebSocket

_ANSWERS = {'hello': 'hello_ack', 'prepare_case': 'prepare_case_ack', 'reset': 'reset_result',
            'infer': 'infer_result'}
_CASE = 'safety_scenarios'


class XPolicyLabModel(ServerModel):
    """
    Sends the contract's inputs nested by the slashes in their names: vision/cam_head/color.

    Actions come as one array, or as a map or a list of maps by the part of the robot.
    """

    kind: ClassVar[str] = 'xpolicylab'
    schemes: ClassVar[Mapping[str, int]] = {'ws': 19000, 'wss': 443}

    def __init__(self, address: str, options: ModelOptions) -> None:
        super().__init__(address, options)
        self._socket: WebSocket | None = None
        self._evaluation, self._trial, self._step = str(uuid4()), str(uuid4()), 0

    def connect(self, deadline: Deadline) -> None:
        """Open a WebSocket, and let the server load and begin."""
        self._socket = WebSocket(self.dial(deadline), self.place)
        self._request('hello', {}, deadline)
        self._request('prepare_case', {'action_case_id': _CASE}, deadline)
        self._begin(deadline)

    def ask(self, inputs: Mapping[str, Any], deadline: Deadline) -> Inference:
        """Ask for one chunk."""
        if self._socket is None:
            self.connect(deadline)
        found = self._request('infer', {'observation': _nested(inputs)}, deadline)
        self._step += 1
        if 'actions' not in found:
            raise malformed('infer_result without actions')
        return Inference(_outputs(found['actions']), duration_ns(found.get('latency_ms')))

    def reset(self) -> None:
        """Begin another trial on the server."""
        if self._socket is not None:
            self._asked(self._begin, Deadline(self.options.timeout_s))

    def hang_up(self) -> None:
        """Close the WebSocket."""
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.part()
        super().hang_up()

    def _begin(self, deadline: Deadline) -> None:
        self._trial, self._step = str(uuid4()), 0
        self._request('reset', {'trial_id': self._trial}, deadline)

    def _request(self, kind: str, payload: Mapping[str, Any], deadline: Deadline) -> Any:
        """Return the payload of the answer to one request; late answers to others are left out."""
        assert self._socket is not None
        number = str(uuid4())
        self._socket.send(packed({
            'message_type': kind, 'message_id': number, 'evaluation_id': self._evaluation,
            'action_case_id': _CASE, 'trial_id': self._trial, 'step': self._step,
            'sent_at': datetime.now(timezone.utc).isoformat(), 'payload': payload},
            msgpack_numpy_array), deadline)
        while True:
            found = as_mapping(unpacked(self._socket.receive(deadline)))
            if found.get('message_id') != number:
                continue
            told = as_mapping(found.get('payload') or {})
            if found.get('message_type') == 'error':
                raise server_error(f'{told.get("code", "error")}: {told.get("message", "")}')
            if found.get('message_type') != _ANSWERS[kind]:
                raise malformed(f'got {found.get("message_type")}, expected {_ANSWERS[kind]}')
            return told


def _nested(inputs: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in inputs.items():
        *above, last = name.split('/')
        inner = found
        for step in above:
            inner = inner.setdefault(step, {})
        inner[last] = value
    return found


def _outputs(actions: Any) -> dict[str, Any]:
    if isinstance(actions, (list, tuple)) and actions \
            and all(isinstance(one, Mapping) for one in actions):
        return {str(part): [one.get(part) for one in actions] for part in actions[0]}
    return named_outputs(actions)
