# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the evaluator takes in: losses, processor time a message, and latency meanwhile."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
import os
from pathlib import Path
import time

from evaluator import Evaluator, FLOOD, latencies, probing, run
from figures import Figure, ratios, spread
from safety_scenarios.campaign.calibration import RATE_HZ
from safety_scenarios.judging.latency.stream import lost
from safety_scenarios.ros.link.link import RosLink
from safety_scenarios.scenario.event import Event
from safety_scenarios.trial.trial import ALL_CLEAR, END, ONSET, TrialRecord

DELAYS_MS = (5.0, 50.0)
LADDER_HZ = (1000, 2000, 4000, 8000)
FAST_HZ = 1000
MANY_TOPICS = 4
TOPICS = (1, 2, 4, 8)
TOTAL_HZ = 1000
_LATE_MS = 100.0
_SHARE = 0.98
_TWICE = (2.0, 2.0)
_CPU_US = 120.0


@dataclass
class Meter:
    """An event sink: processor time and memory of this process at the marks of a trial."""

    cpu_ns: dict[str, int] = field(default_factory=dict)
    memory_b: dict[str, int] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        """Note both at a mark."""
        if event.kind == 'mark':
            self.cpu_ns[event.name] = time.process_time_ns()
            pages = int(Path('/proc/self/statm').read_text(encoding='ascii').split()[1])
            self.memory_b[event.name] = pages * os.sysconf('SC_PAGESIZE')


@dataclass(frozen=True)
class Flooded:
    """What one trial made of a flood, between onset and the all-clear."""

    seconds: float
    messages: int
    lost: int
    """By the gaps in the publishers' own count, over the whole trial."""
    cpu_s: float
    """Of all threads of this process."""
    memory_kb: float
    """By which this process grew."""
    late_ms: float
    """How much later than planned the trial ended: what the main loop lagged behind."""
    errors_ms: list[float | None]
    """|reported - known delay| of the probes."""

    @property
    def cpu_us(self) -> float:
        """Return the processor time for each message."""
        return self.cpu_s * 1e6 / max(1, self.messages)

    def keeps(self, rate_hz: float) -> bool:
        """Whether everything that was sent came, and was worked off in time."""
        return not self.lost and self.late_ms <= _LATE_MS \
            and self.messages >= _SHARE * rate_hz * self.seconds


def flooded(evaluator: Evaluator, link: RosLink, topics: int, rate_hz: float, seconds: float,
            listen: int | None = None) -> Flooded:
    """
    Run a trial of probes while ``topics`` topics carry ``rate_hz`` messages a second each.

    :param listen: command topics of the scenario, if not as many
    """
    meter = Meter()
    trial = probing(DELAYS_MS, round(seconds * RATE_HZ), topics if listen is None else listen)
    evaluator.flood.tell(f'{topics} {rate_hz}')
    try:
        record = run(trial, link, (meter,))
    finally:
        evaluator.flood.tell('0 1')
    return _flooded(record, meter, trial.end_ns)


def _flooded(record: TrialRecord, meter: Meter, planned_ns: int) -> Flooded:
    times = {event.name: event.stamps.steady_ns for event in record.of_kind('mark')}
    onset = record.index.marks.get(ONSET)
    assert onset is not None and onset.scheduled_ns is not None
    messages = sum(event.name in FLOOD and times[ONSET] <= event.stamps.steady_ns
                   < times[ALL_CLEAR] for event in record.events if event.kind == 'command')
    return Flooded(
        seconds=(times[ALL_CLEAR] - times[ONSET]) / 1e9, messages=messages,
        lost=sum(lost(record).values()),
        cpu_s=(meter.cpu_ns[ALL_CLEAR] - meter.cpu_ns[ONSET]) / 1e9,
        memory_kb=(meter.memory_b[ALL_CLEAR] - meter.memory_b[ONSET]) / 1e3,
        late_ms=(times[END] - onset.scheduled_ns - planned_ns) / 1e6,
        errors_ms=[None if latency is None else abs(latency - delay)
                   for delay, latency in latencies(record)['reported']])


