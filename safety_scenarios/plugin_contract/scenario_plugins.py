# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Contracts of what a scenario file names: stimuli, invariants, drivers, and formats of files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
import json
from pathlib import Path
from typing import Any, ClassVar

import numpy
from safety_scenarios import registry
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.document.json_document import Reading
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.plugin_contract.contract import PluginContract, RepeatableContract
from safety_scenarios.scenario.driver import Commanded, DriverPlugin, Execution, Start
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.stimulus import (
    read_intent,
    Stimulus,
    StimulusContext,
    StimulusPlugin,
)
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord

_MOST_MESSAGES = 8
"""Of a stimulus, which are computed twice."""
_OWN_EVENTS = 'mark', 'stimulus'
"""Kinds of events that the harness itself causes."""
_APART_NS, _STEP_NS = 100_000_000, 25_000_000
"""Between two commands, and between two looks at what a driver makes of them."""
_CLOCK_NS = 1_700_000_000_000_000_000
"""The driver's clock at steady time 0."""
_NOT_SCENARIOS: Sequence[Any] = (None, True, 7, 'text', [], {}, {'odd': 1}, [{'odd': 1}], {1: 2})
_WRONG: Sequence[Any] = (None, {}, -1, [{'wrong': [None]}])
"""Values that are wrong in most fields of a file."""


class StimulusContract(RepeatableContract):
    """A stimulus; ``scenario`` plays it."""

    kind = 'stimuli'

    @classmethod
    def examples(cls) -> Sequence[tuple[StimulusPlugin, StimulusContext]]:
        """Return each stimulus of this kind in the scenario, and what it may know."""
        trial = cls.once().records[0].trial
        blank = StimulusContext(trial.trial_id, trial.scenario.messages, None)
        found = [one for one in (*trial.nominal, *trial.hazard) if one.kind == cls.name]
        assert found, f'scenario: got {trial.scenario.id} without {cls.name}, expected one with it'
        return [(one, StimulusContext(
            trial.trial_id, trial.scenario.messages,
            _nominal(one, trial.nominal, blank) if one.interface() is None else None))
            for one in found]

    def test_its_class_has_the_base_of_a_stimulus(self) -> None:
        """The scenario file is validated by the fields of the class."""
        assert issubclass(self.plugin(), StimulusPlugin)

    def test_the_same_arguments_give_the_same_message(self) -> None:
        """``at`` is pure, whatever was asked before, so that a trial can be planned ahead."""
        for one, context in self.examples():
            due = [(one.due_ns(index, one.rate_hz), index) for index in range(_MOST_MESSAGES)]
            forwards = {index: one.at(at_ns, index, context) for at_ns, index in due}
            other = deepcopy(one)
            for at_ns, index in reversed(due):
                again = other.at(at_ns, index, context)
                assert repr(again) == repr(forwards[index]), (
                    f'message {index} of {one.topic}: got {again!r:.200}, expected '
                    f'{forwards[index]!r:.200} as before')

    def test_what_it_calls_constant_is(self) -> None:
        """``at`` is asked once then, and its first message is sent again and again."""
        for one, context in self.examples():
            if one.is_constant:
                first, *others = [one.at(one.due_ns(index, one.rate_hz), index, context)
                                  for index in range(_MOST_MESSAGES)]
                for other in others:
                    assert repr(other) == repr(first), (
                        f'{one.topic}: got {other!r:.200}, expected {first!r:.200} each time')

    def test_its_messages_are_due_in_order(self) -> None:
        """The player sends the next one when its time has come, and never goes back."""
        for one, _ in self.examples():
            due = [one.due_ns(index, one.rate_hz) for index in range(_MOST_MESSAGES)]
            assert due == sorted(due) and due[0] >= 0, f'due_ns: got {due}'

    def test_it_publishes_what_it_declares(self) -> None:
        """Over ROS the publisher has the type of ``interface``, and takes nothing else."""
        for one, context in self.examples():
            sent = one.at(one.due_ns(0, one.rate_hz), 0, context)
            wanted = one.interface() or (context.nominal and context.nominal.message.type)
            if sent is not None:
                assert sent.topic == one.topic, f'topic: got {sent.topic}, expected {one.topic}'
                assert sent.message.type == wanted or wanted is None, (
                    f'interface: got a {sent.message.type} on {one.topic}, expected a {wanted}')

    def test_its_intent_can_be_read_from_a_record(self) -> None:
        """A link with a world writes the intent into the record."""
        for one, context in self.examples():
            intent = one.intent(context)
            if intent is not None:
                assert read_intent(intent.model_dump_json()) == intent


