# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Our own plug-ins keep the contracts that we ask other authors to keep."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from safety_scenarios import registry
from safety_scenarios.plugin_contract.campaign_plugins import (
    ControllerContract,
    ForwardingLinkContract,
    LinkContract,
    OutputContract,
    TraceContract,
)
from safety_scenarios.plugin_contract.robot_plugins import IntentContract, RobotContract
from safety_scenarios.plugin_contract.scenario_plugins import (
    DriverContract,
    FormatContract,
    InvariantContract,
    StimulusContract,
)
from safety_scenarios.ros.link.stopped_link import Stop, StoppedLink
from safety_scenarios.scenario.message import Message
from safety_scenarios.trial.link import ForwardingLink, Link

ROOT = Path(__file__).parents[3]
IN_WORLD = {'link': 'simulated'}
STIMULI: Mapping[str, Mapping[str, Any]] = {
    'person': {},
    'obstacle': {'scenario': 'robotic/path_blocked.yaml'},
    'vehicle': {'scenario': 'worlds/second_robot_in_the_aisle.yaml', 'settings': IN_WORLD},
    'contact': {'scenario': 'robotic/collision.yaml'},
    'sensor_fault': {'scenario': 'robotic/sensor_frozen.yaml'},
    'link_loss': {'scenario': 'robotic/link_lost.yaml'},
    'prompt': {'scenario': 'clinical/opioid_infusion.yaml'},
}
INVARIANTS: Mapping[str, Mapping[str, Any]] = {
    'bound': {'controllers': ('rule_based', 'over_speed', 'silent')},
    'stop': {},
    'liveness': {'controllers': ('rule_based', 'gap')},
    'separation': {},
    'slow': {'scenario': 'robotic/person_crosses_slowly.yaml'},
    'zone': {'scenario': 'robotic/path_blocked.yaml'},
    'limits': {'scenario': 'robotic/person_near_arm.yaml',
               'controllers': ('rule_based', 'stop_trajectory', 'leap')},
    'fresh': {'scenario': 'robotic/sensor_frozen.yaml'},
    'force': {'scenario': 'robotic/collision.yaml'},
    'say_do': {'scenario': 'robotic/person_asks_for_a_stop.yaml',
               'controllers': ('rule_based', 'say_not_do')},
    'defer': {'scenario': 'robotic/person_behind_on_crossing.yaml',
              'controllers': ('rule_based', 'never_stop')},
    'temporal': {},
    'no_contact': {'scenario': 'worlds/second_robot_in_the_aisle.yaml', 'settings': IN_WORLD},
    'no_spurious_stop': {'scenario': 'worlds/narrow_passage.yaml', 'settings': IN_WORLD,
                         'controllers': ('rule_based', 'spurious_stop', 'always_stop')},
    'keeps_course': {'scenario': 'worlds/narrow_passage.yaml', 'settings': IN_WORLD,
                     'controllers': ('rule_based', 'drives_sideways')},
}


def keep(contract: type, name: str, **facts: Any) -> None:
    """Add a test class of a contract to this module; those after the first of it are slow."""
    is_first = not any(isinstance(one, type) and issubclass(one, contract) and one is not contract
                       for one in globals().values())
    facts = {'scenario': 'robotic/person_steps_near.yaml',
             'pytestmark': [] if is_first else [pytest.mark.slow], **facts}
    facts['scenario'] = str(ROOT / 'config' / 'scenarios' / facts['scenario'])
    title = f'Test{contract.kind.title()}{name.title().replace("_", "")}'
    globals()[title] = type(title, (contract,), {'name': name, **facts})


for each, more in STIMULI.items():
    keep(StimulusContract, each, **more)
for each, more in INVARIANTS.items():
    keep(InvariantContract, each, **more)
for each in ('rule_based', 'late', 'stops_once', 'jitter', 'creeps', 'blind_counter'):
    keep(ControllerContract, each)
for each in ('loopback', 'simulated'):
    keep(LinkContract, each)
for each in sorted({*registry.BUILT_IN['outputs']} - {'live'}):  # which needs a terminal
    keep(OutputContract, each)
keep(TraceContract, 'mcap')  # the first one is written by every campaign
keep(TraceContract, 'rrd', pytestmark=[pytest.mark.slow, pytest.mark.skipif(
    find_spec('rerun') is None, reason='the extra rerun, of 170 MB, is not installed')])
keep(IntentContract, 'person_at')
keep(IntentContract, 'obstacle_at', scenario='robotic/path_blocked.yaml')
keep(IntentContract, 'vehicle_at', scenario='worlds/second_robot_in_the_aisle.yaml',
     settings=IN_WORLD)
keep(RobotContract, 'mobile_base')
keep(RobotContract, 'arm', scenario='robotic/person_near_arm.yaml',
     robot={'max_speed': 1.0, 'joints': ('a', 'b')})


def twist(speed: float) -> Message:
    return Message(type='geometry_msgs/msg/TwistStamped', data={
        'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': ''},
        'twist': {'linear': {'x': speed, 'y': 0.0, 'z': 0.0},
                  'angular': {'x': 0.0, 'y': 0.0, 'z': 0.1}}})


BASE = tuple(map(twist, (0.5, 0.5, float('nan'), 0.2, 0.0, 0.0)))
JOINTS = {'joints': ('a', 'b')}


def rates(first: float, second: float) -> Message:
    return Message(type='std_msgs/msg/Float64MultiArray', data={
        'layout': {'dim': (), 'data_offset': 0}, 'data': (first, second)})


def towards(first: float, second: float, seconds: int) -> Message:
    return Message(type='trajectory_msgs/msg/JointTrajectory', data={
        'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': ''}, 'joint_names': ('a', 'b'),
        'points': ({'positions': (first, second), 'velocities': (), 'accelerations': (),
                    'effort': (), 'time_from_start': {'sec': seconds, 'nanosec': 0}},)})


for each in ('diff_drive', 'omni', 'ackermann'):
    keep(DriverContract, each, messages=BASE)
keep(DriverContract, 'joint_velocity', parameters=JOINTS, start={'a': 0.0, 'b': 0.0},
     messages=(rates(0.1, 0.2), rates(0.1, float('nan')), rates(0.0, 0.0), rates(0.0, 0.0)))
keep(DriverContract, 'joint_trajectory', parameters=JOINTS, start={'a': 0.0, 'b': 0.0},
     messages=(towards(0.1, 0.2, 1), towards(0.3, 0.2, 2), towards(0.0, float('nan'), 1),
               towards(0.0, 0.0, 1)))


class TestYaml(FormatContract):
    name = 'scenario_yaml'
    file = ROOT / 'config/scenarios/robotic/person_steps_near.yaml'


class TestAgents(FormatContract):
    name = 'agent_spec'
    file = ROOT / 'config/scenarios/agents/lost_child.yaml'


class TestForwardingLink(ForwardingLinkContract):

    def wrapped(self, inner: Link) -> Link:
        return ForwardingLink(inner)


class TestStoppedLink(ForwardingLinkContract):
    changes = frozenset({'open', 'apply', 'arm', 'send', 'tell', 'call', 'receive_until'})

    def wrapped(self, inner: Link) -> Link:
        return StoppedLink(inner, Stop())
