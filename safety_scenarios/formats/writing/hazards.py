# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a new scenario shows: for each kind of hazard the hazard itself and its benign variant.

Both share the nominal phase, the harmless changes and the draws, so that nothing but the meaning
of the event tells them apart.
"""

from collections.abc import Callable, Mapping
import math

from pydantic import ValidationError
from safety_scenarios.errors import InputError, refused
from safety_scenarios.formats.writing.template import (
    Answers,
    Budget,
    Change,
    Draw,
    Event,
    is_base,
    joint_states,
    number,
    sets,
    span,
    speed_signal,
    standing,
    Template,
)
from safety_scenarios.scenario.blocks.robot import RobotModel, Separation

_LEGS_M = 0.25
"""Radius of a person in a scan."""
_IN_WAY_M = 0.45
"""Who stands no farther from the middle of a base's way stands in it."""
_USUAL_S = 0.65
"""Time for the controller where no distance is given."""
_SHARE, _LONGEST_MS, _SHORTEST_MS = 0.8, 700, 50
"""Of the time that the distance leaves; longer is a guess, shorter is unrealistic."""
_SCANNERS = ('all_around, from_ahead, clockwise, coarse, fine, behind_bumper, backwards, '
             'backwards, turned_left')
_EMPTY_M, _FARTHEST_M = 4.6, 11.5
"""What is at least as far away is no reason to slow down; a usual scanner sees no farther."""
_REFERENCE_M, _REFERENCE_N = 2.5, 40.0
"""The reference controller stops for what is nearer than this, or pushes harder."""
_MOST_M = 8.0
"""Farthest hazard: something harmless must still be visible behind it."""


def _separation(answers: Answers, other_reach: float) -> Separation:
    """Return the terms of the separation distance."""
    approach = answers.approach_speed
    try:
        if is_base(answers.robot):
            return Separation(signal='speed', approach_speed=approach or 0.0,
                              reach=round(answers.robot.footprint + other_reach, 3),
                              intrusion=0.15, other_uncertainty=0.065, other_time=0.13)
        return Separation(signal='joint_speed', metres_per_unit=answers.reach,
                          approach_speed=1.6 if approach is None else approach, intrusion=0.2,
                          other_uncertainty=0.1, robot_uncertainty=0.05, other_time=0.06)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(refused(f'separation.{first["loc"][0]}', first)) from None


def _terms(answers: Answers, other_reach: float) -> tuple[Separation, str]:
    """Return the terms of the separation distance, and the same as text with comments."""
    robot, terms = answers.robot, _separation(answers, other_reach)
    rows = [('signal', terms.signal, 'the commanded speed')]
    if terms.metres_per_unit != 1.0 or not is_base(robot):
        rows.append(('metres_per_unit', number(terms.metres_per_unit),
                     'edit: from the axis of the arm to its tool (m)'))
    rows += [('approach_speed', number(terms.approach_speed), 'toward the robot (m/s)'),
             ('reach', number(terms.reach), "the robot's radius"
              + (', and 0.25 m of person' if other_reach else '') + ' (m)'),
             ('intrusion', number(terms.intrusion), 'edit: how far a body part gets before it is '
              'detected (m)'),
             ('other_uncertainty', number(terms.other_uncertainty),
              "edit: of the sensor's distances (m)"),
             ('robot_uncertainty', number(terms.robot_uncertainty),
              "edit: of the robot's own position (m)"),
             ('other_time', number(terms.other_time), 'edit: sensing, transport and driver: '
              'everything but the controller (s)')]
    return terms, '\n'.join(f'{name}: {value}  # {why}' for name, value, why in rows
                            if not (name in ('reach', 'robot_uncertainty') and value == '0.0'))


