# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Getting bodies into the world of another simulator, and stepping with it."""

from cases import for_each
import pytest
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.worlds.external.bodies import models_of
from safety_scenarios.ros.worlds.external.mover import PoseBook, ServiceCall
from safety_scenarios.ros.worlds.external.stage import Stage, waiting
from safety_scenarios.ros.worlds.external.stepping import Stepping
from safety_scenarios.scenario.world import WorldSettings
from safety_scenarios.stimuli.bodies import PersonAt

PERSON = models_of(PersonAt(distance=2, bearing=0, speed=0, nearest=1), True)[0]
WORLD = WorldSettings(patience_s=0.5)


class Done:
    """A call that was answered with success."""

    def done(self):
        return True

    def exception(self):
        return None

    def result(self):
        return None


class Simulated:
    """
    A simulator that always says success, and does what it can.

    :param deaf: names that nothing is done for
    """

    def __init__(self, *deaf: str, speed: float = 0.0) -> None:
        self.book, self.deaf, self.speed = PoseBook(), deaf, speed
        self.models = {'robot': (5.0, 0.0, 0.0)}
        self.asked: list[tuple[str, str]] = []
        self.now_ms = 0

    def _does(self, what: str, name: str, place=None) -> ServiceCall:
        self.asked.append((what, name))
        if name not in self.deaf:
            if what == 'remove':
                self.models.pop(name, None)
            elif (what == 'spawn') != (name in self.models):
                self.models[name] = place
        return ServiceCall(what, Done(), lambda answer: '')

    def spawn(self, name, sdf, place):
        return self._does('spawn', name, place)

    def remove(self, name):
        return self._does('remove', name)

    def put(self, name, place):
        return self._does('put', name, place)

    def receive(self):
        self.now_ms += 20
        x, y, heading = self.models['robot']
        self.models['robot'] = (x + 0.02 * self.speed, y, heading)
        for name, place in self.models.items():
            self.book.put(name, self.now_ms * 1_000_000, place)


def test_bodies_come_once_and_wait_far_away():
    """The next trial finds those of the same shape there."""
    world = Simulated()
    stage = Stage(world, WORLD)
    assert list(stage.furnish([PERSON])) == ['stimulus_1']
    assert world.models['stimulus_1'] == waiting(0, 1)
    stage.furnish([PERSON])
    assert [what for what, _ in world.asked].count('spawn') == 1


def test_who_was_touched_is_replaced():
    """As a touch plug-in tells of one touch only."""
    world = Simulated()
    stage = Stage(world, WORLD)
    stage.furnish([PERSON])
    stage.spent.add('stimulus_1')
    stage.furnish([PERSON])
    assert [what for what, _ in world.asked].count('remove') >= 1
    assert world.models['stimulus_1'] == waiting(0, 2)


def test_somebody_elses_model_of_our_name_is_replaced():
    """It may have any shape: an evaluator before this one left it."""
    world = Simulated()
    world.models['stimulus_1'] = (3.0, 0.0, 0.0)
    world.receive()
    Stage(world, WORLD).furnish([PERSON])
    assert ('remove', 'stimulus_1') in world.asked
    assert world.models['stimulus_1'] == waiting(0, 1)


def test_who_is_put_up_has_to_tell_of_it_again_before_the_trial():
    """Who is asked where it is may answer later than the robot."""
    world = Simulated()
    stage = Stage(world, WORLD)
    stage.furnish([PERSON])
    stage.await_poses(['stimulus_1'])
    del world.models['stimulus_1']
    with pytest.raises(MeasurementError, match='stimulus_1.*its position is no longer published'):
        stage.await_poses(['stimulus_1'])


def test_success_without_an_effect_is_an_error():
    """Of a model that never comes, and of a robot of another name."""
    with pytest.raises(MeasurementError, match='stimulus_1.*queued'):
        Stage(Simulated('stimulus_1'), WORLD).furnish([PERSON])
    with pytest.raises(MeasurementError, match="'robot': it was to be at"):
        Stage(Simulated('robot'), WORLD).place_robot((0.0, 0.0, 0.0))


def test_a_robot_that_drives_on_is_not_put_to_its_start():
    """It would be in full motion when the trial begins."""
    with pytest.raises(MeasurementError, match='still moves at 0.50 m/s.*drive_enable'):
        Stage(Simulated(speed=0.5), WORLD).place_robot((0.0, 0.0, 0.0))


ONE, PERIOD = 4_000_000, 50_000_000


