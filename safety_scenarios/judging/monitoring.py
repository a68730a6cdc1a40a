# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a monitor says of each invariant: its finding of now, how sure that is, and how it was so far.

A PASS is shown as OK only while everything that the invariant reads is heard, the clock can be
trusted, and the monitor keeps up. All else is WARN, STALE or ERROR, and never OK.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import enum
import math
from statistics import median

from safety_scenarios.judging.findings.harness import clock_findings, without_clock
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.sliding_window import (
    Cut,
    declared,
    findings_of,
    HEARD,
    reads,
    Window,
)
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import MonitorSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord

LATE_NS = 100_000_000
"""A verdict that is later than this after the event that decides it is late."""
_REACHES_S = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, math.inf)
_KEPT = 1000
"""Latencies of so many verdicts, from which their median is taken."""


class Level(enum.IntEnum):
    """Levels of diagnostic_msgs/msg/DiagnosticStatus (REP 107)."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass
class Watched:
    """One check over the whole run."""

    finding: Finding
    level: Level = Level.STALE
    doubt: str = ''
    """Why a PASS is not shown as one."""
    violations: int = 0
    """How often it began to be violated."""
    failed_ns: int | None = None
    """When it was violated last (steady ns)."""
    was_ok: bool = False
    lost: str = ''
    """Why, after it had been OK, it could not be told any more; the first time."""

    @property
    def verdict(self) -> Verdict:
        """Return what the whole run came to."""
        if self.violations:
            return Verdict.FAIL
        return Verdict.PASS if self.was_ok and not self.lost else Verdict.INCONCLUSIVE


@dataclass(frozen=True)
class NewViolation:
    """A violation that has just begun."""

    number: int
    """From 1."""
    finding: Finding
    cut: Cut
    """What was judged."""
    within_ns: int
    """The event that decided it came at most so long before it was judged."""


class Watch:
    """
    Judges a window again and again.

    :ivar watched: name of each check to what is known of it
    :ivar found: how many violations have begun
    :ivar keeps_up: whether verdicts come soon enough to tell anything
    :ivar judged_ns: up to when (steady) everything has been judged
    :ivar lags_ns: how long after the events that decide them verdicts came, at most
    :ivar unheard: topic to why not everything that is published there can be heard now
    """

    def __init__(self, scenario: Scenario, settings: MonitorSettings, began: Stamps) -> None:
        self.window = Window(scenario, settings, began)
        self.watched: dict[str, Watched] = {}
        self.found = 0
        self.lags_ns: list[int] = []
        self.unheard: Mapping[str, str] = {}
        self.most_lag_ns = 0
        self.late = 0
        self.keeps_up = True
        self._scenario = scenario
        self._before_ns = self._now_ns = -1
        """When it was judged before, and now (steady)."""
        self._stale_ns = round(settings.stale_after_s * 1e9)
        self._began_ns = self.judged_ns = began.steady_ns
        self._hold_ns = round(settings.window_s * 1e9)
        self._reads = {plugin.name: reads(plugin, scenario) for plugin in scenario.invariants}
        self._groups = grouped(scenario, settings.window_s)

    def add(self, event: Event) -> None:
        """Take one event; in the order in which they came."""
        self.window.add(event)

    def judge(self, now: Stamps, until_ns: int | None = None) -> Sequence[NewViolation]:
        """
        Judge what is known now; return what has begun to be violated.

        :param now: not before the last event
        :param until_ns: up to when (steady) all events are in, if that is earlier
        """
        before_ns = self.judged_ns
        self._before_ns, self._now_ns = self._now_ns, now.steady_ns
        self.judged_ns = now.steady_ns if until_ns is None else until_ns
        self.window.advance(now.steady_ns, before_ns)
        silent = self.silent(now.steady_ns)
        begun: list[NewViolation] = []
        for reach_ns, plugins in self._groups.items():
            topics = frozenset[str]().union(*(self._reads[one.name] for one in plugins))
            cut = self.window.judged(self.window.begin_ns(reach_ns, topics, before_ns), now)
            found = watched_findings(cut.record, plugins)
            unsure = next((f'{one.check}: {one.reason}' for one in found
                           if one.kind == 'harness' and one.verdict is not None
                           and one.verdict not in (Verdict.PASS, Verdict.FAIL)
                           and one.check != HEARD), '')
            unsure = unsure or ('' if self.keeps_up else 'the monitor cannot keep up')
            for finding in found:
                if finding.source != 'invariant' and finding.verdict is not Verdict.FAIL:
                    continue
                known = self.watched.setdefault(finding.check, Watched(finding))
                if self._note(known, finding, silent, unsure, now.steady_ns):
                    self.found += 1
                    begun.append(NewViolation(self.found, finding, cut, now.steady_ns - before_ns))
        for name in self.watched.keys() - self._reads.keys():
            known = self.watched[name]
            if now.steady_ns - (known.failed_ns or 0) > self._hold_ns:
                known.level = Level.OK
        return begun

    def note_lag(self, lag_ns: int) -> None:
        """Note how long after the event that decides it a verdict went out, at most."""
        self.most_lag_ns = max(self.most_lag_ns, lag_ns)
        self.late += lag_ns > LATE_NS
        self.lags_ns.append(lag_ns)
        if len(self.lags_ns) > _KEPT:
            del self.lags_ns[:_KEPT // 2]

    @property
    def median_lag_ns(self) -> int:
        """Return the median of the last of them, 0 without any."""
        return round(median(self.lags_ns)) if self.lags_ns else 0

    def silent(self, now_ns: int) -> Mapping[str, str]:
        """Return topic to why it is silent or only heard in part, of those that are."""
        found = {}
        for kind, topic in declared(self._scenario):
            last_ns = self.window.heard.get((kind, topic), (None,))[-1]
            quiet_ns = now_ns - (self._began_ns if last_ns is None else last_ns)
            if last_ns is None:
                found[topic] = f'{topic} was never received'
            elif quiet_ns > self._stale_ns:
                found[topic] = f'{topic} has been silent for {quiet_ns / 1e9:.1f} s'
        return {**found, **self.unheard}

    @property
    def verdict(self) -> Verdict:
        """Return what the whole run came to; INCONCLUSIVE if nothing was ever judged."""
        return Verdict.worst(known.verdict for known in self.watched.values())

    def _note(self, known: Watched, finding: Finding, silent: Mapping[str, str],
              unsure: str, now_ns: int) -> bool:
        """Take the finding of now; return whether a violation begins with it."""
        fails = finding.verdict is Verdict.FAIL
        is_held = known.failed_ns is not None and (
            now_ns - known.failed_ns <= self._hold_ns or known.failed_ns == self._before_ns)
        if fails:
            known.failed_ns = now_ns
            if not is_held or finding.severity > known.finding.severity:
                known.finding = finding
        elif not is_held:
            known.finding = finding
        if fails or is_held:
            known.level, known.doubt = Level.ERROR, ''
            known.violations += fails and not is_held
            return fails and not is_held
        quiet = '; '.join(text for topic, text in silent.items()
                          if topic in self._reads.get(finding.check, ()))
        known.doubt = quiet or unsure
        if quiet or finding.verdict is None:
            known.level = Level.STALE
        elif finding.verdict is not Verdict.PASS or unsure:
            known.level = Level.WARN
        else:
            known.level = Level.OK
        known.was_ok |= known.level is Level.OK
        if known.was_ok and known.level is not Level.OK:
            known.lost = known.lost or known.doubt or finding.reason
        return False


def watched_findings(record: TrialRecord, plugins: Sequence[InvariantPlugin]) -> Sequence[Finding]:
    """Return what the judged part of a record says, of some of the invariants of its file."""
    trial = JudgedTrial.of(record)
    found = findings_of(trial, plugins)
    return without_clock(list(clock_findings(trial, None)), found)


def grouped(scenario: Scenario, window_s: float) -> Mapping[int, Sequence[InvariantPlugin]]:
    """Return how far back (ns) which invariants look, in few steps: they share a record."""
    found: dict[int, list[InvariantPlugin]] = {}
    for plugin in scenario.invariants:
        reach_s = plugin.reach_s(scenario)
        length_s = window_s if reach_s is None else min(
            window_s, next(one for one in _REACHES_S if one >= reach_s + _REACHES_S[0]))
        found.setdefault(round(length_s * 1e9), []).append(plugin)
    return found