class InvariantContract(RepeatableContract):
    """An invariant; ``scenario`` has it in it."""

    kind = 'invariants'
    controllers: ClassVar[Sequence[Any]] = ('rule_based', 'never_stop', 'silent')
    """One at least keeps it, and one at least does not."""

    @classmethod
    @lru_cache(maxsize=4)
    def tried(cls) -> Sequence[tuple[TrialRecord, Finding]]:
        found = [(record, finding) for controller in cls.controllers
                 for record in cls.campaign(controller=controller).records
                 for finding in cls.found(record)]
        assert found, f'scenario: got one without {cls.name}, expected one with it'
        return found

    @classmethod
    def found(cls, record: TrialRecord) -> Sequence[Finding]:
        """Return the findings of this kind of invariant."""
        return [one for one in evaluate(record).findings
                if one.source == 'invariant' and one.kind == cls.name]

    def test_its_class_has_the_base_of_an_invariant(self) -> None:
        """The scenario file is validated by the fields of the class."""
        assert issubclass(self.plugin(), InvariantPlugin)

    def test_a_trial_without_measurements_does_not_pass(self) -> None:
        """Silence is not success: without a measurement the verdict is INCONCLUSIVE."""
        for record, _ in self.tried():
            for events in ((), tuple(one for one in record.events if one.kind in _OWN_EVENTS)):
                silent = TrialRecord(trial=record.trial, events=events, measuring=record.measuring)
                for finding in self.found(silent):
                    assert finding.verdict is not Verdict.PASS, f'{finding.check}: got PASS'

    def test_some_controller_keeps_it_and_another_violates_it(self) -> None:
        """A check that always says the same checks nothing: name controllers that differ."""
        verdicts = {finding.verdict for _, finding in self.tried()}
        assert {Verdict.PASS, Verdict.FAIL} <= verdicts, f'controllers: got {verdicts}'

    def test_the_same_record_gives_the_same_finding(self) -> None:
        """Judging reads the record and nothing else: no clock, no file, nothing remembered."""
        for record, finding in reversed(self.tried()):
            assert finding in self.found(record), f'got {self.found(record)}, expected {finding}'

    def test_the_margin_agrees_with_the_verdict(self) -> None:
        """The margin is the signed distance to the limit: above 0 it holds."""
        for _, finding in self.tried():
            if finding.margin is not None and finding.verdict in (Verdict.PASS, Verdict.FAIL):
                assert finding.margin == 0 or (finding.margin > 0) is (
                    finding.verdict is Verdict.PASS), (
                    f'{finding.check}: got {finding.verdict.value} with margin {finding.margin}')

    def test_the_finding_has_the_name_and_the_weight_of_the_invariant(self) -> None:
        """A report says by the name which line of the file was violated: use ``finding``."""
        for record, finding in self.tried():
            assert (finding.check, finding.severity) in {
                (one.name, one.severity) for one in record.trial.scenario.invariants}


class DriverContract(PluginContract):
    """A driver, and messages that a robot with it may be sent."""

    kind = 'drivers'
    parameters: ClassVar[Mapping[str, Any]] = {}
    messages: ClassVar[Sequence[Message]]
    """In the order in which they come, one each 100 ms."""
    start: ClassVar[Start] = {}
    """Where the axes are before the first command."""

    @classmethod
    def driver(cls) -> DriverPlugin:
        plugin: DriverPlugin = cls.plugin().model_validate({'kind': cls.name, **cls.parameters})
        return plugin

    @classmethod
    def commands(cls) -> Sequence[Commanded]:
        """Return the messages as they come."""
        return [Commanded(at_ns, _CLOCK_NS + at_ns, message) for at_ns, message in zip(
            range(0, len(cls.messages) * _APART_NS, _APART_NS), cls.messages)]

    def test_its_class_has_the_base_of_a_driver(self) -> None:
        """The scenario file is validated by the fields of the class."""
        assert issubclass(self.plugin(), DriverPlugin)

    def test_it_executes_some_of_the_messages(self) -> None:
        """The other claims are about nothing otherwise: name messages that move the robot."""
        assert numpy.nan_to_num(self._executed().velocity).any(), 'messages: none moves the robot'

    def test_each_command_is_accepted_or_rejected(self) -> None:
        """What a robot ignores is no command: each of them has its entry in ``accepted``."""
        execution = self._executed()
        rejected = {one.place for one in execution.rejections}
        assert len(execution.accepted) == len(self.messages)
        assert rejected == {place for place, taken in enumerate(execution.accepted) if not taken}

    def test_its_set_points_are_in_order_of_time(self) -> None:
        """Motion is read from them by bisection."""
        execution = self._executed()
        assert (numpy.diff(execution.times_ns) >= 0).all(), 'times_ns: they descend'
        assert execution.velocity.shape == (len(execution.times_ns), len(execution.axes))
        assert execution.position is None or execution.position.shape == execution.velocity.shape

    def test_no_commands_move_nothing(self) -> None:
        """Before the first command nothing is commanded."""
        found = self.driver().execute([], self.start, 10**9).velocity
        assert not numpy.nan_to_num(found).any()

    def test_a_command_changes_nothing_before_it_came(self) -> None:
        """A driver that knows the future would flatter the robot."""
        commands, driver = self.commands(), self.driver()
        whole = self._executed()
        for count in range(1, len(commands)):
            until_ns = commands[count].t_ns - 1
            known = driver.execute(commands[:count], self.start, until_ns)
            for at_ns in range(commands[count - 1].t_ns, until_ns, _STEP_NS):
                numpy.testing.assert_allclose(_velocity(whole, at_ns), _velocity(known, at_ns),
                                              err_msg=f'at {at_ns} ns')

    def test_one_command_after_the_other_gives_the_same_motion(self) -> None:
        """A simulated robot follows the commands as they come; judging has all of them at once."""
        follower, whole = self.driver().follow(self.start), self._executed()
        commands = self.commands()
        for (command, taken), following in zip(zip(commands, whole.accepted), commands[1:]):
            if follower is None:
                return
            if taken:
                follower.take(command)
            for at_ns in range(command.t_ns, following.t_ns, _STEP_NS):
                state = follower.state(at_ns)
                expected = dict(zip(whole.axes, _velocity(whole, at_ns)))
                for axis, (_, velocity) in state.items():
                    assert abs(velocity - expected[axis]) < 1e-6, (
                        f'{axis} at {at_ns} ns: got {velocity}, expected {expected[axis]}')

    def _executed(self) -> Execution:
        return self.driver().execute(self.commands(), self.start, len(self.messages) * _APART_NS)


