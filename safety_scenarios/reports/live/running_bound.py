# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How many trials fail at most, while a campaign runs: whoever ends it early is not fooled."""

from collections.abc import Callable

from safety_scenarios.campaign.statistics.confidence_sequences import anytime
from safety_scenarios.campaign.statistics.proportions import no_narrower, what_came_of
from safety_scenarios.reports.page.source import percent_up
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict

_EVERY_S = 1.0
"""The bound costs milliseconds, a trial may cost less."""


class RunningBound:
    """
    Bounds the share of trials that do not pass; those that came out alike do not narrow it.

    :param link: over which they are run
    :param now_s: steady time
    """

    def __init__(self, link: str, now_s: Callable[[], float]) -> None:
        self._link, self._now_s = link, now_s
        self._seen: set[int] = set()
        self._made = self._bad = self._alike_bad = 0
        self._told_s: float | None = None
        self._text = ''

    def take(self, result: TrialResult) -> None:
        """Count a trial."""
        if result.warmup:
            return
        key = hash(what_came_of(result, self._link))
        is_bad = result.verdict is not Verdict.PASS
        self._made += 1
        self._bad += is_bad
        self._alike_bad += is_bad and key in self._seen
        self._seen.add(key)

    @property
    def text(self) -> str:
        """Return the bound in words, at most a second old; empty where there is none."""
        now_s = self._now_s()
        if self._told_s is None or now_s - self._told_s >= _EVERY_S:
            high = no_narrower(*(anytime(bad, of, sided='upper') for bad, of in (
                (self._bad, self._made),
                (self._bad - self._alike_bad, len(self._seen))))).high
            self._text = '' if high is None or high >= 1.0 else \
                f'at most {percent_up(high)} do not pass (95 %, at any stop)'
            self._told_s = now_s
        return self._text
