# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Contracts of what carries a campaign out: controllers and links."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, ExitStack
from dataclasses import replace
import inspect
from pathlib import Path
from typing import Any, ClassVar

from safety_scenarios.plugin_contract.contract import (
    Campaign,
    expect_same,
    PluginContract,
    RepeatableContract,
)
from safety_scenarios.scenario.result import Verdict
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.observer import Observer
from safety_scenarios.trial.session import LinkPlugin, Session


class ControllerContract(RepeatableContract):
    """A controller; ``settings`` may have parameters, as ``--set controller.KEY=VALUE``."""

    kind = 'controllers'

    @classmethod
    def campaign(cls, output: Path | None = None, observers: Sequence[Observer] = (),
                 **settings: Any) -> Campaign:
        """Run the scenario against this controller."""
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
        """Run the scenario over this link."""
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
