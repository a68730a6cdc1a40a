# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The profile of a robot that is really there: what may leave the harness, and while what holds.

None of this is a safety function. It keeps a test from going on where its author would have ended
it; what protects people is the robot's own.
"""

import re
from typing import Literal

from pydantic import Field, field_validator, model_validator
from safety_scenarios.scenario.noun import Noun

WAIVABLE = ('travel', 'distance', 'protective', 'battery', 'area')
"""Interlocks that a profile may leave out, by name; the others are asked for by every robot."""
Confirm = Literal['terminal', 'service', 'plan']
_PERIODS = 1.5
"""Of the dead-man that may pass at least: one message of it may come late."""
_NAME = r'^/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*$'


class HilSettings(Noun):
    """
    Hardware in the loop: nothing leaves unless every interlock holds.

    Names of topics are full ones, or relative to the namespace. ``publishes`` and ``calls`` are
    names after remapping: what really leaves.
    """

    enabled: bool = False
    """Hardware in the loop: guard a robot that is really there. Publish what is listed and
    nothing else, and that only while every interlock holds (doc/manual/hardware.md)."""
    publishes: tuple[str, ...] = ()
    """Topic on which stimuli may be published, as it is called after remapping, such as
    /robot/scan_in."""
    calls: tuple[str, ...] = ()
    """Service or action that a scenario may ask for, as it is called after remapping."""
    commands: tuple[str, ...] = ()
    """Further topic that commands a robot here, whatever its name and type: nothing is published
    there."""
    releases: tuple[str, ...] = ()
    """Further topic, service or action that releases a stop here: nothing is published there, and
    it is not asked for."""
    without: tuple[str, ...] = ()
    """Interlock that this robot cannot have: travel, distance, protective, battery or area. It is
    left out, and the results say so."""
    confirm: Confirm = 'terminal'
    """How an operator confirms each scenario: terminal, by y; service, by calling
    hil/confirm (std_srvs/srv/SetBool); plan, by a signed file."""
    plan: str = ''
    """File of the plan: an id of a scenario in each line, and behind it, where wanted, the SHA-256
    of its file."""
    plan_signature: str = ''
    """File of the plan's SSH signature; empty: the plan's name with .sig."""
    plan_signers: str = ''
    """File of the keys that may sign, in the form of OpenSSH's allowed_signers."""
    plan_signer: str = Field(default='', max_length=200,
                             pattern=r'^([^\x00-\x20\x7f-][^\x00-\x1f\x7f]*)?$')
    """Who must have signed, as the file of the keys calls them."""
    deadman_topic: str = Field(default='deadman', pattern=_NAME)
    """Topic of the dead-man switch (std_msgs/msg/Bool): true while somebody holds it."""
    deadman_rate_hz: float = Field(default=25.0, ge=5, le=1000, json_schema_extra={'unit': 'Hz'})
    """Least rate of the dead-man's messages for it to count as pressed (Hz)."""
    deadman_timeout_ms: float = Field(default=80.0, ge=5, le=80, json_schema_extra={'unit': 'ms'})
    """Silence after which the dead-man is released (ms): 80 at most, as nothing may leave
    100 ms after it."""
    feedback_topic: str = Field(default='odom', pattern=_NAME)
    """Topic on which the robot reports how it moves: nav_msgs/msg/Odometry, TwistStamped, Twist or
    sensor_msgs/msg/JointState."""
    speed_cap: float = Field(default=0.5, gt=0, le=100)
    """Fastest observed speed (m/s; of joints the fastest one's, rad/s or m/s)."""
    turn_cap: float = Field(default=2.0, gt=0, le=100)
    """Fastest observed turn of a mobile base (rad/s)."""
    travel_cap_m: float = Field(default=10.0, gt=0, le=100_000, json_schema_extra={'unit': 'm'})
    """How far a mobile base may get from where its trial began, by odometry (m)."""
    distance_topic: str = Field(default='distance', pattern=_NAME)
    """Topic of a measured distance: sensor_msgs/msg/Range, std_msgs/msg/Float64 or Float32."""
    distance_min_m: float = Field(default=0.5, ge=0, le=1000, json_schema_extra={'unit': 'm'})
    """Least measured distance (m)."""
    distance_max_m: float = Field(default=1000.0, gt=0, le=100_000,
                                  json_schema_extra={'unit': 'm'})
    """Greatest measured distance (m)."""
    protective_topic: str = Field(default='safety_status', pattern=_NAME)
    """Topic on which the robot reports that its own protective functions are on:
    std_msgs/msg/Bool, or a message with mode, such as ur_dashboard_msgs/msg/SafetyMode."""
    protective_modes: tuple[str, ...] = ('1', '2')
    """Mode in which they are on; of Universal Robots 1 is NORMAL and 2 is REDUCED."""
    protective_age_ms: float = Field(default=500.0, ge=0, le=60_000,
                                     json_schema_extra={'unit': 'ms'})
    """Greatest age of its messages (ms); 0: published once (latched), so that it counts as long as
    its publisher is there."""
    battery_topic: str = Field(default='battery_state', pattern=_NAME)
    """Topic of the battery (sensor_msgs/msg/BatteryState)."""
    battery_floor: float = Field(default=0.3, gt=0, le=1)
    """Least charge of the battery (0 to 1)."""
    battery_age_ms: float = Field(default=5000.0, gt=0, le=600_000,
                                  json_schema_extra={'unit': 'ms'})
    """Greatest age of the charge (ms)."""
    area_topic: str = Field(default='area_clear', pattern=_NAME)
    """Topic that reports that nobody is in the area (std_msgs/msg/Bool)."""
    age_ms: float = Field(default=500.0, gt=0, le=60_000, json_schema_extra={'unit': 'ms'})
    """Greatest age of area, distance and feedback (ms)."""
    stamp_tolerance_s: float = Field(default=1.0, ge=0, le=60, json_schema_extra={'unit': 's'})
    """How far a header stamp may be ahead of the clock of this host, or behind it beside the age
    of its message (s); 0: not compared, for a robot whose clock is not synchronised."""
    ready_s: float = Field(default=120.0, gt=0, le=86_400, json_schema_extra={'unit': 's'})
    """How long a trial waits for the robot at its start, the operator and the interlocks (s)."""
    cool_down_s: float = Field(default=2.0, ge=0, le=86_400, json_schema_extra={'unit': 's'})
    """Rest between two trials (s)."""
    reset_service: str = Field(default='', pattern=r'^$|' + _NAME)
    """Service (std_srvs/srv/Trigger) that brings the robot back to its start, once the operator
    has confirmed the scenario and pressed the dead-man anew; empty: the operator brings it back.
    """
    reset_within_m: float = Field(default=0.1, gt=0, le=100, json_schema_extra={'unit': 'm'})
    """How near to its start a robot must be for the next trial (m)."""
    reset_within_rad: float = Field(default=0.1, gt=0, le=4, json_schema_extra={'unit': 'rad'})
    """How near to its start direction, or joint positions, it must be (rad)."""

    @field_validator('publishes', 'calls', 'commands', 'releases')
    @classmethod
    def _are_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not re.fullmatch(_NAME, name):
                raise ValueError(f'got {name!r}, expected a full name such as /robot/scan_in; a '
                                 f'pattern lists more than was looked at')
        return names

    @field_validator('without')
    @classmethod
    def _can_be_without(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in WAIVABLE:
                raise ValueError(f'got {name!r}, expected one of {", ".join(WAIVABLE)}: no robot '
                                 f'is tested without the other interlocks')
        return names

    @field_validator('protective_modes')
    @classmethod
    def _are_numbers(cls, modes: tuple[str, ...]) -> tuple[str, ...]:
        if not modes or not all(mode.isascii() and mode.isdigit() for mode in modes):
            raise ValueError(f'got {", ".join(modes) or "nothing"}, expected numbers of modes')
        return modes

    @model_validator(mode='after')
    def _fit(self) -> 'HilSettings':
        least_ms = _PERIODS * 1e3 / self.deadman_rate_hz
        if self.deadman_timeout_ms < least_ms:
            raise ValueError(
                f'got deadman_timeout_ms {self.deadman_timeout_ms:g} with deadman_rate_hz '
                f'{self.deadman_rate_hz:g}, expected {least_ms:g} ms or more, which are '
                f'{_PERIODS:g} of its periods. Let the dead-man publish more often')
        if self.distance_max_m <= self.distance_min_m:
            raise ValueError(f'got distance_max_m {self.distance_max_m:g} with distance_min_m '
                             f'{self.distance_min_m:g}, expected distance_max_m above it')
        if self.enabled and self.confirm == 'plan' and not (
                self.plan and self.plan_signers and self.plan_signer):
            raise ValueError('got confirm plan without all of plan, plan_signers and plan_signer, '
                             'expected the signed file, who may sign and who did')
        return self
