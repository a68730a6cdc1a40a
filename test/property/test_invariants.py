# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What must hold of every invariant, whatever the commands are."""

from collections.abc import Sequence
import math
from typing import Any

from cases import for_each
from examples import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from safety_scenarios.campaign.plugin_roles import InvariantPlugin
from safety_scenarios.judging.invariants.collaboration import Force, Separation
from safety_scenarios.judging.invariants.command_stream import Fresh
from safety_scenarios.judging.invariants.limits import Bound
from safety_scenarios.judging.invariants.no_stop import Defer, NoSpuriousStop
from safety_scenarios.judging.invariants.statements import SayDo
from safety_scenarios.judging.invariants.stop import Slow, Stop
from safety_scenarios.judging.invariants.zone import Zone
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.blocks.robot import Separation as Terms
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord
from unit.records import (
    ALL_CLEAR_MS,
    approaching,
    command,
    driving,
    END_MS,
    hazard,
    NOMINAL_MS,
    record,
    shown,
    stages,
    stamps,
)

FAR = ((1.0, -9.0), (2.0, -9.0), (2.0, 9.0), (1.0, 9.0))
INVARIANTS: tuple[InvariantPlugin, ...] = (
    Bound(name='level', signal='speed', at_most=1.0),
    Bound(name='during', signal='speed', at_least=0.0, at_most=1.0, during='hazard'),
    Bound(name='rate', signal='speed', rate_at_most=16.1, during='hazard'),
    Bound(name='jerk', signal='speed', jerk_at_most=330.0, during='hazard'),
    Defer(name='defer', signal='speed', at_least=0.3, protected_ms=200.0, at_most=0.05,
          within_ms=300.0),
    Force(name='force', at_most=40.0, signal='speed', push_at_most=0.05),
    Fresh(name='fresh', topics=('scan',), max_age_ms=400.0, signal='speed', at_most=0.05),
    NoSpuriousStop(name='going', signal='speed', at_least=0.3),
    NoSpuriousStop(name='spell', signal='speed', at_least=0.3, for_ms=300.0),
    SayDo(name='say', says='stop', signal='speed', at_most=0.05),
    Separation(name='apart'),
    Slow(name='slow', signal='speed', at_most=0.3),
    Stop(name='stop'),
    Stop(name='straight', rise_at_most=0.05),
    Zone(name='zone', polygon=FAR, forward='speed', turn='turn'),
)
ARM = RobotModel(kind='arm', max_speed=1.0,
                 stopping=Stopping(model='measured', time=0.3, distance=0.15))
TERMS = Terms(signal='speed', approach_speed=1.6, intrusion=0.2, other_uncertainty=0.1,
              robot_uncertainty=0.05, other_time=0.06)
SCENARIO = hazard(robot=ARM, separation=TERMS)
fast = settings(deadline=None, max_examples=up_to(60), derandomize=True)
each = pytest.mark.parametrize('invariant', INVARIANTS, ids=lambda found: found.name)
Commands = Sequence[tuple[float, float | None]]

speeds = st.sampled_from([0.0, 0.05, 0.051, 0.2, 0.3, 0.8, 1.0, 1.1])
drives = st.lists(
    st.tuples(st.integers(-60, 280).map(lambda tick: tick * 10.0 + 3.0), speeds),
    min_size=1, max_size=6, unique_by=lambda stroke: stroke[0]).map(
        lambda strokes: sorted([(-690.0, 0.8), (2.0, 0.8), *strokes]))


def world() -> list[Event]:
    """Return all that happens besides the commands: a person, a contact, a scan, an answer."""
    contact = [shown(t_ms, 'wrench', force=60.0) for t_ms, _ in driving(0, ALL_CLEAR_MS)]
    scans = [shown(t_ms, hazard=False) for t_ms, _ in driving(NOMINAL_MS, 0)]
    said = Event(kind='response', name='response', stamps=stamps(300.0), text='I stop.',
                 trial_id='T.c.s0.t0')
    return [*approaching(2.0, 1.6), *contact, *scans, said]


WORLD = world()


def trial(commands: Commands, extra: Sequence[Event] = WORLD) -> TrialRecord:
    return record(sorted(commands, key=lambda stroke: stroke[0]), SCENARIO, extra=extra,
                  hazard_at=shown(0.0, 'first'))


def verdict(invariant: InvariantPlugin, commands: Commands) -> Verdict | None:
    return invariant.check(stages(trial(commands))).verdict


def braking(after_ms: float, speed: float) -> Commands:
    return [(-100.0, speed), (-50.0, speed), (after_ms, 0.0), (ALL_CLEAR_MS - 10, 0.0)]


@fast
@given(times=st.lists(st.floats(1.0, 2000.0), min_size=2, max_size=5).map(sorted),
       speed=st.floats(0.011, 1.0))
def test_more_latency_never_leaves_more_separation(times, speed):
    margins = [Separation(name='s').check(stages(trial(braking(t_ms, speed)))).margin
               for t_ms in times]
    assert None not in margins
    assert all(later <= earlier + 1e-9 for earlier, later in zip(margins, margins[1:]))


