# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What must hold for the published formulas whatever the numbers are."""

from dataclasses import replace
import math

from examples import up_to
from hypothesis import assume, given, settings
from hypothesis import strategies as st
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.standards.iso13855 import light_curtain, parallel_field
from safety_scenarios.standards.kinematics import (
    closest_encounter,
    time_to_collision,
    time_to_collision_of_discs,
    time_to_collision_when_ego_halts,
)
from safety_scenarios.standards.pfl import Contact, RegionLimits
from safety_scenarios.standards.pfl import permitted_speed as contact_speed
from safety_scenarios.standards.rss import opposite_directions, Reacting, same_direction
from safety_scenarios.standards.ssm import (
    budget_two_robots,
    budget_walking_person,
    ConstantDeceleration,
    HalfTime,
    latency_sensitivity,
    Margins,
    Measured,
    permitted_speed,
    protective_separation,
    separation_in_log,
    WorstCase,
)
from safety_scenarios.standards.stop_category import classify_stop, Motion, Power
from safety_scenarios.standards.stop_metrics import Measure, Status, stop_metrics, StopRules

often = settings(deadline=None, max_examples=up_to(200), derandomize=True)
speeds = st.floats(0.0, 5.0)
directed = st.floats(-5.0, 5.0)
times = st.floats(0.0, 3.0)
lengths = st.floats(0.0, 3.0)
more = st.floats(0.0, 3.0)
brakes = st.floats(0.2, 10.0)
margins = st.builds(Margins, intrusion=lengths, operator=lengths, robot=lengths)
models = (st.builds(WorstCase, duration=times, speed=st.just(10.0))
          | st.builds(HalfTime, duration=times, speed=st.just(10.0))
          | st.builds(Measured, duration=times, path=lengths, speed=st.just(10.0))
          | st.builds(ConstantDeceleration, deceleration=brakes))
anything = st.floats(allow_nan=True, allow_infinity=True)


@often
@given(v_h=speeds, v_r=speeds, t_r=times, stopping=models, added=margins, by=more)
def test_more_latency_or_speed_never_needs_less_separation(v_h, v_r, t_r, stopping, added, by):
    def total(human: float, robot: float, reaction: float) -> float:
        return protective_separation(human_speed=human, robot_speed=robot, stopping=stopping,
                                     reaction_time=reaction, margins=added).total

    least = total(v_h, v_r, t_r)
    assert total(v_h + by, v_r, t_r) >= least
    assert total(v_h, v_r + by, t_r) >= least
    assert total(v_h, v_r, t_r + by) - least == pytest.approx(
        by * latency_sensitivity(human_speed=v_h, robot_speed=v_r), abs=1e-9)


@often
@given(v_h=directed, v_r=directed, t_r=times, stopping=models, added=margins)
def test_no_retreat_shortens_the_separation(v_h, v_r, t_r, stopping, added):
    found = protective_separation(human_speed=v_h, robot_speed=v_r, reaction_time=t_r,
                                  stopping=stopping, margins=added)
    standing = protective_separation(human_speed=max(0.0, v_h), robot_speed=max(0.0, v_r),
                                     reaction_time=t_r, stopping=stopping, margins=added)
    assert min(found.human, found.reaction, found.stopping) >= 0.0
    assert found.total >= standing.total - 1e-12


@often
@given(v_h=directed, v_r=speeds, t_r=times, braking=brakes, added=margins)
def test_the_inverse_of_a_separation_is_its_speed(v_h, v_r, t_r, braking, added):
    distance = protective_separation(
        human_speed=v_h, robot_speed=v_r, reaction_time=t_r, margins=added,
        stopping=ConstantDeceleration(deceleration=braking)).total
    found = permitted_speed(distance=distance, human_speed=v_h, reaction_time=t_r,
                            deceleration=braking, margins=added)
    assert found == pytest.approx(v_r, abs=1e-6)


@often
@given(distance=st.floats(0.0, 20.0), v_h=directed, t_r=times, braking=brakes, added=margins)
def test_a_permitted_speed_keeps_its_separation(distance, v_h, t_r, braking, added):
    found = permitted_speed(distance=distance, human_speed=v_h, reaction_time=t_r,
                            deceleration=braking, margins=added)
    if found > 0.0:
        assert protective_separation(
            human_speed=v_h, robot_speed=found, reaction_time=t_r, margins=added,
            stopping=ConstantDeceleration(deceleration=braking)).total <= distance + 1e-9


