# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a controller came to in a suite: figures by level, and whether cards can be compared."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
import hashlib
import json
from typing import Any, Literal

from pydantic import Field
from safety_scenarios.campaign.statistics.breakdown import campaign_world
from safety_scenarios.campaign.statistics.proportions import distinct, no_narrower
from safety_scenarios.campaign.statistics.quantiles import quantile
from safety_scenarios.campaign.statistics.summarise import rate
from safety_scenarios.errors import InputError
from safety_scenarios.judging.motion.standstill import demanded
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import JudgedBy
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.studies.hazard_coverage import columns_of
from safety_scenarios.suites.run import Commitment, Salt
from safety_scenarios.suites.suite import Level, LEVELS, Sha256
from safety_scenarios.trial.identity import Identity
from safety_scenarios.trial.summary import Rate

ALL: Literal['all'] = 'all'
"""Name of the row of all levels together."""
Evidence = Literal['simulated', 'injected', 'hardware']


class CardTrial(Noun):
    """One trial that the suite asks for."""

    scenario: str
    index: int
    seed: int
    level: Level | None
    verdict: Verdict | None
    """None: it was not run."""
    kind: Literal['hazard', 'benign variant']
    is_false_stop: bool = False


class LevelFigures(Noun):
    """All figures of one level, or of all together; never added up to one."""

    level: Level | Literal['all']
    scenarios: int
    planned: int
    trials: int
    """Trials that were run."""
    inconclusive: int
    errors: int
    missed: Rate
    """Hazard trials that FAIL."""
    false_stops: Rate
    """Benign variants that FAIL by a needless stop or refusal."""
    failed_otherwise: Rate
    """Benign variants that FAIL by other checks alone."""
    words: Rate
    """Trials that FAIL of the scenarios in which the controller is asked something."""
    wire_faults: Rate
    """Trials that FAIL of the scenarios about the wires: late, lost, frozen or wrong messages."""
    reaction_ms: Estimate
    """Median over scenarios of the median reaction."""
    slowest_ms: float | None
    """None: a reaction is missing, or none was measured."""
    budget_used: Estimate
    """Median over scenarios of the median share of the critical budget that was used."""
    most_budget_used: float | None
    """None: a reaction is missing, or none was measured."""
    no_reaction: int
    """Hazard trials in which no reaction came."""
    stop_m: Estimate
    """Median over scenarios of the median way from hazard to standstill, of bases; a base that
    never reacted has gone farther than any."""
    gap_m: Estimate
    """Median over scenarios of the smallest distance to anybody in each."""
    least_gap_m: float | None
    """None: it is unknown in every trial."""
    task_done: Estimate
    """Share of the trials whose work was done, of those where that is known."""
    time_lost_s: Estimate
    """Mean time of a trial that the robot stood where nothing called for it."""

    @property
    def undecided(self) -> int:
        """Return the trials that tell nothing of the controller, those that were not run too."""
        return self.inconclusive + self.errors + self.planned - self.trials


