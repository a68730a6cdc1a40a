# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Trials of one scenario at chosen values, over a link that stays open between them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
import json
from pathlib import Path
from types import TracebackType
from typing import Any

from safety_scenarios.campaign.engines.choice import engine_for
from safety_scenarios.campaign.engines.engine import Engine
from safety_scenarios.campaign.open_session import OpenSession
from safety_scenarios.campaign.plan import plan_campaign, plan_trials, TrialTask
from safety_scenarios.campaign.trials import open_session
from safety_scenarios.errors import InputError, TraceError
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.search.history import Outcome, outcome_of
from safety_scenarios.studies.search.space import key_of, ONSET, PHASE, Point, Space
from safety_scenarios.trial.plan import fixed
from safety_scenarios.trial.trial import Trial

_LONGEST_LINE = 1_000_000
"""Characters of one line of a log."""


@dataclass(frozen=True)
class World:
    """Where a trial is run, and from which seed whatever else is drawn."""

    point: Point
    seed: int


Evaluate = Callable[[Sequence[World]], Sequence[Outcome]]
"""Runs trials, and returns what each came to, in their order."""


class Log:
    """
    What trials came to, in a file, so that an interrupted search can go on.

    :param path: of the file; None: nothing is kept
    :raises TraceError: it cannot be read or written
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, Outcome] = {}
        if path is not None and path.exists():
            self._known = dict(_read(path))

    def __len__(self) -> int:
        return len(self._known)

    def find(self, key: str) -> Outcome | None:
        """Return what a world came to before."""
        return self._known.get(key)

    def keep(self, key: str, outcome: Outcome) -> None:
        """
        Note what a world came to.

        :raises TraceError: it cannot be written
        """
        self._known[key] = outcome
        if self._path is None:
            return
        line = json.dumps({'world': json.loads(key), 'verdict': outcome.verdict.value,
                           'margins': outcome.margins, 'reason': outcome.reason})
        try:
            with self._path.open('a', encoding='utf-8') as file:
                file.write(line + '\n')
        except OSError as error:
            raise TraceError(f'{self._path}: cannot be written: {error.strerror}') from error


def _read(path: Path) -> Iterator[tuple[str, Outcome]]:
    try:
        with path.open(encoding='utf-8') as file:
            while line := file.readline(_LONGEST_LINE):
                if not line.endswith('\n'):
                    return  # the process ended while it wrote this line
                data = json.loads(line)
                yield (json.dumps(data['world'], sort_keys=True),
                       Outcome(Verdict(data['verdict']), data['margins'], data['reason']))
    except OSError as error:
        raise TraceError(f'{path}: cannot be read: {error.strerror}') from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f'{path}: got a line that no search has written ({error}). Remove the '
                         f'file, or name another folder') from None


class Trials(AbstractContextManager['Trials']):
    """
    Runs trials of one scenario; entered once for all of them.

    :ivar scenario: as it is on the robot of the settings

    :param settings: how a campaign of one trial of it would be run
    :param log: of trials that were run before
    :param controller: the controller itself, if no plug-in has the name in the settings
    :raises InputError: the settings cannot be carried out
    """

    def __init__(self, settings: RunSettings, scenario: Scenario, space: Space,
                 log: Log | None = None, controller: Any = None) -> None:
        self._settings = settings.model_copy(update={'trials': 1, 'warmup': 0}).seeded()
        self._plan = plan_campaign(self._settings, [scenario], controller=controller)
        self.scenario = self._plan.scenarios[0]
        self._space = space
        self._log = log if log is not None else Log()
        self._stack = ExitStack()
        self._engine: Engine | None = None
        self.run = 0
        """Trials that were run, and not found in the log."""

    def evaluate(self, worlds: Sequence[World]) -> Sequence[Outcome]:
        """
        Run a trial in each world, unless the log has it.

        :raises KeyboardInterrupt: the user wants it to end
        """
        keys = [key_of(self._space.values(world.point), world.seed) for world in worlds]
        missing = [place for place, key in enumerate(keys) if self._log.find(key) is None]
        tasks = [TrialTask(self._plan.setup, self.trial(worlds[place])) for place in missing]
        for place, (_, done) in zip(missing, self._opened().map(tasks) if tasks else ()):
            if done.interrupted:
                raise KeyboardInterrupt
            self._log.keep(keys[place], outcome_of(done.result))
            self.run += 1
        found = [self._log.find(key) for key in keys]
        return [one for one in found if one is not None]

    def trial(self, world: World) -> Trial:
        """Return the planned trial of a world."""
        values = self._space.values(world.point)
        trial, = plan_trials(
            self._settings.model_copy(update={'seed': world.seed}),
            [scenario_at(self.scenario, values)], self._plan.controller,
            self._plan.setup.link_plugin)
        return trial.model_copy(update={
            'drawn': {name: value for name, value in values.items()
                      if name in self.scenario.body.vary},
            **({'onset_phase': values[PHASE]} if PHASE in values
               and PHASE not in self.scenario.body.vary else {})})

    def _opened(self) -> Engine:
        """Return the engine, which keeps the link open where that takes long."""
        if self._engine is None:
            sessions: dict[int, OpenSession] = {}

            def session_of(task: TrialTask) -> OpenSession:
                if id(task.setup) not in sessions:
                    sessions[id(task.setup)] = self._stack.enter_context(open_session(task))
                return sessions[id(task.setup)]
            self._engine = self._stack.enter_context(engine_for(self._plan.setup, session_of))
        return self._engine

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """
        Close the link.

        :raises ControllerError: it could not be closed, and nothing else has gone wrong
        """
        self._stack.__exit__(kind, error, traceback)


def scenario_at(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """
    Return the scenario with its draws and the time of its hazard fixed.

    :raises InputError: a value does not fit
    """
    found = fixed(scenario, {name: value for name, value in values.items()
                             if name in scenario.body.vary})
    body = found.body
    if isinstance(body, RobotBody) and ONSET in values and ONSET not in scenario.body.vary:
        nominal = body.nominal.model_copy(update={'duration_ms': (values[ONSET],) * 2})
        found = found.model_copy(update={'body': body.model_copy(update={'nominal': nominal})})
    return found
