# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Keep out, or stay in: every place and every way between two; what was not told never passes."""

import math
from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.judging.invariants.zone import Zone
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord
from unit.records import command, driving, hazard, planned, record, SIGNALS, stages, twist

BOX = ((1.0, -0.5), (2.0, -0.5), (2.0, 0.5), (1.0, 0.5))
AHEAD = Zone(name='z', polygon=BOX, forward='ahead', turn='yaw')
PLACED = Zone(name='z', polygon=BOX, x='x', y='y')
ALL = {**SIGNALS, 'ahead': Signal(topic='cmd_vel', field='linear.x', unit='m/s'),
       'yaw': Signal(topic='cmd_vel', field='angular.z', unit='rad/s'),
       'x': Signal(topic='odom', field='x', unit='m'),
       'y': Signal(topic='odom', field='y', unit='m')}


def judged(commands: Any, invariant: Zone = AHEAD, feedback: list[Event] = (),
           silence: Silence | None = None, **changes: Any) -> Finding:
    scenario = hazard(signals=ALL, feedback=('odom',), silence=silence)
    return invariant.check(stages(record(commands, scenario, extra=feedback, **changes)))


def until(stop_ms: float, speed: float = 1.0, turn: float = 0.0) -> list[tuple[float, Message]]:
    """Drive straight from before onset to a stop."""
    return [(-100, twist(speed, turn)), (10, twist(speed, turn)), (stop_ms, twist(0.0)),
            (2400, twist(0.0))]


def at(t_ms: float, x: float | None, y: float | None) -> Event:
    return command(t_ms, Message(type='nav_msgs/msg/Odometry', data={
        'x': () if x is None else x, 'y': () if y is None else y}), topic='odom', kind='feedback')


def along(*places: tuple[float, float], every_ms: float = 100.0) -> list[Event]:
    """Return where the robot is, one place after another, and then the last until the end."""
    rest = [places[-1]] * 40
    return [at(index * every_ms - every_ms, x, y) for index, (x, y) in enumerate([*places, *rest])]


def placed(*places: tuple[float, float], invariant: Zone = PLACED, **changes: Any) -> Finding:
    return judged([], invariant, along(*places), **changes)


def test_stopping_before_the_zone_passes_with_the_distance_to_its_edge():
    finding = judged(until(700))
    assert (finding.verdict, finding.unit) == (Verdict.PASS, 'm')
    assert finding.margin == pytest.approx(0.3)


def test_driving_into_the_zone_fails_where_it_is_deepest():
    finding = judged(until(1300))
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 1300.0)
    assert finding.margin == pytest.approx(-0.3)
    assert '0.300 m inside the zone at (1.30, 0.00) m' in finding.reason


def test_the_footprint_counts():
    assert judged(until(700), AHEAD.model_copy(update={'radius': 0.25})).margin == \
        pytest.approx(0.05)
    assert judged(until(700), AHEAD.model_copy(update={'radius': 0.35})).verdict is Verdict.FAIL


def test_the_edge_itself_is_no_longer_outside():
    assert placed((0.0, 0.0), (1.0, 0.0)).verdict is Verdict.FAIL
    assert placed((0.0, 0.0), (1.0, 0.0)).margin == 0.0
    assert placed((0.0, 0.0), (math.nextafter(1.0, 0.0), 0.0)).verdict is Verdict.PASS


def test_the_command_in_force_at_onset_counts():
    assert judged([(-100, twist(1.0)), (1200, twist(0.0))]).verdict is Verdict.FAIL
    assert judged([(-100, twist(1.0)), (-50, twist(0.0)), (1200, twist(0.0))]).verdict is \
        Verdict.PASS


def test_only_the_hazard_counts_and_begins_at_the_origin():
    assert judged([(-650, twist(1.0)), (700, twist(0.0))]).margin == pytest.approx(0.3)
    assert judged([*until(700), (2501, twist(5.0))]).verdict is Verdict.PASS


