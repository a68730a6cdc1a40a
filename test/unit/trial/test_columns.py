# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Signals read at once are those read message by message, in any record."""

from operator import itemgetter

from examples import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy
import pytest
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.message import Message
from safety_scenarios.trial.executed_commands import read
from safety_scenarios.trial.margins import MarginSeries, Sample
from safety_scenarios.trial.trial import Timeline, TrialRecord
from unit.records import command, hazard, mark, planned, twist

NUMBERS = st.one_of(st.floats(), st.integers(-2**70, 2**70), st.booleans(),
                    st.sampled_from([0.0, -0.0, 1.0, 0.5]))
VECTORS = st.dictionaries(st.sampled_from('xyz'), NUMBERS, max_size=3)
ODD = st.one_of(st.text(max_size=2), st.none(), st.lists(NUMBERS, max_size=3).map(tuple),
                st.dictionaries(st.sampled_from('xy'), VECTORS, max_size=1))
ANY = st.one_of(
    st.fixed_dictionaries({'v': st.one_of(VECTORS, NUMBERS, ODD)}),
    st.fixed_dictionaries({'header': st.just({}), 'body': st.fixed_dictionaries({
        'v': st.one_of(VECTORS, NUMBERS)})}))
PLAIN = st.fixed_dictionaries({'v': st.fixed_dictionaries(
    {'x': st.floats(), 'y': st.floats(), 'z': st.floats()})})
DATA = st.one_of(st.lists(PLAIN, max_size=8), st.lists(ANY, max_size=8), st.lists(
    st.fixed_dictionaries({'v': st.one_of(st.floats(), st.sampled_from([0.5, 0.05]))}),
    max_size=8))
HOW = st.sampled_from(['none', 'abs', 'norm', 'max_abs', 'min', 'max'])
FIELDS = st.sampled_from(['v', 'v.x', 'body.v', 'v.y.x', 'v[0]', 'v[*]'])
BOUNDS = st.tuples(st.sampled_from([None, 0.0, 0.05, 1.0, 1e308]),
                   st.sampled_from([None, 0.0, -0.0, -1.0, -1e308])).filter(
    lambda bounds: bounds != (None, None))


def built(rows, signals, limits=(), timeout_ms=None):
    """Return a record of (ms, topic, kind, data) as commands and feedback."""
    scenario = hazard(signals=signals, commands=('cmd_vel', 'other'), silence=Silence(
        policy='stop', driver_timeout_ms=timeout_ms) if timeout_ms else Silence())
    events = [command(t_ms, Message(type='t', data=data), topic=topic, kind=kind)
              for t_ms, topic, kind, data in rows]
    return TrialRecord(trial=planned(scenario), events=(mark('nominal', -700), *events,
                                                        mark('end', 3000)))


def one_by_one(record, names):
    """Yield (steady ns, values) of each message, as ``Signal.value`` says."""
    signals = record.trial.scenario.body.signals
    for event in record.events:
        if event.kind in ('command', 'feedback'):
            found = {name: signals[name].value(event.message) for name in names
                     if signals[name].topic == event.name}
            if found:
                yield event.stamps.steady_ns, found


def outcome(read):
    """Return what a reading gives, or the error it raises, so that NaN is equal to NaN."""
    try:
        return repr(read())
    except LookupError as error:
        return f'{type(error).__name__}: {error}'


def plain_series(record, limits, stopped=()):
    """Return the samples by their definition: the smallest margin of the values in force."""
    latest, samples = {}, []
    rows = [*((t_ns, found, False) for t_ns, found in one_by_one(
        record, [limit.signal for limit in limits])), *stopped]
    for t_ns, found, inferred in sorted(rows, key=itemgetter(0)):
        latest |= found
        margins = [(limit.margin(latest.get(limit.signal)), limit.signal) for limit in limits]
        unknown = any(margin is None for margin, _ in margins)
        margin, signal = (None, '') if unknown else min(margins)
        samples.append(Sample(t_ns, margin, signal, inferred))
    return samples