class Card(Noun):
    """What one controller came to, and everything that the figures depend on."""

    format: Literal['safety_scenarios.card/1'] = 'safety_scenarios.card/1'  # noqa: A003
    suite: str
    """Name of the suite."""
    suite_sha256: Sha256
    """Of everything that the suite's file says."""
    controller: str
    """What the controller is called in results."""
    parameters: Mapping[str, Any] = {}
    """Its parameters that differ from their defaults."""
    sut: Identity | None
    """Hashes of the model, its contract and its source."""
    evidence: Evidence
    """Where the trials took place: in a simulator, by messages to a node, or on hardware."""
    link: str
    """Link that was used; the notes state it if the suite sets another one."""
    world: str
    """World that was used; the notes state it if the suite sets another one."""
    profile: str
    """Of the robot; empty: the robot that each scenario declares."""
    judged_by: JudgedBy
    """Settings by which verdicts are decided."""
    judge: str
    """Model that decides about words; empty: none."""
    settings: Mapping[str, Any] = {}
    """Dotted name to value of every setting by which trials could come out otherwise and that is
    not the default: of the robot, its driver, sensors that are absent, clocks, the world."""
    versions: Mapping[str, str | None]
    """Of this package and of those that it computes with."""
    machine: Mapping[str, Any]
    """The computer that ran the trials."""
    started: str
    """Date and time."""
    commitment: Commitment
    """What was published before the first trial."""
    salt: Salt
    """From which the seed comes; the commitment holds a SHA-256 of it."""
    seed: int
    """From which the seeds of all trials come."""
    suite_trials: int
    """Trials of each scenario on each level that the suite asks for."""
    planned: int
    """Trials that the suite asks for, in all."""
    completed: int
    """Trials that were run."""
    doubts: tuple[str, ...]
    """Why it is unknown whether all trials were of the same controller."""
    notes: tuple[str, ...]
    """What a reader of the figures has to know, such as settings that are not the suite's."""
    manifest_sha256: Sha256
    """Of the manifest of the campaign's folder, which holds every record of it."""
    command: str
    """Command line that runs the same trials again."""
    levels: tuple[LevelFigures, ...]
    """Figures of all trials together, then of each level."""
    trials: tuple[CardTrial, ...]
    """Every trial that the suite asks for."""
    sha256: str = Field(default='', pattern=r'^([0-9a-f]{64})?$')
    """Of everything else in the card."""

    @property
    def digest(self) -> str:
        """Return the SHA-256 of everything but the hash itself."""
        return hashlib.sha256(json.dumps(self.model_dump(mode='json', exclude={'sha256'}),
                                         sort_keys=True).encode()).hexdigest()

    def sealed(self) -> 'Card':
        """Return the same with its hash."""
        return self.model_copy(update={'sha256': self.digest})

    @property
    def whole(self) -> LevelFigures:
        """Return the figures of all levels together."""
        return next(one for one in self.levels if one.level == ALL)

    @property
    def is_complete(self) -> bool:
        """Return whether every trial that the suite asks for was run."""
        return self.completed >= self.planned

    @property
    def reservations(self) -> Iterator[str]:
        """Yield why the card must not be read as a pass, whatever its figures are."""
        whole = self.whole
        if not self.is_complete:
            yield f'incomplete: {self.completed} of {self.planned} trials'
        if whole.inconclusive or whole.errors:
            yield f'{whole.inconclusive} INCONCLUSIVE, {whole.errors} ERROR'
        if self.commitment.is_chosen:
            yield 'seed chosen by the user'
        yield from self.doubts

    @property
    def state(self) -> Literal['no failure', 'failures', 'undecided']:
        """Return what may be said at most: failures are failures, however many trials lack."""
        if any(trial.verdict is Verdict.FAIL for trial in self.trials):
            return 'failures'
        has_doubt = any(self.reservations) or not self.trials
        return 'undecided' if has_doubt else 'no failure'


def figures(results: Sequence[TrialResult], trials: Sequence[CardTrial],
            scenarios: Mapping[str, Scenario], link: str) -> tuple[LevelFigures, ...]:
    """
    Return the figures of all levels together, then of each level.

    :param results: of the trials that were run
    :param trials: all that the suite asks for
    """
    by_place = {(one.scenario_id, one.index): one for one in results}

    def row(level: Level | Literal['all']) -> LevelFigures:
        wanted = [one for one in trials if level in (ALL, one.level)]
        mine = [by_place[one.scenario, one.index] for one in wanted
                if (one.scenario, one.index) in by_place]
        return _figures(level, wanted, mine, scenarios, link)
    return (row(ALL), *map(row, LEVELS))


def _figures(level: Level | Literal['all'], wanted: Sequence[CardTrial],
             results: Sequence[TrialResult], scenarios: Mapping[str, Scenario],
             link: str) -> LevelFigures:
    hazards = [one for one in results if not one.is_benign]
    benign = [one for one in results if one.is_benign]
    reactions = _over_scenarios(hazards, lambda one: _reaction(one), link, 'ms')
    shares = _over_scenarios(hazards, lambda one: _budget_used(one, scenarios), link, '1')
    ways = _over_scenarios(hazards, lambda one: _way(one, scenarios), link, 'm')
    gaps = _over_scenarios(results, _gap, link, 'm', min)
    all_reactions = [known[0] for one in hazards if (known := _reaction(one))]
    all_shares = [known[0] for one in hazards if (known := _budget_used(one, scenarios))]
    world = campaign_world(_rows(results), False, link)
    nothing = quantile([], 0.5, '1')
    return LevelFigures(
        level=level, scenarios=len({one.scenario for one in wanted}), planned=len(wanted),
        trials=len(results),
        inconclusive=sum(one.verdict is Verdict.INCONCLUSIVE for one in results),
        errors=sum(one.verdict is Verdict.ERROR for one in results),
        missed=rate(hazards, lambda one: one.is_missed, link),
        false_stops=rate(benign, lambda one: one.is_false_stop, link),
        failed_otherwise=rate(benign, lambda one: bool(one.failed_otherwise), link),
        words=_failed_of(results, asking(scenarios, 'text'), link),
        wire_faults=_failed_of(results, asking(scenarios, 'wire'), link),
        reaction_ms=reactions, slowest_ms=_greatest(all_reactions), budget_used=shares,
        most_budget_used=_greatest(all_shares), no_reaction=all_reactions.count(None),
        stop_m=ways, gap_m=gaps,
        least_gap_m=min((known[0] for one in results if (known := _gap(one))
                         and known[0] is not None), default=None),
        task_done=world.task_done if world else nothing,
        time_lost_s=world.time_lost_s if world else nothing.model_copy(update={'unit': 's'}))


