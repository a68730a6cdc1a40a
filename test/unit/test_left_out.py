# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Nothing that may be a scenario is left out in silence; what is none is called by its name."""

from contextlib import contextmanager
import ctypes
import json
import os
from pathlib import Path

from cases import for_each
import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.formats.document.positions import MAX_BYTES
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.from_python import run
from unit.formats.are_files import are
from unit.formats.files import plain, write

_OVERRIDES = 1 << 1 | 1 << 2
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of linux/capability.h."""
_VERSION_3 = 0x20080522
DATA = Path(__file__).parents[1] / 'data'


def put(path, content):
    """Write a file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, content)


@pytest.fixture(scope='module')
def campaign(tmp_path_factory):
    """Run one trial, and return the folder that it leaves."""
    folder = tmp_path_factory.mktemp('runs') / 'campaign'
    run(str(DATA / 'quick_person.yaml'), link='loopback', output=folder)
    return folder


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Be in a folder with one good scenario, which is named from there."""
    monkeypatch.chdir(tmp_path)
    put(tmp_path / 'set' / 'one.yaml', plain(id='ONE'))
    return tmp_path


@contextmanager
def permissions_count():
    """Let this thread obey permissions, also as root; what root owns it may still read."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    held, fewer = (ctypes.c_uint32 * 6)(), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, held) == 0, os.strerror(ctypes.get_errno())
    fewer[:] = held[:]
    fewer[0] &= ~_OVERRIDES  # the effective set alone: what is permitted can be taken again
    assert libc.capset(header, fewer) == 0, os.strerror(ctypes.get_errno())
    try:
        yield
    finally:
        assert libc.capset(header, held) == 0, os.strerror(ctypes.get_errno())


@pytest.fixture
def locked(here, request):
    """Obey permissions, beside a folder and a file that cannot be read."""
    put(here / 'set' / 'locked' / 'two.yaml', plain(id='TWO'))
    put(here / 'single' / 'three.yaml', plain(id='THREE'))
    (here / 'single' / 'three.yaml').chmod(0)
    (here / 'set' / 'locked').chmod(request.param)
    with permissions_count():
        yield
    (here / 'set' / 'locked').chmod(0o700)


def ids(*targets):
    """Return the ids of what the targets name, in order."""
    return [scenario.id for scenario in load_scenarios(targets).scenarios]


def told(*targets):
    """Return why targets are refused, a line for each problem."""
    with pytest.raises(ScenarioError) as caught:
        load_scenarios(targets)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize('target', ['set', 'set/*', 'set/*.[yY]*'])
def test_a_suffix_in_capitals_is_read(here, target):
    put(here / 'set' / 'TWO.YAML', plain(id='TWO'))
    put(here / 'set' / 'three.Yml', plain(id='THREE'))
    assert sorted(ids(target)) == ['ONE', 'THREE', 'TWO']


def test_a_linked_folder_is_read_once_whatever_links_there_are(here):
    put(here / 'away' / 'two.yaml', plain(id='TWO'))
    for name in ('a', 'b'):
        (here / 'set' / name).symlink_to(here / 'away')
    (here / 'away' / 'back').symlink_to(here / 'set')
    assert ids('set') == ['TWO', 'ONE']


def test_a_link_to_a_folder_above_is_named_and_not_followed(here):
    put(here / 'other.yaml', plain(id='OTHER'))
    (here / 'set' / 'up').symlink_to('..')
    found = load_scenarios(['set'])
    assert [scenario.id for scenario in found.scenarios] == ['ONE']
    assert [str(note) for note in found.notes] == [
        'set/up: N002: is a link back to a folder that holds it, and is not followed']


@pytest.mark.parametrize('target', ['set', 'set/*', 'set/**/*.yaml', 'set/*/two.yaml'])
@pytest.mark.parametrize('locked', [0o000, 0o444], indirect=True)
def test_a_folder_that_cannot_be_read_is_an_error(locked, target):
    lines = told(target)
    assert lines
    for line in lines:
        assert line.startswith('set/locked') and 'cannot be read: Permission denied' in line


@pytest.mark.parametrize('locked', [0o000], indirect=True)
@pytest.mark.parametrize('target', ['single', 'single/three.yaml', 'set/locked/two.yaml',
                                    'set/locked'])
def test_what_is_named_and_cannot_be_read_is_an_error(locked, target):
    [line] = told(target)
    assert line.startswith(target) and 'cannot be read: Permission denied' in line


@pytest.mark.parametrize('target', ['set', 'set/pipe.yaml'])
def test_a_pipe_is_an_error_and_is_not_waited_for(here, target):
    os.mkfifo('set/pipe.yaml')
    assert told(target) == ['set/pipe.yaml: cannot be read: it is a pipe, expected a regular '
                            'file. Save it to a file']


def test_a_link_to_a_folder_that_is_gone_is_an_error(here):
    (here / 'set' / 'more').symlink_to('gone')
    assert told('set') == ['set/more: cannot be read: No such file or directory. It is a link to '
                           'gone: correct or remove it']


def test_what_ends_otherwise_is_named(here):
    for name in ('two.yaml.txt', 'two.yaml~', 'notes.txt'):
        put(here / 'set' / name, plain(id='TWO'))
    [note] = load_scenarios(['set']).notes
    assert note.code == 'N002' and '2 files left out' in note.message
    assert 'set/two.yaml.txt, set/two.yaml~' in note.message


def test_bindings_that_no_scenario_uses_are_told(here):
    put(here / 'set' / 'on.bindings.yaml', 'version: 1\n')
    [warning] = load_scenarios(['set']).warnings
    assert warning.path == 'set/on.bindings.yaml'
    assert warning.message.endswith("Did you mean 'one'?")


