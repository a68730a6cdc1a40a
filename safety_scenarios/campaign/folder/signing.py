# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A campaign's folder, or a plan of scenarios, signed with an SSH key.

What is signed is a short statement: when, and the SHA-256 of the manifest, which has that of every
other file, and of the logs, which the manifest leaves out. OpenSSH's own ``ssh-keygen`` signs and
verifies; no key is ever read by this process.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
import json
import os
from pathlib import Path
import re
import shutil
import subprocess

from safety_scenarios.campaign.folder.evidence import verify
from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.folder import MANIFEST, SIGNATURE, STATEMENT
from safety_scenarios.errors import MissingDependencyError, SettingsError
from safety_scenarios.scenario.hil import HilSettings
from safety_scenarios.scenario.untrusted_text import read_json
from safety_scenarios.trial.identity import digest

NAMESPACE = 'safety_scenarios'
"""So that a signature over something else, such as a commit, is never taken for one of ours."""
_PROGRAM = 'ssh-keygen'
_TIMEOUT_S = 60.0
"""Somebody may have to touch a security key."""
_MOST = 1_000_000
"""Octets of a statement or a signature."""
_ASKS = 'passphrase'
_ADVICE = ('No passphrase can be typed here. Give the key to an agent (ssh-add), and name '
           'its public half by --key')


@dataclass(frozen=True)
class Signed:
    """
    Who has signed a folder.

    :ivar signer: identity as the list of signers has it
    :ivar key: kind and fingerprint
    :ivar when: by the clock of who signed
    """

    signer: str
    key: str
    when: str


def sign(folder: Path, key: Path) -> str:
    """
    Sign a folder; return when, as it was written.

    :param key: private key, or a public one whose private half an agent has
    :raises SettingsError: the folder is not as its campaign left it, is signed already, or the
        key cannot be used
    """
    flaws = verify(folder)
    if flaws:
        raise SettingsError(f'{folder}: {flaws[0]}' + (f', and {len(flaws) - 1} more'
                                                       if len(flaws) > 1 else '')
                            + '. Only what a campaign left can be signed')
    for name in (STATEMENT, SIGNATURE):
        if (folder / name).exists():
            raise SettingsError(f'{folder / name}: the folder is signed already. Remove '
                                f'{STATEMENT} and {SIGNATURE} to sign it anew')
    when = datetime.now(timezone.utc).isoformat(timespec='seconds')
    statement = json.dumps({'signed': when, 'files': _files(folder)}, indent=2) + '\n'
    done = _keygen('sign', '-f', str(key), '-n', NAMESPACE, data=statement.encode())
    if done.returncode or not done.stdout.startswith(b'-----BEGIN SSH SIGNATURE-----'):
        said = _error_line(done)
        raise SettingsError(f'{key}: cannot sign: {said}. '
                            + (_ADVICE if _ASKS in said or 'agent' in said else
                               'Name an SSH key by --key; ssh-keygen -t ed25519 makes one'))
    write_whole(folder / STATEMENT, statement.removesuffix('\n'))
    write_whole(folder / SIGNATURE, done.stdout.decode().removesuffix('\n'))
    return when


def signed_by(folder: Path, signers: Path, signer: str | None = None) -> \
        tuple[Signed | None, Sequence[str]]:
    """
    Return who has signed a folder, and what is wrong with that; either is empty.

    :param signers: who may sign, as ``ssh-keygen`` reads it (ALLOWED SIGNERS)
    :param signer: the identity that must have signed; None: any of them
    """
    try:
        statement, signature = (_read(folder / name) for name in (STATEMENT, SIGNATURE))
    except OSError as error:
        return None, [f'{Path(str(error.filename)).name}: {error.strerror}, so that the folder is '
                      f'not signed']
    if max(len(statement), len(signature)) > _MOST:
        return None, [f'{STATEMENT}: got more than {_MOST} octets']
    identities, because = ([signer], '') if signer is not None else _identities(folder, signers)
    if not identities:
        return None, [f'{SIGNATURE}: no signer in {signers} has the key that signed it: {because}']
    for identity in identities:
        done = _keygen('verify', '-f', str(signers), '-I', identity, '-n', NAMESPACE,
                       '-s', str(folder / SIGNATURE), data=statement)
        if not done.returncode:
            break
    else:
        return None, [f'{SIGNATURE}: not signed by {" or ".join(identities)}: {_error_line(done)}']
    try:
        said = read_json(statement)
        when, known = datetime.fromisoformat(said['signed']).isoformat(), dict(said['files'])
    except (ValueError, LookupError, TypeError):
        return None, [f'{STATEMENT}: signed, and no statement of this package']
    changed = list(_differing(known, _files(folder)))
    key = done.stdout.decode(errors='replace').strip().rpartition(' with ')[2]
    return (None if changed else Signed(identity, key, when)), changed