def test_a_turn_leads_around_the_zone():
    """A quarter of a circle to the left, of 0.6 m: the robot ends at (0.6, 0.6)."""
    turn_s = math.pi / 2 / (1.0 / 0.6)
    turned = judged(until(turn_s * 1e3, 1.0, 1.0 / 0.6))
    assert turned.verdict is Verdict.PASS
    corner = Zone(name='z', polygon=((0.55, 0.55), (0.65, 0.55), (0.65, 0.65), (0.55, 0.65)),
                  forward='ahead', turn='yaw')
    inside = judged(until(turn_s * 1e3, 1.0, 1.0 / 0.6), corner)
    assert inside.margin == pytest.approx(-0.05, abs=1e-3)
    assert judged(until(turn_s * 1e3, 1.0, -1.0 / 0.6), corner).verdict is Verdict.PASS
    unnamed = Zone(name='z', polygon=BOX, forward='ahead')
    assert judged(until(1300, 1.0, 1.0), unnamed).verdict is Verdict.PASS
    assert judged(until(1300, 1.0, 1.0)).margin == pytest.approx(
        judged(until(1300, 1.0, 1.0), unnamed).margin)


def sideways(left):
    return Message(type='geometry_msgs/msg/Twist', data={
        'linear': {'x': 0.0, 'y': left, 'z': 0.0}, 'angular': {'x': 0.0, 'y': 0.0, 'z': 0.0}})


@for_each('named', [{'forward': 'ahead'}, {'forward': 'ahead', 'turn': 'yaw'}, {}])
def test_a_way_sideways_out_of_the_lane_counts_whatever_signals_are_named(named):
    lane = Zone(name='z', rule='keep_in', polygon=((-1.0, -1.0), (9.0, -1.0), (9.0, 1.0),
                                                   (-1.0, 1.0)), **named)
    assert judged([(-100, sideways(0.0)), (50, sideways(0.0))], lane).verdict is Verdict.PASS
    for left in (1.0, -1.0):
        out = judged([(-100, sideways(left)), (1500, sideways(0.0))], lane)
        assert out.verdict is Verdict.FAIL
        assert out.margin == pytest.approx(-0.5, abs=1e-6)
        assert 'prediction from the commands on cmd_vel' in out.reason


def test_backing_up_goes_backwards():
    behind = Zone(name='z', polygon=tuple((-x, y) for x, y in BOX), forward='ahead')
    assert judged(until(1300, -1.0), behind).verdict is Verdict.FAIL
    assert judged(until(1300, 1.0), behind).verdict is Verdict.PASS


def test_a_zone_thinner_than_a_step_is_not_jumped_over():
    thin = Zone(name='z', polygon=((1.0, -1.0), (1.001, -1.0), (1.001, 1.0), (1.0, 1.0)),
                forward='ahead')
    assert judged(until(800, 2.0), thin).verdict is Verdict.FAIL
    assert judged(until(400, 2.0), thin).verdict is Verdict.PASS


def test_no_command_during_the_hazard_is_inconclusive():
    assert judged([]).verdict is Verdict.INCONCLUSIVE
    assert judged([(-100, twist(0.0))]).verdict is Verdict.INCONCLUSIVE


def test_no_command_before_the_hazard_is_inconclusive():
    assert judged([(100, twist(0.0)), (2400, twist(0.0))]).verdict is Verdict.INCONCLUSIVE


def test_falling_silent_drives_on_unless_the_driver_stops():
    silent = [(-100, twist(1.0)), (10, twist(1.0))]
    assert judged(silent).verdict is Verdict.FAIL
    stop = Silence(policy='stop', driver_timeout_ms=300.0)
    assert judged(silent, silence=stop).margin == pytest.approx(0.69)


@for_each('value', [math.nan, math.inf, -math.inf, None])
@for_each('t_ms', [-50, 300])
def test_a_speed_that_is_no_number_never_passes(value, t_ms):
    odd = twist(0.0) if value is not None else Message(
        type='geometry_msgs/msg/Twist', data={'linear': {'x': ()}, 'angular': {'z': 0.0}})
    if value is not None:
        odd = twist(value)
    assert judged([(-100, twist(0.1)), (t_ms, odd), (600, twist(0.0))]).verdict is \
        Verdict.INCONCLUSIVE
    spin = twist(0.1, math.nan if value is None else value)
    assert judged([(-100, twist(0.1)), (t_ms, spin), (600, twist(0.0))]).verdict is \
        Verdict.INCONCLUSIVE


