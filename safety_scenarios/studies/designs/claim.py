# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A claim such as ``miss rate <= 1e-3 at 95 %``, and how many trials it takes.

::

    claim      = subject relation number [unit] ["at" number "%"]
    subject    = "miss rate" | "false stop rate" | "failure rate" | "pass rate"
               | "p" number "reaction" | "difference of failures"
    relation   = "<=" | ">="
    unit       = "%" | "ms" | "s"
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import count
import json
import math
from pathlib import Path
import re
from statistics import NormalDist
from typing import Literal

from safety_scenarios.campaign.folder.folder import read_trials, SETTINGS, TRIALS
from safety_scenarios.campaign.statistics.proportions import difference_of_shares
from safety_scenarios.campaign.statistics.quantiles import wilks_n
from safety_scenarios.campaign.statistics.sequential import anytime_n, bounded
from safety_scenarios.campaign.statistics.special_functions import binomial_tails
from safety_scenarios.errors import did_you_mean, in_words, SettingsError
from safety_scenarios.studies.matrix.file import matrix_around

Subject = Literal['miss rate', 'false stop rate', 'failure rate', 'pass rate', 'reaction',
                  'difference of failures']
EXAMPLES = ('miss rate <= 1e-3 at 95 %', 'false stop rate <= 2 %', 'pass rate >= 99 % at 95 %',
            'p99 reaction <= 500 ms at 95 %', 'difference of failures <= 2 %')
_CONFIDENCE = 0.95
_LONGEST = 200
_WORD = re.compile(r'<=|>=|%|[0-9.]+(?:e[+-]?[0-9]+)?|[a-z]+|\S', re.ASCII)
_SHARES: Sequence[Subject] = (
    'miss rate', 'false stop rate', 'failure rate', 'pass rate', 'difference of failures')


@dataclass(frozen=True)
class Claim:
    """What shall be shown of a controller, or of two."""

    subject: Subject
    limit: float
    """Greatest share of trials; of ``pass rate`` the least one; of ``reaction`` a time in ms."""
    confidence: float = _CONFIDENCE
    """One-sided."""
    quantile: float = 0.99
    """Of a reaction: which quantile of its time."""

    @property
    def failure_rate(self) -> float:
        """
        Return which rate of bad trials has to be excluded; that rate itself is not bad enough.

        A trial is bad that misses, stops without need, fails, or reacts later than the limit; of
        a difference, a pair of trials in which only the second fails.
        """
        if self.subject == 'reaction':
            return 1.0 - self.quantile
        return 1.0 - self.limit if self.subject == 'pass rate' else self.limit

    @property
    def bad(self) -> str:
        """Return what a bad trial is called."""
        return {'miss rate': 'missed hazard', 'false stop rate': 'false stop',
                'reaction': 'later or missing reaction',
                'difference of failures': 'failure of the second arm alone'}.get(
                    self.subject, 'failure')

    def __str__(self) -> str:
        relation = '>=' if self.subject == 'pass rate' else '<='
        name, limit = str(self.subject), f'{self.limit:g}'
        if self.subject == 'reaction':
            name, limit = f'p{100.0 * self.quantile:.12g} reaction', f'{self.limit:g} ms'
        return f'{name} {relation} {limit} at {100.0 * self.confidence:.12g} %'


def read_claim(text: str, where: str = '--claim') -> Claim:
    """
    Return the claim that a text states.

    :param where: what the text was given by, for messages
    :raises SettingsError: it states none, and what would
    """
    if len(text) > _LONGEST:
        raise SettingsError(f'{where}: got {len(text)} characters, expected at most {_LONGEST}, '
                            f"such as '{EXAMPLES[0]}'")
    return _Reader(text, where).claim()