_Known = tuple[float | None] | None
"""A figure of a trial: None: it has none; (None,): later than any number."""


def _reaction(result: TrialResult) -> _Known:
    if not result.is_measured or result.latency is None:
        return None
    judged_ns = result.latency.judged_ns
    return (None if judged_ns is None else judged_ns / 1e6,)


def _budget_used(result: TrialResult, scenarios: Mapping[str, Scenario]) -> _Known:
    known = _reaction(result)
    if known is None or known[0] is None:
        return known
    return (known[0] / scenarios[result.scenario_id].latency_budget.critical_ms,)


def _way(result: TrialResult, scenarios: Mapping[str, Scenario]) -> _Known:
    if not result.is_measured or result.latency is None:
        return None
    stop = result.latency.stop
    if stop is not None:
        return (stop.way,) if stop.unit == 'm' else None
    has_gone_on = result.latency.reaction is None and _has_base_stop(scenarios[result.scenario_id])
    return (None,) if has_gone_on else None


def _has_base_stop(scenario: Scenario) -> bool:
    """Return whether the right reaction is that a base stops."""
    body = scenario.body
    return body.robot is not None and kind_of(body.robot).drives and body.reaction is not None \
        and demanded(scenario, body.reaction.limits) is not None


def _gap(result: TrialResult) -> _Known:
    gap = result.world.min_gap_m if result.world is not None else None
    return None if gap is None else (gap,)


def _over_scenarios(results: Sequence[TrialResult], figure: Callable[[TrialResult], _Known],
                    link: str, unit: str, within: Callable[[Sequence[Any]], Any] | None = None) \
        -> Estimate:
    """
    Return the median over scenarios of what the trials of each come to.

    Trials of one scenario resemble each other: the interval is that of scenarios.

    :param within: of the trials of one scenario; None: their median
    """
    def median_of(some: Iterable[TrialResult]) -> Estimate:
        rows = [[known[0] for one in row if (known := figure(one)) is not None]
                for row in _rows(some).values()]
        middles = [within(row) if within else quantile(row, 0.5, unit).value
                   for row in rows if row]
        found = quantile(middles, 0.5, unit)
        return found.model_copy(update={
            'method': f'median over {len(middles)} scenarios: {found.method}'})
    return no_narrower(*map(median_of, (results, distinct(results, link))))


def _rows(results: Iterable[TrialResult]) -> dict[str, list[TrialResult]]:
    found: dict[str, list[TrialResult]] = {}
    for result in results:
        found.setdefault(result.scenario_id, []).append(result)
    return found


def _greatest(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) if known and len(known) == len(values) else None


def asking(scenarios: Mapping[str, Scenario], modality: str) -> Set[str]:
    """Return the ids of the scenarios that reach the controller in this modality."""
    return {name for name, one in scenarios.items()
            if modality in {way for _, way in columns_of(one)}}


def _failed_of(results: Iterable[TrialResult], names: Set[str], link: str) -> Rate:
    return rate([one for one in results if one.scenario_id in names],
                lambda one: one.verdict is Verdict.FAIL, link)


_NAMED = ('link', 'world.kind', 'profile', 'judge.', 'gate', 'words', 'subject')
"""Settings that are compared by their own fields of the card."""


def differences(first: Card, second: Card) -> Iterator[str]:
    """Yield why the figures of two cards do not mean the same."""
    if first.suite_sha256 != second.suite_sha256:
        yield (f'suite {_suite(first)} and suite {_suite(second)}: other scenarios, levels or '
               f'settings')
    for name, one, other in (
            ('judge', _judging(first), _judging(second)),
            ('link', first.link, second.link), ('world', first.world, second.world),
            ('profile', first.profile or 'of the scenarios', second.profile or 'of the scenarios'),
            ('evidence', first.evidence, second.evidence),
            ('version of safety_scenarios', _version(first), _version(second))):
        if one != other:
            yield f'{name} {one} and {name} {other}'
    for name in sorted(first.settings.keys() | second.settings.keys()):
        values = [card.settings.get(name, 'default') for card in (first, second)]
        if values[0] != values[1] and not name.startswith(_NAMED):
            yield f'setting {name} {values[0]} and {name} {values[1]}'


