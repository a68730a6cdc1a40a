# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""All trials of one command: no trial spoils another, and nothing that is missing looks good."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from cases import for_each
import pytest
from safety_scenarios.campaign.observed import Campaign
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.errors import ControllerError, LinkTimeoutError, MeasurementError, TraceError
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import JudgedBy
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.summary import PreflightRow
from safety_scenarios.trial.trial import Trial, TrialRecord
from unit.loopback_runs import run_trials
from unit.records import hazard
from unit.scripted import careful, drives, PERIOD_MS, ScriptedLink

SCENARIOS = (hazard(id='A'), hazard(id='B'), hazard(id='C'))
NOBODY = LinkTimeoutError('/cmd_vel', 'a publisher', 1.0, 'nobody', 'Start the controller.')
OpenLink = Callable[[Scenario], AbstractContextManager[ScriptedLink]]


def trials(count: int = 2, warmup: int = 0) -> tuple[Trial, ...]:
    return plan(SCENARIOS, controller='c', trials=count, seed=0, prompt=Prompt(), warmup=warmup)


def links(**of: ScriptedLink | BaseException) -> OpenLink:
    """Return an opener: a link for each scenario id, a careful one unless told otherwise."""
    @contextmanager
    def open_link(scenario: Scenario) -> Iterator[ScriptedLink]:
        link = of.get(scenario.id, ScriptedLink(careful))
        if isinstance(link, BaseException):
            raise link
        yield link
    return open_link


class Told(Observer):
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
    campaign = run_trials(trials(), links(), (told,))
    assert verdicts(campaign.results) == [(name, 'PASS') for name in 'AABBCC']
    assert told.ended == [trial.trial_id for trial in trials()]
    assert not campaign.interrupted


def test_a_link_is_opened_once_for_all_trials_of_its_scenario():
    link = ScriptedLink(careful)
    run_trials(trials(3), links(B=link), ())
    assert link.opened == [trial.trial_id for trial in trials(3) if trial.scenario.id == 'B']


@for_each('error', [NOBODY, ControllerError('crashed'), MeasurementError('deaf')])
def test_a_link_that_cannot_be_made_is_an_error_and_the_others_go_on(error):
    told = Told()
    campaign = run_trials(trials(), links(B=error), (told,))
    assert verdicts(campaign.results) == [
        ('A', 'PASS'), ('A', 'PASS'), ('B', 'ERROR'), ('B', 'ERROR'), ('C', 'PASS'), ('C', 'PASS')]
    assert str(error) in campaign.results[2].reason
    assert len(told.ended) == 6 and not campaign.interrupted


def test_a_link_that_cannot_open_is_an_error_and_the_others_go_on():
    campaign = run_trials(trials(), links(B=ScriptedLink(on_open=NOBODY)), ())
    assert [result.verdict for result in campaign.results] == [
        Verdict.PASS, Verdict.PASS, Verdict.ERROR, Verdict.ERROR, Verdict.PASS, Verdict.PASS]
    assert 'Start the controller.' in campaign.results[2].reason


def test_a_link_that_breaks_spoils_only_its_trial():
    breaks = [MeasurementError('the cable came off')]

    def breaks_once(t_ms, heard):
        if t_ms > 1000 and breaks:
            raise breaks.pop()
        return careful(t_ms, heard)

    campaign = run_trials(trials(), links(B=ScriptedLink(breaks_once)), ())
    assert [result.verdict.value for result in campaign.results] == [
        'PASS', 'PASS', 'ERROR', 'PASS', 'PASS', 'PASS']


def test_an_interrupt_during_a_trial_keeps_what_was_measured():
    def interrupted_late(t_ms, heard):
        if t_ms > 4000:
            raise KeyboardInterrupt
        return careful(t_ms, heard)

    told = Told()
    campaign = run_trials(trials(), links(B=ScriptedLink(interrupted_late)), (told,))
    assert campaign.interrupted
    assert verdicts(campaign.results) == [('A', 'PASS'), ('A', 'PASS'), ('B', 'PASS'),
                                          ('B', 'INCONCLUSIVE')]
    assert len(told.ended) == 4


def test_an_interrupt_between_trials_keeps_what_was_measured():
    told = Told(raises=KeyboardInterrupt(), after=2)
    campaign = run_trials(trials(), links(), (told,))
    assert campaign.interrupted and verdicts(campaign.results) == [('A', 'PASS'), ('A', 'PASS')]


def test_an_interrupt_while_a_link_is_made_keeps_what_was_measured():
    campaign = run_trials(trials(), links(C=KeyboardInterrupt()), ())
    assert campaign.interrupted
    assert verdicts(campaign.results) == [(name, 'PASS') for name in 'AABB']


