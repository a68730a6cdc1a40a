# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A benign variant goes on: every command counts, spells only as far as they are forgiven."""

import math
from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.judging.invariants.no_stop import NoSpuriousStop
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from steps import growth
from unit.records import benign_variant, driving, record, stages

GO = NoSpuriousStop(name='n', signal='speed', at_least=0.3)
FORGIVING = NoSpuriousStop(name='n', signal='speed', at_least=0.3, for_ms=100.0)


def judged(commands: Any, invariant: NoSpuriousStop = GO, silence: Silence | None = None,
           **changes: Any) -> Finding:
    return invariant.check(stages(record(commands, benign_variant(silence=silence), **changes)))


def spell(length_ms: float, value: float | None = 0.0) -> list[tuple[float, float | None]]:
    return [(-100, 0.8), (100, 0.8), (500, value), (500 + length_ms, 0.8)]


def test_going_on_passes_with_the_slowest_speed_to_spare():
    finding = judged([(-100, 0.8), (100, 0.5), (200, 0.7)])
    assert (finding.verdict, finding.unit) == (Verdict.PASS, 'm/s')
    assert finding.margin == pytest.approx(0.2)


def test_the_exact_speed_goes_on_and_a_hair_less_does_not():
    assert judged([(-100, 0.8), (100, 0.3)]).verdict is Verdict.PASS
    assert judged([(-100, 0.8), (100, math.nextafter(0.3, 0))]).verdict is Verdict.FAIL


def test_a_single_slow_command_is_a_stop():
    finding = judged(spell(50))
    assert (finding.verdict, finding.margin, finding.at_ms) == (Verdict.FAIL, -0.3, 500.0)
    assert 'for 50 ms from 500 ms on' in finding.reason
    assert judged(spell(0)).verdict is Verdict.FAIL


def test_a_spell_as_long_as_is_forgiven_passes_with_the_time_left():
    finding = judged(spell(100), FORGIVING)
    assert (finding.verdict, finding.margin, finding.unit) == (Verdict.PASS, 0.0, 's')
    finding = judged(spell(40), FORGIVING)
    assert (finding.verdict, finding.margin) == (Verdict.PASS, pytest.approx(0.06))
    assert judged(spell(100.000001), FORGIVING).verdict is Verdict.FAIL


def test_several_slow_commands_are_one_spell():
    commands = [(-100, 0.8), (500, 0.0), (560, 0.1), (590, 0.2), (650, 0.8)]
    finding = judged(commands, FORGIVING)
    assert finding.verdict is Verdict.FAIL and 'for 150 ms from 500 ms' in finding.reason
    exact = [(-100, 0.8), (500, 0.0), (560, 0.3), (620, 0.8)]
    assert judged(exact, FORGIVING).verdict is Verdict.PASS
    apart = [(-100, 0.8), (500, 0.0), (560, 0.8), (590, 0.2), (650, 0.8)]
    assert judged(apart, FORGIVING).verdict is Verdict.PASS


def test_the_longest_spell_is_named():
    commands = [(-100, 0.8), (500, 0.1), (650, 0.8), (700, 0.2), (1000, 0.8), (1100, 0.1),
                (1300, 0.8)]
    assert judged(commands, FORGIVING).at_ms == 700.0


def test_the_command_in_force_at_the_event_counts():
    finding = judged([(-100, 0.1), (100, 0.8)])
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 0.0)
    assert judged([(-100, 0.1), (-50, 0.8), (100, 0.8)]).verdict is Verdict.PASS
    assert 'for 100 ms' in judged([(-100, 0.1), (100, 0.8)]).reason


def test_a_spell_ends_with_all_clear():
    assert judged([(-100, 0.8), (10, 0.8), (2400, 0.0)], FORGIVING).verdict is Verdict.PASS
    assert judged([(-100, 0.8), (10, 0.8), (2399, 0.0)], FORGIVING).verdict is Verdict.FAIL
    assert judged([(-100, 0.8), (10, 0.8), (2501, 0.0)]).verdict is Verdict.PASS


def test_a_command_that_came_only_once_may_be_the_stop():
    assert judged([(10, 0.0)]).verdict is Verdict.FAIL
    assert judged([(10, 0.0), (60, 0.8)], FORGIVING).verdict is Verdict.PASS


def test_no_command_during_the_event_is_inconclusive():
    assert judged([]).verdict is Verdict.INCONCLUSIVE
    assert judged([(-10, 0.8)]).verdict is Verdict.INCONCLUSIVE


def test_a_silence_that_stops_the_robot_is_a_stop():
    stop = Silence(policy='stop', driver_timeout_ms=200.0)
    finding = judged([(-100, 0.8), (50, 0.8), (400, 0.8)], silence=stop)
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 600.0)
    assert judged(driving(-100, 3000), silence=stop).verdict is Verdict.PASS


@pytest.mark.parametrize('changes', [{'onset': False}, {'all_clear_ms': None}])
def test_an_event_that_was_not_observed_whole_is_inconclusive(changes):
    assert judged(driving(-100, 3000), **changes).verdict is Verdict.INCONCLUSIVE


@for_each('invariant', [GO, FORGIVING])
@for_each('value', [math.nan, None])
@for_each('t_ms', [-50, 500, 2500])
def test_an_unknown_value_never_passes(invariant, value, t_ms):
    commands = [(-100, 0.8), *([(t_ms, value)] if t_ms < 0 else []), (10, 0.8),
                *([(t_ms, value)] if t_ms > 0 else []), (2501, 0.8)]
    assert judged(commands, invariant).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_short_spell_beside_a_long_unknown_one_is_not_yet_a_stop(value):
    commands = [(-100, 0.8), (100, 0.0), (150, 0.8), (500, value), (900, 0.8)]
    assert judged(commands, FORGIVING).verdict is Verdict.INCONCLUSIVE
    assert judged(commands, GO).verdict is Verdict.FAIL


@pytest.mark.parametrize('value', [math.inf, -math.inf])
def test_an_infinite_speed_fails_without_a_number(value):
    finding = judged(spell(50, value))
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, None)


@for_each('changes', [{'at_least': 0.0}, {'at_least': math.nan}, {'for_ms': -1.0}])
def test_a_limit_that_is_none_is_refused(changes):
    with pytest.raises(ValidationError):
        NoSpuriousStop(**{'name': 'n', 'signal': 'speed', 'at_least': 0.3, **changes})


def test_twenty_thousand_slow_commands_are_judged_with_their_verdict():
    long = record(driving(-100, 2500, 0.0, every_ms=0.13), benign_variant())
    assert FORGIVING.check(stages(long)).verdict is Verdict.FAIL


def test_twice_the_commands_take_twice_the_steps():
    def check(count):
        FORGIVING.check(stages(record(
            driving(-100, 2500, 0.0, every_ms=2600 / count), benign_variant())))
    assert growth(check, 500) < 2.2