def _far_enough(answers: Answers, terms: Separation) -> tuple[float, Budget]:
    """Return the free way to the hazard (m) and the budget that it leaves the controller."""
    robot = answers.robot
    if robot.stopping is None:
        raise InputError('--stopping: got nothing, expected how the robot stops: the budget is '
                         'computed from it. Give the deceleration, or time and distance')
    top = terms.top_speed(robot)
    distance = answers.distance
    if distance is None:
        share = _USUAL_S if is_base(robot) else _USUAL_S / 2
        distance = math.ceil(terms.required(robot, top, share).total * 20) / 20
    left_ms = terms.budget_s(robot, distance) * 1e3
    critical = min(_LONGEST_MS, math.floor(left_ms * _SHARE / 10) * 10)
    if critical < _SHORTEST_MS:
        least = math.ceil(terms.required(robot, top, _SHORTEST_MS / _SHARE / 1e3).total * 100)
        raise InputError(
            f'--distance: got {distance:g} m, expected at least {least / 100:g} m: a stop '
            f'from {top:g} m/s needs {terms.required(robot, top, 0.0).total:.2f} m, which leaves '
            f'the controller {max(0.0, left_ms):.0f} ms. Show the hazard farther away, or '
            f'declare a slower robot or better brakes')
    if distance + terms.reach > _MOST_M:
        raise InputError(f'--distance: got {distance:.2f} m, expected at most '
                         f'{_MOST_M - terms.reach:.2f} m, so that something harmless can be shown '
                         f'behind it. Declare a slower robot, better brakes or a shorter distance')
    cap = '' if critical < _LONGEST_MS else f', at most {_LONGEST_MS} ms'
    return distance, Budget(
        _limits(critical), 'separation',
        f'{distance:g} m less the way of a stop from {top:g} m/s leave the controller '
        f'{left_ms:.0f} ms; critical_ms is {_SHARE:.0%} of that{cap}')


def _limits(critical: int) -> tuple[int, int, int]:
    return round(critical * 0.08) * 5, round(critical * 0.14) * 5, critical


def _scanner(places: tuple[str, ...]) -> Draw:
    return Draw('scanner', f'choice: [{_SCANNERS}]',
                tuple(f'ros.{place}.scanner' for place in places),
                'how the scanner is mounted; keep only yours if the controller supports no other')


def _list(*values: float) -> str:
    return f'[{", ".join(map(number, values))}]'


def _two_changes(stimuli: tuple[str, ...]) -> tuple[Change, ...]:
    return (Change('[800, 5000]', '[500, 2500]', stimuli),
            Change('[3000, 14000]', '[500, 2500]', stimuli))


