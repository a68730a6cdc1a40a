# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A controller in a process of its own sees neither the running campaign nor its harness."""

import json
import os
import subprocess
import sys

import pytest
import safety_scenarios as ss
from safety_scenarios.errors import ControllerError, SettingsError
from safety_scenarios.studies.conditions.replay import replay
from safety_scenarios.studies.matrix.file import freeze, matrix_of_controllers, write_matrix
from safety_scenarios.trial.links.isolated_controller import IsolatedController

SCENARIO = 'SCN-R-101'
OWN = '''
import ctypes, glob, json, os, zlib
import safety_scenarios as ss


def journals(way):
    if way == 'glob':
        return glob.glob('run*/traces/*/*.part')
    if way == 'open files':
        parent = f'/proc/{os.getppid()}/fd'
        links = [os.readlink(f'{parent}/{one}') for one in os.listdir(parent)
                 if os.path.lexists(f'{parent}/{one}')]
        return [one for one in links if one.endswith('.part')]
    library = ctypes.CDLL(None)
    library.umount2(os.path.abspath('run').encode(), 2)
    library.unshare(0x10020000)
    library.umount2(os.path.abspath('run').encode(), 2)
    return journals('glob')


def plan(way):
    for path in journals(way):
        with open(path, 'rb') as file:
            text = zlib.decompressobj(31).decompress(file.read())
        if b'\\n' in text:
            return json.loads(text.split(b'\\n', 1)[0])['trial']


class Cheat:
    """Stops for as long as the plan of its trial says, and looks at no sensor."""

    way = 'glob'

    def __init__(self):
        self.plan = self.began_ns = None

    def decide(self, observation):
        if self.began_ns is None:
            self.began_ns = observation.t_ns
            try:
                self.plan = plan(self.way)
            except OSError:
                pass
        if self.plan is None:
            return ss.Command(velocity=(0.8, 0.0))
        onset_ns = self.began_ns + self.plan['onset_delay_ns'] \\
            + self.plan['onset_phase'] * 50e6 + 100e6
        stands = onset_ns <= observation.t_ns < onset_ns + self.plan['all_clear_ns']
        return ss.Command(velocity=(0.0 if stands else 0.8, 0.0))


class ByOpenFiles(Cheat):
    way = 'open files'


class ByUnmounting(Cheat):
    way = 'unmounting'


class Stays(Cheat):
    """Looks where it is, and drives."""

    way = 'glob'

    def decide(self, observation):
        os.getcwd()
        return ss.Command(velocity=(0.8, 0.0))


class SeesOthers(Cheat):
    """Drives, and writes down what it sees of other campaigns."""

    def decide(self, observation):
        found = [path for path in glob.glob('run/**') + glob.glob('matrix/**')
                 if os.path.exists(path)]
        if found:
            with open('seen', 'w') as file:
                file.write(' '.join(found))
        return ss.Command(velocity=(0.8, 0.0))


class Reads(Cheat):
    """Drives, and writes down in which files the seed stands."""

    def decide(self, observation):
        for path in glob.glob('*.*') + glob.glob('runs/**', recursive=True):
            if os.path.isfile(path) and not path.endswith('.py'):
                with open(path, 'rb') as file:
                    text = file.read()
                if b'987654321' in text:
                    with open('leaked', 'a') as file:
                        file.write(f'{path}: {text[:500]}')
        return ss.Command(velocity=(0.8, 0.0))
'''
WITH_HELPER = '''
import glob, os, time
import own_cheat


def wait_for(name):
    for _ in range(1000):
        if os.path.exists(name):
            return
        time.sleep(0.01)


if os.fork() == 0:  # a process that no end of the controller ends
    try:
        os.setsid()
        os.closerange(0, 256)
        wait_for('asked')
        with open('telling', 'w') as file:
            file.write(' '.join(glob.glob('run/**', recursive=True)))
        os.rename('telling', 'told')
    finally:
        os._exit(0)


class Asks(own_cheat.Cheat):
    """Lets the process that its import began look at the files of the campaign."""

    def decide(self, observation):
        open('asked', 'w').close()
        wait_for('told')
        return own_cheat.ss.Command(velocity=(0.8, 0.0))
'''
SEED = '987654321'
REFUSES = """
import ctypes, os, sys
user, library = os.geteuid(), ctypes.CDLL(None)
if library.unshare(0x10000000) == 0:  # where this fails, so does what is to be refused
    for name, text in (('self/uid_map', f'0 {user} 1'), ('sys/user/max_mnt_namespaces', '0')):
        with open(f'/proc/{name}', 'w') as file:
            file.write(text)
os.execv(sys.executable, [sys.executable, '-c', 'import sys; from safety_scenarios.cli.main '
                          'import main; sys.exit(main())', *sys.argv[1:]])
"""
IS_REFUSED = subprocess.run(
    [sys.executable, '-c', 'import sys; from safety_scenarios.trial.links.hidden_places import '
     'hide; sys.exit(hide([]))'], capture_output=True, text=True).stderr.strip()
