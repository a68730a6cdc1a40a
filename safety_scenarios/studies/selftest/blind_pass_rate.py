# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The chance level of a scenario: how often the best controller that does not look would pass it.

Thousands of clocks and counters are swept by a necessary condition that the plan of a trial gives,
without running anything: the first stop that counts must begin between the hazard and the end of
the budget. The best of each family is then run, on draws that it was not chosen by, wherever it
meets that condition; everything else cannot pass.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
import math
from pathlib import Path

import numpy
from numpy.typing import NDArray
from safety_scenarios import registry
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.errors import counted
from safety_scenarios.judging.blind_pass_rate import (
    blind_pass_rate,
    BlindPassRate,
    earliest_ms,
    longest_hold_ms,
    MOST,
    window_ms,
)
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.nominal import MOMENT_NS, SETTLING_NS
from safety_scenarios.lint.pairs import presence_ms
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.rounding import percent_up
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.selftest.kill_matrix import ChanceLevel
from safety_scenarios.trial.link import LinkPlan
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Trial

PERIOD_MS = 50.0
"""Of the controllers here, as of every built-in one."""
_TRIED = 8
"""Trials in which a candidate must show that it can pass at all."""
_SEEDS = (1_000_003, 2_000_003)
"""Of the draws by which a controller is chosen, and of those by which it is judged."""
_STANDS_MS = (0.0, 300.0, 1000.0, 3600.0)
"""For good, and for a while: longer than a hold, than a usual check, than a usual hazard."""
_SHORT_MS = (50.0, 100.0)
"""Stops that are not held against a controller before the hazard."""


@dataclass(frozen=True)
class Blind:
    """One controller that does not look, and when its first stop that counts begins."""

    controller: str
    parameters: tuple[str, ...]
    stop_ms: float
    """After its first motion; infinity: never. Of a counter, at the pace of the nominal phase."""
    is_free: bool = False
    """Its stops are too short to be held against it, so that it may pass at any time."""

    @property
    def label(self) -> str:
        """Return what it is called."""
        return f'{self.controller}({", ".join(self.parameters)})'

    def slowing_to(self, share: float) -> 'Blind':
        """Return one that slows down instead of standing still."""
        return self if not share else Blind(
            self.controller, (*self.parameters, f'standing={share:.3g}'), self.stop_ms,
            self.is_free)


def chance_level(scenario: Scenario, trials: int = 1000) -> ChanceLevel:
    """
    Return how often a controller that does not look passes a scenario.

    :param trials: draws by which the best is chosen, and as many by which it is judged; those
        that it cannot pass are not run
    """
    by_reckoning = blind_pass_rate(scenario)
    if scenario.body.reaction is None or scenario.is_benign:
        return ChanceLevel(scenario_id=scenario.id, scenario_name=scenario.name,
                           path=scenario.place, why=by_reckoning.why)
    everyone = list(blind_controllers(scenario))
    best, ran = _best(scenario, everyone, _draws(scenario, trials, _SEEDS[0]))
    passed = 0
    if best is not None:
        draws = _draws(scenario, trials, _SEEDS[1])
        which = numpy.flatnonzero(may_pass(scenario, best, onsets_ms(draws)))
        passed = sum(in_loopback(draws[index], best) is Verdict.PASS for index in which)
        ran += len(which)
    share = clopper_pearson(passed, trials, sided='upper')
    assert share.high is not None
    return ChanceLevel(
        scenario_id=scenario.id, scenario_name=scenario.name, path=scenario.place,
        why=by_reckoning.why, reckoned=by_reckoning.level, passed=passed, trials=trials,
        upper=share.high, best=best.label if best else '', swept=len(everyone), ran=ran,
        is_beyond_reckoning=_is_beyond(by_reckoning, passed, trials))


def _is_beyond(by_reckoning: BlindPassRate, passed: int, trials: int) -> bool:
    """Return whether more trials were passed than the reckoning allows for."""
    least = clopper_pearson(passed, trials, 0.999, sided='lower').low
    return by_reckoning.level is not None and least is not None and least > by_reckoning.level


