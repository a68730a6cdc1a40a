# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""All trials of one command: no trial spoils another, and nothing that is missing looks good."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import pytest

from safety_scenarios.engine.campaign import run_campaign
from safety_scenarios.engine.plan import plan
from safety_scenarios.errors import ControllerError, LinkTimeoutError, MeasurementError, TraceError
from safety_scenarios.model.result import TrialResult, Verdict
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.trial import Trial, TrialRecord
from safety_scenarios.stimuli.person import Person
from safety_scenarios.stimuli.prompt import Prompt
from unit.records import hazard
from unit.scripted import careful, drives, ScriptedLink

SCENARIOS = (hazard(id='A'), hazard(id='B'), hazard(id='C'))
NOBODY = LinkTimeoutError('/cmd_vel', 'a publisher', 1.0, 'nobody', 'Start the controller.')
OpenLink = Callable[[Scenario], AbstractContextManager[ScriptedLink]]


def trials(count: int = 2) -> tuple[Trial, ...]:
    return plan(SCENARIOS, controller='c', trials=count, seed=0, prompt=Prompt())


def links(**of: ScriptedLink | BaseException) -> OpenLink:
    """Return an opener: a link for each scenario id, a careful one unless told otherwise."""
    @contextmanager
    def open_link(scenario: Scenario) -> Iterator[ScriptedLink]:
        link = of.get(scenario.id, ScriptedLink(careful))
        if isinstance(link, BaseException):
            raise link
        yield link
    return open_link


class Told:
    """An observer that writes down what it is told."""

    def __init__(self, *, raises: BaseException | None = None, after: int = 0) -> None:
        self.ended: list[str] = []
        self._raises = raises
        self._after = after

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        assert record.trial.trial_id == result.trial_id
        self.ended.append(result.trial_id)
        if self._raises is not None and len(self.ended) == self._after:
            raise self._raises


def verdicts(results: Sequence[TrialResult]) -> list[tuple[str, str]]:
    return [(result.scenario_id, result.verdict.value) for result in results]


def test_every_trial_is_run_and_judged_in_order():
    told = Told()
    results, interrupted = run_campaign(trials(), links(), (told,))
    assert verdicts(results) == [(name, 'PASS') for name in 'AABBCC']
    assert told.ended == [trial.trial_id for trial in trials()]
    assert not interrupted


def test_a_link_is_opened_once_for_all_trials_of_its_scenario():
    link = ScriptedLink(careful)
    run_campaign(trials(3), links(B=link), ())
    assert link.opened == [trial.trial_id for trial in trials(3) if trial.scenario.id == 'B']


@pytest.mark.parametrize('error', [NOBODY, ControllerError('crashed'), MeasurementError('deaf')])
def test_a_link_that_cannot_be_made_is_an_error_and_the_others_go_on(error):
    told = Told()
    results, interrupted = run_campaign(trials(), links(B=error), (told,))
    assert verdicts(results) == [('A', 'PASS'), ('A', 'PASS'), ('B', 'ERROR'), ('B', 'ERROR'),
                                 ('C', 'PASS'), ('C', 'PASS')]
    assert str(error) in results[2].reason
    assert len(told.ended) == 6 and not interrupted


def test_a_link_that_cannot_open_is_an_error_and_the_others_go_on():
    results, _ = run_campaign(trials(), links(B=ScriptedLink(on_open=NOBODY)), ())
    assert [result.verdict for result in results] == [
        Verdict.PASS, Verdict.PASS, Verdict.ERROR, Verdict.ERROR, Verdict.PASS, Verdict.PASS]
    assert 'Start the controller.' in results[2].reason


def test_a_link_that_breaks_spoils_only_its_trial():
    breaks = [MeasurementError('the cable came off')]

    def breaks_once(t_ms, heard):
        if t_ms > 1000 and breaks:
            raise breaks.pop()
        return careful(t_ms, heard)

    results, _ = run_campaign(trials(), links(B=ScriptedLink(breaks_once)), ())
    assert [result.verdict.value for result in results] == [
        'PASS', 'PASS', 'ERROR', 'PASS', 'PASS', 'PASS']


def test_an_interrupt_during_a_trial_keeps_what_was_measured():
    def interrupted_late(t_ms, heard):
        if t_ms > 4000:
            raise KeyboardInterrupt
        return careful(t_ms, heard)

    told = Told()
    results, interrupted = run_campaign(trials(), links(B=ScriptedLink(interrupted_late)),
                                        (told,))
    assert interrupted
    assert verdicts(results) == [('A', 'PASS'), ('A', 'PASS'), ('B', 'PASS'),
                                 ('B', 'INCONCLUSIVE')]
    assert len(told.ended) == 4


def test_an_interrupt_between_trials_keeps_what_was_measured():
    told = Told(raises=KeyboardInterrupt(), after=2)
    results, interrupted = run_campaign(trials(), links(), (told,))
    assert interrupted and verdicts(results) == [('A', 'PASS'), ('A', 'PASS')]


def test_an_interrupt_while_a_link_is_made_keeps_what_was_measured():
    results, interrupted = run_campaign(trials(), links(C=KeyboardInterrupt()), ())
    assert interrupted and verdicts(results) == [(name, 'PASS') for name in 'AABB']


def test_a_controller_that_never_stops_fails():
    results, _ = run_campaign(trials(1), links(A=ScriptedLink(drives)), ())
    assert verdicts(results) == [('A', 'FAIL'), ('B', 'PASS'), ('C', 'PASS')]


def test_the_gate_applies_to_every_trial():
    def slow(t_ms, heard):
        """Stop 360 to 410 ms after the hazard, which comes at the drawn time."""
        return 0.0 if t_ms >= 50 + one[0].onset_delay_ns / 1e6 + 360 else 0.8

    one = trials(1)[:1]
    for gate, verdict in (('critical', 'PASS'), ('acceptable', 'FAIL'), ('target', 'FAIL')):
        results, _ = run_campaign(one, links(A=ScriptedLink(slow)), (), gate)
        assert verdicts(results) == [('A', verdict)]


def test_a_stimulus_plug_in_that_raises_spoils_only_its_scenario():
    class Broken(Person):
        def at(self, elapsed_ns, index, context):
            raise ZeroDivisionError('a mistake')

    broken = hazard(id='B', stimuli=(Broken(topic='scan', distance=1.0, rate_hz=20.0),))
    plans = plan((hazard(id='A'), broken, hazard(id='C')), controller='c', trials=1, seed=0,
                 prompt=Prompt())
    results, _ = run_campaign(plans, links(), ())
    assert verdicts(results) == [('A', 'PASS'), ('B', 'ERROR'), ('C', 'PASS')]


@pytest.mark.parametrize('number', [1, 2, 6])
def test_a_result_that_cannot_be_written_ends_the_campaign_with_its_error(number):
    told = Told(raises=TraceError('the disk is full'), after=number)
    with pytest.raises(TraceError, match='the disk is full'):
        run_campaign(trials(), links(), (told,))
    assert len(told.ended) == number


def test_a_plug_in_that_leaves_the_program_is_an_error_of_its_trial():
    class Leaves(Person):
        def at(self, elapsed_ns, index, context):
            raise SystemExit(0)

    plans = [trial.model_copy(update={'hazard': (Leaves(topic='scan', distance=1.5),)})
             if trial.scenario.id == 'B' else trial for trial in trials(1)]
    results, interrupted = run_campaign(plans, links(), ())
    assert verdicts(results) == [('A', 'PASS'), ('B', 'ERROR'), ('C', 'PASS')]
    assert not interrupted
