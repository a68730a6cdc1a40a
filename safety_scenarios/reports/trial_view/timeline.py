# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What happened when: phases, stimuli, commands, and single moments, in ms after zero."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
import json
from statistics import median
from typing import Any

from safety_scenarios.errors import counted
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.reports.trial_view.display_text import on_one_line, rounded
from safety_scenarios.reports.trial_view.thinning import changes, fewer
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.trial.timeline import Timeline
from safety_scenarios.trial.trial import ALL_CLEAR, NOMINAL, TrialRecord

ARMED = 'armed'
_POINTS, _SIGNALS, _TOPICS, _SPANS = 56, 6, 10, 8
"""At most so many points of a signal, signals, topics of stimuli, and spans of each."""
_PAUSE = 3.0
"""A pause longer than so many periods ends a span."""
_PLACES = 8
"""Faults, lost messages and the like that are told one by one."""
_TOLD = {'distance': 'm', 'bearing': 'rad', 'speed': 'm/s', 'force': 'N', 'width': 'm'}
"""What is told of an intent, with its unit."""
_SINGLE = 3
"""So few messages are moments, not a stream."""


def zero_of(timeline: Timeline) -> int:
    """Return the steady time that everything is told from: the onset, or else the beginning."""
    first = timeline.onset or timeline.mark(NOMINAL) or next(
        iter(timeline.record.events), None)
    return 0 if first is None else first.stamps.steady_ns


def phases(timeline: Timeline, zero_ns: int) -> Sequence[Mapping[str, Any]]:
    """Return each phase with its name, begin and end."""
    record = timeline.record
    if not record.events:
        return ()
    hazard = 'harmless event' if record.trial.scenario.is_benign else 'hazard'
    onset, armed = timeline.onset, timeline.mark(ARMED)
    clear = timeline.mark(ALL_CLEAR)
    borders: list[tuple[str, int]] = [
        ('nominal', (timeline.mark(NOMINAL) or record.events[0]).stamps.steady_ns)]
    for name, event in (('armed', armed), (hazard, onset), ('after the all-clear', clear)):
        if event is not None:
            borders.append((name, event.stamps.steady_ns))
    borders.sort(key=lambda border: border[1])
    return [{'name': name, 'begin': _ms(begin, zero_ns), 'end': _ms(end, zero_ns)}
            for (name, begin), (_, end) in pairwise([*borders, ('', record.end_ns)])]


def stimuli(timeline: Timeline, zero_ns: int) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Return what was shown on each topic and when, and how many more topics there were."""
    by_topic: dict[tuple[bool, str], list[Event]] = {}
    for event in timeline.record.of_kind('stimulus'):
        by_topic.setdefault((not event.hazard, event.name), []).append(event)
    found = [{
        'topic': on_one_line(topic, 80), 'hazard': not is_nominal, 'count': len(events),
        'what': _what(events), 'spans': _spans(timeline, events, zero_ns)}
        for (is_nominal, topic), events in sorted(by_topic.items())]
    return found[:_TOPICS], max(0, len(found) - _TOPICS)


def _what(events: Sequence[Event]) -> str:
    """Return what was shown, in words."""
    first = events[0]
    if first.arguments is not None:
        intent = json.loads(first.arguments)
        told = [f'{name} {value:.2f} {unit}' for name, unit in _TOLD.items()
                if isinstance(value := intent.get(name), (int, float))]
        kind = str(intent.get('fault') or intent.get('kind', '')).replace('_', ' ')
        return on_one_line(', '.join([kind, *told]), 160)
    if first.message is None:
        return 'silence: nothing is published any more'
    text = f'{counted(len(events), "message")} of {first.message.type}'
    known = [event.truth['distance'] for event in events if 'distance' in event.truth]
    return f'{text}, distance {known[0]:.2f} to {known[-1]:.2f} m' if known else text


def _spans(timeline: Timeline, events: Sequence[Event],
           zero_ns: int) -> Sequence[Sequence[int]]:
    """Return begin and end of each stretch without a pause; of what lasts, to its phase's end."""
    times = [event.stamps.steady_ns for event in events]
    clear = timeline.mark(ALL_CLEAR)
    if events[0].arguments is not None or events[0].message is None:
        ends = [clear.stamps.steady_ns] if clear else []
        if (onset := timeline.onset) is not None and not events[0].hazard:
            ends.append(onset.stamps.steady_ns)
        ends = sorted([*times, *ends, timeline.record.end_ns])
        return [[_ms(t_ns, zero_ns), _ms(next((end for end in ends if end > t_ns), t_ns),
                                         zero_ns)] for t_ns in times[:_SPANS]]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    longest = _PAUSE * median(gaps) if len(gaps) >= _SINGLE else 0.0
    spans = [[times[0], times[0]]]
    for gap, t_ns in zip(gaps, times[1:], strict=True):
        if gap > longest:
            spans.append([t_ns, t_ns])
        spans[-1][1] = t_ns
    if len(spans) > _SPANS:
        spans = [*spans[:_SPANS - 1], [spans[_SPANS - 1][0], spans[-1][1]]]
    return [[_ms(t_ns, zero_ns) for t_ns in span] for span in spans]


