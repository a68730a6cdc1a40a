# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the live topics cost: the error of a latency with them and without, in one run.

``live.py [ROUNDS]`` takes turns, without, with, without, with, each time against known delays.
With them every topic has a subscriber in another process, and the picture has a robot, three
people in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
import json
import sys
import threading
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from evaluator import Evaluator, evaluator, latencies, probing, run, Script
from figures import Figure, ratios, spread, table
import rclpy
from rclpy.executors import SingleThreadedExecutor
from safety_scenarios.campaign.process import interruptible
from safety_scenarios.reports.console_report import console, show
from safety_scenarios.reports.live.feed import Feed
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.link.publishing import LiveTopics, PERIOD_S
from safety_scenarios.scenario.event import Event, EventSink
from safety_scenarios.trial.trial import Trial
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

DELAYS_MS = (5.0, 50.0)
_EACH = 60
"""Probes of each delay in a turn: some three seconds."""
_DISCOVERED_S = 20.0
_SCENE: Mapping[str, Mapping[str, float]] = {
    'robot': {'x': 1.0, 'y': 0.5, 'heading': 0.3, 'vx': 0.8, 'radius': 0.3},
    **{f'person:{number}': {'x': 3.0 + number, 'y': 0.2 * number, 'radius': 0.25, 'body': 1.0,
                            'distance': 2.0 + number} for number in range(3)}}


def subscriber() -> None:
    """Hear every live topic until standard input ends; answer each line with what was heard."""
    rclpy.init()
    node, heard = rclpy.create_node('looks'), dict[str, int]()

    def count(topic: str) -> Any:
        def receive(_: Any) -> None:
            heard[topic] = heard.get(topic, 0) + 1
        return receive
    for kind, topic in ((DiagnosticArray, '/diagnostics'), (String, '/bench/verdict'),
                        (String, '/bench/event'), (MarkerArray, '/bench/markers')):
        node.create_subscription(kind, topic, count(topic), 10)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    ended = threading.Event()

    def answer() -> None:
        for _ in sys.stdin:
            sys.stdout.write(json.dumps(heard) + '\n')
            sys.stdout.flush()
        ended.set()
    threading.Thread(target=answer, daemon=True).start()
    while not ended.is_set():
        executor.spin_once(timeout_sec=0.1)
    rclpy.shutdown()


class _Acted:
    """Adds a moving scene to what a trial feeds, ten times a second."""

    def __init__(self, sinks: Sequence[EventSink]) -> None:
        self._sinks, self._told_ns = sinks, 0

    def add(self, event: Event) -> None:
        """Pass an event on, and the scene from time to time."""
        now_ns = event.stamps.steady_ns
        for sink in self._sinks:
            sink.add(event)
            if now_ns - self._told_ns > 100_000_000:
                for name, truth in _SCENE.items():
                    moved = {**truth, 'x': truth['x'] + now_ns % 1_000_000_000 / 1e9}
                    sink.add(Event(kind='state', name=name, stamps=event.stamps, truth=moved))
        if now_ns - self._told_ns > 100_000_000:
            self._told_ns = now_ns


@contextmanager
def shown(measuring: Evaluator, trial: Trial) -> Iterator[Sequence[EventSink]]:
    """Publish a trial on the live topics while the block lasts."""
    node = measuring.node
    node.create_live_publisher = node.create_publisher  # type: ignore[attr-defined]
    topics = LiveTopics(node, RosClock())
    deadline = time.monotonic() + _DISCOVERED_S
    while not all(known.get_subscription_count() for known in topics._publishers.values()):
        if time.monotonic() > deadline:
            raise TimeoutError('bench: nobody listens to the live topics')
        time.sleep(0.05)
    with Feed(topics, PERIOD_S) as feed:
        yield (_Acted(feed.sinks(trial)),)
    for known in topics._publishers.values():
        node.destroy_publisher(known)


def measured(measuring: Evaluator, rounds: int, each: int) -> list[Figure]:
    """Return the error with and without, and how they compare."""
    errors: dict[str, list[float | None]] = {'without': [], 'with': []}
    with measuring.link() as link:
        for _ in range(rounds):
            for name, found in errors.items():
                trial = probing(DELAYS_MS, each * len(DELAYS_MS))
                if name == 'with':
                    with shown(measuring, trial) as sinks:
                        record = run(trial, link, sinks)
                else:
                    record = run(trial, link)
                found += [None if latency is None else abs(latency - delay)
                          for delay, latency in latencies(record)['reported']]
    how = f'|reported - known delay|; {rounds} turns of each side, {each} probes of each delay'
    return [*spread('error without', errors['without'], 'ms', how),
            *spread('error with', errors['with'], 'ms', how),
            *ratios('error, with / without', errors['with'], errors['without'], how, (1.1, None))]


def main(rounds: int = 6, each: int = _EACH) -> None:
    """Measure and print."""
    interruptible()
    with evaluator() as measuring:
        script = Script(measuring.node.context.get_domain_id(), 'live.py', 'subscriber')
        try:
            found = measured(measuring, rounds, each)
            heard = script.ask('heard?')
        finally:
            script.end()
    screen = console()
    show(table('Live topics', found))
    screen.print(f'heard by the other process: {heard}', markup=False)


if __name__ == '__main__':
    if sys.argv[1:] == ['subscriber']:
        subscriber()
    else:
        main(*map(int, sys.argv[1:]))
