# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What of a scenario does not fit a robot: topics, roles, names and speeds, and what is left."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
import math
import shlex
from typing import Any

from safety_scenarios.errors import counted, Problem, ScenarioError
from safety_scenarios.formats.document.file_contents import file_of, raw_of
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.profile_file import load_profile, profile_path
from safety_scenarios.lint.pairs import hazards_of
from safety_scenarios.scenario.blocks.agents import AGENTS
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.vary import Draw, steps_to, STIMULI, value_at
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.message import parse_path
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.stimulus import BodyIntent, StimulusContext, StimulusPlugin
from safety_scenarios.trial.trial import PROMPT, RESPONSE

Path = tuple[str | int, ...]
_NOMINAL, _CHANGES = ('ros', 'nominal', 'stimuli'), ('ros', 'nominal', 'changes')
_HAZARD = ('ros', 'stimuli')


@dataclass
class ReducedBody:
    """What is left of a scenario's body, and what is not."""

    body: RobotBody
    _left_out: dict[str, list[str]] = field(default_factory=dict)
    problems: list[tuple[Path, str]] = field(default_factory=list)
    """Field path and what is wrong: the hazard could not be shown."""
    _places: dict[Path, Mapping[int, int]] = field(default_factory=dict)
    """List in the file to the old and new indices of what is left in it."""

    @property
    def notes(self) -> list[str]:
        """Return what is left out, a sentence for each topic."""
        return [f'{topic} is left out: {", ".join(sorted(places))}'
                for topic, places in self._left_out.items()]

    def keep(self, path: Path, stimuli: Sequence[StimulusPlugin],
             absent: Collection[str]) -> tuple[StimulusPlugin, ...]:
        """Return the stimuli of one list that stay, and remember their places."""
        kept = [index for index, one in enumerate(stimuli) if one.topic not in absent]
        self._places[path] = {old: new for new, old in enumerate(kept)}
        for index, one in enumerate(stimuli):
            if index not in kept:
                self._left_out.setdefault(one.topic, []).append(dotted((*path, index)))
        return tuple(stimuli[index] for index in kept)

    def renumber(self, path: Path, kept: Iterable[int]) -> None:
        """Remember which entries of another list stay."""
        self._places[path] = {old: new for new, old in enumerate(kept)}

    def moved(self, path: str) -> str | None:
        """Return where the field of a path is now; None: it is left out with its stimulus."""
        steps = parse_path(path)
        found: list[str | int] = []
        for index, step in enumerate(steps):
            places = self._places.get(steps[:index])
            if places is not None and isinstance(step, int):
                if step not in places:
                    return None
                step = places[step]
            found.append(step)
        return dotted(tuple(found))


def leave_out(body: RobotBody, absent: Collection[str], context: StimulusContext) -> ReducedBody:
    """
    Return a body without the stimuli on some topics; its draws set the same fields as before.

    A stimulus of the hazard is left out only where another one shows the same thing.
    """
    left = ReducedBody(body)
    if not any(one.topic in absent for one in body.published):
        return left
    left.problems += _unshown(body.stimuli, absent, context)
    nominal, changes = body.nominal, []
    for index, change in enumerate(nominal.changes):
        kept = left.keep((*_CHANGES, index, 'stimuli'), change.stimuli, absent)
        if kept:
            changes.append((index, change.model_copy(update={'stimuli': kept})))
    left.renumber(_CHANGES, (index for index, _ in changes))
    update: dict[str, Any] = {
        'nominal': nominal.model_copy(update={
            'stimuli': left.keep(_NOMINAL, nominal.stimuli, absent),
            'changes': tuple(change for _, change in changes)}),
        'stimuli': left.keep(_HAZARD, body.stimuli, absent)}
    vary: dict[str, Draw] = {}
    for name, draw in body.vary.items():
        if draw.keeps is not None:
            shown = [kept for topics in draw.choice or ()
                     if (kept := tuple(topic for topic in topics if topic not in absent))]
            if len(shown) > 1:
                vary[name] = draw.model_copy(update={'choice': tuple(shown)})
            elif shown:
                update['stimuli'] = tuple(one for one in update['stimuli']
                                          if one.topic in shown[0])
            else:
                left.problems.append((('ros', 'vary', name, 'choice'), (
                    f'got only choices of {", ".join(sorted(absent))}, which the robot does not '
                    f'have, expected one of another topic that shows the hazard')))
            continue
        sets = tuple(moved for path in draw.sets if (moved := left.moved(path)) is not None)
        if sets:
            vary[name] = draw.model_copy(update={'sets': sets})
    update['invariants'] = tuple(_without(one, absent) for one in body.invariants)
    left.body = body.model_copy(update={**update, 'vary': vary})
    return left


