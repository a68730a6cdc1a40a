# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which scenarios cannot be run on a robot: each reason once, and how to run the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
import shlex

from safety_scenarios.errors import counted, Problem, ScenarioError
from safety_scenarios.formats.document.opening import file_of, raw_of
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.profile_file import load_profile, profile_path
from safety_scenarios.lint.pairs import hazards_of
from safety_scenarios.scenario.absent_roles import dotted, Path
from safety_scenarios.scenario.blocks.vary import steps_to, value_at
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings


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
        yield next(iter(found.values())) if len(found) == 1 else _of_profile(
            settings, (), f'{message} ({whose})')
    fast = [one for one in fits if one.fits_up_to is not None]
    if len(fits) == 1:
        yield from (replace(problem, message=f'{one.why}: {problem.message}')
                    for one in fast for problem in one.problems)
    elif fast:
        yield _of_profile(settings, ('robot', 'max_speed'), (
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


def _of_profile(settings: RunSettings, path: Path, message: str) -> Problem:
    """Return a problem with its place in the profile's file, where there is one."""
    name = settings.profile and str(profile_path(settings.profile))
    raw = raw_of(name) if name else None
    return Document.of(name, raw).problem(path, message) if isinstance(raw, bytes) and path \
        else Problem(name or 'settings', None, None, dotted(path), message)
