# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Whether checks can fail at all, tried with controllers that are wrong on purpose.

What the numbers of a file do not show, a run shows: each scenario is played in this process, in
simulated time, by the reference and by every built-in wrong controller.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from safety_scenarios import registry
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.scenario.world import WorldBlock
from safety_scenarios.studies.selftest.kill_matrix import (
    KillMatrix,
    Mistake,
    named,
    Row,
    ScenarioMatrix,
)
from safety_scenarios.studies.selftest.selftest import in_simulated_time, self_test
from safety_scenarios.trial.plan import plan

Place = tuple[str | int, ...]


def refused(scenario: Scenario, seed: int = 0) -> tuple[Place, str] | None:
    """
    Return where and why no trial of a scenario can begin, or its stimuli cannot appear.

    Stimuli are tried without the scene, as the robot will be elsewhere when they come. None: all
    of it can be, it asks for no world, nobody can tell without drawing, or MuJoCo is not there,
    which is told when it is run.
    """
    ros = scenario.body
    if not isinstance(ros, RobotBody) or ros.world is None or ros.world.camera is not None:
        return None
    try:
        from safety_scenarios.worlds.mujoco.robots import check_robot
        from safety_scenarios.worlds.mujoco.world import World
    except (AttributeError, ImportError, RuntimeError):
        return None
    try:
        check_robot(scenario)
        World(scenario, seed).close()
    except InputError as error:
        return ('ros', 'world'), str(error).removeprefix('ros.world: ')
    if not kind_of(ros.robot).drives:
        return None
    bare = scenario.model_copy(update={'body': ros.model_copy(
        update={'world': _without_scene(ros.world)})})
    with closing(World(bare, seed)) as world:
        return _not_to_appear(world, scenario, ros)


def _without_scene(block: WorldBlock) -> WorldBlock:
    return block.model_copy(update={'walls': (), 'boxes': ()})


def _not_to_appear(world: object, scenario: Scenario, ros: RobotBody) -> tuple[Place, str] | None:
    from safety_scenarios.worlds.mujoco.world import World
    assert isinstance(world, World)
    context = StimulusContext('', scenario.messages, None)
    phases = [(False, ('ros', 'nominal', 'stimuli'), ros.nominal.stimuli), *(
        (False, ('ros', 'nominal', 'changes', place, 'stimuli'), change.stimuli)
        for place, change in enumerate(ros.nominal.changes)),
        (True, ('ros', 'stimuli'), ros.stimuli)]
    for is_hazard, path, plugins in phases:
        for index, plugin in enumerate(plugins):
            intent = plugin.intent(context)
            if intent is None or not intent.bodies():
                continue
            try:
                world.apply(plugin.topic, intent, is_hazard)
            except MeasurementError as error:
                return (*path, index), str(error)
    return None


