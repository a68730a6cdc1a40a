# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From scenarios and a seed to trials; every random value is drawn here and never later."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
import hashlib
import math
import random
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import InputError, refused
from safety_scenarios.scenario.blocks.vary import Draw, steps_to, with_value
from safety_scenarios.scenario.body import AgentsBody, Change, ChatBody, RobotBody
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.frames import RobotScanner, Scanner
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import BodyIntent, StimulusContext, StimulusPlugin
from safety_scenarios.trial.identity import file_name
from safety_scenarios.trial.trial import PlannedChange, Trial


def drawn(draws: Mapping[str, Draw], seed: int) -> dict[str, Any]:
    """
    Return the value of each draw in a trial.

    Each has a source of chance of its own, made of the seed and its name: what is drawn for one
    does not depend on which others there are, nor on their order.
    """
    return {name: _value(draw, random.Random(hashlib.sha256(f'{seed}/{name}'.encode()).digest()))
            for name, draw in sorted(draws.items())}


def _value(draw: Draw, chance: random.Random) -> Any:
    if draw.choice is not None:
        return draw.choice[chance.randrange(len(draw.choice))]
    ranges = draw.ranges
    if ranges is None:
        assert draw.range is not None
        ends = draw.range
    else:
        ends = ranges[chance.randrange(len(ranges))]
    if draw.decimals is None:
        return chance.uniform(*ends)
    steps = round((ends[1] - ends[0]) * 10 ** draw.decimals)
    return draw.rounded(ends[0] + chance.randrange(steps + 1) / 10 ** draw.decimals)


def unvaried(scenario: Scenario) -> Scenario:
    """Return the scenario with what its file says, in which nothing differs any more."""
    body = scenario.body
    return scenario.model_copy(update={'body': body.model_copy(update={'vary': {}})}) \
        if body.vary else scenario


