# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A pipe in a folder is named, and nobody waits for what will never come out of it."""

import os
from pathlib import Path
import shutil
import threading

import pytest
from safety_scenarios.cli.main import main
from unit.loopback_runs import loopback_run

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
