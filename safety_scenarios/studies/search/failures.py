# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The search for failures: trials at chosen values, made simple, and saved as scenarios."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
import hashlib
import json
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy
from safety_scenarios.campaign.engines.choice import engine_for
from safety_scenarios.campaign.engines.engine import Engine
from safety_scenarios.campaign.open_session import OpenSession
from safety_scenarios.campaign.plan import plan_campaign, plan_trials, TrialTask
from safety_scenarios.campaign.resuming import refuse_other, what_is_judged
from safety_scenarios.campaign.run import run
from safety_scenarios.campaign.trials import open_session
from safety_scenarios.errors import counted, InputError, SafetyScenariosError, TraceError
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.formats.writing.scenario_text import fixed_text
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings, SEEDS
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.search.guided import far_from_all
from safety_scenarios.studies.search.samplers import Sampler
from safety_scenarios.studies.search.space import (
    History,
    key_of,
    ONSET,
    Outcome,
    outcome_of,
    PHASE,
    Point,
    Space,
)
from safety_scenarios.trial.plan import fixed
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.trial import Trial

_LONGEST_LINE = 1_000_000
"""Bytes of one line of a log."""
_JUDGED = 'judged'
"""Key of the first line of a log."""


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

    The first line states what was judged; each other line is a trial.

    :param path: of the file; None: nothing is kept
    :raises TraceError: it cannot be read or written
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, Outcome] = {}
        self._judged: Mapping[str, Any] = {}
        if path is not None and path.exists():
            self._judged, self._known = _read(path)

    def begin(self, judged: Mapping[str, Any]) -> None:
        """
        Note what its trials judge, or refuse to go on with something else.

        :raises SettingsError: its trials judged another controller or scenario
        :raises TraceError: it cannot be written
        """
        if self._path is None:
            return
        judged = json.loads(json.dumps(judged, default=lambda one: one.model_dump(mode='json')))
        if self._judged or self._known:
            refuse_other(self._path.parent, self._judged, judged)
        else:
            self._append({_JUDGED: judged})
            self._judged = judged

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
        self._append({'world': json.loads(key), 'verdict': outcome.verdict.value,
                      'margins': outcome.margins, 'reason': outcome.reason})

    def _append(self, data: Mapping[str, Any]) -> None:
        if self._path is None:
            return
        try:
            with self._path.open('a', encoding='utf-8') as file:
                file.write(json.dumps(data) + '\n')
        except OSError as error:
            raise TraceError(f'{self._path}: cannot be written: {error.strerror}') from error


def _read(path: Path) -> tuple[Mapping[str, Any], dict[str, Outcome]]:
    """Return what was judged and each trial; cut off a line that a process did not finish."""
    judged, found, whole = dict[str, Any](), dict[str, Outcome](), 0
    try:
        with path.open('r+b') as file:
            while (line := file.readline(_LONGEST_LINE)).endswith(b'\n'):
                whole, data = file.tell(), json.loads(line)
                if _JUDGED in data:
                    judged = data[_JUDGED]
                    continue
                found[json.dumps(data['world'], sort_keys=True)] = Outcome(
                    Verdict(data['verdict']), data['margins'], data['reason'])
            file.truncate(whole)
        return judged, found
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
        self._log.begin({**what_is_judged(self._plan), 'scenario': hashlib.sha256(
            self.scenario.model_dump_json(exclude={'origin'}).encode()).hexdigest()})
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


Fails = Callable[[Point], bool]
_BISECTIONS = 6
"""To within a 64th of the way to the ordinary value."""
_PASSES = 2
"""A draw may turn out needless once another one has been put back."""


@dataclass(frozen=True)
class Shrunk:
    """A world that fails, and which draws it takes."""

    point: Point
    needed: tuple[int, ...]
    """Axes that cannot be put back one at a time."""
    trials: int
    """That were run to find out."""