class _Reader:
    """Reads one claim, word by word."""

    def __init__(self, text: str, where: str) -> None:
        self._text, self._where = text, where
        self._words = _WORD.findall(text.lower())

    def claim(self) -> Claim:
        subject, quantile = self._subject()
        expected = '>=' if subject == 'pass rate' else '<='
        relation = self._next()
        if relation != expected:
            self._refuse(f'{relation or "the end"!r} behind {subject!r}', f'{expected}: '
                         + ('the rate of passed trials must not be lower'
                            if expected == '>=' else 'it must not be higher'))
        limit = self._time() if subject == 'reaction' else self._share('the limit')
        confidence = _CONFIDENCE
        if self._words:
            word = self._next()
            if word != 'at':
                self._refuse(repr(word), "'at' and a confidence, such as at 95 %, or the end")
            confidence = self._share('the confidence')
            if confidence <= 0.5:
                self._refuse(f'a confidence of {100.0 * confidence:g} %', 'more than 50 %')
        if self._words:
            self._refuse(f'{" ".join(self._words)!r} behind the claim', 'nothing more')
        return Claim(subject, limit, confidence, quantile)

    def _subject(self) -> tuple[Subject, float]:
        words = []
        while self._words and self._words[0] not in ('<=', '>=', '<', '>', '='):
            words.append(self._next())
        if len(words) == 3 and words[0] == 'p' and words[2] == 'reaction':
            share = self._number(words[1], 'a quantile') / 100.0
            if not 0.5 <= share < 1.0:
                self._refuse(f'p{words[1]}', 'p50 to p99.99')
            return 'reaction', share
        name = ' '.join(words)
        for subject in _SHARES:
            if name == subject:
                return subject, 0.99
        self._refuse(repr(name), f'one of {", ".join(_SHARES)}, p99 reaction',
                     did_you_mean(name, _SHARES))
        raise AssertionError

    def _share(self, what: str) -> float:
        """Return a share between 0 and 1, or in percent."""
        text = self._next()
        number = self._number(text, what)
        if self._words[:1] == ['%']:
            self._next()
            number /= 100.0
        elif number >= 1.0:
            self._refuse(f'{what} {text}', f'a share below 1, or {text} %')
        if not 0.0 < number < 1.0:
            self._refuse(f'{what} {text}', 'a share above 0 and below 1 (100 %)')
        return number

    def _time(self) -> float:
        """Return a time in ms."""
        number, unit = self._number(self._next(), 'a time'), self._next()
        if unit not in ('ms', 's'):
            self._refuse(f'{unit or "no unit"!r} behind the time', 'ms or s')
        number *= 1000.0 if unit == 's' else 1.0
        if not 0.0 < number < math.inf:
            self._refuse(f'{number:g} ms', 'a time above 0')
        return number

    def _number(self, text: str, what: str) -> float:
        try:
            found = float(text)
        except ValueError:
            found = math.nan
        if not math.isfinite(found):
            self._refuse(repr(text) if text else 'the end of the text', f'{what}, a number')
        return found

    def _next(self) -> str:
        return self._words.pop(0) if self._words else ''

    def _refuse(self, got: str, expected: str, hint: str = '') -> None:
        raise SettingsError(f"{self._where}: '{self._text}': got {got}, expected {expected}.{hint}"
                            f" For example '{EXAMPLES[0]}'")


ASSUMED_S = 20.0
"""Of a trial over ROS in real time, where none was measured."""
MOST_FAILURES = 5
_EASIER = 10.0
"""The controller that should be accepted is so much better than the claim."""
_POWER = 0.9
_MANY = 300.0
"""Pairs in which exactly one arm fails, from which on the normal approximation is good."""
_FAR = 1e-6
"""Chance of counts that are left out of a power."""
_LEAST_RATE = 1e-8
_LONGEST_S = 366 * 86_400.0


@dataclass(frozen=True)
class TrialsFor:
    """Trials that show a claim with so many bad ones among them."""

    failures: int
    fixed: int
    """Where the number is fixed beforehand, and looked at once."""
    anytime: int | None
    """Where it may be looked at after each trial; None: of a difference, of which none may."""
    power: tuple[float, ...]
    """Chance that ``fixed`` trials have no more bad ones, at each assumed rate."""


@dataclass(frozen=True)
class TrialTime:
    """How long one trial takes."""

    seconds: float
    source: str
    """Where that comes from."""


@dataclass(frozen=True)
class ClaimPlan:
    """What a claim takes."""

    claim: Claim
    assumed: tuple[float, ...]
    """True rates at which the power is given."""
    rows: tuple[TrialsFor, ...]
    sequential: int
    """Trials without a bad one after which a sequential test accepts."""
    sequential_p0: float
    """Rate that this test should accept."""
    pairs: tuple[int, ...]
    """Of a difference: pairs where both arms fail equally often, at each assumed share of pairs
    in which exactly one fails, for a power of 90 %; empty of other claims."""
    time: TrialTime

    def hours(self, trials: int) -> float:
        """Return how long trials take one after the other; of a difference those of both arms."""
        arms = 2 if self.claim.subject == 'difference of failures' else 1
        return trials * arms * self.time.seconds / 3600.0

    def jobs(self, hours: float) -> int:
        """Return how many processes or machines do the first row in so many hours."""
        return max(1, math.ceil(self.hours(self.rows[0].fixed) / hours - 1e-9))


def plan_claim(claim: Claim, time: TrialTime, assumed: Sequence[float] = ()) -> ClaimPlan:
    """
    Return what a claim takes.

    The number of trials with k bad ones is the least n for which the one-sided bound of Clopper
    and Pearson excludes the rate: ``P(X <= k; n, rate) <= 1 - confidence``. A quantile of a
    reaction is the same claim about late ones (Wilks 1941). Of a difference it is the least n for
    which the interval by which a gate decides is within the limit; gains make it no wider.

    :param assumed: true rates, for the power; a tenth and a third of the claimed one if left
        out. Of a difference: shares of pairs in which exactly one arm fails, either equally often
    :raises SettingsError: a rate that no number of trials can show, or that is beyond the claim
    """
    rate = claim.failure_rate
    if rate < _LEAST_RATE:
        raise SettingsError(f"--claim: got '{claim}', expected a rate of bad trials of at least "
                            f'{_LEAST_RATE:g}: fewer cannot be shown by trials')
    is_difference = claim.subject == 'difference of failures'
    most = 1.0 if is_difference else rate
    for one in assumed:
        if not 0.0 < one < most:
            raise SettingsError(f'--assume: got {one:g}, expected a rate above 0 and below '
                                f"{most:g} for the claim '{claim}'")
    rates = tuple(assumed) or (rate / 10.0, rate / 3.0)
    rows = []
    for failures in range(MOST_FAILURES + 1):
        fixed = wilks_n(1.0 - rate, claim.confidence, excluded=failures)
        if is_difference:
            fixed = next(n for n in count(fixed) if _is_within(failures, 0, n, claim))
        rows.append(TrialsFor(
            failures, fixed,
            None if is_difference else anytime_n(rate, failures, claim.confidence),
            tuple(binomial_tails(failures, fixed, one / 2.0 if is_difference else one)[0]
                  for one in rates)))
    pairs = tuple(_pairs(one, claim, rows[0].fixed) for one in rates) if is_difference else ()
    p0 = rate / _EASIER
    return ClaimPlan(claim, rates, tuple(rows), _straight(p0, rate, claim.confidence), p0, pairs,
                     time)