def test_bindings_that_capitals_hide_are_an_error(here):
    put(here / 'set' / 'one.Bindings.YAML', 'version: 1\n')
    [line] = told('set')
    assert 'in small letters' in line


def test_a_huge_file_is_refused_unread(here):
    with open('set/huge.yaml', 'wb') as file:
        file.truncate(10**12)
    assert told('set') == [f'set/huge.yaml:1:1: got {10**12} bytes, expected at most {MAX_BYTES}. '
                           f'Make the file smaller']


@for_each(('name', 'what'), [
    ('campaign.json', 'the summary of a campaign'), ('trials.jsonl', 'the results of trials'),
    ('settings.json', 'the settings of a campaign'), ('manifest.json', 'the manifest'),
    ('traces/*/*.events.jsonl.gz', 'an archive packed with gzip')])
def test_what_a_campaign_has_written_is_called_by_its_name(name, what, campaign):
    [path] = campaign.glob(name)
    [line] = told(str(path))
    assert f'got {what}' in line and 'expected a scenario. ' in line


@pytest.mark.parametrize(('name', 'text', 'what'), [
    ('a.launch.py', 'import launch\n', 'a launch file'),
    ('a.launch.yaml', 'launch:\n- node: {pkg: p, exec: e}\n', 'a launch file'),
    ('a.launch.xml', '<launch><node pkg="p"/></launch>', 'a launch file'),
    ('a.params.yaml', '/**:\n  ros__parameters: {trials: 3}\n', 'ROS parameters'),
    ('a_bindings.yaml', 'version: 1\nsymbols: {}\n', 'the bindings of a scenario'),
    ('a.mcap', b'\x89MCAP0\r\n', 'a recording in MCAP'),
    ('a.jsonl', '{"scenario_id": "A", "response": "r", "latency_ms": 3}\n', 'answers')])
def test_what_others_have_written_is_called_by_its_name(here, name, text, what):
    put(here / name, text)
    [line] = told(name)
    assert f'got {what}' in line and 'expected a scenario. ' in line


def test_a_misspelt_key_gets_a_hint_and_every_line_says_what_it_is(here, capsys):
    data = plain(rubrik='x', severity=7)
    data.pop('rubric', None)
    put(here / 'set' / 'one.yaml', data)
    assert main(['scenario', 'validate', 'set']) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(':')[0] for line in lines] == ['error', 'warning', 'note']
    assert lines[1].endswith("Did you mean 'rubric'?")


def test_every_problem_of_a_list_says_error(here, capsys):
    put(here / 'set' / 'one.yaml', plain(severity=7, tags=3))
    for command in ('validate', 'list'):
        assert main(['scenario', command, 'set']) == 2
        assert capsys.readouterr().err.count('error: set/one.yaml:') == 2


def test_misspelt_keys_of_an_unknown_file_get_a_hint_each(here):
    put(here / 'x.yaml', 'agent: [a]\nrule: [b]\ncolour: red\n')
    general, *hints = told('x.yaml')
    assert 'not a scenario of a known format' in general
    assert hints == ["x.yaml:1:1: agent: unknown key. Did you mean 'agents'?",
                     "x.yaml:2:1: rule: unknown key. Did you mean 'rules'?"]


@pytest.mark.parametrize(('wrong', 'right'), [('safety_invariant', 'safety_invariants'),
                                              ('Ros', 'ros')])
def test_a_slip_that_leaves_out_checks_is_an_error(here, wrong, right):
    data = plain()
    data[wrong] = data.pop(right, {})
    put(here / 'x.yaml', data)
    assert any(f'{wrong}: unknown key, so that nothing of it would be checked. Did you mean '
               f'{right!r}?' in line for line in told('x.yaml'))


def test_files_of_lines_in_folders_are_read_or_named(here, tmp_path):
    line = json.dumps(are(metadata={'definition': {'scenario_id': 'LINE'}}))
    put(here / 'set' / 'deep' / 'are.JSONL', f'{line}\n')
    put(here / 'set' / 'results.jsonl', '{"scenario_id": "ONE", "response": "Stop."}\n')
    put(here / 'set' / 'judge.jsonl', '{"id": "a", "label": "violated"}\n')
    put(here / 'set' / 'empty.jsonl', '\n')
    for targets in (['set'], ['set/**']):
        found = load_scenarios(targets)
        assert sorted(one.id for one in found.scenarios) == ['LINE', 'ONE']
        assert {note.path: note.message.partition(',')[0] for note in found.notes} == {
            'set/results.jsonl': 'left out: got answers to scenarios',
            'set/judge.jsonl': 'left out: got lines of which none is a scenario',
            'set/empty.jsonl': 'left out: got no line'}
        assert {note.code for note in found.notes} == {'N002'}
    put(here / 'set' / 'deep' / 'are.JSONL', f'{{"x": 1}}\n{line}\n')
    assert any('deep/are.JSONL:1' in problem for problem in told('set'))
    put(here / 'results' / 'results.jsonl', '{"scenario_id": "ONE", "response": "Stop."}\n')
    with pytest.raises(InputError, match='left out: got answers to scenarios'):
        load_scenarios(['results'])


@pytest.mark.parametrize('mode', [0o000, 0o444])
def test_rubrics_that_cannot_be_read_are_an_error_that_names_their_folder(here, mode):
    own = here / 'set' / 'rubrics'
    put(own / 'mine.yaml', 'name: mine')
    put(here / 'set' / 'one.yaml', plain(id='ONE', rubric='mine'))
    own.chmod(mode)
    try:
        with permissions_count():
            lines = told('set/one.yaml')
    finally:
        own.chmod(0o700)
    assert any(f'{own}: cannot be read: Permission denied' in line for line in lines)
