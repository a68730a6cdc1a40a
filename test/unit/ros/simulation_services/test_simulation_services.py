# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Answers of simulation services, and the SDF of what they spawn."""

import math
from types import SimpleNamespace as Fields

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.ros.worlds.embedded import simulation_services as services
from safety_scenarios.ros.worlds.embedded.poses import ContentError, FormatError, read_sdf
from safety_scenarios.ros.worlds.embedded.simulation_services import Answering, Call, Reply
from safety_scenarios.ros.worlds.external.bodies import models_of
from safety_scenarios.scenario.world_body import ADULT_M, Solid
from safety_scenarios.stimuli.bodies import ObstacleAt, PersonAt
from safety_scenarios.worlds.mujoco.persistent_world import Standing
from safety_scenarios.worlds.persistent_world import ROOM
from unit.worlds.driven import scenario, twist

PERSON = models_of(PersonAt(distance=2, bearing=0, speed=0, nearest=1), True)[0].sdf(
    'person', 'robot', 'gz')
STEP_NS = 5_000_000
WALL = {'walls': ({'name': 'end', 'begin': (5.0, -2.0), 'end': (5.0, 2.0)},)}


class Owner:
    """One world and its time, which passes by steps alone."""

    def __init__(self, trial: str = '', may_play: bool = True, **world) -> None:
        self.trial_id, self.is_paused, self.stamp_ns = trial, True, 0
        self.standing: Standing | None = None
        self.ended: list[str] = []
        self._may_play, self._world = may_play, world
        self.answering = Answering(self)
        self.got: list[Reply] = []

    def catch_up(self):
        """Nothing passes by itself."""

    def stand_up(self):
        self.standing = Standing(scenario(self._world))
        return self.standing

    def give_up_trial(self, text):
        self.ended.append(text)
        self.trial_id = ''

    def play(self):
        if not self._may_play:
            raise InputError('in lock-step')
        self.is_paused = False

    def pause(self):
        self.is_paused = True

    def make_steps(self, count):
        self.standing.advance(self.standing.now_ns + count * STEP_NS)
        self.stamp_ns = self.standing.now_ns

    def rewind(self):
        self.stamp_ns = -1

    def ask(self, service: str, **fields) -> Reply | None:
        """Return the answer; None: it has not come yet."""
        before = len(self.got)
        self.answering.take(Call(service, Fields(**fields), self.got.append))
        return self.got[-1] if len(self.got) > before else None

    def spawn(self, name='person', x=2.0, text=PERSON, **fields):
        more = {'allow_renaming': False, 'entity_namespace': '', 'uri': ''} | fields
        return self.ask('spawn_entity', name=name, resource_string=text, **more,
                        initial_pose=Fields(header=Fields(frame_id='world'), pose=pose(x)))

    def put(self, entity, x=0.0, speed=0.0, frame='', **at):
        return self.ask('set_entity_state', entity=entity, state=Fields(
            header=Fields(frame_id=frame), pose=pose(x, **at), twist=Fields(
                linear=Fields(x=speed, y=0.0, z=0.0), angular=Fields(x=0.0, y=0.0, z=0.0))))

    def places(self) -> dict[str, float]:
        """Return along x where everybody is."""
        found = self.ask('get_entities_states', filters=filters(''))
        return {name: place[0] for name, place, _ in found.entities}


def pose(x, w=1.0, z=0.0):
    return Fields(position=Fields(x=x, y=0.0, z=z), orientation=Fields(x=0.0, y=0.0, z=0.0, w=w))


def filters(text, **more):
    return Fields(**{'filter': text, 'categories': [], 'tags': Fields(tags=[]),
                     'bounds': Fields(type=0)} | more)


def state(number):
    return {'state': Fields(state=number)}


def test_what_our_own_adapter_sends_comes_moves_and_goes():
    """In the request of version 1, and in that of version 2."""
    owner = Owner()
    assert owner.spawn().name == 'person'
    box = models_of(ObstacleAt(distance=1, lateral=0, width=1.2, height=0.5, closing_speed=0,
                               nearest=1), False)[0]
    second = owner.ask('spawn_entity', name='box', allow_renaming=False, entity_namespace='',
                       entity_resource=Fields(uri='', resource_string=box.sdf('b', 'r', 'gz')),
                       initial_pose=Fields(header=Fields(frame_id=''), pose=pose(4.0)))
    assert second.code == services.OK, second.text
    assert owner.put('person', 3.0).code == owner.put('robot', -1.0).code == services.OK
    assert owner.places() == {'robot': -1.0, 'person': 3.0, 'box': 4.0}
    found = owner.ask('get_entities', filters=filters('p.*n'))
    assert [name for name, _, _ in found.entities] == ['person']
    assert owner.ask('delete_entity', entity='person').code == services.OK
    assert set(owner.places()) == {'robot', 'box'}


