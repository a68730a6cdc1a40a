# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Wald's sequential test of a failure rate: when a scenario has had enough trials."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
import math
from typing import Literal

from safety_scenarios.campaign.statistics.special_functions import check_count, check_probability
from safety_scenarios.errors import counted
from safety_scenarios.scenario.settings import SequentialTest

Decision = Literal['accept', 'reject', 'continue']


@dataclass(frozen=True)
class Sprt:
    """
    Sequential probability ratio test; "stop when green" with a fixed-n interval is not one.

    May be asked after every trial. Source: Wald 1945, Ann. Math. Stat. 16:117; IEC 61123. Its
    limits keep the two errors about: at 0.001 against 0.01 the second is 0.0511 for 0.05.
    :func:`bounded` gives the test that keeps them for certain.

    :param p0: failure rate that should be accepted
    :param p1: failure rate that should be rejected, larger than p0
    :param alpha: chance of rejecting at p0
    :param beta: chance of accepting at p1
    :raises ValueError: unless 0 < p0 < p1 < 1, and alpha, beta > 0 with alpha + beta < 1
    """

    p0: float
    p1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ('p0', 'p1', 'alpha', 'beta'):
            check_probability(name, getattr(self, name))
        if self.p0 >= self.p1:
            raise ValueError(f'p1: got {self.p1!r}, expected more than p0 = {self.p0!r}')
        if self.alpha + self.beta >= 1.0:
            raise ValueError(f'alpha + beta: got {self.alpha + self.beta!r}, expected less than 1')

    def decide(self, failures: int, n: int) -> Decision:
        """
        Return what ``failures`` in ``n`` independent trials come to.

        ``accept``: the rate is p0 rather than p1; ``reject``: p1 rather than p0.

        :raises ValueError: unless 0 <= failures <= n
        """
        check_count('n', n, 0)
        check_count('failures', failures, 0, n)
        ratio = failures * math.log(self.p1 / self.p0) + (n - failures) * (
            math.log1p(-self.p1) - math.log1p(-self.p0))
        if ratio >= math.log((1.0 - self.beta) / self.alpha):
            return 'reject'
        return 'accept' if ratio <= math.log(self.beta / (1.0 - self.alpha)) else 'continue'


def bounded(p0: float, p1: float, alpha: float = 0.05, beta: float = 0.05) -> Sprt:
    """
    Return the test that rejects at p0 and accepts at p1 with at most the chances given.

    Its limits of the likelihood ratio are 1 / alpha and beta in place of Wald's
    (1 - beta) / alpha and beta / (1 - alpha). Source: Ville 1939, *Etude critique de la notion de
    collectif*: the ratio is a martingale under p0, and its inverse one under p1.

    :raises ValueError: as :class:`Sprt`
    """
    Sprt(p0, p1, alpha, beta)
    both = 1.0 - alpha * beta
    return Sprt(p0, p1, alpha * (1.0 - beta) / both, beta * (1.0 - alpha) / both)


Decide = Callable[[int, int], str | None]
"""(failures, trials) of one scenario to a decision that makes further trials needless."""
UNDECIDED = 'undecided: SPRT needs more trials'


def undecided(failures: int, trials: int) -> str | None:
    """Return that every planned trial is needed."""
    return None


def decide_by(rule: SequentialTest) -> Decide:
    """Return the sequential test: (failures, trials) to what it has decided, None to go on."""
    if not rule.p1:
        return undecided
    test = bounded(rule.p0, rule.p1, rule.alpha, rule.beta)

    def decide(failures: int, trials: int) -> str | None:
        decision = test.decide(failures, trials)
        return None if decision == 'continue' else (
            f'{decision} after {counted(trials, "trial")} with '
            f'{counted(failures, "failure")}: SPRT of '
            f'{rule.p0:g} against {rule.p1:g}')
    return decide


def not_fixed(rule: SequentialTest, planned: Iterable[tuple[str, int]],
              made: Iterable[tuple[str, int]], decided: Mapping[str, str]) -> Mapping[str, str]:
    """
    Return scenario id to why its number of trials was not fixed beforehand.

    A sequential test that might have ended it is such a reason, and so is a campaign that ended
    before all of its trials.

    :param planned: scenario id and index of each trial; those of warm-up are below 0
    :param made: likewise
    :param decided: scenario id to what the sequential test decided of it
    """
    counts = Counter(name for name, index in made if index >= 0)
    wanted = Counter(name for name, index in planned if index >= 0)
    found = dict.fromkeys(counts, UNDECIDED) if rule.p1 else {}
    return found | {
        name: f'ended after {count} of {counted(wanted[name], "trial")}'
        for name, count in counts.items() if count < wanted[name]} | dict(decided)
