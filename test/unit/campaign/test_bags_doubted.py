# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A recording whose files, times or bytes are in doubt passes nobody, and ends in words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from mcap.records import Chunk
from mcap.writer import CompressionType, Writer
import pytest
from rosbags.rosbag2 import CompressionMode, StoragePlugin
from safety_scenarios.campaign.rejudging.stored_trials import judge_bag
from safety_scenarios.cli.main import main
from safety_scenarios.errors import SettingsError, TraceError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.blocks.onset import BagBlock
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.mcap import bag_files, reading
from safety_scenarios.trial.mcap.played_bag import read_recording
from safety_scenarios.trial.mcap.reading import interface, QOS
from unit.campaign.test_bags_untold import bag, near, NEAR_YAML, stops
import yaml
import zstandard

BEGIN_MS, ONSET_MS, GONE_MS, END_MS = 1_700_000_000_000, 3000, 9000, 10000
NEAR = '/scan:ranges:min<=2.0'
SCAN, TWIST = 'sensor_msgs/msg/LaserScan', 'geometry_msgs/msg/Twist'
STAMPED = 'geometry_msgs/msg/TwistStamped'
CLOCK = 'rosgraph_msgs/msg/Clock'
SET_BACK = 'the clock of the recorder was set back'


class Sent(NamedTuple):
    """A message: when it was recorded (ms), where, and what it is."""

    t_ms: float
    topic: str
    type: str  # noqa: A003
    raw: bytes
    qos: str = ''
    encoding: str = 'cdr'


def encoded(name: str, data: dict[str, Any]) -> bytes:
    known = interface(name, None)
    assert known is not None
    return known.codec.encode(data)


def as_ns(t_ms: float) -> int:
    return BEGIN_MS * 1_000_000 + round(t_ms * 1e6)


def scan(t_ms: float, distance: float, arrived_ms: float | None = None) -> Sent:
    sec, nanosec = divmod(as_ns(t_ms), 10**9)
    return Sent(t_ms if arrived_ms is None else arrived_ms, '/scan', SCAN, encoded(SCAN, {
        'header': {'stamp': {'sec': sec, 'nanosec': nanosec}, 'frame_id': 'laser'},
        'angle_min': -1.0, 'angle_max': 1.0, 'angle_increment': 0.1, 'range_min': 0.05,
        'range_max': 30.0, 'ranges': (8.0,) * 10 + (distance,) + (8.0,) * 10}))


def drive(t_ms: float, speed: float, **other: str) -> Sent:
    return Sent(t_ms, '/cmd_vel', TWIST, encoded(TWIST, {'linear': {'x': speed}}), **other)


def heard(after_ms: float, every_ms: int = 50, end_ms: float = END_MS) -> list[Sent]:
    """Return what a recorder writes of a robot that stops so long after the hazard."""
    sent = [scan(t_ms, 1.5 if ONSET_MS <= t_ms < GONE_MS else 6.0)
            for t_ms in range(0, END_MS, every_ms)]
    sent += [drive(t_ms, 0.0 if ONSET_MS + after_ms <= t_ms < GONE_MS else 0.8)
             for t_ms in range(15, END_MS, every_ms)]
    return sorted((one for one in sent if one.t_ms <= end_ms), key=itemgetter(0))


def set_back(sent: Iterable[Sent], from_ms: float, by_ms: float) -> list[Sent]:
    return [one._replace(t_ms=one.t_ms - by_ms) if one.t_ms >= from_ms else one for one in sent]


