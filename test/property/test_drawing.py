# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is drawn into a live scan changes nothing else, hides nothing that is nearer, and stays."""

import math

from cases import for_each
from examples import up_to
from hypothesis import assume, given, settings
from hypothesis import strategies as st
import numpy
import pytest
from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.frames import Place, place_in
from safety_scenarios.scenario.interfaces import Cylinder, Face, laser_scan
from safety_scenarios.scenario.world import MountedFrame
from safety_scenarios.trial.stimulus_rendering import Beams, draw, nearest, silhouette

ODD = (math.nan, math.inf, -math.inf, 0.0, 0.01, 99.0)
beams = st.builds(
    Beams, angle_min=st.floats(-math.pi, 0.0), angle_increment=st.sampled_from(
        [math.radians(0.25), math.radians(0.5), math.radians(1.0), math.radians(-0.7)]),
    count=st.integers(1, 720), range_min=st.sampled_from([0.05, 0.125, 0.5]),
    range_max=st.sampled_from([4.0, 10.0, 30.0]))
people = st.builds(
    lambda distance, bearing, radius: laser_scan('base_link', 10.0, [
        Cylinder(distance, bearing, radius)]),
    st.floats(0.4, 11.0), st.floats(-math.pi, math.pi), st.floats(0.05, 0.6))
places = st.builds(Place, st.floats(-0.5, 0.5), st.floats(-0.5, 0.5), st.floats(-4.0, 4.0))


@st.composite
def scans(draw_from):
    live = draw_from(beams)
    seed = draw_from(st.integers(0, 2**31))
    chance = numpy.random.default_rng(seed)
    ranges = chance.uniform(0.5, 12.0, live.count)
    odd = chance.random(live.count) < 0.2
    ranges[odd] = chance.choice(ODD, odd.sum())
    intensities = chance.uniform(0, 255, live.count if seed % 2 else 0)
    return live, ranges.astype(numpy.float32), intensities.astype(numpy.float32)


def are_same(one, other):
    return one.tobytes() == other.tobytes()


@settings(max_examples=up_to(150), deadline=None)
@given(scans(), people, places)
def test_nothing_outside_the_silhouette_changes_and_nothing_gets_farther(scan, person, place):
    live, ranges, intensities = scan
    shape = silhouette(person, live, place)
    found = draw(ranges, intensities, shape, live)
    inside = numpy.isfinite(shape)
    assert are_same(found.ranges[~inside], ranges[~inside])
    if len(intensities):
        assert are_same(found.intensities[~inside], intensities[~inside])
    measured = (ranges >= numpy.float32(live.range_min)) & (
        ranges <= numpy.float32(live.range_max))
    assert (found.ranges[measured] <= ranges[measured]).all()
    assert are_same(found.ranges[ranges == -math.inf], ranges[ranges == -math.inf])
    changed = ~((found.ranges == ranges) | (numpy.isnan(found.ranges) & numpy.isnan(ranges)))
    assert changed.sum() == found.replaced
    assert (found.ranges[changed] == shape[changed]).all()
    shown = inside & ~numpy.isneginf(ranges) & ~measured
    assert (found.ranges[shown] == shape[shown]).all(), 'what is no measurement shows the person'


@settings(max_examples=up_to(100), deadline=None)
@given(scans(), people, places)
def test_to_draw_again_changes_nothing(scan, person, place):
    live, ranges, intensities = scan
    shape = silhouette(person, live, place)
    once = draw(ranges, intensities, shape, live)
    twice = draw(once.ranges, once.intensities, shape, live)
    assert twice.replaced == 0
    assert are_same(once.ranges, twice.ranges)
    assert are_same(once.intensities, twice.intensities)


