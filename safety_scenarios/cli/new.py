# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The commands below ``new``: a scenario, profile or contract to begin with, as a new file."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
import math
from pathlib import Path
from shlex import quote
import sys
from typing import Any

import click
from pydantic import ValidationError
from safety_scenarios import registry
from safety_scenarios.cli.completion import OutputPath
from safety_scenarios.cli.options import Finite
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.controllers.policies.contract_text import contract_text, RobotFacts
from safety_scenarios.controllers.policies.model import (
    InferenceError,
    ModelOptions,
    PolicyModel,
    Tensor,
)
from safety_scenarios.errors import (
    InputError,
    MissingDependencyError,
    refused,
    ScenarioError,
    SettingsError,
)
from safety_scenarios.formats.benchmark_conversion import ACCOUNT, import_files
from safety_scenarios.formats.benchmarks import BENCHMARKS
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.profile_file import load_profile
from safety_scenarios.formats.scenario_reading import read_raw
from safety_scenarios.formats.writing.hazards import KINDS, MEASURES, ROBOTS
from safety_scenarios.formats.writing.profile_text import GraphFacts, profile_text, ProfileAnswers
from safety_scenarios.formats.writing.scenario_text import scenario_text, slug
from safety_scenarios.formats.writing.template import Answers
from safety_scenarios.lint.review import review
from safety_scenarios.scenario.blocks.robot import FOOTPRINT, RobotModel
from safety_scenarios.scenario.profile import ProfileRobot

_JOINTS = ('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint',
           'wrist_2_joint', 'wrist_3_joint')
_NOT_NEGATIVE, _POSITIVE = Finite(min=0), Finite(min=0, min_open=True)


@click.command('scenario')
@click.option('--kind', type=click.Choice(tuple(KINDS)), help='What happens.')
@click.option('--robot', type=click.Choice(tuple(ROBOTS)), help='Kind of robot; mobile_base if '
              'left out.')
@click.option('--profile', 'profile_name', default=None, metavar='FILE|NAME',
              help='Take speed, stopping, size and joints from the profile of a robot.')
@click.option('--name', default=None, help='Name of the scenario.')
@click.option('--id', 'scenario_id', default=None, help='Its id; made from the name if left out.')
@click.option('--distance', type=_POSITIVE, default=None, metavar='M',
              help='Free way to the person or obstacle when it is first shown (m).')
@click.option('--approach-speed', type=_NOT_NEGATIVE, default=None, metavar='M/S',
              help='How fast the person walks toward the robot (m/s); 0: stands in its path.')
@click.option('--force', type=_POSITIVE, default=None, metavar='N',
              help='Of a collision: greatest force that belongs to the work (N); 40 if left out.')
@click.option('--max-speed', type=_POSITIVE, default=None, metavar='V',
              help='Top speed: m/s, of an arm rad/s of a joint; 1.0 if left out.')
@click.option('--deceleration', type=_POSITIVE, default=None, metavar='A',
              help='How hard a base brakes (m/s^2); 1.0 if left out.')
@click.option('--stopping', type=(_POSITIVE, _POSITIVE), default=None, metavar='S M',
              help='Instead: time (s) and way (m) of a stop from top speed; of an arm 0.3 0.15 if '
                   'left out.')
@click.option('--radius', type=_POSITIVE, default=None, metavar='M',
              help=f'Radius of the footprint of a base (m); {FOOTPRINT:g} if left out.')
@click.option('--reach', type=_POSITIVE, default=None, metavar='M',
              help='From the axis of an arm to its tool (m); 1.0 if left out.')
@click.option('--joints', default=None, metavar='NAME,NAME,...',
              help='Joints of an arm, in command order.')
@click.option('--with-benign/--without-benign', default=None,
              help='Write the harmless counterpart too, in which stopping is wrong.')
@click.option('--output', type=OutputPath(dir_okay=False), default=None,
              metavar='FILE', help='File to write; NAME.yaml if left out. No file is overwritten.')
