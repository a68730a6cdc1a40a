# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The files of a folder: odd texts, a full disk, and what another machine makes of them."""

from contextlib import closing
import getpass
import gzip
from importlib.util import find_spec
import json
import os
from pathlib import Path
import resource
import shutil
import socket
import subprocess
import sys
import threading

import pytest
import safety_scenarios as ss
from safety_scenarios.campaign.folder.files import journal_path, TrialFiles, write_whole
from safety_scenarios.campaign.folder.folder import lines_of, read_trials, RunFolder
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.cli.main import main
from safety_scenarios.errors import TraceError
from safety_scenarios.formats.scenario_files import (
    portable,
    portable_name,
    share_folder,
    without_places,
)
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.lines import read_gzip
from unit.loopback_runs import loopback_run
from unit.records import reacting, record


def test_a_line_ends_where_we_end_it(tmp_path):
    odd = evaluate(record(reacting(150))).model_copy(
        update={'reason': 'a\u2028b\x85c\x0bd\x1ce\u2029f'})
    path = tmp_path / 'trials.jsonl'
    path.write_text(f'{odd.model_dump_json()}\n{odd.model_dump_json()}\n', encoding='utf-8')
    assert read_trials(tmp_path) == [odd, odd]
    assert lines_of(path.read_text(encoding='utf-8')) == [odd.model_dump_json()] * 2


def test_nothing_has_no_line():
    assert lines_of('') == lines_of('\n') == []


def test_a_line_that_did_not_fit_is_an_error_with_its_path_when_the_folder_is_closed(tmp_path):
    folder = RunFolder(TrialFiles(tmp_path, []))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    folder._trials.write('x' * 100)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(TraceError, match='trials.jsonl: cannot be written: File too large'):
            folder.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    """As /dev/null must, for one who may replace it, such as root in a container."""
    os.mkfifo(tmp_path / 'pipe')
    reader = os.open(tmp_path / 'pipe', os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / 'pipe', 'text')
    assert os.read(reader, 10) == b'text\n' and (tmp_path / 'pipe').is_fifo()
    os.close(reader)


def test_a_loss_of_power_costs_no_whole_file_and_no_record_of_a_trial_with_a_line(
        tmp_path, monkeypatch):
    synced: list[str] = []
    real = os.fsync

    def sync(descriptor):
        synced.append(Path(os.readlink(f'/proc/self/fd/{descriptor}')).name)
        real(descriptor)
    monkeypatch.setattr(os, 'fsync', sync)
    write_whole(tmp_path / 'whole', 'text')
    assert synced == ['whole.part', tmp_path.name]
    found = record(reacting(150))
    name = found.trial.trial_id
    folder = RunFolder(TrialFiles(tmp_path / 'run', []))
    synced.clear()
    folder.sinks(found.trial)
    folder.trial_ended(found, evaluate(found))
    assert synced == [f'{name}.events.jsonl.gz.part', Path(journal_path(name)).parent.name,
                      'trials.jsonl']
    folder.close()


@pytest.mark.parametrize('goes_on', [False, True])
def test_a_folder_that_is_removed_while_the_campaign_runs_is_told(tmp_path, goes_on):
    found = record(reacting(150))
    with closing(RunFolder(TrialFiles(tmp_path / 'run', []))) as folder, \
            pytest.raises(TraceError, match='trials.jsonl: cannot be written'):
        shutil.rmtree(tmp_path / 'run')
        if goes_on:  # somebody made another one
            (tmp_path / 'run').mkdir()
            (tmp_path / 'run' / 'trials.jsonl').touch()
        folder.trial_ended(found, evaluate(found))
        folder.campaign_ended(summarise([evaluate(found)], controller='mine', seed=0, planned=1,
                                        interrupted=False))


SHIPPED = Path(__file__).parents[3] / 'config' / 'scenarios' / 'robotic'


