# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What stands beside the records is held against them, whoever wrote a new manifest.

Each change here touches a single file, and the manifest fits it.
"""

import json
from pathlib import Path
import shutil

import pytest
from safety_scenarios.campaign.folder.folder import hashes
from safety_scenarios.cli.main import main
from unit.loopback_runs import loopback_run

QUICK = (Path(__file__).parents[2] / 'data' / 'quick_person.yaml').read_text(encoding='utf-8')


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    """Return a campaign of a scenario with a label and one without, in which all is well."""
    folder = tmp_path_factory.mktemp('told')
    for name, label in (('NAMED', 'requirements: [REQ-1]'), ('BARE', '')):
        (folder / f'{name}.yaml').write_text(
            f'{QUICK.replace("id: QUICK", f"id: {name}")}\n{label}\n', encoding='utf-8')
    (folder / 'list.txt').write_text('REQ-1\nREQ-2\n', encoding='utf-8')
    (folder / 'policy.pt').write_text('weights', encoding='utf-8')
    loopback_run(folder / 'run', str(folder / 'NAMED.yaml'), str(folder / 'BARE.yaml'),
                 controller='late', controller_parameters=('delay_ms=20',),
                 sut_artifact=(str(folder / 'policy.pt'),))
    return folder / 'run'


def changed(run, path, name, change):
    """Copy a folder, change one of its files, and write a manifest that fits."""
    shutil.copytree(run, path)
    data = json.loads((path / name).read_text(encoding='utf-8'))
    change(data)
    (path / name).write_text(json.dumps(data, indent=2), encoding='utf-8')
    with_new_manifest(path)
    return path


def with_new_manifest(path):
    (path / 'manifest.json').write_text(json.dumps(hashes(path)), encoding='utf-8')


def row(data, name):
    return next(one for one in data['scenarios'] if one.get('id', one.get('scenario_id')) == name)


def labels(data):
    row(data, 'NAMED')['traceability']['requirements'].append('REQ-2')


def labels_of_one_that_names_none(data):
    row(data, 'BARE')['traceability'] = {'requirements': ['REQ-2']}


def labels_taken_out(data):
    del row(data, 'NAMED')['traceability']


def parameters(data):
    data['controller']['parameters'] = {'delay_ms': 0.0}


def source(data):
    data['controller']['sha256'] = '0' * 64


def name_of_the_controller(data):
    data['controller']['name'] = 'external'


def a_setting(data):
    data['settings']['declared_topics'] = ['/elsewhere']


def version_in_the_settings(data):
    data['settings']['sut_version'] = 'v2'


def hash_of_a_scenario(data):
    row(data, 'NAMED')['sha256'] = '0' * 64


IN_SETTINGS = (labels, labels_of_one_that_names_none, labels_taken_out, parameters, source,
               name_of_the_controller, a_setting, version_in_the_settings, hash_of_a_scenario)


def median(data):
    row(data, 'NAMED')['median_ms']['value'] = 1.0


def chance(data):
    data['chance'] = 1e-9


def missed(data):
    data['missed']['share']['high'] = 0.001


def seed(data):
    data['seed'] = 77


def labels_in_the_summary(data):
    row(data, 'BARE')['traceability']['requirements'] = ['REQ-2']


IN_SUMMARY = (median, chance, missed, seed, labels_in_the_summary)


def test_nobody_has_touched_it(run):
    assert main(['evaluate', str(run)]) == main(['campaign', 'repair', str(run)]) == 0


@pytest.mark.parametrize(('name', 'change'), [
    *(('settings.json', one) for one in IN_SETTINGS),
    *(('campaign.json', one) for one in IN_SUMMARY)],
    ids=lambda one: one if isinstance(one, str) else one.__name__)
def test_one_file_changed_and_a_manifest_that_fits(run, name, change, tmp_path, capsys):
    path = changed(run, tmp_path / 'run', name, change)
    listed = str(run.parent / 'list.txt')
    assert main(['evaluate', str(path)]) == 3
    told = capsys.readouterr().err
    assert name in told and told.startswith('error: ')
    assert main(['compare', str(path), str(run)]) == 3
    assert main(['campaign', 'repair', str(path)]) == 3
    assert main(['campaign', 'coverage', str(path), '--requirements', listed]) == 3


def test_a_scenario_cannot_be_taken_out_of_plan_lines_and_records_alike(run, tmp_path, capsys):
    def change(data):
        data['scenarios'].remove(row(data, 'BARE'))
        data['plan'] = [one for one in data['plan'] if one['scenario_id'] != 'BARE']
    path = changed(run, tmp_path / 'run', 'settings.json', change)
    shutil.rmtree(path / 'traces' / 'BARE')
    lines = (path / 'trials.jsonl').read_text(encoding='utf-8').splitlines(keepends=True)
    (path / 'trials.jsonl').write_text(''.join(line for line in lines if 'BARE' not in line),
                                       encoding='utf-8')
    for name in ('campaign.json', 'manifest.json'):
        (path / name).unlink()
    assert main(['campaign', 'repair', str(path)]) == main(['evaluate', str(path)]) == 3
    assert 'the record is of a campaign with other terms' in capsys.readouterr().err
    assert main(['compare', str(path), str(run)]) == 3


def test_a_number_that_the_records_do_not_give_is_named(run, tmp_path, capsys):
    path = changed(run, tmp_path / 'run', 'campaign.json', median)
    main(['evaluate', str(path)])
    assert 'campaign.json: got scenarios[0].median_ms.value 1.0, expected ' \
        in capsys.readouterr().err


def test_a_folder_that_ended_has_its_summary(run, tmp_path, capsys):
    path = tmp_path / 'run'
    shutil.copytree(run, path)
    (path / 'campaign.json').unlink()
    with_new_manifest(path)
    assert main(['evaluate', str(path)]) == 3
    assert 'error: campaign.json: is missing' in capsys.readouterr().err


@pytest.mark.parametrize('name', ['traces', 'trials.jsonl'])
def test_what_lies_elsewhere_is_not_in_the_folder(run, name, tmp_path, capsys):
    """A folder behind a link is in no manifest, and can be changed after it was signed."""
    path = tmp_path / 'run'
    shutil.copytree(run, path)
    (path / name).rename(tmp_path / name)
    (path / name).symlink_to(tmp_path / name)
    with_new_manifest(path)
    assert main(['campaign', 'verify', str(path)]) == 1
    assert main(['evaluate', str(path)]) == 3
    assert f'{name}: is a symbolic link' in capsys.readouterr().err


@pytest.mark.parametrize('command', ['campaign verify', 'evaluate', 'campaign trials'])
def test_a_name_of_a_file_writes_no_line_of_its_own(run, command, tmp_path, capsys):
    path = tmp_path / 'run'
    shutil.copytree(run, path)
    (path / 'traces' / 'a\nPASS  all is well\n').write_text('', encoding='utf-8')
    assert main([*command.split(), str(path)]) in (1, 3)
    shown = capsys.readouterr()
    assert not any(line.startswith('PASS  all') for line in (shown.out + shown.err).splitlines())


def test_what_changed_while_it_was_judged_is_compared_with_nothing(run, tmp_path, capsys):
    def change(data):
        data['sut']['changed'] = ['policy.pt: changed during the campaign']
        data |= {'verdict': 'INCONCLUSIVE', 'exit_code': 3}
        del data['claims']  # nothing may be claimed of it
    path = changed(run, tmp_path / 'run', 'campaign.json', change)
    assert main(['compare', str(run), str(path)]) == 3
    assert 'cannot be relied on:\n  policy.pt: changed' in capsys.readouterr().err