@often
@given(d=st.floats(0.0, 20.0), v_h=speeds, v_r=st.floats(0.1, 5.0), stopping=models, added=margins,
       other=times)
def test_who_uses_up_the_budget_uses_up_the_distance(d, v_h, v_r, stopping, added, other):
    budget = budget_walking_person(
        distance=d, human_speed=v_h, robot_speed=v_r, stopping_time=stopping.time(v_r),
        stopping_distance=stopping.distance(v_r), margins=added.total, other_time=other)
    if budget >= 0.0:
        assert protective_separation(
            human_speed=v_h, robot_speed=v_r, reaction_time=budget + other, stopping=stopping,
            margins=added).total == pytest.approx(d, abs=1e-9)


@often
@given(d=st.floats(0.0, 20.0), pair=st.tuples(st.floats(0.1, 5.0), speeds),
       stops=st.tuples(lengths, lengths), other=times)
def test_two_robots_are_alike_in_either_order(d, pair, stops, other):
    one = budget_two_robots(distance=d, speeds=pair, stopping_distances=stops, margins=0.2,
                            other_time=other)
    assert one == pytest.approx(budget_two_robots(
        distance=d, speeds=pair[::-1], stopping_distances=stops[::-1], margins=0.2,
        other_time=other))


@often
@given(human=st.lists(directed, min_size=12, max_size=12),
       robot=st.lists(directed, min_size=12, max_size=12), t_r=st.floats(0.0, 0.5),
       stopping=st.builds(HalfTime, duration=st.floats(0.0, 0.5), speed=st.just(10.0)))
def test_a_log_is_never_below_the_integral_of_its_speeds(human, robot, t_r, stopping):
    log = separation_in_log(
        times_ns=range(0, 12 * 10**8, 10**8), human_speeds=human, robot_speeds=robot, start_ns=0,
        reaction_time=t_r, stopping=stopping, margins=Margins(intrusion=0, operator=0, robot=0))

    def path(values: list[float], until: float) -> float:
        """Integrate the positive part of the held and of the interpolated speed, the larger."""
        step, held, linear = until / 2000, 0.0, 0.0
        for place in range(2000):
            at = (place + 0.5) * step * 10
            index = min(int(at), 10)
            held += max(0.0, values[index]) * step
            linear += max(0.0, values[index] + (at - index) * (
                values[index + 1] - values[index])) * step
        return max(held, linear)

    assert log.reaction >= path(robot, t_r) - 1e-2
    assert log.human >= path(human, t_r + stopping.duration) - 1e-2


regions = st.builds(
    RegionLimits, name=st.just('r'), force=st.floats(10.0, 300.0),
    pressure=st.floats(1e5, 3e6), multiplier=st.none() | st.floats(1.0, 3.0),
    stiffness=st.floats(1e4, 2e5), mass=st.floats(0.5, 80.0),
    energy=st.none() | st.floats(0.01, 3.0))


@often
@given(region=regions, mass=st.floats(0.5, 200.0), by=more, area=st.floats(1e-5, 1e-2))
def test_a_heavier_robot_and_a_clamped_body_allow_no_more_speed(region, mass, by, area):
    for contact in Contact:
        lighter = contact_speed(region, mass, contact, area)
        assert contact_speed(region, mass + by, contact, area).value <= lighter.value * (1 + 1e-12)
        assert lighter.value <= min(lighter.by_force, lighter.by_pressure)
    assert contact_speed(region, mass, Contact.CLAMPED, area).by_force <= \
        contact_speed(region, mass, Contact.TRANSIENT, area).by_force * (1 + 1e-12)


@often
@given(t=times, by=more, d_mm=st.floats(1.0, 70.0), d_by=more)
def test_a_later_or_a_coarser_safeguard_stands_no_nearer(t, by, d_mm, d_by):
    assume(d_mm + d_by <= 70.0)
    least = light_curtain(t, d_mm / 1000)
    assert least >= 0.1
    assert light_curtain(t + by, d_mm / 1000) >= least - 1e-12
    assert light_curtain(t, (d_mm + d_by) / 1000) >= least - 1e-12
    assert parallel_field(t + by, 0.3, d_mm / 1000) >= parallel_field(t, 0.3, d_mm / 1000)


