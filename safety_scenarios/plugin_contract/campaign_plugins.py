# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Contracts of what carries a campaign out: controllers, links, outputs and trace writers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
import inspect
import os
from pathlib import Path
from typing import Any, ClassVar

from safety_scenarios.campaign.folder.verify import verify
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.plugin_contract.contract import (
    Campaign,
    expect_same,
    PluginContract,
    RepeatableContract,
)
from safety_scenarios.scenario.result import TrialResult, Verdict
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.observer import Observer, OutputContext, TraceContext
from safety_scenarios.trial.session import LinkPlugin
from safety_scenarios.trial.trial import TrialRecord


class ControllerContract(RepeatableContract):
    """A controller; ``settings`` may have parameters, as ``--set controller.KEY=VALUE``."""

    kind = 'controllers'

    @classmethod
    def campaign(cls, output: Path | None = None, **settings: Any) -> Campaign:
        """Run the scenario against this controller."""
        return super().campaign(output, **{'controller': cls.name, **settings})

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
    def campaign(cls, output: Path | None = None, **settings: Any) -> Campaign:
        """Run the scenario over this link."""
        return super().campaign(output, **{**settings, 'link': cls.name})

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Link]:
        """Open the link for the scenario."""
        [scenario] = load_scenarios([self.scenario]).scenarios \
            if isinstance(self.scenario, str) else [self.scenario]
        settings = RunSettings(controller=self.controller, link=self.name)
        with self.plugin()(settings, folder) as session, session.open_link(scenario) as link:
            yield link

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

    def test_it_can_be_disarmed_and_closed_twice(self, tmp_path: Path) -> None:
        """After an exception, and after Ctrl-C twice, the harness calls them again."""
        with self.opened(tmp_path) as link:
            link.disarm()
            link.disarm()
            link.close()
            link.close()

    def test_it_marks_at_any_time(self, tmp_path: Path) -> None:
        """A trial that could not begin has a record too."""
        with self.opened(tmp_path) as link:
            assert link.mark('before').name == 'before'
            link.close()
            assert link.mark('after').kind == 'mark'


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


class OutputContract(PluginContract):
    """An output: it takes an ``OutputContext``, and gives observers while it is open."""

    kind = 'outputs'

    def test_a_campaign_that_ends_leaves_its_files_in_the_folder(
            self, tmp_path: Path, monkeypatch: Any) -> None:
        """A folder can be moved, signed and deleted as a whole."""
        (tmp_path / 'here').mkdir()
        monkeypatch.chdir(tmp_path / 'here')
        self._observed(tmp_path / 'folder')
        assert not os.listdir(tmp_path / 'here'), os.listdir(tmp_path / 'here')

    def test_a_campaign_without_a_folder_leaves_no_file(
            self, tmp_path: Path, monkeypatch: Any) -> None:
        """``safety_scenarios.run`` writes nothing unless it is asked to."""
        monkeypatch.chdir(tmp_path)
        self._observed(None)
        assert not os.listdir(tmp_path), os.listdir(tmp_path)

    def test_an_interrupted_campaign_ends_as_any_other(self, tmp_path: Path) -> None:
        """After Ctrl-C what was measured is kept: fewer trials than planned, or none."""
        self._observed(tmp_path / 'folder', trials=0, interrupted=True)

    def test_a_campaign_that_raises_is_not_held_up(self) -> None:
        """A full disk ends the campaign; its error must come through the output."""
        raised = False
        try:
            with self.plugin()(self._context()):
                raise OSError(28, 'No space left on device')
        except OSError:
            raised = True
        assert raised, 'the output swallowed the error'

    def _context(self) -> OutputContext:
        beginning = self.once().beginning
        assert beginning is not None
        return OutputContext(beginning.settings, str, str)

    def _observed(self, folder: Path | None, trials: int = 1, *,
                  interrupted: bool = False) -> None:
        """Let the output observe a campaign that was run before."""
        done = self.once()
        assert done.beginning is not None and done.summary is not None
        if folder is not None:
            folder.mkdir()
        with self.plugin()(self._context()) as observers:
            for observer in observers:
                observer.scenarios_read((), ())
                observer.campaign_began(replace(done.beginning, folder=folder))
            for record, result in list(zip(done.records, done.results))[:trials]:
                _show(observers, record, result)
            for observer in observers:
                observer.campaign_ended(done.summary.model_copy(
                    update={'interrupted': interrupted}))


class TraceContract(PluginContract):
    """A trace writer: it takes a ``TraceContext``, and writes a file of each trial."""

    kind = 'traces'

    def test_it_writes_into_the_folder_and_the_manifest_holds_it(self, tmp_path: Path) -> None:
        """What is not in the manifest can be changed, and nothing would tell."""
        before, after = tmp_path / 'before', tmp_path / 'after'
        self.campaign(before, record=())
        self.campaign(after, record=(self.name,))
        assert _files(after) != _files(before) or self.name == 'are', 'no file was written'
        assert not list(verify(after)) and not rejudge(after).flaws

    def test_a_trial_that_was_interrupted_or_never_began_does_not_stop_the_next(
            self, tmp_path: Path) -> None:
        """A crash costs a trace, never the campaign."""
        done = self.once()
        [record, *_] = done.records
        empty = TrialRecord(trial=record.trial.model_copy(update={'trial_id': 'empty'}), events=())
        assert done.beginning is not None
        writer = self.plugin()(TraceContext(done.beginning.settings, tmp_path, None, str))
        cut = record.trial.model_copy(update={'trial_id': 'cut'})
        for sink in writer.sinks(cut):
            for event in record.events[:len(record.events) // 2]:
                sink.add(event)
        writer.sinks(empty.trial)
        writer.trial_ended(empty, done.results[0])
        _show((writer,), record, done.results[0])


def _show(observers: Sequence[Observer], record: TrialRecord, result: TrialResult) -> None:
    """Let observers take a trial, event by event and then as a whole."""
    for observer in observers:
        for sink in observer.sinks(record.trial):
            for event in record.events:
                sink.add(event)
        observer.trial_ended(record, result)


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
