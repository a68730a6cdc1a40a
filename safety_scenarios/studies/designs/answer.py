# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The answer to a locked question, by the test that was locked with it, from the records."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
import json
import math
from pathlib import Path
from typing import Literal

from safety_scenarios.campaign.folder.folder import SETTINGS, Settings, settings_of
from safety_scenarios.campaign.rejudging.rejudge import flaw_lines, NOT_RUN, rejudge, Rejudging
from safety_scenarios.campaign.statistics.paired import Both, differing, Pairs, signs
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    difference_of_shares,
    distinct,
    is_at_most,
    no_narrower,
)
from safety_scenarios.campaign.statistics.quantiles import is_due
from safety_scenarios.campaign.statistics.sequential import anytime, AT_ANY_STOP
from safety_scenarios.errors import counted, in_words, InputError, TraceError
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.rounding import figures_down
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.studies.designs.claim import Claim, read_claim
from safety_scenarios.studies.designs.design import (
    configuration_of,
    KEY,
    Lock,
    LOCKED,
    OPENED,
    opened_key,
    Outcome,
    read_lock,
    settings_unlike,
    trials_digest,
)
from safety_scenarios.studies.matrix.arm_comparison import ArmDone, check, FEWEST_CLUSTERS
from safety_scenarios.studies.matrix.file import FILE
from safety_scenarios.studies.matrix.run import effective_in
from safety_scenarios.trial.trial import PlannedTrial

_SHARES = (0.125, 0.25, 0.5, 1.0)
"""Of the rounds: when a difference is tested."""
Key = tuple[str, int]
"""Scenario id and index of a trial."""


@dataclass(frozen=True)
class Rounds:
    """The rounds of a design, and how many of them are complete."""

    planned: Mapping[str, tuple[int, ...]]
    """Scenario id to the indices of its trials, in order."""
    complete: int

    @classmethod
    def of(cls, planned: Iterable[PlannedTrial], made: Collection[Key]) -> 'Rounds':
        """
        Return the rounds of an arm.

        :param made: trials that every arm has made
        """
        indices: dict[str, list[int]] = {}
        for one in planned:
            if one.index >= 0:
                indices.setdefault(one.scenario_id, []).append(one.index)
        found = cls({name: tuple(sorted(mine)) for name, mine in indices.items()}, 0)
        return cls(found.planned, bisect_left(
            range(1, found.total + 1), True, key=lambda many: not found.first(many) <= set(made)))

    @property
    def total(self) -> int:
        """Return how many rounds were planned: trials of the scenario that has most."""
        return max(map(len, self.planned.values()), default=0)

    def first(self, many: int) -> set[Key]:
        """Return the trials of the first rounds, of each scenario an equal share of its own."""
        return {(name, index) for name, mine in self.planned.items()
                for index in mine[:math.ceil(many * len(mine) / max(1, self.total))]}

    @property
    def looks(self) -> list[int]:
        """Return after how many rounds a difference is tested."""
        return sorted({math.ceil(share * self.total) for share in _SHARES} - {0})

    @property
    def look(self) -> int:
        """Return the last look whose rounds are complete; 0: none is."""
        return max((one for one in self.looks if one <= self.complete), default=0)

    @property
    def described(self) -> str:
        """Return which look it is, for the method of an estimate."""
        return f'after {self.look} of {self.total} rounds, one of {len(self.looks)} looks that ' \
               f'share the error, {AT_ANY_STOP}'

    def without_trials(self, made: Collection[Key]) -> list[str]:
        """Return the scenarios of which no trial was made."""
        have = {name for name, _ in made}
        return sorted(self.planned.keys() - have)


Shown = Literal['shown', 'not shown', 'cannot be determined']


class ClaimAnswer(Noun):
    """Whether an acceptance limit was shown of the better arm."""

    claim: str
    shown: Shown
    bad: int
    """Bad trials, undecided ones included."""
    trials: int
    """All trials that the claim is about; ``n`` of the bound counts those that differ."""
    bound: Estimate


class Answer(Noun):
    """What a locked question came to."""

    question: str
    statement: str
    """What was to be shown."""
    shown: Shown
    estimate: Estimate | None
    """Share of pairs in which only the other arm is bad, less that in which only this one is; the
    lower end is one-sided."""
    reasons: tuple[str, ...]
    """Why it cannot be determined, or is not shown."""
    claims: tuple[ClaimAnswer, ...]
    sha256: str
    """Of the lock."""
    opened: str = ''
    """When the codes of the arms were opened; empty: they were not blinded."""