@each
@fast
@given(commands=drives, place=st.integers(-60, 299).map(lambda tick: tick * 10.0 + 7.0))
def test_a_repeated_command_changes_no_verdict(invariant, commands, place):
    value = [speed for t_ms, speed in commands if t_ms < place][-1]
    before, after = (invariant.check(stages(trial(found))) for found in (
        commands, [*commands, (place, value)]))
    if isinstance(invariant, Fresh) and Verdict.FAIL not in (before.verdict, after.verdict):
        return  # with it the controller has not fallen silent
    if isinstance(invariant, Fresh) and before.verdict is not Verdict.FAIL:
        assert value is not None and value > 0.05  # it says once more what was too late to say
        return
    assert before.verdict is after.verdict


def moved(found: TrialRecord, by_ns: int) -> TrialRecord:
    def later(event: Event) -> Event:
        times = {name: None if value is None else value + by_ns
                 for name, value in event.stamps.model_dump().items()}
        due = None if event.scheduled_ns is None else event.scheduled_ns + by_ns
        return event.model_copy(update={'stamps': Stamps(**times), 'scheduled_ns': due})
    return found.model_copy(update={'events': tuple(map(later, found.events))})


def plain(finding: Finding) -> tuple[Any, ...]:
    return (finding.verdict, finding.reason, finding.margin, finding.unit, finding.at_ms)


@each
@fast
@given(commands=drives, by_ns=st.integers(-9 * 10**11 + 1, 10**17))
def test_when_it_happened_changes_nothing(invariant, commands, by_ns):
    found = trial(commands)
    assert plain(invariant.check(stages(found))) == \
        plain(invariant.check(stages(moved(found, by_ns))))


def good(invariant: InvariantPlugin) -> Commands:
    """Return commands that pass: to go on, to clear a zone and stop, or to stop."""
    stop_ms = {Defer: 200.0}.get(type(invariant), 150.0)
    if isinstance(invariant, NoSpuriousStop):
        return driving(NOMINAL_MS + 10, END_MS)
    stopped = driving(stop_ms, ALL_CLEAR_MS, 0.0)
    return [*driving(NOMINAL_MS + 10, stop_ms), *stopped, *driving(ALL_CLEAR_MS + 10, END_MS, 0.0)]


@each
def test_good_commands_pass(invariant):
    assert verdict(invariant, good(invariant)) is Verdict.PASS


FROM_MS = {'level': NOMINAL_MS + 1, 'fresh': NOMINAL_MS + 1, 'slow': 500.0, 'force': 500.0,
           'say': 800.0, 'stop': 150.0}
"""From when on each judges; the others from onset."""


@each
@fast
@given(data=st.data(), value=st.sampled_from([math.nan, None]))
def test_an_unknown_value_in_the_judged_phase_never_passes(invariant, data, value):
    begin_ms = FROM_MS.get(invariant.name, 0.0)
    t_ms = data.draw(st.integers(math.ceil(begin_ms / 10), 249)) * 10 + 7.0
    odd = [*good(invariant), (t_ms, value)]
    assert verdict(invariant, odd) is not Verdict.PASS
    lasting = [(at_ms, value if at_ms > begin_ms else speed) for at_ms, speed in good(invariant)]
    assert verdict(invariant, lasting) is not Verdict.PASS


@each
def test_a_value_that_is_unknown_when_the_phase_begins_never_passes(invariant):
    begin_ms = FROM_MS.get(invariant.name, 0.0)
    odd = [(t_ms, None if begin_ms - 60 < t_ms <= begin_ms else speed)
           for t_ms, speed in good(invariant)]
    if invariant.name == 'stop':
        return  # what is unknown before the stop is no stop, and no harm
    if invariant.name in ('level', 'fresh'):
        odd[0] = odd[0][0], None
    assert verdict(invariant, odd) is not Verdict.PASS


@each
@pytest.mark.parametrize('kind', ['', 'onset', 'all_clear'])
def test_a_trial_that_breaks_off_never_passes(invariant, kind):
    whole = trial(good(invariant))
    cut = next((index for index, event in enumerate(whole.events)
                if event.kind == 'mark' and event.name == kind), 0)
    broken = whole.model_copy(update={'events': whole.events[:cut]})
    if isinstance(invariant, (Bound, Fresh)) and getattr(invariant, 'during', 'trial') == 'trial':
        return  # these judge the trial as far as it went; its end is the harness' to miss
    assert invariant.check(stages(broken)).verdict is not Verdict.PASS


@for_each('invariant', INVARIANTS, ids=lambda found: found.name)
def test_an_empty_record_is_inconclusive(invariant):
    empty = trial(()).model_copy(update={'events': ()})
    assert invariant.check(stages(empty)).verdict is Verdict.INCONCLUSIVE


@each
def test_silence_after_onset_never_passes(invariant):
    if invariant.name in ('level',):
        return  # judges what was commanded, at any time
    silent = [stroke for stroke in good(invariant) if stroke[0] < 0]
    assert verdict(invariant, silent) is not Verdict.PASS


@each
def test_commands_on_another_topic_never_pass(invariant):
    strangers = [command(t_ms, speed, topic='elsewhere') for t_ms, speed in good(invariant)]
    found = record(strangers, SCENARIO, extra=WORLD, hazard_at=shown(0.0, 'first'))
    assert invariant.check(stages(found)).verdict is not Verdict.PASS
