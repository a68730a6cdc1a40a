# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a bag holds of what a nominal phase plays; bounded, so that any file may be named."""

from collections.abc import Iterator, Mapping
import hashlib
from operator import itemgetter
from pathlib import Path
from typing import Any

from safety_scenarios.errors import did_you_mean, TraceError
from safety_scenarios.scenario.blocks.onset import BagBlock, RecordedTopic, Recording
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.message_types import may_move
from safety_scenarios.trial.identity import digest
from safety_scenarios.trial.mcap.bag_files import BagFiles, Channel
from safety_scenarios.trial.mcap.cdr import UnfitError

MAX_FILES = 2_000_000_000
"""Bytes of a bag; all of them are read for its hash."""
MAX_PLAYED = 32_000_000
"""Bytes of the messages that are played: as plain data they take up to ten times as much."""
"""Its standard interfaces are taken for a bag that holds no definitions of its own."""
_CLOCK = 'rosgraph_msgs/msg/Clock'
_OF_ROS = ('rosout', 'parameter_events', 'events/', 'statistics')
"""Topics that ROS itself, and the recorder, fill."""
_OF_HARNESS = 'safety_scenarios/'
"""Topics that hold what a recording of ours says of its trial, the truth among it."""


def read_recording(path: Path, block: BagBlock, kept_off: Mapping[str, str]) -> Recording:
    """
    Return the messages of a bag that are to be played.

    :param path: a file or a folder of a rosbag2, in MCAP or SQLite
    :param block: what is asked for; its own ``file`` is not looked at
    :param kept_off: topic of the scenario to why the bag must not be played on it
    :raises TraceError: no bag, damaged, too large, or without what is asked for; says which
    """
    try:
        sha256 = _sha256(path, _files(path))
        bag = BagFiles(path)
        chosen, left_out = _chosen(bag.channels, block, kept_off)
        topics = list(_read(bag, chosen, block))
    except (TraceError, UnfitError) as error:
        raise TraceError(f'{path}: {error}') from None
    except OSError as error:
        raise TraceError(f'{path}: cannot be read: {error.strerror or error}') from None
    silent = sorted({_plain(one.topic) for one in chosen} - {one.name for one in topics})
    if silent and (block.topics is not None or not topics):
        raise TraceError(f'{path}: got no message on {", ".join(silent)}'
                         f'{_window(block)}, expected at least one. Choose other topics or '
                         f'times')
    left_out = {**left_out, **dict.fromkeys(silent, f'has no message{_window(block)}')}
    last = max(topics, key=lambda one: one.times_ns[-1])
    return Recording(tuple(topics), left_out, round(
        last.times_ns[-1] + 1e9 / (last.rate_hz or 1.0)), sha256)


def _files(path: Path) -> list[Path]:
    """Return what the hash is made of: the file, or all of a folder."""
    if not path.is_dir() and not path.is_file():
        raise TraceError('no such file or folder. A relative path begins at the folder of the '
                         'scenario file')
    files = [path] if path.is_file() else sorted(file for file in path.iterdir() if file.is_file())
    size = sum(file.stat().st_size for file in files)
    if size > MAX_FILES:
        raise TraceError(f'got {size / 1e9:.1f} GB, expected at most {MAX_FILES / 1e9:.0f}. Cut '
                         f'out what is played, as with ros2 bag convert')
    return files


def _sha256(path: Path, files: list[Path]) -> str:
    """Return the hash of a file; of a folder, of lines as ``sha256sum *`` writes them in it."""
    found = [(digest(file), file.name) for file in files]
    if not path.is_dir():
        return found[0][0]
    return hashlib.sha256(''.join(
        f'{sha256}  {name}\n' for sha256, name in found).encode()).hexdigest()