def is_locked(folder: Path) -> bool:
    """
    Return whether a folder is that of a locked design.

    :raises InputError: its arms are of a locked design, and the lock is gone
    """
    if (folder / LOCKED).exists():
        return True
    for place in sorted(folder.iterdir()) if (folder / FILE).exists() else ():
        if (place / SETTINGS).is_file() and (design := settings_of(place).run.design):
            raise InputError(f'{folder / LOCKED}: missing, expected the lock with SHA-256 '
                             f'{design[:12]}, which {place.name}/{SETTINGS} names: it was '
                             f'removed after the run')
    return False


def answer(folder: Path) -> Answer:
    """
    Return the answer that the trials in a folder give, judged again from their records.

    :raises InputError: the lock cannot be read, or was changed
    """
    lock = read_lock(folder / LOCKED)
    design, doubts = lock.design, list[str]()
    results: dict[str, Sequence[TrialResult]] = {}
    planned: Sequence[PlannedTrial] = ()
    done: dict[str, ArmDone] = {}
    codes, opened = _codes(lock, folder, doubts)
    link = ''
    for arm in lock.arms:
        place = folder / codes.get(arm, arm)
        try:
            settings = settings_of(place)
            link, planned = settings.run.link, settings.plan or ()
            doubts += [f'arm {arm}: {text}' for text in _unlike(lock, arm, place, settings)]
            found = rejudge(place)
            may_end = design.stop == 'any' and not _has_gaps(found)
            doubts += [f'arm {arm}: {text}' for text in flaw_lines([
                flaw for flaw in found.flaws
                if not (may_end and flaw.message.endswith(NOT_RUN))], 5)]
            doubts += [f'arm {arm}: {text}' for text in (
                found.summary.sut.doubts if found.summary.sut else ())]
            results[arm] = [one.after for one in found if not one.after.warmup]
            done[arm] = ArmDone(place, results[arm], found.summary, effective_in(place).shown)
        except (InputError, TraceError) as error:
            doubts.append(f'arm {arm}: {in_words(error):.300}')
    known = {path.name for path in folder.iterdir() if (path / 'settings.json').is_file()}
    more = sorted(known - {codes.get(arm, arm) for arm in lock.arms})
    doubts += [f'got arm {name}, which the lock does not have' for name in more]
    if len(done) == len(lock.arms):
        doubts += check({name: done[name] for name in (design.better, design.than)}).warnings
    statement = _statement(lock)
    if doubts or len(results) < len(lock.arms):
        return Answer(question=design.question, statement=statement, shown='cannot be determined',
                      estimate=None, reasons=tuple(doubts), claims=(), sha256=lock.sha256,
                      opened=opened)
    better, than = results[design.better], results[design.than]
    rounds = Rounds.of(planned, {_key(one) for one in better} & {_key(one) for one in than})
    if design.stop == 'planned':
        estimate, shown, reasons = _test(lock, *_pairs(better, than, design.outcome), link)
    else:
        estimate, shown, reasons = _tested_early(lock, rounds, better, than, link)
        better = _within(better, rounds, rounds.complete)
    return Answer(question=design.question, statement=statement, shown=shown, estimate=estimate,
                  reasons=reasons, claims=tuple(
                      claim_answer(read_claim(text), better, link,
                                   at_any_stop=design.stop == 'any')
                      for text in design.claims), sha256=lock.sha256, opened=opened)


def _has_gaps(found: Rejudging) -> bool:
    """Return whether of some scenario a trial is missing that is not one of the last."""
    indices: dict[str, list[int]] = {}
    for one in found:
        indices.setdefault(one.after.scenario_id, []).append(one.after.index)
    return any(sorted(mine) != list(range(min(mine), min(mine) + len(mine)))
               or min(mine) > 0 for mine in indices.values())


def _codes(lock: Lock, folder: Path, doubts: list[str]) -> tuple[Mapping[str, str], str]:
    """Return arm to code, and when the codes were opened."""
    if lock.key is None:
        return {}, ''
    try:
        key = json.loads((folder / KEY).read_text(encoding='utf-8'))
        opened = str(json.loads((folder / OPENED).read_text(encoding='utf-8'))['at'])
        return opened_key(lock, key, KEY), opened
    except InputError as error:
        doubts.append(str(error))
    except (OSError, ValueError, KeyError, TypeError) as error:
        doubts.append(f'{KEY}: cannot be read: {in_words(error):.200}')
    return {}, ''


