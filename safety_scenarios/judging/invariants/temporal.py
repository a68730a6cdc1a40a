# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A formula of signal temporal logic that must hold over a trial."""

from collections.abc import Mapping
from functools import cached_property, lru_cache
import math
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator
from safety_scenarios.errors import did_you_mean
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Milliseconds, Verdict
from safety_scenarios.temporal_logic.evaluation import (
    bodies,
    decide,
    decide_at,
    Decision,
    Evaluation,
    Horizon,
    horizon,
    running,
    triggers,
)
from safety_scenarios.temporal_logic.formula import Formula, Future, names_in, Until, walk
from safety_scenarios.temporal_logic.parser import FormulaError, parse
from safety_scenarios.temporal_logic.trace import Ending, Outcome, resample, Trace
from safety_scenarios.trial.trial import ALL_CLEAR, END, NOMINAL

HAZARD, TRUTH = 'hazard', 'truth.'
_TRUTH_UNITS = {'distance': 'm', 'force': 'N'}
Sampled = tuple[list[int], list[float]]
_read = lru_cache(maxsize=64)(parse)
"""A formula is asked for several times while its file is read, and never changed."""


class Temporal(InvariantPlugin):
    """
    ``formula`` holds, from the start of the trial on.

    Its signals are those of ``ros.signals``, and two that the harness itself knows: ``hazard`` is
    above 0 from onset to the all-clear and below 0 otherwise, by an infinite margin, so that it
    never is the weakest link; ``truth.TOPIC.NAME`` is what the stimulus on TOPIC (``/`` written as
    ``.``) means in the scripted world, such as ``truth.scan.distance`` (m). The time before onset
    counts from when every signal has a value. An operator without bounds reaches to the end of the
    trial; a bounded window that does not fit in is open, and so is whatever depends on a signal
    that is unknown, not finite or stale: INCONCLUSIVE, as is an implication whose left side never
    came true. A margin of zero is a violation. The margin is that of the predicate and the sample
    that decided, in that predicate's unit.
    """

    holds_always: ClassVar[bool] = True

    wording: ClassVar[Mapping[str, str]] = {'stale_ms': 'an older value is unknown: {} ms'}

    kind: Literal['temporal'] = 'temporal'
    formula: str
    """Such as ``always(rise(hazard > 0) -> eventually[0, 0.5] (speed <= 0.05))``; times in s."""
    stale_ms: Milliseconds | Mapping[str, Milliseconds] = Field(
        default={}, json_schema_extra={'unit': 'ms'})
    """How old a signal's last value may be; one number is for all but ``hazard`` (ms)."""

    @field_validator('formula')
    @classmethod
    def _readable(cls, formula: str) -> str:
        try:
            _read(formula)
        except FormulaError as error:
            raise ValueError(str(error)) from None
        return formula

    @model_validator(mode='after')
    def _asks_something(self) -> 'Temporal':
        names = names_in(self._parsed)
        if not names:
            raise ValueError('formula: got no signal, expected at least one. Nothing would be '
                             'checked')
        if not any(isinstance(node, (Future, Until)) for node, _ in walk(self._parsed)):
            raise ValueError('formula: got a condition on the first moment only, expected always, '
                             'eventually or until. Write always (...)')
        for name in self.stale_ms if isinstance(self.stale_ms, Mapping) else ():
            if name not in names:
                raise ValueError(f'stale_ms: got {name!r}, expected a signal of the formula: '
                                 f'{", ".join(names)}.{did_you_mean(name, names)}')
        return self

    @cached_property
    def _parsed(self) -> Formula:
        return _read(self.formula)

    @property
    def names(self) -> frozenset[str]:
        """Return all signals of the formula; none if it cannot be read."""
        if not isinstance(self.formula, str):  # as in a file that has other mistakes too
            return frozenset()
        try:
            return frozenset(names_in(_read(self.formula)))
        except FormulaError:
            return frozenset()

    @property
    def signals(self) -> frozenset[str]:
        """Return the signals that the scenario must define; none if the formula cannot be read."""
        return frozenset(name for name in self.names
                         if name != HAZARD and not name.startswith(TRUTH))

    def looks_around(self) -> Horizon:
        """
        Return how far before and after a moment a monitor has to look.

        :raises InputError: a monitor cannot judge the formula
        """
        found = [horizon(body) for body in bodies(self._parsed)]
        return Horizon(*(max(one[place] for one in found) for place in range(3)))

    def reach_s(self, scenario: Scenario) -> float | None:
        looks = self.looks_around()
        return (looks.past_ns + looks.future_ns) / 1e9 if looks.samples <= 1 else None

    def check(self, trial: JudgedTrial) -> Finding:
        """
        Judge the formula; a violation that is certain goes before all that is not.

        :raises LookupError: the scenario has no such signal, or its commands no such field
        """
        nominal = trial.timeline.mark(NOMINAL)
        if nominal is None:
            return self.finding(Verdict.INCONCLUSIVE, 'the trial phase was not observed')
        sampled = {name: self._sampled(trial, name) for name in names_in(self._parsed)}
        trace = self._trace(trial, nominal.stamps.steady_ns, sampled)
        if trial.scenario.is_monitor:
            return self._in_operation(trial, Evaluation(self._parsed, trace), sampled)
        found = Evaluation(self._parsed, trace,
                           Ending.OVER if trial.timeline.mark(END) else Ending.RUNNING)
        outcome, counts = found.interval.outcome, triggers(found)
        times = f'; triggered {", ".join(map(str, counts))} time{"s" * (counts != [1])}' \
            if counts else ''
        if outcome is Outcome.VIOLATED:
            return self._decided(trial, found, Verdict.FAIL, times)
        if 0 in counts:
            return self.finding(Verdict.INCONCLUSIVE, f'vacuous: the left side of an implication '
                                                      f'never became true{times}')
        if outcome is Outcome.HOLDS:
            return self._decided(trial, found, Verdict.PASS, times)
        what, at_ms = self._open(trial, found, sampled)
        return self.finding(Verdict.INCONCLUSIVE, f'open: {what}{times}', at_ms=at_ms)

    def _in_operation(self, trial: JudgedTrial, found: Evaluation,
                      sampled: Mapping[str, Sampled]) -> Finding:
        """Judge a window of a robot in operation, which neither begins nor ends there."""
        unseen = [name for name, (stamps, _) in sampled.items() if not stamps]
        told = sorted(running(found), key=lambda one: (
            (False, None, True).index(one.outcome), one.margin))
        if unseen or len(told) < len(bodies(self._parsed)):
            if not any(one.outcome is False for one in told):
                return self.finding(Verdict.INCONCLUSIVE, (
                    f'{", ".join(unseen)} was never seen' if unseen else
                    'the window holds no moment yet of which all that the formula looks at is '
                    'known'))
        worst = told[0]
        decision = decide_at(found, worst.body, worst.sample, low=worst.outcome is not False)
        if worst.outcome is None:
            unknown = [] if decision.predicate is None else [
                name for name in names_in(decision.predicate)
                if np.isnan(found.trace.columns[name][decision.sample])]
            return self.finding(
                Verdict.INCONCLUSIVE, f'open: {", ".join(unknown) or "a signal"} is unknown, '
                f'stale or not a number {self._scene(trial, found, decision)}',
                at_ms=self._at_ms(trial, found, decision))
        return self._evaluated(trial, found, Verdict.PASS if worst.outcome else Verdict.FAIL,
                               worst.margin, decision, '')

    def _sampled(self, trial: JudgedTrial, name: str) -> Sampled:
        """Return a signal's stamps (steady ns), made unique, and values, NaN if not finite."""
        if name in trial.scenario.body.signals:
            found = list(trial.signals.held(name))
        elif name == HAZARD:
            found = self._hazard(trial)
        elif name.startswith(TRUTH):
            found = [(event.stamps.steady_ns, event.truth[key]) for event in trial.record.events
                     for key in event.truth
                     if name == f'{TRUTH}{event.name.replace("/", ".")}.{key}']
        else:
            raise LookupError(f'formula: got {name!r}, expected one of ros.signals, {HAZARD} or '
                              f'{TRUTH}TOPIC.NAME. Define it under ros.signals')
        stamps: list[int] = []
        for t_ns, _ in found:  # the second of two in one ns must not hide the first
            stamps.append(max(t_ns, stamps[-1] + 1) if stamps else t_ns)
        return stamps, [math.nan if value is None or math.isinf(value) and name != HAZARD
                        else value for _, value in found]

    def _hazard(self, trial: JudgedTrial) -> list[tuple[int, float | None]]:
        marks = ((trial.timeline.mark(NOMINAL), -math.inf), (trial.timeline.onset, math.inf),
                 (trial.timeline.mark(ALL_CLEAR), -math.inf))
        return [(event.stamps.steady_ns, value) for event, value in marks if event is not None]

    def _trace(self, trial: JudgedTrial, nominal_ns: int, sampled: Mapping[str, Sampled]) -> Trace:
        """Resample from when all signals have a value, but from onset at the latest."""
        begin_ns = max([nominal_ns, *(stamps[0] for stamps, _ in sampled.values() if stamps)])
        if trial.timeline.onset is not None:
            begin_ns = max(nominal_ns, min(begin_ns, trial.timeline.onset.stamps.steady_ns))
        ages = self.stale_ms if isinstance(self.stale_ms, Mapping) else \
            {name: self.stale_ms for name in sampled if name != HAZARD}
        end_ns = max([trial.record.end_ns,
                      *(stamps[-1] for stamps, _ in sampled.values() if stamps)])
        return resample(sampled, end_ns, begin_ns=begin_ns,
                        stale_ns={name: round(age * 1e6) for name, age in ages.items()})

    def _decided(self, trial: JudgedTrial, found: Evaluation, verdict: Verdict,
                 times: str) -> Finding:
        fails = verdict is Verdict.FAIL
        margin = found.interval.high if fails else found.interval.low
        return self._evaluated(trial, found, verdict, margin, decide(found, low=not fails), times)

    def _evaluated(self, trial: JudgedTrial, found: Evaluation, verdict: Verdict, margin: float,
                   decision: Decision, times: str) -> Finding:
        fails = verdict is Verdict.FAIL
        word = 'violated' if fails else 'holds'
        if decision.predicate is None:
            return self.finding(verdict, f'{word} whatever the signals are{times}')
        unit = self._unit(trial, decision)
        by = f' by {abs(margin):.4g} {unit}'.rstrip() if math.isfinite(margin) else ''
        what = decision.predicate.text
        if fails == decision.is_wanted:
            what = f'{what} broken{by}' if margin else f'no margin is left to the limit of {what}'
        else:
            what += by + (' where it must not' if fails else '')
        return self.finding(verdict, f'{word}: {what} {self._scene(trial, found, decision)}'
                            f'{times}', margin, unit or None, self._at_ms(trial, found, decision))

    def _open(self, trial: JudgedTrial, found: Evaluation,
              sampled: Mapping[str, Sampled]) -> tuple[str, float | None]:
        """Return what is unknown, and when."""
        unseen = [name for name, (stamps, _) in sampled.items() if not stamps]
        if unseen:
            return f'{", ".join(unseen)} was never seen', None
        for low in (True, False):
            decision = decide(found, low=low)
            at_ms = self._at_ms(trial, found, decision)
            if decision.is_end:
                return 'the trial ended before a window of the formula was over', at_ms
            if decision.predicate is not None \
                    and math.isinf(found.at(decision.predicate, decision.sample).low):
                unknown = [name for name in names_in(decision.predicate)
                           if np.isnan(found.trace.columns[name][decision.sample])]
                return (f'{", ".join(unknown) or decision.predicate.text} is unknown, stale or '
                        f'not a number {self._scene(trial, found, decision)}'), at_ms
        return 'what is known decides neither way', None

    def _unit(self, trial: JudgedTrial, decision: Decision) -> str:
        """Return the unit of the predicate's signals if they have one in common, else nothing."""
        signals, units = trial.scenario.body.signals, set[str]()
        for name in names_in(decision.predicate) if decision.predicate else ():
            if name in signals:
                units.add(signals[name].unit)
            else:
                units.add('1' if name == HAZARD else _TRUTH_UNITS.get(name.rpartition('.')[2], ''))
        return units.pop() if len(units) == 1 else ''

    def _at_ms(self, trial: JudgedTrial, found: Evaluation, decision: Decision) -> float | None:
        return trial.timeline.since_onset_ms(int(found.trace.stamps[decision.sample]))

    def _scene(self, trial: JudgedTrial, found: Evaluation, decision: Decision) -> str:
        at_ms = self._at_ms(trial, found, decision)
        values = {name: column[decision.sample] for name, column in found.trace.columns.items()}
        words = {math.inf: 'on', -math.inf: 'off'}
        said = ', '.join(f'{name} = ' + (
            'unknown' if math.isnan(value) else words.get(value, f'{value:.4g}'))
            for name, value in values.items())
        return f'{"" if at_ms is None else f"at {at_ms:.1f} ms "}({said})'