def _chosen(channels: list[Channel], block: BagBlock, kept_off: Mapping[str, str]) -> \
        tuple[list[Channel], dict[str, str]]:
    """Return what is played, and why the rest is not."""
    there: dict[str, str] = {}
    for one in channels:
        name = _plain(one.topic)
        if there.setdefault(name, one.type) != one.type:
            raise TraceError(f'{name}: got {there[name]} and {one.type}, expected one type a '
                             f'topic')
    asked = None if block.topics is None else {_plain(name) for name in block.topics}
    for name in sorted((asked or set()) | {_plain(name) for name in block.remap}):
        if name not in there:
            raise TraceError(f'got no topic {name}, expected one of '
                             f'{", ".join(sorted(there)) or "none, for the bag is empty"}.'
                             f'{did_you_mean(name, there)}')
    new_names = {_plain(name): topic for name, topic in block.remap.items()}
    left_out, chosen = dict[str, str](), list[Channel]()
    for one in channels:
        name = _plain(one.topic)
        if asked is not None and name not in asked:
            continue
        topic = new_names.get(name, name)
        why = _unplayable(one, kept_off.get(topic), asked is None)
        if why is None:
            chosen.append(one)
        elif asked is not None:
            raise TraceError(f'{name}: cannot be played: it {why}. Leave it out of topics')
        else:
            left_out[name] = why
    _refuse_merged(chosen, new_names)
    if not chosen:
        raise TraceError('got nothing that can be played: ' + (', '.join(
            f'{name} {why}' for name, why in sorted(left_out.items())) or 'the bag is empty'))
    return chosen, left_out


def _unplayable(channel: Channel, kept_off: str | None, by_default: bool) -> str | None:
    """Return why a topic is not played, None if it is."""
    name = _plain(channel.topic)
    if channel.type == _CLOCK:
        return 'carries a time, which the harness does not publish'
    if kept_off is not None:
        return kept_off
    if by_default and (name.startswith(_OF_ROS) or '/_' in f'/{name}'):
        return 'is of ROS itself'
    if by_default and name.startswith(_OF_HARNESS):
        return 'describes the trial that was recorded'
    if by_default and may_move(name, channel.type):
        return f'is of {channel.type}, by which a robot can be moved'
    try:
        channel.codec()
    except TraceError as error:
        return str(error)
    return None


def _refuse_merged(chosen: list[Channel], new_names: Mapping[str, str]) -> None:
    first: dict[str, str] = {}
    for one in chosen:
        name = _plain(one.topic)
        topic = new_names.get(name, name)
        if first.setdefault(topic, name) != name:
            raise TraceError(f'got {first[topic]} and {name} both on {topic!r}, expected one '
                             f'topic of the bag on each. Change remap')


def _read(bag: BagFiles, chosen: list[Channel], block: BagBlock) -> Iterator[RecordedTopic]:
    codecs = {one: one.codec() for one in chosen}
    found: dict[str, tuple[str, list[tuple[int, Message]]]] = {}
    topics = {one.topic for one in chosen}
    begin_ns = min((at_ns for topic, at_ns in bag.first_ns.items() if topic in topics),
                   default=0) + round(block.start_ms * 1e6)
    size = 0
    for channel, at_ns, raw in bag.messages(codecs):
        since_ns = at_ns - begin_ns
        if since_ns < 0 or block.length_ms is not None and since_ns > block.length_ms * 1e6:
            continue
        size += len(raw)
        if size > MAX_PLAYED:
            raise TraceError(f'got more than {MAX_PLAYED / 1e6:.0f} MB of messages after '
                             f'{since_ns / 1e9:.1f} s, expected at most that much to be played. '
                             f'Choose fewer topics, or set length_ms')
        message = Message.model_construct(
            type=channel.type, data=_unstamped(codecs[channel].decode(raw)))
        found.setdefault(_plain(channel.topic), (channel.type, []))[1].append((since_ns, message))
    for name, (interface_name, played) in sorted(found.items()):
        played.sort(key=itemgetter(0))
        times_ns, messages = zip(*played, strict=True)
        yield RecordedTopic(name, interface_name, times_ns, messages)


def _unstamped(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message without the stamps of its header, or of those of what it lists."""
    return {name: _header_alone(value) if name == 'header' else
            tuple(_inside(item) for item in value)
            if isinstance(value, tuple) and value and isinstance(value[0], Mapping) else value
            for name, value in data.items()}


def _inside(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**item, 'header': _header_alone(item['header'])} if 'header' in item else item


def _header_alone(header: Any) -> Any:
    return {name: value for name, value in header.items() if name != 'stamp'} \
        if isinstance(header, Mapping) else header


def _plain(name: str) -> str:
    return name.lstrip('/')


def _window(block: BagBlock) -> str:
    if not block.start_ms and block.length_ms is None:
        return ''
    end = '' if block.length_ms is None else f' to {block.start_ms + block.length_ms:g} ms'
    return f' from {block.start_ms:g} ms on{end}' if not end else \
        f' from {block.start_ms:g}{end}'