def write(path: Path, sent: Iterable[Sent],
          compression: CompressionType = CompressionType.NONE) -> Path:
    with path.open('wb') as stream:
        writer = Writer(stream, chunk_size=20_000, compression=compression)
        writer.start(profile='ros2', library='test')
        channels: dict[tuple[str, str, str, str], int] = {}
        for one in sent:
            key = (one.topic, one.type, one.qos, one.encoding)
            if key not in channels:
                known = interface(one.type, None)
                schema = writer.register_schema(
                    one.type, 'ros2msg' if known else 'jsonschema',
                    known.schema.encode() if known else b'{}')
                channels[key] = writer.register_channel(
                    one.topic, one.encoding, schema, {'offered_qos_profiles': one.qos})
            at_ns = as_ns(one.t_ms)
            writer.add_message(channels[key], log_time=at_ns, publish_time=at_ns, data=one.raw)
        writer.finish()
    return path


def folder(path: Path, files: dict[str, Sequence[Sent]], listed: Sequence[str] | None = None,
           more: int = 0, **changes: Any) -> Path:
    """Write a split bag, whose metadata counts one QoS a topic, and ``more`` commands."""
    path.mkdir()
    counts = Counter[tuple[str, str]]()
    for name, sent in files.items():
        write(path / name, sent)
        counts.update((one.topic, one.type) for one in sent)
    counts['/cmd_vel', TWIST] += more
    (path / 'metadata.yaml').write_text(yaml.safe_dump({'rosbag2_bagfile_information': {
        'version': 5, 'storage_identifier': 'mcap', 'relative_file_paths': list(listed or files),
        'topics_with_message_count': [
            {'topic_metadata': {'name': topic, 'type': name, 'serialization_format': 'cdr',
                                'offered_qos_profiles': ''}, 'message_count': count}
            for (topic, name), count in counts.items()],
        'duration': {'nanoseconds': 0}, 'starting_time': {'nanoseconds_since_epoch': 0},
        'message_count': counts.total(), 'compression_format': '', 'compression_mode': '',
        **changes}}))
    return path


def halves(sent: Sequence[Sent], at_ms: float) -> dict[str, Sequence[Sent]]:
    """Return what came before a time, and the rest in another file."""
    place = next(place for place, one in enumerate(sent) if one.t_ms >= at_ms)
    return {'a_0.mcap': sent[:place], 'a_1.mcap': sent[place:]}


def judged(path: Path, onset: str = NEAR) -> TrialResult:
    [scenario] = load_scenarios([str(NEAR_YAML)]).scenarios
    return judge_bag(path, scenario, onset, RunSettings(scenarios=('x',)))


def reaction(result: TrialResult) -> Any:
    return next(one for one in result.findings if one.check == 'reaction within the budget')


def refusal(path: Path, onset: str = NEAR) -> str:
    with pytest.raises(TraceError) as error:
        judged(path, onset)
    return str(error.value)


def times(path: Path) -> Sequence[int]:
    return read_recording(path, BagBlock(file='-', topics=('scan',)), {}).topics[0].times_ns


def test_a_split_bag_is_judged_as_one(tmp_path):
    latency = judged(folder(tmp_path / 'bag', halves(heard(600), 3300))).latency
    assert latency and latency.judged_ns == 615_000_000


@pytest.mark.parametrize('by_ms', [400, 3_600_000])
def test_a_clock_that_was_set_back_between_two_files_tells_no_latency(tmp_path, by_ms):
    parts = halves(heard(800), 3300)
    parts['a_1.mcap'] = set_back(parts['a_1.mcap'], 0, by_ms)
    path = folder(tmp_path / 'bag', parts)
    assert SET_BACK in refusal(path)
    assert list(times(path)) == sorted(times(path))


def test_files_in_another_order_tell_no_latency(tmp_path):
    path = folder(tmp_path / 'bag', halves(heard(800), 3300), ['a_1.mcap', 'a_0.mcap'])
    assert 'lists the files in another order' in refusal(path)
    assert list(times(path)) == sorted(times(path))


def test_a_clock_that_was_set_back_by_as_much_as_slow_topics_pause_is_refused(tmp_path):
    path = write(tmp_path / 'a.mcap', set_back(heard(510, 500), 3300, 500))
    assert 'known within 515 ms' in refusal(path)


