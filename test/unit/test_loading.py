# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a target names: files, folders, globs, ids, and other packages' scenario packs."""

from importlib.util import find_spec
from pathlib import Path

from cases import for_each
import fast_yaml
import pytest
from safety_scenarios import registry
from safety_scenarios.errors import InputError, MissingDependencyError, UnknownPluginError
from safety_scenarios.formats.loading import (
    installed_folders,
    load_scenario,
    load_scenarios,
    share_folder,
)
from unit.formats.files import plain, write

SHIPPED = sorted(path for path in (share_folder() / 'config' / 'scenarios').rglob('*.yaml')
                 if not path.name.endswith('.bindings.yaml'))


def ids(*targets: str) -> list[str]:
    return [scenario.id for scenario in load_scenarios(targets).scenarios]


@pytest.fixture
def pack(tmp_path, monkeypatch) -> Path:
    """Install another package with two scenarios, and return their folder."""
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'safety_scenarios_pack'
    folder = tmp_path / 'share' / 'harbour' / 'cranes'
    index.mkdir(parents=True)
    (folder / 'quay').mkdir(parents=True)
    (index / 'harbour').write_text('share/harbour/cranes\n', encoding='utf-8')
    write(folder / 'quay' / 'a.yaml', plain(id='CRANE-1'))
    write(folder / 'b.yml', plain(id='CRANE-2'))
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    return folder


def test_the_shipped_scenarios_load_without_a_warning():
    found = load_scenarios([str(share_folder() / 'config' / 'scenarios')])
    assert len(found.scenarios) == len(SHIPPED) >= 28
    assert not found.warnings


def test_each_shipped_scenario_is_found_by_its_id():
    names = [fast_yaml.load(path.read_text(encoding='utf-8')).get('id', path.stem)
             for path in SHIPPED]
    found = load_scenarios(names).scenarios
    assert [scenario.id for scenario in found] == names
    assert [Path(scenario.origin.path) for scenario in found] == SHIPPED
    assert load_scenario(names[-1]).id == names[-1]


@pytest.mark.parametrize('folder', ['robotic', 'clinical', 'agents'])
def test_an_installed_folder_is_found_by_its_name(folder):
    assert len(ids(folder)) == len([path for path in SHIPPED if path.parent.name == folder])


def test_several_targets_come_in_their_order_and_each_scenario_once():
    assert ids('SCN-R-102', 'SCN-R-101', 'SCN-R-102') == ['SCN-R-102', 'SCN-R-101']
    both = ids('SCN-R-102', 'robotic')
    assert len(both) == len(set(both)) == len(ids('robotic'))


@pytest.mark.parametrize('pattern', ['*.yaml', 'dee*', '**/*.y*ml', '[x]*/../x.yaml'])
def test_a_glob_finds_scenario_files_only(tmp_path, pattern):
    (tmp_path / 'deep').mkdir()
    write(tmp_path / 'x.yaml', plain(id='X'))
    write(tmp_path / 'deep' / 'y.yml', plain(id='Y'))
    write(tmp_path / 'x.txt', 'no scenario')
    expected = {'*.yaml': ['X'], 'dee*': ['Y'], '**/*.y*ml': ['Y', 'X']}.get(pattern)
    if expected is None:
        with pytest.raises(InputError, match='matches no scenario file'):
            ids(str(tmp_path / pattern))
    else:
        assert ids(str(tmp_path / pattern)) == expected


def test_another_package_brings_its_pack(pack):
    assert pack in installed_folders()
    assert ids('CRANE-2', 'quay') == ['CRANE-2', 'CRANE-1']


def test_an_id_that_two_installed_files_share_is_refused(pack):
    write(pack / 'c.yaml', plain(id='CRANE-2', name='another'))
    with pytest.raises(InputError, match='CRANE-2'):
        ids('CRANE-2')


def test_a_broken_file_of_another_package_does_not_hide_our_ids(pack):
    write(pack / 'c.yaml', 'id: [')
    assert ids('SCN-R-101') == ['SCN-R-101']


@pytest.mark.parametrize(('target', 'hint'), [
    ('SCN-R-1001', 'SCN-R-101'), ('robotics', 'robotic')])
def test_a_name_that_is_nearly_right_gets_a_hint(target, hint):
    with pytest.raises(InputError, match=f"Did you mean '{hint}"):
        ids(target)


def test_an_empty_folder_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match='holds no'):
        ids(str(tmp_path))


def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path):
    (tmp_path / 'gone.yaml').symlink_to(tmp_path / 'gone.yaml')
    with pytest.raises(InputError):
        ids(str(tmp_path / 'gone.yaml'))


@pytest.mark.parametrize('changes', [
    {'severity': 2}, {'messages': []}, {'latency_budget': {}}, {'ros': {}},
    {'safety_invariants': [{'name': 'n'}]}, {'constraint': {'time_pressure': 'soon'}}])
def test_the_exported_schema_refuses_what_the_loader_refuses(exported, changes):
    assert exported.is_valid(plain())
    assert not exported.is_valid(plain(**changes))


@for_each('kind', sorted(registry.BUILT_IN))
def test_every_plug_in_of_the_table_can_be_imported(kind):
    for name in registry.names(kind):
        if name == 'rrd' and find_spec('rerun') is None:  # 170 MB: no extra of the tests
            with pytest.raises(MissingDependencyError, match='rerun-sdk'):
                registry.resolve(kind, name)
        else:
            assert registry.resolve(kind, name)


def test_an_unknown_plug_in_is_refused_with_the_known_ones():
    with pytest.raises(UnknownPluginError, match="bound, .*, text.*Did you mean 'bound'"):
        registry.resolve('invariants', 'bond')