def _without(plugin: InvariantPlugin, absent: Collection[str]) -> InvariantPlugin:
    """Return an invariant about the messages of several topics without those that are absent."""
    update = {name: kept for name in plugin.names_stimuli
              if isinstance(topics := getattr(plugin, name, None), tuple)
              and (kept := tuple(topic for topic in topics if topic not in absent))
              and kept != topics}
    return plugin.model_copy(update=update) if update else plugin


def _unshown(stimuli: Sequence[StimulusPlugin], absent: Collection[str],
             context: StimulusContext) -> Iterator[tuple[Path, str]]:
    """Yield which stimuli of the hazard nothing else shows."""
    shown = [_published_by(one, context) for one in stimuli if one.topic not in absent]
    for index, one in enumerate(stimuli):
        own = _published_by(one, context)
        if one.topic in absent and (own is None or own not in shown):
            yield (*_HAZARD, index, 'topic'), (
                f'got the hazard {one.kind} on {one.topic}, which the robot does not have, and no '
                f'other stimulus under {STIMULI} shows the same, expected one on a topic of the '
                f'robot. Add such a stimulus, or run this scenario on another robot')


def _published_by(plugin: StimulusPlugin, context: StimulusContext) -> Any:
    """
    Return what a stimulus shows, whatever its topic; None: that cannot be compared.

    It is a body in the world, or what is wrong with the messages of a topic.
    """
    intent = plugin.intent(context)
    if isinstance(intent, BodyIntent):
        return intent
    return plugin.model_copy(update={'topic': '', 'rate_hz': 0.0}) \
        if plugin.interface() is None else None


def dotted(path: Path) -> str:
    """Return a field path as text, such as ``ros.stimuli[0].distance``."""
    text = ''
    for step in path:
        text += f'[{step}]' if isinstance(step, int) else f'{"." if text else ""}{step}'
    return text


@dataclass(frozen=True)
class Fit:
    """What becomes of one scenario on a robot."""

    scenario: Scenario
    problems: tuple[Problem, ...] = ()
    """Why it cannot be run there, each once, with what to do."""
    notes: tuple[str, ...] = ()
    """What is left out or otherwise than in the file."""
    is_on_robot: bool = False
    """Whether there is a robot in it at all."""
    is_missing: bool = False
    """Whether ``problems`` are about what the robot does not have."""
    fits_up_to: float | None = None
    """At this top speed nothing of ``problems`` would be wrong; None: it is not the speed."""

    @property
    def why(self) -> str:
        """Return what kind of reason ``problems`` are; of the speed with that at which it fits."""
        robot = self.scenario.body.robot
        if self.fits_up_to is None or robot is None:
            return 'missing' if self.is_missing else 'does not fit'
        unit = kind_of(robot).speed_unit
        return f'too fast: {robot.max_speed:g} {unit}, fits up to {self.fits_up_to:g} {unit}'


def refuse_misfits(settings: RunSettings, fits: Sequence[Fit]) -> None:
    """
    Refuse scenarios that cannot be run on the robot of the settings.

    :raises ScenarioError: each reason once, and how to run the rest
    """
    cannot = sum(bool(one.problems) for one in fits)
    if cannot:
        rest = command_of_rest(settings, fits)
        raise ScenarioError(_grouped(settings, fits), () if not rest else [
            f'{cannot} of {len(fits)} scenarios cannot be run on this robot. '
            f'{_without_hazard(fits)}To run the other '
            f'{len(fits) - cannot}: {rest}'])


