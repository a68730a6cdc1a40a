# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a harness never publishes and never asks for where a robot is real: by name and by type."""

from collections.abc import Collection, Mapping
import re
from typing import Any

from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.message_types import may_move

_COMMANDS = frozenset((
    'cmd', 'cmd_vel', 'cmd_vel_unstamped', 'cmd_vel_nav', 'cmd_vel_smoothed', 'cmd_vel_raw',
    'commands', 'command', 'joint_trajectory', 'joint_command', 'joint_commands', 'ackermann_cmd',
    'drive', 'delta_twist_cmds', 'delta_joint_cmds', 'twist_cmds', 'servo', 'low_cmd', 'lowcmd',
    'speed_scaling', 'speed_scaling_factor', 'script_command', 'urscript'))
"""Last parts of names on which robots are commanded."""
_CMD = re.compile(r'(^|_)cmds?(_|$)')
"""As in pose_target_cmds or cmd_vel_teleop, whatever is added before and behind."""
_GOALS = re.compile(r'/(action)/(\w*Trajectory|GripperCommand|\w*Gripper\w*|ParallelGripper\w*)$')
"""Actions that command joints, past the controller under test."""
_STOPS = re.compile(r'e_?stop|emergency_?stop|protective_?stop|safety_?stop|motion_?stop|'
                    r'software_?stop|soft_?stop|stop_?(cmd|command|request)')
"""In the names of topics that stop a robot by true."""
_RELEASES = re.compile(
    r'unlock|brake_?release|release_?brake|power_?on|restart_?safety|reset_?safety|safety_?reset|'
    r'close_?safety_?popup|resend_robot_program|error_?recovery|fault_?recovery|'
    r'(clear|reset)_?\w*(fault|error|alarm)s?|(fault|error|alarm)s?_?(reset|clear)|'
    r'recover(_?from)?_?\w*|zero_torque|enable_?(motor|motion|robot|drive)s?|'
    r'(motor|motion|robot|drive)s?_?enable|set_enabled|set_io|set_hardware_component_state|'
    r'switch_controller|enabling_?(switch|device)|dead_?man|un_?pause|(^|[/_])resume|'
    r'(^|/)play($|_)')
"""In the names of topics, services and actions that release a stop or take away a protection."""
_WITHOUT_FIELDS = frozenset(('std_srvs/srv/Trigger', 'std_srvs/srv/Empty'))
"""Services that can be called in one way only."""
_RELEASED = re.compile(r'(release|reset|clear|unlock|disable|ack\w*)')


def why_a_command(topic: str, interface: str, named: Collection[str] = ()) -> str | None:
    """
    Return why a robot could be commanded by what is published there; None: it could not.

    :param topic: its full name, after remapping
    :param named: full names of further command topics
    """
    if topic in named:
        return 'it is a command topic here'
    last = topic.rpartition('/')[2].lower()
    if last in _COMMANDS or _CMD.search(last):
        return 'robots are commanded on topics of that name'
    if may_move(topic, interface):
        return f'{interface} moves robots there'
    return None


def commands_by_goal(interface: str) -> bool:
    """Return whether an action of this type commands joints, past any controller."""
    return _GOALS.search(interface) is not None


def releases(name: str, named: Collection[str] = ()) -> bool:
    """
    Return whether a topic, service or action of this name releases a stop.

    :param name: its full name, after remapping
    :param named: full names of further ones
    """
    last = name.lower()
    return name in named or _RELEASES.search(last) is not None or (
        _STOPS.search(last) is not None and _RELEASED.search(last) is not None)


def says_go(topic: str, message: Message) -> bool:
    """Return whether a message takes back a stop: something else than true on a stop's topic."""
    return _STOPS.search(topic.lower()) is not None and message.data.get('data') is not True


def calls_go(name: str, interface: str, fields: Mapping[str, Any]) -> bool:
    """Return whether a request says something else than true to the service of a stop."""
    if _STOPS.search(name.lower()) is None or interface in _WITHOUT_FIELDS:
        return False
    return not fields or any(value is not True for value in fields.values())