@for_each(('fields', 'code', 'word'), [
    ({'name': 'robot'}, services.NAME_NOT_UNIQUE, 'which exists already'),
    ({'name': 'a b'}, services.NAME_INVALID, 'letters'),
    ({'text': ''}, services.NO_RESOURCE, '<cylinder>'),
    ({'uri': 'person.sdf'}, services.UNSUPPORTED_FORMAT, 'resource_string'),
    ({'text': '<robot name="x"/>'}, services.UNSUPPORTED_FORMAT, 'expected <sdf>'),
    ({'text': 'person'}, services.PARSE_ERROR, 'no XML'),
    ({'text': PERSON.replace('cylinder', 'sphere')}, services.UNSUPPORTED_ASSETS, '<sphere>'),
    ({'entity_namespace': 'hall'}, services.UNSUPPORTED, 'no topics'),
    ({'x': 0.2}, services.INVALID_POSE, 'inside of robot'),
    ({'x': 5.1}, services.INVALID_POSE, 'inside of wall:end'),
    ({'x': math.nan}, services.INVALID_POSE, 'expected numbers')])
def test_what_cannot_be_spawned_is_named_and_nothing_has_come(fields, code, word):
    owner = Owner(**WALL)
    reply = owner.spawn(**fields)
    assert (reply.code, word in reply.text) == (code, True), reply
    assert set(owner.places()) == {'robot'}


def test_names_are_made_where_that_is_allowed_and_room_ends():
    owner = Owner()
    assert owner.spawn('').name == 'person', 'the name in the file'
    assert owner.spawn('').code == services.NAME_NOT_UNIQUE
    names = [owner.spawn('', allow_renaming=True, x=3.0 + place).name for place in range(ROOM - 1)]
    assert len({'person', *names}) == ROOM
    assert owner.spawn('one more', allow_renaming=True).code == services.FAILED


@for_each(('entity', 'at', 'code', 'word'), [
    ('nobody', {'x': 1.0}, services.NOT_FOUND, 'expected one of robot, person'),
    ('person', {'x': math.inf}, services.SET_INVALID_POSE, 'expected numbers'),
    ('person', {'x': 3.0, 'w': 0.9}, services.SET_INVALID_POSE, 'unit quaternion'),
    ('person', {'x': 3.0, 'z': 0.5}, services.SET_INVALID_POSE, 'on the floor'),
    ('person', {'x': 3.0, 'frame': 'odom'}, services.SET_INVALID_POSE, 'expected world'),
    ('person', {'x': 5.1}, services.SET_INVALID_POSE, 'inside of wall:end'),
    ('person', {'x': 0.2}, services.SET_INVALID_POSE, 'inside of robot'),
    ('person', {'x': 3.0, 'speed': 1.0}, services.FAILED, 'twist'),
    ('robot', {'x': 1.9}, services.SET_INVALID_POSE, 'inside of person'),
    ('robot', {'x': 4.9}, services.SET_INVALID_POSE, 'inside of wall:end'),
    ('robot', {'x': 0.0, 'speed': 50.0}, services.SET_INVALID_POSE, 'at most 20')])
def test_a_bad_state_is_named_and_nothing_has_moved(entity, at, code, word):
    owner = Owner(**WALL)
    owner.spawn()
    reply = owner.put(entity, **at)
    assert (reply.code, word in reply.text) == (code, True), reply
    assert owner.places() == {'robot': 0.0, 'person': 2.0}


def test_who_is_moved_may_be_a_little_within_the_robot_that_drives_on():
    owner = Owner()
    owner.spawn()
    assert owner.put('person', 0.5).code == services.OK, '5 cm'


def test_the_robot_stays():
    owner = Owner()
    assert 'belongs to the scenario' in owner.ask('delete_entity', entity='robot').text
    assert set(owner.places()) == {'robot'}


def test_steps_are_answered_when_they_are_made_and_exactly_so_many():
    owner = Owner()
    owner.put('robot', 0.0, speed=1.0)
    assert owner.ask('step_simulation', steps=50) is None
    while owner.answering.is_stepping:
        assert owner.ask('get_simulation_state').state == services.PLAYING
        assert 'still to be made' in owner.ask('step_simulation', steps=1).text
        owner.answering.go_on()
    assert owner.got[-1].code == services.OK
    assert owner.standing.now_ns == 50 * STEP_NS
    assert owner.ask('get_simulation_state').state == services.PAUSED
    for count in (0, 2**63):
        assert f'got {count} steps, expected 1 to' in owner.ask('step_simulation',
                                                                steps=count).text