def test_a_place_inside_before_an_unknown_command_fails():
    assert judged([(-100, twist(1.0)), (1300, twist(math.nan)), (2400, twist(0.0))]).verdict is \
        Verdict.FAIL


def test_a_measured_place_outside_passes_with_the_distance():
    finding = placed((0.0, 0.0), (0.5, 0.0), (0.8, 0.0))
    assert (finding.verdict, finding.margin) == (Verdict.PASS, pytest.approx(0.2))
    assert finding.at_ms == 100.0


def test_a_measured_place_inside_fails():
    finding = placed((0.0, 0.0), (0.9, 0.0), (1.1, 0.0), (0.9, 0.0))
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 100.0)
    assert finding.margin == pytest.approx(-0.1)


def test_cutting_a_corner_between_two_places_fails():
    finding = placed((0.8, 0.0), (1.5, 0.8))
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, 0.0)
    assert placed((0.0, 0.0), (0.8, 0.0), (0.8, 0.8), (1.5, 0.8)).verdict is Verdict.PASS
    near = 0.25 * math.cos(math.atan2(0.5, 1.0))
    assert placed((0.5, 0.5), (1.5, 1.0)).margin == pytest.approx(near)
    round_ = PLACED.model_copy(update={'radius': 0.2})
    assert placed((0.5, 0.5), (1.5, 1.0), invariant=round_).margin == pytest.approx(near - 0.2)


def test_keeping_in_is_the_other_way_round():
    inside = Zone(name='z', polygon=BOX, x='x', y='y', rule='keep_in')
    assert placed((1.5, 0.0), (1.2, 0.0), invariant=inside).margin == pytest.approx(0.2)
    finding = placed((1.5, 0.0), (0.9, 0.0), invariant=inside)
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, pytest.approx(-0.1))
    assert 'outside' in finding.reason
    wide = inside.model_copy(update={'radius': 0.3})
    assert placed((1.5, 0.0), (1.2, 0.0), invariant=wide).verdict is Verdict.FAIL


def test_leaving_a_hollow_zone_between_two_places_fails():
    hollow = Zone(name='z', x='x', y='y', rule='keep_in', polygon=(
        (0.0, 0.0), (3.0, 0.0), (3.0, 2.0), (2.0, 2.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0),
        (0.0, 2.0)))
    assert placed((0.5, 1.5), (2.5, 1.5), invariant=hollow).verdict is Verdict.FAIL
    assert placed((0.5, 1.5), (0.5, 0.5), (2.5, 0.5), (2.5, 1.5), invariant=hollow).verdict is \
        Verdict.PASS


def test_the_place_in_force_at_onset_counts():
    inside = [at(-50.0, 1.5, 0.0), *(at(t_ms, 0.0, 0.0) for t_ms, _ in driving(200, 3000))]
    finding = judged([], PLACED, inside)
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 0.0)


def test_both_numbers_of_one_message_are_one_place():
    """From below the corner to above it: x of the one with y of the other is inside."""
    around = [at(-10.0, 0.5, -0.4), *(at(t_ms, 1.5, 0.9) for t_ms, _ in driving(400, 3000))]
    wide = PLACED.model_copy(update={'max_gap_ms': 300.0})
    assert judged([], wide, around).verdict is Verdict.INCONCLUSIVE
    assert judged([], PLACED.model_copy(update={'max_gap_ms': 500.0}), around).verdict is \
        Verdict.FAIL
    swap = ((0.5, -0.4), (0.5, 0.9), (1.5, 0.9))
    assert placed(*swap).verdict is Verdict.PASS


def test_a_place_that_nobody_tells_is_inconclusive():
    assert judged([], PLACED).verdict is Verdict.INCONCLUSIVE
    for x in (0.0, 1.5):
        assert judged([], PLACED, [at(-50.0, x, 0.0)]).verdict is Verdict.INCONCLUSIVE


