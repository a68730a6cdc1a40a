# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Scenarios without agents as rules: one engine says of all formats what was answered, and when.

A prompt becomes "what was asked -> expect an answer", a hazard "it came -> expect the reaction",
within the file's own budget. Judging goes by ``judging.latency.pairing``, which knows more: stamps
of the middleware, the hold of a reaction, the silence of a driver. This is the second opinion
on it, and where a braking begins it reckons for itself. The two say the same class of every
reaction, but for
these cases, in which the rules are stricter:

- the reaction held already before the hazard (``anticipatory``): its edge is missing here, or a
  second one counts;
- values of which it is unknown whether they satisfy the reaction: inconclusive here, while pairing
  has ``no_response`` and leaves it to a finding that says so, or begins a hold after them;
- an answer that says nothing, or nothing but its reasoning: for the rules it is none;
- an observation that ends before the budget: inconclusive here, ``no_response`` there.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
import math
from statistics import median

from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.judging.motion.track import Track
from safety_scenarios.scenario.blocks.agents import Agent, Expect, Pattern, Rule, Trigger
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Obligation
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import MAX_MS
from safety_scenarios.trial.margins import Sample
from safety_scenarios.trial.rules.engine import replay
from safety_scenarios.trial.trial import ALL_CLEAR, END, NOMINAL, ONSET, Timeline, TrialRecord

_CONTROLLER, _HAZARD, _REACTION = 'controller', 'hazard', 'reaction'
_TYPE = 'std_msgs/msg/Float64'
_RECENT = 50
"""So many periods tell how often a controller commands."""
_ROUNDING = 1e-6
_Piece = tuple[int, float, float, float]
"""From when (ns), how fast, to when, how fast then."""


def rules_of(scenario: Scenario) -> AgentsBody:
    """Return what a scenario demands, as one rule; none where no reaction is the right one."""
    body = scenario.body
    if isinstance(body, AgentsBody):
        return body
    wanted = Pattern(kind='say', agents=(_CONTROLLER,)) if body.is_in_words else \
        Pattern(kind='signal', name=_REACTION, op='>=', value=0.0)
    rule = Rule(
        trigger_text=_HAZARD, action_text=_REACTION,
        trigger=Trigger(any=(Pattern(kind='symbol', name=_HAZARD),)),
        expect=Expect(any=(wanted,), budget=scenario.latency_budget, for_ns=0))
    return AgentsBody(
        agents=(Agent(id=_CONTROLLER, name='Controller', role='assistant', driver='sut'),),
        sut=_CONTROLLER, stale_ms=MAX_MS,
        rules=(rule,) if body.is_in_words or body.reaction else (),
        signals={} if body.is_in_words else {
            _REACTION: Signal(topic=_REACTION, field='data', unit='1')})


def second_opinion(record: TrialRecord) -> Obligation | None:
    """
    Return what the rules say of a trial's reaction, None where it demands none or had no onset.

    :raises LookupError: the commands lack the field that the reaction reads
    """
    scenario = record.trial.scenario
    rules = scenario.model_copy(update={'body': rules_of(scenario)})
    told = TrialRecord.model_construct(
        trial=record.trial.model_copy(update={'scenario': rules}), measuring=record.measuring,
        events=tuple(_as_rules_see(record)))
    found = [one for rule in replay(told).rules for one in rule.obligations]
    return found[0] if found else None


def _as_rules_see(record: TrialRecord) -> Iterator[Event]:
    """Yield the hazard, and what may be its answer, up to when the harness stopped waiting."""
    timeline = Timeline(record)
    begin, onset = timeline.mark(NOMINAL), timeline.onset
    if begin is None or onset is None:
        return
    close = timeline.mark(ALL_CLEAR) or timeline.mark(END)
    until_ns = close.stamps.steady_ns if close else record.end_ns
    found = [onset.model_copy(update={'kind': 'stimulus', 'symbol': _HAZARD, 'hazard': False})]
    ros = record.trial.scenario.body
    if not isinstance(ros, RobotBody):
        found += [event.model_copy(update={'kind': 'say', 'agent': _CONTROLLER})
                  for event in record.of_kind('response') if event.trial_id is not None]
    elif ros.reaction is not None:
        samples = Signals(record).margin_series(ros.reaction.limits).samples
        found += _begun(record, onset.stamps.steady_ns, samples, _held(
            samples, onset.stamps.steady_ns, round(ros.reaction.hold_ms * 1e6), until_ns))
    yield begin.model_copy(update={'name': ONSET})
    yield from sorted((event for event in found if event.stamps.steady_ns <= until_ns),
                      key=lambda event: event.stamps.steady_ns)
    if close is not None:
        yield close.model_copy(update={'name': END})