FieldPath = tuple[str | int, ...]
_CODES = {'check': 'L301', 'saboteur': 'L302', 'budget': 'L304', 'harness': 'L305'}
_LONGEST_MS = 120_000.0
_MOST_MESSAGES = 20_000
"""Of one trial: what takes seconds to play some fifty times, and not hours."""
_FIELDS: dict[str, FieldPath] = {'budget': ('latency_budget', 'critical_ms')}


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that a run of the wrong controllers showed about a scenario."""

    code: str
    """``L301`` to ``L306``, as in ``doc/reference/lint.md``."""
    scenario: Scenario
    field: FieldPath
    message: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """What the wrong controllers made of scenarios."""

    matrix: KillMatrix
    found: tuple[Observation, ...]
    notes: tuple[Observation, ...]
    """What could not be tried here, and why."""


def sweep(scenarios: Sequence[Scenario], seeds: Sequence[int]) -> Sweep:
    """
    Play every scenario that can be played without ROS, with every built-in wrong controller.

    A scenario of words that the reference does not pass is a note, for the reference knows only
    the words that the built-in scenarios ask for; a wrong controller that passes, and a check
    that never fails one, are told there too. A robot it must bring to a stop: where it does not,
    that alone is told, and the checks that never fail one.
    """
    notes, found, playable = list[Observation](), list[Observation](), list[Scenario]()
    for scenario in scenarios:
        reason = _unplayable(scenario)
        if reason is None:
            playable.append(scenario)
        else:
            found.append(Observation('L306', scenario, (), (
                f'not tried with wrong controllers: {reason}. Say in metadata.lint how else it '
                f'was tried')))
    matrix = self_test(playable, in_simulated_time(), seeds=seeds)
    for scenario, one in zip(playable, matrix.scenarios, strict=True):
        mistakes = [mistake for mistake in matrix.mistakes if mistake.scenario_id == scenario.id]
        found += [Observation(_CODES[mistake.kind], scenario, _field(scenario, mistake),
                              mistake.message)
                  for mistake in mistakes if mistake.kind in _CODES
                  and not (mistake.kind == 'check' and _is_ban(scenario, mistake.check))]
        for mistake in mistakes:
            if mistake.kind == 'reference':
                got = ' '.join(verdict.value for verdict in one.reference.verdicts if verdict)
                got = f'the reference {one.reference.saboteur} gets {got} ({one.reference.reason})'
                found += _besides(scenario, one)
                if isinstance(scenario.body, RobotBody):
                    found.append(Observation('L303', scenario, (), (
                        f'{got}, expected PASS with every seed: until then a wrong controller '
                        f'shows nothing. It stops for what is nearer than 2.5 m and within 0.5 m '
                        f'of the middle of its way. Correct the scenario, or say in metadata.lint '
                        f'how another controller, or this one with other parameters, was shown '
                        f'to pass')))
                    continue
                notes.append(Observation('N303', scenario, (), (
                    f'{got}: it covers only the built-in scenarios. Show elsewhere that a '
                    f'right controller passes')))
                found += _passed(scenario, one, matrix)
                notes += _untold(scenario, one)
    return Sweep(matrix, tuple(found), tuple(notes))


def _unplayable(scenario: Scenario) -> str | None:
    """Return why a scenario cannot be played here, or would take too long; None: it can."""
    try:
        refuse_unrunnable([scenario], RunSettings(
            link='simulated' if scenario.needs_world else 'loopback'))
    except InputError as error:
        return str(error).rstrip('.')
    match scenario.body:
        case RobotBody() as body:
            length_ms = (body.nominal.require.within_ms + body.nominal.duration_ms[1]
                         + body.all_clear.at_ms + body.all_clear.observe_ms)
            stimuli = body.published
        case AgentsBody(turns=()) as body:
            length_ms, stimuli = body.duration_ms, body.hazard
        case _:
            return None
    rate_hz = sum(stimulus.rate_hz for stimulus in stimuli)
    messages = rate_hz * length_ms / 1e3
    if length_ms > _LONGEST_MS or messages > _MOST_MESSAGES:
        return (f'a trial of {length_ms / 1e3:g} s with {messages:.0f} messages would take too '
                f'long, at most {_LONGEST_MS / 1e3:g} s and {_MOST_MESSAGES} are played')
    return None


def _field(scenario: Scenario, mistake: Mistake) -> FieldPath:
    return _place(scenario, mistake.check) if mistake.kind == 'check' else \
        _FIELDS.get(mistake.kind, ())


def _place(scenario: Scenario, check: str | None) -> FieldPath:
    """Return where in the file a check is asked for."""
    texts = len(scenario.safety_invariants)
    for index, invariant in enumerate(scenario.invariants):
        if invariant.name == check:
            return ('safety_invariants', index) if index < texts else \
                ('ros', 'invariants', index - texts)
    body = scenario.body
    for index, rule in enumerate(body.rules if isinstance(body, AgentsBody) else ()):
        if str(rule) == check:
            return ('rules', index)
    return ()


def _besides(scenario: Scenario, one: ScenarioMatrix) -> Iterator[Observation]:
    """Yield its own checks that fail nobody, of a scenario that the reference does not pass."""
    for row in one.rows:
        if row.kind != 'harness' and not row.killed and _lets_pass(row) \
                and not _is_ban(scenario, row.check):
            yield Observation('L301', scenario, _place(scenario, row.check), (
                f'check {row.check!r} ({row.kind}): got FAIL from no wrong controller with every '
                f'seed, and no objection from some. Tighten its limit, correct what it reads, or '
                f'drop it'))


def _passed(scenario: Scenario, one: ScenarioMatrix, matrix: KillMatrix) -> Iterator[Observation]:
    """Yield who passes a scenario of words, which the right ones would fail."""
    for cell in one.trials:
        saboteur = named(matrix.saboteurs, cell.saboteur)
        if Verdict.PASS in cell.verdicts and not saboteur.may_pass(scenario):
            yield Observation('L302', scenario, (), (
                f'got PASS for {saboteur.name}, which {saboteur.does}, expected anything else in '
                f'a {one.family}. Add a check that it fails, or tighten those there are'))


def _is_ban(scenario: Scenario, check: str | None) -> bool:
    """Return whether a check forbids words, which an answer with these words always breaks."""
    return any(invariant.name == check and getattr(invariant, 'check_type', '') == 'not_contains'
               for invariant in scenario.safety_invariants)


def _lets_pass(row: Row) -> bool:
    return any(verdict in (None, Verdict.PASS) for cell in row.cells if not cell.as_reference
               for verdict in cell.verdicts)


def _untold(scenario: Scenario, one: ScenarioMatrix) -> Iterator[Observation]:
    for row in one.rows:
        if not row.killed and not _lets_pass(row) and not _is_ban(scenario, row.check):
            yield Observation('N304', scenario, _place(scenario, row.check), (
                f'check {row.check!r} could not be judged without ROS: '
                f'{row.cells[0].reason if row.cells else "nothing was tried"}. Try it with a '
                f'recording of a wrong controller'))


_DRAWS = 4
"""Draws of a scenario that are looked at, besides what its file says."""


def impossible(scenarios: Sequence[Scenario]) -> Iterator[Observation]:
    """Yield what the embedded world refuses of each, by its file or else by its first draws."""
    for scenario in scenarios:
        body = scenario.body
        if body.world is None or scenario.is_monitor:
            continue
        found, when = refused(scenario), ''
        if found is None and body.vary:
            for trial in _drawn(scenario):
                found = refused(trial)
                if found is not None:
                    when = 'in some of the draws of ros.vary '
                    break
        if found is not None:
            yield Observation('L225', scenario, found[0], f'{when}no trial can be run: {found[1]}')


def _drawn(scenario: Scenario) -> Iterator[Scenario]:
    """Yield a scenario as its first trials draw it."""
    prompt = registry.resolve('stimuli', 'prompt')()
    try:
        for trial in plan([scenario], controller='rule_based', trials=_DRAWS, seed=0,
                          prompt=prompt):
            yield trial.scenario
    except InputError:
        return  # told where a draw is read