def simulated(gap: float, ego: float, ego_acceleration: float, other: float,
              other_acceleration: float, *, halts: bool) -> float:
    """Return when a gap first closes, by stepping 1 ms for 30 s."""
    step, time = 1e-3, 0.0
    ends = -ego / ego_acceleration if halts and ego_acceleration < 0.0 else math.inf
    while time < 30.0:
        ego_for = min(time, ends)
        moved = ego * ego_for + ego_acceleration * ego_for**2 / 2
        if gap + other * time + other_acceleration * time**2 / 2 - moved <= 0.0:
            return time
        time += step
    return math.inf


@settings(deadline=None, max_examples=up_to(60), derandomize=True)
@given(gap=st.floats(0.1, 20.0), ego=speeds, a=st.floats(-2.0, 2.0), other=directed,
       other_a=st.floats(-2.0, 2.0), halts=st.booleans())
def test_a_time_to_collision_is_that_of_a_simulation(gap, ego, a, other, other_a, halts):
    found = time_to_collision_when_ego_halts(
        gap=gap, ego_speed=ego, ego_acceleration=a, other_speed=other,
        other_acceleration=other_a) if halts else time_to_collision(
            gap, other - ego, other_a - a)
    seen = simulated(gap, ego, a, other, other_a, halts=halts)
    if math.isfinite(seen):
        assert found <= seen and seen - found <= 2e-3
    elif found < 29.9:  # touched and parted between two steps
        gap_then = simulated(gap - 1e-5, ego, a, other, other_a, halts=halts)
        assert math.isfinite(gap_then)


@often
@given(p=st.tuples(directed, directed), v=st.tuples(directed, directed), radii=lengths)
def test_discs_that_touch_are_as_near_as_their_radii_and_no_nearer_before(p, v, radii):
    found = time_to_collision_of_discs(p, v, radii)
    if math.isinf(found):
        assert closest_encounter(p, v) >= radii - 1e-6
    else:
        assert closest_encounter(p, v) <= radii + 1e-6
        if 0.0 < found < 1e6:
            assert closest_encounter(p, v, found) == pytest.approx(radii, abs=1e-4)


reacting = st.builds(Reacting, speed=speeds, response_time=times, acceleration=speeds,
                     braking=brakes, speed_cap=st.none() | speeds)


@often
@given(rear=reacting, front=speeds, front_braking=brakes, by=more, second=reacting)
def test_who_is_faster_later_or_brakes_worse_needs_more_distance(rear, front, front_braking, by,
                                                                 second):
    def least(one: Reacting, speed: float = front, braking: float = front_braking) -> float:
        return same_direction(one, front_speed=speed, front_braking=braking)

    base = least(rear) - 1e-9
    assert base >= -1e-9
    assert least(replace(rear, speed=rear.speed + by)) >= base
    assert least(replace(rear, response_time=rear.response_time + by)) >= base
    assert least(replace(rear, acceleration=rear.acceleration + by)) >= base
    assert least(replace(rear, speed_cap=None)) >= base
    assert least(rear, braking=front_braking + by) >= base
    assert least(replace(rear, braking=rear.braking + by)) <= base + 2e-9
    assert least(rear, speed=front + by) <= base + 2e-9
    assert opposite_directions(rear, second) == pytest.approx(opposite_directions(second, rear))


streams = st.lists(st.tuples(st.integers(1, 300), st.sampled_from(
    [1.0, 0.96, 0.95, 0.9, 0.5, 0.2, 0.01, 0.0, -0.01, -0.3, -1.0]) | st.floats(-1.0, 1.0)),
    min_size=1, max_size=12)