hides = pytest.mark.skipif(bool(IS_REFUSED), reason=f'no mount namespace here: {IS_REFUSED}')


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Stand in a folder with a module of the user's."""
    (tmp_path / 'own_cheat.py').write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    import own_cheat
    yield own_cheat
    del sys.modules['own_cheat']


@hides
@pytest.mark.parametrize('name', ['Cheat', 'ByOpenFiles', 'ByUnmounting'])
@pytest.mark.parametrize('kind', ['name', 'class', 'closure', 'worker'])
def test_whoever_would_read_the_plan_fails(own, name, kind):
    cheat = getattr(own, name)()
    results = ss.run(SCENARIO, controller={
        'name': f'own_cheat:{name}', 'worker': f'own_cheat:{name}', 'class': getattr(own, name),
        'closure': lambda observation: cheat.decide(observation)}[kind],
        link='loopback', seed=7, output='run', jobs=2 if kind == 'worker' else 1)
    assert results.verdict is ss.Verdict.FAIL, results.trials[0].reason
    assert not results.summary.readable


@hides
def test_a_process_that_began_with_the_plan_sees_no_more(own, tmp_path):
    """The controller is imported when the campaign is planned, before there is a folder."""
    (tmp_path / 'own_helper.py').write_text(WITH_HELPER)
    results = ss.run(SCENARIO, controller='own_helper:Asks', link='loopback', output='run')
    assert results.verdict is ss.Verdict.FAIL, results.trials[0].reason
    assert (tmp_path / 'told').read_text() in ('', 'run/')


@hides
@pytest.mark.parametrize('before', ['run', 'matrix/arm'])
def test_a_replay_does_not_see_the_campaign_that_it_repeats(own, tmp_path, before):
    if before != 'run':
        (tmp_path / 'matrix').mkdir()
        write_matrix(freeze(matrix_of_controllers(['a', 'b'], [SCENARIO])), tmp_path / 'matrix')
    ss.run(SCENARIO, controller='own_cheat:SeesOthers', link='loopback', output=before)
    (tmp_path / 'seen').unlink(missing_ok=True)  # a campaign hides its own folder alone
    replay(tmp_path / before, f'{SCENARIO}:0', output=tmp_path / 'again')
    assert not (tmp_path / 'seen').exists(), (tmp_path / 'seen').read_text()


@pytest.mark.parametrize('thing', ['own_cheat:Cheat', None])
def test_what_is_not_there_cannot_be_hidden_and_that_is_stated(own, tmp_path, thing):
    (tmp_path / 'file').touch()
    with IsolatedController(thing or '', thing=None if thing else lambda observation: None,
                            hidden=(tmp_path / 'file' / 'run',)) as process:
        process.beginning('load', (thing or '', None))
        assert 'only what exists can be hidden' in process.readable or IS_REFUSED