def new_scenario(**given: Any) -> None:
    r"""
    Write a scenario file that is valid as it stands, with comments that say what to edit.

    In a terminal it asks for what is needed. With --kind it asks nothing.

    \b
    safety-scenarios new scenario
    safety-scenarios new scenario --kind person --distance 1.5 --with-benign
    safety-scenarios new scenario --kind collision --robot arm --output press_fit.yaml
    """
    profile = load_profile(given['profile_name']) if given['profile_name'] else None
    if profile is not None:
        _take_profile(given, profile.robot)
    if given['kind'] is None:
        if not sys.stdin.isatty():
            raise InputError(f'--kind: got nothing, expected one of {", ".join(KINDS)}: no '
                             f'terminal is there to ask')
        _ask(given)
    answers = _answers(given)
    made = scenario_text(answers)
    file: Path = given['output'] or Path(slug(made.name).replace('-', '_') + '.yaml')
    texts = {file: made.hazard}
    if given['with_benign']:
        texts[file.with_stem(f'{file.stem}_benign')] = made.benign
    warnings = _checked(texts)
    write_new(texts)
    for path in texts:
        echo(f'wrote {path}')
    for warning in warnings:
        echo(f'warning: {warning}', err=True)
    names = ' '.join(map(str, texts))
    sets = ''.join(f' --set {one}' for one in made.reference)
    sets += f' --profile {given["profile_name"]}' if profile is not None else ''
    echo(f'Next: edit the lines with "edit", then\n'
         f'  safety-scenarios scenario validate --strict {names}\n'
         f'  safety-scenarios run {names} --link loopback --controller rule_based{sets}')


@click.command('profile')
@click.option('--robot', 'kind', type=click.Choice(('mobile_base', 'arm')),
              help='Kind of robot; from the command topic if left out.')
@click.option('--name', default='', help='Name of the robot; from its URDF if left out.')
@click.option('--max-speed', type=_POSITIVE, default=None, metavar='V',
              help='Top speed: m/s, of an arm rad/s of a joint.')
@click.option('--deceleration', type=_POSITIVE, default=None, metavar='A',
              help='How hard it brakes, guaranteed (m/s^2).')
@click.option('--stopping', type=(_POSITIVE, _POSITIVE), default=None, metavar='S M',
              help='Instead: time (s) and way (m) of a stop from top speed.')
@click.option('--radius', type=_POSITIVE, default=None, metavar='M',
              help='Radius of the footprint of a base (m); from its URDF if left out.')
@click.option('--seconds', type=Finite(0.5, 600), default=4.0, show_default=True,
              metavar='S', help='How long to look at the graph (s).')
@click.option('--domain-id', type=click.IntRange(-1, 232), default=-1,
              help='ROS domain; ROS_DOMAIN_ID, or 0, if left out.')
@click.option('--output', type=OutputPath(dir_okay=False), default=None,
              metavar='FILE', help='File to write; NAME.yaml if left out. No file is overwritten.')
def new_profile(kind: str | None, name: str, max_speed: float | None, deceleration: float | None,
                stopping: tuple[float, float] | None, radius: float | None, seconds: float,
                domain_id: int, output: Path | None) -> None:
    r"""
    Write the profile of the robot that runs now: its topics, types, frames, joints and size.

    It only listens. In a terminal it asks for what the graph cannot show; otherwise that is left
    to be filled in, and the profile is refused until it is.

    \b
    safety-scenarios new profile
    safety-scenarios new profile --max-speed 0.46 --deceleration 0.9 --output tb4.yaml
    """
    if deceleration is not None and stopping is not None:
        raise SettingsError('--deceleration: got it beside --stopping, expected one of the two')
    facts = _look(seconds, domain_id)
    answers = ProfileAnswers(name, kind or '', max_speed, deceleration, stopping, radius)
    made = profile_text(facts, answers)
    if not made.roles:
        seen = ', '.join(sorted({topic.name for topic in facts.topics if topic.publishers
                                 + topic.subscribers})) or 'no topic'
        raise InputError(f'ROS domain: got {seen}, expected the topics of a robot, such as '
                         f'cmd_vel or joint_trajectory with a subscriber. Start the robot, and '
                         f'check ROS_DOMAIN_ID and ROS_AUTOMATIC_DISCOVERY_RANGE')
    if sys.stdin.isatty() and made.blanks:
        made = profile_text(facts, _ask_about_robot(answers, made.blanks))
    file = output or Path(slug(made.name or 'robot').replace('-', '_') + '.yaml')
    write_new({file: made.text})
    echo(f'found {", ".join(made.roles)}')
    echo(f'wrote {file}')
    if made.blanks:
        echo(f'Fill in {", ".join(made.blanks)}: nobody published {_them(made.blanks)}.')
    echo(f'Next: check the lines with "edit", then\n'
         f'  safety-scenarios new scenario --profile {file} --kind person\n'
         f'  safety-scenarios preflight robotic --profile {file}')


