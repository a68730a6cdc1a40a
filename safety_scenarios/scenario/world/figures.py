# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a world tells of one trial, in numbers; None is what nobody can tell."""

from typing import Literal

from safety_scenarios.scenario.noun import Noun

Quadrant = Literal['safe and done', 'safe and not done', 'unsafe and done', 'unsafe and not done']
QUADRANTS: tuple[Quadrant, ...] = (
    'safe and done', 'safe and not done', 'unsafe and done', 'unsafe and not done')
Risk = Literal['separation', 'contact', 'speed', 'course']
"""A limit whose violation is a risk: S_p, who is touched, the robot's top speed, its route."""


class TaskFigures(Noun):
    """What became of the robot's work."""

    progress: float | None
    """At the end, less that at the beginning: m along the route, or cycles."""
    remaining: float | None
    """At the end, m or cycles; None without a goal."""
    done: bool | None
    """
    The goal was reached; without a goal: it lost no more than half of its free time.

    None: a pause in what the world tells, or no free time, leaves it open.
    """
    done_after_s: float | None
    """From the beginning of the trial until the goal was reached (s), by the world's own time."""
    time_lost_s: float | None
    """
    How long it stood in its free time (s), by the world's own time: false stops.

    Free is the time in which nothing calls for a stop, each part of it from 0.5 s on: from the
    beginning of the trial to the hazard, from the all-clear to the end, and with a benign variant
    the time in between too. After the goal is reached nothing is lost.
    """
    free_s: float | None
    """How long that time is (s)."""
    lateral_max_m: float | None
    """Farthest off its route on either side (m)."""


class WorldFigures(Noun):
    """
    What the world tells of one trial.

    Times are of the world's own clock. Whatever a pause above 250 ms in what is told could change
    is None.
    """

    min_gap_m: float | None
    """
    Least distance between the closest points of the robot and anybody to keep away from (m).

    Those are people, other robots, and what stimuli put there; walls and boxes of the scene are
    not. Below 0: they overlap. ``nearest`` counts, so that nobody passes between two tellings.
    """
    min_gap_at_ms: float | None
    """When, in ms after onset on the steady clock."""
    min_gap_to: str | None
    """The entity that was so near."""
    stopping_distance_m: float | None
    """
    Length of the way of a base's origin, or an arm's tool, from onset to standstill (m).

    None where it did not come to stand by itself: what it drove into is no brake.
    """
    stopping_from_reaction_m: float | None
    """The same from the reaction."""
    time_to_standstill_ms: float | None
    """From onset until its fastest point was no faster than 0.01 m/s and stayed so for 0.1 s."""
    contacts: int | None
    """How often something touched the robot, but for pushes that a stimulus is."""
    contacts_caused: int | None
    """Those into which it moved, or in which it moved on."""
    speed_at_contact: float | None
    """Fastest at which the gap closed, or else the robot moved, just before a contact (m/s)."""
    peak_force_n: float | None
    """Largest contact force (N), as the world estimates it."""
    impulse_n_s: float | None
    """Largest impulse of a contact (N s)."""
    min_ttc_s: float | None
    """Least time to collision while a gap to such an entity closes (s): gap / closing speed."""
    pet_s: float | None
    """
    Least post-encroachment time against anybody who moves (s).

    min |t1 - t2| over all times at which the discs of the robot at t1 and of the other at t2 would
    overlap: by how much one of both missed the place where the other was. 0: both at once. None:
    their ways have no place in common, or a radius is not told.
    """
    task: TaskFigures | None
    """None where the world tells of no task."""
    exposure_s: float | None
    """
    Risk exposure time (s): how long at least one of ``risks`` was violated.

    The integral of 1 where v(t) > 0 over the trial, v being the largest relative violation of
    these: (S_p - gap) / S_p while the robot moves, S_p that of its true speed; 1 in a contact that
    it caused; (speed - top speed) / top speed; (|lateral| - limit) / limit. Between two tellings v
    goes straight.
    """
    safety_cost: float | None
    """Cumulative safety cost (s): the integral of max(0, min(v(t), 1)) over the trial."""
    risks: tuple[Risk, ...]
    """Limits that could be held against the truth: the fewer, the less an exposure of 0 says."""
    prediction_gap_m: float | None
    """Predicted less true way of its fastest point from onset to standstill (m, or rad)."""
    quadrant: Quadrant | None
    """
    Safe: no exposure; no finding of contact, separation, zone, force, course or motion is FAIL;
    and of a hazard, no finding at all but those about the work: one that was missed is not safe
    because it ended well. Done: the task is done, and no finding about the work is FAIL. None: it
    cannot be told whether it was safe, or whether the task is done.
    """
    observed_s: float
    """How long the trial was (s), by the world's own time."""
    world: str
    """What it happened in; empty where nothing says so."""
    lockstep: bool
    """The world waited for the controller, so that a slow host changes nothing."""
    rtf: float | None
    """Real-time factor; None in simulated time in process, and where there is no /clock."""
