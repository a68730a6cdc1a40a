# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``ros.nominal.bag``: what of a recording is played, when, and what is refused."""

import os
from pathlib import Path
import pickle
import shutil
import sys

import fast_yaml
import pytest
from safety_scenarios import registry
from safety_scenarios.errors import MeasurementError, ScenarioError
from safety_scenarios.formats.loading import load_scenario, load_scenarios
from safety_scenarios.lint.review import review
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.stimuli.faults import SensorFault
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.journal import read_journal
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.plan_data import plan_from_data, plan_to_data
from safety_scenarios.trial.trial import Timeline
from unit.loopback_runs import loopback_run

pytest.importorskip('rosbags', reason='the extra mcap is not installed')

from recorded_bags import BEATS_MS, SCANNED_MS, write_bag  # noqa: E402, I100

QUICK = Path(__file__).parents[2] / 'data' / 'quick_person.yaml'
AS_SCAN = {'base/scan': 'scan'}
CONTEXT = StimulusContext('t', (), None)


@pytest.fixture
def write(tmp_path):
    """Return what writes a scenario whose nominal phase is a bag beside it."""
    def to_file(bag=None, bag_of=write_bag, **changes) -> str:
        if not (tmp_path / 'drive').exists():
            bag_of(tmp_path / 'drive')
        data = fast_yaml.load(QUICK.read_text(encoding='utf-8'))
        data['ros']['stimuli'][0]['topic'] = 'scan'
        nominal = data['ros']['nominal']
        nominal.pop('stimuli')
        nominal['bag'] = {'file': 'drive', 'remap': AS_SCAN} if bag is None else bag
        nominal.update(changes)
        path = tmp_path / 'scenario.yaml'
        path.write_text(fast_yaml.dump(data), encoding='utf-8')
        return str(path)
    return to_file


def played(path, topic='scan'):
    return next(one for one in load_scenario(path).body.nominal.stimuli if one.topic == topic)


def due_ms(plugin, count):
    return [plugin.due_ns(index, plugin.rate_hz) / 1e6 for index in range(count)]


def refusal(path):
    with pytest.raises(ScenarioError) as error:
        load_scenario(path)
    return str(error.value)


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_messages_come_at_their_recorded_times_with_their_frame_and_no_stamp(write, storage):
    path = write(bag_of=lambda folder: write_bag(folder, storage))
    scan, beat = played(path), played(path, 'heartbeat')
    assert due_ms(scan, 5) == list(SCANNED_MS)
    assert due_ms(beat, 2) == list(BEATS_MS)
    messages = [scan.at(scan.due_ns(index, scan.rate_hz), index, CONTEXT).message
                for index in range(5)]
    assert [round(message.at('ranges')[0], 3) for message in messages] == [
        8.0, 8.001, 8.002, 8.003, 8.004]
    assert {str(message.data['header']) for message in messages} == {"{'frame_id': 'base_scan'}"}
    shapes = played(path, 'shapes').at(0, 0, CONTEXT).message.data['markers']
    assert [marker['header'] for marker in shapes] == [{'frame_id': 'map'}]


def test_what_is_not_played_is_told_with_the_reason(write):
    loaded = load_scenarios([write()])
    assert [one.topic for one in loaded.scenarios[0].body.nominal.stimuli] == [
        'scan', 'heartbeat', 'shapes']
    [note] = [note for note in loaded.notes if 'not played' in str(note)]
    assert 'clock carries a time' in str(note) and 'cmd_vel is a command topic' in str(note)


def test_a_bag_that_is_over_holds_its_last_messages_or_begins_again_as_a_whole(write):
    scan = played(write())
    assert due_ms(scan, 7)[4:] == [201, 251.25, 301.5]
    assert scan.at(scan.due_ns(6, scan.rate_hz), 6, CONTEXT) == scan.at(
        scan.due_ns(4, scan.rate_hz), 4, CONTEXT)
    bag = {'file': 'drive', 'remap': AS_SCAN, 'at_end': 'loop'}
    scan, beat = played(write(bag)), played(write(bag), 'heartbeat')
    assert due_ms(scan, 7)[4:] == [201, 251.25, 302.25]
    assert due_ms(beat, 4) == [10, 110, 261.25, 361.25]
    assert scan.at(scan.due_ns(6, scan.rate_hz), 6, CONTEXT) == scan.at(
        scan.due_ns(1, scan.rate_hz), 1, CONTEXT)


def test_a_part_of_a_bag_begins_at_its_start_and_ends_with_its_length(write):
    path = write({'file': 'drive', 'topics': ['/base/scan'], 'remap': {'/base/scan': 'scan'},
                  'start_ms': 50, 'length_ms': 60})
    assert due_ms(played(path), 2) == [1, 52]
    assert played(path).count == 2


def test_a_fault_alters_what_the_bag_shows_at_that_time(write):
    scan = played(write())
    frozen = SensorFault(topic='scan', fault='nan')
    shown = scan.at(120_000_000, 0, CONTEXT)  # the beat of the fault is not that of the bag
    assert round(shown.message.at('ranges')[0], 3) == 8.002
    broken = frozen.at(0, 0, StimulusContext('t', (), shown))
    assert broken is not None and broken.message.non_finite() is not None


