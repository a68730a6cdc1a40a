# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the sensors of the embedded world showed comes back from the record of a trial."""

import pytest
from safety_scenarios import registry
from safety_scenarios.from_python import run
from safety_scenarios.scenario.message import Command
from safety_scenarios.trial.journal import read_journal
from safety_scenarios.trial.links.sensor_readings import sensor_readings
from unit.records import reacting, record

pytest.importorskip('mujoco', reason='the extra sim is not installed')


class Noting:
    """Stands, and writes down each scan that it is given."""

    seen: list = []

    def decide(self, observation):
        found = observation.readings.get('scan')
        if found is not None:
            self.seen.append((observation.t_ns - found.age_ns, found.message))
        return Command(velocity=(0.8, 0.0))


def recorded(tmp_path, scenario, **settings):
    """Return the record of one trial in the embedded world."""
    run(scenario, output=tmp_path / 'run', link='simulated', world='mujoco', seed=1, **settings)
    [path] = (tmp_path / 'run').rglob('*.events.jsonl.gz')
    return read_journal(path, registry.resolve)


def test_they_are_what_the_controller_received(tmp_path):
    Noting.seen.clear()
    found = recorded(tmp_path, 'SCN-R-201', controller=Noting, isolate=False)
    readings, frames, missing = sensor_readings(found)
    assert not missing and frames
    scans = {found.events[place].stamps.steady_ns: message
             for place, message in readings.items() if found.events[place].name == 'scan'}
    assert len(scans) > 20
    for at_ns, message in Noting.seen:
        assert scans[at_ns] == message


def test_what_is_not_wanted_is_left_out(tmp_path):
    found = recorded(tmp_path, 'SCN-R-201')
    readings, _, _ = sensor_readings(found, without=('sensor_msgs/msg/LaserScan',))
    assert {message.type for message in readings.values()} == {'geometry_msgs/msg/PoseStamped'}


def test_readings_end_where_the_record_is_another(tmp_path):
    found = recorded(tmp_path, 'SCN-R-201')
    lost = next(place for place, event in enumerate(found.events)
                if place > 500 and event.kind == 'state')
    cut = found.model_copy(update={'events': (*found.events[:lost], *found.events[lost + 1:])})
    readings, _, missing = sensor_readings(cut)
    assert f'from event {lost} of {len(cut.events)} on' in missing
    assert readings and max(readings) < lost


def test_over_another_link_nobody_knows_them(tmp_path):
    found = recorded(tmp_path, 'SCN-R-201')
    readings, _, missing = sensor_readings(found.model_copy(update={
        'measuring': found.measuring.model_copy(update={'exact': False})}))
    assert not readings and 'only over link simulated' in missing


def test_a_trial_without_a_world_needs_none():
    assert sensor_readings(record(reacting(100.0))) == ({}, (), '')
