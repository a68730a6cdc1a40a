# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Trials as a LeRobotDataset of format v3.0, which lerobot 0.4 reads; needs the extra ``table``.

One episode is one trial, one dataset one kind of robot. Images become one MP4 for each episode and
topic (extra ``film``). The same campaign gives the same bytes with the same versions.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from safety_scenarios import registry
from safety_scenarios.campaign.folder.evidence import evidence_of
from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.campaign.rejudging.rejudge import Rejudging
from safety_scenarios.controllers.policies.contract import PolicyContract
from safety_scenarios.errors import InputError, MissingDependencyError, SettingsError, TraceError
from safety_scenarios.reports.outputs.episodes import (
    Array,
    contract_used,
    Episode,
    episode_of,
    feature_of,
    names_of,
    plain_contract,
    Recorded,
    recorded,
)
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.trial.journal import read_journal

try:
    import pyarrow
    from pyarrow import parquet
except ImportError:
    raise MissingDependencyError('a LeRobot dataset', 'pyarrow',
                                 "pip install 'safety_scenarios[table]', or pip install "
                                 'pyarrow') from None

VERSION = 'v3.0'
PLAIN_FPS = 20
"""Of campaigns without a policy; with one it is the rate of its actions."""
DATA = 'data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet'
VIDEO = 'videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4'
EPISODES = 'meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet'
TASKS, INFO, STATS = 'meta/tasks.parquet', 'meta/info.json', 'meta/stats.json'
_FILES_IN_CHUNK = 1000
_QUANTILES = {'q01': 0.01, 'q10': 0.1, 'q50': 0.5, 'q90': 0.9, 'q99': 0.99}
_MOST_PICTURES = 100
"""Of an episode, for statistics of its images."""
_COUNTERS = 'frame_index', 'episode_index', 'index', 'task_index'
_INDEX = '__index_level_0__'
"""What pandas calls an index without a name."""


Tell = Callable[[str], None]


class Source(NamedTuple):
    """A campaign to export."""

    folder: Path
    found: Rejudging


@dataclass(frozen=True)
class Dataset:
    """Which trials go into one dataset, and how they are read."""

    kind: str
    """Of the robot."""
    robot: RobotModel
    contract: PolicyContract
    fps: int
    action_names: tuple[str, ...]
    trials: Sequence[tuple[Path, TrialResult]]
    """Journal and result of each."""
    notes: Sequence[str] = ()


@dataclass
class _Group:
    """Trials whose commands have the same form, and the first message on each of their topics."""

    robot: RobotModel
    trials: list[tuple[Path, TrialResult]] = field(default_factory=list)
    first: dict[str, Message] = field(default_factory=dict)


