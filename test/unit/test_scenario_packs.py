# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Scenario packs of other packages: overlay and underlay, prefixes twice, and broken files."""

from collections.abc import Callable
import json
import os
from pathlib import Path
from typing import Any

import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.formats.loading import load_scenarios, look_through
from unit.formats.files import plain, write

pytestmark = pytest.mark.slow
Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path) -> Install:
    """Return what installs a package with a pack below a prefix, and gives its folder."""
    def installed(prefix: str, package: str, **scenarios: Any) -> Path:
        index = tmp_path / prefix / 'share/ament_index/resource_index/safety_scenarios_pack'
        folder = tmp_path / prefix / 'share' / package / 'scenarios' / package
        index.mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True)
        (index / package).write_text(f'share/{package}/scenarios\n', encoding='utf-8')
        for name, text in scenarios.items():
            write(folder / f'{name}.yaml', text)
        return folder
    return installed


def sourced(monkeypatch, *prefixes: object) -> None:
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(map(str, prefixes)))


def path_of(target: str) -> str:
    [scenario] = load_scenarios([target]).scenarios
    return scenario.origin.path


def test_a_prefix_that_is_listed_under_several_names_counts_once(install, tmp_path, monkeypatch):
    folder = install('install', 'harbour', a=plain(id='CRANE-1'))
    (tmp_path / 'link').symlink_to(tmp_path / 'install')
    sourced(monkeypatch, tmp_path / 'install', f'{tmp_path}/install/', tmp_path / 'link',
            f'{tmp_path}/link/../install')
    assert path_of('CRANE-1') == str(folder / 'a.yaml')
    assert not look_through().problems


@pytest.mark.slow
def test_of_a_package_only_its_overlay_counts(install, tmp_path, monkeypatch):
    install('under', 'harbour', a=plain(id='CRANE-1'), gone=plain(id='CRANE-OLD'))
    over = install('over', 'harbour', a=plain(id='CRANE-1', name='newer'))
    sourced(monkeypatch, tmp_path / 'over', tmp_path / 'under')
    assert path_of('CRANE-1') == str(over / 'a.yaml')
    with pytest.raises(InputError, match='no such file, folder or scenario id'):
        path_of('CRANE-OLD')
    assert not look_through().problems


def test_one_id_in_two_packages_is_refused_with_both_files(install, tmp_path, monkeypatch):
    files = [install('under', name, a=plain(id='CRANE-1')) / 'a.yaml'
             for name in ('harbour', 'quay')]
    sourced(monkeypatch, tmp_path / 'under')
    with pytest.raises(InputError) as error:
        path_of('CRANE-1')
    assert all(str(file) in str(error.value) for file in files)
    [problem] = look_through().problems
    assert all(str(file) in str(problem) for file in files)


def test_two_packages_that_link_to_one_file_hold_one_scenario(install, tmp_path, monkeypatch):
    folder = install('under', 'harbour', a=plain(id='CRANE-1'))
    (install('under', 'quay') / 'same.yaml').symlink_to(folder / 'a.yaml')
    sourced(monkeypatch, tmp_path / 'under')
    assert path_of('CRANE-1') == str(folder / 'a.yaml')


@pytest.fixture
def half_broken(install, tmp_path, monkeypatch) -> Path:
    """Install a pack with a good file, a broken one, and one that claims an id and is broken."""
    folder = install('under', 'harbour', good=plain(id='CRANE-1'), bad='id: [',
                     claims=plain(id='CRANE-2', severity=7))
    sourced(monkeypatch, tmp_path / 'under')
    return folder


def test_list_shows_a_broken_file_as_broken_and_all_others(half_broken, capsys):
    assert main(['scenario', 'list']) == 0
    shown = capsys.readouterr()
    assert 'SCN-R-101' in shown.out and 'CRANE-1' in shown.out
    rows = [line for line in shown.out.splitlines() if 'BROKEN' in line]
    assert [name for name in ('bad.yaml', 'claims.yaml') for row in rows if name in row] == [
        'bad.yaml', 'claims.yaml']
    assert 'claims.yaml' in shown.err and 'severity: got 7' in shown.err
    assert main(['scenario', 'list', 'harbour']) == 2
    assert 'CRANE-1' in capsys.readouterr().out


def test_a_run_of_a_whole_set_never_leaves_out_a_broken_file(half_broken, tmp_path, capsys):
    assert main(['run', 'harbour', '--link', 'loopback', '--output', str(tmp_path / 'o')]) == 2
    assert 'bad.yaml' in capsys.readouterr().err
    assert not (tmp_path / 'o').exists()


def test_a_link_to_a_file_that_is_gone_is_not_silently_left_out(install, tmp_path, monkeypatch,
                                                                capsys):
    folder = install('under', 'harbour', good=plain(id='CRANE-1'))
    (folder / 'gone.yaml').symlink_to(tmp_path / 'source' / 'gone.yaml')
    sourced(monkeypatch, tmp_path / 'under')
    with pytest.raises(ScenarioError, match='gone.yaml: cannot be read: No such file'):
        load_scenarios(['harbour'])
    assert path_of('CRANE-1') and main(['scenario', 'list']) == 0
    assert 'gone.yaml' in capsys.readouterr().out


def test_a_run_that_does_not_ask_for_the_broken_file_goes_on(half_broken):
    assert path_of('CRANE-1') == str(half_broken / 'good.yaml')
    assert len(load_scenarios(['robotic']).scenarios) > 10


def test_to_ask_for_a_broken_file_by_its_id_tells_what_is_wrong_with_it(half_broken):
    with pytest.raises(ScenarioError, match='severity: got 7'):
        path_of('CRANE-2')
    write(half_broken / 'twice.yaml', plain(id='CRANE-2'))
    with pytest.raises(InputError, match='got 2 scenarios with this id'):
        path_of('CRANE-2')


def test_selftest_names_what_it_cannot_test_goes_on_and_is_not_green(
        half_broken, tmp_path, capsys):
    report = tmp_path / 'matrix.json'
    assert main(['selftest', 'checks', str(half_broken), '--seeds', '1', '--chance-trials', '0',
                 '--json',
                 str(report)]) == 1
    assert 'bad.yaml: is not tested' in capsys.readouterr().out
    found = json.loads(report.read_text())
    assert [one['scenario_id'] for one in found['scenarios']] == ['CRANE-1']
    assert [Path(one['path']).name for one in found['mistakes'] if one['kind'] == 'file'] == [
        'bad.yaml', 'claims.yaml']


@pytest.mark.parametrize(('text', 'told'), [
    (b'share/nowhere', 'where no folder is'), (b'', 'names no folder'), (b'\xff', 'not UTF-8')])
def test_a_pack_that_names_no_folder_is_shown_and_disables_nothing(
        install, tmp_path, monkeypatch, text, told):
    install('under', 'harbour', a=plain(id='CRANE-1'))
    index = tmp_path / 'under/share/ament_index/resource_index/safety_scenarios_pack'
    (index / 'quay').write_bytes(text)
    sourced(monkeypatch, tmp_path / 'under')
    [problem] = look_through().problems
    assert problem.path == str(index / 'quay') and told in problem.message
    assert path_of('CRANE-1') and path_of('SCN-R-101')
