# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Clients of OpenAI-compatible servers: one that names a controller or a judge asks through it."""

from functools import lru_cache
from importlib import import_module
import logging
import os
import ssl

import openai

_TRUSTED = ('SSL_CERT_FILE', 'SSL_CERT_DIR', 'SSLKEYLOGFILE')
"""Environment variables by which a user says whom to trust, and what is kept of it."""
for _name in ('httpx', 'httpx2'):
    logging.getLogger(_name).setLevel(logging.WARNING)  # they log every URL


def client(base_url: str, key: str, timeout_s: float) -> openai.OpenAI:
    """
    Return a client with connections of its own, which asks once and not again.

    :param base_url: empty: what the environment names, or the library's own default
    """
    told = tuple(os.environ.get(name) for name in _TRUSTED)
    return openai.OpenAI(
        base_url=base_url or None, api_key=key, timeout=timeout_s, max_retries=0,
        http_client=openai.DefaultHttpxClient(timeout=timeout_s, verify=_certificates(told)))


@lru_cache(maxsize=8)
def _certificates(told: tuple[str | None, ...]) -> ssl.SSLContext:
    """
    Return what the library would make anew for each client, which takes some 30 ms each time.

    :param told: what the environment says of it, which the library reads itself
    """
    # The library is httpx or httpx2, as openai has it; they trust different authorities.
    library = import_module(openai.DefaultHttpxClient.__mro__[1].__module__)
    made: ssl.SSLContext = library.create_ssl_context()
    return made
