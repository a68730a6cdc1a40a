# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A policy that openpi serves: WebSocket, msgpack with arrays of NumPy."""

from collections.abc import Mapping
import logging
import os
from typing import Any, ClassVar

from safety_scenarios.controllers.policies.model import duration_ns, Inference, named_outputs
from safety_scenarios.controllers.policies.servers.failures import (
    as_mapping,
    Deadline,
    refuse_error,
)
from safety_scenarios.controllers.policies.servers.messages import openpi_array, packed, unpacked
from safety_scenarios.controllers.policies.servers.server import ServerModel
from safety_scenarios.controllers.policies.servers.websocket import WebSocket

KEY_VARIABLE = 'OPENPI_API_KEY'
_LOG = logging.getLogger(__name__)
_TIMING = 'server_timing'


class OpenpiModel(ServerModel):
    """Sends the contract's inputs as one map, under their own names."""

    kind: ClassVar[str] = 'openpi'
    schemes: ClassVar[Mapping[str, int]] = {'ws': 8000, 'wss': 443}
    _socket: WebSocket | None = None

    def connect(self, deadline: Deadline) -> None:
        """Open a WebSocket, on which the server first tells of itself."""
        key = os.environ.get(KEY_VARIABLE, '')
        self._socket = WebSocket(self.dial(deadline), self.place, {
            'Authorization': f'Api-Key {key}'} if key else {})
        told = as_mapping(unpacked(self._socket.receive(deadline)))
        _LOG.info('%s:%s: connected; the server sent %s', self.kind, self.address,
                  ', '.join(sorted(map(str, told))) or 'nothing of itself')

    def ask(self, inputs: Mapping[str, Any], deadline: Deadline) -> Inference:
        """Send one map, and take the next one."""
        if self._socket is None:
            self.connect(deadline)
        assert self._socket is not None
        self._socket.refuse_unasked(deadline)
        self._socket.send(packed(dict(inputs), openpi_array), deadline)
        found = dict(refuse_error(as_mapping(unpacked(self._socket.receive(deadline)))))
        timing = found.pop(_TIMING, None)
        return Inference(named_outputs(found), duration_ns(
            timing.get('infer_ms')) if isinstance(timing, Mapping) else None)

    def hang_up(self) -> None:
        """Close the WebSocket."""
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.part()
        super().hang_up()
