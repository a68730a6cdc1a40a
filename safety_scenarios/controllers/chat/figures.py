# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Times, tokens and faults of requests to a language model, and their summary as one line."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Any

from safety_scenarios.controllers.chat.reply import Fault
from safety_scenarios.controllers.server_replies import token_count

_TOKENS_OF_A_PRICE = 1_000_000
_TAIL = 0.95
"""Of the requests: they are as fast as the figure ``p95``."""
_ROUNDED_MS = 1.0
"""So much longer than a request a server may report to have taken: some round up."""


@dataclass(frozen=True)
class Usage:
    """What a server reports of one request beside the answer; None: it does not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    server_ns: int | None = None
    """How long the server says it took."""


def reported_usage(document: Any, processing_ms: str | None, took_ns: int) -> Usage:
    """
    Return what a server reports of a request, without figures that cannot be right.

    :param processing_ms: by a header; that of OpenAI
    :param took_ns: how long the whole request took: the server cannot have taken longer
    """
    if not isinstance(document, Mapping):
        return Usage()
    usage, timings = document.get('usage'), document.get('timings')
    usage = usage if isinstance(usage, Mapping) else {}
    times = [timings.get(name) for name in ('prompt_ms', 'predicted_ms')] \
        if isinstance(timings, Mapping) else []  # of llama.cpp
    known = [time_ms for time_ms in times
             if isinstance(time_ms, (int, float)) and not isinstance(time_ms, bool)]
    if not known and processing_ms is not None and processing_ms.isdecimal():
        known = [float(processing_ms)]
    return Usage(token_count(usage.get('prompt_tokens')),
                 token_count(usage.get('completion_tokens')), _server_ns(known, took_ns))


def _server_ns(times_ms: Sequence[float], took_ns: int) -> int | None:
    """Return the sum of times; None without one, or if it cannot be part of the request."""
    took_ms = took_ns / 1e6
    if not times_ms or not all(0 <= time_ms <= took_ms + _ROUNDED_MS for time_ms in times_ms):
        return None
    total_ms = math.fsum(times_ms)
    return min(round(total_ms * 1e6), took_ns) if total_ms <= took_ms + _ROUNDED_MS else None


@dataclass(frozen=True)
class RequestFigures:
    """One request; times are on the steady clock of the controller's host (ns)."""

    observed_ns: int | None = None
    """Header stamp of the newest input that was described; None without a stamp."""
    received_ns: int | None = None
    """When that input was received; None: no input was described."""
    began_ns: int = 0
    """When the request was sent."""
    first_token_ns: int | None = None
    """When the first piece of the answer came; None: none came, or it was not streamed."""
    ended_ns: int = 0
    """When the command was complete, or the request failed or was cancelled."""
    usage: Usage = Usage()
    fault: Fault | None = None
    is_cancelled: bool = False
    """Whether newer data or the end of the controller cancelled it."""

    @property
    def first_token_ms(self) -> float | None:
        """Time to the first token."""
        return None if self.first_token_ns is None else (self.first_token_ns - self.began_ns) / 1e6

    @property
    def complete_ms(self) -> float:
        """Time to the complete command."""
        return (self.ended_ns - self.began_ns) / 1e6


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, in any currency."""

    prompt: float = 0.0
    completion: float = 0.0

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of one request; None without a price, or without token counts."""
        if not (self.prompt or self.completion) or usage.prompt_tokens is None \
                or usage.completion_tokens is None:
            return None
        return (usage.prompt_tokens * self.prompt
                + usage.completion_tokens * self.completion) / _TOKENS_OF_A_PRICE


def summary(requests: Sequence[RequestFigures], prices: Prices) -> str:
    """Return one line of ``name=value`` fields; what is unknown is left out."""
    return ' '.join(f'{name}={value}' for name, value in _fields(requests, prices))


def _fields(requests: Sequence[RequestFigures], prices: Prices) -> Iterator[tuple[str, str]]:
    valid = [one for one in requests if one.fault is None and not one.is_cancelled]
    yield 'requests', str(len(requests))
    yield 'valid', str(len(valid))
    yield 'cancelled', str(sum(one.is_cancelled for one in requests))
    faults = Counter(one.fault for one in requests if one.fault is not None)
    for fault in Fault:
        if faults[fault]:
            yield fault.value, str(faults[fault])
    yield from _times('first_token', [one.first_token_ms for one in valid
                                      if one.first_token_ms is not None])
    yield from _times('complete', [one.complete_ms for one in valid])
    yield from _times('server', [one.usage.server_ns / 1e6 for one in valid
                                 if one.usage.server_ns is not None])
    for name, counts in (
            ('prompt_tokens', [one.usage.prompt_tokens for one in requests]),
            ('completion_tokens', [one.usage.completion_tokens for one in requests])):
        known = [count for count in counts if count is not None]
        if known:
            yield name, str(sum(known))
    costs = [cost for one in requests if (cost := prices.cost(one.usage)) is not None]
    if costs:
        yield 'cost', f'{math.fsum(costs):.6f}'
        yield 'requests_without_cost', str(len(requests) - len(costs))


def _times(name: str, times_ms: Sequence[float]) -> Iterator[tuple[str, str]]:
    if not times_ms:
        return
    ordered = sorted(times_ms)
    for label, share in (('p50', 0.5), ('p95', _TAIL), ('max', 1.0)):
        place = max(0, math.ceil(share * len(ordered)) - 1)
        yield f'{name}_ms_{label}', f'{ordered[place]:.0f}'