def _without_hazard(fits: Sequence[Fit]) -> str:
    """Return which benign variants would be run without any hazard of theirs."""
    left_out, run = ({one.scenario.id for one in fits if bool(one.problems) == refused}
                     for refused in (True, False))
    alone = [one.scenario.id for one in fits if not one.problems and (
        hazards := {*hazards_of(one.scenario)}) & left_out and not hazards & run]
    return f'Benign variants whose hazard is left out: {", ".join(alone)}. ' if alone else ''


def command_of_rest(settings: RunSettings, fits: Sequence[Fit]) -> str:
    """Return the command line that runs those that can be run; empty: none or all can."""
    skip = tuple(one.scenario.id for one in fits if one.problems)
    if len(skip) in (0, len(fits)):
        return ''
    selection = settings.selection.model_copy(update={'skip': (*settings.selection.skip, *skip)})
    profile = load_profile(settings.profile) if settings.profile else None
    command = settings.model_copy(update={'selection': selection}).command(profile)
    output = f' --output {shlex.quote(settings.output)}' if settings.output else ''
    return command + output


def _grouped(settings: RunSettings, fits: Sequence[Fit]) -> Iterator[Problem]:
    """Yield each reason once, with the scenarios that it concerns."""
    groups: dict[str, dict[str, Problem]] = {}
    for one in fits:
        for problem in one.problems if one.fits_up_to is None else ():
            groups.setdefault(problem.message, {}).setdefault(one.scenario.id, problem)
    for message, found in groups.items():
        whose = f'all {len(found)} scenarios' if len(found) == len(fits) else ', '.join(found)
        yield next(iter(found.values())) if len(found) == 1 else _profile_problem(
            settings, (), f'{message} ({whose})')
    fast = [one for one in fits if one.fits_up_to is not None]
    if len(fits) == 1:
        yield from (replace(problem, message=f'{one.why}: {problem.message}')
                    for one in fast for problem in one.problems)
    elif fast:
        yield _profile_problem(settings, ('robot', 'max_speed'), (
            f'too fast for {counted(len(fast), "scenario")}: the hazard is so near that the '
            f'budget leaves no time to stop. '
            + ', '.join(f'{one.scenario.id} {one.why.partition(", ")[2]}' for one in fast)
            + '. To run them, let the driver of the robot limit it to such a speed, and declare '
              'that by --set robot.max_speed'))


def drawn_over(before: RobotBody, after: RobotBody) -> Iterator[tuple[Path, str]]:
    """Yield each draw of a value that follows from the robot: it would replace the robot's own."""
    for name, draw in after.vary.items():
        for path in draw.sets:
            steps = steps_to(path)[1:]
            given, own = value_at(before, steps), value_at(after, steps)
            if given != own:
                yield ('ros', 'vary', name), (
                    f'got a draw of {path}, which the robot changes from {given:g} to {own:g}, '
                    f'expected a value that does not depend on the robot: each draw would replace '
                    f'that of the robot. Remove the draw from the scenario')


def placed(scenario: Scenario, path: Path, message: str) -> Problem:
    """Return a problem with its place in a scenario's file, where that can be read."""
    origin = scenario.origin
    if origin is None:
        return Problem(scenario.id, None, None, dotted(path), message)
    raw = raw_of(file_of(origin.path)) if file_of(origin.path) == origin.path else None
    if not isinstance(raw, bytes):
        return Problem(origin.path, None, None, dotted(path), message)
    return Document.of(origin.path, raw).problem(path, message)


def _profile_problem(settings: RunSettings, path: Path, message: str) -> Problem:
    """Return a problem with its place in the profile's file, where there is one."""
    name = settings.profile and str(profile_path(settings.profile))
    raw = raw_of(name) if name else None
    return Document.of(name, raw).problem(path, message) if isinstance(raw, bytes) and path \
        else Problem(name or 'settings', None, None, dotted(path), message)


_OF_THE_HARNESS = (PROMPT, RESPONSE)
_FIXED = ('kind', 'topic', 'name', 'frame', 'message', 'signal')
"""Fields of plug-ins that hold no name of a joint."""


