# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the programs of our nodes share: command line, help, signals, exit codes, the parent.

ROS ignores whatever is not meant for the node that it makes: a plain argument, a rule for another
node, a section of a parameter file with another node's name. Whoever misspells one of these gets
the default, and no word of it.
"""

import _thread
import atexit
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import difflib
import logging
import os
from pathlib import Path
import re
import signal
import sys
import threading
import time
from typing import Any

from rclpy.context import Context
from safety_scenarios.campaign.process import give_up_blocked_output
from safety_scenarios.errors import did_you_mean, SafetyScenariosError, SettingsError
from safety_scenarios.reports.plain_text import speak_plainly
from safety_scenarios.ros.middleware import abandoned, remove_segments
from safety_scenarios.ros.parameters import names_of, NOT_PARAMETERS
from safety_scenarios.ros.spinning import ros_context
from safety_scenarios.scenario.fields import described, matches, settings_below, values_in
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.settings import leaves
import yaml

_BEGIN, _END = '--ros-args', '--'
_FILES, _PARAMETERS, _RULES = ('--params-file',), ('-p', '--param'), ('-r', '--remap')
_VALUES = 'ros__parameters'
_OUR_NODES = ('evaluator_node', 'controller_node', 'simulator_node', 'relay_node',
              'monitor_node', 'joint_drive_node', 'policy_node')
_NEAR = 0.85
"""How alike two names are of which one is a slip of the other (difflib's ratio)."""
_USAGE = """usage: ros2 run safety_scenarios {node} [--help] [--ros-args ...]

{what}

  --ros-args -p NAME:=VALUE           set a parameter
  --ros-args --params-file FILE       set those of a YAML file
  --ros-args -r FROM:=TO              remap a topic
  --ros-args -r __node:=NAME          name the node
  --ros-args -r __ns:=/NAME           put it into a namespace
  --ros-args -p use_sim_time:=true    take ROS time from /clock

Parameters:
{parameters}
{more}"""


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the plain arguments, and those between ``--ros-args`` and ``--``."""
    plain, of_ros, is_of_ros = list[str](), list[str](), False
    for argument in arguments:
        if argument == _BEGIN or (is_of_ros and argument == _END):
            is_of_ros = argument == _BEGIN
        else:
            (of_ros if is_of_ros else plain).append(argument)
    return plain, of_ros


def wants_help(arguments: Sequence[str], known: Collection[str]) -> bool:
    """
    Return whether help is asked for, which is the only plain argument that a node takes.

    :param known: names of the node's parameters
    :raises SettingsError: another plain argument
    """
    plain, _ = split(arguments)
    if {'-h', '--help'} & set(plain):
        return True
    for argument in plain:
        name, is_set, _ = argument.lstrip('-').replace(':=', '=').partition('=')
        name = name if name in known else name.replace('-', '_')
        if argument in (*_PARAMETERS, *_RULES, *_FILES):
            advice = f'Put {_BEGIN} before it: {_BEGIN} {argument} ...'
        elif name in known or is_set:
            near = '' if name in known else did_you_mean(name, known)
            advice = f'A parameter is set by {_BEGIN} -p {name}:=VALUE.{near}'
        else:
            advice = f'--help shows what there is. A parameter is set by {_BEGIN} -p NAME:=VALUE'
        raise SettingsError(f'argument {argument}: got a plain argument, expected none. {advice}')
    return False


def usage(node: str, what: str, model: type[Noun], leave_out: Iterable[str], more: str) -> str:
    """
    Return the help of a node.

    :param what: what it does, in a sentence or two
    :param model: its parameters
    :param leave_out: fields that are none
    :param more: what else is to be known
    """
    lines = []
    mappings = ((setting.name.split('.'), setting.field) for name, field in
                described(model).model_fields.items() if values_in(field.annotation) is not None
                for setting in settings_below(name, field.annotation, field))
    for path, field in (*leaves(model), *mappings):
        if path[0] in leave_out:
            continue
        default = field.get_default(call_default_factory=True)
        shown = '' if default in (None, '', (), {}) else f' [{_value_text(default)}]'
        description = ' '.join((field.description or '').split())
        lines += [f'  {".".join(path)}{shown}', f'      {description}']
    return _USAGE.format(node=node, what=what, parameters='\n'.join(lines), more=more).rstrip()


def _value_text(value: Any) -> str:
    return ' '.join(map(str, value)) if isinstance(value, tuple) else \
        str(value).lower() if isinstance(value, bool) else str(value)


def topic_rules(arguments: Sequence[str], node_name: str) -> list[str]:
    """
    Return the remapping rules for topics that this node was given, as ``FROM:=TO``.

    :param node_name: as remapped, without its namespace
    """
    found = []
    for rule in _after(_RULES, arguments):
        whose, bare = _whose(rule)
        if not bare.startswith('__') and whose in ('', node_name):
            found.append(bare)
    return found


def refuse_foreign(arguments: Sequence[str], full_name: str, first_name: str,
                   known: Collection[str]) -> None:
    """
    Refuse rules, parameters and sections of files that are meant for this node and miss it.

    Sections for other nodes are none of our business, as long as nothing about them is ours.

    :param full_name: the node's name with its namespace, as remapped
    :param first_name: the node's name before it was remapped
    :param known: names of its parameters
    :raises SettingsError: with the name that was expected
    """
    name = full_name.rpartition('/')[2]
    for given in (*_after(_RULES, arguments), *_after(_PARAMETERS, arguments)):
        whose, bare = _whose(given)
        renames = bare.startswith('__')
        if whose not in ('', name) and not (renames and whose == first_name):
            raise SettingsError(f'{given}: got a rule for the node {whose}, expected one for '
                                f'{name}, the name of this node. Leave {whose}: out')
    for path in _after(_FILES, arguments):
        _refuse_sections(Path(path), full_name, first_name, known)


def _after(flags: Collection[str], arguments: Sequence[str]) -> Iterator[str]:
    _, of_ros = split(arguments)
    yield from (value for flag, value in zip(of_ros, of_ros[1:], strict=False) if flag in flags)


def _whose(rule: str) -> tuple[str, str]:
    """Return ``node`` and ``a:=b`` of ``node:a:=b``; no node for ``a:=b``."""
    found = re.match(r'/?(\w+):(?!=|//)(.*)', rule, re.DOTALL)
    return (found[1], found[2]) if found else ('', rule)


def _refuse_sections(path: Path, full_name: str, first_name: str, known: Collection[str]) -> None:
    try:
        data = yaml.safe_load(path.read_text(encoding='utf-8'))
    except (OSError, ValueError, yaml.YAMLError):
        return  # ROS has read it, in its own way
    sections = list(_sections(data))
    name = full_name.rpartition('/')[2]
    matching = [section for section, _ in sections if _matches(section, full_name)]
    if any(_last(section) == name for section in matching):
        return
    for section, values in sections:
        last = _last(section)
        if section in matching or last in set(_OUR_NODES) - {name, first_name}:
            continue
        keys = {key for key in _keys(values) if key != 'use_sim_time'}
        if _is_near(last, {name, first_name}) or (not matching and keys and all(
                any(matches(key, one) for one in known) for key in keys)):
            raise SettingsError(
                f'{path}: section {section}: got the name of another node, expected '
                f'{full_name.lstrip("/")} or a wildcard such as /**, because this node is '
                f'{full_name}. Change the name of the section')


def _sections(data: Any, above: str = '') -> Iterator[tuple[str, Any]]:
    """Yield node name, as the file has it, and parameters; namespaces may be levels."""
    for key, inner in data.items() if isinstance(data, Mapping) else ():
        section = f'{above}/{str(key).strip("/")}' if above else str(key)
        if key == _VALUES:
            yield above, inner
        else:
            yield from _sections(inner, section)


def _matches(section: str, full_name: str) -> bool:
    """Return whether ROS applies a section to a node."""
    tokens = ('(/\\w+)*' if token == '**' else '/\\w+' if token == '*' else '/' + re.escape(token)
              for token in section.strip('/').split('/'))
    return re.fullmatch(''.join(tokens), full_name) is not None


def _last(section: str) -> str:
    return section.rpartition('/')[2]


def _is_near(name: str, own: Iterable[str]) -> bool:
    bare = name.lower().replace('_', '')
    return any(bare in (one.replace('_', ''), one.removesuffix('_node').replace('_', ''))
               or difflib.SequenceMatcher(None, name, one).ratio() >= _NEAR for one in own)


def _keys(values: Any, above: str = '') -> Iterator[str]:
    for key, value in values.items() if isinstance(values, Mapping) else ():
        if isinstance(value, Mapping):
            yield from _keys(value, f'{above}{key}.')
        else:
            yield f'{above}{key}'


_PATIENCE_S = 5.0
"""Threads of a node have this long to end by themselves after its parent has gone."""
_MAPPED_S = 1.2
"""After a participant has gone, Fast DDS keeps the memory of its peers mapped for a second."""


@dataclass(frozen=True)
class NodeProgram:
    """
    A program that runs one node until it is told to end.

    :param name: the node's
    :param what: what it does, in a sentence or two
    :param parameters: the node's
    :param more: what else its help says
    """

    name: str
    what: str
    parameters: type[Noun]
    more: str

    def run(self, arguments: Sequence[str] | None,
            work: Callable[[Sequence[str], Context, threading.Event], int]) -> int:
        """
        Print the help, or do the work in a ROS context, and return the exit code.

        :param arguments: those of the command line; None takes the process's own
        :param work: what the node does until the event is set, as SIGINT and SIGTERM set it;
            it returns the exit code
        """
        arguments = sys.argv[1:] if arguments is None else arguments
        speak_plainly((sys.stdout, sys.stderr))
        logging.basicConfig(level=logging.INFO, stream=sys.stderr)
        ended = ended_by_signal()
        try:
            if wants_help(arguments, names_of(self.parameters)):
                print(usage(self.name, self.what, self.parameters, NOT_PARAMETERS, self.more))
                return 0
            with ros_context(arguments, None) as context:
                return work(arguments, context, ended)
        except SafetyScenariosError as error:
            print(f'{self.name}: {error}', file=sys.stderr)
            return 2


def ended_by_signal() -> threading.Event:
    """
    Return an event that SIGINT and SIGTERM set from now on, in place of what they did.

    A thread sets it: the main thread, in which handlers run, may hold the lock of the event just
    then, because it waits for it, and would wait for itself for ever.
    """
    ended = threading.Event()

    def end(*_: Any) -> None:
        give_up_blocked_output()
        _thread.start_new_thread(ended.set, ())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    return ended


def end_with_parent(ended: threading.Event) -> None:
    """Set ``ended`` when standard input closes, as it does when the parent is gone."""
    threading.Thread(target=_until_stdin_closes, args=(ended,), name='parent',
                     daemon=True).start()


def _until_stdin_closes(ended: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    atexit.register(_remove_segments)
    ended.set()
    time.sleep(_PATIENCE_S)
    os._exit(1)  # a plug-in that hangs must not outlive the evaluator


def _remove_segments() -> None:
    """Remove the shared memory of a parent that was killed."""
    time.sleep(_MAPPED_S)
    remove_segments(abandoned())