def shrink(space: Space, point: Point, fails: Fails) -> Shrunk:
    """
    Return the simplest world near one that fails.

    :param fails: whether a world fails in the same way; it does at ``point``
    """
    found, trials, middle = point.copy(), 0, space.middle
    for _ in range(_PASSES):
        changed = False
        for place in range(len(space.axes)):
            if found[place] == middle[place]:
                continue
            tried = found.copy()
            tried[place] = middle[place]
            trials += 1
            if fails(tried):
                found, changed = tried, True
        if not changed:
            break
    needed = tuple(place for place in range(len(space.axes)) if found[place] != middle[place])
    for place in needed:
        if space.axes[place].size:
            continue
        bad, good = float(found[place]), float(middle[place])
        for _ in range(_BISECTIONS):
            tried = found.copy()
            tried[place] = space.axes[place].snapped((bad + good) / 2.0)
            if tried[place] in (bad, good):
                break
            trials += 1
            if fails(tried):
                found, bad = tried, float(tried[place])
            else:
                good = float(tried[place])
    return Shrunk(found, needed, trials)


MOST_DIFFERENT, _MOST_LOOKED_AT = 8, 40
"""Failures that are made simple, and failing trials that are compared with them."""
Tell = Callable[[int, History], None]
"""Takes how many trials were asked for, and the trials so far."""


@dataclass(frozen=True)
class Failure:
    """One way to fail, at its simplest."""

    point: Point
    needed: tuple[int, ...]
    """Axes that differ from their ordinary values; without them it does not fail."""
    checks: frozenset[str]
    """That fail at the point."""
    outcome: Outcome
    """At the point."""
    first: int
    """Number of the trial that found it, from 1."""
    seed: int
    """From which whatever else is drawn at the point."""
    alike: int = 1
    """Trials of the search that fail like that."""


def search(evaluate: Evaluate, sampler: Sampler, history: History, trials: int, *,
           seed_of: Callable[[int], int], batch: int = 1,
           tell: Tell = lambda trials, history: None,
           stop: Callable[[], bool] = lambda: False) -> None:
    """
    Try points until so many trials were run; what they come to is in the history.

    :param seed_of: place of a trial to the seed from which whatever is no axis is drawn
    :param batch: points that are chosen at a time, to be run side by side
    :param stop: asked after each batch, whether to end early
    """
    while len(history) < trials and not stop():
        points = [sampler.ask() for _ in range(min(batch, trials - len(history)))]
        worlds = [World(point, seed_of(len(history) + place))
                  for place, point in enumerate(points)]
        for point, outcome in zip(points, evaluate(worlds)):
            history.add(point, outcome)
        tell(trials, history)


def different_failures(space: Space, evaluate: Evaluate, history: History,
                       seed_of: Callable[[int], int],
                       tell: Callable[[str], None] = lambda text: None) -> Sequence[Failure]:
    """
    Return each way to fail once, made simple.

    Two failures are the same where they share a failing check, and a world half way between them
    fails too.
    """
    seed = 0

    def outcome_at(point: Point) -> Outcome:
        return evaluate([World(point, seed)])[0]

    def fails_like(checks: frozenset[str]) -> Callable[[Point], bool]:
        return lambda point: bool(outcome_at(point).failed & checks)

    found: list[Failure] = []
    for place in history.failures[:_MOST_LOOKED_AT]:
        point, outcome, seed = history.points[place], history.outcomes[place], seed_of(place)
        same = _same_as(space, found, point, outcome.failed, fails_like)
        if same is None and len(found) < MOST_DIFFERENT:
            tell(f'trial {place + 1} failed: looking for the simplest world that fails like it')
            simple = shrink(space, point, fails_like(outcome.failed))
            last = outcome_at(simple.point)
            if not last.is_failure:  # not the same twice: what was measured counts
                simple_point, needed, last = point, tuple(range(len(point))), outcome
            else:
                simple_point, needed = simple.point, simple.needed
            same = _same_as(space, found, simple_point, last.failed, fails_like)
            if same is None:
                found.append(Failure(simple_point, needed, last.failed, last, place + 1, seed))
                continue
        if same is not None:
            before = found[same]
            found[same] = Failure(**{**before.__dict__, 'alike': before.alike + 1})
    return found