def varied(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """
    Return the scenario as one trial plays it, each value in all the places that take it.

    :param values: by name of the draw; others of the scenario keep what the file says
    :raises InputError: a value does not fit
    """
    if not values:
        return scenario
    if scenario.source is not None:
        scenario = scenario.source.fill(scenario, {
            name: value for name, value in values.items()
            if name in scenario.body.vary and scenario.body.vary[name].is_in_text})
    body = scenario.body
    block: Any = body
    kept: list[Any] = []
    for name, draw in body.vary.items():
        if name not in values:
            continue
        if draw.keeps is not None:
            kept.append(values[name])
        place = f'{scenario.id}: ros.vary.{name}: {", ".join(draw.sets)}'
        try:
            block = _with(block, [steps_to(path)[1:] for path in draw.sets], values[name])
        except ValidationError as error:
            raise InputError(refused(place, error.errors(include_url=False)[0])) from None
        except (LookupError, ValueError) as error:
            raise InputError(f'{place}: got {values[name]!r:.60}: {error}') from None
    for topics in kept:
        block = block.model_copy(update={'stimuli': tuple(
            stimulus for stimulus in block.stimuli if stimulus.topic in topics)})
    return scenario.model_copy(update={'body': block.played()})


def fixed(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """
    Return the scenario in which some draws have one value; whatever else is drawn is as before.

    What a draw leaves out of a list is left out when everything is drawn: others set values in it.

    :param values: by name of the draw
    :raises InputError: there is no such draw, or a value does not fit
    """
    known = scenario.body.vary
    for name in values:
        if name not in known:
            raise InputError(f'{scenario.id}: got {name!r}, expected one of what it draws: '
                             f'{", ".join(sorted(known)) or "nothing"}')
    rest = {name: draw for name, draw in known.items() if name not in values}
    left_out = {name: known[name].model_copy(update={'choice': (value, value)})
                for name, value in values.items() if rest and known[name].keeps is not None}
    found = varied(scenario, {name: value for name, value in values.items()
                              if name not in left_out})
    return found.model_copy(update={'body': found.body.model_copy(update={
        'vary': {**rest, **left_out}})})


def _with(block: Any, paths: Sequence[Sequence[str | int]], value: Any) -> Any:
    """Return the block with values changed; the block itself holds nouns, each checked."""
    names = {str(steps[0]) for steps in paths}
    return block.model_copy(update={name: with_value(
        getattr(block, name), [steps[1:] for steps in paths if steps[0] == name], value)
        for name in names})


_NS_PER_MS = 1_000_000
"""Files say ms, the engine ns."""
_TEXT_ONSET_DELAY_MS = (0.0, 200.0)
"""A prompt comes at no fixed time after the start of a trial."""
_TEXT_TIMEOUT_FACTOR = 2.0
"""An answer that is late is still waited for, so that its latency is known."""
_TEXT_TIMEOUT_EXTRA_MS = 500.0
"""And for very short budgets a little longer."""
_QUIET_MS = 500.0
"""Between a harmless change and the next, or the hazard: what was shown before is seen again."""


def plan(scenarios: Iterable[Scenario], *, controller: str | ControllerSpec, trials: int,
         seed: int, prompt: StimulusPlugin, run: str = '', warmup: int = 0,
         shortest_nominal: bool = False, has_frames: bool = True,
         scanners: Mapping[str, RobotScanner] = {},
         indices: Iterable[int] | None = None) -> tuple[Trial, ...]:
    """
    Return the trials of a campaign: all of the first scenario, then of the next.

    :param controller: its name alone, or with its parameters; its label is in every trial's id
    :param prompt: the stimulus of a text scenario
    :param warmup: trials before the others of each scenario that do not count
    :param run: ends the trials' ids, so that an answer to an earlier campaign's prompt is known
    :param shortest_nominal: every hazard comes as early as its file allows, and all else as
        drawn: enough to see that checks can fail, and no evidence against a clock
    :param has_frames: controllers can be told where the frame of a scanner is; else every
        scanner is at the robot's origin, with its rays in the same directions
    :param scanners: topic to its scanner on this robot, whatever a file or a draw says
    :param indices: of each scenario's trials those that are planned; None: all
    :raises InputError: a drawn value does not fit its scenario, which a file that was read has
        not; or a scanner of the robot does not see the hazard
    """
    spec = ControllerSpec(name=controller) if isinstance(controller, str) else controller
    trial = partial(_trial, spec=spec, seed=seed, prompt=prompt, run=run, has_frames=has_frames,
                    scanners=scanners)
    wanted = range(-warmup, trials) if indices is None else tuple(indices)
    found = (trial(scenario, index) for scenario in scenarios for index in wanted)
    return tuple(map(_earliest, found)) if shortest_nominal else tuple(found)


def _earliest(trial: Trial) -> Trial:
    body = trial.scenario.body
    return trial.model_copy(update={
        'onset_delay_ns': round(body.nominal.duration_ms[0] * _NS_PER_MS), 'changes': ()}) \
        if isinstance(body, RobotBody) else trial


def seed_of(seed: int, scenario_id: str, index: int) -> int:
    """Return the seed of one trial."""
    return int.from_bytes(
        hashlib.sha256(f'{seed}/{scenario_id}/{index}'.encode()).digest()[:4], 'big')


def _trial(complete: Scenario, index: int, spec: ControllerSpec, seed: int,
           prompt: StimulusPlugin, run: str, has_frames: bool,
           scanners: Mapping[str, RobotScanner]) -> Trial:
    own = seed_of(seed, complete.id, index)
    values = drawn(complete.body.vary, own)
    scenario = varied(complete, values)
    if scenario.source is not None:
        scenario = scenario.model_copy(update={'source': None})
    scenario = _mounted(scenario, scanners)
    if not has_frames:
        scenario = _in_base(scenario)
    _refuse_unseen(scenario, index, [name for name, one in scanners.items() if one.layout])
    body, (onset_ns, phase) = scenario.body, onset_of(scenario, own)
    played: dict[str, Any] = {
        'nominal': (), 'nominal_timeout_ns': 0, 'hazard': body.hazard, 'all_clear_ns': None}
    match body:
        case RobotBody(nominal=nominal, all_clear=all_clear):
            end_ms = all_clear.at_ms + all_clear.observe_ms
            played |= {'nominal': nominal.stimuli,
                       'nominal_timeout_ns': round(nominal.require.within_ms * _NS_PER_MS),
                       'all_clear_ns': round(all_clear.at_ms * _NS_PER_MS)}
        case AgentsBody():
            end_ms = body.duration_ms
        case ChatBody():
            played['hazard'] = (prompt,)
            end_ms = scenario.latency_budget.critical_ms * _TEXT_TIMEOUT_FACTOR \
                + _TEXT_TIMEOUT_EXTRA_MS
    played['changes'] = changes_of(scenario, own)
    return Trial(
        trial_id=f'{file_name(scenario.id)}.{file_name(spec.label)}.s{seed}.'
                 + (f't{index}' if index >= 0 else f'w{-index}') + (f'.{run}' if run else ''),
        scenario=scenario, controller=spec.label, index=index, seed=own, warmup=index < 0,
        spec=None if spec.is_plain else spec,
        onset_delay_ns=onset_ns, onset_phase=phase,
        end_ns=round(end_ms * _NS_PER_MS), drawn=values,
        **played)


def onset_of(scenario: Scenario, seed: int) -> tuple[int, float]:
    """Return the earliest time of the hazard (ns), and its share of a command period then."""
    body, chance = scenario.body, random.Random(seed)
    delays_ms = body.nominal.duration_ms if isinstance(body, RobotBody) else _TEXT_ONSET_DELAY_MS
    return round(chance.uniform(*delays_ms) * _NS_PER_MS), chance.random()


def changes_of(scenario: Scenario, seed: int) -> tuple[PlannedChange, ...]:
    """Return the harmless changes before the hazard."""
    body = scenario.body
    return tuple(_changes(body.nominal.changes, seed, onset_of(scenario, seed)[0])) \
        if isinstance(body, RobotBody) else ()


def _in_base(scenario: Scenario) -> Scenario:
    """Return a scenario whose scanners have no frames of their own."""
    body = scenario.body
    if not isinstance(body, RobotBody) or len(body.mounted_frames) == len(body.frames):
        return scenario
    return _with_scanners(scenario, body, lambda topic, scanner: scanner.in_base)


def _mounted(scenario: Scenario, scanners: Mapping[str, RobotScanner]) -> Scenario:
    """Return a scenario whose scanners are as they are on a robot."""
    body = scenario.body
    if not isinstance(body, RobotBody) or not scanners:
        return scenario
    return _with_scanners(scenario, body, lambda topic, scanner: scanners[topic].instead_of(
        scanner) if topic in scanners else scanner)


def _refuse_unseen(scenario: Scenario, index: int, narrow: Sequence[str]) -> None:
    """
    Refuse a trial whose hazard no sensor shows when it comes.

    :param narrow: topics of scanners that need not look all around
    """
    context = StimulusContext(scenario.id, scenario.messages, None)
    unseen = [one for one in scenario.body.hazard if one.topic in narrow
              and isinstance(one.intent(context), BodyIntent)
              and (shown := one.at(0, 0, context)) is not None
              and not any(map(math.isfinite, shown.message.data['ranges']))]
    if unseen and len(unseen) == len(scenario.body.hazard):
        raise InputError(
            f'{scenario.id}: trial {index + 1}: got the hazard {unseen[0].kind} on '
            f'{unseen[0].topic}, where the scanner of the robot does not see it when it comes, '
            f'expected it within its angles. Correct its angles or its frame in the profile, or '
            f'leave the scenario out by --set selection.skip={scenario.id}')


def _with_scanners(scenario: Scenario, body: RobotBody,
                   change: Callable[[str, Scanner], Scanner]) -> Scenario:
    def moved(plugins: Iterable[StimulusPlugin]) -> tuple[StimulusPlugin, ...]:
        return tuple(one.model_copy(update={'scanner': change(one.topic, scanner)})
                     if isinstance(scanner := getattr(one, 'scanner', None), Scanner) else one
                     for one in plugins)
    nominal = body.nominal.model_copy(update={
        'stimuli': moved(body.nominal.stimuli), 'changes': tuple(
            one.model_copy(update={'stimuli': moved(one.stimuli)})
            for one in body.nominal.changes)})
    return scenario.model_copy(update={'body': body.model_copy(update={
        'nominal': nominal, 'stimuli': moved(body.stimuli)})})


def _changes(changes: Iterable[Change], seed: int, onset_ns: int) -> Iterator[PlannedChange]:
    """Yield the changes that are over before the hazard, each when no other is shown."""
    drawn_ms = []
    for place, change in enumerate(changes):
        chance = random.Random(hashlib.sha256(f'{seed}/changes/{place}'.encode()).digest())
        begin_ms = chance.uniform(*change.begins_ms)
        drawn_ms.append((begin_ms, begin_ms + chance.uniform(*change.lasts_ms), place, change))
    free_ms = 0.0
    for begin_ms, end_ms, _, change in sorted(drawn_ms, key=lambda one: one[:3]):
        if begin_ms < free_ms or (end_ms + _QUIET_MS) * _NS_PER_MS > onset_ns:
            continue
        free_ms = end_ms + _QUIET_MS
        yield PlannedChange(begin_ns=round(begin_ms * _NS_PER_MS),
                            end_ns=round(end_ms * _NS_PER_MS), stimuli=change.stimuli)
