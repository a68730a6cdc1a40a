# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A plug-in that breaks its contract on purpose fails the claim that it breaks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
import inspect
from itertools import count
from pathlib import Path
import random
import sys
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

import numpy
import pytest
from safety_scenarios import registry
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.errors import ScenarioError, TraceError, UnknownPluginError
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.scenario_yaml import reader as yaml_reader
from safety_scenarios.judging.drivers.wheeled import DiffDrive
from safety_scenarios.judging.invariants.command_stream import Liveness
from safety_scenarios.plugin_contract.campaign_plugins import (
    ControllerContract,
    ForwardingLinkContract,
    LinkContract,
    OutputContract,
    TraceContract,
)
from safety_scenarios.plugin_contract.contract import PluginContract
from safety_scenarios.plugin_contract.robot_plugins import IntentContract, RobotContract
from safety_scenarios.plugin_contract.scenario_plugins import (
    DriverContract,
    FormatContract,
    InvariantContract,
    StimulusContract,
)
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.robot_kind import MobileBase
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.bodies import Person, PersonAt
from safety_scenarios.trial.link import ForwardingLink, Link
from safety_scenarios.trial.links.loopback import LoopbackLink
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.session import Observer

FILE = Path(__file__).parents[3] / 'config/scenarios/robotic/person_steps_near.yaml'
PERSON = ('kind: person, topic: scan, distance: 2.05', 'kind: broken, topic: scan, distance: 2.05')
CHANGES = {'stimuli': PERSON, 'intents': PERSON, 'invariants': ('kind: liveness', 'kind: broken'),
           'robots': ('kind: mobile_base', 'kind: broken')}
COUNT = count()

Broken = Callable[..., None]


@pytest.fixture
def expect_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broken]:
    """Yield a function that expects a claim of a contract to fail for a plug-in."""
    def expect(contract: type[PluginContract], claim: str, plugin: Any,
               error: type[BaseException] = AssertionError, **facts: Any) -> None:
        module = SimpleNamespace(**{contract.kind: plugin, **facts.pop('beside', {})})
        monkeypatch.setattr(registry, '_entries', lambda kind: (('broken', f'broken:{kind}'),)
                            if hasattr(module, kind) else ())
        if contract.kind == 'controllers':  # a process of its own would not know the module
            monkeypatch.setitem(registry.BUILT_IN['controllers'], 'broken', 'broken:controllers')
            monkeypatch.setitem(sys.modules, 'safety_scenarios.broken', module)
        monkeypatch.setitem(sys.modules, 'broken', module)
        old, new = CHANGES.get(contract.kind, ('', ''))
        scenario = tmp_path / 'scenario.yaml'
        scenario.write_text(FILE.read_text('utf-8').replace(old, new), encoding='utf-8')
        subclass = type('TestBroken', (contract,),
                        {'name': 'broken', 'scenario': str(scenario), **facts})
        run(subclass(), claim, error, tmp_path, monkeypatch)
    yield expect