def _unlike(lock: Lock, arm: str, place: Path, settings: Settings) -> Iterator[str]:
    """Yield what of an arm is not as it was locked."""
    locked = lock.arms[arm]
    if settings.run.design != lock.sha256:
        yield (f'got the hash {settings.run.design[:12] or "none"}... of a design, expected '
               f'{lock.sha256[:12]}...: the lock was changed after its trials, or they belong to '
               f'another one')
    began = json.loads((place / 'settings.json').read_text(encoding='utf-8')).get('started', '')
    if not _is_later(began, lock.locked_at):
        yield f'began at {began or "an unknown time"}, expected after the lock of {lock.locked_at}'
    if settings.plan is None or trials_digest(settings.plan) != locked.plan:
        yield ('got other trials than were locked, expected these and no more: trials were added, '
               'left out or drawn by another seed')
    if settings.version != lock.version:
        yield f'got version {settings.version}, expected {lock.version}'
    for name in sorted(lock.scenarios.keys() | settings.scenarios.keys()):
        if settings.scenarios.get(name) != lock.scenarios.get(name):
            yield f'scenario {name} is another one than was locked'
    got = configuration_of(effective_in(place).shown)
    for name in sorted(got.keys() | locked.configuration.keys()):
        if got.get(name) != locked.configuration.get(name):
            yield (f'{name}: got {got.get(name, "nothing")}, expected '
                   f'{locked.configuration.get(name, "nothing")}')
    for name in settings_unlike(lock, arm, settings.raw):
        yield f'setting {name} is another one than was locked'


def _is_later(began: str, locked: str) -> bool:
    try:
        return datetime.fromisoformat(began) >= datetime.fromisoformat(locked)
    except (ValueError, TypeError):
        return False


def _statement(lock: Lock) -> str:
    design = lock.design
    if design.outcome == 'reaction':
        return f'{design.better} reacts earlier than {design.than}'
    if design.margin:
        return (f'{design.better} has at most {100 * design.margin:g} % more {design.outcome} '
                f'than {design.than}')
    return f'{design.better} has fewer {design.outcome} than {design.than}'


def _pairs(better: Sequence[TrialResult], than: Sequence[TrialResult],
           outcome: Outcome) -> tuple[Pairs, int]:
    """Return the pairs of trials that the outcome is about, and how many trials have no pair."""
    def is_meant(result: TrialResult) -> bool:
        return outcome == 'failures' or result.is_benign is (outcome == 'false stops')
    others = {(one.scenario_id, one.index, one.seed): one for one in than if is_meant(one)}
    found: dict[str, list[Both]] = {}
    alone = 0
    for one in better:
        if not is_meant(one):
            continue
        other = others.pop((one.scenario_id, one.index, one.seed), None)
        if other is None:
            alone += 1
        else:
            found.setdefault(one.scenario_id, []).append((one, other))
    return found, alone + len(others)


def _key(result: TrialResult) -> Key:
    return result.scenario_id, result.index


def _within(results: Sequence[TrialResult], rounds: Rounds, many: int) -> list[TrialResult]:
    """Return the trials of the first rounds."""
    first = rounds.first(many)
    return [one for one in results if _key(one) in first]


def _value(pair: Both, outcome: Outcome) -> int | None:
    """Return 1 where the arm to be better is so in a pair, -1 where it is worse; None: unknown."""
    if outcome == 'reaction':
        sign = [key for key, count in signs({'': [pair]})[''].items() if count]
        return sign[0] if sign else None
    if not (pair[0].is_decided and pair[1].is_decided):
        return None
    bad = [one.is_false_stop if outcome == 'false stops' else one.verdict is Verdict.FAIL
           for one in pair]
    return bad[1] - bad[0]


_Tested = tuple[Estimate | None, Shown, tuple[str, ...]]


def _tested_early(lock: Lock, rounds: Rounds, better: Sequence[TrialResult],
                  than: Sequence[TrialResult], link: str) -> _Tested:
    """Carry out the locked test at the last look whose rounds of trials are complete."""
    made = {_key(one) for one in better} & {_key(one) for one in than}
    if lacking := rounds.without_trials(made):
        return None, 'cannot be determined', (
            f'no pair of trials of {" ".join(lacking)}, expected some of every planned scenario. '
            f'Go on with run --resume',)
    if not rounds.look:
        return None, 'cannot be determined', (
            f'{counted(rounds.complete, "round")} complete (one trial of each scenario in both '
            f'arms), expected {rounds.looks[0]} for the first look. Go on with run --resume',)
    design = lock.design
    share = (1.0 - design.confidence) / len(rounds.looks)
    pairs, missing = _pairs(_within(better, rounds, rounds.look),
                            _within(than, rounds, rounds.look), design.outcome)
    found, shown, reasons = _test(lock, pairs, missing, link, 1.0 - share)
    return found and found.model_copy(update={
        'confidence': design.confidence,
        'method': f'{found.method}; {rounds.described}'}), shown, reasons