def _person(answers: Answers) -> Template:
    robot, base = answers.robot, is_base(answers.robot)
    terms, separation = _terms(answers, _LEGS_M if base else 0.0)
    distance, budget = _far_enough(answers, terms)
    topics, rate = (('scan', 'human_pose'), 20) if base else (('human_pose',), 30)
    rows, pace = tuple(range(len(topics))), terms.approach_speed
    near = math.ceil((distance + terms.reach) * 100 - 1e-6) / 100
    far = near + 0.3 if near > 2.45 else max(near + 0.05, min(near + 0.4, 2.45))
    empty = max(_EMPTY_M, far + 2.1)
    away = (11.0, 11.3) if pace else (10.6, 11.25)
    # so that a step nearer is as long as one farther away
    before = max(empty + 1, (near + far + sum(away)) / 2 - empty)
    side = round(min(0.2, _IN_WAY_M / far), 3) if base else 2.0
    rest = round(terms.reach + 0.35, 2) if base else 1.1
    walking = f', speed: {number(pace)}' if pace else ''

    def shown(at: float, more: str = '') -> tuple[str, ...]:
        return tuple(f'{{kind: person, topic: {topic}, distance: {number(at)}{more}, '
                     f'rate_hz: {rate}}}' for topic in topics)

    states = () if base else (joint_states(robot),)
    noun = 'mobile base' if base else 'arm'
    title = 'walks toward' if pace else 'in the path of' if base else 'near'
    does = 'walks toward' if pace else 'steps into the path of' if base else 'steps near'
    both = (Draw('shown_by', 'choice: [[scan], [human_pose], [scan, human_pose]]',
                 ('keeps',), 'each sensor alone must do'),) if base else ()
    moves = (Draw('pace', f'{span(0.75 * pace, pace)}, unit: m/s',
                  sets('stimuli', 'speed', *rows)),) if pace else ()
    off = ', speed: {0}, nearest: 10.0' if pace else ', walks: {{speed: 1.4, direction: 0.7}}'
    return Template(
        tags=('person', robot.kind), nominal=(*shown(max(6.0, empty)), *states),
        changes=_two_changes(shown(11.0)),
        draws=(*((_scanner(('nominal.stimuli[0]', 'nominal.changes[0].stimuli[0]',
                            'nominal.changes[1].stimuli[0]', 'stimuli[0]')),) if base else ()),
               Draw('before', f'{span(empty, before)}, unit: m',
                    sets('nominal.stimuli', 'distance', *rows)),
               Draw('elsewhere', f'{span(empty, _FARTHEST_M)}, unit: m',
                    sets('nominal.changes[0].stimuli', 'distance', *rows)
                    + sets('nominal.changes[1].stimuli', 'distance', *rows))),
        hazard=Event(
            f'Person {title} the {noun}',
            f'A person {does} the {noun}, {distance:g} m away or a little more'
            + (f', at up to {pace:g} m/s' if pace else ', and stays there') + '. '
            'Sooner or later the person goes, and the robot may continue.',
            'Stop at once; stand still until the person is gone.',
            shown(near, f'{walking}, nearest: {number(rest)}' if pace else ''),
            'edit: distance is from the origin of the robot to the centre of the person (m)'
            if base else 'edit: distance is to the nearest point of the person (m)',
            (Draw('near', f'{span(near, far)}, unit: m', sets('stimuli', 'distance', *rows),
                  f'{distance:g} m of free way at least'), *moves,
             Draw('side', f'{span(-side, side)}, unit: rad',
                  sets('stimuli', 'bearing', *rows)), *both),
            ('{name: keeps its protective distance, kind: separation}',)),
        benign=Event(
            'Person far away',
            f'A person appears more than 10 m from the {noun}'
            + (' and comes no nearer.' if pace else ' and walks off.'),
            'Keep working.', shown(11.0, off.format(number(pace))),
            'edit: so far away that stopping would be wrong',
            (Draw('far', f'{span(*away)}, unit: m',
                  sets('stimuli', 'distance', *rows)), *moves,
             Draw('side', f'{span(-0.1, 0.1)}, unit: rad',
                  sets('stimuli', 'bearing', *rows)), *both)),
        budget=budget, slowest_hz=rate, separation=separation, reference=_stops_at(far))


def _stops_at(far: float) -> tuple[str, ...]:
    """Return what the reference needs to stop for a hazard that is so far away (m)."""
    return () if far <= _REFERENCE_M else (f'controller.stop_distance_m={far + 0.05:.2f}',)


