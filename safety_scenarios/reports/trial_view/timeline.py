# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The timeline that page and terminal draw: phases, onset, stop, commands, words, series."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
import json
import math
import re
from statistics import median
from typing import Any

import numpy
from safety_scenarios.errors import counted
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Elapsed, Latency, TrialResult
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import AFTER, Verdict
from safety_scenarios.trial.trial import ALL_CLEAR, NOMINAL, PROMPT, Timeline, TrialRecord

_HIDDEN = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e'
                     '\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]')
"""What moves a cursor, turns a text around, or is not seen."""


def printable(text: str, most: int | None = None) -> str:
    r"""
    Return a text in which everything is seen: an escape in place of what is not, such as ``\x1b``.

    Line breaks and tabs stay. What is longer than ``most`` loses its middle, and says how much.
    """
    if most is not None and len(text) > most:
        begin, end = most - most // 4, most // 4
        text = (f'{text[:begin]} [... {len(text) - begin - end} characters are left out here ...] '
                f'{text[len(text) - end:]}')
    return _HIDDEN.sub(_escape, text.replace('\r\n', '\n'))


def on_one_line(text: str, most: int | None = None) -> str:
    """Return the same without line breaks and tabs, which become blanks."""
    return ' '.join(printable(text, most).split())


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f'\\x{code:02x}' if code < 0x100 else f'\\u{code:04x}' if code < 0x10000 \
        else f'\\U{code:08x}'


def rounded(value: float | None, digits: int) -> float | int | None:
    """Return a number as a screen shows it, None for what is none; -0.0 is 0."""
    if value is None or not math.isfinite(value):
        return None
    found = round(value, digits)
    return int(found) if found == int(found) else found


def all_rounded(values: Iterable[float | None], digits: int) -> Sequence[float | int | None]:
    """Return several numbers so."""
    return [rounded(value, digits) for value in values]


Sample = tuple[int, float | None]
"""(ms, value); None: not known from then on."""


def changes(samples: Sequence[Sample]) -> Sequence[Sample]:
    """Return only the samples of a held series in which it changes, and its last."""
    if not samples:
        return ()
    found = [samples[0]]
    for sample in samples[1:]:
        if sample[1] != found[-1][1]:
            found.append(sample)
    return found if found[-1][0] == samples[-1][0] else [*found, samples[-1]]


def fewer(samples: Sequence[Sample], most: int) -> Sequence[Sample]:
    """
    Return at most so many samples in order: of each stretch of time its lowest and its highest.

    The first, the last, and where a value becomes unknown or known again are kept too, as far as
    there is room.

    :param most: at least 8
    """
    kept = places([value for _, value in samples], [t_ms for t_ms, _ in samples], most, ())
    return [samples[place] for place in kept]


def corners(values: Sequence[float | None], times: Sequence[float], near: float,
            most: int) -> Sequence[int]:
    """
    Return places between which straight lines lose no dip and no peak, the highest ones first.

    :param near: how far from a line a value may be
    """
    known = [place for place, value in enumerate(values) if value is not None]
    if not known:
        return ()
    x, y = (numpy.array([series[place] for place in known], dtype=float)
            for series in (times, values))

    def farthest(first: int, last: int) -> tuple[float, int, int, int]:
        away = numpy.abs(y[first:last + 1] - numpy.interp(
            x[first:last + 1], x[[first, last]], y[[first, last]]))
        place = int(away.argmax())
        return -float(away[place]), first + place, first, last

    found, spans = {0, len(known) - 1}, [farthest(0, len(known) - 1)]
    while spans and -spans[0][0] > near and len(found) < most:
        _, place, first, last = heappop(spans)
        found.add(place)
        for span in ((first, place), (place, last)):
            heappush(spans, farthest(*span))
    return [known[place] for place in sorted(found)]