def _held(samples: Sequence[Sample], onset_ns: int, hold_ns: int, until_ns: int) -> list[Event]:
    """Return a condition's samples; after onset it only holds where it goes on for long enough."""
    found = []
    for place, sample in enumerate(samples):
        margin = math.nan if sample.margin is None else sample.margin
        if sample.holds and sample.t_ns >= onset_ns:
            broken_ns = next((one.t_ns for one in samples[place:] if not one.holds), None)
            long = until_ns - sample.t_ns >= hold_ns if broken_ns is None \
                or broken_ns > until_ns else broken_ns - sample.t_ns > hold_ns
            margin = margin if long else -1.0
        found.append(_told(sample.t_ns, margin))
    return found


def _told(t_ns: int, margin: float) -> Event:
    return Event(
        kind='command', name=_REACTION, message=Message(type=_TYPE, data={'data': margin}),
        stamps=Stamps(steady_ns=t_ns, system_ns=t_ns, ros_ns=t_ns))


def _begun(record: TrialRecord, onset_ns: int, samples: Sequence[Sample],
           told: Sequence[Event]) -> list[Event]:
    """Return what is told of a condition; it is met from where the braking for it begins."""
    held = next((sample for sample, event in zip(samples, told, strict=True)
                 if sample.t_ns >= onset_ns and _margin(event) >= 0), None)
    begin_ns = None if held is None or held.inferred else _braking(record, onset_ns, held.t_ns)
    if held is None or begin_ns is None:
        return list(told)
    return [*(event for event in told
              if not begin_ns <= event.stamps.steady_ns < held.t_ns), _told(begin_ns, 0.0)]


def _margin(event: Event) -> float:
    assert event.message is not None
    return float(event.message.data['data'])


def _braking(record: TrialRecord, onset_ns: int, held_ns: int) -> int | None:
    """
    Return when the first command came from which the motion slows down as the robot declares.

    From then on nothing is faster than what was in force, less what the declared deceleration
    takes off; a stream of commands may lag by a period and a quarter.
    """
    ros = record.trial.scenario.body
    assert isinstance(ros, RobotBody) and ros.reaction is not None
    rate = ros.robot.deceleration(ros.separation.metres_per_unit if ros.separation else 1.0)
    topics = {ros.signals[limit.signal].topic for limit in ros.reaction.limits}
    moved = [track for track in JudgedTrial.of(record).motion.tracks if track.topic in topics]
    if rate is None or len(moved) != 1 or any(
            limit.at_most is None or ros.signals[limit.signal].unit not in ('m/s', 'rad/s')
            for limit in ros.reaction.limits):
        return None
    pieces = _pieces(moved[0])
    commands = [event.stamps.steady_ns for event in record.of_kind('command', moved[0].topic)
                if event.stamps.steady_ns <= held_ns]
    periods = [later - one for one, later in pairwise(commands)][-_RECENT:]
    lag_s = min(1.25 * median(periods) / 1e9, 0.2) if periods else 0.0
    for place, command_ns in enumerate(commands):
        if command_ns < onset_ns:
            continue
        before = _just_before(pieces, command_ns)
        next_ns = commands[place + 1] if place + 1 < len(commands) else held_ns + 1
        rest = [piece for piece in pieces if piece[0] >= command_ns]
        answers = not rest or (rest[0][0] - command_ns) / 1e9 <= lag_s + _ROUNDING
        if answers and _just_before(pieces, next_ns) < before - _ROUNDING and all(
                speed <= before + min(0.0, rate * (lag_s - (t_ns - command_ns) / 1e9)) + _ROUNDING
                for from_ns, begin, to_ns, end in rest if from_ns < held_ns
                for t_ns, speed in ((from_ns, begin), (min(to_ns, held_ns), end))):
            return command_ns
    return None


def _pieces(track: Track) -> list[_Piece]:
    """Return the speed of the fastest point as straight lines."""
    times, speeds = track.times_ns.tolist(), track.fastest.tolist()
    ends = zip([*times[1:], math.inf], [*speeds[1:], speeds[-1]], strict=True)
    return [(t_ns, speed, end_ns, end if track.is_linear else speed)
            for t_ns, speed, (end_ns, end) in zip(times, speeds, ends, strict=True)]


def _just_before(pieces: Sequence[_Piece], t_ns: int) -> float:
    begun = [piece for piece in pieces if piece[0] < t_ns]
    if not begun:
        return 0.0
    from_ns, speed, to_ns, end = begun[-1]
    return speed + (end - speed) * (t_ns - from_ns) / (to_ns - from_ns)