def _test(lock: Lock, pairs: Pairs, missing: int, link: str,
          confidence: float | None = None) -> _Tested:
    """
    Carry out the locked test, with undecided pairs left out and with all of them against it.

    :param confidence: one-sided; None: that of the design
    """
    design = lock.design
    confidence = confidence or design.confidence
    planned = sum(map(len, pairs.values())) + missing
    if not planned:
        return None, 'cannot be determined', (f'no trial is about {design.outcome}',)
    if missing:
        return None, 'cannot be determined', (
            f'{counted(missing, "trial")} of one arm without that of the other: the design asks '
            f'for all planned trials',)
    some = (pairs, differing(pairs, link))
    decided, worst = (no_narrower(*(
        _estimate([[_value(pair, design.outcome) for pair in mine]
                   for mine in one.values()], undecided, confidence) for one in some))
        for undecided in (None, -1))
    open_ = sum(_value(pair, design.outcome) is None for mine in pairs.values() for pair in mine)
    limit = -design.margin
    if decided.low is None:
        return decided, 'cannot be determined', ('no pair of trials is decided in both arms',)
    if decided.low <= limit:
        return decided, 'not shown', (
            f'the lower end is {figures_down(100 * decided.low, 3)} %, expected above '
            f'{100 * limit if limit else 0:g} %',)
    if open_ and (worst.low is None or worst.low <= limit):
        return decided, 'cannot be determined', (
            f'{counted(open_, "pair")} undecided (INCONCLUSIVE, ERROR or not measured): were they '
            f'all against {design.better}, it would not be shown',)
    return decided, 'shown', ()


def _estimate(scenarios: Sequence[Sequence[int | None]], undecided: int | None,
              confidence: float) -> Estimate:
    """
    Return the mean of the pairs' values with its one-sided lower end.

    Of six scenarios and more it is about scenarios like them, of fewer about their trials.

    :param undecided: the value of a pair that is unknown; None leaves it out
    """
    known = [[undecided if value is None else value for value in mine] for mine in scenarios]
    made = [[value for value in mine if value is not None] for mine in known]
    made = [mine for mine in made if mine]
    units = made if len(made) >= FEWEST_CLUSTERS else [[value] for mine in made for value in mine]
    found = difference_of_shares([(mine.count(1), mine.count(-1), len(mine)) for mine in units],
                                 2.0 * confidence - 1.0)
    return found.model_copy(update={
        'high': None, 'confidence': confidence,
        'method': found.method.replace('two-sided', 'one-sided lower')})


def claim_answer(claim: Claim, results: Sequence[TrialResult], link: str, *,
                 at_any_stop: bool) -> ClaimAnswer:
    """
    Return whether an acceptance limit was shown; what is undecided counts as bad.

    :param at_any_stop: the number of trials was not fixed beforehand
    """
    meant = [one for one in results if claim.subject in ('failure rate', 'pass rate')
             or (claim.subject == 'reaction' and is_due(one))
             or (claim.subject in ('miss rate', 'false stop rate')
                 and one.is_benign is (claim.subject == 'false stop rate'))]
    upper = anytime if at_any_stop else clopper_pearson
    bound = no_narrower(*(upper(sum(_is_bad(claim, one) for one in some), len(some),
                                claim.confidence, 'upper')
                          for some in (meant, distinct(meant, link))))
    return ClaimAnswer(claim=str(claim), bad=sum(_is_bad(claim, one) for one in meant),
                       trials=len(meant), bound=bound, shown='cannot be determined' if not meant
                       else 'shown' if is_at_most(bound, claim.failure_rate) else 'not shown')


def _is_bad(claim: Claim, result: TrialResult) -> bool:
    if claim.subject == 'reaction':
        latency = result.latency
        if not (result.is_measured and result.is_decided) or latency is None \
                or latency.reaction is None:
            return True
        late_ns = latency.reaction.judged_ns + latency.reaction.uncertainty_ns
        return late_ns / 1e6 > claim.limit
    if claim.subject == 'false stop rate':
        return result.is_false_stop or not result.is_decided
    return result.verdict is not Verdict.PASS