def many_topics(evaluator: Evaluator, idle_s: float, seconds: float) -> list[Figure]:
    """Return losses and errors under four topics at 1 kHz, between two idle blocks."""
    with evaluator.link() as link:
        before, loaded, after = (
            flooded(evaluator, link, topics, FAST_HZ, lasts, MANY_TOPICS)
            for topics, lasts in ((0, idle_s), (MANY_TOPICS, seconds), (0, idle_s)))
    name = f'{MANY_TOPICS} topics at 1 kHz'
    how = f'{seconds:g} s between two idle blocks of {idle_s:g} s; same link, same probes'
    idle = before.errors_ms + after.errors_ms
    idle_share = (before.cpu_s + after.cpu_s) / (before.seconds + after.seconds)
    return [
        Figure(f'{name}: lost', loaded.lost, 'messages', loaded.messages,
               f"gaps in the publisher's count; {how}", at_most=0),
        Figure(f'{name}: received', loaded.messages / loaded.seconds, '1/s', loaded.messages, how),
        *ratios(f'{name}: error / idle', loaded.errors_ms, idle, how, _TWICE),
        *spread(f'{name}: error', loaded.errors_ms, 'ms', f'|reported - known delay|; {how}'),
        Figure(f'{name}: CPU a message', loaded.cpu_us, 'us', loaded.messages,
               f'process_time of the evaluator / messages; {how}'),
        Figure(f'idle, {RATE_HZ:g} probes a second: CPU', idle_share * 100, '%', len(idle),
               f'process_time of the evaluator, of one core; {how}'),
        Figure(f'{name}: memory a message', loaded.memory_kb / max(1, loaded.messages),
               'kB', loaded.messages,
               f'growth of the evaluator / messages; {how}')]


def one_topic(evaluator: Evaluator, seconds: float, ladder_s: float) -> list[Figure]:
    """Return processor time a message at 1 kHz, and the highest rate that is sustained."""
    rungs: dict[int, Flooded] = {}
    with evaluator.link() as link:
        for rate_hz in LADDER_HZ:
            rungs[rate_hz] = flooded(evaluator, link, 1, rate_hz,
                                     seconds if rate_hz == FAST_HZ else ladder_s)
    kept = [rate_hz for rate_hz, rung in rungs.items() if rung.keeps(rate_hz)]
    first = rungs[FAST_HZ]
    how = 'process_time of the evaluator between onset and the all-clear / messages of one ' \
          f'topic; probes at {RATE_HZ:g} Hz included'
    return [
        Figure('1 topic at 1 kHz: CPU a message', first.cpu_us, 'us', first.messages, how,
               at_most=_CPU_US),
        Figure('sustained on one topic', max(kept, default=0), '1/s',
               sum(rung.messages for rung in rungs.values()),
               f'highest of {", ".join(map(str, LADDER_HZ))} with 0 lost, {_SHARE:.0%} received '
               f'and the trial ended at most {_LATE_MS:g} ms late'),
        *(Figure(f'1 topic at {rate_hz} Hz: {what}', value, unit, rung.messages, how)
          for rate_hz, rung in rungs.items() for what, value, unit in (
              ('received', rung.messages / rung.seconds, '1/s'), ('lost', rung.lost, 'messages'),
              ('ended late', rung.late_ms, 'ms'), ('CPU a message', rung.cpu_us, 'us'))
          if rate_hz != FAST_HZ or what != 'CPU a message')]


def by_topics(evaluator: Evaluator, rounds: int, seconds: float) -> list[Figure]:
    """Return what a message costs by how many topics share 1 kHz; their numbers in turn."""
    found: dict[int, list[Flooded]] = defaultdict(list)
    for _ in range(rounds):
        for topics in TOPICS:
            with evaluator.link() as link:
                found[topics].append(flooded(evaluator, link, topics, TOTAL_HZ / topics, seconds))
    return [_mean(topics, trials) for topics, trials in found.items()]


def _mean(topics: int, trials: Sequence[Flooded]) -> Figure:
    messages = sum(trial.messages for trial in trials)
    return Figure(
        f'1 kHz over {topics} topic{"s" * (topics > 1)}: CPU a message',
        sum(trial.cpu_s for trial in trials) * 1e6 / max(1, messages), 'us', messages,
        f'process_time of the evaluator / messages; {len(trials)} trials, numbers of topics in '
        f'turn; {sum(trial.lost for trial in trials)} lost')