class Stepped:
    """
    A simulator behind services that always say success, and a controller in its time.

    :param turn_ns: when in each period the controller has its turn; None: it never commands
    :param thinks: its command comes when somebody waits for it, and not before
    :param fault: what the simulator does wrong
    """

    def __init__(self, turn_ns=0, thinks=False, fault=''):
        self.time_ns, self.turn_ns, self.thinks, self.fault = 7_000_000_001, turn_ns, thinks, fault
        self.asked: list[object] = []
        self.count, self.is_deaf, self.owed = 0, False, 0
        self.commanded_ns: list[int] = []

    def run(self, *, is_running):
        self.asked.append('run' if is_running else 'pause')
        return ServiceCall('control', Done(), lambda answer: '')

    def steps(self, count):
        self.asked.append(count)
        for _ in range(0 if self.fault == 'makes none' else count):
            self.time_ns += ONE
            if self.turn_ns is not None and (self.time_ns - self.turn_ns) % PERIOD < ONE:
                self.owed += 1
        if not self.thinks:
            self._command()
        return ServiceCall('control', Done(), lambda answer: '')

    def _command(self):
        self.count += self.owed
        self.commanded_ns += [self.time_ns] * self.owed
        self.owed = 0

    def now_ns(self):
        if self.fault == 'does not stand':
            self.time_ns += ONE
        return self.time_ns

    def listen(self, commands):
        self.commands = commands

    def more_than(self, count, seconds):
        self._command()
        return self.count > count

    def begun(self, patience_s=0.3, alarm=lambda: None):
        stepping = Stepping(self, self, self.now_ns, self.now_ns, PERIOD, patience_s, alarm)
        stepping.begin(())
        return stepping


@for_each('turn_ms', [0, 11, 49])
def test_it_finds_the_turn_of_the_controller_and_steps_into_it_alone(turn_ms):
    """So what it decides by has arrived before, and nothing passes while it decides."""
    world = Stepped(turn_ms * 1_000_000)
    stepping, began_ns = world.begun(), world.time_ns
    now_ns, heard = stepping.step(600_000_000)
    assert now_ns - began_ns == 600_000_000 and heard == len(world.commanded_ns) >= 11
    assert all((at_ns - world.turn_ns) % PERIOD < ONE for at_ns in world.commanded_ns[-4:])
    assert max(world.asked[2:]) == 5, 'no more at once than a period of the poses'


def test_a_controller_that_thinks_long_is_waited_for_in_each_period():
    """Otherwise the world would go on without it."""
    world = Stepped(thinks=True)
    stepping = world.begun()
    stepping.step(500_000_000)
    gaps = [late - early for early, late in zip(
        world.commanded_ns, world.commanded_ns[1:], strict=False)]
    assert len(world.commanded_ns) >= 8 and max(gaps) <= PERIOD + ONE


def test_what_is_due_between_two_steps_comes_with_the_later_one():
    world = Stepped()
    stepping, began_ns = world.begun(), world.time_ns
    assert stepping.step(1)[0] - began_ns == ONE
    assert stepping.step(ONE + 1)[0] - began_ns == 3 * ONE


def test_a_silent_controller_is_waited_for_no_longer_than_the_patience():
    """And not at all once it is known to be gone."""
    world = Stepped(turn_ns=None)
    stepping, began_ns = world.begun(patience_s=0.11), world.time_ns
    assert stepping.step(60_000_000) == (began_ns + 60_000_000, 0)
    gone = Stepped(turn_ns=None).begun(alarm=lambda: 'the controller has ended')
    with pytest.raises(MeasurementError, match='the controller has ended'):
        gone.step(60_000_000)


@pytest.mark.parametrize(('fault', 'said'), [
    ('makes none', 'after steps were asked for'), ('does not stand', 'continues for')])
def test_success_that_means_nothing_is_an_error(fault, said):
    """What counts is /clock."""
    with pytest.raises(MeasurementError, match=said):
        Stepped(fault=fault).begun()


def test_nobody_else_may_let_time_pass():
    """A trial that says lock-step would not have been."""
    world = Stepped()
    stepping = world.begun()
    world.time_ns += 10 * ONE
    with pytest.raises(MeasurementError, match='another client lets its time pass'):
        stepping.step(PERIOD)


def test_it_leaves_the_world_running():
    world = Stepped()
    stepping = world.begun()
    stepping.step(PERIOD)
    stepping.end()
    stepping.end()
    assert world.asked[0] == 'pause' and world.asked.count('run') == 1
    assert world.asked[-1] == 'run'