_FIRST = {'mobile_base': 'SCN-R-101 SCN-R-D-101', 'arm': 'SCN-R-102 SCN-R-D-102'}
"""Kind of robot to scenarios that show no more than a person."""


_OF_TORCH = ('pt', 'pth')
_Tensors = Mapping[str, Tensor] | None


@click.command('policy')
@click.argument('model', metavar='FILE.onnx|KIND:ADDRESS')
@click.option('--profile', 'profile_name', default=None, metavar='FILE|NAME',
              help='Take the kind of robot, its joints and types from its profile.')
@click.option('--output', type=OutputPath(dir_okay=False), default=None,
              metavar='FILE', help='File to write; the name of the model with .yaml, of a server '
                                   'policy.yaml, if left out. No file is overwritten.')
def new_policy(model: str, profile_name: str | None, output: Path | None) -> None:
    r"""
    Write the contract of a policy from the inputs and outputs that its model declares.

    What name and shape of an input do not make plain is left to be filled in, and the contract is
    refused until it is.

    \b
    safety-scenarios new policy policy.onnx
    safety-scenarios new policy policy.onnx --profile my_robot.yaml --output policy.yaml
    """
    kind, colon, address = model.partition(':')
    if not (colon and registry.is_known('policies', kind)):
        kind, address = Path(model).suffix.removeprefix('.'), model
    if not registry.is_known('policies', kind):
        hint = f'. Of PyTorch? Then name it torchscript:{model} or, saved by torch.save, ' \
               f'torch:{model}' if kind in _OF_TORCH else \
            '. A chat model needs no contract: name it after run --controller' \
            if model.startswith('openai:') else \
            '. Of a server? Then its protocol comes first: openpi:ws://HOST:PORT' \
            if '://' in model else ''
        raise InputError(f'got {model}, expected the file of a model, such as policy.onnx, or its '
                         f'kind and where it is: {", ".join(registry.names("policies"))}{hint}')
    robot = RobotFacts()
    if profile_name:
        profile = load_profile(profile_name)
        robot = RobotFacts(profile.robot.kind, profile.robot.joints, {
            role: topic.type for role, topic in profile.topics.items()})
    opened: PolicyModel = registry.resolve('policies', kind)(
        address, ModelOptions(may_start_later=False))
    with closing(opened):
        declared: tuple[_Tensors, _Tensors] = None, None
        if not opened.is_pickled:
            try:
                opened.open()
            except InferenceError as error:
                raise InputError(f'{error.detail} ({error.name}), expected a server of {kind}. '
                                 f'Start it first, or correct the address') from None
            declared = opened.inputs(), opened.outputs()
        made = contract_text(Path(address).name or address, *declared, robot, opened.server_keys)
    file = output or (Path(address).with_suffix('.yaml') if opened.is_file else
                      Path('policy.yaml'))
    write_new({file: made.text})
    echo(f'wrote {file}')
    if made.blanks:
        echo(f'Fill in {", ".join(dict.fromkeys(made.blanks))}: the model does not declare '
             f'{_them(made.blanks)}.')
    scenarios = _FIRST.get(Document(str(file), made.text.encode()).data.get('robot'), 'SCENARIO')
    if 'human_pose' not in made.text:
        scenarios = scenarios.replace('101', '104')  # 101 shows a person to the tracker alone, too
    link = '' if opened.takes_real_time else ' --link loopback'
    link += f' --profile {quote(profile_name)}' if profile_name else ''
    contract = '' if opened.is_file and not output else \
        f' --set {quote(f"controller.contract={file}")}'
    if opened.is_pickled:
        echo(f'{kind}:{address} was not opened, because it needs pickles to be read. Allow '
             f'that only if you trust it.')
        contract += ' --set controller.allow_pickle=true'
    echo(f'Next: check the lines with "edit", then, for a hazard and its benign variant,\n'
         f'  safety-scenarios run {scenarios}{link} --controller {quote(f"{kind}:{address}")}'
         f'{contract} --trials 20')


def _them(names: Sequence[str]) -> str:
    return 'it' if len(names) == 1 else 'them'


def _look(seconds: float, domain_id: int) -> GraphFacts:
    try:
        from safety_scenarios.ros.profile_from_graph import look_at_graph
    except ImportError as error:
        raise MissingDependencyError('new profile', error.name or 'rclpy',
                                     advice='Source the setup file of your ROS '
                                            'installation') from None
    return look_at_graph(seconds, domain_id)


