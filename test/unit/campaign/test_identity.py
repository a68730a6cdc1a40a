# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What was judged: hashed before and after, and no PASS if it was not one thing all the time."""

import hashlib
import json
import os
from pathlib import Path
import subprocess

from cases import for_each
import pytest
from safety_scenarios.campaign.folder.folder import hashes
from safety_scenarios.campaign.identity import identify, IMAGE_DIGEST_VARIABLE
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.campaign.rejudging.stored_trials import repair
from safety_scenarios.campaign.run import run
from safety_scenarios.cli.main import main
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.session import Observer
from unit.controllers.policies.onnx_models import contract, stops_near
from unit.loopback_runs import loopback_run

QUICK = str(Path(__file__).parents[2] / 'data' / 'quick_person.yaml')
DIGEST = f'sha256:{"0" * 64}'


def identity(output=None, spec=None, source=None, **settings):
    return identify(RunSettings(**settings), spec or ControllerSpec(name='external'), source,
                    output)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / 'policy.pt'
    path.write_bytes(b'weights')
    return path


def test_a_file_is_known_by_its_hash_and_size(model):
    [artifact] = identity(sut_artifact=(str(model),)).identity.artifacts
    assert (artifact.name, artifact.sha256, artifact.size) == (
        model.name, hashlib.sha256(b'weights').hexdigest(), 7)


def test_a_folder_is_known_as_sha256sum_says(tmp_path):
    folder = tmp_path / 'params'
    for name in ('b.yaml', 'a.yaml', 'sub/c.yaml', '__pycache__/x.pyc'):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    [artifact] = identity(sut_artifact=(str(folder),)).identity.artifacts
    told = subprocess.run('sha256sum a.yaml b.yaml sub/c.yaml | sha256sum', cwd=folder, text=True,
                          shell=True, check=True, capture_output=True).stdout
    assert artifact.sha256 == told.split()[0]
    assert (artifact.files, artifact.size) == (3, len('a.yamlb.yamlsub/c.yaml'))


def test_a_parameter_that_names_a_file_is_an_artifact(model):
    spec = ControllerSpec(name='mine', parameters={'checkpoint': str(model), 'speed': 1.0,
                                                   'text': 'policy.pt that is none'})
    [artifact] = identity(spec=spec).identity.artifacts
    assert artifact.given_by == 'controller.checkpoint'


def test_what_cannot_be_an_artifact_is_wrong_input(tmp_path, model):
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'empty').mkdir()
    (tmp_path / 'linked').mkdir()
    (tmp_path / 'linked' / 'to').symlink_to(tmp_path)
    for name in ('nowhere', 'pipe', 'empty', 'linked'):
        with pytest.raises(SettingsError, match=f'sut_artifact: got .*{name}'):
            identity(sut_artifact=(str(tmp_path / name),))
    with pytest.raises(SettingsError, match='blank name'):
        identity(sut_artifact=('',))
    with pytest.raises(SettingsError, match='the campaign itself writes'):
        identity(output=tmp_path / 'run', sut_artifact=(str(tmp_path),))


def test_a_missing_artifact_ends_before_anything_is_run(tmp_path, capsys):
    folder = tmp_path / 'run'
    assert main(['run', QUICK, '--link', 'loopback', '--output', str(folder), '--set',
                 f'sut_artifact={tmp_path / "nowhere"}']) == 2
    assert 'nowhere' in capsys.readouterr().err and not folder.exists()


def test_a_digest_comes_from_the_option_or_the_environment(monkeypatch):
    monkeypatch.setenv(IMAGE_DIGEST_VARIABLE, DIGEST)
    assert identity().identity.image_digest == DIGEST
    named = f'ghcr.io/us/robot@{DIGEST.replace("0", "1")}'
    assert identity(sut_image_digest=named).identity.image_digest == named
    for wrong in ('latest', 'sha256:12', DIGEST.upper(), f'a b@{DIGEST}'):
        monkeypatch.setenv(IMAGE_DIGEST_VARIABLE, wrong)
        with pytest.raises(SettingsError, match=IMAGE_DIGEST_VARIABLE):
            identity()


@for_each('known', [{'sut_version': 'v1'}, {'sut_image_digest': DIGEST},
                    {'source': 'ab'}])
def test_a_warning_stands_where_nothing_identifies_what_is_judged(known):
    assert 'nothing identifies' in identity().identity.unidentified
    assert identity(**known).identity.unidentified == ''


class Does(Observer):
    """Does something when the first trial has ended."""

    def __init__(self, what) -> None:
        self.what = what

    def trial_ended(self, record, result):
        self.what()