def _same_as(space: Space, known: Sequence[Failure], point: Point, checks: frozenset[str],
             fails_like: Callable[[frozenset[str]], Callable[[Point], bool]]) -> int | None:
    """Return the place of the failure that a failing point belongs to, None: it is a new one."""
    for place, failure in enumerate(known):
        shared = failure.checks & checks
        if not shared:
            continue
        needed = list(failure.needed)
        if needed and not far_from_all([failure.point[needed]], space.sizes[needed],
                                       point[needed]):
            return place
        between = failure.point.copy()
        between[needed] = numpy.where(space.sizes[needed] > 0, point[needed],
                                      (point[needed] + failure.point[needed]) / 2.0)
        if fails_like(shared)(space.snapped(between)):
            return place
    return None


AGAIN = 5
"""Trials of the saved file, each with a seed of its own."""


@dataclass(frozen=True)
class Saved:
    """A failure that was saved, and what came of its file."""

    failure: Failure
    file: Path | None
    """None: the values do not make a scenario file; ``problem`` says why."""
    folder: Path | None = None
    """Of the campaign of the file."""
    failed: int = 0
    """Of its trials, those that fail in the same way."""
    decided: int = 0
    problem: str = ''
    trial_id: str = ''
    """Of the first trial that fails."""

    @property
    def how_often(self) -> str:
        """Return whether it fails with other seeds, in words."""
        if self.problem:
            return f'not tried again: {self.problem}'
        if not self.decided:
            return 'not decided when it was run again'
        word = 'always' if self.failed == self.decided == AGAIN else \
            'not again' if not self.failed else 'sometimes'
        return f'{word} ({self.failed} of {counted(self.decided, "trial")} with other seeds)'


class _Results(Observer):
    """Keeps the results."""

    def __init__(self) -> None:
        self.results: list[Any] = []

    def trial_ended(self, record: Any, result: Any) -> None:
        self.results.append(result)


def save(space: Space, scenario: Scenario, data: Mapping[str, Any], failures: Sequence[Failure],
         folder: Path, settings: RunSettings, controller: Any = None) -> Iterator[Saved]:
    """
    Write each failure as a file, load it, and run it again with other seeds.

    :param data: the scenario's file as plain data
    :param folder: for files and campaigns
    :param settings: how a campaign of the scenario is run
    :param controller: the controller itself, if no plug-in has the name in the settings
    :raises TraceError: a file cannot be written
    """
    for number, failure in enumerate(failures, 1):
        path = folder / f'failure_{number}.yaml'
        values = space.values(failure.point)
        needed = [space.axes[place].name for place in failure.needed]
        text = fixed_text(
            data, {name: values[name] for name in scenario.body.vary},
            scenario_id=f'{scenario.id}-failure-{number}',
            name=f'{scenario.name}: failure {number}',
            onset_ms=values[ONSET] if ONSET in values and ONSET not in scenario.body.vary
            else None,
            comment=(f'{scenario.id} as it failed in a search (seed {failure.seed}, trial '
                     f'{failure.first}): {", ".join(sorted(failure.checks))}.',
                     f'It takes {space.text(failure.point, failure.needed)}.' if needed else
                     'It takes none of the draws.',
                     'All other draws have their ordinary values.'))
        try:
            path.write_text(text, encoding='utf-8')
        except OSError as error:
            raise TraceError(f'{path}: cannot be written: {error.strerror}') from error
        try:
            load_scenario(path)
        except InputError as error:
            yield Saved(failure, None, problem=f'{path.name} is no valid scenario: {error}')
            continue
        yield _run_again(path, failure, settings, controller)


def _run_again(path: Path, failure: Failure, settings: RunSettings, controller: Any) -> Saved:
    folder, kept = path.with_suffix(''), _Results()
    own = settings.model_copy(update={
        'scenarios': (str(path),), 'trials': AGAIN, 'warmup': 0, 'output': str(folder),
        'seed': (settings.seed + 1) % SEEDS, 'outputs': ()})
    try:
        run(own, [kept], controller=controller, within=Path(settings.output or path.parent))
    except SafetyScenariosError as error:
        return Saved(failure, path, problem=str(error))
    decided = [one for one in kept.results if one.verdict in (Verdict.PASS, Verdict.FAIL)]
    failing = [one for one in decided if failure.checks & {
        finding.check for finding in one.findings if finding.verdict is Verdict.FAIL}]
    return Saved(failure, path, folder, len(failing), len(decided),
                 trial_id=failing[0].trial_id if failing else '')