CARD_NAMESPACE = 'safety-scenarios-card'
"""So that a signature over anything else is none of a card."""


def sign_file(path: Path, key: Path) -> Path:
    """
    Sign one file, and return its signature, which is written beside it.

    :param key: private key, or a public one whose private half an agent has
    :raises SettingsError: the key cannot be used
    """
    done = _keygen('sign', '-f', str(key), '-n', CARD_NAMESPACE, data=path.read_bytes())
    if done.returncode or not done.stdout.startswith(b'-----BEGIN SSH SIGNATURE-----'):
        raise SettingsError(
            f'{key}: cannot sign: {_error_line(done)}. Name an SSH key; ssh-keygen -t '
            f'ed25519 makes one')
    signature = path.with_name(f'{path.name}.sig')
    write_whole(signature, done.stdout.decode().removesuffix('\n'))
    return signature


def signer_of_file(path: Path, signers: Path) -> str:
    """
    Return who of the list has signed a file.

    :param signers: who may sign, as ``ssh-keygen`` reads it (ALLOWED SIGNERS)
    :raises SettingsError: nobody of them has, or the file was changed since
    """
    signature = path.with_name(f'{path.name}.sig')
    if not signature.is_file():
        raise SettingsError(f'{signature}: missing, expected the signature of {path.name}')
    found = _keygen('find-principals', '-s', str(signature), '-f', str(signers))
    names = [] if found.returncode else [
        name for line in found.stdout.decode(errors='replace').splitlines()
        for name in line.split(',') if name]
    for name in names:
        done = _keygen('verify', '-f', str(signers), '-I', name, '-n', CARD_NAMESPACE,
                       '-s', str(signature), data=path.read_bytes())
        if not done.returncode:
            return name
    raise SettingsError(f'{path}: got no good signature of anybody in {signers}, expected one: '
                        f'{_error_line(found if not names else done)}')


def is_signed(folder: Path) -> bool:
    """Tell whether there is a signature, whoever has made it."""
    return (folder / SIGNATURE).exists()


def _identities(folder: Path, signers: Path) -> tuple[list[str], str]:
    """Return who has the key of the signature, and what is said where nobody has."""
    done = _keygen('find-principals', '-s', str(folder / SIGNATURE), '-f', str(signers))
    lines = done.stdout.decode(errors='replace').splitlines() if not done.returncode else []
    return [name for line in lines for name in line.split(',') if name], _error_line(done)


