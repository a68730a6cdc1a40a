# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A signature tells who has signed a campaign's folder, and that nothing was changed since."""

import json
from pathlib import Path
import shutil
import subprocess
import time

import pytest
from safety_scenarios.campaign.folder import signing
from safety_scenarios.campaign.folder.folder import hashes, MANIFEST, SIGNATURE, STATEMENT
from safety_scenarios.cli.main import main

pytestmark = pytest.mark.skipif(shutil.which('ssh-keygen') is None,
                                reason='ssh-keygen is not installed')


def keygen(path: Path, passphrase: str = '') -> Path:
    subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', passphrase, '-C', '', '-f', path],
                   check=True)
    return path


@pytest.fixture
def folder(many_campaigns: Path, tmp_path: Path) -> Path:
    found = Path(shutil.copytree(many_campaigns / 'failed', tmp_path / 'run'))
    (found / 'logs').mkdir(exist_ok=True)
    (found / 'logs' / 'T.log').write_text('it stopped\n')
    (found / MANIFEST).write_text(json.dumps(hashes(found)))
    return found


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return keygen(tmp_path / 'key')


@pytest.fixture
def signers(tmp_path: Path, key: Path) -> Path:
    """Return a list with the key, and one that signs nothing here."""
    other = keygen(tmp_path / 'other')
    path = tmp_path / 'allowed signers'
    path.write_text(''.join(f'{who} {one.with_suffix(".pub").read_text()}' for who, one in (
        ('alice@example.org', key), ('bob@example.org', other))))
    return path


def signed(folder: Path, key: Path) -> int:
    return main(['campaign', 'sign', str(folder), '--key', str(key)])


def verified(folder: Path, signers: Path, *more: str) -> int:
    return main(['campaign', 'verify', str(folder), '--signers', str(signers), *more])


def test_who_signed_and_when_is_told(folder, key, signers, capsys):
    assert signed(folder, key) == 0
    when = json.loads((folder / STATEMENT).read_text())['signed']
    capsys.readouterr()
    assert verified(folder, signers) == verified(
        folder, signers, '--signer', 'alice@example.org') == 0
    said = capsys.readouterr().out
    assert said.count('signed by alice@example.org with ED25519 key SHA256:') == 2
    assert f'at {when} by the clock of who signed' in said
    assert main(['campaign', 'verify', str(folder)]) == 0
    assert 'there is a signature, which was not checked' in capsys.readouterr().out


@pytest.mark.parametrize(('name', 'text', 'says'), [
    ('trials.jsonl', '{"verdict": "PASS"}\n', 'trials.jsonl: changed'),
    ('more.jsonl', 'x', 'more.jsonl: not of this campaign'),
    ('logs/T.log', 'it did not\n', 'logs/T.log: changed since it was signed'),
    ('logs/U.log', 'x', 'logs/U.log: was not there when it was signed'),
    ('manifest.json.more', 'x', 'manifest.json.more: not of this campaign'),
    ('logs/T.log', None, 'logs/T.log: missing since it was signed'),
    (STATEMENT, '{}', 'not signed by alice@example.org'),
    (SIGNATURE, 'x', 'no signer in'),
    (SIGNATURE, None, f'{SIGNATURE}: No such file or directory, so that the folder is not signed'),
])
def test_whatever_is_changed_afterwards_is_named(folder, key, signers, capsys, name, text, says):
    assert signed(folder, key) == 0
    if text is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(text)
    assert verified(folder, signers) == 1
    out, err = capsys.readouterr()
    assert says in err
    assert 'signed by' not in out


def test_a_manifest_that_was_made_anew_hides_nothing(folder, key, signers, capsys):
    assert signed(folder, key) == 0
    (folder / 'trials.jsonl').write_text('{"verdict": "PASS"}\n')
    (folder / MANIFEST).write_text(json.dumps(hashes(folder)))
    assert main(['campaign', 'verify', str(folder)]) == 0
    assert verified(folder, signers) == 1
    assert f'{MANIFEST}: changed since it was signed' in capsys.readouterr().err


