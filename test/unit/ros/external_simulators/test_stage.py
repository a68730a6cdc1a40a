# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is asked of a simulator, and what counts as done: never the answer, always the pose."""

import pytest
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.worlds.external.bodies import models_of
from safety_scenarios.ros.worlds.external.mover import Asked, PoseBook
from safety_scenarios.ros.worlds.external.stage import Stage, waiting
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

    def _does(self, what: str, name: str, place=None) -> Asked:
        self.asked.append((what, name))
        if name not in self.deaf:
            if what == 'remove':
                self.models.pop(name, None)
            elif (what == 'spawn') != (name in self.models):
                self.models[name] = place
        return Asked(what, Done(), lambda answer: '')

    def spawn(self, name, sdf, place):
        return self._does('spawn', name, place)

    def remove(self, name):
        return self._does('remove', name)

    def put(self, name, place):
        return self._does('put', name, place)

    def hear(self):
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
    world.hear()
    Stage(world, WORLD).furnish([PERSON])
    assert ('remove', 'stimulus_1') in world.asked
    assert world.models['stimulus_1'] == waiting(0, 1)


def test_who_is_put_up_has_to_tell_of_it_again_before_the_trial():
    """Who is asked where it is may answer later than the robot."""
    world = Simulated()
    stage = Stage(world, WORLD)
    stage.furnish([PERSON])
    stage.await_told(['stimulus_1'])
    del world.models['stimulus_1']
    with pytest.raises(MeasurementError, match='stimulus_1.*its position is no longer published'):
        stage.await_told(['stimulus_1'])


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
