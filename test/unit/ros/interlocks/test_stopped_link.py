# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A campaign that another thread ends at once: nothing leaves any more, whatever it was doing."""

import threading
import time

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.ros.hil.guarded_link import unlisted
from safety_scenarios.ros.link.stopped_link import Stop, StoppedLink
from safety_scenarios.scenario.event import Event
from safety_scenarios.trial.run import run_trial
from unit.records import hazard, planned
from unit.scripted import drives, ScriptedLink


@for_each('at_ms', [100, 900, 1500])
def test_a_trial_that_is_stopped_is_inconclusive_and_shows_nothing_more(at_ms):
    stop, stopped_ms = Stop(), []

    def controller(t_ms, heard):
        if t_ms >= at_ms and not stopped_ms:
            stopped_ms.append(t_ms)
            stop.ask()
        return drives(t_ms, heard)
    link = ScriptedLink(controller)
    found = run_trial(planned(hazard()), StoppedLink(link, stop))
    assert evaluate(found).verdict.value == 'INCONCLUSIVE'
    assert [event.name for event in found.of_kind('fault')] == ['interrupted']
    assert stopped_ms and max(t_ms for t_ms, _ in link.sent) <= stopped_ms[0]


def test_what_is_leaving_has_left_when_the_stop_was_asked_for():
    stop, left = Stop(), []
    begun = threading.Event()

    def leave():
        with stop.leaving():
            begun.set()
            time.sleep(0.05)
            left.append(True)
    thread = threading.Thread(target=leave)
    thread.start()
    begun.wait()
    stop.ask()
    assert left
    thread.join()
    with pytest.raises(KeyboardInterrupt), stop.leaving():
        left.clear()
    assert left


def test_who_waits_for_somebody_waits_no_longer():
    class Waits(ScriptedLink):

        def open(self, trial):  # noqa: A003
            time.sleep(30)
    stop = Stop()
    timer = threading.Timer(0.05, stop.ask)
    timer.start()
    began = time.monotonic()
    found = run_trial(planned(hazard()), StoppedLink(Waits(), stop))
    assert time.monotonic() - began < 5
    assert [event.name for event in found.of_kind('fault')] == ['interrupted']
    timer.join()
    stop.forget()
    assert isinstance(StoppedLink(ScriptedLink(), stop).mark('later'), Event)


@for_each(('published', 'told'), [
    ([('/scan', 'L')], None), ([], None),
    ([('/scan', 'L'), ('/other', 'B')],
     '/other [B]: got a publisher of the harness, expected one of /scan. Add it to hil.publishes'),
    ([('/scan', 'L'), ('/cmd_vel', 'T')],
     '/cmd_vel [T]: got a publisher of the harness, expected none: it moves')])
def test_a_publisher_that_the_profile_does_not_list_is_found_by_what_there_is(published, told):
    assert unlisted(published, ['/scan'], lambda topic, interface: (
        'it moves' if interface == 'T' else None)) == told


def test_what_leaves_in_a_thread_of_the_link_leaves_until_somebody_asks_to_stop():
    stop, left = Stop(), []
    assert stop.let('scan', True, lambda: left.append('drawn'))
    stop.ask()
    assert not stop.let('scan', True, lambda: left.append('late'))
    assert left == ['drawn']