@settings(max_examples=up_to(200), deadline=None)
@given(beams, st.floats(0.8, 8.0), st.floats(-3.0, 3.0), st.floats(0.1, 0.4), places)
def test_a_person_is_where_she_would_be_seen_from_the_live_scanner(
        live, distance, bearing, radius, place):
    """The truth is the circle as the live beams would meet it, from wherever the scanner is."""
    x, y = place.inward(distance * math.cos(bearing), distance * math.sin(bearing))
    aslant = abs(math.remainder(math.atan2(y, x) + place.yaw - bearing, math.tau))
    # what is looked at below, half a radius to either side, has to be drawn, by a beam a degree
    outermost = math.asin(radius / distance) - math.radians(1.0)
    drawn = math.asin(distance * math.sin(outermost) / radius) - outermost
    assume(math.hypot(x, y) > radius + 0.3 and
           aslant < min(drawn - math.radians(31.0), math.acos(0.7)))
    shape = silhouette(laser_scan('base_link', 10.0, [Cylinder(distance, bearing, radius)]),
                       live, place)
    angles = live.angles
    along, aside = x * numpy.cos(angles) + y * numpy.sin(angles), \
        x * numpy.sin(angles) - y * numpy.cos(angles)
    # one beam of the drawing is a degree: what is at the very rim may be missed or met
    rim = math.radians(1.0) * distance
    core = (along > 0) & (numpy.abs(aside) < radius - rim)
    off = (along < 0) | (numpy.abs(aside) > radius + rim)
    true = along - numpy.sqrt(numpy.maximum(0.0, radius**2 - aside**2))
    seen = core & (true >= live.range_min + 0.1) & (true <= live.range_max - 0.1)
    near = seen & (numpy.abs(aside) < radius / 2)
    if distance < 3.0:  # seen by a beam every 5 cm at least
        assert numpy.isfinite(shape[near]).all()
        assert (numpy.abs(shape[near] - true[near]) < 0.1).all()
    assert not numpy.isfinite(shape[off]).any()


def test_over_the_same_beams_a_scan_shows_what_was_drawn():
    person = laser_scan('laser', 10.0, [Cylinder(2.0, 0.3, 0.25), Face(5.0, -1.0, 1.0)])
    live = Beams(person['angle_min'], person['angle_increment'], 360, 0.05, 12.0)
    shape = silhouette(person, live, Place())
    assert shape == pytest.approx(numpy.array(person['ranges']), rel=1e-6)


def test_what_is_behind_a_live_thing_is_not_drawn():
    live = Beams(-0.5, 0.01, 101, 0.1, 20.0)
    ranges, none = numpy.full(101, 1.0, numpy.float32), numpy.empty(0, numpy.float32)
    shape = silhouette(laser_scan('laser', 10.0, [Cylinder(2.0, 0.0, 0.25)]), live, Place())
    assert numpy.isfinite(shape).any()
    assert draw(ranges, none, shape, live).replaced == 0


def test_a_scanner_that_sees_the_other_way_shows_nothing():
    live = Beams(math.pi / 2, 0.01, 300, 0.1, 20.0)
    shape = silhouette(laser_scan('laser', 10.0, [Cylinder(2.0, 0.0, 0.25)]), live, Place())
    assert not numpy.isfinite(shape).any()


def test_the_nearest_live_thing_is_told_from_the_robots_own_origin():
    live = Beams(-math.pi / 2, math.pi / 2, 3, 0.1, 20.0)
    ranges = numpy.array([5.0, 1.0, math.nan], numpy.float32)
    assert nearest(ranges, live, Place(0.3, 0.0, 0.0)) == pytest.approx(1.3)
    assert nearest(ranges, live, Place(0.3, 0.0, math.pi)) == pytest.approx(0.7)
    assert nearest(ranges[2:], Beams(0, 0.1, 1, 0.1, 20.0), Place()) is None
    assert nearest(numpy.array([-math.inf], numpy.float32), Beams(0, 0.1, 1, 0.1, 20.0),
                   Place()) == 0.0


def test_frames_are_chained_to_one_that_carries_both():
    known = [MountedFrame(frame='laser', parent='mast', translation=(0.1, 0.0, 0.3)),
             MountedFrame(frame='mast', parent='base_link', translation=(0.2, 0.0, 0.5),
                          rotation=(0.0, 0.0, math.pi / 2)),
             MountedFrame(frame='base_link', parent='base_footprint')]
    place = place_in('laser', 'base_footprint', known)
    assert (place.x, place.y, place.yaw) == pytest.approx((0.2, 0.1, math.pi / 2))
    back = place_in('base_footprint', 'laser', known)
    assert place.outward(*back.outward(1.0, 2.0)) == pytest.approx((1.0, 2.0))
    assert place_in('laser', 'laser', []) == Place()


@for_each(('known', 'why'), [
    ([], 'is published nowhere'),
    ([MountedFrame(frame='laser', parent='gripper')], 'is published nowhere'),
    ([MountedFrame(frame='laser', rotation=(math.pi, 0.0, 0.0))], 'expected a level one')])
def test_a_frame_that_is_not_known_or_leans_is_refused(known, why):
    with pytest.raises(MeasurementError, match=why):
        place_in('laser', 'base_link', known)