@for_each(('service', 'fields'), [
    ('set_simulation_state', state(services.PAUSED)), ('reset_simulation', {'scope': 0}),
    ('set_simulation_state', state(services.PLAYING)), ('reset_simulation', {'scope': 2})])
def test_whoever_waits_for_steps_is_told_that_somebody_ended_them(service, fields):
    owner = Owner()
    assert owner.ask('step_simulation', steps=1000) is None
    owner.answering.go_on()
    assert owner.ask(service, **fields).code == services.OK
    assert not owner.answering.is_stepping
    ended = next(reply for reply in owner.got if 'ended after' in reply.text)
    assert ended.code == services.FAILED


def test_states_go_as_they_may():
    owner = Owner()
    assert owner.ask('set_simulation_state', **state(2)).code == services.ALREADY_THERE
    assert owner.ask('set_simulation_state', **state(1)).code == services.OK
    assert 'paused' in owner.ask('step_simulation', steps=1).text
    owner.put('robot', 3.0)
    assert owner.ask('set_simulation_state', **state(0)).code == services.OK
    assert owner.places() == {'robot': 0.0}, 'stopped is reset, too'
    assert owner.ask('get_simulation_state').state == services.STOPPED
    assert owner.ask('set_simulation_state', **state(3)).code == services.UNSUPPORTED
    assert owner.ask('set_simulation_state', **state(2)).code == services.OK
    still = Owner(may_play=False)
    assert still.ask('set_simulation_state', **state(1)).code == services.TRANSITION_FAILED
    assert still.is_paused


def test_a_reset_resets_what_it_says():
    owner = Owner()
    owner.spawn()
    owner.put('person', 6.0)
    owner.put('robot', 3.0, speed=0.5)
    assert owner.ask('reset_simulation', scope=1).code == services.OK
    assert (owner.stamp_ns, owner.places()['person']) == (-1, 6.0)
    owner.ask('reset_simulation', scope=2)
    assert owner.places() == {'robot': 0.0, 'person': 2.0}
    owner.ask('reset_simulation', scope=4)
    assert owner.places() == {'robot': 0.0}
    assert owner.ask('reset_simulation', scope=16).code == services.UNSUPPORTED
    owner.spawn()
    owner.ask('reset_simulation', scope=255)
    assert owner.places() == {'robot': 0.0}


def test_a_reset_that_would_put_the_robot_into_a_body_is_refused_and_nothing_has_moved():
    """It has gone from its start, where somebody stands since."""
    owner = Owner()
    owner.put('robot', 3.0, speed=0.5)
    owner.spawn(x=0.2)
    owner.spawn('other', x=6.0)
    owner.put('other', 7.0)
    before = owner.ask('get_entities_states', filters=filters('')).entities
    for scope in (2, 3):
        reply = owner.ask('reset_simulation', scope=scope)
        assert reply.code == services.FAILED, reply
        assert 'got person' in reply.text and 'inside of robot' in reply.text
        assert 'Delete it, or reset what was spawned as well' in reply.text
    assert owner.ask('get_entities_states', filters=filters('')).entities == before
    assert owner.stamp_ns == 0, 'nor has time begun anew'
    assert owner.ask('step_simulation', steps=9) is None
    owner.ask('reset_simulation', scope=2)
    assert owner.answering.is_stepping
    assert owner.ask('reset_simulation', scope=6).code == services.OK
    assert owner.places() == {'robot': 0.0}


@for_each('asked', [
    lambda owner: owner.spawn(), lambda owner: owner.put('robot', 1.0),
    lambda owner: owner.ask('step_simulation', steps=1),
    lambda owner: owner.ask('set_simulation_state', **state(2)),
    lambda owner: owner.ask('get_entity_state', entity='robot'),
    lambda owner: owner.ask('delete_entity', entity='robot'),
    lambda owner: owner.ask('reset_simulation', scope=2)])
def test_nobody_else_moves_the_world_of_a_trial(asked):
    owner = Owner(trial='SCN-1/7')
    reply = asked(owner)
    assert reply.code == services.INCORRECT_STATE and 'the trial SCN-1/7' in reply.text
    assert owner.standing is None and not owner.ended