def replaced(path):
    other = path.with_suffix('.new')
    other.write_bytes(b'weights')
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize('change, text', [
    (lambda path: path.write_bytes(b'others'), 'changed during the campaign'),
    (lambda path: path.unlink(), 'cannot be read'),
    (replaced, 'replaced during the campaign'),
])
def test_an_artifact_that_changes_meanwhile_leaves_no_pass_then_or_later(
        tmp_path, model, change, text):
    folder = tmp_path / 'run'
    settings = RunSettings(scenarios=(QUICK,), link='loopback', output=str(folder),
                           sut_artifact=(str(model),))
    summary = run(settings, [Does(lambda: change(model))], Loopback)
    assert (summary.verdict.value, summary.exit_code) == ('INCONCLUSIVE', 3)
    assert text in summary.sut.changed[0]
    assert summary.verdicts == {'PASS': 1}
    found = rejudge(folder)
    assert found.flaws == () and found.summary.exit_code == 3
    assert found.summary.sut == summary.sut


def test_an_artifact_that_stays_costs_nothing_and_is_told_everywhere(tmp_path, model):
    done = loopback_run(tmp_path / 'run', QUICK, sut_version='v1.4 [/x]',
                        sut_artifact=(str(model),))
    assert done.summary.exit_code == 0 and done.summary.sut.compared
    assert 'Judged: version v1.4 [/x]' in done.output
    settings = json.loads((done.folder / 'settings.json').read_text())
    campaign = json.loads((done.folder / 'campaign.json').read_text())
    assert settings['sut']['artifacts'] == campaign['sut']['artifacts']
    assert rejudge(done.folder).summary.exit_code == 0


def test_another_identity_in_the_folder_is_found_even_with_a_new_manifest(tmp_path, model):
    done = loopback_run(tmp_path / 'run', QUICK, sut_version='v1')
    for name in ('settings.json', 'campaign.json'):
        path = done.folder / name
        path.write_text(path.read_text().replace('"version": "v1"', '"version": "v2"'))
    (done.folder / 'manifest.json').write_text(json.dumps(hashes(done.folder)))
    found = rejudge(done.folder)
    assert found.summary.exit_code == 3
    assert any('other terms' in str(flaw) for flaw in found.flaws)


def test_an_identity_that_only_the_summary_has_is_found(tmp_path):
    done = loopback_run(tmp_path / 'run', QUICK, sut_version='v1')
    path = done.folder / 'campaign.json'
    path.write_text(path.read_text().replace('"version": "v1"', '"version": "v2"'))
    (done.folder / 'manifest.json').write_text(json.dumps(hashes(done.folder)))
    [flaw] = rejudge(done.folder).flaws
    assert 'another identity' in str(flaw)


def test_after_a_crash_nobody_knows_whether_the_artifacts_stayed(tmp_path, model):
    done = loopback_run(tmp_path / 'run', QUICK, sut_artifact=(str(model),))
    for name in ('campaign.json', 'manifest.json'):
        (done.folder / name).unlink()
    found, _ = repair(done.folder)
    assert found.summary.exit_code == 3
    assert 'not checked again' in ' '.join(found.summary.sut.doubts)


def test_compare_says_what_each_side_was_of(tmp_path, capsys):
    for name in ('v1', 'v2'):
        loopback_run(tmp_path / name, QUICK, sut_version=name)
    assert main(['compare', str(tmp_path / 'v1'), str(tmp_path / 'v2')]) == 0
    told = capsys.readouterr().out
    assert 'v1: version v1' in told and 'v2: version v2' in told


LONG = 'w' * 200


@pytest.mark.parametrize(('changed', 'weights'), [
    ('policy.onnx', 'weights.bin'), ('policy.yaml', 'weights.bin'),
    ('weights.bin', 'weights.bin'), (LONG, LONG)])
def test_a_policy_of_which_a_file_changes_meanwhile_leaves_no_pass(tmp_path, changed, weights):
    stops_near(tmp_path / 'policy.onnx', [[0.8, 0.0]], weights=weights)
    contract(tmp_path / 'policy.yaml')
    folder = tmp_path / 'run'
    summary = run(RunSettings(scenarios=(QUICK,), link='loopback', output=str(folder),
                              controller=f'onnx:{tmp_path}/policy.onnx'),
                  [Does(lambda: replaced(tmp_path / changed))], Loopback)
    assert summary.verdicts == {'PASS': 1} and summary.exit_code == 3
    assert changed in summary.sut.changed[0]
    told = json.loads((folder / 'settings.json').read_text())
    assert {one['name']: one['sha256'] for one in told['sut']['artifacts']}.keys() == {
        'policy.onnx', 'policy.yaml', weights}
    assert told['controller']['sha256'] == next(
        one.sha256 for one in summary.sut.artifacts if one.name == 'policy.onnx')