def imu(every_ms: int = 10) -> list[Sent]:
    raw = encoded('std_msgs/msg/Bool', {'data': True})
    return [Sent(t_ms, '/imu', 'std_msgs/msg/Bool', raw) for t_ms in range(3, END_MS, every_ms)]


@pytest.mark.parametrize(('by_ms', 'lag_ms'), [(97, 12), (105, 20)])
def test_a_clock_that_was_set_back_by_less_than_the_commands_are_apart_passes_nobody(
        tmp_path, by_ms, lag_ms):
    """The robot stops after 515 ms: the pause before the step (85 ms) is as unknown as it."""
    result = judged(write(tmp_path / 'a.mcap', set_back(heard(510, 100), 3300, by_ms)))
    assert result.latency and result.latency.reaction
    assert result.latency.reaction.judged_ns == (515 - by_ms) * 1_000_000
    assert result.latency.reaction.uncertainty_ns == (15 + 85 + lag_ms) * 1_000_000
    assert reaction(result).verdict.value == 'INCONCLUSIVE'


@pytest.mark.parametrize(('every_ms', 'beside', 'from_ms', 'by_ms'), [
    (100, imu(), 3300, 105), (100, imu(50), 3300, 105), (500, [], 3010, 280)])
def test_a_clock_that_was_set_back_is_seen_by_a_quick_topic_or_a_large_step(
        tmp_path, every_ms, beside, from_ms, by_ms):
    sent = sorted([*heard(510, every_ms), *beside], key=itemgetter(0))
    assert SET_BACK in refusal(write(tmp_path / 'a.mcap', set_back(sent, from_ms, by_ms)))


def stalled(sent: Iterable[Sent], at_ms: float, for_ms: float) -> list[Sent]:
    """Return messages as written after a stall by an executor that takes one of each topic."""
    late = [one for one in sent if at_ms <= one.t_ms < at_ms + for_ms]
    turn = Counter[str]()
    turns = {id(one): turn.update([one.topic]) or turn[one.topic] for one in late}
    late.sort(key=lambda one: turns[id(one)])
    return [one for one in sent if one.t_ms < at_ms] + late + [
        one for one in sent if one.t_ms >= at_ms + for_ms]


@pytest.mark.parametrize(('for_ms', 'lag_ms', 'pause_ms'), [
    (30, 0, 0), (60, 27, 35), (120, 67, 35)])
def test_a_recorder_that_stalled_writes_topics_out_of_order_and_is_no_clock_that_was_set_back(
        tmp_path, for_ms, lag_ms, pause_ms):
    sent = stalled(sorted([*heard(100), *imu()], key=itemgetter(0)), 3095, for_ms)
    result = judged(write(tmp_path / 'a.mcap', sent))
    assert result.latency and result.latency.reaction
    assert result.latency.reaction.judged_ns == 115_000_000
    assert result.latency.reaction.uncertainty_ns == (15 + lag_ms + pause_ms) * 1_000_000
    assert reaction(result).verdict.value == 'PASS'


def test_a_second_controller_in_another_channel_is_seen(tmp_path):
    """It drives on, while the first one stands; the metadata has the quality of service of one."""
    second = [drive(t_ms, 0.8, qos=QOS) for t_ms in range(3120, 8900, 50)]
    sent = sorted([*heard(40), *second], key=itemgetter(0))
    assert judged(folder(tmp_path / 'bag', halves(sent, 500))).verdict.value == 'FAIL'


def test_a_folder_that_holds_other_messages_than_it_counts_is_refused(tmp_path):
    parts = halves(heard(40), 6000)
    assert 'a_1.mcap, which metadata.yaml does not list' in refusal(
        folder(tmp_path / 'beside', parts, ['a_0.mcap']))
    for more in (-1, 1):
        assert f'expected the {200 + more} that metadata.yaml counts' in refusal(
            folder(tmp_path / f'{more}', parts, more=more))