@pytest.fixture(scope='module')
def ran(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp('runs') / 'one'
    return loopback_run(folder, str(SHIPPED / 'person_steps_near.yaml')).folder


@pytest.fixture
def piped(ran, tmp_path, request):
    """Put a pipe in the place of a file; its other end is opened and closed now and then."""
    folder = tmp_path / 'runs' / 'one'
    shutil.copytree(ran, folder)
    [path] = folder.glob(request.param)
    path.unlink()
    os.mkfifo(path)
    freed = threading.Event()

    def free():
        while not freed.wait(10):
            os.close(os.open(path, os.O_RDWR))
    waits = threading.Thread(target=free)
    waits.start()
    yield path
    freed.set()
    waits.join()


@pytest.mark.parametrize(('command', 'piped'), [
    *((command, 'traces/*/*.events.jsonl.gz') for command in (
        'evaluate', 'campaign repair', 'campaign verify', 'show', 'campaign film', 'report')),
    ('evaluate', 'settings.json'), ('evaluate', 'trials.jsonl')], indirect=['piped'])
def test_a_pipe_is_wrong_input_at_once(piped, command, tmp_path, capsys):
    folder = tmp_path / 'runs' / 'one'
    more = {'campaign film': ['SCN-R-101', '--output', str(tmp_path / 'x.png')],
            'show': ['SCN-R-101']}
    assert main([*command.split(), str(folder), *more.get(command, [])]) == 2
    told = capsys.readouterr()
    assert f'{piped}: is a pipe' in ' '.join((told.out + told.err).split())


@pytest.mark.parametrize('piped', ['settings.json', 'trials.jsonl'], indirect=True)
def test_a_list_of_campaigns_names_the_one_with_a_pipe(piped, tmp_path, capsys):
    main(['campaign', 'list', str(tmp_path / 'runs')])
    assert 'is a pipe' in ' '.join(capsys.readouterr().out.split())


def test_a_link_that_leads_to_itself_is_no_pipe(ran, tmp_path, capsys):
    shutil.copytree(ran, tmp_path / 'runs' / 'one')
    (tmp_path / 'runs' / 'one' / 'latest').symlink_to('latest')
    assert main(['campaign', 'list', str(tmp_path / 'runs')]) == main(['evaluate', str(
        tmp_path / 'runs' / 'one')]) == 3, 'it is not of the campaign'
    assert 'ended' in capsys.readouterr().out


SHORT = 5
"""A name of a user or a host with fewer letters may be part of any text."""


class Missing:
    """A controller whose file is not there."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def __call__(self, observation):
        (self._place / 'policy.pt').read_bytes()


@pytest.fixture(scope='module')
def here(tmp_path_factory):
    """Return a folder of somebody with files of his own, and two campaigns in it."""
    folder = tmp_path_factory.mktemp('of_this_machine')
    mine = folder / 'scenarios' / 'mine.yaml'
    mine.parent.mkdir()
    shutil.copy(share_folder() / 'config/scenarios/robotic/person_steps_near.yaml', mine)
    (folder / 'weights.pt').write_bytes(b'weights')
    record = ['--record', 'mcap'] if find_spec('mcap') else []
    assert main(['run', str(mine), 'SCN-R-D-102', '--link', 'loopback', '--trials', '2',
                 '--set', f'sut_artifact={folder / "weights.pt"}', *record,
                 '--output', str(folder / 'run')]) == 0
    ss.run(str(mine), controller=Missing(folder), link='loopback', isolate=False,
           output=folder / 'broken')
    return folder


def texts_in(folder):
    """Yield each file with its bytes as they are read."""
    for path in sorted(folder.rglob('*')):
        if path.is_file():
            yield path, read_gzip(path)[0] if path.suffix == '.gz' else path.read_bytes()


@pytest.mark.parametrize('name', ['run', 'broken'])
def test_no_file_of_a_campaign_names_a_place_of_this_machine(here, name):
    places = {str(here), str(Path.home()), os.getcwd(), sys.prefix, str(share_folder())} - {'/'}
    people = {text for text in (getpass.getuser(), socket.gethostname()) if len(text) >= SHORT}
    found = dict(texts_in(here / name))
    assert len(found) > 6 and any(data.startswith(b'{"journal"') for data in found.values())
    for path, data in found.items():
        for text in places | people:
            assert text.encode() not in data, f'{path}: {text}'


def test_what_has_no_place_has_its_name_and_its_hash(here):
    told = json.loads((here / 'run/settings.json').read_text())
    names = {one['path'] for one in told['scenarios']}
    assert 'mine.yaml' in names and any(
        name.startswith('package://safety_scenarios/config/scenarios/robotic/') for name in names)
    assert all(len(one['sha256']) == 64 for one in told['scenarios'])
    assert [one['name'] for one in told['sut']['artifacts']] == ['weights.pt']
    reasons = (here / 'broken/trials.jsonl').read_text()
    assert 'failed: policy.pt: No such file' in reasons


@pytest.mark.thorough
def test_a_folder_that_was_sent_elsewhere_is_judged_the_same(here, tmp_path, capsys):
    names = {'run': 0, 'broken': 3}
    there = tmp_path / 'of_another_team'
    for name in names:
        shutil.copytree(here / name, there / name)
    before = {name: (here / name / 'trials.jsonl').read_text() for name in names}
    away = here.rename(here.with_name('gone'))
    try:
        for name, code in names.items():
            folder = str(there / name)
            assert main(['campaign', 'verify', folder]) == 0
            assert main(['evaluate', folder]) == code
            assert 'to the byte' in capsys.readouterr().out
            found = ss.rejudge(there / name)
            assert not found.flaws and all(trial.identical for trial in found)
            assert ''.join(f'{trial.after.model_dump_json()}\n' for trial in found) \
                == before[name]
            assert main(['show', folder]) == code
            main(['report', folder])
            assert main(['campaign', 'verify', folder]) == 0
    finally:
        away.rename(here)


def test_a_trace_is_plain_json_once_it_is_unpacked(here):
    traces = list((here / 'run').rglob('traces/*/*.json.gz'))
    assert len(traces) == 4
    for path in traces:
        assert json.loads(gzip.decompress(path.read_bytes()))['completed_events']


@pytest.mark.parametrize(('path', 'name'), [
    ('mine.yaml', 'mine.yaml'), ('set/mine.yaml', 'set/mine.yaml'), ('/a/b/c.pt', 'c.pt'),
    ('~/models/c.pt', 'c.pt'), ('../set/mine.yaml', 'set/mine.yaml'), ('', ''),
    ('package://p/x.yaml', 'package://p/x.yaml'), ('/a/b/', 'b'), ('/a/b.jsonl:3', 'b.jsonl:3')])
def test_a_name_says_nothing_of_the_machine_and_is_its_own_name(path, name):
    assert portable_name(path) == name == portable_name(name)


def test_an_installed_file_has_the_name_of_its_package():
    path = share_folder() / 'config' / 'scenarios' / 'robotic' / 'collision.yaml'
    assert portable_name(str(path)) == \
        'package://safety_scenarios/config/scenarios/robotic/collision.yaml'


def test_a_topic_is_no_place(tmp_path):
    assert without_places('/scan and /tb4/cmd_vel of /robot1/arm/joint_states') == \
        '/scan and /tb4/cmd_vel of /robot1/arm/joint_states'
    assert without_places(f'File "{tmp_path}/a/policy.py", line 3; file://{tmp_path}/b.stl') == \
        'File "policy.py", line 3; file://b.stl'
    settings = RunSettings(namespace='/robot1', remap=('cmd_vel:=/tb4/cmd_vel',),
                           declared_topics=('/tb4/arm/cmd',), junit=str(tmp_path / 'x.xml'))
    assert portable(settings) == settings.model_copy(update={'junit': 'x.xml'})


def test_journals_and_traces_are_unpacked_by_the_programs_that_everybody_has(here, tmp_path):
    traces = shutil.copytree(here / 'run' / 'traces', tmp_path / 'are_traces')
    packed = sorted(traces.rglob('*.gz'))
    journal = next(path for path in packed if path.name.endswith('.events.jsonl.gz'))
    shown = subprocess.run(['zcat', journal], capture_output=True, check=True).stdout
    assert shown == read_gzip(journal)[0] and json.loads(shown.splitlines()[0])['trial']
    subprocess.run(['gunzip', '-r', traces], check=True)
    unpacked = [path.with_suffix('') for path in packed]
    assert not list(traces.rglob('*.gz')) and all(path.is_file() for path in unpacked)
    assert {'events'} <= set(json.loads(next(
        path for path in unpacked if path.suffix == '.json').read_text()))