def run(contract: Any, claim: str, error: type[BaseException], tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a claim that is expected to fail."""
    method = getattr(contract, claim)
    (tmp_path / 'run').mkdir()
    given = {'tmp_path': tmp_path / 'run', 'monkeypatch': monkeypatch}
    with pytest.raises(error):
        method(**{name: given[name] for name in inspect.signature(method).parameters})


class BrokenPerson(Person):
    kind: Literal['broken'] = 'broken'  # type: ignore[assignment]


class Random(BrokenPerson):
    """Draws from no seed."""

    def at(self, elapsed_ns, index, context):
        moved = self.model_copy(update={'distance': self.distance + random.random() / 10})
        return Person.at(moved, elapsed_ns, index, context)


class Counting(BrokenPerson):
    """Remembers how often it was asked."""

    def at(self, elapsed_ns, index, context):
        moved = self.model_copy(update={'distance': self.distance + next(COUNT)})
        return Person.at(moved, elapsed_ns, index, context)


class Backwards(BrokenPerson):

    def due_ns(self, index, rate_hz):
        return -super().due_ns(index, rate_hz)


class OfAnotherType(BrokenPerson):

    def at(self, elapsed_ns, index, context):
        pose = self.model_copy(update={'message': 'geometry_msgs/msg/PoseStamped'})
        return Person.at(pose, elapsed_ns, index, context)


class ComesNearer(BrokenPerson):

    @property
    def is_constant(self):
        return True

    def at(self, elapsed_ns, index, context):
        nearer = self.model_copy(update={'distance': self.distance / (index + 1)})
        return Person.at(nearer, elapsed_ns, index, context)


class WithUnknownIntent(BrokenPerson):

    def intent(self, context):
        return super().intent(context).model_copy(update={'kind': 'balloon_at'})


@pytest.mark.parametrize(('claim', 'plugin'), [
    ('test_the_same_seed_gives_the_same_trial', Random),
    ('test_the_same_arguments_give_the_same_message', Random),
    ('test_the_same_arguments_give_the_same_message', Counting),
    ('test_its_messages_are_due_in_order', Backwards),
    ('test_what_it_calls_constant_is', ComesNearer),
    ('test_it_publishes_what_it_declares', OfAnotherType),
    ('test_its_class_has_the_base_of_a_stimulus', object)])
def test_a_broken_stimulus_fails(claim, plugin, expect_broken):
    expect_broken(StimulusContract, claim, plugin)


def test_an_intent_that_no_record_can_be_read_with_fails(expect_broken):
    assert WithUnknownIntent(kind='broken', topic='scan', distance=1.0).intent(None) \
        == PersonAt(distance=1.0, bearing=0.0, speed=0.0, nearest=0.5).model_copy(
            update={'kind': 'balloon_at'})
    expect_broken(StimulusContract, 'test_its_intent_can_be_read_from_a_record',
                  WithUnknownIntent, ScenarioError)


def test_a_scenario_without_the_plug_in_fails(expect_broken):
    expect_broken(StimulusContract, 'test_its_messages_are_due_in_order', BrokenPerson,
                  scenario=str(FILE))
    with pytest.raises(UnknownPluginError):
        type('TestNone', (StimulusContract,), {'name': 'none'})().test_it_is_found_by_its_name()


class BrokenLiveness(Liveness):
    kind: Literal['broken'] = 'broken'  # type: ignore[assignment]


class AlwaysPasses(BrokenLiveness):

    def check(self, record):
        return self.finding(Verdict.PASS, 'it looks well')


class WithWrongMargin(BrokenLiveness):

    def check(self, record):
        found = super().check(record)
        return found.model_copy(update={'margin': -(found.margin or 0)})


class WithoutItsName(BrokenLiveness):

    def check(self, record):
        return super().check(record).model_copy(update={'check': 'something'})


class WithMemory(BrokenLiveness):

    def check(self, record):
        return super().check(record).model_copy(update={'at_ms': float(next(COUNT))})


@pytest.mark.parametrize(('claim', 'plugin'), [
    ('test_a_trial_without_measurements_does_not_pass', AlwaysPasses),
    ('test_some_controller_keeps_it_and_another_violates_it', AlwaysPasses),
    ('test_the_margin_agrees_with_the_verdict', WithWrongMargin),
    ('test_the_finding_has_the_name_and_the_weight_of_the_invariant', WithoutItsName),
    ('test_the_same_record_gives_the_same_finding', WithMemory),
    ('test_the_campaign_can_be_judged_again', WithMemory),
    ('test_its_class_has_the_base_of_an_invariant', object)])
def test_a_broken_invariant_fails(claim, plugin, expect_broken):
    expect_broken(InvariantContract, claim, plugin, controllers=('rule_based', 'gap'))


class Shaky(RuleBased):

    def decide(self, observation):
        command = super().decide(observation)
        return command and command.model_copy(update={
            'velocity': tuple(random.random() / 100 + one for one in command.velocity)})


class Crashing(RuleBased):

    def decide(self, observation):
        raise ZeroDivisionError('by zero')


@pytest.mark.parametrize(('claim', 'plugin'), [
    ('test_the_same_seed_gives_the_same_trial', Shaky),
    ('test_it_raises_nothing', Crashing),
    ('test_it_can_be_asked', object)])
def test_a_broken_controller_fails(claim, plugin, expect_broken):
    expect_broken(ControllerContract, claim, plugin)


class BrokenDriver(DiffDrive):
    kind: Literal['broken'] = 'broken'  # type: ignore[assignment]

    def execute(self, commands, start, until_ns):
        return self.spoilt(super().execute(commands, start, until_ns))

    def spoilt(self, execution):
        return execution


def spoil(**changes: Callable[[Any], Any]) -> type[BrokenDriver]:
    """Return a driver whose execution is changed in some fields."""
    class Spoilt(BrokenDriver):

        def spoilt(self, execution):
            fields = {name: getattr(execution, name) for name in execution.__dataclass_fields__}
            return type(execution)(**fields | {
                name: change(fields[name]) for name, change in changes.items()})
    return Spoilt


class Lagging(BrokenDriver):
    """Follows commands that come one by one at half their speed."""

    def follow(self, start):
        follower = super().follow(start)
        return SimpleNamespace(take=follower.take, state=lambda t_ns: {
            axis: (place, speed / 2) for axis, (place, speed) in follower.state(t_ns).items()})


class Foreseeing(BrokenDriver):
    """Begins with the last command."""

    def execute(self, commands, start, until_ns):
        return super().execute([*commands[-1:], *commands[1:]], start, until_ns)


class Restless(BrokenDriver):

    def execute(self, commands, start, until_ns):
        return super().execute(commands or TestDriver.commands()[:1], start, until_ns)


def twist(speed: float) -> Message:
    return Message(type='geometry_msgs/msg/TwistStamped', data={
        'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': ''},
        'twist': {'linear': {'x': speed, 'y': 0.0, 'z': 0.0},
                  'angular': {'x': 0.0, 'y': 0.0, 'z': 0.0}}})


class TestDriver(DriverContract):
    name = 'diff_drive'
    messages = tuple(map(twist, (0.5, 0.4, 0.1)))


@pytest.mark.parametrize(('claim', 'plugin'), [
    ('test_each_command_is_accepted_or_rejected', spoil(accepted=lambda taken: ~taken)),
    ('test_its_set_points_are_in_order_of_time', spoil(times_ns=lambda times: times[::-1])),
    ('test_its_set_points_are_in_order_of_time',
     spoil(velocity=lambda speeds: numpy.zeros((1, 7)))),
    ('test_no_commands_move_nothing', Restless),
    ('test_a_command_changes_nothing_before_it_came', Foreseeing),
    ('test_one_command_after_the_other_gives_the_same_motion', Lagging),
    ('test_it_executes_some_of_the_messages', spoil(velocity=lambda speeds: 0.0 * speeds)),
    ('test_its_class_has_the_base_of_a_driver', object)])
def test_a_broken_driver_fails(claim, plugin, expect_broken):
    expect_broken(DriverContract, claim, plugin, messages=TestDriver.messages)


class FragileLink(LoopbackLink):
    """Fails when something is done twice."""

    closed = disarmed = False

    def disarm(self):
        assert not self.disarmed, 'disarmed twice'
        self.disarmed = True

    def close(self):
        super().close()
        self.closed = True

    def mark(self, name):
        assert not self.closed, 'closed'
        return super().mark(name)


class DeafLink(LoopbackLink):

    def receive_until(self, schedule_ns):
        super().receive_until(schedule_ns)
        return ()


class BackwardLink(LoopbackLink):

    def receive_until(self, schedule_ns):
        return tuple(event.model_copy(update={'stamps': event.stamps.later(-2 * (
            event.stamps.steady_ns))}) for event in super().receive_until(schedule_ns))


class HidingLink(LoopbackLink):

    def receive_until(self, schedule_ns):
        return tuple(event if event.kind != 'command' else event.model_copy(update={
            'stamps': event.stamps.model_copy(update={
                'system_ns': event.stamps.system_ns + 40_000_000})})
            for event in super().receive_until(schedule_ns))


class LossyLink(LoopbackLink):

    def receive_until(self, schedule_ns):
        return tuple(event for event in super().receive_until(schedule_ns)
                     if event.kind != 'command' or random.random() < 0.9)


def over(kind: type[LoopbackLink]) -> type[Loopback]:
    """Return a link plug-in that opens links of a kind."""
    return type('Broken', (Loopback,), {'link': lambda self: kind})


@pytest.mark.parametrize(('claim', 'plugin'), [
    ('test_it_can_be_disarmed_and_closed_twice', over(FragileLink)),
    ('test_it_marks_at_any_time', over(FragileLink)),
    ('test_the_reference_passes_over_it', over(DeafLink)),
    ('test_the_steady_clock_does_not_go_backwards', over(BackwardLink)),
    ('test_the_stamps_of_a_command_agree', over(HidingLink)),
    ('test_what_it_calls_repeatable_is', over(LossyLink)),
    ('test_its_class_has_the_base_of_a_link_plug_in', object)])
def test_a_broken_link_fails(claim, plugin, expect_broken):
    expect_broken(LinkContract, claim, plugin)


class Forgetful(Link):
    """Passes on what it knows of, which is not all of it."""

    def __init__(self, inner: Link) -> None:
        self._inner = inner

    def arm(self) -> None:
        self._inner.arm()


class Careless(ForwardingLink):
    """Asks the inner link, and drops the answer."""

    def overlooked(self):
        super().overlooked()
        return ()


@pytest.mark.parametrize(('claim', 'wrapper'), [
    ('test_each_method_is_called_on_the_inner_link', Forgetful),
    ('test_each_method_is_called_on_the_inner_link', Careless),
    ('test_each_attribute_is_that_of_the_inner_link', Forgetful)])
def test_a_wrapper_that_does_not_pass_on_everything_fails(claim, wrapper, tmp_path, monkeypatch):
    class Broken(ForwardingLinkContract):

        def wrapped(self, inner):
            return wrapper(inner)
    run(Broken(), claim, AssertionError, tmp_path, monkeypatch)


def format_of(**changes: Any) -> Any:
    """Return the format of scenarios in YAML with something else in it."""
    return SimpleNamespace(**{'NAME': 'broken', 'recognises': yaml_reader.recognises,
                              'read': yaml_reader.read, **changes})


def read_carelessly(path, raw, document, resolve):
    """Read a file as if it had every key."""
    assert document.data['name'] and document.data['ros']['signals']
    return yaml_reader.read(path, raw, document, resolve)


def read_randomly(path, raw, document, resolve):
    """Give the scenario another name each time."""
    reading = yaml_reader.read(path, raw, document, resolve)
    reading.scenario = reading.scenario.model_copy(update={'name': str(next(COUNT))})
    return reading


@pytest.mark.parametrize(('claim', 'plugin', 'error'), [
    ('test_it_says_why_it_does_not_recognise_something',
     format_of(recognises=lambda data: None if data['id'] else ''), TypeError),
    ('test_it_says_why_it_does_not_recognise_something', format_of(recognises=lambda data: None),
     AssertionError),
    ('test_a_damaged_file_gives_problems', format_of(read=read_carelessly), KeyError),
    ('test_it_reads_its_file', format_of(), AssertionError),
    ('test_the_same_file_gives_the_same_scenario',
     format_of(recognises=lambda data: None, read=read_randomly), AssertionError)])
def test_a_broken_format_fails(claim, plugin, error, expect_broken, tmp_path):
    file = FILE
    if claim == 'test_the_same_file_gives_the_same_scenario':  # that no built-in format reads
        file = tmp_path / 'odd.yaml'
        file.write_text('odd: 1\n', encoding='utf-8')
        plugin.read = lambda path, raw, document, resolve: read_randomly(
            str(FILE), FILE.read_bytes(), Document.of(str(FILE), FILE.read_bytes()), resolve)
    expect_broken(FormatContract, claim, plugin, error, file=file)


class Littering(Observer):
    """Writes beside the folder."""

    def campaign_ended(self, summary):
        Path('numbers.txt').write_text(str(summary.completed), encoding='utf-8')


class NeedsTrials(Observer):
    """Takes for granted that some trial has ended."""

    def __init__(self) -> None:
        self.results: list[Any] = []

    def trial_ended(self, record, result):
        self.results.append(result)

    def campaign_ended(self, summary):
        assert self.results[0]


class NeedsEvents(Observer):

    def trial_ended(self, record, result):
        assert record.events[0]


def output_of(observer: Callable[[], Observer]) -> Any:
    @contextmanager
    def output(context):
        yield (observer(),)
    return output


@contextmanager
def swallowing(context):
    try:
        yield ()
    except TraceError:
        pass


@contextmanager
def late(context):
    """Change a file that the manifest holds."""
    yield ()
    with (Path(context.settings.output) / 'trials.jsonl').open('a') as file:
        file.write('\n')


@pytest.mark.parametrize(('claim', 'plugin', 'error'), [
    ('test_a_campaign_that_ends_leaves_its_files_in_the_folder', output_of(Littering),
     AssertionError),
    ('test_a_campaign_without_a_folder_leaves_no_file', output_of(Littering), AssertionError),
    ('test_an_interrupted_campaign_ends_as_any_other', output_of(NeedsTrials), IndexError),
    ('test_a_trial_that_never_began_is_no_error_of_it', output_of(NeedsEvents), IndexError),
    ('test_the_manifest_holds_what_a_campaign_leaves', late, AssertionError),
    ('test_a_campaign_that_raises_is_not_held_up', swallowing, Exception)])
def test_a_broken_output_fails(claim, plugin, error, expect_broken):
    expect_broken(OutputContract, claim, plugin, error)


class BrokenAt(PersonAt):
    kind: Literal['broken'] = 'broken'  # type: ignore[assignment]


class WithBroken(BrokenPerson):
    """A person whose intent is of another class."""

    intent_class: ClassVar[type[PersonAt]] = BrokenAt

    def intent(self, context):
        return self.intent_class(distance=self.distance, bearing=self.bearing, speed=self.speed,
                                 nearest=self.nearest)


class FartherOff(BrokenAt):
    """Puts its body farther away than it says."""

    def bodies(self):
        return tuple(replace(one, ahead=one.ahead + 1.0) for one in super().bodies())


class Elsewhere(BrokenAt):

    def places(self, distance):
        return super().places(distance + 1.0)


class Forgotten(BrokenAt):
    """Has a body that no record tells of."""

    def bodies(self):
        return tuple(replace(one, label=str(next(COUNT))) for one in super().bodies())


class Unseen(BrokenAt):

    def scanned(self, distance):
        return ()


@pytest.mark.parametrize(('claim', 'plugin'), [
    ('test_it_can_be_read_from_a_record', Forgotten),
    ('test_its_first_body_starts_at_its_distance', FartherOff),
    ('test_without_a_world_it_is_where_its_distance_says', Elsewhere),
    ('test_sensors_without_a_world_show_it', Unseen),
    ('test_a_world_reports_its_distance', FartherOff),
    ('test_its_class_has_the_base_of_an_intent_with_a_body', object)])
def test_a_broken_intent_fails(claim, plugin, expect_broken):
    class WithIt(WithBroken):
        intent_class = plugin
    expect_broken(IntentContract, claim, plugin, beside={'stimuli': WithIt})


class GoesOn(MobileBase):
    """Creeps when it is to stop."""

    def command(self, speed, turn=0.0):
        return super().command(speed or 0.2, turn)


class StandsAlways(MobileBase):

    def is_standstill(self, at_most):
        return True


class WithoutDriver(MobileBase):

    def driver(self, interface, signals):
        return None


class WithUnreadFeedback(MobileBase):
    feedback_types = ('std_msgs/msg/String',)


class WithoutRange(MobileBase):
    usual_top_speed = (2.0, 1.0)


@pytest.mark.parametrize(('claim', 'plugin'), [
    ('test_the_reference_stops_it_and_a_blind_controller_does_not', GoesOn),
    ('test_a_stop_is_a_standstill_and_top_speed_is_none', GoesOn),
    ('test_a_stop_is_a_standstill_and_top_speed_is_none', StandsAlways),
    ('test_its_default_driver_moves_it_and_stops_it', GoesOn),
    ('test_its_default_driver_moves_it_and_stops_it', WithoutDriver),
    ('test_each_of_its_feedback_types_can_be_read', WithUnreadFeedback),
    ('test_its_usual_speeds_are_a_range', WithoutRange),
    ('test_its_class_has_the_base_of_a_kind', object)])
def test_a_broken_kind_of_robot_fails(claim, plugin, expect_broken):
    expect_broken(RobotContract, claim, plugin)


class WritesNothing(Observer):

    def __init__(self, context: Any) -> None:
        self.folder = context.folder


class TakesEventsForGranted(WritesNothing):

    def trial_ended(self, record, result):
        assert record.events[0]


class WithoutAdd(WritesNothing):

    def sinks(self, trial):
        return [object()]


@pytest.mark.parametrize(('claim', 'plugin', 'error'), [
    ('test_it_writes_a_file', WritesNothing, AssertionError),
    ('test_it_writes_a_file', WithoutAdd, AttributeError),
    ('test_a_trial_that_never_began_is_no_error_of_it', TakesEventsForGranted, IndexError)])
def test_a_broken_trace_writer_fails(claim, plugin, error, expect_broken):
    expect_broken(TraceContract, claim, plugin, error)
