# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A plan of scenarios that somebody has signed by an SSH key: it confirms them, and no others."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
import re
import subprocess

from safety_scenarios.errors import MissingDependencyError, SettingsError
from safety_scenarios.scenario.hil import HilSettings

NAMESPACE = 'safety-scenarios-plan'
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
    content = _read(path, 'hil.plan')
    signature = settings.plan_signature or f'{settings.plan}.sig'
    for name, file in (('hil.plan_signature', signature),
                       ('hil.plan_signers', settings.plan_signers)):
        _read(Path(file), name)
    try:
        done = subprocess.run(
            ['ssh-keygen', '-Y', 'verify', '-f', str(Path(settings.plan_signers).absolute()),
             '-I', settings.plan_signer, '-n', NAMESPACE,
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
            f'{NAMESPACE} in {signature} ({said[0] if said else "ssh-keygen says no"}), expected '
            f'one. Sign it: ssh-keygen -Y sign -f KEY -n {NAMESPACE} {path}')
    return Plan(_lines(path, content))


def _read(path: Path, name: str) -> bytes:
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