def commands(record: TrialRecord, zero_ns: int) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Return what was commanded and fed back, signal by signal, and how many are left out."""
    body = record.trial.scenario.body
    commanded, signals = {one.topic for one in body.commands}, Signals(record)
    found = sorted(body.signals.items(), key=lambda one: one[1].topic not in commanded)
    told = [one for name, signal in found
            if (one := _signal(signals, name, signal, zero_ns)) is not None]
    return ([{**one, 'commanded': one['topic'] in commanded} for one in told[:_SIGNALS]],
            max(0, len(told) - _SIGNALS))


def _signal(signals: Signals, name: str, signal: Signal,
            zero_ns: int) -> dict[str, Any] | None:
    try:
        [column] = signals.columns([signal])
    except LookupError:  # a field that the messages lack is a finding of whoever reads it
        return None
    pairs = column.pairs
    if not pairs:
        return None
    samples = [(_ms(t_ns, zero_ns), rounded(value, 3)) for t_ns, value in changes(pairs)]
    kept = fewer(changes(samples), _POINTS)
    return {'name': on_one_line(name, 60), 'topic': signal.topic, 'unit': signal.unit,
            'of': len(pairs), 't': [t_ms for t_ms, _ in kept],
            'v': [value for _, value in kept]}


def moments(record: TrialRecord, result: TrialResult, zero_ns: int) -> Sequence[Mapping[str, Any]]:
    """Return the single moments that matter, in order of time."""
    found = [*_of_latency(result), *_of_world(result), *_of_record(record, zero_ns)]
    return sorted(found, key=lambda one: int(one['t']))


def _of_latency(result: TrialResult) -> Iterator[Mapping[str, Any]]:
    latency = result.latency
    if latency is None:
        return
    for what, elapsed in (('reaction', latency.reaction), ('confirmed', latency.confirmed)):
        if elapsed is not None:
            yield {'t': round(elapsed.steady_ns / 1e6), 'what': what,
                   'text': f'{elapsed.judged_ns / 1e6:.1f} ms, {elapsed.latency_class.value}'}
    if latency.stop is not None:
        yield {'t': round(latency.stop.stands_ns / 1e6), 'what': 'stands',
               'text': on_one_line(f'{latency.stop.way:.3f} {latency.stop.unit} on, '
                                   f'{latency.stop.source}', 200)}


def _of_world(result: TrialResult) -> Iterator[Mapping[str, Any]]:
    world = result.world
    if world is not None and world.min_gap_m is not None and world.min_gap_at_ms is not None:
        yield {'t': round(world.min_gap_at_ms), 'what': 'least gap',
               'text': on_one_line(f'{world.min_gap_m:.3f} m to {world.min_gap_to}', 200)}


def _of_record(record: TrialRecord, zero_ns: int) -> Iterator[Mapping[str, Any]]:
    """Yield what went wrong on the way, the first of each kind and name."""
    seen: dict[tuple[str, str], list[Event]] = {}
    for kind in ('fault', 'undeclared', 'lost'):
        for event in record.of_kind(kind):
            seen.setdefault((kind, event.name), []).append(event)
    for (kind, name), events in list(seen.items())[:_PLACES]:
        more = f' (the first of {len(events)})' if len(events) > 1 else ''
        yield {'t': _ms(events[0].stamps.steady_ns, zero_ns), 'what': kind,
               'text': on_one_line(f'{name}: {events[0].text or ""}{more}', 300)}


def _ms(t_ns: int, zero_ns: int) -> int:
    return round((t_ns - zero_ns) / 1e6)