def test_a_reset_of_everything_ends_a_trial_with_the_reason():
    owner = Owner(trial='SCN-1/7')
    assert owner.ask('reset_simulation', scope=0).code == services.OK
    assert 'while a trial ran' in owner.ended[0]
    assert owner.places() == {'robot': 0.0}


def test_a_world_that_has_come_to_an_end_is_not_there_again_in_silence():
    owner = Owner()
    owner.places()
    owner.standing = None
    owner.answering.lose('unstable')
    reply = owner.ask('get_entity_state', entity='robot')
    assert reply.code == services.FAILED and 'unstable' in reply.text
    assert owner.ask('reset_simulation', scope=0).code == services.OK
    assert owner.places() == {'robot': 0.0}


def test_a_robot_meets_what_was_spawned_where_it_is():
    """As far as a scanner sees it, too; in one world, however large the bodies are."""
    owner = Owner()
    world = owner.stand_up()
    owner.is_paused = False
    for length in (0.2, 4.0, 0.6):
        owner.ask('reset_simulation', scope=2)
        wide = PERSON.replace('<radius>0.25', f'<radius>{length / 2}')
        assert wide != PERSON or length == 0.5
        assert owner.spawn('wide', 4.0, wide).code == services.OK
        slot, _ = world._spawned['wide']
        assert len(slot.geoms) == 1 and slot.geoms[0] not in slot.unpictured
        ranges = world._sensors['scan']._read().data['ranges']
        assert ranges[len(ranges) // 2] == pytest.approx(4.0 - length / 2, abs=1e-3)
        for _ in range(300):
            world.command('cmd_vel', twist(1.0), world.now_ns, world.now_ns)
            world.advance(world.now_ns + 20_000_000)
            world.states()
        assert world.where('robot')[0][0] == pytest.approx(4.0 - length / 2 - 0.3, abs=0.02)
        owner.ask('delete_entity', entity='wide')


def test_a_drive_that_may_not_drive_brakes_and_stands():
    world = Owner().stand_up()

    def drive(seconds):
        for _ in range(round(seconds * 50)):
            world.command('cmd_vel', twist(0.5), world.now_ns, world.now_ns)
            world.advance(world.now_ns + 20_000_000)
        return world.where('robot')[1][0]
    assert drive(1.5) == pytest.approx(0.5, abs=0.01)
    world.let_drive(is_enabled=False)
    assert drive(1.5) == pytest.approx(0.0, abs=1e-3)
    world.let_drive(is_enabled=True)
    assert drive(1.5) == pytest.approx(0.5, abs=0.01)


BOX = models_of(ObstacleAt(distance=1, lateral=0, width=1.2, height=0.5, closing_speed=0,
                           nearest=1), True)[0].sdf(
    'box', 'robot', 'ignition')


def test_shapes_of_our_adapter_arrive_as_they_are():
    person = models_of(PersonAt(distance=2, bearing=0, speed=0, nearest=1), False)[0]
    name, shape = read_sdf(person.sdf('person', 'robot', 'gz'))
    assert name == 'person'
    assert shape == person.solid == Solid('cylinder', 0.5, 0.5, ADULT_M, 0.0, False)
    assert read_sdf(BOX)[1] == Solid('box', 0.4, 1.2, 0.5, 0.0, True)


@for_each(('old', 'new', 'kind'), [
    ('<static>true', '<static>false', ContentError),
    ('</link>', '</link><link name="more"/>', ContentError),
    ('<link name="body">', '<joint name="hinge"/><link name="body">', ContentError),
    ('<link name="body">', '<link name="body"><pose>1 0 0 0 0 0</pose>', ContentError),
    ('0 0 0.25 0 0 0', '0 0 0.25 0.1 0 0', ContentError),
    ('0 0 0.25 0 0 0', '0 0 0.1 0 0 0', ContentError),
    ('0.4 1.2 0.5', '0.4 1.2', ContentError), ('0.4 1.2 0.5', '0.4 nan 0.5', ContentError),
    ('0.4 1.2 0.5', '0.4 1.2 -0.5', ContentError), ('0.4 1.2 0.5', '0.4 1e9 0.5', ContentError),
    ('<visual name="look">', '<visual name="other"><geometry><sphere/></geometry></visual>'
     '<visual name="look">', ContentError),
    ('</sdf>', '', ValueError), ('sdf', 'robot', FormatError),
    ('<sdf', '<!DOCTYPE sdf [<!ENTITY a "b">]><sdf', ValueError)])
def test_anything_else_is_refused(old, new, kind):
    assert old in BOX
    with pytest.raises(ValueError, match='expected') as refused:
        read_sdf(BOX.replace(old, new))
    assert type(refused.value) is kind