def test_the_bag_is_part_of_what_is_judged(write, tmp_path):
    path = write()
    before = load_scenario(path)
    [trial] = plan([before], controller='rule_based', trials=1, seed=0, prompt=Prompt())
    data = plan_to_data(trial)
    assert {one['sha256'] for one in data['nominal']} == {played(path).sha256}
    assert 'ranges' not in str(data)
    read = plan_from_data(data, registry.resolve)
    with pytest.raises(MeasurementError, match='Run the scenario from its file'):
        read.nominal[0].at(0, 0, CONTEXT)
    shutil.rmtree(tmp_path / 'drive')
    write(bag_of=lambda folder: write_bag(folder, distance=7.0))
    assert load_scenario(path).origin.sha256 != before.origin.sha256


def test_a_trial_carries_its_messages_to_another_process(write):
    [trial] = plan([load_scenario(write())], controller='rule_based', trials=1, seed=0,
                   prompt=Prompt())
    assert pickle.loads(pickle.dumps(trial)).nominal[0].at(0, 0, CONTEXT) == \
        trial.nominal[0].at(0, 0, CONTEXT)


def test_a_hazard_takes_its_topic_from_the_bag_and_the_rest_goes_on(write, tmp_path):
    run = loopback_run(tmp_path / 'out', write())
    assert run.trials[0]['verdict'] == 'PASS'
    [journal] = (tmp_path / 'out').rglob('*.events.jsonl.gz')
    record = read_journal(journal, registry.resolve)
    onset_ns, clear_ns = Timeline(record).window('hazard')
    during = [event for event in record.of_kind('stimulus')
              if onset_ns <= event.stamps.steady_ns < clear_ns]
    assert {event.hazard for event in during if event.name == 'scan'} == {True}
    assert {event.hazard for event in during if event.name == 'heartbeat'} == {False}
    assert loopback_run(tmp_path / 'again', write()).lines == run.lines


def test_nobody_reads_a_bag_without_the_packages_for_it(write, monkeypatch):
    for name in ('played_bag', 'bag_files', 'reading'):
        monkeypatch.delitem(sys.modules, f'safety_scenarios.trial.mcap.{name}', raising=False)
    monkeypatch.setitem(sys.modules, 'rosbags.interfaces', None)
    assert "'rosbags>=0.11'" in refusal(write())


@pytest.mark.parametrize('bag, told', [
    ('nowhere', 'no such file or folder'),
    ({'file': 'drive', 'topics': ['base/scann']}, "Did you mean 'base/scan'"),
    ({'file': 'drive', 'topics': ['cmd_vel']}, 'must not command'),
    ({'file': 'drive', 'topics': ['clock']}, 'carries a time'),
    ({'file': 'drive', 'remap': {'heartbeat': 'base/scan'}}, 'one topic of the bag on each'),
    ({'file': 'drive', 'remap': {'heartbeat': 'scan'}, 'topics': ['heartbeat']},
     'expected std_msgs/msg/Bool as before'),
    ({'file': 'drive', 'start_ms': 5000}, 'got no message on'),
    ({'file': 'drive', 'at_the_end': 'loop'}, 'unknown key'),
    (5, 'expected the path of a bag'),
    ('scenario.yaml', 'expected .mcap, .db3'),
    ('.', 'without metadata.yaml'),
])
def test_what_cannot_be_played_is_refused_with_what_to_do(write, bag, told):
    assert told in refusal(write(bag))


def test_a_topic_that_a_stimulus_publishes_is_not_asked_of_the_bag(write):
    beat = {'kind': 'message', 'topic': 'heartbeat', 'message': 'std_msgs/msg/Bool'}
    path = write({'file': 'drive', 'remap': AS_SCAN, 'topics': ['base/scan', 'heartbeat']},
                 stimuli=[beat])
    assert 'is published by ros.nominal.stimuli' in refusal(path)


def test_no_file_names_the_stimulus_that_a_bag_becomes(write):
    assert 'ros.nominal.bag' in refusal(write(stimuli=[{'kind': 'recorded', 'topic': 'x'}]))


@pytest.mark.parametrize('damage', ['cut', 'changed', 'empty', 'foreign', 'pipe'])
def test_a_damaged_bag_is_refused_and_never_played_in_part(write, tmp_path, damage):
    path = write()
    file = tmp_path / 'drive' / 'drive.mcap'
    raw = file.read_bytes()
    if damage == 'foreign':
        metadata = tmp_path / 'drive' / 'metadata.yaml'
        metadata.write_text(metadata.read_text().replace('drive.mcap', '../drive.mcap'))
        assert 'in the same folder' in refusal(path)
        return
    if damage == 'pipe':
        os.mkfifo(tmp_path / 'pipe.mcap')
        assert 'no such file' in refusal(write('pipe.mcap'))
        return
    quarter = len(raw) // 4
    file.write_bytes({'cut': raw[:-200], 'empty': b'',
                      'changed': raw[:quarter] + bytes(2 * quarter) + raw[3 * quarter:]}[damage])
    assert 'ros.nominal.bag' in refusal(path)


def test_more_than_can_be_held_is_refused(write, monkeypatch):
    from safety_scenarios.trial.mcap import played_bag as reading
    monkeypatch.setattr(reading, 'MAX_PLAYED', 1000)
    assert 'set length_ms' in refusal(write())
    monkeypatch.setattr(reading, 'MAX_FILES', 1000)
    assert 'GB' in refusal(write())


def test_a_bag_shorter_than_a_trial_is_odd(write):
    remarks = review([load_scenario(write())]).remarks
    assert 'L223' in {remark.code for remark in remarks}
    long = write({'file': 'long', 'remap': AS_SCAN})
    write_bag(Path(long).parent / 'long', scanned_ms=tuple(range(0, 30_000, 500)))
    assert 'L223' not in {remark.code for remark in review([load_scenario(long)]).remarks}