def stimuli_of(body: Any) -> tuple[StimulusPlugin, ...]:
    """Return each stimulus of a scenario once, those of the nominal phase included."""
    return tuple(one for one in {id(one): one for one in (*body.published, *body.hazard)}.values())


def roles_of(body: Any) -> Mapping[str, tuple[Path, str]]:
    """Return each role of a scenario with where it is first named, and its type if known."""
    found: dict[str, tuple[Path, str]] = {}
    lists: list[tuple[Path, Sequence[Any]]] = [
        (('ros', 'commands'), body.commands), (('ros', 'feedback'), body.feedback)]
    if isinstance(body, RobotBody):
        lists += [(('ros', 'nominal', 'stimuli'), body.nominal.stimuli),
                  (('ros', 'stimuli'), body.stimuli), *(
            (('ros', 'nominal', 'changes', index, 'stimuli'), change.stimuli)
            for index, change in enumerate(body.nominal.changes))]
    else:
        lists.append(((), body.hazard))
    for path, several in lists:
        for index, one in enumerate(several):
            kind = one.message if isinstance(one, CommandTopic) else one.interface()
            place = (*path, index, 'topic') if path else ()
            if one.topic not in found or not found[one.topic][1]:
                found[one.topic] = (found.get(one.topic, (place, ''))[0],
                                    '' if kind in (None, 'auto') else str(kind))
    if body.onset is not None:
        found.setdefault(body.onset.topic, (('ros', 'onset', 'topic'), ''))
    for name, signal in body.signals.items():
        for reading in ('topic', 'current'):
            topic = getattr(signal, reading)
            if topic is not None:
                found.setdefault(topic, (('ros', 'signals', name, reading), ''))
    if body.world is not None and body.world.camera is not None:
        for topic, kind in body.world.camera.interfaces.items():
            found.setdefault(topic, (('ros', 'world', 'camera'), kind))
    return {role: one for role, one in found.items()
            if role not in _OF_THE_HARNESS and not role.startswith(f'{AGENTS}/')}


def with_joints(value: Any, names: Mapping[str, str]) -> Any:
    """Return data in which each text that is a joint's name is its new one."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, Noun):
        own = {name: getattr(value, name) for name in value.model_fields_set}
        new = {name: one if name in _FIXED else with_joints(one, names)
               for name, one in own.items()}
        return value if new == own else type(value).model_validate(new)
    if isinstance(value, Mapping):
        return {names.get(key, key): with_joints(inner, names) for key, inner in value.items()}
    return tuple(with_joints(inner, names) for inner in value) \
        if isinstance(value, (tuple, list)) else value


def scaled(body: RobotBody, share: float) -> tuple[RobotBody, list[str]]:
    """
    Return a body whose least speeds are a share of what they were, and what has changed.

    These are the speed before the hazard, and each speed that a check demands of a robot which is
    not to stop.

    :param share: top speed of the robot over that of the scenario; from 1 on nothing changes
    """
    unit, notes = kind_of(body.robot).speed_unit, list[str]()

    def slower(asks: Any, where: str) -> Any:
        least = getattr(asks, 'at_least', None)
        signal = body.signals.get(getattr(asks, 'signal', None) or '')
        if not least or least < 0 or signal is None or signal.unit != unit:
            return asks
        notes.append(f'{where}.at_least: {least * share:.3g} instead of {least:g} {unit}, as the '
                     f'robot is slower')
        return asks.model_copy(update={'at_least': least * share})
    if share >= 1:
        return body, notes
    require = slower(body.nominal.require, 'ros.nominal.require')
    return body.model_copy(update={
        'nominal': body.nominal.model_copy(update={'require': require}),
        'invariants': tuple(slower(one, f'ros.invariants[{index}]')
                            for index, one in enumerate(body.invariants))}), notes


def value_text(value: Any) -> str:
    """Return a value of a scenario as a note to its reader shows it."""
    if isinstance(value, Noun):
        return ' '.join(f'{one:g}' if isinstance(one, float) else str(one)
                        for one in value.model_dump(exclude_none=True).values())
    if isinstance(value, float):
        return f'{value:g}' if math.isfinite(value) else str(value)
    return 'nothing' if value in (None, ()) else str(value)