def test_a_file_that_holds_other_messages_than_it_counts_is_refused(tmp_path, monkeypatch):
    from mcap.records import Statistics
    whole = Statistics.write
    monkeypatch.setattr(Statistics, 'write', lambda self, stream: whole(
        Statistics(**{**vars(self), 'message_count': self.message_count + 1}), stream))
    assert 'that it counts itself' in refusal(write(tmp_path / 'a.mcap', heard(40)))


def test_the_reaction_is_no_onset(tmp_path):
    path = write(tmp_path / 'a.mcap', heard(800))
    with pytest.raises(SettingsError, match='--onset: got /cmd_vel, which shows what the robot'):
        judged(path, '/cmd_vel:linear.x<=0.05')


def test_a_scan_that_was_recorded_late_makes_the_onset_uncertain(tmp_path):
    """From 2900 ms on the scans wait in the recorder: the one of the onset for 140 ms."""
    sent = [scan(one.t_ms, 1.5 if one.t_ms >= ONSET_MS else 6.0,
                 min(one.t_ms + 240, 2900 + 2.4 * (one.t_ms - 2900)))
            if one.topic == '/scan' and 2900 <= one.t_ms < GONE_MS - 500 else one
            for one in heard(500)]
    result = judged(write(tmp_path / 'a.mcap', sorted(sent, key=itemgetter(0))))
    assert result.latency and result.latency.reaction
    assert result.latency.reaction.judged_ns == 375_000_000
    assert result.latency.reaction.uncertainty_ns == 155_000_000
    assert reaction(result).verdict.value == 'INCONCLUSIVE'


@pytest.mark.parametrize('late_ms', [600, 1200])
def test_an_onset_that_is_known_within_more_than_the_budget_is_refused(tmp_path, late_ms):
    """From 600 ms before the hazard on each scan was recorded late."""
    sent = [one._replace(t_ms=one.t_ms + late_ms) if one.topic == '/scan' and
            ONSET_MS - 600 <= one.t_ms < GONE_MS - late_ms else one for one in heard(1300)]
    assert f'known within {late_ms + 15} ms' in refusal(
        write(tmp_path / 'a.mcap', sorted(sent, key=itemgetter(0))))


@pytest.mark.parametrize(('end_ms', 'verdict'), [
    (3000, 'INCONCLUSIVE'), (3200, 'INCONCLUSIVE'), (3450, 'INCONCLUSIVE'), (4500, 'FAIL')])
def test_a_bag_that_ends_before_the_budget_is_over_fails_nobody(tmp_path, end_ms, verdict):
    path = write(tmp_path / 'a.mcap', heard(5000, end_ms=end_ms))
    assert reaction(judged(path)).verdict.value == verdict


def test_a_bag_that_ends_while_the_robot_brakes_fails_nobody(tmp_path):
    sent = [drive(one.t_ms, max(0.1, 0.8 - (one.t_ms - 3100) / 1000)) if one.topic == '/cmd_vel'
            and one.t_ms > 3100 else one for one in heard(5000, end_ms=3750)]
    assert reaction(judged(write(tmp_path / 'a.mcap', sent))).verdict.value == 'INCONCLUSIVE'


def packed(sent: Iterable[Sent]) -> list[Sent]:
    return [one._replace(raw=zstandard.compress(one.raw)) for one in sent]


@pytest.mark.parametrize(('topic', 'refused'), [('/notes', ''), ('/cmd_vel', '/cmd_vel: got a m')])
def test_a_message_that_unpacks_to_more_than_there_is_memory_is_never_unpacked(
        tmp_path, monkeypatch, topic, refused):
    monkeypatch.setattr(bag_files, 'MAX_UNPACKED', 1_000_000)
    sent = [*heard(600), drive(END_MS, 0.8)._replace(topic=topic, raw=bytes(2_000_000))]
    path = folder(tmp_path / 'bag', {'a_0.mcap': packed(sent)}, compression_mode='MESSAGE')
    if refused:
        assert f'{refused}essage of more than 1 MB when unpacked' in refusal(path)
    else:
        latency = judged(path).latency
        assert latency and latency.judged_ns == 615_000_000


