# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Contracts of what carries a campaign out: controllers, links, outputs and trace writers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, ExitStack
from dataclasses import replace
import inspect
import os
from pathlib import Path
from typing import Any, ClassVar

from safety_scenarios.campaign.folder.evidence import verify
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.errors import TraceError
from safety_scenarios.plugin_contract.contract import (
    Campaign,
    expect_same,
    PluginContract,
    RepeatableContract,
)
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.event import Event, EventSink
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.session import LinkPlugin, Observer, Session
from safety_scenarios.trial.trial import Trial

_STAMPS_APART_NS = 10_000_000
"""A busy host may read its clock so much later than the middleware has."""
_FEW_EVENTS = 50
"""So far an interrupted trial comes."""


class ControllerContract(RepeatableContract):
    """A controller; ``settings`` may have parameters, as ``--set controller.KEY=VALUE``."""

    kind = 'controllers'

    @classmethod
    def campaign(cls, output: Path | None = None, observers: Sequence[Observer] = (),
                 **settings: Any) -> Campaign:
        return super().campaign(output, observers, **{'controller': cls.name, **settings})

    def test_it_can_be_asked(self) -> None:
        """The harness asks ``decide`` for commands, ``answer`` or ``converse`` for words."""
        assert any(callable(getattr(self.plugin(), name, None))
                   for name in ('decide', 'answer', 'converse'))

    def test_it_raises_nothing(self) -> None:
        """A controller that raises ends the trial with an ERROR, which is no result."""
        for result in self.once().results:
            assert result.verdict is not Verdict.ERROR, result.reason


class LinkContract(PluginContract):
    """A link, opened as a campaign opens it."""

    kind = 'links'

    @classmethod
    def campaign(cls, output: Path | None = None, observers: Sequence[Observer] = (),
                 **settings: Any) -> Campaign:
        return super().campaign(output, observers, **{**settings, 'link': cls.name})

    def after_a_trial(self, monkeypatch: Any, do: Callable[[Link], None]) -> None:
        """Run the scenario, and do something with the link before the campaign closes it."""
        plugin, errors = self.plugin(), list[BaseException]()
        original = plugin.session

        def session(own: LinkPlugin, stack: ExitStack) -> Session:
            reached: Session = original(own, stack)

            @contextmanager
            def opened(scenario: Scenario) -> Iterator[Link]:
                with reached.open_link(scenario) as link:
                    yield link
                    try:
                        do(link)
                    except Exception as error:
                        errors.append(error)
            return replace(reached, open_link=opened)
        monkeypatch.setattr(plugin, 'session', session)
        self.campaign()
        if errors:
            raise errors[0]

    def test_its_class_has_the_base_of_a_link_plug_in(self) -> None:
        """A campaign enters it once, and asks it about its time."""
        assert issubclass(self.plugin(), LinkPlugin)

    def test_the_reference_passes_over_it(self) -> None:
        """A trial from the nominal phase to its end: the link carries stimuli and commands."""
        for result in self.once().results:
            assert result.verdict is Verdict.PASS, f'{result.verdict.value}: {result.reason}'

    def test_the_steady_clock_does_not_go_backwards(self) -> None:
        """A latency is a difference of stamps."""
        for record in self.once().records:
            last_ns: dict[tuple[str, str], int] = {}
            for event in record.events:
                stream, at_ns = (event.kind, event.name), event.stamps.steady_ns
                assert at_ns >= last_ns.get(stream, at_ns), (
                    f'{event.kind} {event.name}: got {at_ns} ns after {last_ns[stream]} ns')
                last_ns[stream] = at_ns

    def test_the_stamps_of_a_command_agree(self) -> None:
        """A command that is delayed on one clock alone makes a latency too short."""
        for record in self.once().records:
            for event in record.of_kind('command'):
                stamps = event.stamps
                if stamps.received_ns is not None:
                    apart_ns = stamps.system_ns - stamps.received_ns
                    assert abs(apart_ns) <= _STAMPS_APART_NS, (
                        f'command {event.name}: got received_ns {apart_ns / 1e6:g} ms before '
                        f'system_ns, expected both stamps of one arrival')

    def test_what_it_calls_repeatable_is(self) -> None:
        """Trial ids have no random end then, and results are compared to the byte."""
        if self.plugin().is_repeatable:
            for first, second in zip(self.once().records, self.campaign().records, strict=True):
                expect_same(first, second)

    def test_it_can_be_disarmed_and_closed_twice(self, monkeypatch: Any) -> None:
        """After an exception, and after Ctrl-C twice, the harness calls them again."""
        def twice(link: Link) -> None:
            link.disarm()
            link.disarm()
            link.close()
            link.close()
        self.after_a_trial(monkeypatch, twice)

    def test_it_marks_at_any_time(self, monkeypatch: Any) -> None:
        """A trial that could not begin has a record too."""
        def mark(link: Link) -> None:
            link.close()
            assert link.mark('after').kind == 'mark'
        self.after_a_trial(monkeypatch, mark)