@settings(deadline=None, max_examples=up_to(300))
@given(data=DATA, field=FIELDS, how=HOW, empty=st.sampled_from([None, 0.0]))
def test_a_signal_read_at_once_is_the_signal_read_one_by_one(data, field, how, empty):
    signal = Signal(topic='cmd_vel', field=field, reduce=how, unit='1', empty=empty)
    record = built([(number, 'cmd_vel', 'command', one) for number, one in enumerate(data)],
                   {'s': signal})
    assert outcome(lambda: list(Signals(record).values('s'))) == outcome(lambda: [
        (t_ns, found['s']) for t_ns, found in one_by_one(record, ['s'])])


ROWS = st.lists(st.tuples(
    st.integers(0, 50), st.sampled_from(['cmd_vel', 'cmd_vel', 'other', 'unread']),
    st.sampled_from(['command', 'feedback']), st.fixed_dictionaries(
        {'v': st.fixed_dictionaries({'x': st.floats(), 'y': st.sampled_from([0.0, 0.05, 1.0])})})),
    max_size=12)


@settings(deadline=None, max_examples=up_to(300))
@given(rows=ROWS, in_order=st.booleans(), one_topic=st.booleans(),
       bounds=st.lists(BOUNDS, min_size=1, max_size=3))
def test_margins_of_arrays_are_those_by_definition(rows, in_order, one_topic, bounds):
    rows = sorted(rows, key=itemgetter(0)) if in_order else rows
    signals = {
        'a': Signal(topic='cmd_vel', field='v.y', unit='1'),
        'b': Signal(topic='cmd_vel' if one_topic else 'other', field='v', reduce='norm', unit='1'),
        'c': Signal(topic='cmd_vel', field='v.x', reduce='abs', unit='1')}
    limits = [Limit(signal=name, at_most=most, at_least=least)
              for name, (most, least) in zip('bca', bounds, strict=False)]
    record = built(rows, signals)
    found = Signals(record).margin_series(limits)
    assert repr(found.samples) == repr(plain_series(record, limits))


SAMPLES = st.lists(st.tuples(st.integers(0, 30), st.sampled_from([None, -1.0, -0.0, 0.0, 2.0])),
                   max_size=10).map(lambda steps: [
                       Sample(t_ns, margin) for t_ns, margin in sorted(steps, key=itemgetter(0))])


def first_held(samples, hold_ns, until_ns):
    """Return the first sample after which the condition is not broken for long enough."""
    start = None
    for sample in samples:
        if start is not None and sample.t_ns - start.t_ns > hold_ns:
            return start
        start = (start or sample) if sample.holds else None
    return start if start is not None and until_ns - start.t_ns >= hold_ns else None


@settings(deadline=None, max_examples=up_to(300))
@given(samples=SAMPLES, from_ns=st.integers(-1, 31), to_ns=st.integers(-1, 31),
       hold_ns=st.integers(0, 20))
def test_a_series_answers_as_a_walk_over_its_samples(samples, from_ns, to_ns, hold_ns):
    series = MarginSeries(samples)
    inside = [sample for sample in samples if from_ns <= sample.t_ns <= to_ns]
    known = [sample for sample in inside if sample.margin is not None]
    assert list(series.samples) == samples and list(series.within(from_ns, to_ns)) == inside
    assert series.before(from_ns) == next(
        (sample for sample in reversed(samples) if sample.t_ns < from_ns), None)
    assert series.has_sample(from_ns, to_ns) is bool(inside)
    assert series.is_open(from_ns, to_ns) is (len(known) < len(inside))
    assert series.ever_holds is any(sample.holds for sample in samples)
    assert series.first_broken(from_ns, to_ns) == next(
        (sample for place, sample in enumerate(inside) if not sample.holds and not (
            sample.t_ns == from_ns and inside[place + 1:place + 2]
            and inside[place + 1].t_ns == from_ns)), None)
    assert series.least(from_ns, to_ns) == min(
        known, key=lambda sample: (sample.margin, sample.t_ns), default=None)
    assert series.first_held(from_ns, hold_ns, to_ns) == first_held(inside, hold_ns, to_ns)