@pytest.mark.parametrize('compression', [CompressionType.LZ4, CompressionType.ZSTD])
@pytest.mark.parametrize(('counts', 'refused'), [
    (None, 'got a chunk of 2 MB when unpacked, expected at most 1'),
    (20_000, 'holds other than the 20000 bytes that it counts')])
def test_a_chunk_that_unpacks_to_more_than_there_is_memory_is_refused(
        tmp_path, monkeypatch, compression, counts, refused):
    monkeypatch.setattr(reading, 'MAX_UNPACKED', 1_000_000)
    whole = Chunk.write
    monkeypatch.setattr(Chunk, 'write', lambda self, stream: whole(Chunk(
        **{**vars(self), 'uncompressed_size': counts or self.uncompressed_size}), stream))
    sent = drive(20, 0.8)._replace(raw=bytes(2_000_000))
    assert refused in refusal(write(tmp_path / 'a.mcap', [sent], compression))


def test_a_file_that_unpacks_to_more_than_there_is_disk_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(bag_files, '_MAX_FILE', 10_000)
    path = bag(tmp_path, near, stops(100), compressed=CompressionMode.FILE)
    assert '.zstd: got more than 1e-05 GB when unpacked' in refusal(path)


@pytest.mark.parametrize('compression', list(CompressionType))
def test_a_damaged_file_is_told_in_words(tmp_path, compression, capsys):
    raw = write(tmp_path / 'a.mcap', heard(40), compression).read_bytes()
    for place in range(9, len(raw), len(raw) // 15):
        (tmp_path / 'a.mcap').write_bytes(raw[:place] + bytes([raw[place] ^ 4]) + raw[place + 1:])
        try:
            judged(tmp_path / 'a.mcap')
        except TraceError as error:
            assert str(error).startswith(f'{tmp_path}')


def test_a_damaged_database_is_told_in_words(tmp_path):
    path = bag(tmp_path, near, stops(100), StoragePlugin.SQLITE3)
    [file] = path.glob('*.db3')
    raw = file.read_bytes()
    half = len(raw) // 2
    file.write_bytes(raw[:half] + bytes(8192) + raw[half + 8192:])
    assert 'cannot be read as a bag' in refusal(path)
    file.write_bytes(raw)
    (path / f'{file.name}-wal').write_bytes(b'1')
    assert 'holds messages that never got into' in refusal(path)


@pytest.mark.parametrize('changes', [
    {'relative_file_paths': None}, {'topics_with_message_count': None}, {'version': 99},
    {'version': None}, {'relative_file_paths': ['b.mcap']}, {'compression_mode': 'MESSAGE'}])
def test_metadata_that_cannot_be_used_is_told_in_words(tmp_path, changes):
    path = folder(tmp_path / 'bag', halves(heard(40), 500), **changes)
    assert refusal(path).startswith(f'{path}')


def test_metadata_is_read_to_its_end_or_refused(tmp_path):
    """What follows the first megabyte may list more files, or count more messages."""
    path = folder(tmp_path / 'bag', halves(heard(600), 500))
    with (path / 'metadata.yaml').open('a') as file:
        file.write(f'# {"-" * 1_000_000}\n  compression_mode: MESSAGE\n')
    assert 'metadata.yaml: got more than 1000000 bytes, expected at most that' in refusal(path)


def test_a_topic_of_another_encoding_is_left_out_unless_it_is_needed(tmp_path):
    notes = [Sent(20, '/notes', 'Note', b'{}', encoding='json')]
    path = write(tmp_path / 'a.mcap', [*heard(600), *notes])
    latency = judged(path).latency
    assert latency and latency.judged_ns == 615_000_000
    assert '/notes: has messages in json, expected cdr' in refusal(path, '/notes:data>=1')
    sent = [one._replace(encoding='json') for one in heard(600)]
    assert 'has messages in json, expected cdr' in refusal(write(tmp_path / 'b.mcap', sent))


def test_commands_of_another_definition_are_refused(tmp_path):
    """A TwistStamped that is read as a Twist begins with an empty stamp: speed 0."""
    raw = encoded(STAMPED, {'twist': {'linear': {'x': 0.8}}})
    sent = [one._replace(raw=raw) if one.topic == '/cmd_vel' and 3050 < one.t_ms < GONE_MS
            else one for one in heard(9000)]
    assert 'the message is of another definition' in refusal(write(tmp_path / 'a.mcap', sent))


def test_a_junit_file_is_written_of_a_judged_bag(tmp_path, capsys):
    path = write(tmp_path / 'a.mcap', heard(800))
    command = ['evaluate', '--bag', str(path), '--scenario', str(NEAR_YAML), '--onset', NEAR]
    assert main([*command, '--junit', str(tmp_path / 'junit.xml')]) == 1
    assert '<failure' in (tmp_path / 'junit.xml').read_text()
    assert main([*command, '--from', 'recording']) == 2
    assert '--bag: got it with --from' in capsys.readouterr().err


def tick(t_ms: float, said_ms: float) -> Sent:
    sec, nanosec = divmod(round(said_ms * 1e6), 10**9)
    return Sent(t_ms, '/clock', CLOCK, encoded(CLOCK, {'clock': {'sec': sec, 'nanosec': nanosec}}))


@pytest.mark.parametrize(('factor', 'back_at_ms', 'verdict', 'told'), [
    (1.0, END_MS, 'PASS', ''), (5.0, END_MS, None, 'real-time factor in range'),
    (0.1, END_MS, None, 'real-time factor in range'),
    (1.0, 6000, None, 'the clock can be trusted')])
def test_a_bag_of_a_simulated_robot_is_judged_by_both_times(tmp_path, factor, back_at_ms, verdict,
                                                            told):
    """At a factor of 5 a robot goes five times as far in the time that was recorded."""
    ticks = [tick(t_ms, 1000 + factor * (t_ms if t_ms < back_at_ms else t_ms - 2000))
             for t_ms in range(0, END_MS, 10)]
    result = judged(write(tmp_path / 'a.mcap', sorted([*heard(100), *ticks], key=itemgetter(0))))
    found = reaction(result).verdict
    assert (found and found.value) == verdict
    assert {one.check for one in result.findings} >= ({told} if told else set())


@pytest.mark.parametrize(('begin_ms', 'end_ms'), [
    (0, ONSET_MS - 100), (ONSET_MS + 500, END_MS), (0, 10)])
def test_a_clock_that_was_not_recorded_all_the_time_tells_no_pace(tmp_path, begin_ms, end_ms):
    ticks = [tick(t_ms, 1000 + t_ms) for t_ms in range(begin_ms, end_ms, 5)]
    result = judged(write(tmp_path / 'a.mcap', sorted([*heard(450), *ticks], key=itemgetter(0))))
    assert {one.check for one in result.findings} >= {'the clock can be trusted'}
    assert reaction(result).verdict is None and '/clock was silent for' in result.reason


def test_a_recorder_that_took_its_times_from_a_simulator_tells_no_latency(tmp_path):
    begin_ms = 5000 - BEGIN_MS
    sent = [one._replace(t_ms=begin_ms + one.t_ms) for one in heard(100)]
    ticks = [tick(begin_ms + t_ms, 5000 + t_ms - 10) for t_ms in range(0, END_MS, 10)]
    path = write(tmp_path / 'a.mcap', sorted([*sent, *ticks], key=itemgetter(0)))
    assert 'the times of the recorder are those of /clock' in refusal(path)