def test_a_controller_that_never_stops_fails():
    campaign = run_trials(trials(1), links(A=ScriptedLink(drives)), ())
    assert verdicts(campaign.results) == [('A', 'FAIL'), ('B', 'PASS'), ('C', 'PASS')]


def test_the_gate_applies_to_every_trial():
    def slow(t_ms, heard):
        """Stop 360 to 410 ms after the hazard, which comes at the drawn time and phase."""
        onset_ms = 50 + one[0].onset_delay_ns / 1e6 + one[0].onset_phase * PERIOD_MS
        return 0.0 if t_ms >= onset_ms + 360 else 0.8

    one = trials(1)[:1]
    for gate, verdict in (('critical', 'PASS'), ('acceptable', 'FAIL'), ('target', 'FAIL')):
        campaign = run_trials(one, links(A=ScriptedLink(slow)), (), JudgedBy(gate=gate))
        assert verdicts(campaign.results) == [('A', verdict)]


def test_a_stimulus_plug_in_that_raises_spoils_only_its_scenario():
    class Broken(Person):

        def at(self, elapsed_ns, index, context):
            raise ZeroDivisionError('a mistake')

    broken = hazard(id='B', stimuli=(Broken(topic='scan', distance=1.0, rate_hz=20.0),))
    plans = plan((hazard(id='A'), broken, hazard(id='C')), controller='c', trials=1, seed=0,
                 prompt=Prompt())
    campaign = run_trials(plans, links(), ())
    assert verdicts(campaign.results) == [('A', 'PASS'), ('B', 'ERROR'), ('C', 'PASS')]


@for_each('number', [1, 2, 6])
def test_a_result_that_cannot_be_written_ends_the_campaign_with_its_error(number):
    told = Told(raises=TraceError('the disk is full'), after=number)
    with pytest.raises(TraceError, match='the disk is full'):
        run_trials(trials(), links(), (told,))
    assert len(told.ended) == number


def test_a_plug_in_that_leaves_the_program_is_an_error_of_its_trial():
    class Leaves(Person):

        def at(self, elapsed_ns, index, context):
            raise SystemExit(0)

    plans = [trial.model_copy(update={'hazard': (Leaves(topic='scan', distance=1.5),)})
             if trial.scenario.id == 'B' else trial for trial in trials(1)]
    campaign = run_trials(plans, links(), ())
    assert verdicts(campaign.results) == [('A', 'PASS'), ('B', 'ERROR'), ('C', 'PASS')]
    assert not campaign.interrupted


class Asked:
    """A sequential test that decides when a scenario has made enough trials, or fails."""

    def __init__(self, enough: int, most_failures: int = 99) -> None:
        self.calls: list[tuple[int, int]] = []
        self._enough = enough
        self._most_failures = most_failures

    def __call__(self, failures: int, made: int) -> str | None:
        self.calls.append((failures, made))
        if failures > self._most_failures:
            return f'reject after {made}'
        return f'accept after {made}' if made >= self._enough else None


def test_a_sequential_test_ends_its_scenario_and_no_other():
    asked = Asked(3)
    campaign = run_trials(trials(5), links(), (), decide=asked)
    assert verdicts(campaign.results) == [(name, 'PASS') for name in 'AAABBBCCC']
    assert campaign.stopped_early == dict.fromkeys('ABC', 'accept after 3')
    assert campaign.saved == 6
    assert asked.calls == [(0, 1), (0, 2), (0, 3)] * 3


def test_trials_that_a_sequential_test_saved_are_not_missing():
    planned = trials(5)
    campaign = run_trials(planned, links(), (), decide=Asked(3))

    def verdict(saved: int) -> Verdict:
        return summarise(campaign.results, controller='c', seed=0, planned=len(planned) - saved,
                         interrupted=False).verdict
    assert verdict(campaign.saved) is Verdict.PASS
    assert verdict(campaign.saved - 1) is Verdict.INCONCLUSIVE


def test_a_sequential_test_counts_whatever_did_not_pass():
    breaks = [MeasurementError('the cable came off')]

    def breaks_once(t_ms, heard):
        if t_ms > 1000 and breaks:
            raise breaks.pop()
        return careful(t_ms, heard)

    campaign = run_trials(trials(5), links(A=ScriptedLink(drives), B=ScriptedLink(breaks_once)),
                          (), decide=Asked(4, most_failures=0))
    assert campaign.stopped_early == {'A': 'reject after 1', 'B': 'reject after 1',
                                      'C': 'accept after 4'}
    assert verdicts(campaign.results) == [('A', 'FAIL'), ('B', 'ERROR'), *[('C', 'PASS')] * 4]


def test_a_decision_after_the_last_trial_saves_nothing_and_is_one():
    asked = Asked(2)
    campaign = run_trials(trials(2), links(), (), decide=asked)
    assert (campaign.stopped_early, campaign.saved) == (dict.fromkeys('ABC', 'accept after 2'), 0)
    assert verdicts(campaign.results) == [(name, 'PASS') for name in 'AABBCC']