def test_only_who_may_sign_counts(folder, key, signers, tmp_path, capsys):
    assert verified(folder, signers) == 1
    assert 'the folder is not signed' in capsys.readouterr().err
    assert signed(folder, keygen(tmp_path / 'stranger')) == 0
    assert verified(folder, signers) == 1
    assert 'no signer in' in capsys.readouterr().err
    assert signed(folder, key) == 2
    assert 'is signed already' in capsys.readouterr().err
    for name in (STATEMENT, SIGNATURE):
        (folder / name).unlink()
    assert signed(folder, key) == 0
    assert verified(folder, signers, '--signer', 'bob@example.org') == 1
    assert 'not signed by bob@example.org' in capsys.readouterr().err
    assert main(['campaign', 'verify', str(folder), '--signer', 'alice@example.org']) == 2


def test_a_signature_over_the_same_for_another_purpose_does_not_count(
        folder, key, signers, capsys, monkeypatch):
    monkeypatch.setattr(signing, 'NAMESPACE', 'git')
    assert signed(folder, key) == 0
    monkeypatch.undo()
    assert verified(folder, signers) == 1
    assert 'not signed by alice@example.org' in capsys.readouterr().err


def test_what_is_not_as_the_campaign_left_it_is_not_signed(folder, key, capsys):
    (folder / 'trials.jsonl').write_text('')
    assert signed(folder, key) == 2
    assert 'trials.jsonl: changed. Only what a campaign left can be signed' in \
        capsys.readouterr().err
    assert not (folder / STATEMENT).exists()


def test_results_that_the_records_refute_are_not_signed(folder, key, capsys):
    path = folder / 'trials.jsonl'
    path.write_text(path.read_text().replace('"verdict":"FAIL"', '"verdict":"PASS"'))
    (folder / MANIFEST).write_text(json.dumps(hashes(folder)))
    assert main(['campaign', 'verify', str(folder)]) == 0
    assert 'every file is as the manifest says' in capsys.readouterr().out
    assert signed(folder, key) == 2
    assert 'Only what the records give can be signed' in capsys.readouterr().err
    assert not (folder / STATEMENT).exists()


def test_a_key_with_a_passphrase_asks_nobody_and_waits_for_nobody(folder, tmp_path, capsys):
    assert signed(folder, keygen(tmp_path / 'locked', 'correct horse')) == 2
    said = capsys.readouterr().err
    assert 'passphrase' in said and 'ssh-add' in said and 'horse' not in said
    assert not (folder / STATEMENT).exists()


def test_an_agent_signs_with_the_public_half(folder, key, signers, monkeypatch, tmp_path):
    if shutil.which('ssh-agent') is None:
        pytest.skip('ssh-agent is not installed')
    socket = tmp_path / 'agent'
    agent = subprocess.Popen(['ssh-agent', '-D', '-a', socket], stdout=subprocess.DEVNULL)
    try:
        monkeypatch.setenv('SSH_AUTH_SOCK', str(socket))
        add = ['ssh-add', '-q', key]
        deadline = time.monotonic() + 10
        while subprocess.run(add, stderr=subprocess.DEVNULL, check=False).returncode:
            assert time.monotonic() < deadline, 'the agent takes no key'
            time.sleep(0.02)
        key.unlink()
        assert signed(folder, key.with_suffix('.pub')) == 0
        assert verified(folder, signers) == 0
    finally:
        agent.terminate()
        agent.wait()


def test_what_is_no_key_and_no_program_is_said(folder, tmp_path, capsys, monkeypatch):
    none = tmp_path / 'none'
    none.write_text('no key')
    assert signed(folder, none) == 2
    assert 'cannot sign: ' in capsys.readouterr().err
    assert main(['campaign', 'sign', str(folder), '--key', str(tmp_path / 'absent')]) == 2
    assert 'does not exist' in capsys.readouterr().err
    monkeypatch.setattr(shutil, 'which', lambda name: None)
    assert signed(folder, none) == 2
    assert 'A signature needs ssh-keygen, which is not installed. Install openssh-client' in \
        capsys.readouterr().err


@pytest.mark.parametrize('name', ['manifest.json.d/extra', 'manifest.jsonl/x/y'])
def test_a_folder_that_is_called_like_the_manifest_hides_nothing(name, folder, key, signers,
                                                                 capsys):
    assert signed(folder, key) == 0
    path = folder / name
    path.parent.mkdir(parents=True)
    path.write_text('another report')
    assert verified(folder, signers) == 1
    assert 'not of this campaign' in capsys.readouterr().err