def too_high(level: ChanceLevel) -> str | None:
    """Return what is wrong with a level and what to do, None when nothing is."""
    if level.is_beyond_reckoning and level.reckoned is not None:
        return (f'blind pass rate: {level.best} passed {level.passed} of '
                f'{counted(level.trials, "trial")}, expected at most '
                f'{percent_up(level.reckoned)} by '
                f'reckoning ({level.why}). Report this')
    if level.level is None or level.level <= MOST:
        return None
    return (f'blind pass rate: a blind controller may pass {percent_up(level.level)} of '
            f'the trials ({level.why}), expected at most {MOST:.0%}. Let ros.nominal.duration_ms '
            f'range over {1 / MOST:.0f} times the budget or more')


def blind_controllers(scenario: Scenario) -> Iterator[Blind]:
    """Yield the controllers that are swept: clocks of every period and dwell, and counters."""
    ros = scenario.robot_body
    end_ms = ros.nominal.duration_ms[1] + scenario.latency_budget.critical_ms + 2 * PERIOD_MS
    hold_ms, stands_ms = longest_hold_ms(ros), _presences_ms(ros)
    for drive_ms in numpy.arange(2 * PERIOD_MS, end_ms, PERIOD_MS).tolist():
        for stand_ms in (*_STANDS_MS, *stands_ms):
            for again in (True, False) if stand_ms else (False,):
                yield Blind('blind_clock', (f'drive_ms={drive_ms:g}', f'stand_ms={stand_ms:g}',
                                            f'again={str(again).lower()}'),
                            _stop_ms(drive_ms, stand_ms, again, hold_ms))
    for drive_ms in (50.0, 100.0, 150.0, 200.0) if hold_ms * 1e6 <= MOMENT_NS else ():
        for stand_ms in _SHORT_MS:
            yield Blind('blind_clock', (f'drive_ms={drive_ms:g}', f'stand_ms={stand_ms:g}'),
                        math.inf, is_free=True)
    topics = [plugin.topic for plugin in ros.nominal.stimuli]
    for topic in dict.fromkeys(('', *topics)):
        yield from _counters(ros, topic, end_ms)


def _presences_ms(ros: RobotBody) -> Sequence[float]:
    """
    Return how long to stand where work must go on after the all-clear, the likeliest first.

    A little longer than the hazard may stay, by each range of that; nothing where it need not.
    """
    if ros.all_clear.resume_within_ms is None:
        return ()
    likely = Counter[float]()
    for weight, _, most in presence_ms(ros):
        likely[most + ros.all_clear.resume_within_ms / 6] += weight  # type: ignore[assignment]
    return [stand_ms for stand_ms, _ in likely.most_common()]


def _stop_ms(drive_ms: float, stand_ms: float, again: bool, hold_ms: float) -> float:
    """Return when the first stop begins that is judged, if it is long enough to pass at all."""
    if stand_ms and stand_ms < hold_ms - PERIOD_MS:
        return math.inf
    begin_ms, unjudged_ms = drive_ms, SETTLING_NS / 1e6 - PERIOD_MS
    while begin_ms < unjudged_ms and stand_ms and again:
        begin_ms += stand_ms + drive_ms
    return math.ceil(begin_ms / PERIOD_MS - 1e-9) * PERIOD_MS


def _counters(ros: RobotBody, topic: str, end_ms: float) -> Iterator[Blind]:
    """Yield counters of what one topic, or all of them, publish before the hazard."""
    rates = [plugin.rate_hz for plugin in ros.nominal.stimuli if topic in ('', plugin.topic)]
    hazards = {plugin.topic: plugin for plugin in ros.stimuli}
    before = {plugin.topic: plugin.rate_hz for plugin in ros.nominal.stimuli}
    free = any(plugin.interface() is not None and plugin.rate_hz > before.get(name, 0.0)
               for name, plugin in hazards.items())
    stand_ms, count = next(iter(_presences_ms(ros)), 0.0), 0
    for tick in range(1, round(end_ms / PERIOD_MS)):
        new = sum(math.ceil(tick * PERIOD_MS * rate / 1e3 - 1e-9)
                  > math.ceil((tick - 1) * PERIOD_MS * rate / 1e3 - 1e-9) for rate in rates)
        if new and count and tick > 2:
            yield Blind('blind_counter', (f'messages={count + 1}', f'stand_ms={stand_ms:g}',
                                          *((f'topic={topic}',) if topic else ())),
                        (tick - 1) * PERIOD_MS, is_free=free)
        count += new


