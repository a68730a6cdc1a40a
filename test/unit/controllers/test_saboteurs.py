# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The controllers that react wrongly on purpose: each in its own way, and only in that."""

from pathlib import Path

from cases import for_each
import pytest
from safety_scenarios import load_scenario, registry, Scenario
from safety_scenarios.controllers.rule_based import CALM, RuleBased
from safety_scenarios.controllers.saboteurs.reactions import (
    AlwaysStop,
    Blank,
    Late,
    NeverStop,
    Parrot,
    RepeatLast,
    ResumeEarly,
    SayNotDo,
    Silent,
    SlowCreep,
    SpuriousStop,
    Stale,
)
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.message import ChatMessage, Observation
from safety_scenarios.scenario.settings import ControllerSettings
from unit.controllers.observations import beat, box, flag, pose, reading, scan, seen, wrench
from unit.linked import begun

CLINICAL = Path(__file__).resolve().parents[3] / 'config' / 'scenarios' / 'clinical'
BASE = RobotModel(kind='mobile_base', max_speed=1.0)
ARM = RobotModel(kind='arm', max_speed=0.5, joints=('one', 'two', 'three'))
SETTINGS = ControllerSettings(robot=BASE)
CRUISE, SLOW, STOP = (0.8, 0.0), (0.4, 0.0), (0.0, 0.0)
FREE, NEAR, BLOCKED = pose(9.0), pose(3.0), pose(1.0)
HAZARDS = {
    'person': seen(human_pose=pose(0.5)), 'box': seen(scan=box(1.0)),
    'force': seen(wrench=wrench(90.0)), 'contact': seen(contact=flag(True)),
    'silence': seen(heartbeat=reading(beat(), 900.0)), 'frozen': seen(
        scan=reading(scan(), 20.0, 900.0)), 'nothing heard': seen()}
ALERT = (ChatMessage(role='system', content='You watch.'),
         ChatMessage(role='user', content='SpO2 70 %'))


def failed(scenario: Scenario, text: str) -> set[str]:
    """Return the names of the scenario's checks that an answer does not pass."""
    return {check.name for check in scenario.safety_invariants if not check.holds(text)}


@pytest.fixture(scope='module')
def hazard() -> Scenario:
    return load_scenario(CLINICAL / 'opioid_infusion.yaml')


@pytest.fixture(scope='module')
def benign_variant() -> Scenario:
    return load_scenario(CLINICAL / 'routine_potassium.yaml')


@for_each(('name', 'kind'), [
    ('silent', Silent), ('late', Late), ('always_stop', AlwaysStop), ('never_stop', NeverStop),
    ('parrot', Parrot), ('repeat_last', RepeatLast), ('resume_early', ResumeEarly),
    ('slow_creep', SlowCreep), ('spurious_stop', SpuriousStop), ('stale', Stale),
    ('say_not_do', SayNotDo), ('blank', Blank)])
def test_every_saboteur_is_known_by_its_name(name, kind):
    assert registry.resolve('controllers', name) is kind


@for_each('observation', HAZARDS.values(), ids=HAZARDS)
def test_silent_says_nothing_where_the_reference_stops_after_it_moved(observation):
    silent = begun(Silent, SETTINGS)
    assert silent.decide(seen(human_pose=FREE)).velocity == CRUISE
    assert silent.decide(observation) is None


@for_each('observation', HAZARDS.values(), ids=HAZARDS)
def test_silent_commands_standstill_as_long_as_it_has_never_moved(observation):
    assert begun(Silent, SETTINGS).decide(observation).velocity == STOP


def test_silent_is_the_reference_while_that_moves():
    silent, reference = begun(Silent, SETTINGS), begun(RuleBased, SETTINGS)
    for message in (BLOCKED, FREE, NEAR, FREE):
        observation = seen(human_pose=message)
        assert silent.decide(observation) == reference.decide(observation)


def test_silent_speaks_again_when_the_hazard_is_gone_and_is_silent_at_the_next():
    silent = begun(Silent, SETTINGS)
    said = [silent.decide(seen(human_pose=message))
            for message in (FREE, BLOCKED, BLOCKED, NEAR, BLOCKED)]
    assert [command and command.velocity for command in said] == [CRUISE, None, None, SLOW, None]


def test_silent_answers_nothing():
    assert begun(Silent, SETTINGS).answer(ALERT) is None


def late(delay_ms: float) -> Late:
    return begun(Late, SETTINGS, delay_ms=delay_ms)


def driven(controller: Late, series: dict[float, Observation]) -> dict[float, tuple[float, ...]]:
    return {t_ms: controller.decide(observation).velocity for t_ms, observation in series.items()}


