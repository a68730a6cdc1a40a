# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What every server of a policy is to its controller: patient at first, and then in time."""

from collections.abc import Callable, Mapping
import logging
import time
from typing import Any, ClassVar, TypeVar

from safety_scenarios.controllers.policies.model import (
    Inference,
    InferenceError,
    ModelOptions,
    PolicyModel,
)
from safety_scenarios.controllers.policies.servers.connection import Connection, read_address
from safety_scenarios.controllers.policies.servers.failures import Deadline, named_failures

_LOG = logging.getLogger(__name__)
_COMES_LATER = ('refused', 'dropped', 'unreachable', 'http_429', 'http_502', 'http_503',
                'http_504')
"""Failures of a server that is still being started."""
_PAUSE_S = 0.5
_T = TypeVar('_T')


class ServerModel(PolicyModel):
    """
    Base of every protocol: it asks within a deadline, and begins anew after a failure.

    Until the first answer it waits for a server that is not there yet, ``cold_start_s`` in all;
    from then on each answer has ``timeout_s``, a new connection included.
    """

    takes_real_time: ClassVar[bool] = True
    kind: ClassVar[str]
    schemes: ClassVar[Mapping[str, int]]
    """Schemes of its addresses, each with the port that is meant without one."""

    def __init__(self, address: str, options: ModelOptions) -> None:
        super().__init__(address, options)
        self.place = read_address(self.kind, address, self.schemes)
        self._is_warm = self.is_interrupted = False
        self._start = Deadline(options.cold_start_s)
        self._connection: Connection | None = None

    def open(self) -> None:  # noqa: A003
        """
        Connect.

        :raises InferenceError: the server was not there in time
        """
        self._start = Deadline(self.options.cold_start_s)
        self._patiently(self.connect)

    def infer(self, inputs: Mapping[str, Any]) -> Inference:
        """Ask the server."""
        if self._is_warm:
            return self._asked(lambda deadline: self.ask(inputs, deadline),
                               Deadline(self.options.timeout_s))
        found = self._patiently(lambda deadline: self.ask(inputs, deadline))
        self._is_warm = True
        return found

    def interrupt(self) -> None:
        """End what is under way."""
        self.is_interrupted = self._is_warm = True  # so that nothing is tried again
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    def close(self) -> None:
        """Hang up."""
        self.interrupt()
        self.hang_up()

    def connect(self, deadline: Deadline) -> None:
        """
        Open a connection, and learn what the server tells of itself.

        :raises OSError: there is none
        """

    def ask(self, inputs: Mapping[str, Any], deadline: Deadline) -> Inference:
        """
        Ask over the connection, or over a new one where there is none.

        :raises OSError: the connection failed
        """
        raise NotImplementedError

    def hang_up(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def dial(self, deadline: Deadline) -> Connection:
        """
        Return a new connection over TCP, which ``hang_up`` closes.

        :raises OSError: there is none
        """
        self._connection = Connection(deadline)
        self._connection.open(self.place)
        return self._connection

    def _asked(self, ask: Callable[[Deadline], _T], deadline: Deadline) -> _T:
        """Ask, and leave no connection behind on which a late answer could come."""
        try:
            with named_failures(deadline):
                return ask(deadline)
        except BaseException:
            self.hang_up()
            raise

    def _patiently(self, ask: Callable[[Deadline], _T]) -> _T:
        waits = False
        while True:
            try:
                return self._asked(ask, self._start)
            except InferenceError as error:
                if error.name not in _COMES_LATER or self._is_warm \
                        or self._start.ends_within(_PAUSE_S):
                    raise InferenceError(error.name, f'{self.kind}:{self.address}: '
                                         f'{error.detail}') from error
                if not waits:
                    _LOG.warning('%s:%s: waiting up to %g s for the server: %s', self.kind,
                                 self.address, self._start.within_s, error)
                waits = True
            time.sleep(_PAUSE_S)