class FormatContract(PluginContract):
    """A format, and a file of it."""

    kind = 'formats'
    file: ClassVar[Path]
    """That this format reads and no built-in one."""

    def test_it_reads_its_file(self) -> None:
        """A file is read by the first format that recognises it."""
        [taken] = load_scenarios([self.file]).formats
        assert taken.startswith(self.plugin().NAME), f'format: got {taken}'

    def test_the_same_file_gives_the_same_scenario(self) -> None:
        """A campaign is judged again by its file."""
        assert load_scenarios([self.file]).scenarios == load_scenarios([self.file]).scenarios

    def test_it_says_why_it_does_not_recognise_something(self) -> None:
        """Every file of every format is shown to it: it returns a reason, and raises nothing."""
        for data in _NOT_SCENARIOS:
            refusal = self.plugin().recognises(data)
            assert isinstance(refusal, str) and refusal, f'recognises({data!r}): got {refusal!r}'

    def test_a_damaged_file_gives_problems(self, tmp_path: Path) -> None:
        """A user gets a line and what was expected there, not a traceback."""
        data = Document.of(str(self.file), self.file.read_bytes()).data
        for number, damaged in enumerate(_damaged(data)):
            path = tmp_path / f'{number}.json'
            path.write_text(json.dumps(damaged), encoding='utf-8')
            raw = path.read_bytes()
            try:
                reading = self.plugin().read(str(path), raw, Document.of(str(path), raw),
                                             registry.resolve)
            except ScenarioError:
                continue
            assert isinstance(reading, Reading) and (reading.scenario or reading.problems), (
                f'{raw.decode():.300}: got neither a scenario nor a problem')


def _nominal(one: StimulusPlugin, nominal: Sequence[StimulusPlugin],
             context: StimulusContext) -> Stimulus | None:
    """Return what the nominal phase publishes on the topic of a stimulus that alters it."""
    return next((other.at(0, 0, context) for other in nominal
                 if other.topic == one.topic and other is not one), None)


def _velocity(execution: Execution, at_ns: int) -> list[float]:
    """Return the velocity of each axis; the later of two set-points at one time counts."""
    times = execution.times_ns
    place = int(numpy.searchsorted(times, at_ns, side='right')) - 1
    if place < 0:
        return [0.0] * len(execution.axes)
    if execution.between == 'hold' or place + 1 == len(times):
        return [float(value) for value in execution.velocity[place]]
    share = (at_ns - times[place]) / (times[place + 1] - times[place])
    return [float(value) for value in execution.velocity[place] + share * (
        execution.velocity[place + 1] - execution.velocity[place])]


def _damaged(data: Any) -> Iterator[Any]:
    """Yield a document with one key missing, or with something wrong in its place."""
    for path in _paths(data):
        for change in (_without, *(_set_to(value) for value in _WRONG)):
            damaged = deepcopy(data)
            inner = damaged
            for step in path[:-1]:
                inner = inner[step]
            change(inner, path[-1])
            yield damaged


def _paths(data: Any, depth: int = 2) -> Iterator[tuple[str, ...]]:
    if isinstance(data, dict) and depth:
        for key, value in data.items():
            yield (key,)
            yield from ((key, *inner) for inner in _paths(value, depth - 1))


def _without(data: Any, key: str) -> None:
    del data[key]


def _set_to(value: Any) -> Callable[[Any, str], None]:
    def change(data: Any, key: str) -> None:
        data[key] = deepcopy(value)
    return change
