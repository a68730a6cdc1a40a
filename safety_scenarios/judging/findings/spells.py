# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Spells in which a robot does not do what it must, and whose doing each of them is."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
import math

from safety_scenarios.judging.findings.harness import PAUSE_NS
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.network import SILENT_PERIODS
from safety_scenarios.scenario.body import Requirement, RobotBody
from safety_scenarios.scenario.rounding import apart
from safety_scenarios.trial.margins import Sample

_OTHER_UNIT = 0.05
"""Share of what is demanded; degrees taken for radians are less, and millimetres for metres."""


@dataclass(frozen=True, slots=True)
class Spell:
    """A time in which nothing is known to hold."""

    samples: Sequence[Sample]
    end_ns: int
    """Steady time of the first sample that holds again, or of the end of what was looked at."""

    @property
    def begin_ns(self) -> int:
        """Return the steady time at which it begins."""
        return self.samples[0].t_ns

    @property
    def lasted_ns(self) -> int:
        return self.end_ns - self.begin_ns

    @property
    def last_ns(self) -> int:
        """Return the last steady time that is within it."""
        return max(self.begin_ns, self.end_ns - 1)

    @property
    def is_open(self) -> bool:
        """Whether nobody can tell of some of it what held."""
        return any(sample.margin is None for sample in self.samples)


def spells(samples: Sequence[Sample], until_ns: int) -> Iterator[Spell]:
    """Yield each spell in which nothing holds, the last of them up to a time."""
    spell: list[Sample] = []
    for sample in samples:
        if not sample.holds:
            spell.append(sample)
            continue
        if spell:
            yield Spell(spell, sample.t_ns)
        spell = []
    if spell:
        yield Spell(spell, until_ns)


def commands_ended(trial: JudgedTrial, require: Requirement, spell: Spell) -> bool:
    """
    Return whether a robot stood because no command came, and no command told it to.

    Then a driver has stopped it, and who lost the commands nobody knows. A spell that begins with
    a command is the controller's doing, be it one that moves nothing; so is one in which a command
    asks for less than is required, or in which the driver rejects what is commanded.
    """
    series, begin_ns = trial.signals.margin_series([require]), spell.begin_ns
    told = [sample for sample in series.within(begin_ns, spell.last_ns) if not sample.inferred]
    if told and (told[0].t_ns == begin_ns or not all(sample.holds for sample in told)):
        return False
    signals, before = trial.scenario.body.signals, series.before(begin_ns)
    since_ns = begin_ns if before is None else before.t_ns
    execution = trial.signals.find_execution(signals[require.signal].topic)
    return execution is None or not any(
        since_ns < rejection.t_ns <= spell.last_ns for rejection in execution.rejections)


def silence(trial: JudgedTrial, ros: RobotBody, until_ns: int) -> str | None:
    """Return how long a periodic command stream was over by then, if nobody said what it means."""
    found = trial.signals.quiet([ros.nominal.require.signal], until_ns)
    if found is None or ros.silence.policy != 'indeterminate':
        return None
    quiet_ns = until_ns - found[0]
    if quiet_ns <= max(SILENT_PERIODS * found[1], PAUSE_NS):
        return None
    return (f'no command came for {quiet_ns / 1e6:.0f} ms, after one every '
            f'{found[1] / 1e6:.0f} ms. Say in ros.silence whether the robot then stops')


def commanded(trial: JudgedTrial, require: Requirement) -> str:
    """Return what a controller commanded that did not get moving, and where to look for why."""
    margins = [one.margin for one in trial.signals.margin_series([require]).samples
               if one.margin is not None and math.isfinite(one.margin)]
    if require.at_least is None or require.at_most is not None or not margins:
        return ''
    most, turns = require.at_least + max(margins), 0.0
    for event in trial.record.of_kind('command'):
        if event.message is not None:
            with suppress(LookupError):  # it turns no base
                turns = max(turns, abs(event.message.at('angular.z')))
    found = f'. Its commands: {require.signal} '\
        f'{apart(most, require.at_least, ".2g")} at most'
    if turns:
        return f'{found}, and turning with up to {turns:.2g} rad/s'
    if most <= 0:
        return f'{found}. Check what it reads and writes: topics, units and frames'
    return found if most > require.at_least * _OTHER_UNIT else f'{found}. Check their unit'
