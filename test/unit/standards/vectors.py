# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What our formulas give for the inputs of each published or independently computed vector.

The expected numbers are in ``test/data/standards_vectors.json``. A few vectors belong to other
parts of the package; for those the test that holds them is named.
"""

from collections.abc import Callable
import math
from typing import Any

from safety_scenarios.formats.loading import share_folder
from safety_scenarios.standards.braking import (
    braking_distance,
    fall_time,
    friction_deceleration,
    Pendulum,
    protective_field,
    tip_deceleration,
)
from safety_scenarios.standards.iso13855 import (
    light_curtain,
    parallel_field,
    us_light_curtain,
    us_penetration,
    vertical_scanner,
)
from safety_scenarios.standards.kinematics import (
    closest_encounter,
    time_to_collision,
    time_to_collision_of_discs,
)
from safety_scenarios.standards.pfl import (
    Contact,
    contact_energy,
    effective_mass,
    permitted_speed,
    reduced_mass,
    RegionLimits,
    time_to_force,
)
from safety_scenarios.standards.reaction_chain import failure_free_hours, worst_case_reaction
from safety_scenarios.standards.rss import is_safe, opposite_directions, Reacting, same_direction
from safety_scenarios.standards.ssm import (
    budget_static,
    budget_two_robots,
    budget_walking_person,
    ConstantDeceleration,
    HalfTime,
    latency_sensitivity,
    Margins,
    Measured,
    protective_separation,
    Separation,
    separation_in_log,
    unseen_approach,
    WorstCase,
)
from safety_scenarios.standards.ssm import permitted_speed as permitted_robot_speed
from safety_scenarios.standards.stop_metrics import stop_metrics, StopMetrics
from safety_scenarios.standards.thermal import rate_alarm_ns
import yaml

Numbers = float | bool | list[Any] | dict[str, float]
Check = tuple[float, Callable[[], Numbers]]
"""Absolute tolerance, and what we compute."""

EXACT = 1e-9
MM_S = 1000.0
LIMITS = yaml.safe_load((share_folder() / 'config/limits/pfl_regions.yaml').read_text())
REGIONS = {name: RegionLimits(
    name=name, force=one['force_n'], pressure=1e4 * one['pressure_n_cm2'],
    multiplier=one['transient_multiplier'], stiffness=1e3 * one['stiffness_n_mm'],
    mass=one['mass_kg'], energy=one['energy_j']) for name, one in LIMITS['regions'].items()}
KMH = 1 / 3.6


def separated(found: Separation) -> dict[str, float]:
    margins = found.margins
    return {'Sh': found.human, 'Sr': found.reaction, 'Ss': found.stopping,
            'C': margins.intrusion, 'Zd': margins.operator, 'Zr': margins.robot,
            'Sp': found.total}


SSM1 = {'human_speed': 1.6, 'robot_speed': 1.0, 'reaction_time': 0.1,
        'margins': Margins(intrusion=0.2, operator=0.1, robot=0.05)}
SSM2 = {'human_speed': 1.6, 'reaction_time': 0.1,
        'margins': Margins(intrusion=0.85, operator=0.1, robot=0.0)}
HALF_1 = HalfTime(duration=0.3, speed=1.0)
UR5_SPEED = math.radians(183.0)
UR5_TIP = UR5_SPEED * 0.85


def inverse(distance: float) -> float:
    return permitted_robot_speed(distance=distance, deceleration=10.0, **SSM2)


def ssm4() -> dict[str, float]:
    found = protective_separation(
        human_speed=1.6, robot_speed=UR5_TIP, reaction_time=0.124,
        stopping=Measured(duration=0.244, path=0.31 * 0.85, speed=UR5_TIP),
        margins=Margins(intrusion=0.85, operator=0.1, robot=0.02))
    return {'Sh': found.human, 'Sr': found.reaction, 'Ss': found.stopping,
            'margins': found.margins.total, 'Sp': found.total}


def joint(duration: float, radius: float = 1.0) -> tuple[HalfTime, WorstCase, float]:
    speed = UR5_SPEED * radius
    return HalfTime(duration=duration, speed=speed), WorstCase(duration=duration, speed=speed), \
        speed


def half(duration: float, radius: float = 1.0) -> float:
    model, _, speed = joint(duration, radius)
    return model.distance(speed)


def full(duration: float, radius: float = 1.0) -> float:
    _, model, speed = joint(duration, radius)
    return model.distance(speed)


def ssm5() -> Separation:
    """Return SSM-5 from a log with a sample each 10 us, an upper bound that is 5 um too long."""
    step_ns = 10_000
    times = range(0, 700_000_001, step_ns)
    return separation_in_log(
        times_ns=times, human_speeds=[min(0.8 + 2.0 * t * 1e-9, 1.6) for t in times],
        robot_speeds=[1.0] * len(times), start_ns=0, reaction_time=0.15,
        stopping=HalfTime(duration=0.4, speed=1.0),
        margins=Margins(intrusion=0.2, operator=0.05, robot=0.02))


def ssm5_constant() -> float:
    return protective_separation(
        human_speed=1.6, robot_speed=1.0, reaction_time=0.15,
        stopping=HalfTime(duration=0.4, speed=1.0),
        margins=Margins(intrusion=0.2, operator=0.05, robot=0.02)).total


def region(name: str) -> dict[str, float]:
    limits = REGIONS[name]
    mass = effective_mass(20.0, 5.0)
    return {'mu': reduced_mass(limits.mass, mass),
            'E_trans_J': contact_energy(limits.force_limit(Contact.TRANSIENT), limits.stiffness),
            'v_trans': permitted_speed(limits, mass, Contact.TRANSIENT).by_force,
            'v_clamped': permitted_speed(limits, mass, Contact.CLAMPED).by_force}


def ur10e() -> dict[str, float]:
    limits = RegionLimits(name='hand', force=140.0, pressure=1e6, multiplier=None,
                          stiffness=75e3, mass=3.6, energy=None)
    mass = effective_mass(21.735, 1.0)
    return {'mR': mass, 'mu': reduced_mass(3.6, mass),
            'v': permitted_speed(limits, mass, Contact.TRANSIENT).value}


def by_pressure(robot_mass: float) -> float | None:
    return permitted_speed(REGIONS['chest'], robot_mass, Contact.TRANSIENT, 1e-4).by_pressure


def us() -> dict[str, float]:
    """Return the catalogue's example, which rounds the penetration of 0.954 inch to 1."""
    penetration = us_penetration(0.014) / 0.0254
    distance = us_light_curtain(0.3, 0.014) / 0.0254 - penetration + round(penetration)
    return {'Dpf_in': penetration, 'Ds_in': distance, 'Ds_mm': distance * 25.4}


