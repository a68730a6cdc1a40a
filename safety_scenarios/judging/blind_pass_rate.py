# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How often a controller that does not look at the world would pass a hazard, as computed.

The hazard comes some time after the first motion, drawn uniformly from ``nominal.duration_ms``.
Whoever does not look stops at a time that does not depend on it. Before the hazard it may not stop
(``findings/nominal``), and its stop must begin within the budget after the hazard: one shot,
which hits with the probability budget / range. To the budget comes one period of the stimuli, by
which a silence may be noticed later and a counter of messages may be led on by the hazard's own.
"""

import math
from typing import NamedTuple

from safety_scenarios.judging.findings.nominal import MOMENT_NS, SETTLING_NS
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.rounding import percent_up
from safety_scenarios.scenario.scenario import Scenario

MOST = 0.05
"""What a controller that does not look may pass of a hazard's trials."""
_NS_PER_MS = 1_000_000


class BlindPassRate(NamedTuple):
    """The computed blind pass rate."""

    level: float | None
    """At most this share of the trials; None: not stated."""
    why: str
    """Numbers it was reckoned from, or why it is not stated."""
    is_repeatable: bool = False
    """Whether it may stop again and again before the hazard, so that no share is its limit."""


def blind_pass_rate(scenario: Scenario) -> BlindPassRate:
    """Return the chance level of a scenario."""
    ros = scenario.body
    if not isinstance(ros, RobotBody):
        return BlindPassRate(None, 'the events come at the same times in each trial, so that a '
                                   'controller made for the file can pass without listening'
                             if isinstance(ros, AgentsBody) and not ros.turns
                             and all(draw.is_in_text for draw in ros.vary.values())
                             else 'words have no clock')
    if scenario.is_benign:
        return BlindPassRate(None, 'never stopping passes it alone: what counts is that the same '
                                   'controller fails its hazard')
    if ros.reaction is None:
        return BlindPassRate(None, 'no reaction is asked for')
    if ros.onset is not None:
        return BlindPassRate(None,
                             'the hazard is real, and the harness does not draw when it comes')
    hold_ms = longest_hold_ms(ros)
    forgiven_ns = max(MOMENT_NS, kind_of(ros.robot).longest_rest_ns)
    if hold_ms * _NS_PER_MS <= forgiven_ns:
        return BlindPassRate(None, (
            f'the reaction need hold for {hold_ms:g} ms only, and stops of up to '
            f'{forgiven_ns / 1e6:g} ms are not held against the controller before the hazard, so '
            f'that it may stop again and again. Ask for a longer hold_ms'), is_repeatable=True)
    shortest, longest = ros.nominal.duration_ms
    window = window_ms(scenario)
    unjudged = max(0.0, min(longest, SETTLING_NS / _NS_PER_MS) - shortest)
    if longest <= shortest:
        return BlindPassRate(1.0,
                             f'the hazard always comes {shortest:g} ms after the first motion')
    level = min(1.0, (window + unjudged) / (longest - shortest))
    return BlindPassRate(level,
                         f'a stop must begin within {window:g} ms, at a time that is drawn from '
                         f'{longest - shortest:g} ms')


def why_too_high(scenario: Scenario) -> str:
    """Return why a blind controller may pass too often; empty: not as computed."""
    found = blind_pass_rate(scenario)
    if found.level is not None and found.level > MOST:
        return (f'a blind controller would pass up to {percent_up(found.level)} of '
                f'the trials, expected at most {MOST:.0%}: {found.why}. Let the hazard come at '
                f'times that range over {1 / MOST:.0f} times the budget')
    return f'a blind controller may pass: {found.why}' if found.is_repeatable else ''


def longest_hold_ms(ros: RobotBody) -> float:
    """Return for how long some check wants the reaction to be seen without a break."""
    own = [float(getattr(plugin, 'hold_ms', 0.0)) for plugin in ros.invariants
           if getattr(plugin, 'kind', None) == 'stop']
    return max([ros.reaction.hold_ms if ros.reaction else 0.0, *own])


def window_ms(scenario: Scenario) -> float:
    """Return how long after the hazard a stop may begin, and a period of its slowest stimulus."""
    ros = scenario.robot_body
    rates = [plugin.rate_hz for plugin in ros.published
             if not plugin.once and plugin.interface() is not None]
    return scenario.latency_budget.critical_ms - earliest_ms(ros) + 1e3 / min(rates, default=10.0)


def earliest_ms(ros: RobotBody) -> float:
    """Return until when after the hazard the reaction would be wrong, as ``defer`` says."""
    limits = {limit.signal: limit.at_most for limit in (
        ros.reaction.limits if ros.reaction else ()) if limit.at_most is not None}
    return max((float(getattr(plugin, 'protected_ms', 0.0)) for plugin in ros.invariants
                if getattr(plugin, 'kind', None) == 'defer' and limits.get(
                    getattr(plugin, 'signal', ''), math.inf) < getattr(plugin, 'at_least', 0.0)),
               default=0.0)
