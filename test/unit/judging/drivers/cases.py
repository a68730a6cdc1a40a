# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a conforming driver makes of a command stream, case by case, as the sources say it.

``python test/unit/judging/drivers/cases.py`` writes the cases into ``doc/reference/drivers.md``;
the tests beside this file hold the drivers and that page to them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from safety_scenarios import registry
from safety_scenarios.judging.drivers.joint_trajectory import CANCEL
from safety_scenarios.scenario.driver import Commanded, DriverPlugin, Execution
from safety_scenarios.scenario.message import Message
import yaml

DATA = Path(__file__).parents[3] / 'data' / 'drivers'
PAGE = Path(__file__).parents[4] / 'doc' / 'reference' / 'drivers.md'
BEGIN, END = '<!-- cases: begin -->', '<!-- cases: end -->'
_NS = 1_000_000_000
_CLOCK_NS = 1_700_000_000 * _NS
"""The driver's clock at steady time 0."""
_UNTIL_S = 40
_FIELDS = {'p': 'positions', 'v': 'velocities', 'a': 'accelerations', 'effort': 'effort'}


def cases() -> Iterator[dict[str, Any]]:
    """Yield each case with the driver's parameters complete."""
    for path in sorted(DATA.glob('*.yaml')):
        told = yaml.safe_load(path.read_text(encoding='utf-8'))
        for case in told['cases']:
            yield {**case, 'driver': {**told['defaults'], **case.get('driver', {})}}


def driver_of(case: dict[str, Any]) -> DriverPlugin:
    block = {name: tuple(value) if isinstance(value, list) else value
             for name, value in case['driver'].items()}
    if block['kind'] in ('omni', 'ackermann', 'diff_drive'):
        block.pop('joints', None)
    plugin: DriverPlugin = registry.resolve('drivers', block['kind']).model_validate(block)
    return plugin


def executed(case: dict[str, Any]) -> Execution:
    """Return what a case's driver executes."""
    driver = driver_of(case)
    joints = getattr(driver, 'joints', ())
    return driver.execute(commands_of(case), case.get('start', dict.fromkeys(joints, 0.0)),
                          _UNTIL_S * _NS)


def commands_of(case: dict[str, Any]) -> list[Commanded]:
    """Return what a case's driver is told."""
    joints = case['driver'].get('joints', ())
    return [_commanded(one, tuple(joints)) for one in case['commands']]


def _commanded(told: dict[str, Any], joints: tuple[str, ...]) -> Commanded:
    at_ns = round(told['at'] * _NS)
    return Commanded(at_ns, _CLOCK_NS + at_ns, _message(told, joints, at_ns))


def _message(told: dict[str, Any], joints: tuple[str, ...], at_ns: int) -> Message:
    stamp = _CLOCK_NS + at_ns + round(told['stamp'] * _NS) if 'stamp' in told else 0
    header = {'stamp': _stamp(stamp), 'frame_id': ''}
    if 'cancel' in told:
        return Message(type=CANCEL, data={})
    if 'array' in told:
        return Message(type='std_msgs/msg/Float64MultiArray', data={
            'data': tuple(float(value) for value in told['array'])})
    if 'twist' in told:
        x, y, turn = (float(value) for value in told['twist'])
        twist = {'linear': {'x': x, 'y': y, 'z': 0.0}, 'angular': {'x': 0.0, 'y': 0.0, 'z': turn}}
        name = told.get('type', 'TwistStamped')
        return Message(type=f'geometry_msgs/msg/{name}', data=twist if name == 'Twist' else {
            'header': header, 'twist': twist})
    return Message(type='trajectory_msgs/msg/JointTrajectory', data={
        'header': header, 'joint_names': tuple(told.get('names', joints)),
        'points': tuple(_point(point) for point in told['points'])})


def _point(told: dict[str, Any]) -> dict[str, Any]:
    values = {name: tuple(float(value) for value in told.get(short, ()))
              for short, name in _FIELDS.items()}
    return {**values, 'time_from_start': _stamp(round(told['t'] * _NS))}


def _stamp(t_ns: int) -> dict[str, int]:
    return dict(zip(('sec', 'nanosec'), divmod(t_ns, _NS), strict=True))


def table() -> str:
    """Return the cases as the table of the page."""
    rows = [f'| `{case["driver"]["kind"]}` | {case["driver"].get("distro", "jazzy")} | '
            f'{case["id"]} | {case["says"]} | {_outcome(case)} | {case["source"]} |'
            for case in cases()]
    return '\n'.join([BEGIN, '| driver | ROS | case | what the source says | executed | source |',
                      '|---|---|---|---|---|---|', *rows, END])


def _outcome(case: dict[str, Any]) -> str:
    told = [f'rejected: {reason}' for _, reason in case.get('rejected', ())]
    what = 'position' if 'position' in case else 'velocity'
    told += [f'{", ".join(f"{value:.4g}" for value in values)} @ {at:g} s'
             for at, values in case.get(what, ())]
    return '; '.join(told)


def page() -> str:
    """Return the page with the table as it is here."""
    before, _, rest = PAGE.read_text(encoding='utf-8').partition(BEGIN)
    return before + table() + rest.partition(END)[2]


if __name__ == '__main__':
    PAGE.write_text(page(), encoding='utf-8')