def agv(**changes: Any) -> Any:
    return protective_field(**{
        'speed': 1.2, 'braking': braking_distance(1.2, 0.8), 'scan_time': 0.08,
        'vehicle_time': 0.05, 'scanner': 0.065, 'reflector': 0.0, 'ground': 0.15,
        'wear_share': 0.1, 'person_model': 'static', **changes})


STREAM_START_NS, STREAM_ONSET_NS, STREAM_END_NS = 500_000_000, 1_000_000_000, 2_800_000_000


def stream() -> tuple[list[int], list[float]]:
    """Return 20 Hz of 0.5 m/s, a ramp to 0 from 1.25 s on, and a step back at 1.70 s."""
    times = list(range(STREAM_START_NS, STREAM_END_NS + 1, 50_000_000))
    ramp = {1250: 0.4, 1300: 0.3, 1350: 0.2, 1400: 0.1, 1700: -0.02}
    return times, [0.5 if t <= 1_200_000_000 else ramp.get(t // 1_000_000, 0.0) for t in times]


def stopped() -> StopMetrics:
    return stop_metrics(*stream(), onset_ns=STREAM_ONSET_NS, end_ns=STREAM_END_NS, grid=0.05)


def streamed() -> dict[str, float | None]:
    found = stopped()
    return {'t_onset': found.stop_onset.value, 't_first_zero': found.first_zero.value,
            't_settle': found.settling_time.value, 'stop_dist_zoh_abs': found.distance.value,
            'signed': found.signed_distance.value, 'undershoot': found.overshoot.value,
            'peak_decel': found.peak_deceleration.value, 'peak_jerk': found.peak_jerk.value}


def rear(kmh: float, response: float, acceleration: float, braking: float,
         cap: float | None = None) -> Reacting:
    return Reacting(speed=kmh * KMH, response_time=response, acceleration=acceleration,
                    braking=braking, speed_cap=None if cap is None else cap * KMH)


FIFTY = rear(50.0, 2.0, 2.0, 4.0)
CAPPED = rear(50.0, 2.0, 2.0, 4.0, 50.0)


def behind(one: Reacting, front_kmh: float, front_braking: float = 8.0) -> float:
    return same_direction(one, front_speed=front_kmh * KMH, front_braking=front_braking)


def opposite(first_response: float = 2.0) -> float:
    return opposite_directions(rear(50.0, first_response, 3.5, 3.0), rear(50.0, 2.0, 3.5, 4.0))


def amr() -> float:
    return same_direction(
        Reacting(speed=1.0, response_time=0.3, acceleration=0.5, braking=1.0), front_speed=0.5,
        front_braking=2.0)


def safe(least: float, *distances: float) -> list[bool]:
    return [is_safe(distance, least) for distance in distances]


G1 = {'distance': 2.0, 'human_speed': 1.6, 'robot_speed': 1.0, 'stopping_time': 0.3,
      'stopping_distance': 0.15, 'margins': 0.35, 'other_time': 0.06}
G3 = {**G1, 'distance': 1.2, 'robot_speed': 0.25, 'stopping_time': 0.15,
      'stopping_distance': 0.01875}
G4 = {'distance': 1.5, 'robot_speed': 1.0, 'stopping_distance': braking_distance(1.0, 1.0),
      'margins': 0.215, 'other_time': 0.13}
G4B = {**G4, 'distance': 2.0, 'robot_speed': 1.5, 'stopping_distance': braking_distance(1.5, 1.5)}
G5 = {**G4, 'distance': 4.0, 'human_speed': 1.6, 'stopping_time': 1.0}


def g6() -> float:
    return budget_two_robots(distance=4.0, speeds=(1.0, 1.0), stopping_distances=(0.5, 0.5),
                             margins=0.3, other_time=0.13)


def drone() -> dict[str, float]:
    model = ConstantDeceleration(deceleration=3.0)
    none = Margins(intrusion=0.0, operator=0.0, robot=0.0)
    late = protective_separation(human_speed=0.0, robot_speed=5.0, reaction_time=0.5,
                                 stopping=model, margins=none)
    return {'Ts': model.time(5.0), 'S': model.distance(5.0), 'S_with_half_second': late.total}


def pendulum() -> list[float]:
    biped = Pendulum(height=0.9)
    return [biped.omega, biped.time_constant, biped.capture_offset(0.5)]


def thermal() -> float | None:
    times = [100_000_000 * step for step in range(101)]
    alarm_ns = rate_alarm_ns(times, [25.0 + t / 1e9 for t in times])
    return None if alarm_ns is None else alarm_ns / 1e9


CHECKS: dict[str, Check] = {
    'SSM-1 notes cell': (EXACT, lambda: separated(
        protective_separation(stopping=HALF_1, **SSM1))),
    'SSM-1b worst case': (EXACT, lambda: protective_separation(
        stopping=WorstCase(duration=0.3, speed=1.0), **SSM1).total),
    'SSM-2 MN constants': (EXACT, lambda: separated(protective_separation(
        robot_speed=1.0, stopping=ConstantDeceleration(deceleration=10.0), **SSM2))),
    'SSM-3 inverse d=1.6': (5e-5, lambda: inverse(1.6)),
    'SSM-3b inverse d=1.1 -> 0': (0.0, lambda: inverse(1.1)),
    'SSM-3c inverse d=1.42 -> 1.0': (EXACT, lambda: inverse(1.42)),
    'SSM-4 UR5 J0 tip speed': (5e-5, lambda: UR5_TIP),
    'SSM-4 Ss half': (5e-5, lambda: half(0.244, 0.85)),
    'SSM-4 Ss full': (5e-5, lambda: full(0.244, 0.85)),
    'SSM-4 Sp': (5e-5, ssm4),
    'UR5 base': (5e-4, lambda: {'Ss_rad': 0.31, 'half_rad': half(0.244)}),
    'UR5 shoulder half': (5e-4, lambda: half(0.530)),
    'UR5 elbow half': (5e-4, lambda: half(0.164)),
    'UR5 J1': (5e-5, lambda: {'Ss': 0.70 * 0.85, 'half': half(0.530, 0.85),
                              'full': full(0.530, 0.85)}),
    'UR5 J2 elbow': (5e-5, lambda: {'Ss_rad': 0.22, 'half_rad': half(0.164),
                                    'full_rad': full(0.164)}),
    'SSM-5 Sh integral': (1e-5, lambda: ssm5().human),
    'SSM-5 Ss integral': (EXACT, lambda: ssm5().stopping),
    'SSM-5 Sp': (1e-5, lambda: ssm5().total),
    'SSM-5 constant-speed bound': (EXACT, ssm5_constant),
    'dSp/dTr at vh=1.6, vr=1.0 (m per s)': (
        EXACT, lambda: latency_sensitivity(human_speed=1.6, robot_speed=1.0)),
    **{f'PFL {name}': (5e-4, lambda name=name: region(name)) for name in REGIONS},
    'PFL-code UR10e': (5e-5, ur10e),
    **{f'PFL chest pressure 1cm2 mR={mass}': (5e-4, lambda mass=mass: by_pressure(mass))
       for mass in (1, 2, 5, 10, 15, 20)},
    'clamp rise hand .25 m/s to 140 N (ms)': (
        5e-3, lambda: 1000.0 * time_to_force(140.0, REGIONS['hand_finger'].stiffness, 0.25)),
    'contact rise chest .25 m/s to 140 N (ms)': (
        5e-2, lambda: 1000.0 * time_to_force(140.0, REGIONS['chest'].stiffness, 0.25)),
    '13855 fsddsk T=.165 d=14': (1e-6, lambda: MM_S * light_curtain(0.165, 0.014)),
    '13855 ifm T=.05 d=30': (1e-6, lambda: MM_S * light_curtain(0.05, 0.030)),
    '13855 T=.03 d=14 (100 min)': (1e-6, lambda: MM_S * light_curtain(0.03, 0.014)),
    '13855 T=.3 d=14 (switch on the result)': (
        1e-6, lambda: MM_S * light_curtain(0.3, 0.014)),
    '13855 T=.4 d=30': (1e-6, lambda: MM_S * light_curtain(0.4, 0.030)),
    '13855 RA US inch': (5e-2, us),
    '13855 scanner normal T=.4': (1e-6, lambda: MM_S * vertical_scanner(0.4)),
    '13855 parallel H=300': (1e-6, lambda: MM_S * parallel_field(0.4, 0.3, 0.07)),
    '13855 parallel H=1000': (1e-6, lambda: MM_S * parallel_field(0.4, 1.0, 0.07)),
    '13855 mfgcalcs right': (1e-6, lambda: MM_S * 1.2 * light_curtain(0.35, 0.030)),
    'AGV': (5e-4, lambda: {'SBr': agv().braking, 'SA': agv().stopping_distance,
                           'SL': agv().length}),
    'AGV unaware person': (
        EXACT, lambda: agv(person_model='approaching').length - agv().length),
    'friction limit decel mu=.4': (5e-4, lambda: friction_deceleration(0.4)),
    'tip limit decel b=.25 h=.6': (5e-3, lambda: tip_deceleration(0.25, 0.6)),
    'STREAM': (EXACT, streamed),
    'TTC const': (EXACT, lambda: time_to_collision(10.0, -2.0)),
    'TTC accel da=-1': (5e-4, lambda: time_to_collision(10.0, -2.0, -1.0)),
    'TTC accel da=+.1': (5e-5, lambda: time_to_collision(10.0, -2.0, 0.1)),
    'TTC brake da=+.3': (0.0, lambda: time_to_collision(10.0, -2.0, 0.3)),
    'TTC opening, closing later': (5e-5, lambda: time_to_collision(10.0, 1.0, -1.0)),
    'TTC disc straight': (EXACT, lambda: time_to_collision_of_discs(
        (5.0, 0.0), (-1.5, 0.0), 0.8)),
    'TTC disc offset .5': (5e-4, lambda: time_to_collision_of_discs(
        (5.0, 0.5), (-1.5, 0.0), 0.8)),
    'TTC disc miss': (0.0, lambda: time_to_collision_of_discs((5.0, 1.0), (-1.5, 0.0), 0.8)),
    'DCE disc miss': (EXACT, lambda: closest_encounter((5.0, 1.0), (-1.5, 0.0))),
    'RSS stated 100,2s,3.5,4 (213.74)': (
        5e-3, lambda: rear(100.0, 2.0, 3.5, 4.0).stopping_distance),
    'RSS 100,1s (151.81)': (5e-3, lambda: rear(100.0, 1.0, 3.5, 4.0).stopping_distance),
    'RSS-3 50, 2s, 2, 4': (5e-3, lambda: FIFTY.stopping_distance),
    'RSS stop 100@6 (64.3)': (5e-2, lambda: rear(100.0, 0.0, 0.0, 6.0).stopping_distance),
    'RSS 50/50 (58<d<60)': (5e-3, lambda: behind(FIFTY, 50.0)),
    'RSS-5 60 safe 58 not': (0.0, lambda: safe(behind(FIFTY, 50.0), 60.0, 58.0)),
    'RSS-6 50/50 vmax50': (5e-3, lambda: behind(CAPPED, 50.0)),
    'RSS-6 40 safe 38 not': (0.0, lambda: safe(behind(CAPPED, 50.0), 40.0, 38.0)),
    'RSS 50/0 (71.6<d<71.8)': (5e-3, lambda: behind(FIFTY, 0.0)),
    'RSS-7 71.8 safe 71.6 not': (0.0, lambda: safe(behind(FIFTY, 0.0), 71.8, 71.6)),
    'RSS 50/0 vmax50 (50<d<52)': (5e-3, lambda: behind(CAPPED, 0.0)),
    'RSS-8 both standing': (EXACT, lambda: behind(rear(0.0, 2.0, 2.0, 4.0), 0.0)),
    'RSS-8 6.1 safe 6.0 not': (
        0.0, lambda: safe(behind(rear(0.0, 2.0, 2.0, 4.0), 0.0), 6.1, 6.0)),
    'RSS opposite rho=2 (178<d<197)': (5e-3, opposite),
    'RSS-9 197 safe 178 not': (0.0, lambda: safe(opposite(), 197.0, 178.0)),
    'RSS opposite rho_ego=1 (150<d<178)': (5e-3, lambda: opposite(1.0)),
    'RSS-10 178 safe 150 not': (0.0, lambda: safe(opposite(1.0), 178.0, 150.0)),
    'RSS-11 10 behind 100': (0.0, lambda: behind(rear(10.0, 2.0, 2.0, 4.0), 100.0)),
    'RSS AMR example': (5.1e-5, amr),
    'B arm d0=2.0': (5e-5, lambda: budget_walking_person(**G1)),
    'B arm d0=1.6 (G2)': (5e-5, lambda: budget_walking_person(**{**G1, 'distance': 1.6})),
    'B arm PFL speed .25 d0=1.2': (5e-5, lambda: budget_walking_person(**G3)),
    'B amr static d0=1.5 v=1': (EXACT, lambda: budget_static(**G4)),
    'B amr fast (G4b)': (EXACT, lambda: budget_static(**G4B)),
    'B amr approaching d0=4 v=1': (5e-5, lambda: budget_walking_person(**G5)),
    'B multi-robot d0=4 v1=v2=1 a=1': (EXACT, g6),
    'B human dead zone 1 s': (EXACT, lambda: unseen_approach(1.0)),
    'dead zone 5 s': (EXACT, lambda: unseen_approach(5.0)),
    'T5 drone v=5 a=3': (5e-3, drone),
    'fall time 0.5,1.0,1.5 m (s)': (5e-4, lambda: [fall_time(h) for h in (0.5, 1.0, 1.5)]),
    'LIPM omega, tau, capture v=.5': (5e-4, pendulum),
    'WCRT chain': (5e-2, lambda: 1000.0 * worst_case_reaction(
        [(0.0333, 0.01), (0.05, 0.04), (0.02, 0.005)])),
    'PFH 1e-6/h zero failures 95% hours': (0.5, lambda: failure_free_hours(1e-6)),
    'PFH 1e-7/h zero failures 95% hours': (5e3, lambda: failure_free_hours(1e-7)),
    'GTR trigger T ramp 1C/s 3s': (EXACT, thermal),
}

_STATISTICS = 'unit/campaign/statistics'
PROPORTIONS, QUANTILES = f'{_STATISTICS}/test_proportions.py', f'{_STATISTICS}/test_quantiles.py'
CLOCKS = 'unit/judging/latency/test_clocks.py'
ELSEWHERE: dict[str, str] = {
    **{f'zero failures n={n}': f'{PROPORTIONS}::test_the_published_bounds_after_no_failure'
       for n in (10, 59, 100, 300, 1000, 4603)},
    **{f'n zero-failure p<={name}':
       f'{PROPORTIONS}::test_the_published_numbers_of_trials_without_failure'
       for name in ('0.1 c=0.95', '0.01 c=0.95', '0.001 c=0.95', '0.001 c=0.99')},
    'CP 5/100000 one-sided upper .05': f'{PROPORTIONS}::test_five_in_a_hundred_thousand',
    'CP two-sided 0/100': f'{PROPORTIONS}::test_the_published_clopper_pearson_intervals',
    'CP 98/100': f'{PROPORTIONS}::test_the_published_clopper_pearson_intervals',
    'Bonferroni 40 scenarios alpha .05: n for p<=.01':
        f'{PROPORTIONS}::test_forty_joint_claims_need_666_trials_each',
    'NIST k1 approx/exact': f'{QUANTILES}::test_the_nist_example',
    **{f'k1 p=.95,.99,.999 c=.95 n={n}': f'{QUANTILES}::test_the_published_one_sided_factors'
       for n in (10, 20, 59, 100)},
    'stop-time example': f'{QUANTILES}::test_the_ten_stop_times',
    **{f'Wilks first-order n p={p} c=0.95': f'{QUANTILES}::test_the_published_sample_sizes'
       for p in (0.95, 0.99, 0.999)},
    'Wilks order 1,2,3 95/95': f'{QUANTILES}::test_the_published_sample_sizes',
    'order-stat upper conf idx n=100 p=.95':
        f'{QUANTILES}::test_the_99th_of_100_bounds_the_95_percent_quantile',
    'SPRT p0=.001 p1=.01 a=b=.05: n all-pass accept':
        f'{_STATISTICS}/test_sequential.py::'
        'test_326_straight_passes_are_accepted_and_325_are_not',
    'sim clock 100 Hz resolution u ms':
        f'{CLOCKS}::test_the_resolution_of_clock_counts_where_ros_time_has_a_say',
    'RTF .5, 800 ms wall':
        f'{CLOCKS}::test_ros_time_is_what_clock_said_at_the_moment_of_the_middleware',
    'guard band 490': 'unit/judging/test_guard_band.py::test_a_budget_of_500_ms_known_to_14_16_ms',
}

REFUTED = {'mfgcalcs wrong'}
"""What another calculator prints; ours must give the value named ``13855 mfgcalcs right``."""
