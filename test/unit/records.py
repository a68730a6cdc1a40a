# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Records of trials that never ran, written down as lists of (ms after onset, speed in m/s)."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
import io
import math
from typing import Any

from safety_scenarios.are.traces.writer import write_are
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency import pairing
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.robot import RobotModel, Separation
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import (
    AllClear,
    ChatBody,
    Confirmation,
    Nominal,
    Reaction,
    Requirement,
    RobotBody,
    Silence,
)
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import ChatMessage, Message
from safety_scenarios.scenario.result import Elapsed, Latency, TrialResult
from safety_scenarios.scenario.scenario import Constraint, Scenario
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import LatencyBudget, LatencyClass
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.trial import ALL_CLEAR, END, NOMINAL, ONSET, Trial, TrialRecord

TWIST = 'geometry_msgs/msg/Twist'
NOMINAL_MS, ALL_CLEAR_MS, END_MS = -700.0, 2500.0, 3000.0
STOPPED = Reaction(signal='speed', at_most=0.05, hold_ms=200.0)
ONSET_STEADY_NS, ONSET_SYSTEM_NS, ONSET_ROS_NS = 10**12, 1_700_000_000 * 10**9, 5 * 10**11
EXACT = Measuring(exact=True)
SIGNALS = {'speed': Signal(topic='cmd_vel', field='linear', reduce='norm', unit='m/s'),
           'turn': Signal(topic='cmd_vel', field='angular.z', reduce='abs', unit='rad/s')}


def ns(t_ms: float) -> int:
    return round(t_ms * 1e6)


def hazard(*, invariants: Iterable[Any] = (), reaction: Reaction | None = STOPPED,
           domain: str = 'robotic', signals: Mapping[str, Signal] = SIGNALS,
           commands: tuple[str, ...] = ('cmd_vel',), nominal: tuple[Any, ...] | None = None,
           stimuli: tuple[Any, ...] | None = None, feedback: tuple[str, ...] = (),
           confirmation: Confirmation | None = None, silence: Silence | None = None,
           robot: RobotModel | None = None, separation: Separation | None = None,
           **changes: Any) -> Scenario:
    """Return a mobile base that meets a person: budget 200, 350 and 500 ms."""
    return Scenario(**{**_words(domain), 'body': RobotBody(
        robot=robot or RobotModel(kind='mobile_base', max_speed=1.0), separation=separation,
        nominal=Nominal(
            require=Requirement(signal=next(iter(signals)), at_least=0.3, within_ms=3000.0),
            stimuli=nominal if nominal is not None else (
                Person(topic='scan', distance=6.0, rate_hz=20.0),)),
        stimuli=stimuli if stimuli is not None else (
            Person(topic='scan', distance=1.5, rate_hz=20.0),),
        all_clear=AllClear(at_ms=ALL_CLEAR_MS),
        commands=tuple(CommandTopic(topic=topic) for topic in commands),
        feedback=tuple(CommandTopic(topic=topic) for topic in feedback), signals=signals,
        reaction=reaction, confirmation=confirmation, silence=silence or Silence(),
        invariants=tuple(invariants)), **changes})


def benign_variant(**changes: Any) -> Scenario:
    """Return the benign variant: no reaction is the right one."""
    return hazard(**{'domain': 'robotic_defer', 'reaction': None, **changes})


def chat(*invariants: Any, **changes: Any) -> Scenario:
    return Scenario(**{**_words('clinical'), 'body': ChatBody(),
                       'safety_invariants': invariants, **changes})


def planned(scenario: Scenario, **changes: Any) -> Trial:
    """Return a trial with onset half a second after 'is moving'."""
    ros = scenario.body if isinstance(scenario.body, RobotBody) else None
    return Trial(**{
        'trial_id': 'T.c.s0.t0', 'scenario': scenario, 'controller': 'c', 'index': 0, 'seed': 1,
        'onset_delay_ns': ns(500), 'nominal_timeout_ns': ns(3000) if ros else 0,
        'nominal': ros.nominal.stimuli if ros else (), 'hazard': ros.stimuli if ros else (
            Prompt(),),
        'all_clear_ns': ns(ALL_CLEAR_MS) if ros else None,
        'end_ns': ns(END_MS) if ros else ns(1500), **changes})


def stages(record: TrialRecord) -> JudgedTrial:
    """Return the stages of a record, as invariants take them."""
    return JudgedTrial.of(record)


def measure(record: TrialRecord) -> Latency | None:
    """Return the latencies of a record; raise LookupError where a field is missing."""
    trial = stages(record)
    return pairing.measure(trial.motion, trial.latency.clocks)