@dataclass
class _Written:
    """What is known of the episodes that have been written."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    tasks: dict[str, int] = field(default_factory=dict)
    frames: int = 0
    values: dict[str, list[Array]] = field(default_factory=lambda: defaultdict(list))
    notes: list[str] = field(default_factory=list)


def datasets_of(sources: Sequence[Source]) -> Sequence[Dataset]:
    """
    Return one dataset for each kind of robot that some campaigns commanded.

    :raises SettingsError: no trial has commands
    """
    groups: dict[tuple[str, tuple[str, ...]], _Group] = {}
    contracts, notes = list[PolicyContract | None](), list[str]()
    for source in sources:
        try:
            contracts.append(contract_used(evidence_of(source.folder).settings.controller))
        except InputError as error:
            contracts.append(None)
            notes.append(f'{source.folder}: read without the contract of its policy: {error}')
        for trial in source.found:
            result = trial.after
            path = source.folder / journal_path(result.trial_id)
            if result.warmup or not path.exists():
                continue
            read = _read(path)
            if isinstance(read, str):
                notes.append(f'{result.trial_id}: left out: {read}')
                continue
            group = groups.setdefault((read.robot.kind, read.action_names), _Group(read.robot))
            group.trials.append((path, result))
            for topic, received in read.topics.items():
                group.first.setdefault(topic, received[0].message)
    if not groups:
        raise SettingsError('--format lerobot: got no trial in which a robot was commanded, '
                            'expected at least one. Name another campaign')
    shared = contracts[0] if all(one == contracts[0] for one in contracts) else None
    found = []
    for (kind, names), group in groups.items():
        used, unread = (shared, ()) if shared is not None and shared.robot == kind \
            else plain_contract(group.robot, group.first)
        found.append(Dataset(
            kind, group.robot, used,
            PLAIN_FPS if used is not shared else max(1, round(used.rate_hz)), names,
            group.trials, [*notes, *(f'{kind}: left out, because its type is not known here: {one}'
                                     for one in unread)]))
    return found


def _read(path: Path) -> Recorded | str:
    try:
        return recorded(read_journal(path, registry.resolve))
    except TraceError as error:  # a flaw of the folder, which is reported
        return str(error)


def write_dataset(folder: Path, dataset: Dataset) -> Sequence[str]:
    """
    Write one dataset into a new folder, and return what is left out or odd.

    :raises OSError: the disk is full, or the folder is there
    :raises SettingsError: no trial has a frame
    """
    folder.mkdir(parents=True)
    done = _Written(notes=list(dataset.notes))
    data = folder / DATA.format(chunk_index=0, file_index=0)
    data.parent.mkdir(parents=True)
    features = _features(dataset)
    schema = pyarrow.schema([(name, _type(one)) for name, one in features.items()
                             if one['dtype'] != 'video'])
    with parquet.ParquetWriter(data, schema) as writer:
        for path, result in dataset.trials:
            trial = _read(path)
            episode = trial if isinstance(trial, str) else \
                episode_of(trial, dataset.contract, dataset.fps)
            if isinstance(episode, str):
                done.notes.append(f'{result.trial_id}: left out: {episode}')
                continue
            if not isinstance(trial, str) and trial.missing:
                done.notes.append(f'{result.trial_id}: {trial.missing}')
            table = _table(episode, schema, done, dataset.fps)
            writer.write_table(table)
            _add(folder, episode, result, done, dataset.fps)
    if not done.rows:
        raise SettingsError('--format lerobot: got no trial with a frame, expected at least one. '
                            + ' '.join(done.notes))
    _write_meta(folder, dataset, features, done)
    return done.notes


def _features(dataset: Dataset) -> dict[str, dict[str, Any]]:
    contract = dataset.contract
    names = {**names_of(contract, dataset.robot), 'observation.age': sorted(contract.topics),
             'action': dataset.action_names}
    found: dict[str, dict[str, Any]] = {
        name: {'dtype': 'float32', 'shape': [len(values)], 'names': list(values)}
        for name, values in names.items()}
    for name, parts in contract.inputs.items():
        if parts[0].size:
            height, width = parts[0].size
            found[feature_of(name)] = {
                'dtype': 'video', 'shape': [height, width, 3],
                'names': ['height', 'width', 'channels'], 'info': {
                    'video.height': height, 'video.width': width, 'video.codec': 'h264',
                    'video.pix_fmt': 'yuv420p', 'video.is_depth_map': False,
                    'video.fps': dataset.fps, 'video.channels': 3, 'has_audio': False}}
    return {**found, 'timestamp': {'dtype': 'float32', 'shape': [1], 'names': None}, **{
        name: {'dtype': 'int64', 'shape': [1], 'names': None} for name in _COUNTERS}}


def _type(feature: Mapping[str, Any]) -> Any:
    value = pyarrow.float32() if feature['dtype'] == 'float32' else pyarrow.int64()
    [length] = feature['shape']
    return value if length == 1 else pyarrow.list_(value, length)


def _table(episode: Episode, schema: Any, done: _Written, fps: int) -> Any:
    """Return the frames of an episode, and keep their values for statistics."""
    count = len(episode)
    numbers = numpy.arange(count, dtype=numpy.int64)
    task = done.tasks.setdefault(episode.task, len(done.tasks))
    columns: dict[str, Array] = {
        **episode.vectors, 'timestamp': (numbers / fps).astype(numpy.float32),
        'frame_index': numbers, 'episode_index': numpy.full(count, len(done.rows)),
        'index': numbers + done.frames, 'task_index': numpy.full(count, task)}
    arrays = []
    for one in schema:
        values = columns[one.name].reshape(count, -1)
        done.values[one.name].append(values)
        flat = pyarrow.array(values.ravel(), one.type if values.shape[1] == 1
                             else one.type.value_type)
        arrays.append(flat if values.shape[1] == 1 else
                      pyarrow.FixedSizeListArray.from_arrays(flat, values.shape[1]))
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _add(folder: Path, episode: Episode, result: TrialResult, done: _Written, fps: int) -> None:
    """Write the films of an episode, and keep what its row says."""
    number, count = len(done.rows), len(episode)
    row: dict[str, Any] = {
        'episode_index': number, 'tasks': [episode.task], 'length': count,
        'data/chunk_index': 0, 'data/file_index': 0, 'dataset_from_index': done.frames,
        'dataset_to_index': done.frames + count}
    chunk, file = divmod(number, _FILES_IN_CHUNK)
    for name, pictures in episode.images.items():
        path = folder / VIDEO.format(video_key=name, chunk_index=chunk, file_index=file)
        path.parent.mkdir(parents=True, exist_ok=True)
        from safety_scenarios.reports.film.encoding import encode_mp4
        encode_mp4(pictures, (pictures.shape[2], pictures.shape[1]), path, fps)
        row |= {f'videos/{name}/chunk_index': chunk, f'videos/{name}/file_index': file,
                f'videos/{name}/from_timestamp': 0.0, f'videos/{name}/to_timestamp': count / fps}
        chosen = numpy.linspace(0, count - 1, min(count, _MOST_PICTURES)).astype(int)
        done.values[name].append(pictures[chosen])
    row |= {'meta/episodes/chunk_index': 0, 'meta/episodes/file_index': 0,
            'trial_id': episode.trial_id, 'scenario_id': result.scenario_id, 'seed': result.seed,
            'controller': result.controller, 'verdict': result.verdict.value}
    for name, values in done.values.items():
        row |= {f'stats/{name}/{key}': value for key, value in statistics(values[-1:]).items()}
    done.rows.append(row)
    done.frames += count


def statistics(values: Sequence[Array]) -> dict[str, Any]:
    """
    Return the statistics of a feature over all frames, as plain lists.

    :param values: of each episode: frames x values, or frames x height x width x colours
    """
    every = numpy.concatenate(values).astype(numpy.float64)
    is_picture, count = every.ndim == 4, len(every)
    if is_picture:  # of each colour, 0 to 1
        every = every.reshape(-1, every.shape[-1]) / 255.0
    found = {'min': every.min(0), 'max': every.max(0), 'mean': every.mean(0), 'std': every.std(0),
             **{name: numpy.quantile(every, share, axis=0) for name, share in _QUANTILES.items()}}
    return {**{name: (one.reshape(-1, 1, 1) if is_picture else one).tolist()
               for name, one in found.items()}, 'count': [count]}


def _write_meta(folder: Path, dataset: Dataset, features: Mapping[str, Any],
                done: _Written) -> None:
    has_films = any(one['dtype'] == 'video' for one in features.values())
    (folder / EPISODES.format(chunk_index=0, file_index=0)).parent.mkdir(parents=True)
    parquet.write_table(pyarrow.Table.from_pylist(done.rows),
                        folder / EPISODES.format(chunk_index=0, file_index=0))
    parquet.write_table(_tasks(done.tasks), folder / TASKS)
    _write_json(folder / INFO, {
        'codebase_version': VERSION, 'robot_type': dataset.kind, 'total_episodes': len(done.rows),
        'total_frames': done.frames, 'total_tasks': len(done.tasks),
        'chunks_size': _FILES_IN_CHUNK, 'data_files_size_in_mb': 100,
        'video_files_size_in_mb': 200, 'fps': dataset.fps,
        'splits': {'train': f'0:{len(done.rows)}'}, 'data_path': DATA,
        'video_path': VIDEO if has_films else None, 'features': features})
    (folder / 'README.md').write_text(_card(dataset, done), encoding='utf-8')
    _write_json(folder / STATS, {name: statistics(values) for name, values in done.values.items()})


def _tasks(tasks: Mapping[str, int]) -> Any:
    """Return the tasks as pandas stores a table whose index they are."""
    text = {'pandas_type': 'unicode', 'numpy_type': 'object'}
    number = {'pandas_type': 'int64', 'numpy_type': 'int64'}
    described = {
        'index_columns': [_INDEX], 'pandas_version': '2.2.0', 'column_indexes': [
            {'name': None, 'field_name': None, 'metadata': {'encoding': 'UTF-8'}, **text}],
        'columns': [
            {'name': 'task_index', 'field_name': 'task_index', 'metadata': None, **number},
            {'name': None, 'field_name': _INDEX, 'metadata': None, **text}]}
    return pyarrow.table({'task_index': pyarrow.array(tasks.values(), pyarrow.int64()),
                          _INDEX: pyarrow.array(tasks, pyarrow.string())}).replace_schema_metadata(
        {'pandas': json.dumps(described)})


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=4, ensure_ascii=False, allow_nan=False),
                    encoding='utf-8')


def _card(dataset: Dataset, done: _Written) -> str:
    """Return what goes beside the data for people."""
    return '\n'.join([
        f'# {len(done.rows)} trials of a {dataset.kind}', '',
        f'A LeRobotDataset {VERSION}: {done.frames} frames at {dataset.fps} Hz, one episode for '
        'each trial, the name of its scenario as task.', '',
        'Verdict, scenario and seed of each episode are in meta/episodes.',
        *(['', 'Left out, or not complete:', ''] if done.notes else []),
        *(f'* {note}' for note in done.notes), ''])


def files(sources: Sequence[Source], tell: Tell) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """
    Yield the name of each dataset's folder, and what writes it.

    :param tell: takes a line about each trial that is left out
    """
    known = Counter[str]()
    for dataset in datasets_of(sources):
        known[dataset.kind] += 1

        def write(path: Path, dataset: Dataset = dataset) -> None:
            for note in write_dataset(path, dataset):
                tell(note)
        more = f'_{known[dataset.kind]}' if known[dataset.kind] > 1 else ''
        yield f'lerobot_{dataset.kind}{more}', write
