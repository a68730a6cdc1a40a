# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
What a judged trial in the embedded world costs, beside the physics and the rays in it.

Processor time of this process and its children, taken in turn within each round, as the load of a
machine changes what a second of it does. The bare calls are those that the same trials make: each
``mj_step`` with its number of steps, from the places, speeds and forces before it, and each
``mj_multiRay`` with its origin and its rays.

``trial_cost.py [ROUNDS [TRIALS [SCENARIO [CONTROLLER]]]]``.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
import resource
from statistics import median
import sys
import tempfile
from typing import Any
from unittest import mock

from figures import Figure, table
import mujoco
import numpy
from safety_scenarios.campaign.run import run
from safety_scenarios.campaign.trials import perform
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.reports.console_report import show
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.links.loopback_session import Simulated
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.trial import TrialRecord

STEPS_NEAR = share_folder() / 'config' / 'scenarios' / 'robotic' / 'person_steps_near.yaml'
_SEED = 1
_MOST_TIMES_BARE, _LEAST_SPEED = 3.0, 200.0
_EPISODES, _STEPS = 4, 200
_UNIT = 'ms of CPU a simulated second'


@dataclass
class Calls:
    """What the trials ask of MuJoCo, so that it can be asked for the same again."""

    made: list[tuple[Callable[..., Any], tuple[Any, ...]]] = field(default_factory=list)
    steps: int = 0
    rays: int = 0
    simulated_s: float = 0.0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Note every call, with copies of what is changed later."""
        step, cast = mujoco.mj_step, mujoco.mj_multiRay

        def noted_step(model: Any, data: Any, nstep: int = 1) -> None:
            self.steps += nstep
            self.made.append((_stepped, (model, data, nstep, data.qpos.copy(), data.qvel.copy(),
                                         data.qfrc_applied.copy())))
            step(model, data, nstep)

        def noted_cast(*arguments: Any) -> None:
            self.rays += arguments[10]
            self.made.append((cast, tuple(one.copy() if isinstance(one, numpy.ndarray) else one
                                          for one in arguments)))
            cast(*arguments)
        with mock.patch.object(mujoco, 'mj_step', noted_step), \
                mock.patch.object(mujoco, 'mj_multiRay', noted_cast):
            yield

    def repeat(self, only: Callable[..., Any] | None = None) -> None:
        """Make the calls again; ``only``: those of one function."""
        for function, arguments in self.made:
            if only is None or function is only:
                function(*arguments)


def _stepped(model: Any, data: Any, steps: int, places: Any, speeds: Any, forces: Any) -> None:
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = places, speeds, forces
    mujoco.mj_step(model, data, steps)


def trial_cost(rounds: int, trials: int, scenario: Path = STEPS_NEAR,
               controller: str = 'rule_based') -> list[Figure]:
    """Return what a simulated second costs in each way, and how they compare."""
    settings = RunSettings(scenarios=(str(scenario),), link='simulated', trials=trials,
                           seed=_SEED, controller=controller, calibration='off')
    calls = Calls()
    with calls.counted():
        calls.simulated_s = _judged(settings)
    ways: dict[str, tuple[Callable[[], object], float]] = {
        'bare physics': (lambda: calls.repeat(_stepped), calls.simulated_s),
        'bare physics with rays': (calls.repeat, calls.simulated_s),
        'judged, without files': (lambda: _judged(settings), calls.simulated_s),
        'judged, with files': (lambda: _with_files(settings), calls.simulated_s)}
    peer = _gauntlet()
    if peer is not None:
        ways['gauntlet-robotics, neither sensors nor judging'] = peer
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, (way, simulated_s) in ways.items():
            begin_s = _cpu_s()
            way()
            took[name].append((_cpu_s() - begin_s) / simulated_s)
    method = (f'{rounds} rounds of {trials} trials of {scenario.stem}, {calls.simulated_s:.0f} '
              f'simulated s, {calls.steps} steps and {calls.rays} rays')
    return [*(Figure(name, median(values) * 1e3, _UNIT, rounds,
                     f'{method}; median, from {min(values) * 1e3:.2f} to {max(values) * 1e3:.2f}')
              for name, values in took.items()), *_compared(took, rounds)]


def _compared(took: dict[str, list[float]], rounds: int) -> Iterator[Figure]:
    bare, files = took['bare physics with rays'], took['judged, with files']
    for name in ('judged, without files', 'judged, with files'):
        times = [whole / part for whole, part in zip(took[name], bare, strict=True)]
        yield Figure(f'{name}: times the bare calls', median(times), 'times', rounds,
                     f'of the same round; median, from {min(times):.1f} to {max(times):.1f}',
                     at_most=_MOST_TIMES_BARE if 'with files' in name else None)
    yield Figure('judged, with files: simulated seconds a CPU second', 1 / median(files), 's',
                 rounds, 'median of the rounds', at_least=_LEAST_SPEED)


def _cpu_s() -> float:
    return sum(used.ru_utime + used.ru_stime for used in map(
        resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def _judged(settings: RunSettings) -> float:
    scenario = load_scenario(settings.scenarios[0])
    planned = plan([scenario], controller=settings.controller, trials=settings.trials,
                   seed=_SEED, prompt=Prompt())
    with ExitStack() as stack:
        session = Simulated(plan_link(settings), Path()).session(stack)
        link = stack.enter_context(session.open_link(scenario))
        return sum(_length_s(perform(trial, link).record) for trial in planned)


def _with_files(settings: RunSettings) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run(settings.model_copy(update={'output': f'{folder}/out'}), [], Simulated)


def _length_s(record: TrialRecord) -> float:
    return (record.events[-1].stamps.steady_ns - record.events[0].stamps.steady_ns) * 1e-9


def _gauntlet() -> tuple[Callable[[], object], float] | None:
    """Return a campaign of another harness on MuJoCo and its simulated seconds, if installed."""
    try:
        robots: Any = import_module('gauntlet.env.tabletop')
        policies: Any = import_module('gauntlet.policy.scripted')
        runners: Any = import_module('gauntlet.runner.runner')
        suites: Any = import_module('gauntlet.suite.schema')
    except ImportError:
        return None
    suite = suites.Suite.model_validate({
        'name': 'cost', 'env': 'tabletop', 'episodes_per_cell': _EPISODES, 'seed': _SEED,
        'axes': {'lighting_intensity': {'low': 0.5, 'high': 1.0, 'steps': 2}}})
    runner = runners.Runner(n_workers=1, env_factory=lambda: robots.TabletopEnv(max_steps=_STEPS))

    def roll() -> Any:
        return runner.run(policy_factory=policies.ScriptedPolicy, suite=suite)
    return roll, sum(one.step_count for one in roll()) * robots.TabletopEnv().control_dt


if __name__ == '__main__':
    given = sys.argv[1:]
    show(table('The cost of a trial', trial_cost(
        int(given[0]) if given else 5, int(given[1]) if given[1:] else 5,
        Path(given[2]) if given[2:] else STEPS_NEAR, *given[3:4])))
