# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A policy behind HTTP: one POST of JSON for each observation, with arrays of json_numpy."""

from collections.abc import Mapping
import http.client
from typing import Any, ClassVar

from safety_scenarios.controllers.policies.model import Inference, named_outputs
from safety_scenarios.controllers.policies.servers.connection import Connection
from safety_scenarios.controllers.policies.servers.failures import (
    Deadline,
    http_error,
    malformed,
    MAX_ANSWER,
    refuse_error,
    too_large,
    unasked,
)
from safety_scenarios.controllers.policies.servers.messages import from_json, to_json
from safety_scenarios.controllers.policies.servers.server import ServerModel

_OK = 200
_LONGEST_ERROR = 1 << 16
_HEADERS = {'Content-Type': 'application/json', 'Accept': 'application/json'}


class ActModel(ServerModel):
    """
    Sends the contract's inputs as one map, under their own names.

    The answer may be a list of numbers, a map, or either of them as a text inside of JSON.
    """

    kind: ClassVar[str] = 'act'
    schemes: ClassVar[Mapping[str, int]] = {'http': 8000, 'https': 443}

    def connect(self, deadline: Deadline) -> None:
        """Open a connection, which is used again and again where the server allows it."""
        self.dial(deadline)

    def ask(self, inputs: Mapping[str, Any], deadline: Deadline) -> Inference:
        """Post the inputs."""
        connection: Any = self._idle(deadline) or self.dial(deadline)
        connection.within(deadline)
        exchange = http.client.HTTPConnection(self.place.host, self.place.port)
        exchange.sock = connection
        try:
            exchange.request('POST', self.place.path, to_json(dict(inputs)),
                             {**_HEADERS, 'Host': self.place.authority})
            # getresponse() would close the connection before the body of a last answer is read
            response = http.client.HTTPResponse(connection, method='POST')
            response.begin()
            body = self._body(response)
        except http.client.IncompleteRead:
            raise EOFError from None
        except http.client.RemoteDisconnected:
            raise
        except (http.client.HTTPException, ValueError) as error:  # a chunk of a negative size
            raise malformed(f'no HTTP: {error or type(error).__name__}') from error
        if response.will_close:
            self.hang_up()
        return Inference(named_outputs(refuse_error(from_json(body))))

    def _idle(self, deadline: Deadline) -> Connection | None:
        """Return the connection of the last answer, unless the server has closed it since."""
        connection = self._connection
        if connection is None:
            return None
        connection.within(deadline)
        early = connection.received(1)
        if early:
            raise unasked()
        if early is not None:
            self.hang_up()
        return self._connection

    @staticmethod
    def _body(response: http.client.HTTPResponse) -> bytes:
        if response.status != _OK:
            raise http_error(response.status, response.read(_LONGEST_ERROR))
        body = response.read(MAX_ANSWER + 1)
        if len(body) > MAX_ANSWER:
            raise too_large()
        if response.length:  # the server had announced more
            raise EOFError
        return body