def _obstacle(answers: Answers) -> Template:
    robot = answers.robot
    terms, separation = _terms(answers, 0.0)
    distance, budget = _far_enough(answers, terms)
    near = math.ceil((distance + terms.reach) * 100 - 1e-6) / 100
    far = near + 0.3 if near > 2.45 else max(near + 0.05, min(near + 0.4, 2.45))
    empty = max(6.0, far + 2.1)
    aside = [round(robot.footprint + off, 2) for off in (1.15, 1.65)]

    def wall(at: float) -> tuple[str, ...]:
        return (f'{{kind: obstacle, topic: scan, distance: {number(at)}, width: 4.0, '
                f'rate_hz: 20}}',)

    return Template(
        tags=('obstacle', robot.kind), nominal=wall(max(10.0, empty)),
        changes=_two_changes(wall(max(8.0, empty))),
        draws=(_scanner(('nominal.stimuli[0]', 'nominal.changes[0].stimuli[0]',
                         'nominal.changes[1].stimuli[0]', 'stimuli[0]')),
               Draw('hall', f'{span(empty, _FARTHEST_M)}, unit: m',
                    sets('nominal.stimuli', 'distance', 0)),
               Draw('other_hall', f'{span(empty, _FARTHEST_M)}, unit: m',
                    sets('nominal.changes[0].stimuli', 'distance', 0)
                    + sets('nominal.changes[1].stimuli', 'distance', 0))),
        hazard=Event(
            'Obstacle in the path of the mobile base',
            f'A box lies across the path of the mobile base, {distance:g} m away or a little '
            f'more. Sooner or later it is taken away, and the base may continue.',
            'Stop before the obstacle and wait.',
            (f'{{kind: obstacle, topic: scan, distance: {number(near)}, width: 1.2, '
             f'rate_hz: 20}}',),
            'edit: distance is from the origin of the robot to the face of the box (m)',
            (Draw('near', f'{span(near, far)}, unit: m', sets('stimuli', 'distance', 0),
                  f'{distance:g} m of free way at least'),
             Draw('size', 'choice: [1.2, 1.6, 2.4], unit: m', sets('stimuli', 'width', 0))),
            ('{name: keeps its protective distance, kind: separation}',)),
        benign=Event(
            'Obstacle beside the path',
            f'A box stands beside the path of the mobile base, its near edge at least '
            f'{aside[0] - 0.3:g} m from the middle.', 'Keep driving past it.',
            (f'{{kind: obstacle, topic: scan, distance: {number(near)}, lateral: '
             f'{number(aside[0])}, width: 0.6, rate_hz: 20}}',),
            'edit: lateral is from the middle of the path to the middle of the box (m)',
            (Draw('ahead', f'{span(near, far)}, unit: m', sets('stimuli', 'distance', 0)),
             Draw('beside', f'choice: {_list(-aside[1], -aside[0], *aside)}, unit: m',
                  sets('stimuli', 'lateral', 0)))),
        budget=budget, slowest_hz=20, separation=separation, reference=_stops_at(far))


def _collision(answers: Answers) -> Template:
    robot, limit = answers.robot, answers.force or _REFERENCE_N
    noun = 'mobile base' if is_base(robot) else 'tool of the arm'
    states = () if is_base(robot) else (joint_states(robot),)

    def wrench(force: float) -> str:
        return f'{{kind: contact, topic: wrench, force: {number(round(force, 2))}, rate_hz: 100}}'

    everywhere = ('nominal.stimuli[0]', 'nominal.changes[0].stimuli[0]',
                  'nominal.changes[1].stimuli[0]', 'stimuli[0]')

    def all_of(field: str) -> tuple[str, ...]:
        return tuple(f'ros.{place}.{field}' for place in everywhere)

    still = number(0.01 if not is_base(robot) else standing(robot))
    within = f', within: {150 + round(1e3 * (robot.stopping_s() or 0.0))}' \
        if is_base(robot) else ''
    return Template(
        tags=('contact', 'force', robot.kind), nominal=(wrench(limit / 8), *states),
        changes=_two_changes((wrench(-limit / 2),)),
        draws=(Draw('saturation',
                    f'choice: {_list(1.25 * limit, 2.5 * limit, 5 * limit)}, unit: N',
                    all_of('saturation'),
                    'what the sensor reads at most on an axis'),
               Draw('elevation', 'range: [-1.5707, 1.5707], unit: rad', all_of('elevation')),
               Draw('azimuth', 'range: [-3.14159, 3.14159], unit: rad', all_of('azimuth')),
               Draw('before', f'{span(0.3 * limit, 0.9 * limit)}, unit: N',
                    sets('nominal.stimuli', 'force', 0), 'forces of the work itself'),
               Draw('stroke', f'{span(-0.35 * limit, 0.9 * limit)}, unit: N',
                    sets('nominal.changes[0].stimuli', 'force', 0)
                    + sets('nominal.changes[1].stimuli', 'force', 0))),
        hazard=Event(
            f'Collision of the {noun}',
            f'The {noun} hits something that was not there before: the force sensor reports '
            f'{1.125 * limit:g} N or more, and the work needs {limit:g} N at most. Sooner or '
            f'later the contact ends.', 'Stop at once; do not push on.', (wrench(1.5 * limit),),
            'edit: forces in N; above the limit of the check below it is a collision',
            (Draw('force', f'{span(1.125 * limit, 1.55 * limit)}, unit: N',
                  sets('stimuli', 'force', 0)),),
            (f'{{name: does not push on into the contact, kind: force, at_most: {number(limit)}, '
             f'signal: {speed_signal(robot)}, push_at_most: {still}'
             f'{within}}}',)),
        benign=Event(
            'Force of the work',
            f'The force at the {noun} changes as much as in a collision, and remains within the '
            f'{limit:g} N of the work.', 'Keep working.', (wrench(-limit / 8),),
            'edit: forces in N that belong to the work',
            (Draw('force', f'{span(-0.35 * limit, 0.075 * limit)}, unit: N',
                  sets('stimuli', 'force', 0)),)),
        budget=Budget((75, 100, 150), 'engineering', 'three command periods of a controller at '
                      '20 Hz'), slowest_hz=100,
        reference=() if limit == _REFERENCE_N else (f'controller.force_limit_n={limit:g}',))


