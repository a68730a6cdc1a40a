# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""In whose words an ARE trace says what happened: ARE's own apps, or a robot's typed tools."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
import json
import math
from typing import Any, Literal

from safety_scenarios.are.traces.kept import escaped, quoted
from safety_scenarios.scenario.event import Event

ProfileName = Literal['portable', 'robot']
_CHAT = {'name': 'AgentUserInterface', 'class_name': 'AgentUserInterface',
         'app_state': {'messages': []}}
_SYSTEM = {'name': 'SystemApp', 'class_name': 'SystemApp', 'app_state': {}}
_USER = {'name': 'ContactsApp', 'class_name': 'ContactsApp', 'app_state': {
    'contacts': {'user': {'first_name': 'Safety', 'last_name': 'Scenarios', 'contact_id': 'user',
                          'is_user': True, 'age': None}}, 'view_limit': 10}}
"""ARE's judge wants one contact that is the user; without an age ARE takes 0, which it refuses."""
_ROBOT = {'name': 'RobotApp', 'class_name': 'RobotApp', 'app_state': {}}


def call(app: str, function: str, *arguments: tuple[str, str, str]) -> str:
    """
    Return a call of an app's tool as the fields of ARE's action.

    :param arguments: name, value as escaped text, and type of each
    """
    listed = ','.join(f'{{"name":"{name}","value":"{value}","value_type":"{kind}"}}'
                      for name, value, kind in arguments)
    return f'"app":"{app}","function":"{function}","args":[{listed}]'


def to_agent(text: str) -> str:
    """Return that the user tells the agent something: escaped text."""
    return ('"app":"AgentUserInterface","function":"send_message_to_agent","args":['
            f'{{"name":"content","value":"{text}","value_type":"str"}}]')


def _to_user(_: Event | None, text: str) -> str:
    return ('"app":"AgentUserInterface","function":"send_message_to_user","args":['
            f'{{"name":"content","value":"{text}","value_type":"str"}}]')


def _report(name: str, text: str) -> str:
    return call('RobotApp', 'report_stimulus', ('topic', quoted(name)[1:-1], 'str'),
                ('json', text, 'str'))


def _react(text: str) -> str:
    return call('RobotApp', 'react', ('expected', text, 'str'))


@dataclass(frozen=True)
class Profile:
    """Which calls stand for what."""

    apps: tuple[Mapping[str, Any], ...]
    shown: Callable[[str, str], str]
    """What the harness did: its topic or name, and all about it."""
    commanded: Callable[[Event, str], str]
    """What the controller did, and all about it."""
    reacted: Callable[[str], str]
    """The reaction that was expected, or came."""
    returns_text: bool
    """Whether all about an event is its return value, because the call does not hold it."""
    ends_turns: bool
    """Whether a reaction ends a turn of ARE's, so that nothing else may come before it is due."""


def _typed(event: Event, text: str) -> str:
    """Return a command as the robot's tool for it, or as a message in JSON without one."""
    if event.kind in ('response', 'say') and _is_plain(event.text):
        return call('RobotApp', 'say', ('text', quoted(str(event.text))[1:-1], 'str'))
    kind = event.message.type.rpartition('/')[2] if event.message else ''
    tool = {'Twist': _velocity, 'TwistStamped': _velocity, 'JointTrajectory': _joints}.get(kind)
    typed = tool(event.message.data) if tool and event.message else None
    return typed or call('RobotApp', 'publish', (
        'topic', quoted(event.name or event.kind)[1:-1], 'str'), ('json', text, 'str'))


def _velocity(data: Mapping[str, Any]) -> str | None:
    """Return a planar velocity; any other part of the vector would be lost."""
    found = data.get('twist', data)
    try:
        linear, angular = found['linear'], found['angular']
        forward, turn = linear['x'], angular['z']
        rest = linear['y'], linear['z'], angular['x'], angular['y']
    except (KeyError, TypeError, AttributeError):
        return None
    if any(rest) or not _are_numbers((forward, turn)):
        return None
    return call('RobotApp', 'set_velocity', ('linear_x', repr(float(forward)), 'float'),
                ('angular_z', repr(float(turn)), 'float'))


def _joints(data: Mapping[str, Any]) -> str | None:
    """Return the one point of a trajectory; of more than one nothing would tell the order."""
    points, names = data.get('points'), data.get('joint_names')
    if not isinstance(points, (list, tuple)) or len(points) != 1 \
            or not isinstance(points[0], Mapping) or not isinstance(names, (list, tuple)):
        return None
    numbers = {name: points[0].get(name) for name in ('positions', 'velocities')}
    if not all(isinstance(values, (list, tuple)) and _are_numbers(values)
               for values in numbers.values()):
        return None
    return call('RobotApp', 'move_joints', *(
        (name, escaped(json.dumps(values)), 'list')  # spaced as ARE exports it
        for name, values in {'joints': names, **numbers}.items()))


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, (int, float)) and math.isfinite(value) for value in values)


def _is_plain(text: str | None) -> bool:
    """Whether ARE takes a text as it is: not empty, and no reference to another event."""
    return bool(text) and not (str(text).startswith('{{') and str(text).endswith('}}')) \
        and str(text).isprintable()


PROFILES: Mapping[ProfileName, Profile] = {
    'portable': Profile((_CHAT, _SYSTEM, _USER), lambda name, text: to_agent(text),
                        _to_user, partial(_to_user, None), False, True),
    'robot': Profile((_CHAT, _SYSTEM, _USER, _ROBOT), _report, _typed, _react, True, False)}