def test_a_place_that_falls_silent_is_inconclusive():
    finding = judged([], PLACED, [at(t_ms, 0.0, 0.0) for t_ms, _ in driving(-50, 2200)])
    assert finding.verdict is Verdict.INCONCLUSIVE and 'for 350 ms' in finding.reason
    assert judged([], PLACED, [at(t_ms, 0.0, 0.0) for t_ms, _ in driving(-50, 2300)]).verdict is \
        Verdict.PASS
    late = [at(t_ms, 0.0, 0.0) for t_ms, _ in driving(300, 3000)]
    assert judged([], PLACED, late).verdict is Verdict.INCONCLUSIVE


def test_one_of_two_coordinates_that_falls_silent_is_inconclusive():
    signals = {**ALL, 'y': Signal(topic='lateral', field='linear.x', unit='m')}
    scenario = hazard(signals=signals, feedback=('odom', 'lateral'))
    sideways = [command(t_ms, 0.0, topic='lateral', kind='feedback')
                for t_ms, _ in driving(-50, 500)]
    for beside, verdict in (
            (sideways, Verdict.INCONCLUSIVE),
            ([command(t_ms, 0.0, topic='lateral', kind='feedback')
              for t_ms, _ in driving(-50, 3000)], Verdict.PASS)):
        found = record([], scenario, extra=[*along((0.0, 0.0)), *beside])
        assert PLACED.check(stages(found)).verdict is verdict


@for_each('value', [math.nan, math.inf, None])
def test_a_place_that_is_no_number_never_passes(value):
    for odd in (at(500.5, value, 0.0), at(500.5, 0.0, value)):
        assert judged([], PLACED, [*along((0.0, 0.0)), odd]).verdict is Verdict.INCONCLUSIVE
        inside = [*along((0.0, 0.0)), odd, at(700.5, 1.5, 0.0)]
        assert judged([], PLACED, inside).verdict is Verdict.FAIL


def test_an_empty_record_is_inconclusive():
    for invariant in (AHEAD, PLACED):
        empty = TrialRecord(trial=planned(hazard(signals=ALL)), events=())
        assert invariant.check(stages(empty)).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('changes', [{'onset': False}, {'all_clear_ms': None}])
def test_a_hazard_that_was_not_observed_whole_is_inconclusive(changes):
    assert judged(until(700), **changes).verdict is Verdict.INCONCLUSIVE
    assert placed((0.0, 0.0), **changes).verdict is Verdict.INCONCLUSIVE


@for_each('changes', [
    {'x': 'x'}, {'x': 'x', 'y': 'y', 'forward': 'ahead'}, {'turn': 'yaw'}, {'y': 'y'},
    {'forward': 'ahead', 'polygon': ((0.0, 0.0), (1.0, 1.0))},
    {'forward': 'ahead', 'polygon': ((0.1, 0.3), (0.2, 0.6), (0.3, 0.9))},
    {'forward': 'ahead', 'polygon': ((0.0, 0.0), (1.0, 0.0), (math.nan, 1.0))},
    {'forward': 'ahead', 'radius': -0.1}])
def test_a_zone_that_cannot_be_judged_is_refused(changes):
    with pytest.raises(ValidationError):
        Zone(**{'name': 'z', 'polygon': BOX, **changes})


@for_each(('polygon', 'edges'), [
    (((0.0, 0.0), (2.0, 2.0), (2.0, 0.0), (0.0, 2.0)), ('0 to 1', '2 to 3')),
    (((0.0, 0.0), (4.0, 0.0), (4.0, 3.0), (1.0, -1.0), (0.0, 3.0)), ('0 to 1', '2 to 3')),
    (((4.0, 3.0), (1.0, -1.0), (0.0, 3.0), (0.0, 0.0), (4.0, 0.0)), ('0 to 1', '3 to 4'))])
def test_a_polygon_that_crosses_itself_is_refused_with_its_edges(polygon, edges):
    with pytest.raises(ValidationError, match=f'its edge from corner {edges[0]} and its edge from '
                                              f'corner {edges[1]} '):
        Zone(name='z', polygon=polygon)
