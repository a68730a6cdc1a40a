# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a harness never does to a real robot, and profiles that are refused for it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
import re
import sys
from typing import Any

from safety_scenarios.campaign.folder.signing import read_plan
from safety_scenarios.errors import did_you_mean, InputError, Problem, ScenarioError, SettingsError
from safety_scenarios.scenario.blocks.nominal_calls import ActionGoal
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.hil import HilSettings
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.message_types import may_move
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import StimulusContext, StimulusPlugin
from safety_scenarios.scenario.topic_names import RosNames
from safety_scenarios.trial.link import LinkPlan

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


_RULE = re.compile(r'(?!__)/?\w+(/\w+)*:=/?\w+(/\w+)*', re.ASCII)
"""A remapping rule of which everybody sees what it does."""
_INTERLOCKS = ('deadman', 'feedback', 'distance', 'protective', 'battery', 'area')
"""Whose topics the profile names."""
_AT_LAST_NS = 86_400_000_000_000
"""So late every stimulus says what it says in the end."""


def dangers(scenarios: Sequence[Scenario], link: LinkPlan, world: str) -> Iterator[InputError]:
    """Yield what a harness must not do to a real robot, if the profile says that there is one."""
    hil = link.ros.hil
    if not hil.enabled:
        if hil.publishes and 'enabled' not in hil.model_fields_set \
                and world == 'none' and _reaches_a_robot(link):
            yield SettingsError(
                'hil.enabled: got interlocks in the group hil, and no word on whether they are to '
                'be used. Expected --set hil.enabled=true for a robot that is really there '
                '(hil.launch.py sets it), or false where nothing can move')
        return
    yield from _wrong_profile(link, world)
    problems = [Problem(scenario.place, None, None, field, message)
                for scenario in scenarios for field, message in _problems(scenario, link)]
    if problems:
        yield ScenarioError(problems)
    if hil.confirm == 'plan':
        yield from _not_in_the_plan(scenarios, hil)
    elif hil.confirm == 'terminal' and not (sys.stdin and sys.stdin.isatty()):
        yield SettingsError('hil.confirm: got terminal, and standard input is none, so that '
                            'no one could answer; expected service or plan. Or start it at a '
                            'terminal')


def _reaches_a_robot(link: LinkPlan) -> bool:
    """Return whether what is published may reach a robot: not in a domain that is chosen anew."""
    return link.controller.is_external or (link.name == 'ros' and link.ros.domain_id >= 0)


def _wrong_profile(link: LinkPlan, world: str) -> Iterator[SettingsError]:
    hil, names = link.ros.hil, link.names
    for name, found, wanted in (('link', link.name, 'ros'), ('world', world, 'none')):
        if found != wanted:
            yield SettingsError(f'{name}: got {found} with hil.enabled, expected {wanted}: '
                                f'interlocks belong to a robot that is really there')
    if link.ros.use_sim_time and world == 'none':
        yield SettingsError('use_sim_time: got true with hil.enabled, expected false: interlocks '
                            'go by the clock of people')
    for rule in names.remap:
        if not _RULE.fullmatch(rule):
            yield SettingsError(f'remap: got {rule} with hil.enabled, expected the name of a '
                                f'topic or service on both sides, such as scan:=/robot/scan_in: '
                                f'what leaves has to be known by its name')
    commands, released = _full(names, hil.commands), _full(names, hil.releases)
    yield from _wrong_topics(link, commands)
    watched = {name for field in _INTERLOCKS for name in
               _called(names, getattr(hil, f'{field}_topic'))}
    for name in hil.publishes:
        full = names.unmapped(name)
        why = why_a_command(full, '', commands) or (
            'a stop is released there' if releases(full, released) else
            'an interlock listens there, and the harness would confirm itself'
            if full in watched else None)
        if why:
            yield SettingsError(f'hil.publishes: got {full}, expected the topic of a sensor: '
                                f'{why}. Take it out')
    for field, services in (('calls', hil.calls), ('reset_service', [hil.reset_service])):
        for full in dict.fromkeys(full for name in filter(None, services)
                                  for full in _called(names, name)):
            if releases(full, released):
                yield SettingsError(f'hil.{field}: got {full}, expected nothing that releases '
                                    f'a stop: only people do that. Take it out')


def _wrong_topics(link: LinkPlan, commands: set[str]) -> Iterator[SettingsError]:
    """Yield topics of which interlocks would learn nothing."""
    hil = link.ros.hil
    watched: dict[str, str] = {}
    for field in _INTERLOCKS:
        if field in hil.without:
            continue
        full = link.names.full(getattr(hil, f'{field}_topic'))
        if full in watched:
            yield SettingsError(f'hil.{field}_topic: got {full}, which is that of '
                                f'hil.{watched[full]}_topic, expected another one: one word '
                                f'cannot mean both')
        watched.setdefault(full, field)
        if field == 'feedback' and why_a_command(full, '', commands) is not None:
            yield SettingsError(f'hil.feedback_topic: got {full}, expected the topic on which the '
                                'robot reports how it moves, and not one by which it is '
                                'commanded to')