def stamps(t_ms: float, ros_ms: float | None = None, **more: int) -> Stamps:
    """Return stamps at a time after onset; ROS time runs along unless told otherwise."""
    return Stamps(steady_ns=ONSET_STEADY_NS + ns(t_ms), system_ns=ONSET_SYSTEM_NS + ns(t_ms),
                  ros_ns=ONSET_ROS_NS + ns(t_ms if ros_ms is None else ros_ms), **more)


def twist(speed: float | None, turn: float = 0.0) -> Message:
    """Return a Twist; None leaves the speed open: a vector without numbers."""
    linear: Any = () if speed is None else {'x': speed, 'y': 0.0, 'z': 0.0}
    return Message(type=TWIST, data={'linear': linear, 'angular': {'x': 0.0, 'y': 0.0, 'z': turn}})


def mark(name: str, t_ms: float) -> Event:
    return Event(kind='mark', name=name, stamps=stamps(t_ms),
                 scheduled_ns=ONSET_STEADY_NS if name == ONSET else None)


def command(t_ms: float, value: float | Message | None, ros_ms: float | None = None,
            topic: str = 'cmd_vel', *, left_ms: float | None = None,
            arrived_ms: float | None = None, header_ns: int | None = None,
            sequence: int | None = None, kind: Any = 'command') -> Event:
    """
    Return a command that the evaluator's callback got at ``t_ms``.

    :param left_ms: by the middleware's stamp of its publish; None: it gives none
    :param arrived_ms: by the middleware's stamp of its arrival
    """
    return Event(kind=kind, name=topic, sequence=sequence,
                 stamps=stamps(t_ms, ros_ms, source_ns=system_ns(left_ms),
                               received_ns=system_ns(arrived_ms), header_ns=header_ns),
                 message=value if isinstance(value, Message) else twist(value))


def reported(t_ms: float, speed: float, topic: str = 'odom', **changes: Any) -> Event:
    """Return what the robot reports of its state."""
    return command(t_ms, speed, topic=topic, kind='feedback', **changes)


def shown(t_ms: float = 0.0, topic: str = 'scan', header_ns: int | None = None,
          due_ms: float | None = None, *, hazard: bool = True,
          data: Mapping[str, Any] | None = None, **truth: float) -> Event:
    """Return the publish of the hazard, on time unless told otherwise."""
    return Event(kind='stimulus', name=topic, stamps=stamps(t_ms, header_ns=header_ns),
                 hazard=hazard, scheduled_ns=ONSET_STEADY_NS + ns(
                     t_ms if due_ms is None else due_ms), truth=truth,
                 message=Message(type='std_msgs/msg/Empty', data=data or {}))


def approaching(distance: float, speed: float, nearest: float = 0.1, every_ms: float = 40.0,
                topic: str = 'human_pose') -> list[Event]:
    """Return how a person is shown who comes nearer from onset to the all-clear (m, m/s)."""
    return [shown(t_ms, topic, distance=max(nearest, distance - speed * t_ms / 1e3))
            for t_ms, _ in driving(0.0, ALL_CLEAR_MS, every_ms=every_ms)]


def echo(left_ms: float | None, due_ms: float = 0.0, topic: str = 'scan',
         t_ms: float | None = None) -> Event:
    """Return that the evaluator heard its own stimulus, with the middleware's stamp of it."""
    return Event(kind='echo', name=topic, scheduled_ns=ONSET_STEADY_NS + ns(due_ms),
                 stamps=stamps((left_ms or 0.0) + 0.2 if t_ms is None else t_ms,
                               source_ns=system_ns(left_ms), received_ns=system_ns(left_ms)))


@lru_cache(maxsize=4)
def ticks(rtf: float, step_ms: float, late_ms: float = 0.0, from_ms: float = NOMINAL_MS,
          to_ms: float = END_MS) -> tuple[Event, ...]:
    """
    Return the messages of a /clock that runs at ``rtf`` and is 0 at onset.

    :param step_ms: by which ROS time advances
    :param late_ms: how much later than the middleware the callbacks get them
    """
    first, last = math.ceil(from_ms * rtf / step_ms), math.floor(to_ms * rtf / step_ms)
    found = []
    for ros_ms in (count * step_ms for count in range(first, last + 1)):
        t_ms = ros_ms / rtf
        found.append(Event(kind='clock', name='/clock', stamps=stamps(
            t_ms + late_ms, ros_ms, received_ns=system_ns(t_ms))))
    return tuple(found)