def _ask_about_robot(answers: ProfileAnswers, blanks: Sequence[str]) -> ProfileAnswers:
    """Ask for what the graph does not show; Enter leaves it to be filled in."""
    questions = {'robot.max_speed': ('max_speed', 'Top speed (m/s; of an arm rad/s)'),
                 'robot.stopping.deceleration': ('deceleration', 'Braking deceleration (m/s^2)'),
                 'robot.radius': ('radius', 'Radius of the footprint (m)')}
    told: dict[str, Any] = {}
    for blank in blanks:
        if blank in questions:
            name, question = questions[blank]
            text = click.prompt(f'{question}, Enter: fill in later', default='',
                                show_default=False)
            told[name] = _number(text) if text else None
    if 'robot.stopping.time' in blanks:
        texts = [click.prompt(f'{question}, Enter: fill in later', default='',
                              show_default=False)
                 for question in ('Stopping time from top speed (s)', 'Way in that time (m)')]
        if all(texts):
            told['stopping'] = tuple(map(_number, texts))
    return replace(answers, **told)


def _number(text: str) -> float:
    """Return what somebody typed as a number > 0."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found < math.inf:
        raise InputError(f'got {text!r}, expected a number > 0')
    return found


def _ask(given: dict[str, Any]) -> None:
    """Ask for what no option says, in the order in which one answer decides the next question."""
    robot = _ask_if_missing(given, 'robot', 'Kind of robot', 'mobile_base',
                            click.Choice(tuple(ROBOTS)))
    kinds = ROBOTS[robot]
    given['kind'] = click.prompt('What happens', default=kinds[0], type=click.Choice(kinds))
    _ask_if_missing(given, 'max_speed',
                    f'Top speed ({"m/s" if robot == "mobile_base" else "rad/s"})', 1.0,
                    _POSITIVE)
    measures = MEASURES.get(given['kind'], ())
    if 'distance' in measures:
        if robot == 'mobile_base':
            if given['stopping'] is None and given.get('declared') is None:
                _ask_if_missing(given, 'deceleration', 'Braking deceleration (m/s^2)', 1.0,
                                _POSITIVE)
            _ask_if_missing(given, 'radius', 'Radius of the footprint (m)', FOOTPRINT, _POSITIVE)
        elif given['stopping'] is None and given.get('declared') is None:
            given['stopping'] = (click.prompt('Stopping time from top speed (s)', 0.3,
                                              type=_POSITIVE),
                                 click.prompt('Way of the tool in that time (m)', 0.15,
                                              type=_POSITIVE))
    if 'approach_speed' in measures:
        _ask_if_missing(given, 'approach_speed',
                        'Speed of the person toward the robot (m/s, 0: stands)',
                        0.0 if robot == 'mobile_base' else 1.6, _NOT_NEGATIVE)
    if 'distance' in measures and given['distance'] is None:
        text = click.prompt('Free way to it when it is first shown (m; Enter: computed)',
                            default='', show_default=False)
        given['distance'] = _number(text) if text else None
    if 'force' in measures:
        _ask_if_missing(given, 'force', 'Greatest force of the work (N)', 40.0, _POSITIVE)
    if given['name'] is None:
        given['name'] = click.prompt('Name of the scenario (Enter: made from the answers)',
                                     default='', show_default=False) or None
    if given['with_benign'] is None:
        given['with_benign'] = click.confirm('Write the harmless counterpart too', default=True)


def _take_profile(given: dict[str, Any], robot: ProfileRobot) -> None:
    """Take from a profile what no option says."""
    kind = robot.kind or given['robot']
    if kind not in ROBOTS or given['robot'] not in (None, kind):
        raise InputError(f'--profile {given["profile_name"]}: got a robot of kind {kind}, '
                         f'expected {given["robot"] or " or ".join(ROBOTS)}')
    given['robot'] = kind
    if given['deceleration'] is None and given['stopping'] is None:
        given['declared'] = robot.stopping.block()
    for name in ('max_speed', 'radius') if kind == 'mobile_base' else ('max_speed',):
        given[name] = getattr(robot, name) or None if given[name] is None else given[name]
    if kind == 'arm' and robot.joints and given['joints'] is None:
        given['joints'] = ','.join(robot.joints)


def _ask_if_missing(given: dict[str, Any], name: str, question: str, default: Any,
                    kind: Any) -> Any:
    if given[name] is None:
        given[name] = click.prompt(question, default=default, type=kind)
    return given[name]


def _answers(given: Mapping[str, Any]) -> Answers:
    """Return the answers that the options give."""
    kind = given['robot'] or 'mobile_base'
    others = {'mobile_base': ('reach', 'joints'), 'arm': ('deceleration', 'radius')}[kind]
    for name in others:
        if given[name] is not None:
            raise SettingsError(f'--{name.replace("_", "-")}: got {given[name]}, expected nothing '
                                f'for the robot {kind}. Leave it out, or give --robot')
    if given['deceleration'] is not None and given['stopping'] is not None:
        raise SettingsError('--deceleration: got it beside --stopping, expected one of the two')
    robot: dict[str, Any] = {'kind': kind, 'max_speed': given['max_speed'] or 1.0}
    if kind == 'mobile_base':
        robot['radius'] = given['radius'] or FOOTPRINT
        robot['stopping'] = {'model': 'constant_deceleration',
                             'deceleration': given['deceleration'] or 1.0}
    else:
        robot['joints'] = tuple(given['joints'].split(',')) if given['joints'] else _JOINTS
        robot['stopping'] = {'model': 'measured', 'time': 0.3, 'distance': 0.15}
    if given['stopping'] is not None:
        time, way = given['stopping']
        robot['stopping'] = {'model': 'measured', 'time': time, 'distance': way}
    elif given.get('declared') is not None:
        robot['stopping'] = given['declared']
    try:
        return Answers(
            kind=given['kind'], robot=RobotModel.model_validate(robot),
            scenario_id=given['scenario_id'] or '', name=given['name'] or '',
            distance=given['distance'], approach_speed=given['approach_speed'],
            reach=given['reach'] or 1.0, force=given['force'])
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SettingsError(refused('robot.' + '.'.join(map(str, first['loc'])), first)) from None


def _checked(texts: Mapping[Path, str]) -> list[str]:
    """Return what there is to warn of in new files."""
    readings = [read_raw(str(path), text.encode(), Document, registry.resolve)
                for path, text in texts.items()]
    problems = [problem for reading in readings for problem in reading.problems]
    if problems:
        raise ScenarioError(problems)
    documents = {id(one.scenario): one.document for one in readings}
    scenarios = [one.scenario for one in readings if one.scenario is not None]
    found = [*(str(warning) for one in readings for warning in one.warnings)]
    for remark in review(scenarios).remarks:
        document = documents[id(remark.scenario)]
        assert document is not None
        found.append(str(document.problem(remark.field, remark.message, code=remark.code)))
    return found


def write_new(texts: Mapping[Path, str]) -> None:
    """
    Write files that must not exist yet: all of them or none.

    :raises InputError: one exists, or cannot be written
    """
    for path in texts:
        if path.exists() or path.is_symlink():
            raise InputError(f'{path}: exists already, and is not overwritten. Name another file '
                             f'with --output, or remove it')
    for path, text in texts.items():
        try:
            with path.open('x', encoding='utf-8') as file:
                file.write(text)
        except OSError as error:
            raise InputError(f'{path}: cannot be written: {error.strerror}. Name another file '
                             f'with --output') from None


@click.command('import', epilog='Exit codes: 0 written; 2 wrong input or usage, or nothing '
                                'could be used.')
@click.argument('files', nargs=-1, required=True, metavar='FILE...',
                type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option('--from', 'benchmark', required=True, type=click.Choice(list(BENCHMARKS)),
              help='The benchmark that the files belong to.')
@click.option('--output', required=True, type=OutputPath(), metavar='DIR',
              help='New folder for the scenarios.')
def import_rows(files: tuple[Path, ...], benchmark: str, output: Path) -> None:
    r"""
    Write the rows of a public benchmark as scenario files, with an account of every row.

    Fetch the files yourself, from the address that the account names. Each scenario keeps the
    words, the licence and the attribution of its row.

    \b
    safety-scenarios scenario import --from safeagentbench dataset/*.jsonl --output sab
    safety-scenarios scenario import --from earbench dataset.csv --output ear
    """
    account = import_files(BENCHMARKS[benchmark], files, output)
    for line in account.lines():
        echo(line)
    echo(f'Not judged: {BENCHMARKS[benchmark].not_judged}')
    echo(f'Results: {output} ({ACCOUNT} names every refused row)')
    if not account.written:
        raise SystemExit(2)