def test_where_a_motion_jumps_the_sample_before_the_jump_lasts_for_no_time():
    series = MarginSeries([Sample(5, -1.0), Sample(5, 0.0), Sample(9, -2.0), Sample(9, 1.0)])
    assert series.first_broken(5, 8) is None
    assert series.first_broken(5, 9) == Sample(9, -2.0)
    assert series.first_broken(4, 8) == Sample(5, -1.0)
    assert MarginSeries([Sample(5, 0.0), Sample(5, -1.0)]).first_broken(5, 5) == Sample(5, -1.0)


def test_of_two_signals_that_cannot_be_read_the_first_message_is_told():
    signals = {'a': Signal(topic='cmd_vel', field='no', unit='1'),
               'b': Signal(topic='other', field='none', unit='1')}
    limits = [Limit(signal=name, at_most=1.0) for name in signals]
    for topics, field in ((('cmd_vel', 'other'), "'no'"), (('other', 'cmd_vel'), "'none'")):
        record = built([(t_ms, topic, 'command', {'v': 1.0})
                        for t_ms, topic in enumerate(topics)], signals)
        with pytest.raises(LookupError, match=f'no field {field}'):
            Signals(record).margin_series(limits)


def test_what_a_driver_stops_is_between_the_messages():
    signals = {'v': Signal(topic='cmd_vel', field='v', unit='1')}
    limits = [Limit(signal='v', at_most=0.5)]
    record = built([(0, 'cmd_vel', 'command', {'v': 1.0}), (900, 'cmd_vel', 'command',
                                                            {'v': 1.0})], signals, timeout_ms=500)
    begin_ns = record.of_kind('command')[0].stamps.steady_ns
    stopped = [(begin_ns + (since + 500) * 10**6, {'v': 0.0}, True) for since in (0, 900)]
    found = Signals(record).margin_series(limits).samples
    assert list(found) == plain_series(record, limits, stopped)
    assert [sample.inferred for sample in found] == [False, True, False, True]


def test_a_copy_with_other_events_is_looked_through_anew():
    signals = {'v': Signal(topic='cmd_vel', field='linear', reduce='norm', unit='m/s')}
    first = TrialRecord(trial=planned(hazard(signals=signals)), events=(
        mark('nominal', -700), command(-100, twist(1.0)), mark('onset', 0), mark('end', 1)))
    limits = [Limit(signal='v', at_most=0.5)]

    def seen(record):
        return ([event.name for event in record.of_kind('mark')], Timeline(record).onset is None,
                len(record.of_kind('command', 'cmd_vel')), list(Signals(record).values('v')),
                list(Signals(record).margin_series(limits).samples), record.index.counts,
                {topic: len(found) for topic, found in record.by_topic('command').items()})
    before = seen(first)
    copied = first.model_copy(update={'events': (
        mark('nominal', -700), command(-90, twist(0.2)), command(-80, twist(0.3)))})
    fresh = TrialRecord(trial=copied.trial, events=copied.events)
    assert seen(copied) == seen(fresh) != before == seen(first)


def test_many_messages_that_begin_alike_in_parts_are_read_each_for_itself():
    """Who commands the same again sends the same object: a drive was read as the stop before."""
    go, stop = twist(0.8), twist(0.0)
    sent = [go, *[stop] * 4095, go, *[go] * 4095, go, stop]
    signal = Signal(topic='cmd_vel', field='linear', reduce='norm', unit='m/s')
    found = read(signal, numpy.arange(len(sent)), sent, rows={})
    assert found.values.tolist() == [0.8, *[0.0] * 4095, *[0.8] * 4097, 0.0]