def places(values: Sequence[float | None], times: Sequence[float], most: int,
           always: Collection[int]) -> Sequence[int]:
    """
    Return the places that are kept, in order.

    :param values: beside ``times``, in order of time
    :param always: places that are kept whatever their values
    """
    last = len(values) - 1
    if last < most:
        return range(last + 1)
    found = {0, last, *always}
    known = [place for place, value in enumerate(values) if value is not None]
    value_at = [value or 0.0 for value in values].__getitem__
    if known:
        found |= {min(known, key=value_at), max(known, key=value_at)}
    borders = [place for place in range(1, last + 1)
               if (values[place] is None) != (values[place - 1] is None)]
    found |= set(borders[:max(0, (most - len(found)) // 4)])
    stretches = max(1, (most - len(found)) // 2)
    wide = (times[last] - times[0]) / stretches or 1.0
    first = times[0]
    begins = [bisect_left(known, stretch, key=lambda place: int((times[place] - first) / wide))
              for stretch in range(stretches)]
    for begin, end in pairwise([*begins, len(known)]):
        if inside := known[begin:end]:
            found |= {min(inside, key=value_at), max(inside, key=value_at)}
    return sorted(found)


_ENTRIES, _LONGEST, _ALL = 60, 1200, 6000
"""At most so many entries, characters of one, and characters of all."""
_SHORTEST = 120
"""However much was said before, so many characters of each are shown."""
_KINDS = ('say', 'tool_call', 'tool_result', 'response', 'call', 'call_state')


def words(record: TrialRecord, zero_ns: int) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Return what was said and called, and how many entries are left out after it."""
    found = [*sorted(_message_rows(record, zero_ns), key=lambda one: int(one['t'])),
             *_judged(record, zero_ns)]
    left, shortened = _ALL, list[Mapping[str, Any]]()
    for one in found[:_ENTRIES]:
        most = max(_SHORTEST, min(_LONGEST, left))
        left -= min(most, len(one['text']))
        shortened.append({**one, 'text': printable(one['text'], most)})
    return shortened, max(0, len(found) - _ENTRIES)


def _message_rows(record: TrialRecord, zero_ns: int) -> Iterator[Mapping[str, Any]]:
    for event in record.of_kind('stimulus', PROMPT):
        yield from _prompt(event, zero_ns)
    body = record.trial.scenario.body
    block = body if isinstance(body, AgentsBody) else AgentsBody()
    names, sut = {agent.id: agent.name or agent.id for agent in block.agents}, block.sut
    for kind in _KINDS:
        for event in record.of_kind(kind):
            who = names.get(event.agent or '', event.agent or '')
            is_sut = kind == 'response' or (bool(event.agent) and event.agent == sut
                                            and kind != 'tool_result')
            yield _entry(event, zero_ns, kind, who or record.trial.controller, _text(event),
                         is_sut)


def _text(event: Event) -> str:
    if event.kind in ('say', 'response'):
        return event.text or ''
    arguments = event.arguments or ''
    return ' '.join(filter(None, [event.name, event.text if event.kind != 'tool_result' else '',
                                  arguments if arguments != '{}' else '']))


def _prompt(event: Event, zero_ns: int) -> Iterator[Mapping[str, Any]]:
    """Yield each message of a prompt; one that nobody can read as it stands."""
    data = None if event.message is None else event.message.data.get('data')
    try:
        messages = [(str(one['role']), str(one['content']))
                    for one in json.loads(str(data))['messages']]
    except (ValueError, KeyError, TypeError):
        messages = [('prompt', str(data or ''))]
    for role, text in messages:
        yield _entry(event, zero_ns, 'prompt', role, text, False)


def _judged(record: TrialRecord, zero_ns: int) -> Iterator[Mapping[str, Any]]:
    for one in record.judgements:
        opinion = one.opinion or f'no answer: {one.error}'
        yield {'t': round((record.end_ns - zero_ns) / 1e6), 'kind': 'judge',
               'who': on_one_line(one.model, 80), 'sut': False,
               'text': f'{one.check}: {opinion}. {one.reason}'}


def _entry(event: Event, zero_ns: int, kind: str, who: str, text: str,
           is_sut: bool) -> Mapping[str, Any]:
    return {'t': round((event.stamps.steady_ns - zero_ns) / 1e6), 'kind': kind,
            'who': on_one_line(who, 80), 'sut': is_sut, 'text': text}


_CLOCKS = {'steady': 'the steady clock', 'ros': 'ROS time',
           'max': 'the steady clock or ROS time, whichever shows more'}


def latency_of(record: TrialRecord, result: TrialResult) -> Mapping[str, Any] | None:
    """Return the part of a view that is called ``latency``, None where none was asked for."""
    found, measuring = result.latency, record.measuring
    if found is None:
        return None
    budget, reaction = record.trial.scenario.latency_budget, found.reaction
    told: dict[str, Any] = {
        'ms': None, 'low_ms': None, 'high_ms': None, 'class': found.latency_class.value,
        'clock': 'simulated time, which is exact' if measuring.exact
        else _CLOCKS[measuring.rules.judge],
        'budget_ms': [budget.target_ms, budget.acceptable_ms, budget.critical_ms],
        'observed_ms': rounded(found.observed_ns / 1e6, 1),
        'sentence': _sentence(found, measuring)}
    if reaction is not None:
        told |= {'ms': _ms(reaction), 'at': round(reaction.steady_ns / 1e6),
                 'low_ms': rounded((reaction.judged_ns - reaction.uncertainty_ns) / 1e6, 2),
                 'high_ms': rounded((reaction.judged_ns + reaction.uncertainty_ns) / 1e6, 2)}
    if found.first_command is not None:
        told['first_command_ms'] = _ms(found.first_command)
    if found.confirmed is not None:
        told['confirmed_ms'] = _ms(found.confirmed)
        told['confirmed_class'] = found.confirmed.latency_class.value
    if found.stop is not None:
        told['stands_sentence'] = on_one_line(found.stop.sentence, 300)
    if found.parts is not None and reaction is not None:
        told['parts'] = [{'name': name, 'label': found.parts.label(name),
                          'is_after': name in AFTER, 'ms': rounded(part.ns / 1e6, 2),
                          'way': rounded(part.way, 3)}
                         for name, part in found.parts.named() if part is not None]
        told['parts_sentence'] = found.parts.sentence(reaction.judged_ns)
        told['parts_unit'] = found.parts.unit
        told['implausible'] = list(found.parts.implausible)
    if found.split is not None:
        told['split_ms'] = [rounded(part / 1e6, 2) for part in (
            found.split.outbound_ns, found.split.controller_ns, found.split.inbound_ns)]
    return told


def _sentence(found: Latency, measuring: Measuring) -> str:
    reaction = found.reaction
    if reaction is None:
        return (f'{found.latency_class.value.replace("_", " ")}: no reaction in the '
                f'{found.observed_ns / 1e6:.0f} ms that were observed')
    within = ', exact' if measuring.exact and not reaction.uncertainty_ns else \
        f' ± {reaction.uncertainty_ns / 1e6:.2f} ms (k = 2)'
    clock = 'simulated time' if measuring.exact else _CLOCKS[measuring.rules.judge]
    return (f'{reaction.judged_ns / 1e6:.1f} ms{within}, {found.latency_class.value}; by {clock}'
            + ('' if measuring.exact else f', stamps: {reaction.method}')
            + ('; the reaction is the end of the commands' if found.inferred else ''))


def cost_of(result: TrialResult) -> Mapping[str, Any] | None:
    """Return what the latency asks for in metres, None where nothing tells how to reckon it."""
    cost = result.separation
    return None if cost is None else {
        'latency_ms': rounded(cost.latency_ms, 1), 'speed': rounded(cost.speed, 3),
        'required': rounded(cost.required, 3), 'available': rounded(cost.available, 3),
        'left': rounded(cost.margin, 3), 'per_100_ms': rounded(cost.per_second / 10, 3)}


def _ms(elapsed: Elapsed) -> float | None:
    return rounded(elapsed.judged_ns / 1e6, 2)


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
    first = timeline.onset or timeline.mark(NOMINAL) or next(iter(timeline.record.events), None)
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
    return [{'name': name, 'begin': _since(begin, zero_ns), 'end': _since(end, zero_ns)}
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
        kind = str(intent.get('fault') or intent.get('kind', '')).removesuffix('_at')
        kind = kind.replace('_', ' ')
        return on_one_line(', '.join([kind, *told]), 160)
    if first.message is None:
        return 'silence: no more messages are published'
    text = f'{counted(len(events), "message")} of {first.message.type}'
    known = [event.truth['distance'] for event in events if 'distance' in event.truth]
    return f'{text}, distance {known[0]:.2f} to {known[-1]:.2f} m' if known else text


def _spans(timeline: Timeline, events: Sequence[Event], zero_ns: int) -> Sequence[Sequence[int]]:
    """Return begin and end of each stretch without a pause; of what lasts, to its phase's end."""
    times = [event.stamps.steady_ns for event in events]
    clear = timeline.mark(ALL_CLEAR)
    if events[0].arguments is not None or events[0].message is None:
        ends = [clear.stamps.steady_ns] if clear else []
        if (onset := timeline.onset) is not None and not events[0].hazard:
            ends.append(onset.stamps.steady_ns)
        ends = sorted([*times, *ends, timeline.record.end_ns])
        return [[_since(t_ns, zero_ns), _since(next((end for end in ends if end > t_ns), t_ns),
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
    return [[_since(t_ns, zero_ns) for t_ns in span] for span in spans]


def commands(record: TrialRecord, zero_ns: int) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Return what was commanded and fed back, signal by signal, and how many are left out."""
    body = record.trial.scenario.body
    commanded, signals = {one.topic for one in body.commands}, Signals(record)
    found = sorted(body.signals.items(), key=lambda one: one[1].topic not in commanded)
    told = [one for name, signal in found
            if (one := _signal(signals, name, signal, zero_ns)) is not None]
    return ([{**one, 'commanded': one['topic'] in commanded} for one in told[:_SIGNALS]],
            max(0, len(told) - _SIGNALS))


def _signal(signals: Signals, name: str, signal: Signal, zero_ns: int) -> dict[str, Any] | None:
    try:
        [column] = signals.columns([signal])
    except LookupError:  # a field that the messages lack is a finding of whoever reads it
        return None
    pairs = column.pairs
    if not pairs:
        return None
    samples = [(_since(t_ns, zero_ns), rounded(value, 3)) for t_ns, value in changes(pairs)]
    kept = fewer(changes(samples), _POINTS)
    return {'name': on_one_line(name, 60), 'topic': signal.topic, 'unit': signal.unit,
            'of': len(pairs), 't': [t_ms for t_ms, _ in kept],
            'v': [value for _, value in kept]}


def moments(record: TrialRecord, result: TrialResult, zero_ns: int) -> Sequence[Mapping[str, Any]]:
    """Return the single moments that matter, in order of time."""
    found = [*_latency_marks(result), *_world_marks(result), *_fault_marks(record, zero_ns)]
    return sorted(found, key=lambda one: int(one['t']))


def _latency_marks(result: TrialResult) -> Iterator[Mapping[str, Any]]:
    latency = result.latency
    if latency is None:
        return
    for what, elapsed in (('reaction', latency.reaction), ('confirmed', latency.confirmed)):
        if elapsed is not None:
            yield {'t': round(elapsed.steady_ns / 1e6), 'what': what,
                   'text': f'{elapsed.judged_ns / 1e6:.1f} ms, {elapsed.latency_class.value}'}
    if latency.stop is not None:
        yield {'t': round(latency.stop.stands_ns / 1e6), 'what': 'stands',
               'text': on_one_line(f'{latency.stop.moved}: {latency.stop.source}', 200)}


def _world_marks(result: TrialResult) -> Iterator[Mapping[str, Any]]:
    world = result.world
    if world is not None and world.min_gap_m is not None and world.min_gap_at_ms is not None:
        yield {'t': round(world.min_gap_at_ms), 'what': 'least gap',
               'text': on_one_line(f'{world.min_gap_m:.3f} m to the nearest body '
                                   f'({world.min_gap_to})', 200)}
    for one in result.findings:
        if one.source == 'contact' and one.verdict is Verdict.FAIL and one.at_ms is not None:
            yield {'t': round(one.at_ms), 'what': 'touch', 'text': on_one_line(one.reason, 200)}


def _fault_marks(record: TrialRecord, zero_ns: int) -> Iterator[Mapping[str, Any]]:
    """Yield what went wrong on the way, the first of each kind and name."""
    seen: dict[tuple[str, str], list[Event]] = {}
    for kind in ('fault', 'undeclared', 'lost'):
        for event in record.of_kind(kind):
            seen.setdefault((kind, event.name), []).append(event)
    for (kind, name), events in list(seen.items())[:_PLACES]:
        more = f' (the first of {len(events)})' if len(events) > 1 else ''
        yield {'t': _since(events[0].stamps.steady_ns, zero_ns), 'what': kind,
               'text': on_one_line(f'{name}: {events[0].text or ""}{more}', 300)}


def _since(t_ns: int, zero_ns: int) -> int:
    return round((t_ns - zero_ns) / 1e6)
