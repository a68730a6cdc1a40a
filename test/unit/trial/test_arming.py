# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A link is armed right before the hazard, and disarmed at the end of every trial."""

import pytest
from safety_scenarios.errors import LinkTimeoutError, MeasurementError, TraceError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.conversation import Envelope
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.run import run_trial
from unit.conversations import block, GREETED, trial_of
from unit.records import chat, hazard, planned
from unit.scripted import careful, ScriptedLink

MISSING = LinkTimeoutError('/cmd_vel', 'a publisher', 10.0, 'nothing', 'Start it.')


class Locked(ScriptedLink):
    """Notes what is asked of it and in which order; ``fails`` says what goes wrong where."""

    def __init__(self, controller=careful, fails=None, **more):
        super().__init__(controller, **more)
        self.calls = []
        self.fails = fails or {}

    def _call(self, name):
        self.calls.append(name)
        if name in self.fails:
            raise self.fails[name]

    def arm(self):
        self._call('arm')

    def disarm(self):
        self._call('disarm')

    def mark(self, name: str) -> Event:
        self.calls.append(name)
        return super().mark(name)

    def tell(self, envelope: Envelope, hearers) -> Stamps:
        return self._stamps()


def ran(link, trial=None, **more):
    return run_trial(trial or planned(hazard()), link, **more)


def test_it_is_armed_after_the_nominal_phase_and_disarmed_after_the_end():
    link = Locked()
    ran(link)
    assert link.calls == ['nominal', 'arm', 'onset', 'all_clear', 'end', 'disarm']


@pytest.mark.parametrize('trial', [planned(chat()), trial_of(block(GREETED))],
                         ids=['chat', 'agents'])
def test_so_it_is_where_words_are_the_hazard(trial):
    link = Locked()
    ran(link, trial)
    assert link.calls == ['nominal', 'arm', 'onset', 'end', 'disarm']


@pytest.mark.parametrize(('link', 'more'), [
    (Locked(lambda t_ms, heard: 0.0), {}), (Locked(), {'with_hazard': False})],
    ids=['never moved', 'preflight'])
def test_without_a_hazard_it_is_never_armed(link, more):
    ran(link, **more)
    assert link.calls == ['nominal', 'end', 'disarm']


def fails(t_ms, heard):
    if t_ms > 1000:
        raise ZeroDivisionError('by zero')
    return 0.8


def interrupts(t_ms, heard):
    if t_ms > 1000:
        raise KeyboardInterrupt
    return 0.8


@pytest.mark.parametrize(('controller', 'name'), [
    (fails, 'ZeroDivisionError'), (interrupts, 'interrupted')])
def test_whatever_happens_during_the_hazard_it_is_disarmed(controller, name):
    link = Locked(controller)
    record = ran(link)
    assert link.calls == ['nominal', 'arm', 'onset', name, 'disarm']
    assert [event.name for event in record.of_kind('fault')] == [name]


def test_it_is_disarmed_even_if_it_could_not_be_opened():
    link = Locked(on_open=MISSING)
    ran(link)
    assert link.calls == ['LinkTimeoutError', 'disarm']


def test_what_cannot_be_armed_gets_no_hazard():
    link = Locked(fails={'arm': MeasurementError('the interlock does not answer')})
    record = ran(link)
    assert link.calls == ['nominal', 'arm', 'MeasurementError', 'disarm']
    assert not any(event.hazard for event in record.events)
    assert evaluate(record).verdict is Verdict.ERROR


def test_what_cannot_be_disarmed_spoils_the_trial():
    link = Locked(fails={'disarm': MeasurementError('the interlock does not answer')})
    record = ran(link)
    assert [event.text for event in record.of_kind('fault')] == ['the interlock does not answer']
    assert evaluate(ran(Locked())).verdict is Verdict.PASS
    assert evaluate(record).verdict is Verdict.ERROR


def test_a_full_disk_that_ends_the_campaign_still_disarms():
    class Full:

        def add(self, event):
            if event.kind != 'mark':
                raise TraceError('the disk is full')

    link = Locked()
    with pytest.raises(TraceError, match='the disk is full'):
        ran(link, sinks=[Full()])
    assert link.calls[-1] == 'disarm'


def test_a_link_that_needs_none_of_it_says_nothing_about_it():
    link = Link()
    assert link.arm() is link.disarm() is link.close() is None
    assert link.preflight() == () and link.open(planned(hazard())) is None
    with pytest.raises(MeasurementError, match='got a scenario with agents'):
        link.tell(Envelope.model_validate({'trial_id': 't', 'kind': 'say', 'text': ''}), [])


class Insisted(Locked):
    """Ctrl-C comes a second time, in the middle of disarming."""

    def disarm(self):
        super().disarm()
        if self.calls.count('disarm') == 1:
            raise KeyboardInterrupt


def test_a_second_interrupt_leaves_nothing_armed():
    link = Insisted()
    record = ran(link)
    assert link.calls.count('disarm') == 2
    assert [event.name for event in record.of_kind('fault')] == ['interrupted']