def _straight(p0: float, p1: float, confidence: float) -> int:
    """Return after how many trials without a failure the sequential test accepts."""
    test = bounded(p0, p1, 0.05, 1.0 - confidence)
    most = math.ceil(math.log(1.0 / (1.0 - confidence)) / (math.log1p(-p0) - math.log1p(-p1))) + 1
    while test.decide(0, most - 1) == 'accept':
        most -= 1
    return most


def _is_within(losses: int, gains: int, pairs: int, claim: Claim) -> bool:
    """Return whether a gate accepts a difference by so many pairs that only one arm fails."""
    high = difference_of_shares(Counter({
        (1, 0, 1): losses, (0, 1, 1): gains, (0, 0, 1): pairs - losses - gains}),
        2.0 * claim.confidence - 1.0).high
    return high is not None and high <= claim.limit


def _pairs(discordant: float, claim: Claim, least: int) -> int:
    """
    Return pairs for a difference where neither arm is worse.

    ``discordant (z_confidence + z_power)^2 / margin^2``, the normal approximation for matched
    pairs (Connor 1987, Biometrics 43:207), and where so few pairs differ that it promises too
    much, by the exact power.

    :param discordant: share of pairs in which exactly one of the two fails
    :param least: pairs that show it if none does
    """
    z = NormalDist().inv_cdf(claim.confidence) + NormalDist().inv_cdf(_POWER)
    found = max(least, math.ceil(discordant * z * z / claim.limit**2))
    if found * discordant >= _MANY:
        return found
    most = found
    while _power(most, discordant, claim) < _POWER:
        most *= 2
    return bisect_left(range(most), True, lo=found, key=lambda pairs: _power(
        pairs, discordant, claim) >= _POWER)


def _power(pairs: int, discordant: float, claim: Claim) -> float:
    """Return the chance that a gate accepts where either arm is as often the only one to fail."""
    found, losses = 0.0, -1
    for differ in range(pairs + 1):
        below, above = binomial_tails(differ, pairs, discordant)
        if below < _FAR:
            continue
        if above < _FAR:
            break
        while losses < differ and _is_within(losses + 1, differ - losses - 1, pairs, claim):
            losses += 1  # one more gain lets one more loss pass at most
        found += (below - binomial_tails(differ - 1, pairs, discordant)[0]) \
            * binomial_tails(losses, differ, 0.5)[0]
    return found


def measured_time(folder: Path) -> TrialTime:
    """
    Return how long one process took for a trial of a campaign, its start included.

    From its beginning to its last result, divided by its trials. The arms of a matrix took turns:
    of one of them, or of the folder of all, it is the time of the trials of all.

    :raises SettingsError: the folder does not tell that
    """
    matrix = matrix_around(folder)
    arms = [folder] if matrix is None else [
        one.parent for one in sorted(matrix.glob(f'*/{SETTINGS}'))]
    trials = sum(len(read_trials(one)) for one in arms)
    spans = [_span(one) for one in arms]
    took_s = (max(ended for _, ended, _ in spans) - min(began for began, _, _ in spans)
              ).total_seconds() if spans else 0.0
    if not trials or not 0.0 < took_s < _LONGEST_S:
        raise SettingsError(f'--from: {folder}: got {trials} trials in {took_s:.0f} s, '
                            f'expected a campaign that was run on this machine, as it left its '
                            f'files')
    jobs = max(jobs for *_, jobs in spans)
    beside = f' by {jobs} processes' if jobs > 1 else ''
    return TrialTime(took_s * jobs / trials, f'measured in {folder.absolute().name}: {trials} '
                                             f'trials in {took_s:.1f} s{beside}')


def _span(folder: Path) -> tuple[datetime, datetime, int]:
    """Return when a campaign began and its last result was written, and its processes."""
    try:
        known = json.loads((folder / SETTINGS).read_text(encoding='utf-8'))
        ended = datetime.fromtimestamp((folder / TRIALS).stat().st_mtime, timezone.utc)
        return datetime.fromisoformat(known['started']), ended, int(known['settings']['jobs'])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(f'--from: {folder}: cannot be read: {in_words(error):.200}. Name the '
                            f'folder of a campaign') from None
