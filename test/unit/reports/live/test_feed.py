# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The feed: what measures only appends, results are never lost, and no output harms a campaign."""

import logging
import threading

from safety_scenarios.campaign.run import run
from safety_scenarios.reports.live import feed as module
from safety_scenarios.reports.live.feed import Feed, Output
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.loopback_session import Loopback
from unit import records
from unzipped import content


class Kept(Output):
    """Keeps what it is called with, and in which thread."""

    def __init__(self, error=None):
        self.calls, self.threads, self._error = [], set(), error

    def __getattribute__(self, name):
        if name not in ('began', 'happened', 'show', 'clear', 'judged', 'ended', 'close'):
            return super().__getattribute__(name)

        def called(*given):
            self.threads.add(threading.current_thread())
            self.calls.append((name, *given))
            if name == self._error:
                raise OSError('the wire is cut')
        return called

    def names(self):
        return [call[0] for call in self.calls]


def campaign(feed, **more):
    return run(RunSettings(scenarios=('SCN-R-101',), link='loopback', **more), [feed], Loopback,
               files=False)


def test_an_output_is_told_everything_in_order_in_a_thread_of_its_own():
    kept = Kept()
    with Feed(kept, 0.01) as feed:
        summary = campaign(feed, trials=2)
    names = [name for name in kept.names() if name != 'happened']
    while 'show' in names:
        names.remove('show')
    assert names == ['began', 'judged', 'clear', 'judged', 'ended', 'clear', 'close']
    assert kept.threads == {feed._thread} and not feed._thread.is_alive()
    judged = [call[1:] for call in kept.calls if call[0] == 'judged']
    assert [(result.index, ended, planned) for result, ended, planned in judged] == [
        (0, 1, 2), (1, 2, 2)]
    assert [call[1] for call in kept.calls if call[0] == 'ended'] == [summary]
    marks = [call[2].name for call in kept.calls
             if call[0] == 'happened' and call[2].kind == 'mark']
    assert marks == ['nominal', 'onset', 'all_clear', 'end'] * 2
    assert not [call for call in kept.calls
                if call[0] == 'happened' and call[2].kind in ('command', 'echo')]


def test_events_that_are_too_many_are_dropped_and_counted_and_results_are_not(monkeypatch):
    monkeypatch.setattr(module, '_MOST_WAITING', 3)
    feed = Feed(Kept(), 60.0)  # its thread does not run: nobody takes anything
    [sink] = feed.sinks(records.planned(records.hazard()))
    for number in range(10):
        sink.add(records.command(float(number), 0.5))
    assert len(feed.waiting) == 3 and feed.dropped == 7
    feed.trial_ended(None, 'the result')
    assert feed.waiting[-1] == 'the result'


def test_an_output_that_fails_is_logged_once_and_changes_nothing(caplog):
    kept = Kept(error='judged')
    with caplog.at_level(logging.WARNING), Feed(kept, 0.001) as feed:
        summary = campaign(feed, trials=3)
    assert summary.verdicts == {'PASS': 3}
    [line] = caplog.messages
    assert line == 'nothing more is shown live: OSError: the wire is cut. The campaign continues'
    assert kept.names().count('judged') == 1 and not feed.waiting


def test_the_record_and_its_verdict_are_the_same_to_the_byte_whoever_looks(tmp_path):
    settings = {'scenarios': ('SCN-R-101',), 'link': 'loopback', 'trials': 2}
    run(RunSettings(**settings, output=str(tmp_path / 'bare')), [], Loopback)
    with Feed(Kept(), 0.001) as feed:
        run(RunSettings(**settings, output=str(tmp_path / 'fed')), [feed], Loopback)
    for path in sorted((tmp_path / 'bare').rglob('*')):
        if path.is_file() and path.name not in ('settings.json', 'manifest.json'):
            other = tmp_path / 'fed' / path.relative_to(tmp_path / 'bare')
            assert content(other) == content(path), path