def test_a_sequential_test_does_not_hear_of_warm_up_trials():
    def cold(t_ms, heard):
        return drives(t_ms, heard) if t_ms < 9000 else careful(t_ms, heard)

    asked = Asked(9, most_failures=0)
    campaign = run_trials(trials(3, warmup=2), links(A=ScriptedLink(cold)), (), decide=asked)
    assert verdicts(campaign.results)[:5] == [('A', 'FAIL'), ('A', 'FAIL'), *[('A', 'PASS')] * 3]
    assert [result.warmup for result in campaign.results] == [True, True, False, False, False] * 3
    assert campaign.stopped_early == {}
    assert asked.calls == [(0, 1), (0, 2), (0, 3)] * 3


class Wired(ScriptedLink):
    """A link that finds something on the other end, and counts how often it is asked."""

    asked = 0

    def preflight(self) -> Sequence[PreflightRow]:
        self.asked += 1
        return (PreflightRow(check='QoS', status='warn', detail=f'asked {self.asked} times'),)


def rows(campaign: Campaign) -> dict[str, dict[str, tuple[str, str]]]:
    return {found.scenario_id: {row.check: (row.status, row.detail) for row in found.rows}
            for found in campaign.preflight}


def test_the_preflight_is_made_once_a_scenario_at_its_first_trial():
    link = Wired(careful)
    found = rows(run_trials(trials(3, warmup=1), links(B=link), ()))
    assert list(found) == ['A', 'B', 'C']
    assert found['B']['QoS'] == ('warn', 'asked 1 times') and link.asked == 1
    assert found['B']['rate'] == ('ok', 'cmd_vel: a command each 50 ms')
    assert found['B']['loss'][0] == 'ok'


def test_a_link_that_could_not_open_is_a_row_of_the_preflight():
    found = rows(run_trials(trials(), links(B=Wired(on_open=NOBODY)), ()))
    assert found['B']['connection'] == ('error', str(NOBODY))
    assert 'connection' not in found['A']


def test_a_link_that_could_not_be_made_has_nothing_to_show():
    assert list(rows(run_trials(trials(), links(B=NOBODY), ()))) == ['A', 'C']


def test_an_interrupt_is_no_matter_of_the_connection():
    def interrupted(t_ms, heard):
        raise KeyboardInterrupt
    assert 'connection' not in rows(run_trials(
        trials(), links(A=ScriptedLink(interrupted)), ()))['A']


class Closing:
    """Opens links whose closing fails with an error, and keeps what each was closed with."""

    def __init__(self, link: ScriptedLink, fails: Exception | None = None) -> None:
        self.closed: list[str] = []
        self._link, self._fails = link, fails

    @contextmanager
    def __call__(self, scenario: Scenario) -> Iterator[ScriptedLink]:
        reason = 'nothing'
        try:
            yield self._link
        except BaseException as error:
            reason = type(error).__name__
            raise
        finally:
            self.closed.append(f'{scenario.id}: {reason}')
            if self._fails is not None:
                raise self._fails


def test_each_link_is_closed_before_the_next_one_is_opened_and_after_the_last():
    opens = Closing(ScriptedLink(careful))
    run_trials(trials(), opens)
    assert opens.closed == ['A: nothing', 'B: nothing', 'C: nothing']


def test_a_link_that_cannot_be_closed_ends_the_campaign_with_its_error():
    with pytest.raises(ControllerError, match='the link could not be closed: it hangs'):
        run_trials(trials(), Closing(ScriptedLink(careful), OSError('it hangs')))


def test_a_link_that_breaks_is_closed_with_its_error_and_costs_the_rest_of_its_scenario():
    class Misled(ScriptedLink):

        def preflight(self):
            if self.opened[-1].startswith('B'):
                raise ZeroDivisionError('a mistake')
            return ()
    opens = Closing(Misled(careful))
    campaign = run_trials(trials(), opens)
    assert verdicts(campaign.results) == [
        ('A', 'PASS'), ('A', 'PASS'), ('B', 'ERROR'), ('B', 'ERROR'), ('C', 'PASS'), ('C', 'PASS')]
    assert opens.closed == ['A: nothing', 'B: ZeroDivisionError', 'C: nothing']


def test_an_interrupt_is_no_less_one_if_the_link_cannot_be_closed():
    def interrupted(t_ms, heard):
        raise KeyboardInterrupt
    opens = Closing(ScriptedLink(interrupted), OSError('it hangs'))
    campaign = run_trials(trials(), opens)
    assert campaign.interrupted and len(campaign.results) == 1
    assert opens.closed == ['A: KeyboardInterrupt']