def _files(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of the manifest and of all that it does not hold but signatures."""
    logs = folder / 'logs'
    return {path.relative_to(folder).as_posix(): digest(path) for path in sorted(
        [folder / MANIFEST, *logs.rglob('*')]) if path.is_file()}


def _differing(signed: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(signed.keys() | found.keys()):
        if name not in found:
            yield f'{name}: missing since it was signed'
        elif name not in signed:
            yield f'{name}: was not there when it was signed'
        elif signed[name] != found[name]:
            yield f'{name}: changed since it was signed'


def _read(path: Path) -> bytes:
    with path.open('rb') as file:
        return file.read(_MOST + 1)


def _keygen(verb: str, *arguments: str, data: bytes = b'') -> 'subprocess.CompletedProcess[bytes]':
    """Run ``ssh-keygen -Y``; it has no terminal, so that it asks nobody, and waits for nobody."""
    program = shutil.which(_PROGRAM)
    if program is None:
        raise MissingDependencyError('A signature', _PROGRAM, advice='Install openssh-client')
    environment = {name: value for name, value in os.environ.items() if name != 'DISPLAY'}
    try:
        return subprocess.run([program, '-Y', verb, *arguments], input=data, capture_output=True,
                              timeout=_TIMEOUT_S, start_new_session=True, check=False,
                              env={**environment, 'SSH_ASKPASS_REQUIRE': 'never', 'LC_ALL': 'C'})
    except subprocess.TimeoutExpired:
        raise SettingsError(f'{_PROGRAM}: did not end within {_TIMEOUT_S:g} s. Was a security key '
                            f'to be touched?') from None


def _error_line(done: 'subprocess.CompletedProcess[bytes]') -> str:
    said = (done.stderr.strip() or done.stdout.strip()).decode(errors='replace')
    lines = said.splitlines() or [f'{_PROGRAM} said nothing']
    return lines[-1].strip().rstrip('.')[:300]


PLAN_PURPOSE = 'safety-scenarios-plan'
"""What the signature is for, so that one for anything else is none of a plan."""
_SHA256 = re.compile(r'[0-9a-f]{64}')
_PATIENCE_S = 10.0


@dataclass(frozen=True)
class Plan:
    """What was signed."""

    scenarios: Mapping[str, str]
    """Id of each scenario to the SHA-256 of its file; empty: whatever the file says by then."""


def read_plan(settings: HilSettings) -> Plan:
    """
    Return what a plan lists whose signature is good.

    What is verified and what is read are the same bytes: the file is read once.

    :raises SettingsError: the signature is not good, or a line is none of a plan
    :raises MissingDependencyError: OpenSSH is not installed
    """
    path = Path(settings.plan)
    content = _read_plan_file(path, 'hil.plan')
    signature = settings.plan_signature or f'{settings.plan}.sig'
    for name, file in (('hil.plan_signature', signature),
                       ('hil.plan_signers', settings.plan_signers)):
        _read_plan_file(Path(file), name)
    try:
        done = subprocess.run(
            ['ssh-keygen', '-Y', 'verify', '-f', str(Path(settings.plan_signers).absolute()),
             '-I', settings.plan_signer, '-n', PLAN_PURPOSE,
             '-s', str(Path(signature).absolute())],
            input=content, capture_output=True, timeout=_PATIENCE_S, check=False)
    except FileNotFoundError:
        raise MissingDependencyError('a signed plan', 'ssh-keygen of OpenSSH 8.2 or newer',
                                     'apt install openssh-client') from None
    except subprocess.TimeoutExpired:
        raise SettingsError(f'hil.plan: {path}: ssh-keygen did not answer within '
                            f'{_PATIENCE_S:g} s, expected its verdict') from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode(errors='replace').strip().splitlines()
        raise SettingsError(
            f'hil.plan: {path}: got no good signature of {settings.plan_signer} for '
            f'{PLAN_PURPOSE} in {signature} ({said[0] if said else "ssh-keygen refuses it"}), '
            f'expected one. Sign it: ssh-keygen -Y sign -f KEY -n {PLAN_PURPOSE} {path}')
    return Plan(_lines(path, content))


def _read_plan_file(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(f'{name}: {path}: cannot be read: {error.strerror}. Name the file of '
                            f'a signed plan, its signature and who may sign') from None


def _lines(path: Path, content: bytes) -> Mapping[str, str]:
    found: dict[str, str] = {}
    try:
        lines = content.decode().split('\n')  # what people sign has no other ends of lines
    except UnicodeDecodeError:
        raise SettingsError(f'hil.plan: {path}: got bytes that are no UTF-8, expected text') \
            from None
    for number, line in enumerate(lines, 1):
        words = line.partition('#')[0].split()
        if not words:
            continue
        name, *more = words
        if len(more) > 1 or (more and not _SHA256.fullmatch(more[0])):
            raise SettingsError(f'{path}:{number}: got {line.strip()!r}, expected an id and, if '
                                f'needed, the SHA-256 of its file')
        if name in found:
            raise SettingsError(f'{path}:{number}: got {name} twice, expected it once')
        found[name] = more[0] if more else ''
    if not found:
        raise SettingsError(f'{path}: got no scenario, expected the id of one in each line')
    return found
