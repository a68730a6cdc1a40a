# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How true a reported latency is: against the bare round trip, and against known delays."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
import threading
import time

from evaluator import Evaluator, latencies, probes, probing, run
from figures import Figure, ratios, spread
from flood import TOPIC
from geometry_msgs.msg import Twist
from safety_scenarios.campaign.calibration import RATE_HZ
from safety_scenarios.campaign.plugin_roles import EventSink
from safety_scenarios.trial.journal import Journal
from safety_scenarios.trial.trial import Trial, TrialRecord

DELAYS_MS = (5.0, 50.0, 200.0)
_CALLBACK_S = 0.005
_CALLBACK_HZ = 100
_DEPTH = 10
_ERROR_MS = (0.2, 1.0)
_DISTURBED = {'recording': (1.1, 1.1)}
_OTHERWISE = (1.5, 1.5)


def echo(evaluator: Evaluator, blocks: int, each: int) -> list[Figure]:
    """Return an echo's latency, as the product reports it, in bare round trips; blocks in turn."""
    bare: list[float | None] = []
    one_way: list[float | None] = []
    ours: dict[str, list[float | None]] = defaultdict(list)
    with evaluator.link() as link:
        for _ in range(blocks):
            for trip in evaluator.ping.ask(f'{each} {RATE_HZ}'):
                bare.append(trip and trip[0])
                one_way.append(trip and trip[1])
            for method, found in latencies(run(probing((0.0,), each), link)).items():
                ours[method] += [latency for _, latency in found]
    how = f'{blocks} blocks of {each} in turn with the other, at {RATE_HZ:g} Hz'
    figures = [
        *ratios('echo: reported / bare round trip', ours['reported'], bare,
                f'{how}; reported: from source stamp to source stamp', (1.15, 1.5)),
        *ratios('echo: by callback / bare round trip', ours['callback'], bare,
                f'{how}; the same way there and back on both sides')]
    if 'source' in ours:
        figures += ratios('echo: by source / bare way there', ours['source'], one_way,
                          f"{how}; bare: system time before the publish to the pong's source "
                          f'stamp')
    figures += spread('bare round trip', bare, 'ms', f'perf_counter in one process; {how}')
    for method in ours:
        if method != 'reported':
            figures += spread(f'echo by {method}', ours[method], 'ms', how)
    return figures


def known_delays(evaluator: Evaluator, blocks: int, each: int) -> list[Figure]:
    """
    Return the error against known delays, idle and disturbed in turn.

    :param each: probes of each delay in each block
    """
    conditions: dict[str, Callable[[], AbstractContextManager[None]]] = {
        'idle': nullcontext, 'recording': nullcontext,
        '5 ms callbacks': lambda: slow_callbacks(evaluator),
        'busy thread': busy_thread}
    errors: dict[str, dict[str, list[tuple[float, float | None]]]] = {
        name: defaultdict(list) for name in conditions}
    idle_ways: list[tuple[float, float]] = []
    with evaluator.link() as link:
        for _ in range(blocks):
            for name, condition in conditions.items():
                trial = probing(DELAYS_MS, each * len(DELAYS_MS))
                with condition(), journal(trial, name == 'recording') as sinks:
                    record = run(trial, link, sinks)
                if name == 'idle':
                    idle_ways += _ways(record)
                for method, found in latencies(record).items():
                    errors[name][method] += [
                        (delay, None if latency is None else abs(latency - delay))
                        for delay, latency in found]
    how = f'|reported - known delay|; {blocks} blocks of each condition in turn'
    figures = []
    for name, by_method in errors.items():
        for delay in DELAYS_MS:
            figures += spread(f'error, {name}, {delay:g} ms', _of(by_method['reported'], delay),
                              'ms', how, _ERROR_MS if name == 'idle' else (None, None))
    for name in list(conditions)[1:]:
        figures += ratios(f'error, {name} / idle', _of(errors[name]['reported']),
                          _of(errors['idle']['reported']), f'{how}; all delays',
                          _DISTURBED.get(name, _OTHERWISE))
    for name, by_method in errors.items():
        figures += spread(f'error by callback, {name}', _of(by_method['callback']), 'ms',
                          f"{how}; all delays, by the steady clock in the evaluator's callback")
    parts = (('way to the responder', 'from source stamp to arrival, by the middleware'),
             ('the responder is late', 'from arrival to its answer, without the delay asked for'))
    for part, (name, meaning) in enumerate(parts):
        figures += spread(f'of that, idle: {name}', [ways[part] for ways in idle_ways], 'ms',
                          f'{how}; {meaning}')
    return figures


@contextmanager
def journal(trial: Trial, wanted: bool) -> Iterator[Sequence[EventSink]]:
    """Give the journal that a campaign writes while a trial runs, or nothing."""
    if not wanted:
        yield ()
        return
    with TemporaryDirectory() as folder:
        found = Journal(Path(folder) / 'bench.events.jsonl.gz', trial)
        try:
            yield (found,)
        finally:
            found.abandon()


def _ways(record: TrialRecord) -> Iterator[tuple[float, float]]:
    """Yield what makes up each probe's error (ms): the way there, and the responder's own part."""
    for sample in probes(record):
        answer = sample.answer
        if answer is not None and answer.message is not None and answer.stamps.source_ns:
            stamp = answer.message.at('header.stamp')  # when it arrived there, by the system clock
            arrived_ns = stamp['sec'] * 1_000_000_000 + stamp['nanosec']
            yield ((arrived_ns - sample.sent.system_ns) / 1e6,
                   (answer.stamps.source_ns - arrived_ns - sample.delay_ns) / 1e6)


def _of(found: Sequence[tuple[float, float | None]], delay_ms: float | None = None) \
        -> list[float | None]:
    return [error for delay, error in found if delay_ms in (None, delay)]


@contextmanager
def slow_callbacks(evaluator: Evaluator) -> Iterator[None]:
    """
    Hold up the evaluator's executor half of the time.

    The callback sleeps. If it computed, it would take one of few cores from the responder, whose
    lateness then shows: no error of the evaluator.
    """
    called = threading.Event()

    def receive(_: Twist) -> None:
        called.set()
        time.sleep(_CALLBACK_S)
    subscription = evaluator.node.create_subscription(Twist, TOPIC.format(0), receive, _DEPTH)
    evaluator.flood.tell(f'1 {_CALLBACK_HZ}')
    try:
        if not called.wait(10):
            raise TimeoutError('bench: the flood was not heard')
        yield
    finally:
        evaluator.flood.tell('0 1')
        evaluator.node.destroy_subscription(subscription)


@contextmanager
def busy_thread() -> Iterator[None]:
    """Compute in Python beside the evaluator's threads."""
    ended = threading.Event()

    def burn() -> None:
        while not ended.is_set():
            pass
    thread = threading.Thread(target=burn)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
