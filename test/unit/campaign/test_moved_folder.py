# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A campaign's folder in the hands of another team, on another machine."""

import getpass
import gzip
from importlib.util import find_spec
import json
import os
from pathlib import Path
import shutil
import socket
import subprocess
import sys

import pytest
import safety_scenarios as ss
from safety_scenarios.cli.main import main
from safety_scenarios.formats.scenario_files import (
    portable,
    portable_name,
    share_folder,
    without_places,
)
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.lines import read_gzip

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