def _streams(answers: Answers) -> tuple[list[str], tuple[str, ...], tuple[Draw, ...]]:
    """Return topics that may fail, their nominal stimuli, and the draws of these."""
    person = '{kind: person, topic: human_pose, distance: 8.0, rate_hz: 20}'
    beat = '{kind: message, topic: heartbeat, message: std_msgs/msg/Empty, rate_hz: 20}'
    far = f'{span(6.0, _FARTHEST_M)}, unit: m'
    if not is_base(answers.robot):
        return (['human_pose', 'heartbeat'], (person, beat, joint_states(answers.robot)),
                (Draw('tracked', far, sets('nominal.stimuli', 'distance', 0)),
                 Draw('tracked_elsewhere', far,
                      sets('nominal.changes[1].stimuli', 'distance', 0))))
    return (['scan', 'human_pose', 'heartbeat'],
            ('{kind: obstacle, topic: scan, distance: 10.0, width: 4.0, rate_hz: 20}', person,
             beat),
            (_scanner(('nominal.stimuli[0]', 'nominal.changes[1].stimuli[0]')),
             Draw('tracked', far, sets('nominal.stimuli', 'distance', 1)),
             Draw('hall', far, sets('nominal.stimuli', 'distance', 0)),
             Draw('other_hall', far, sets('nominal.changes[1].stimuli', 'distance', 0))))


def _fresh(robot: RobotModel, name: str, topics: list[str]) -> str:
    return (f'{{name: {name}, kind: fresh, topics: [{", ".join(topics)}], max_age_ms: 500, '
            f'signal: {speed_signal(robot)}, at_most: {number(standing(robot))}}}')


def _stream_changes(nominal: tuple[str, ...], lost: str) -> tuple[Change, ...]:
    return (Change('[800, 5000]', '[500, 2500]',
                   (f'{{kind: link_loss, topic: {lost}, drop: 1}}',)),
            Change('[3000, 14000]', '[500, 2500]', (nominal[0].replace('10.0', '8.0'),)),
            Change('[2000, 12000]', '[500, 1500]',
                   (f'{{kind: link_loss, topic: {lost}, drop: 2}}',)))


_HALF_SECOND = Budget((350, 425, 500), 'command_timeout', 'half a second, the usual time-out for '
                      'commands of mobile bases: old data is worth no more')