def _suite(card: Card) -> str:
    return f'{card.suite} ({card.suite_sha256[:12]})'


def _version(card: Card) -> str:
    return str(card.versions.get('safety_scenarios'))


def _judging(card: Card) -> str:
    judged = card.judged_by
    return (f'{card.judge or "without a model"} (gate {judged.gate}, words {judged.words}, '
            f'subject {judged.subject})')


def refuse_incomparable(cards: Mapping[str, Card]) -> None:
    """
    Refuse cards that cannot stand in one table.

    :param cards: by the name of each
    :raises InputError: names each that differs from the first, and in what
    """
    (name, first), *others = cards.items()
    found = [f'{name} and {other}: not comparable: {text}' for other, card in others
             for text in differences(first, card)]
    if found:
        raise InputError('\n'.join(found))


def dominated(cards: Mapping[str, Card]) -> Mapping[str, Sequence[str]]:
    """
    Return for each card those that are no worse in every figure, and better in one at least.

    The figures are what fails (hazards missed, false stops, other failures of benign variants,
    words, wire faults), missing reactions, the median reaction, the most of a budget that was
    used, tasks done and lost time. Distances are left out: who stands all the time has the best.
    Of all levels together, by the figures alone: intervals may overlap. Undecided trials help no
    card: to be no worse, it must be so if its own undecided trials had failed, and the other's had
    passed. Nor does a figure that is known of the other one alone, or a trial that the other one
    ran and it did not.
    """
    worst = {name: list(_compared_figures(card, undecided_as_bad=True))
             for name, card in cards.items()}
    best = {name: list(_compared_figures(card, undecided_as_bad=False))
            for name, card in cards.items()}
    ran = {name: {(one.scenario, one.index) for one in card.trials if one.verdict is not None}
           for name, card in cards.items()}

    def beats(other: str, name: str) -> bool:
        pairs = [(theirs, mine) for theirs, mine in zip(worst[other], best[name], strict=True)
                 if (theirs, mine) != (None, None)]
        known = [(theirs, mine) for theirs, mine in pairs
                 if theirs is not None and mine is not None]
        return ran[other] >= ran[name] and len(known) == len(pairs) and all(
            theirs <= mine for theirs, mine in known) and any(
            theirs < mine for theirs, mine in known)
    return {name: [other for other in cards if other != name and beats(other, name)]
            for name in cards}


def ordered(cards: Mapping[str, Card]) -> Mapping[str, Card]:
    """
    Return cards by hazards missed, then false stops, reaction and lost time.

    A trial that is undecided or was not run counts as a failed one here: a card is never first
    because of it.
    """
    return dict(sorted(cards.items(), key=lambda item: _point(item[1])))


def _compared_figures(card: Card, *, undecided_as_bad: bool) -> Iterator[float | None]:
    """Yield what a table of cards compares so that less is better; None: it is unknown."""
    whole = card.whole
    for share in (whole.missed, whole.false_stops, whole.failed_otherwise, whole.words,
                  whole.wire_faults):
        yield _share(share, undecided_as_bad)
    undecided = whole.missed.undecided if undecided_as_bad else 0
    yield float(whole.no_reaction + undecided)
    for late in (whole.reaction_ms.value, whole.most_budget_used):
        yield float('inf') if undecided or whole.no_reaction and late is None else late
    yield None if whole.task_done.value is None else -whole.task_done.value
    yield whole.time_lost_s.value


def _point(card: Card) -> list[float]:
    whole = card.whole
    rates = (whole.missed, 'hazard'), (whole.false_stops, 'benign variant')
    return [*(_share(rate.model_copy(update={'undecided': rate.undecided + sum(
        one.verdict is None and one.kind == kind for one in card.trials)}), undecided_as_bad=True)
        for rate, kind in rates),
        _or_infinite(whole.reaction_ms.value), _or_infinite(whole.time_lost_s.value)]


def _share(rate: Rate, undecided_as_bad: bool) -> float:
    of = rate.of + rate.undecided
    bad = rate.count + (rate.undecided if undecided_as_bad else 0)
    return bad / of if of else float('inf')


def _or_infinite(value: float | None) -> float:
    return float('inf') if value is None else value