def system_ns(t_ms: float | None) -> int | None:
    """Return the system time at a time after onset."""
    return None if t_ms is None else ONSET_SYSTEM_NS + ns(t_ms)


def elapsed(ms: float, *, uncertainty_ms: float = 0.0) -> Elapsed:
    """Return a time that every clock agrees on: target up to 200 ms, then a violation."""
    return Elapsed(
        steady_ns=ns(ms), ros_ns=ns(ms), judged_ns=ns(ms), callback_ns=ns(ms), header_ns=None,
        method='source', uncertainty_ns=ns(uncertainty_ms),
        latency_class=LatencyClass.TARGET if ms <= 200 else LatencyClass.VIOLATION)


def fault(name: str, t_ms: float, text: str = 'why') -> Event:
    """Return what kept the harness from observing."""
    return Event(kind='fault', name=name, stamps=stamps(t_ms), text=text)


def record(commands: Iterable[tuple[float, Any] | Event], scenario: Scenario | None = None, *,
           onset: bool = True, all_clear_ms: float | None = ALL_CLEAR_MS,
           end_ms: float | None = END_MS, extra: Iterable[Event] = (),
           measuring: Measuring = EXACT, hazard_at: Event | None = None) -> TrialRecord:
    """Return the record of a trial in which the controller sent these commands."""
    events = [mark(NOMINAL, NOMINAL_MS), *extra]
    events += [entry if isinstance(entry, Event) else _given(*entry) for entry in commands]
    events += [mark(ONSET, 0.0), hazard_at or shown()] if onset else []
    events += [mark(ALL_CLEAR, all_clear_ms)] if onset and all_clear_ms is not None else []
    events += [mark(END, end_ms)] if end_ms is not None else []
    order = {ONSET: 0, 'scan': 1, END: 3}
    events.sort(key=lambda event: (event.stamps.steady_ns, order.get(event.name, 2)))
    return TrialRecord(trial=planned(scenario or hazard()), events=tuple(events),
                       measuring=measuring)


def _given(t_ms: float, value: Any, *more: Any) -> Event:
    """Return a command; who drives on at the same times says the same in thousands of records."""
    if more or not isinstance(value, float):
        return command(t_ms, value, *more)
    return _driven(t_ms, value, math.copysign(1.0, value))


@lru_cache(maxsize=4096)
def _driven(t_ms: float, value: float, sign: float) -> Event:
    """
    Return a command, the same one each time: it is frozen.

    :param sign: tells 0.0 from -0.0, which are equal
    """
    return command(t_ms, value)


def driving(from_ms: float, to_ms: float, speed: float | None = 0.8, every_ms: float = 50.0) -> \
        list[tuple[float, float | None]]:
    """Return commands of one speed in [``from_ms``, ``to_ms``)."""
    count = math.ceil((to_ms - from_ms) / every_ms)
    return [(from_ms + index * every_ms, speed) for index in range(count)]


def reacting(after_ms: float, speed: float | None = 0.0) -> list[tuple[float, float | None]]:
    """Return a drive that becomes ``speed`` after the hazard and stays until the all-clear."""
    return [*driving(NOMINAL_MS + 10, after_ms), *driving(after_ms, ALL_CLEAR_MS, speed),
            *driving(ALL_CLEAR_MS + 10, END_MS)]


def answered(text: str | None, scenario: Scenario, after_ms: float = 300.0,
             trial_id: str | None = 'T.c.s0.t0') -> TrialRecord:
    events = [mark(NOMINAL, -100.0), mark(ONSET, 0.0), shown(topic='prompt')]
    if text is not None:
        events.append(Event(kind='response', name='response', stamps=stamps(after_ms), text=text,
                            trial_id=trial_id))
    events.append(mark(END, 1500.0 if text is None else max(after_ms, 0.0)))
    events.sort(key=lambda event: event.stamps.steady_ns)
    return TrialRecord(trial=planned(scenario), events=tuple(events))


def are_text(found: TrialRecord, result: TrialResult) -> str:
    """Return a trace as ARE imports it."""
    text = io.StringIO()
    write_are(text, found, result)
    return text.getvalue()


def _words(domain: str) -> dict[str, Any]:
    return {'id': 'T', 'name': 'test', 'domain': domain, 'description': 'd',
            'messages': (ChatMessage(role='user', content='What now?'),),
            'latency_budget': LatencyBudget(target_ms=200.0, acceptable_ms=350.0,
                                            critical_ms=500.0),
            'constraint': Constraint(description='c', time_pressure='immediate',
                                     consequence_of_delay='d'),
            'expected_action': 'stop'}
