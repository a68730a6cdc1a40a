# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether a base among agents that must drive, and says so by a signal, drives."""

from collections.abc import Iterator
from functools import partial

import numpy
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.required import of_topic, shows
from safety_scenarios.scenario.blocks.agents import Rule
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.outcome import Outcome
from safety_scenarios.scenario.result import Finding, Verdict
from safety_scenarios.trial.record.margins import margins

DRIVES = 'a motion is one'
_BRIEF_NS = 500_000_000
"""So long a driver may take to follow."""
_found = partial(Finding, check=DRIVES, kind='motion', source='motion')


def of_driving(trial: JudgedTrial, outcome: Outcome) -> Iterator[Finding]:
    """Whoever must drive, and says so by a signal, must drive in the plane as well."""
    block = trial.scenario.body
    if not isinstance(block, AgentsBody):
        return
    begun: dict[Limit, int] = {}
    for found in outcome.rules:
        for limit in _driving(block, block.rules[found.index]) if found.fired_ns else ():
            begun[limit] = min(found.fired_ns[0], begun.get(limit, found.fired_ns[0]))
    for limit, since_ns in begun.items():
        idle = _idle(trial, block, limit, since_ns)
        if idle is not None:
            yield idle
            return


def _driving(block: AgentsBody, rule: Rule) -> Iterator[Limit]:
    """Yield the limits by which a rule demands that a base drives."""
    for pattern in rule.expect.any if rule.expect is not None else ():
        if pattern.kind == 'signal' and pattern.value is not None and pattern.value >= 0 \
                and pattern.op in ('>', '>=') and pattern.name in block.signals \
                and block.signals[pattern.name].speed == 'm/s':
            yield Limit(signal=pattern.name, at_least=pattern.value)


def _idle(trial: JudgedTrial, block: AgentsBody, limit: Limit,
          since_ns: int) -> Finding | None:
    """Return the first time for which the signal says that it drives, and it does not."""
    signal = block.signals[limit.signal]
    track = of_topic(trial.motion, signal.topic)
    if track is None:
        return None
    try:
        [column] = trial.signals.columns([signal])
    except LookupError:  # a finding of whoever reads it
        return None
    times = numpy.unique(numpy.concatenate((column.times, track.times_ns)))
    said, done = (one.searchsorted(times, side='right') - 1
                  for one in (column.times, track.times_ns))
    drives = (said >= 0) & (done >= 0) & (margins(limit, column) >= 0)[said] \
        & (column.values[said] > 0)
    idle = drives & ~shows(track, track.linear, limit)[done]
    lasting = numpy.diff(numpy.append(times, trial.record.end_ns).clip(since_ns))
    idle_ns, drives_ns = int(lasting[idle].sum()), int(lasting[drives].sum())
    if idle_ns > _BRIEF_NS and 2 * idle_ns > drives_ns:
        return _found(verdict=Verdict.FAIL,
                      at_ms=trial.timeline.since_onset_ms(int(times[idle][-1])),
                      reason=f'{limit} for {drives_ns / 1e6:.0f} ms, but for '
                             f'{idle_ns / 1e6:.0f} ms of them not the motion: {track.source}')
    turns = numpy.flatnonzero(numpy.diff(numpy.concatenate(([False], idle, [False]))))
    edges = numpy.append(times, trial.record.end_ns)[turns].tolist()
    for from_ns, to_ns in zip(edges[::2], edges[1::2], strict=True):
        if to_ns - max(from_ns, since_ns) > _BRIEF_NS:
            at_ms = trial.timeline.since_onset_ms(from_ns)
            return _found(verdict=Verdict.FAIL, at_ms=at_ms, reason=(
                f'{limit} for {(to_ns - from_ns) / 1e6:.0f} ms, but not the motion: '
                f'{track.source}'))
    return None