def test_in_the_process_of_the_harness_it_passes(own):
    """Else the tests above would show nothing."""
    assert ss.run(SCENARIO, controller='own_cheat:Cheat', isolate=False, link='loopback', seed=7,
                  output='run').verdict is ss.Verdict.PASS


def test_a_refusal_of_the_kernel_is_stated(own, tmp_path):
    ran = subprocess.run(
        [sys.executable, '-c', REFUSES, 'run', SCENARIO, '--link', 'loopback', '--seed', '7',
         '--controller', 'own_cheat:Cheat', '--output', 'run'],
        capture_output=True, text=True, timeout=300, env={
            **os.environ, 'COLUMNS': '500', 'SAFETY_SCENARIOS_REPORT': 'on'})
    assert ran.returncode == 0, ran
    assert "the controller could read this campaign's files" in ran.stdout, ran
    assert json.loads((tmp_path / 'run' / 'campaign.json').read_text())['readable']
    assert 'The controller could read this campaign' in (
        tmp_path / 'run' / 'report.html').read_text()


def test_a_working_directory_in_the_folder_stays_and_is_stated(own, tmp_path, monkeypatch):
    (tmp_path / 'run').mkdir()
    monkeypatch.chdir(tmp_path / 'run')
    results = ss.run(SCENARIO, controller='own_cheat:Stays', link='loopback', seed=7, output='.')
    assert results.verdict is ss.Verdict.FAIL, results.trials[0].reason
    assert results.summary.readable


@pytest.mark.parametrize('words', [
    ('run', SCENARIO, '--trials', '2', '--junit', 'junit.xml', '--verbose'),
    ('search', SCENARIO, '--trials', '3', '--no-film')], ids=lambda words: words[0])
@hides
def test_no_file_that_is_in_sight_names_the_seed(own, tmp_path, words):
    """As the console did, and a JUnit file; by the seed every plan can be computed."""
    with (tmp_path / 'console.log').open('wb') as log:
        ran = subprocess.run(
            [sys.executable, '-c', 'import sys; from safety_scenarios.cli.main import main; '
             'sys.exit(main())', *words, '--link', 'loopback', '--seed', SEED, '--controller',
             'own_cheat:Reads'], stdout=log, stderr=log, timeout=300)
    shown = (tmp_path / 'console.log').read_text()
    assert ran.returncode == 1, shown
    assert not (tmp_path / 'leaked').exists(), (tmp_path / 'leaked').read_text()
    assert SEED in shown
    if words[0] == 'run':
        assert SEED in (tmp_path / 'junit.xml').read_text()


THREADED = """
import subprocess, sys, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
subprocess.run([sys.executable, '-c', sys.argv[1]])
"""
LOOKS = """
import os
from safety_scenarios.trial.links.hidden_places import hide
tasks = os.listdir(f'/proc/{os.getppid()}/task')
assert len(tasks) > 1
why = hide([])
print(why or [task for task in tasks if os.path.exists(f'/proc/{task}/cmdline')])
"""


@hides
def test_the_command_line_of_a_launch_file_is_not_seen_by_its_threads_either():
    assert subprocess.run([sys.executable, '-c', THREADED, LOOKS, 'seed:=7'], timeout=60,
                          capture_output=True, text=True, check=True).stdout.strip() == '[]'


def test_where_it_was_hidden_when_it_was_planned_it_must_be_hidden_when_it_runs(own, tmp_path):
    with IsolatedController('own_cheat:Cheat', hidden=(tmp_path,), is_demanded=True) as process, \
            pytest.raises(ControllerError, match='but not where it runs'):
        process.beginning('load', ('own_cheat:Cheat', None))
    assert not process.is_running


def test_a_campaign_that_is_refused_leaves_no_folder(own, tmp_path):
    with pytest.raises(SettingsError):
        ss.run(SCENARIO, controller=own.Cheat, controller_parameters=['way=2'], trials=0,
               link='loopback', output='run')
    assert not (tmp_path / 'run').exists()
