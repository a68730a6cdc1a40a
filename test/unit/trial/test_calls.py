# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Goals and service calls before the hazard: who refuses, who is silent, who arrives too early."""

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.errors import MeasurementError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.blocks.nominal_calls import ActionGoal, Call, ServiceCall
from safety_scenarios.scenario.body import Nominal, Requirement
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Timeline
from unit.records import hazard, planned
from unit.scripted import careful, drives, ScriptedLink, START_NS

GOAL = Call(action=ActionGoal(name='navigate', type='nav2_msgs/action/NavigateToPose'))
ENABLE = Call(service=ServiceCall(name='enable', type='std_srvs/srv/SetBool',
                                  request={'data': True}))
PURSUED = 'the goal for navigate is pursued'


class Stack(ScriptedLink):
    """
    A link whose stack answers calls.

    :param states: (ms after the call, state) of each call, in the order in which they are made
    """

    def __init__(self, *states, controller=careful, fails=False):
        super().__init__(controller)
        self._states = list(states)
        self._waiting = []
        self._fails = fails
        self.asked = []

    def call(self, call, symbol):
        self.asked.append((call.target.name, self.now_ms, len(self.sent)))
        for after_ms, state in self._states.pop(0):
            self._waiting.append((self.now_ns + round(after_ms * 1e6), call, symbol, state))
        return Event(kind='call', name=call.target.name, stamps=self._stamps(), symbol=symbol)

    def receive_until(self, schedule_ns):
        self._waiting.sort(key=lambda one: one[0])
        if self._waiting and self._waiting[0][0] <= min(schedule_ns, self._due_ns()):
            due_ns, call, symbol, state = self._waiting.pop(0)
            self.now_ns = max(self.now_ns, due_ns)
            return [Event(kind='call_state', name=call.target.name, stamps=self._stamps(),
                          text=state, symbol=symbol)]
        return super().receive_until(schedule_ns)

    def disarm(self):
        if self._fails:
            self.now_ns += 5_000_000_000  # it waits for an end that does not come
            raise MeasurementError('the goal for navigate: got no end')


def ran(*states, calls=(GOAL,), **stack):
    scenario = hazard()
    nominal = scenario.body.nominal.model_copy(update={'calls': calls})
    scenario = scenario.model_copy(update={
        'body': scenario.body.model_copy(update={'nominal': nominal})})
    link = Stack(*states, **stack)
    record = run_trial(planned(scenario), link)
    return link, record, evaluate(record)


def verdict_of(result, check):
    return next(finding.verdict for finding in result.findings if finding.check == check)


def test_calls_are_made_one_after_the_other_while_stimuli_go_on():
    later = GOAL.model_copy(update={'after_ms': 300.0})
    link, record, result = ran([(200, 'answered')], [(100, 'accepted')], calls=(ENABLE, later))
    assert result.verdict is Verdict.PASS
    (enable, first_ms, _), (navigate, second_ms, stimuli) = link.asked
    assert (enable, first_ms, navigate, second_ms) == ('enable', 0.0, 'navigate', 500.0)
    assert stimuli >= 10  # 20 a second
    assert Timeline(record).onset.stamps.steady_ns - START_NS > 600e6
    assert verdict_of(result, PURSUED) is Verdict.PASS


@for_each(('states', 'told'), [
    ([(10, 'rejected')], "got 'rejected'"), ([], 'got no answer within 5000 ms'),
    ([(6000, 'accepted')], 'got no answer')])
def test_without_an_agreement_there_is_no_hazard_and_no_pass(states, told):
    _, record, result = ran(states)
    assert result.verdict is Verdict.ERROR
    assert told in result.reason
    assert Timeline(record).onset is None


def test_a_refused_service_call_is_an_error():
    _, _, result = ran([(10, 'refused')], calls=(ENABLE,))
    assert result.verdict is Verdict.ERROR


@for_each('ended', ['succeeded', 'aborted', 'canceled'])
def test_a_goal_that_is_over_before_the_hazard_explains_a_standstill(ended):
    _, record, result = ran([(10, 'accepted'), (400, ended)])
    assert Timeline(record).onset is not None
    assert result.verdict is Verdict.INCONCLUSIVE
    assert verdict_of(result, PURSUED) is Verdict.INCONCLUSIVE


def test_an_arrival_while_the_hazard_is_there_may_be_the_stop_that_was_seen():
    _, _, result = ran([(10, 'accepted'), (1500, 'succeeded')])
    assert result.verdict is Verdict.INCONCLUSIVE
    assert 'may be the arrival' in result.reason


@pytest.mark.parametrize('states', [
    [(10, 'accepted'), (1500, 'aborted')], [(10, 'accepted'), (3400, 'succeeded')]])
def test_a_stack_may_give_its_goal_up_for_the_hazard_or_reach_it_when_that_is_gone(states):
    _, _, result = ran(states)
    assert result.verdict is Verdict.PASS


def test_a_standstill_before_the_goal_was_accepted_is_no_false_stop():
    def waits(t_ms, heard):
        return 0.0 if 100 < t_ms < 1800 else careful(t_ms, heard)
    assert ran([(2000, 'accepted')], controller=waits)[2].verdict is Verdict.PASS
    assert ran([(0, 'accepted')], controller=waits)[2].verdict is not Verdict.PASS


def test_a_stop_where_the_goal_was_reached_is_held_against_nobody():
    def arrives(t_ms, heard):
        return 0.0 if t_ms > 700 else 0.8
    _, _, result = ran([(0, 'accepted'), (650, 'succeeded')], controller=arrives)
    assert result.verdict is Verdict.INCONCLUSIVE


def test_who_drives_on_fails_whatever_becomes_of_the_goal():
    _, _, result = ran([(10, 'accepted'), (1500, 'succeeded')], controller=drives)
    assert result.verdict is Verdict.FAIL


def test_a_goal_that_cannot_be_cancelled_is_an_error_and_its_wait_no_silence():
    _, record, result = ran([(10, 'accepted')], fails=True)
    assert result.verdict is Verdict.ERROR
    assert {finding.verdict for finding in result.findings if finding.kind != 'harness'} == {
        Verdict.PASS}
    assert record.end_ns == Timeline(record).mark('end').stamps.steady_ns


def test_a_link_that_cannot_call_refuses_and_does_not_go_on():
    with pytest.raises(MeasurementError, match='got a scenario with a goal for navigate'):
        Link().call(GOAL, 'calls[0]')


@for_each(('block', 'told'), [
    ({}, 'both or neither'), ({'action': {'name': 'a', 'type': 'os/system'}}, 'pattern'),
    ({'service': {'name': '/a', 'type': 'std_srvs/srv/Empty'}}, 'pattern'),
    ({'service': {'name': 'a', 'type': 'nav2_msgs/action/Spin'}}, 'pattern')])
def test_what_is_no_call_is_refused(block, told):
    with pytest.raises(ValidationError, match=told):
        Call.model_validate(block)


def test_two_goals_for_one_action_are_refused():
    with pytest.raises(ValidationError, match='expected one for each action'):
        Nominal(require=Requirement(signal='speed', at_least=0.3), calls=(GOAL, GOAL))
