# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a controller in lock-step may have had beside what it was charged."""

from cases import for_each
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.timing import (
    ClockRules,
    ENDED,
    GIVEN,
    HELD,
    Measuring,
    THOUGHT,
    TURN,
)
from safety_scenarios.scenario.verdict import Verdict
from unit.records import (
    ALL_CLEAR_MS,
    command,
    driving,
    END_MS,
    hazard,
    NOMINAL_MS,
    reacting,
    record,
    stamps,
)

ALONE = 'no time beside decisions'
STEP_MS = 50.0


def at(t_ms):
    return stamps(t_ms).steady_ns


def decisions(pace=5.0, stall_ms=0.0, at_ms=100.0, held_ms=0.0):
    """
    Return decisions that cost nothing, in a simulation that stands still once.

    :param pace: how many times as fast as real time the simulation went
    :param stall_ms: real time that passed once and was not charged
    :param at_ms: simulated time of that, after onset
    """
    count = round((END_MS - NOMINAL_MS) / STEP_MS)
    for number in range(count + 1):
        t_ms = NOMINAL_MS + STEP_MS * number
        real_s = 1000 + (t_ms / pace + (stall_ms if t_ms >= at_ms else 0.0)) / 1e3
        yield Event(kind='decision', name='controller', stamps=stamps(t_ms), truth={
            THOUGHT: 0.0, HELD: held_ms / 1e3, TURN: stamps(t_ms).steady_ns / 1e9,
            GIVEN: real_s - 0.001, ENDED: real_s})


def result(measured, **decided):
    """Judge a trial in lock-step whose controller reacts after 150 ms of simulated time."""
    measuring = Measuring(
        one_host=True, uncertainty_ms={'source': 3.0}, schedule_clock='steady', pace=1.0,
        lockstep=True, rules=ClockRules(latency_clock='ros', lockstep=True), **measured)
    return evaluate(record([*(command(t_ms, speed, left_ms=t_ms, arrived_ms=t_ms)
                              for t_ms, speed in reacting(150.0)), *decisions(**decided)],
                           measuring=measuring))


FOREIGN, OURS = {'charges': True}, {'charges': True, 'answers_alone': True}


@for_each(('measured', 'decided', 'verdict'), [
    (FOREIGN, {}, 'PASS'),
    (FOREIGN, {'stall_ms': 500.0}, 'INCONCLUSIVE'),  # it may have computed on meanwhile
    (OURS, {'stall_ms': 500.0}, 'PASS'),
    (FOREIGN, {'stall_ms': 500.0, 'at_ms': 400.0}, 'PASS'),  # after its reaction
    (FOREIGN, {'stall_ms': 500.0, 'at_ms': -300.0}, 'PASS'),  # before the hazard
    (FOREIGN, {'pace': 0.5}, 'INCONCLUSIVE')])
def test_time_that_was_not_charged_is_none_that_a_controller_can_have_used(
        measured, decided, verdict):
    found = result(measured, **decided)
    assert found.verdict is Verdict(verdict), found.reason
    if verdict == 'INCONCLUSIVE':
        assert found.reason.startswith(ALONE) and 'without clock.lockstep' in found.reason


def test_a_little_of_it_widens_the_uncertainty():
    wide, narrow = (result(FOREIGN, pace=pace).latency.reaction.uncertainty_ns
                    for pace in (0.95, 5.0))
    assert wide > narrow == 3_000_000


def test_who_computes_beside_its_decisions_needs_a_processor():
    beside = {**FOREIGN, 'beside': "the thread 'x'"}
    assert result(beside, pace=1.0).verdict is Verdict.PASS
    found = result(beside, pace=1.0, held_ms=60.0)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "the thread 'x' may have decided" in found.reason
    assert result(FOREIGN, held_ms=60.0).verdict is Verdict.PASS, 'what it took is charged'


