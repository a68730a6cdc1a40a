# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A scenario as it is on the robot of a profile: its values, types, driver and frames."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import math
import os
from typing import Any

from pydantic import ValidationError
from safety_scenarios import registry
from safety_scenarios.errors import did_you_mean, MeasurementError, SafetyScenariosError
from safety_scenarios.formats.scenario_yaml.references import dangling
from safety_scenarios.lint.hazards import check_contact
from safety_scenarios.lint.quantities import check_robot
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.body import AgentsBody, RobotBody, Silence
from safety_scenarios.scenario.interfaces import command_message
from safety_scenarios.scenario.profile import driver_of, LASER_SCAN, Profile, ProfileRobot
from safety_scenarios.scenario.robot_drivers import with_drivers
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.stimulus import StimulusContext, StimulusPlugin
from safety_scenarios.scenario.world import BASE, refuse_circle
from safety_scenarios.trial.robot_fit import (
    drawn_over,
    Fit,
    leave_out,
    Path,
    placed,
    refuse_misfits,
    roles_of,
    scaled,
    stimuli_of,
    value_text,
    with_joints,
)

_PER_UNIT = 100
"""Steps of a top speed that are told apart in 1 m/s or 1 rad/s."""
NOTES = 'robot_profile'
"""Key of a scenario's metadata: the name of the profile, and what it has changed."""


def on_robot(settings: RunSettings, scenarios: Sequence[Scenario]) -> tuple[Scenario, ...]:
    """
    Return scenarios as they are on the robot of the settings; without a profile as they are.

    :raises ScenarioError: every reason why some of them cannot be run on that robot
    """
    fits = [fit(settings, scenario) for scenario in scenarios]
    refuse_misfits(settings, fits)
    return tuple(one.scenario for one in fits)


def fit(settings: RunSettings, scenario: Scenario) -> Fit:
    """Return what becomes of one scenario on the robot of the settings."""
    body = scenario.body
    if not has_robot(settings) or scenario.is_monitor \
            or not isinstance(body, (RobotBody, AgentsBody)):
        return Fit(scenario)
    return _Fitting(settings, settings.profile, scenario).fit()


def has_robot(settings: RunSettings) -> bool:
    """Return whether the settings say anything of a robot."""
    return bool(settings.profile or settings.topics or settings.absent or settings.driver
                or settings.frames or settings.robot != ProfileRobot())


def notes_of(scenario: Scenario) -> tuple[str, Sequence[str]] | None:
    """Return the name of the robot's profile and what it has changed; None: there is none."""
    found = scenario.metadata.get(NOTES)
    return (str(found.get('name', '')), tuple(found.get('notes', ()))) \
        if isinstance(found, Mapping) else None