class ForwardingLinkContract:
    """A link around a link, which passes on what it does not change on purpose."""

    changes: ClassVar[frozenset[str]] = frozenset()
    """Methods of ``Link`` that the wrapper carries out in another way."""

    def wrapped(self, inner: Link) -> Link:
        """Return the wrapper around a link."""
        raise NotImplementedError

    def test_each_method_is_called_on_the_inner_link(self) -> None:
        """A method that is not passed on is one that the robot never hears of."""
        for name in sorted(_methods_of_link() - self.changes):
            calls: list[Any] = []
            link = self.wrapped(_recording_link(name, calls))
            method = inspect.signature(getattr(Link, name))
            given = [object() for one in list(method.parameters.values())[1:]
                     if one.kind is one.POSITIONAL_OR_KEYWORD]
            named = {one.name: object() for one in method.parameters.values()
                     if one.kind is one.KEYWORD_ONLY}
            answer = getattr(link, name)(*given, **named)
            assert calls == [(tuple(given), named)], f'{name}: got the calls {calls}, expected one'
            assert method.return_annotation is None or answer is calls, (
                f'{name}: got {answer!r}, expected what the inner link returns')

    def test_each_attribute_is_that_of_the_inner_link(self) -> None:
        """How time is measured, and whether a hazard is rehearsed, is known to the inner link."""
        for name in sorted(_attributes_of_link() - self.changes):
            inner, value = Link(), object()
            setattr(inner, name, value)
            assert getattr(self.wrapped(inner), name) is value, f'{name}: got another'


class _Stops(Observer):
    """Raises when a trial has come so far."""

    def __init__(self, error: BaseException, events: int) -> None:
        self._error, self._left = error, events

    def sinks(self, trial: Trial) -> Sequence[EventSink]:
        """Take the events of the trial, or let it not begin."""
        if not self._left:
            raise self._error
        return (self,)

    def add(self, event: Event) -> None:
        self._left -= 1
        if not self._left:
            raise self._error


class _CannotStart(ControllerPlugin):

    def start(self) -> None:
        """Fail, so that there is no trial."""
        raise RuntimeError('cannot start')


class _Recorded(PluginContract):
    """What is written or shown of a campaign."""

    setting: ClassVar[str]
    """That names such plug-ins."""

    @classmethod
    def campaign(cls, output: Path | None = None, observers: Sequence[Observer] = (),
                 **settings: Any) -> Campaign:
        return super().campaign(output, observers, **{cls.setting: (cls.name,), **settings})

    def stopped(self, output: Path, error: BaseException, events: int) -> None:
        """Run the scenario until something raises, which must come through."""
        try:
            self.campaign(output, observers=(_Stops(error, events),))
        except type(error) as found:
            assert found is error or isinstance(error, KeyboardInterrupt), f'got {found!r}'
        else:
            raise AssertionError(f'got no error, expected {error!r} to come through')

    def test_a_campaign_that_ends_leaves_its_files_in_the_folder(
            self, tmp_path: Path, monkeypatch: Any) -> None:
        """A folder can be moved, signed and deleted as a whole."""
        (tmp_path / 'here').mkdir()
        monkeypatch.chdir(tmp_path / 'here')
        self.campaign(tmp_path / 'folder')
        assert not os.listdir(tmp_path / 'here'), os.listdir(tmp_path / 'here')

    def test_the_manifest_holds_what_a_campaign_leaves(self, tmp_path: Path) -> None:
        """A file that is not in it can be changed, and nothing would show it."""
        self.campaign(tmp_path / 'folder')
        assert not list(verify(tmp_path / 'folder'))
        assert not rejudge(tmp_path / 'folder').flaws

    def test_an_interrupted_campaign_ends_as_any_other(self, tmp_path: Path) -> None:
        """After Ctrl-C what was measured is kept: a part of a trial, or none."""
        for events in (0, _FEW_EVENTS):
            self.stopped(tmp_path / str(events), KeyboardInterrupt(), events)
            assert (tmp_path / str(events) / 'campaign.json').is_file()

    def test_a_trial_that_never_began_is_no_error_of_it(self, tmp_path: Path) -> None:
        """Its record has no events, and its verdict is ERROR."""
        [result] = self.campaign(tmp_path / 'folder', controller=_CannotStart).results
        assert result.verdict is Verdict.ERROR


class OutputContract(_Recorded):
    """An output: it takes an ``OutputContext``, and gives observers while it is open."""

    kind, setting = 'outputs', 'outputs'

    def test_a_campaign_without_a_folder_leaves_no_file(
            self, tmp_path: Path, monkeypatch: Any) -> None:
        """``safety_scenarios.run`` writes nothing unless it is asked to."""
        monkeypatch.chdir(tmp_path)
        self.campaign()
        assert not os.listdir(tmp_path), os.listdir(tmp_path)

    def test_a_campaign_that_raises_is_not_held_up(self, tmp_path: Path) -> None:
        """A full disk ends the campaign; its error must come through the output."""
        self.stopped(tmp_path / 'folder', TraceError('No space left on device'), 0)


class TraceContract(_Recorded):
    """A trace writer: it takes a ``TraceContext``, and writes a file of each trial."""

    kind, setting = 'traces', 'record'

    def test_it_writes_a_file(self, tmp_path: Path) -> None:
        """Whoever names it in the setting ``record`` expects one."""
        self.campaign(tmp_path / 'without', record=())
        self.campaign(tmp_path / 'with')
        assert _files(tmp_path / 'with') != _files(tmp_path / 'without'), 'no file was written'


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob('*') if path.is_file()}


def _methods_of_link() -> set[str]:
    return {name for name in vars(Link) if not name.startswith('_')
            and inspect.isfunction(getattr(Link, name)) and name != 'schedule_ns'}


def _attributes_of_link() -> set[str]:
    return {name for name in Link.__annotations__ if not name.startswith('_')}


def _recording_link(name: str, calls: list[Any]) -> Link:
    """Return a link of which one method notes its calls, and returns that list."""
    def note(*given: Any, **named: Any) -> list[Any]:
        calls.append((given, named))
        return calls
    inner = Link()
    setattr(inner, name, note)
    return inner