def _called(names: RosNames, name: str) -> tuple[str, str]:
    """Return what the profile lists, and what the node makes of it by its remapping rules."""
    return names.unmapped(name), names.full(name)


def _full(names: RosNames, listed: Sequence[str]) -> set[str]:
    return {names.unmapped(name) for name in listed}


def _problems(scenario: Scenario, link: LinkPlan) -> Iterator[tuple[str, str]]:
    """Yield field and message of whatever keeps a scenario from a real robot."""
    robot = scenario.body
    if not isinstance(robot, RobotBody):
        yield 'ros', ('got a scenario without a robot of its own, or with agents, with '
                      'hil.enabled, expected one with ros: and stimuli alone. Run it without')
        return
    full, hil = link.names.full, link.ros.hil
    listed, named = _full(link.names, hil.publishes), _full(link.names, hil.commands) | {
        full(known.topic) for known in robot.commands}
    released = _full(link.names, hil.releases)
    stimuli = [(f'ros.nominal.stimuli[{place}].topic', plugin)
               for place, plugin in enumerate(robot.nominal.stimuli)] + \
        [(f'ros.nominal.changes[{place}].stimuli[{index}].topic', plugin)
         for place, change in enumerate(robot.nominal.changes)
         for index, plugin in enumerate(change.stimuli)] + \
        [(f'ros.stimuli[{place}].topic', plugin) for place, plugin in enumerate(robot.stimuli)]
    types = {plugin.topic: plugin.interface() for _, plugin in stimuli if plugin.interface()}
    for field, plugin in stimuli:
        topic = full(plugin.topic)
        why = why_a_command(topic, types.get(plugin.topic) or '', named)
        if why:
            yield field, (f'got the stimulus {plugin.topic} on {topic}, expected no command '
                          f'topic: {why}. Change the remapping')
        elif releases(topic, released):
            yield field, (f'got the stimulus {plugin.topic} on {topic}, where a stop is released, '
                          f'expected the topic of a sensor. Change the remapping')
        elif _takes_back(plugin, topic):
            yield field, (f'got a message on {topic} that takes back a stop, expected true alone '
                          f'on the topic of a stop. Leave it out of this scenario')
        elif topic not in listed:
            yield field, (f'got the stimulus {plugin.topic} on {topic}, expected one of '
                          f'hil.publishes: {", ".join(sorted(listed)) or "none"}.'
                          f'{did_you_mean(topic, listed)} Remap it, or list it')
    for place, call in enumerate(robot.nominal.calls):
        name = full(call.target.name)
        if releases(name, released) or (isinstance(call.target, ActionGoal)
                                        and commands_by_goal(call.target.type)):
            yield f'ros.nominal.calls[{place}]', (
                f'got {name} [{call.target.type}], which releases a stop or commands the robot, '
                f'expected neither. Take it out')
        elif calls_go(name, call.target.type, call.target.fields):
            yield f'ros.nominal.calls[{place}]', (
                f'got {name} [{call.target.type}], which may take back a stop, expected true '
                f'alone in its request. Take it out')
        elif name not in _full(link.names, hil.calls):
            yield f'ros.nominal.calls[{place}]', (
                f'got {name}, expected one of hil.calls: {", ".join(hil.calls) or "none"}. List '
                f'it, or ask for it by hand')


def _takes_back(plugin: StimulusPlugin, topic: str) -> bool:
    """Return whether what a stimulus says, first or last, takes back a stop."""
    for elapsed_ns in (0, _AT_LAST_NS):
        try:
            found = plugin.at(elapsed_ns, 0, StimulusContext('', (), None, None))
        except Exception:  # what it alters is known in a trial alone, where it is asked again
            continue
        if found is not None and says_go(topic, found.message):
            return True
    return False


def _not_in_the_plan(scenarios: Sequence[Scenario], hil: HilSettings) -> Iterator[InputError]:
    try:
        plan: Mapping[str, str] = read_plan(hil).scenarios
    except InputError as error:
        yield error
        return
    for scenario in scenarios:
        wanted = plan.get(scenario.id)
        found = scenario.origin.sha256 if scenario.origin else ''
        if wanted is None:
            yield SettingsError(f'hil.plan: {hil.plan}: got no {scenario.id}, expected every '
                                f'scenario of the campaign.{did_you_mean(scenario.id, plan)}')
        elif wanted and wanted != found:
            yield SettingsError(f'hil.plan: {hil.plan}: {scenario.id}: got a file with SHA-256 '
                                f'{found[:12]}, expected {wanted[:12]} as signed. It was changed '
                                f'since')