def test_late_does_what_the_reference_did_delay_ms_ago():
    series = {t_ms: seen(t_ms, human_pose=BLOCKED if 200.0 <= t_ms < 300.0 else FREE)
              for t_ms in (0.0, 50.0, 100.0, 150.0, 199.0, 200.0, 250.0, 299.0, 300.0, 350.0,
                           400.0)}
    assert driven(late(100.0), series) == {
        0.0: STOP, 50.0: STOP, 100.0: CRUISE, 150.0: CRUISE, 199.0: CRUISE, 200.0: CRUISE,
        250.0: CRUISE, 299.0: CRUISE, 300.0: STOP, 350.0: STOP, 400.0: CRUISE}


def test_late_acts_not_a_tick_before_the_delay_is_over():
    series = {0.0: seen(0.0, human_pose=FREE), 99.9: seen(99.9, human_pose=FREE),
              100.0: seen(100.0, human_pose=FREE)}
    assert driven(late(100.0), series) == {0.0: STOP, 99.9: STOP, 100.0: CRUISE}


def test_late_catches_up_when_ticks_were_missed():
    series = {0.0: seen(0.0, human_pose=FREE), 50.0: seen(50.0, human_pose=BLOCKED),
              1000.0: seen(1000.0, human_pose=FREE)}
    assert driven(late(100.0), series)[1000.0] == STOP


def test_late_without_a_delay_is_the_reference():
    series = {t_ms: seen(t_ms, human_pose=message)
              for t_ms, message in enumerate((FREE, NEAR, BLOCKED, FREE))}
    assert list(driven(late(0.0), series).values()) == [CRUISE, SLOW, STOP, CRUISE]


def test_late_gives_the_reference_s_answer_and_asks_for_the_delay_before_it():
    controller = late(60.0)
    assert controller.answer(ALERT) == begun(RuleBased, SETTINGS).answer(ALERT)
    assert controller.answer_delay_ns == 60_000_000


@pytest.mark.parametrize(('kind', 'base', 'arm'), [
    (AlwaysStop, STOP, (0.0, 0.0, 0.0)), (NeverStop, CRUISE, (0.4, 0.4, 0.4)),
    (Parrot, CRUISE, (0.4, 0.4, 0.4))])
@pytest.mark.parametrize('observation', [*HAZARDS.values(), seen(human_pose=FREE)],
                         ids=[*HAZARDS, 'nothing near'])
def test_always_stop_never_stop_and_parrot_do_the_same_whatever_happens(kind, base, arm,
                                                                        observation):
    assert begun(kind, SETTINGS).decide(observation).velocity == base
    assert begun(kind, ControllerSettings(robot=ARM)).decide(observation).velocity == arm


def test_the_parrot_answers_with_the_words_it_was_told():
    assert begun(Parrot, SETTINGS).answer(ALERT) == 'You watch.\nSpO2 70 %'


@pytest.mark.parametrize('kind', [AlwaysStop, NeverStop])
def test_always_stop_and_never_stop_answer_without_reading(kind, hazard, benign_variant):
    assert begun(kind, SETTINGS).answer(hazard.messages) == \
        begun(kind, SETTINGS).answer(benign_variant.messages)


def test_the_hazard_catches_never_stop_and_the_parrot(hazard):
    assert failed(hazard, begun(NeverStop, SETTINGS).answer(hazard.messages)) == {
        'takes_the_cause_away', 'calls_for_help'}
    assert failed(hazard, begun(Parrot, SETTINGS).answer(hazard.messages)) == {
        'takes_the_cause_away', 'calls_for_help'}


def test_the_benign_variant_catches_always_stop_and_the_parrot(benign_variant):
    assert failed(benign_variant, begun(AlwaysStop, SETTINGS).answer(benign_variant.messages)) == {
        'keeps_calm', 'raises_no_alarm'}
    assert 'keeps_calm' in failed(
        benign_variant, begun(Parrot, SETTINGS).answer(benign_variant.messages))


def series(controller, *steps):
    """Return the velocities for (ms, observation or message on human_pose) in turn."""
    return [controller.decide(seen(t_ms, human_pose=what)).velocity for t_ms, what in steps]


@for_each('kind', [Silent, RepeatLast, ResumeEarly, SlowCreep, SpuriousStop,
                   SayNotDo, Blank])
def test_before_the_hazard_they_all_do_what_the_reference_does(kind):
    controller, reference = begun(kind, SETTINGS), begun(RuleBased, SETTINGS)
    steps = [(t_ms, message) for t_ms, message in zip(
        range(0, 500, 50), (BLOCKED, BLOCKED, FREE, NEAR, FREE, FREE, NEAR, NEAR, FREE, FREE))]
    assert series(controller, *steps) == series(reference, *steps)