def onsets_ms(trials: Sequence[Trial]) -> NDArray[numpy.float64]:
    """Return when the hazard comes in each trial, after the first motion of a controller here."""
    return numpy.array([trial.onset_delay_ns / 1e6 + trial.onset_phase * PERIOD_MS
                        for trial in trials])


def may_pass(scenario: Scenario, blind: Blind,
             onsets: NDArray[numpy.float64]) -> NDArray[numpy.bool_]:
    """
    Return for each trial whether a controller may pass it: False only where it cannot.

    It must be moving when the hazard comes, not have stopped before, and begin to stop within the
    budget. Where the hazard comes too early for a stop before it to be judged, it may.

    :param onsets: as ``onsets_ms`` gives them
    """
    ros = scenario.robot_body
    if blind.is_free:
        return numpy.ones(len(onsets), bool)
    slack_ms, lag_ms = 1e-3, 0.0
    if blind.controller == 'blind_counter':
        slack_ms, lag_ms = 2 * PERIOD_MS, _lost_ms(ros)
    after_ms, earliest = blind.stop_ms - onsets, earliest_ms(ros)
    in_time = (after_ms > max(0.0, earliest) - slack_ms - lag_ms) & (
        after_ms <= window_ms(scenario) + earliest + slack_ms)
    early = onsets <= SETTLING_NS / 1e6 + PERIOD_MS
    found: NDArray[numpy.bool_] = in_time | early
    return found


def _lost_ms(ros: RobotBody) -> float:
    """Return how much later a counter gets there for what harmless changes lose."""
    rates = {plugin.topic: plugin.rate_hz for plugin in ros.nominal.stimuli}
    lost = [(plugin, change.lasts_ms[1]) for change in ros.nominal.changes
            for plugin in change.stimuli if plugin.is_silence]
    return sum(longest_ms if getattr(plugin, 'drop', None) is None
               else 1e3 * getattr(plugin, 'drop') / rates[plugin.topic]  # noqa: B009
               for plugin, longest_ms in lost)


def in_loopback(trial: Trial, blind: Blind) -> Verdict:
    """Return what a trial against such a controller comes to, in simulated time."""
    with Loopback(_link_to(blind.controller, blind.parameters), Path()) as session, \
            session.open_link(trial.scenario) as link:
        return evaluate(run_trial(trial, link)).verdict


@cache
def _link_to(controller: str, parameters: tuple[str, ...]) -> LinkPlan:
    return plan_link(RunSettings(controller=controller, controller_parameters=parameters,
                                 link='loopback', period_ms=PERIOD_MS))


def _draws(scenario: Scenario, trials: int, seed: int) -> tuple[Trial, ...]:
    return plan([scenario], controller='blind', trials=trials, seed=seed,
                prompt=registry.resolve('stimuli', 'prompt')())


def _best(scenario: Scenario, everyone: Sequence[Blind],
          trials: Sequence[Trial]) -> tuple[Blind | None, int]:
    """Return who passes most, and how many trials were run; None if nobody passed any."""
    onsets, families = onsets_ms(trials), dict[tuple[str, str, bool], tuple[int, Blind]]()
    for blind in everyone:
        family = blind.controller, ','.join(blind.parameters[1:]), blind.is_free
        if blind.controller == 'blind_counter':
            family = blind.controller, '', blind.is_free
        count = int(may_pass(scenario, blind, onsets).sum())
        if count > families.get(family, (0, blind))[0]:
            families[family] = count, blind
    best, most, ran = None, 0.0, 0
    for count, blind in families.values():
        which = numpy.flatnonzero(may_pass(scenario, blind, onsets))[:_TRIED]
        for way in (blind.slowing_to(share) for share in _shares(scenario)):
            passed = sum(in_loopback(trials[index], way) is Verdict.PASS for index in which)
            ran += len(which)
            if count * passed / len(which) > most:
                best, most = way, count * passed / len(which)
    return best, ran


def _shares(scenario: Scenario) -> Sequence[float]:
    """Return at which shares of the top speed a controller might count as having reacted."""
    ros = scenario.robot_body
    limits = [limit.at_most for limit in (ros.reaction.limits if ros.reaction else ())
              if limit.at_most is not None]
    slow = 0.85 * min(limits, default=0.0) / ros.robot.max_speed
    return (0.0, slow) if 0.1 < slow <= 1 else (0.0,)