def test_a_simulator_that_charges_nothing_judges_no_controller_that_may_think_long():
    found = result({})
    assert found.verdict is Verdict.INCONCLUSIVE and 'charged nothing' in found.reason
    assert result({'answers_alone': True}).verdict is Verdict.PASS


def lock_step(commands, untaken=(), thought_ms=0.0, scenario=None, stalled_ms=None):
    """
    Judge a trial in lock-step in which time went on while a turn was not answered.

    :param untaken: from when to when (ms after onset); later than the end: it was never answered
    :param thought_ms: how long the controller took for that turn by its own doing
    :param stalled_ms: for how long its process had been stopped at the end, if it reported that
    """
    found = [one for one in decisions() if not untaken or not (
        at(untaken[0]) <= one.stamps.steady_ns < at(untaken[1]))]
    for place, one in enumerate(found):
        if untaken and one.stamps.steady_ns == at(untaken[1]):  # answered late
            found[place] = one.model_copy(update={'truth': {
                **one.truth, TURN: at(untaken[0]) / 1e9, THOUGHT: thought_ms / 1e3}})
    if stalled_ms is not None:
        found.append(Event(kind='stall', name='controller', text='stopped', stamps=stamps(END_MS),
                           truth={'began': 1.0, 'ended': 0.0, 'lost': stalled_ms / 1e3}))
    measuring = Measuring(
        one_host=True, uncertainty_ms={'source': 3.0}, schedule_clock='steady', pace=1.0,
        lockstep=True, rules=ClockRules(latency_clock='ros', lockstep=True), **OURS)
    return evaluate(record([command(t_ms, speed, left_ms=t_ms, arrived_ms=t_ms)
                            for t_ms, speed in commands],
                           scenario, extra=found, measuring=measuring))


@for_each(('untaken', 'verdict'), [
    ((), 'PASS'), ((0, 10_000), 'INCONCLUSIVE'), ((-200, 10_000), 'INCONCLUSIVE'),
    ((200, 700), 'INCONCLUSIVE'), ((200, 250), 'INCONCLUSIVE'), ((-600, -100), 'PASS')])
def test_a_silence_of_who_takes_no_turn_is_no_stop(untaken, verdict):
    """Its process was stopped for longer than the simulator waits."""
    silent = [*driving(NOMINAL_MS + 10, 50), *driving(ALL_CLEAR_MS, END_MS)]
    result = lock_step(silent, untaken, scenario=hazard(silence=Silence(
        policy='stop', driver_timeout_ms=100.0)))
    assert result.latency.inferred
    assert result.verdict is Verdict(verdict), result.reason


LATE, NEVER = reacting(650.0), driving(NOMINAL_MS + 10, 50)


@for_each(('commands', 'told', 'verdict'), [
    (LATE, {}, 'FAIL'),
    (LATE, {'untaken': (50, 650)}, 'INCONCLUSIVE'),
    (LATE, {'untaken': (50, 650), 'thought_ms': 600.0}, 'FAIL'),  # its own code took so long
    (LATE, {'untaken': (50, 650), 'thought_ms': 300.0}, 'INCONCLUSIVE'),
    (LATE, {'untaken': (-1000, -700)}, 'FAIL'),  # long before the hazard
    (reacting(150.0), {'untaken': (-1000, -700)}, 'PASS'),
    (reacting(150.0), {'stalled_ms': 30.0}, 'PASS'),
    (NEVER, {'untaken': (50, 10_000)}, 'FAIL'),  # it hangs
    (NEVER, {'untaken': (50, 10_000), 'stalled_ms': 30_000.0}, 'INCONCLUSIVE'),
    (NEVER, {'untaken': (50, 10_000), 'stalled_ms': 30.0}, 'FAIL')])
def test_who_could_not_run_while_lock_step_went_on_was_not_late_by_itself(
        commands, told, verdict):
    result = lock_step(commands, **told)
    assert result.verdict is Verdict(verdict), result.reason
    assert ('the process of the controller could not run' in result.reason) is (
        verdict == 'INCONCLUSIVE')