def placed(steps: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    """Return stamps from -0.5 s on, and speeds."""
    at, stamps = -500 * 10**6, []
    for step_ms, _ in steps:
        at += step_ms * 10**6
        stamps.append(at)
    return stamps, [speed for _, speed in steps]


@often
@given(steps=streams, at=st.floats(0.0, 1.0), end_ms=st.integers(0, 4000),
       timeout=st.none() | st.just(10.0))
def test_a_command_that_is_repeated_changes_no_metric(steps, at, end_ms, timeout):
    stamps, values = placed(steps)
    extra = stamps[0] + round(at * (4 * 10**9 - stamps[0]))
    assume(extra not in stamps)
    place = sum(stamp < extra for stamp in stamps)
    repeated = ([*stamps[:place], extra, *stamps[place:]],
                [*values[:place], values[place - 1], *values[place:]])
    rules = StopRules(consumer_timeout=timeout)
    found, again = (stop_metrics(*stream, onset_ns=0, end_ns=end_ms * 10**6, grid=0.05,
                                 rules=rules) for stream in ((stamps, values), repeated))
    assert again.command_gap.value <= found.command_gap.value
    for name in ('distance', 'signed_distance'):  # sums in another order
        one, other = getattr(found, name), getattr(again, name)
        assert one.status is other.status
        assert one.value == (None if one.value is None else pytest.approx(other.value, abs=1e-9))
    assert replace(again, command_gap=found.command_gap, distance=found.distance,
                   signed_distance=found.signed_distance) == found


@often
@given(steps=streams, end_ms=st.integers(0, 4000), timeout=st.none() | st.floats(0.05, 1.0))
def test_the_metrics_of_a_stop_agree_with_each_other(steps, end_ms, timeout):
    stamps, values = placed(steps)
    found = stop_metrics(stamps, values, onset_ns=0, end_ns=end_ms * 10**6, grid=0.05,
                         rules=StopRules(consumer_timeout=timeout))
    for measure in vars(found).values():
        if isinstance(measure, Measure) and measure.value is not None:
            assert math.isfinite(measure.value)
    settling, zero = found.settling_time, found.first_zero
    if settling.value is not None and zero.value is not None:
        assert zero.value <= settling.value
    if settling.value is not None:
        assert end_ms / 1000 - settling.value >= 1.0
    if found.distance.value is not None:
        assert settling.status is Status.MEASURED
        assert found.distance.value >= abs(found.signed_distance.value) - 1e-12
        assert found.distance.value <= max(map(abs, values)) * settling.value + 1e-9
    if found.monotone:
        assert zero.status is Status.MEASURED


@often
@given(steps=streams, moved=streams, end_ms=st.integers(0, 4000),
       off_ms=st.none() | st.integers(-100, 4000), power=st.booleans(), motion=st.booleans())
def test_a_stop_category_is_claimed_only_with_the_power_recorded(steps, moved, end_ms, off_ms,
                                                                 power, motion):
    off_ns = None if off_ms is None else off_ms * 10**6
    found = classify_stop(*placed(steps), start_ns=0, end_ns=end_ms * 10**6,
                          power=Power(off_ns) if power else None,
                          motion=Motion(*placed(moved)) if motion else None)
    assert found.reason
    if found.category.value in ('0', '1', '2'):
        assert power and motion
    if found.category.value in ('1', '2', '1_or_2', '2_assumed'):
        assert found.zero_ns is not None and found.zero_ns >= 0


@often
@given(values=st.lists(anything, min_size=5, max_size=5))
def test_no_odd_number_gets_through_to_a_result_that_is_none(values):
    a, b, c, d, e = values
    for call in (
            lambda: protective_separation(
                human_speed=a, robot_speed=b, reaction_time=c,
                stopping=ConstantDeceleration(deceleration=d),
                margins=Margins(intrusion=e, operator=0.0, robot=0.0)).total,
            lambda: permitted_speed(
                distance=a, human_speed=b, reaction_time=c, deceleration=d,
                margins=Margins(intrusion=e, operator=0.0, robot=0.0)),
            lambda: Reacting(speed=a, response_time=b, acceleration=c, braking=d,
                             speed_cap=e).stopping_distance,
            lambda: light_curtain(a, b), lambda: parallel_field(a, b, c),
            lambda: budget_two_robots(distance=a, speeds=(b, c), stopping_distances=(d, e),
                                      margins=0.0, other_time=0.0),
            lambda: closest_encounter((a, b), (c, d), e)):
        try:
            result = call()
        except InputError:
            continue
        assert math.isfinite(result)


@often
@given(values=st.lists(anything, min_size=5, max_size=5))
def test_no_odd_number_makes_a_time_to_collision_nan(values):
    a, b, c, d, e = values
    for call in (lambda: time_to_collision(a, b, c),
                 lambda: time_to_collision_of_discs((a, b), (c, d), e),
                 lambda: time_to_collision_when_ego_halts(
                     gap=a, ego_speed=b, ego_acceleration=c, other_speed=d,
                     other_acceleration=e)):
        try:
            assert call() >= 0.0
        except InputError:
            continue