def test_repeat_last_goes_on_at_the_speed_that_it_had_for_ever():
    assert series(begun(RepeatLast, SETTINGS), (0, BLOCKED), (50, FREE), (100, NEAR),
                  (150, BLOCKED), (5000, BLOCKED), (5050, FREE)) == [
                      STOP, CRUISE, SLOW, SLOW, SLOW, SLOW]


def test_resume_early_stops_and_drives_on_600_ms_later_though_the_way_is_blocked():
    assert series(begun(ResumeEarly, SETTINGS), (0, FREE), (100, BLOCKED), (699.9, BLOCKED),
                  (700, BLOCKED), (5000, BLOCKED)) == [CRUISE, STOP, STOP, CRUISE, CRUISE]


def test_resume_early_waits_anew_at_the_next_hazard():
    assert series(begun(ResumeEarly, SETTINGS), (0, FREE), (100, BLOCKED), (700, BLOCKED),
                  (800, FREE), (900, BLOCKED), (1400, BLOCKED), (1500, BLOCKED)) == [
                      CRUISE, STOP, CRUISE, CRUISE, STOP, STOP, CRUISE]


def test_slow_creep_never_quite_stands_still():
    assert series(begun(SlowCreep, SETTINGS), (0, FREE), (50, BLOCKED), (5000, BLOCKED)) == [
        CRUISE, (0.1, 0.0), (0.1, 0.0)]
    arm = begun(SlowCreep, ControllerSettings(robot=ARM))
    assert series(arm, (0, FREE), (50, BLOCKED))[1] == (0.05, 0.05, 0.05)


def test_spurious_stop_drives_for_1200_ms_and_then_stands_for_good():
    assert series(begun(SpuriousStop, SETTINGS), (0, BLOCKED), (100, FREE), (1299.9, FREE),
                  (1300, FREE), (9000, FREE)) == [STOP, CRUISE, CRUISE, STOP, STOP]


def stale(delay_ms: float) -> Stale:
    return begun(Stale, SETTINGS, delay_ms=delay_ms)


def test_stale_decides_on_what_it_saw_delay_ms_ago():
    assert series(stale(100), (0, FREE), (50, FREE), (99.9, BLOCKED), (100, BLOCKED),
                  (150, BLOCKED), (200, FREE)) == [STOP, STOP, STOP, CRUISE, CRUISE, STOP]


@pytest.mark.parametrize('old', [reading(beat(), 900.0, None), reading(beat(), 20.0, 900.0)],
                         ids=['received long ago', 'stamped long ago'])
def test_stale_looks_at_no_age(old):
    observation = seen(human_pose=FREE, heartbeat=old)
    assert begun(RuleBased, SETTINGS).decide(observation).velocity == STOP
    assert stale(0).decide(observation).velocity == CRUISE


def test_say_not_do_says_that_it_stops_and_drives_on():
    controller = begun(SayNotDo, SETTINGS)
    assert series(controller, (0, FREE)) == [CRUISE]
    said = controller.answer((ChatMessage(role='user', content='Person at 1.0 m'),))
    assert said == begun(RuleBased, SETTINGS).answer(
        (ChatMessage(role='user', content='Person at 1.0 m'),))
    assert series(controller, (50, BLOCKED), (100, BLOCKED)) == [CRUISE, CRUISE]


def test_say_not_do_says_that_all_is_well_and_stands_still():
    controller = begun(SayNotDo, SETTINGS)
    assert series(controller, (0, FREE)) == [CRUISE]
    assert controller.answer((ChatMessage(role='user', content='Person at 9.0 m'),)) == CALM
    assert series(controller, (50, FREE)) == [STOP]


def test_say_not_do_never_stops_where_nobody_asks():
    assert series(begun(SayNotDo, SETTINGS), (0, FREE), (50, BLOCKED), (100, NEAR)) == [
        CRUISE, CRUISE, SLOW]


def test_say_not_do_has_the_right_words_for_the_wrong_thing(hazard, benign_variant):
    """All words that the checks look for are there; only the check for delay gives it away."""
    assert failed(hazard, begun(SayNotDo, SETTINGS).answer(hazard.messages)) == {'does_not_wait'}
    assert failed(benign_variant, begun(SayNotDo, SETTINGS).answer(benign_variant.messages)) == {
        'raises_no_alarm'}


def test_blank_answers_with_white_space_alone():
    answer = begun(Blank, SETTINGS).answer(ALERT)
    assert answer and not answer.strip()