class _Fitting:
    """
    Changes one scenario step by step, and collects what is in the way.

    :param name: of the profile, for messages; empty: single values were set
    """

    def __init__(self, profile: Profile, name: str, scenario: Scenario) -> None:
        self._profile, self._name, self._before = profile, name, scenario
        self._scenario = scenario
        self._notes = list(profile.near_misses)
        self._problems: list[tuple[Path, str]] = []
        self._last: Callable[[], None] = self._compare_kinds
        """What was changed last, and has found the problems if there are some."""

    def fit(self) -> Fit:
        """Return the scenario on the robot."""
        self._change()
        name = self._profile.robot.name or os.path.splitext(os.path.basename(self._name))[0]
        scenario = self._scenario.model_copy(update={'metadata': {
            **self._scenario.metadata, NOTES: {'name': name, 'notes': tuple(self._notes)}}})
        problems = {message: path for path, message in reversed(self._problems)}
        return Fit(scenario, tuple(placed(self._before, path, message)
                                   for message, path in reversed(problems.items())),
                   tuple(self._notes), True, self._last in (self._look_for_roles, self._leave_out),
                   self._fits_up_to() if self._is_too_fast else None)

    def _change(self) -> '_Fitting':
        """Change the scenario step by step, as far as nothing is in the way."""
        for step in (self._compare_kinds, self._look_for_roles, self._leave_out, self._set_robot,
                     self._set_types, self._set_driver, self._set_frames, self._add_reference,
                     self._look_at_whole):
            if not self._problems:
                self._last = step
                step()
        return self

    @property
    def _is_too_fast(self) -> bool:
        """Whether a slower robot might do."""
        return bool(self._problems and self._last == self._look_at_whole and self._body.robot)

    def _fits_up_to(self) -> float | None:
        """Return the highest top speed at which it can be run; None: the speed is not why."""
        fits, too_fast = 0, math.ceil(self._body.robot.max_speed * _PER_UNIT)
        while too_fast - fits > 1:
            middle = (fits + too_fast) // 2
            if self._as_fast_as(middle / _PER_UNIT)._is_too_fast:
                too_fast = middle
            else:
                fits = middle
        found = fits / _PER_UNIT
        return found if fits and not self._as_fast_as(found)._problems else None

    def _as_fast_as(self, speed: float) -> '_Fitting':
        robot = self._profile.robot.model_copy(update={'max_speed': speed})
        return _Fitting(self._profile.model_copy(update={'robot': robot}), self._name,
                        self._before)._change()

    @property
    def _body(self) -> Any:
        return self._scenario.body

    def _update(self, **changes: Any) -> None:
        self._scenario = self._scenario.model_copy(update={
            'body': self._scenario.body.model_copy(update=changes)})

    def _refuse(self, path: Path, message: str) -> None:
        self._problems.append((path, message))

    @property
    def _who(self) -> str:
        return f'the profile {self._name}' if self._name else 'the robot of the settings'

    def _compare_kinds(self) -> None:
        wanted, robot = self._profile.robot.kind, self._body.robot
        if wanted and robot is not None and wanted != robot.kind:
            self._refuse(('ros', 'robot', 'kind'), (
                f'got {robot.kind}, and {self._who} is of the kind {wanted}, expected the same '
                f'kind. Choose a scenario or a profile of the other kind'))

    def _look_for_roles(self) -> None:
        if self._name or self._profile.topics or self._profile.absent:
            self._problems += self._missing_roles()

    def _missing_roles(self) -> Iterator[tuple[Path, str]]:
        """Yield each role that the profile neither has nor declares absent."""
        profile, stimuli = self._profile, {one.topic for one in stimuli_of(self._body)}
        lacking = {role for role in roles_of(self._body)
                   if role in stimuli and role not in profile.topics}
        is_spare = isinstance(self._body, RobotBody) and not leave_out(
            self._body, lacking | {*profile.absent}, StimulusContext(
                self._before.id, self._before.messages, None)).problems
        for role, (path, interface) in roles_of(self._body).items():
            if role in profile.topics:
                continue
            if role in profile.absent:
                if role not in stimuli:
                    yield path, (
                        f'got {role} under absent in {self._who}, expected it under topics: this '
                        f'scenario is judged by it. Run it on another robot')
                continue
            kind = f', type: {interface}' if interface else ''
            absent = '' if role not in stimuli else \
                f'. If the robot has none, add "absent: [{role}]"' if is_spare else \
                '. A robot that has none cannot run it: nothing else shows its hazard'
            yield path, (
                f'got the role {role}, which {self._who} does not list, expected it under topics. '
                f'Add "topics: {{{role}: {{topic: {role}{kind}}}}}" with its name on the robot'
                f'{absent}.{did_you_mean(role, (*profile.topics, *profile.absent))}'
            ).removesuffix('.')

    def _leave_out(self) -> None:
        body, absent = self._body, self._profile.absent
        if not isinstance(body, RobotBody):
            for one in stimuli_of(body):
                if one.topic in absent:
                    self._refuse((), f'got {one.topic} under absent in {self._who}, expected it '
                                     f'under topics: the rules of a conversation cannot do '
                                     f'without what it shows there')
            return
        left = leave_out(body, absent, StimulusContext(
            self._before.id, self._before.messages, None))
        self._problems += left.problems
        self._notes += left.notes
        text = repr([one.model_dump() for one in left.body.invariants])
        self._problems += [(('ros', 'invariants'), (
            f'got truth.{role} in an invariant, and {role} is absent in {self._who}, expected a '
            f'role that the robot has. Run it on another robot'))
            for role in absent if f'truth.{role}.' in text]
        self._scenario = self._scenario.model_copy(update={'body': left.body})

    def _set_robot(self) -> None:
        wanted, old = self._profile.robot, self._body.robot
        if wanted == ProfileRobot() or old is None:
            return
        values = dict(wanted.values)
        if wanted.joints and old.joints and len(wanted.joints) != len(old.joints):
            self._refuse(('ros', 'robot', 'joints'), (
                f'got {len(old.joints)} joints, and {self._who} has {len(wanted.joints)}, '
                f"expected as many: they take each other's places in order"))
            return
        try:
            new = RobotModel.model_validate({
                **{name: getattr(old, name) for name in old.model_fields_set}, **values})
        except ValidationError as error:
            self._refuse(('ros', 'robot'), str(error.errors()[0]['msg']))
            return
        self._notes += [f'ros.robot.{name}: {value_text(getattr(new, name))} instead of '
                        f'{value_text(getattr(old, name))}' for name in values
                        if getattr(new, name) != getattr(old, name) and name != 'joints']
        self._update(robot=new)
        self._notes[:0] = [f'ros.robot.{one.field[-1]}: {one.message}'  # a table cuts off the end
                           for one in check_robot(self._scenario) if values.keys() & {*one.field}]
        if new.joints and old.joints and new.joints != old.joints:
            self._rename(dict(zip(old.joints, new.joints, strict=True)))
        if isinstance(self._body, RobotBody):
            before = self._body
            self._compare_brakes(before, new)
            self._refit(before, old, new)
            self._problems += drawn_over(before, self._body)

    def _compare_brakes(self, body: RobotBody, robot: RobotModel) -> None:
        """Refuse a robot that would need more grip than the floor of the scenario's world has."""
        braking = robot.deceleration() or 0.0
        floor = None if body.world is None else body.world.floor.dry_friction
        most = math.inf if floor is None else kind_of(robot).most_deceleration(floor)
        if braking > most:
            self._refuse(('ros', 'world', 'floor'), (
                f'got the friction {floor:g}, on which wheels brake at most at {most:.3g} m/s^2, '
                f'and {self._who} brakes at {braking:.3g}, expected robot.stopping as measured on '
                f'such a floor'))

    def _rename(self, joints: Mapping[str, str]) -> None:
        """Give the joints of the scenario the names that they have on the robot."""
        body, found = self._body, dict[str, Any]()
        for name in ('nominal', 'stimuli', 'invariants'):
            if name in type(body).model_fields:
                found[name] = with_joints(getattr(body, name), joints)
        found['vary'] = {name: draw.model_copy(update={'sets': tuple(
            '.'.join(joints.get(step, step) for step in path.split('.')) for path in draw.sets)})
            for name, draw in body.vary.items()}
        self._notes.append(f'ros.robot.joints: {", ".join(joints.values())} instead of '
                           f'{", ".join(joints)}')
        self._update(**found)

    def _refit(self, body: RobotBody, old: RobotModel, new: RobotModel) -> None:
        """Change what depends on the robot's top speed and on its radius."""
        unit = kind_of(new).speed_unit
        body, notes = scaled(body, new.max_speed / old.max_speed)
        self._notes += notes
        body = self._braking_late(self._reaching(body, new), old, new)
        body = body.model_copy(update={'invariants': tuple(
            one.model_copy(update={'at_most': new.max_speed})
            if getattr(one, 'top_speed', False) else one for one in body.invariants)})
        wider = new.footprint - old.footprint
        if kind_of(new).drives and wider:
            changes: dict[str, Any] = {'invariants': tuple(
                one.model_copy(update={'radius': max(0.0, radius + wider)})
                if isinstance(radius := getattr(one, 'radius', None), float) and radius else one
                for one in body.invariants)}
            if body.separation is not None and body.separation.reach:
                reach = max(0.0, body.separation.reach + wider)
                self._notes.append(f'ros.separation.reach: {reach:.3g} instead of '
                                   f'{body.separation.reach:g} m, by the radius of the robot')
                changes['separation'] = body.separation.model_copy(update={'reach': reach})
            body = body.model_copy(update=changes)
        self._scenario = self._scenario.model_copy(update={'body': body})
        for name in ('reaction', 'confirmation'):
            block = getattr(body, name)
            if block is not None and all(self._always_holds(limit, body, new, unit)
                                         for limit in block.limits):
                self._refuse(('ros', name), (
                    f'got {block}, which a robot of at most {new.max_speed:g} {unit} always '
                    f'meets, so that it would show nothing, expected a limit below the top speed. '
                    f'Run it on a faster robot'))

    def _reaching(self, body: RobotBody, robot: RobotModel) -> RobotBody:
        """Let the speed of an arm's farthest point follow from its reach."""
        terms, reach = body.separation, self._profile.robot.reach
        if terms is None or not kind_of(robot).has_joints \
                or body.signals[terms.signal].unit != kind_of(robot).speed_unit:
            return body
        if not reach:
            self._notes.append(f'ros.separation.metres_per_unit: {terms.metres_per_unit:g}, as in '
                               f'the scenario: the profile has no robot.reach')
            return body
        if reach != terms.metres_per_unit:
            self._notes.append(f'ros.separation.metres_per_unit: {reach:g} instead of '
                               f'{terms.metres_per_unit:g}, by the reach of the robot')
        return body.model_copy(update={'separation': terms.model_copy(update={
            'metres_per_unit': reach})})

    def _braking_late(self, body: RobotBody, old: RobotModel, new: RobotModel) -> RobotBody:
        """Count what the brakes take beside what the scenario says of sensing and transport."""
        terms, more_s = body.separation, (new.brake_delay or 0.0) - (old.brake_delay or 0.0)
        if terms is None or not more_s:
            return body
        time_s = max(0.0, terms.other_time + more_s)
        self._notes.append(f'ros.separation.other_time: {time_s:.3g} instead of '
                           f'{terms.other_time:g} s, by the delay of the brakes')
        return body.model_copy(update={'separation': terms.model_copy(update={
            'other_time': time_s})})

    @staticmethod
    def _always_holds(limit: Limit, body: RobotBody, robot: RobotModel, unit: str) -> bool:
        signal = body.signals.get(limit.signal)
        require = body.nominal.require
        moving = require.at_least if require.signal == limit.signal and require.at_least else \
            robot.max_speed
        return limit.at_least is None and limit.at_most is not None and signal is not None \
            and signal.unit == unit and limit.at_most >= min(moving, robot.max_speed)

    def _set_types(self) -> None:
        topics = self._profile.topics
        for name in ('commands', 'feedback'):
            typed = []
            for index, one in enumerate(getattr(self._body, name)):
                wanted = topics[one.topic].type if one.topic in topics else ''
                if wanted and one.message not in ('auto', wanted):
                    self._refuse(('ros', name, index, 'message'), self._other_type(
                        one.topic, one.message, wanted) + ', or write message: auto')
                typed.append(one.model_copy(update={'message': wanted or one.message}))
            self._update(**{name: tuple(typed)})
        self._each_stimulus(self._typed)
        if not self._problems:
            self._problems += self._unreadable()

    def _typed(self, plugin: StimulusPlugin, path: Path) -> StimulusPlugin:
        topic, interface = self._profile.topics.get(plugin.topic), plugin.interface()
        if topic is None or not topic.type or interface in (None, topic.type):
            return plugin
        if 'message' in type(plugin).model_fields and plugin.kind != 'message':
            own = {name: getattr(plugin, name) for name in plugin.model_fields_set}
            try:
                return type(plugin).model_validate({**own, 'message': topic.type})
            except ValidationError:
                pass
        self._refuse((*path, 'topic'), self._other_type(plugin.topic, str(interface), topic.type))
        return plugin

    def _other_type(self, role: str, got: str, wanted: str) -> str:
        return (f'got {got} on {role}, and {self._who} has {wanted} there, expected one type. '
                f'Correct topics.{role}.type')

    def _unreadable(self) -> Iterator[tuple[Path, str]]:
        """Yield each signal that cannot be read from commands of the robot's type."""
        body = self._body
        if body.robot is None:
            return
        types = {one.topic: one.message for one in body.commands if one.message != 'auto'}
        kind, joints = kind_of(body.robot), body.robot.joints
        for name, signal in body.signals.items():
            interface = types.get(signal.topic)
            if interface is None:
                continue
            try:
                message = command_message(interface, kind.stop, joints, dict.fromkeys(joints, 0.0))
                signal.value(message, None)
            except LookupError as error:
                yield ('ros', 'signals', name, 'field'), (
                    f'got {signal.field}, which {interface} of {self._who} does not have '
                    f'({error}). Run it on a robot with another command type')
            except (SafetyScenariosError, MeasurementError):
                continue  # no controller of ours writes it; one of the robot's may

    def _set_driver(self) -> None:
        body = self._body
        if body.robot is None or not body.commands:
            return
        driver = driver_of(self._profile.driver) if self._profile.driver else None
        commands = []
        for index, one in enumerate(body.commands):
            own = None if one.driver is not None and one.driver.assumed else one.driver
            if driver is not None:
                known = set(driver.accepted_types)
                if known and (one.message not in known if one.message != 'auto'
                              else known.isdisjoint(kind_of(body.robot).command_types)):
                    self._refuse(('ros', 'commands', index), (
                        f'got commands of {one.message} to {body.robot.kind}, and the driver '
                        f'{driver.kind} of {self._who} takes {", ".join(driver.accepted_types)}, '
                        f'expected a driver of that type. Correct driver or topics.{one.topic}.'
                        f'type'))
                if own is not None and own != driver:
                    self._notes.append(f'ros.commands[{index}].driver: {driver.kind} of the '
                                       f'robot instead of {own.kind}')
            commands.append(one.model_copy(update={'driver': driver or own}))
        changes: dict[str, Any] = {'commands': tuple(commands)}
        if driver is not None and isinstance(body, RobotBody):
            changes['silence'] = Silence()  # the robot's own driver says what silence means
        self._update(**changes)
        self._scenario = with_drivers(self._scenario, registry.resolve)

    def _set_frames(self) -> None:
        places = {one.frame: one for one in self._profile.mounted_frames}
        if places and isinstance(self._body, RobotBody):
            frames = (*(one for one in self._body.frames if one.frame not in places),
                      *places.values())
            try:
                refuse_circle({one.frame: one.parent for one in frames})
            except ValueError as error:
                self._refuse(('ros', 'frames'), f'{error}: those of {self._who} are among them')
            self._update(frames=frames)

        def framed(plugin: StimulusPlugin, path: Path) -> StimulusPlugin:
            topic = self._profile.topics.get(plugin.topic)
            if topic is None or not topic.frame or plugin.interface() is None \
                    or 'frame' not in type(plugin).model_fields:
                return plugin  # a fault alters messages, whose frame is theirs
            place = places.get(topic.frame)
            if plugin.interface() == LASER_SCAN:
                try:
                    self._profile.scanner_place(plugin.topic)
                except ValueError as error:
                    self._refuse((*path, 'topic'), f'{self._who}: {error}')
            elif place is not None and (place.parent != BASE or place.is_aside):
                self._refuse((*path, 'topic'), (
                    f'got {plugin.topic} in the frame {topic.frame}, which is not at the origin '
                    f'of the robot, expected it there: only what scanners see is moved to '
                    f'another frame. Leave out topics.{plugin.topic}.frame'))
            return plugin.model_copy(update={'frame': topic.frame})
        self._each_stimulus(framed)

    def _each_stimulus(self, change: Callable[[StimulusPlugin, Path], StimulusPlugin]) -> None:
        """Replace each stimulus of a robot's body by what a function makes of it."""
        body = self._body
        if not isinstance(body, RobotBody):
            return

        def changed(several: Iterable[StimulusPlugin], path: Path) -> tuple[StimulusPlugin, ...]:
            return tuple(change(one, (*path, index)) for index, one in enumerate(several))
        nominal, before = body.nominal, ('ros', 'nominal')
        self._update(
            stimuli=changed(body.stimuli, ('ros', 'stimuli')),
            nominal=nominal.model_copy(update={
                'stimuli': changed(nominal.stimuli, (*before, 'stimuli')),
                'changes': tuple(one.model_copy(update={'stimuli': changed(
                    one.stimuli, (*before, 'changes', index, 'stimuli'))})
                    for index, one in enumerate(nominal.changes))}))

    def _add_reference(self) -> None:
        """Receive what the robot reports of its motion, unless a stimulus is shown there."""
        body = self._body
        known = {one.topic for one in (*body.feedback, *body.commands, *stimuli_of(body))}
        added = [role for role in self._profile.reference if role not in known]
        if added and body.robot is not None:
            self._notes.append(f'ros.feedback: {", ".join(added)} is received too')
            self._update(feedback=(*body.feedback, *(CommandTopic(
                topic=role, message=self._profile.topics[role].type or 'auto')
                for role in added)))

    def _look_at_whole(self) -> None:
        """Refuse what contradicts itself only now."""
        if isinstance(self._body, RobotBody):
            known = set(dangling(_as_data(self._before)))
            self._problems += [one for one in dangling(_as_data(self._scenario))
                               if one not in known]
            if not [*check_contact(self._before, self._before.robot_body)]:
                self._problems += [(one.field, one.message)
                                   for one in check_contact(self._scenario, self._body)]


def _as_data(scenario: Scenario) -> Mapping[str, Any]:
    """Return a scenario as its reader prepares it, with plug-ins in their places."""
    body = scenario.robot_body
    ros = body.model_dump()
    ros['commands'] = tuple({**one.model_dump(), 'driver': one.driver} for one in body.commands)
    ros['nominal'] |= {'stimuli': body.nominal.stimuli, 'changes': tuple(
        {'stimuli': one.stimuli} for one in body.nominal.changes)}
    return {'domain': scenario.domain, 'latency_budget': scenario.latency_budget.model_dump(),
            'ros': {**ros, 'stimuli': body.stimuli, 'invariants': body.invariants}}