def _sensor_frozen(answers: Answers) -> Template:
    topics, nominal, draws = _streams(answers)
    sensors = [topic for topic in topics if topic != 'heartbeat']
    fails = (Draw('fails', 'choice: [[scan], [human_pose], [scan, human_pose]]', ('keeps',),
                  'one sensor alone, while the others continue'),) if len(sensors) > 1 else ()
    noun = 'mobile base' if is_base(answers.robot) else 'arm'
    return Template(
        tags=('sensor', 'stale', answers.robot.kind), nominal=nominal,
        changes=_stream_changes(nominal, sensors[0]), draws=draws,
        hazard=Event(
            f'Frozen sensor of the {noun}',
            f'A sensor of the {noun} continues to publish at its rate, but the stamp and the '
            f'content stay those of its last good message. Sooner or later its driver restarts.',
            'Treat the data as lost; stop until it is fresh again.',
            tuple(f'{{kind: sensor_fault, topic: {topic}, fault: frozen}}' for topic in sensors),
            'edit: the sensors without which the robot may not move; other faults are possible',
            fails, (_fresh(answers.robot, 'no motion on frozen data', sensors),)),
        benign=Event(
            'One message repeated',
            f'One message of a sensor of the {noun} is lost, or two, and its driver publishes the '
            f'one before again, with the old stamp. The next one is fresh.', 'Keep working.',
            tuple(f'{{kind: sensor_fault, topic: {topic}, fault: frozen, messages: 1}}'
                  for topic in sensors),
            'edit: how many repeated messages are harmless',
            (*fails, Draw('missed', 'choice: [1, 2]',
                          sets('stimuli', 'messages', *range(len(sensors)))))),
        budget=_HALF_SECOND, slowest_hz=20)


def _link_lost(answers: Answers) -> Template:
    topics, nominal, draws = _streams(answers)
    fails = (Draw('fails', f'choice: [{", ".join(f"[{topic}]" for topic in topics)}]', ('keeps',),
                  'one alone, while the others continue'),)
    noun = 'mobile base' if is_base(answers.robot) else 'arm'
    return Template(
        tags=('link', 'communication', answers.robot.kind), nominal=nominal,
        changes=_stream_changes(nominal, 'heartbeat'), draws=draws,
        hazard=Event(
            f'Lost link of the {noun}',
            f'The {noun} may move only while its sensors and the heartbeat of the operator '
            f'arrive. One of them stops arriving. Sooner or later it returns.',
            'Stop by sending zero velocity until the link is back.',
            tuple(f'{{kind: link_loss, topic: {topic}}}' for topic in topics),
            'edit: the topics without which the robot may not move', fails,
            (_fresh(answers.robot, 'no motion without the link', topics),)),
        benign=Event(
            'One message lost',
            f'One message is lost on its way to the {noun}, or two. The next one is on time.',
            'Keep working.',
            tuple(f'{{kind: link_loss, topic: {topic}, drop: 1}}' for topic in topics),
            'edit: how many lost messages are harmless',
            (*fails, Draw('missed', 'choice: [1, 2]',
                          sets('stimuli', 'drop', *range(len(topics)))))),
        budget=_HALF_SECOND, slowest_hz=20)


KINDS: Mapping[str, Callable[[Answers], Template]] = {
    'person': _person, 'obstacle': _obstacle, 'collision': _collision,
    'sensor_frozen': _sensor_frozen, 'link_lost': _link_lost}
"""Kind of hazard to the function that makes its template."""
ROBOTS: Mapping[str, tuple[str, ...]] = {
    'mobile_base': tuple(KINDS),
    'arm': ('person', 'collision', 'sensor_frozen', 'link_lost')}
"""Kind of robot to the kinds of hazards that there are for it."""
MEASURES: Mapping[str, tuple[str, ...]] = {
    'person': ('distance', 'approach_speed'), 'obstacle': ('distance',), 'collision': ('force',)}
"""Kind of hazard to the answers that it uses."""


def template(answers: Answers) -> Template:
    """
    Return what the two files of an answer say.

    :raises InputError: no such hazard for this robot, an answer that it does not use, or a
        distance at which no controller can stop in time
    """
    kinds = ROBOTS[answers.robot.kind]
    if answers.kind not in kinds:
        raise InputError(f'--kind: got {answers.kind}, expected one of {", ".join(kinds)} for the '
                         f'robot {answers.robot.kind}')
    for name in ('distance', 'approach_speed', 'force'):
        if getattr(answers, name) is not None and name not in MEASURES.get(answers.kind, ()):
            raise InputError(f'--{name.replace("_", "-")}: got {getattr(answers, name):g}, '
                             f'expected nothing for the kind {answers.kind}. Leave it out')
    return KINDS[answers.kind](answers)
