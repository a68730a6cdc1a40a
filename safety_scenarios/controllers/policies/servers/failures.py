# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The names of everything that can go wrong between a policy's controller and its server."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
import socket
import ssl
import time
from typing import Any

from safety_scenarios.controllers.policies.model import InferenceError
from safety_scenarios.controllers.server_replies import LONGEST_REPLY, without_keys
from safety_scenarios.errors import in_words, seen

MAX_ANSWER = LONGEST_REPLY
"""Bytes of one answer; a chunk of actions has a few thousand."""
_LONGEST = 300
"""Characters that are kept of what a server says."""


class Deadline:
    """
    When a whole exchange has to be over, however many bytes come until then.

    :param within_s: from now on
    """

    def __init__(self, within_s: float) -> None:
        self.within_s = within_s
        self._end_s = time.monotonic() + within_s

    def left_s(self) -> float:
        """
        Return how much time is left.

        :raises TimeoutError: none is
        """
        left_s = self._end_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        return left_s

    def ends_within(self, seconds: float) -> bool:
        """Return whether no more time than this is left."""
        return time.monotonic() + seconds >= self._end_s


@contextmanager
def named_failures(deadline: Deadline) -> Iterator[None]:
    """
    Give what the network does to an exchange its name.

    :raises InferenceError: in place of an error of the operating system
    """
    try:
        yield
    except TimeoutError:
        raise InferenceError('timeout', f'no whole answer within {deadline.within_s:g} s') \
            from None
    except ConnectionRefusedError:
        raise InferenceError('refused', 'nothing listens there') from None
    except (ConnectionError, EOFError):
        raise InferenceError('dropped', 'the connection was closed before the answer came') \
            from None
    except ssl.SSLError as error:
        raise InferenceError('tls', in_words(error)) from error
    except socket.gaierror as error:
        raise InferenceError('unreachable', f'the host is unknown: {in_words(error)}') from error
    except OSError as error:
        raise InferenceError('unreachable', in_words(error)) from error


def malformed(why: str) -> InferenceError:
    """Return that an answer cannot be read."""
    return InferenceError('malformed', shortened(why))


def unasked() -> InferenceError:
    """Return that something came before the question: what it answers is unknown."""
    return malformed('an answer came before its question')


def too_large() -> InferenceError:
    """Return that an answer has more bytes than any chunk of actions."""
    return InferenceError('too_large', f'the answer has more than {MAX_ANSWER >> 20} MiB')


def server_error(text: Any) -> InferenceError:
    """Return what a server reports that went wrong there; of a traceback its last line."""
    lines = [line for line in str(text).splitlines() if line.strip()]
    return InferenceError('server_error', shortened(lines[-1] if lines else 'no reason is given'))


def http_error(status: int, body: bytes | bytearray) -> InferenceError:
    """Return that a server answered with a status other than 200."""
    return InferenceError(f'http_{status}', shortened(body.decode(errors='replace')))


def shortened(text: str) -> str:
    """Return what fits into a line of a log, without the keys that a server repeats."""
    return seen(' '.join(without_keys(text).split()))[:_LONGEST] or 'without a text'


def as_mapping(found: Any) -> Mapping[Any, Any]:
    """
    Return a message that has to be a map.

    :raises InferenceError: it is none
    """
    if not isinstance(found, Mapping):
        raise malformed(f'got {type(found).__name__}, expected a map')
    return found


def refuse_error(found: Any) -> Any:
    """
    Return an answer in which the server reports no error, whatever else is in it.

    :raises InferenceError: it reports one
    """
    error = found.get('error') if isinstance(found, Mapping) else None
    error = getattr(error, 'tolist', lambda: error)()  # an array has no truth value
    if error or (isinstance(found, Mapping) and found.keys() == {'error'}):
        raise server_error(error)
    return found
