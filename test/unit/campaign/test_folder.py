# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The files of a folder: odd texts, a full disk, and a pipe that nobody waits for."""

from contextlib import closing
import os
from pathlib import Path
import resource
import shutil
import threading

import pytest
from safety_scenarios.campaign.folder.files import journal_path, TrialFiles, write_whole
from safety_scenarios.campaign.folder.folder import lines_of, read_trials, RunFolder
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.cli.main import main
from safety_scenarios.errors import TraceError
from safety_scenarios.judging.evaluate import evaluate
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
