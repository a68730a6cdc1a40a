# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Write the hashes in ``requirements.txt`` again: ``python resource/bundle/renew.py``.

To move to other versions, change them there first, then run this. pip downloads every wheel for
every interpreter below, so this takes a minute and a network.
"""

from hashlib import sha256
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory

LIST = Path(__file__).with_name('requirements.txt')
PYTHONS = ('3.10', '3.11', '3.12', '3.13', '3.14')
MACHINES = ('x86_64', 'aarch64')
PLATFORMS = ('manylinux_2_28', 'manylinux_2_27', 'manylinux_2_26', 'manylinux2014',
             'manylinux_2_17')


def wheels(requirement: str, folder: Path) -> set[Path]:
    """
    Download the wheels of one version for every interpreter that it is listed for.

    :param requirement: as in the list, without hashes
    """
    from packaging.requirements import Requirement
    one = Requirement(requirement)
    for python in PYTHONS:
        if one.marker is not None and not one.marker.evaluate({'python_version': python}):
            continue
        for machine in MACHINES:
            subprocess.run([
                sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary',
                ':all:', '--disable-pip-version-check', '--python-version', python, '--dest',
                str(folder), *(part for name in PLATFORMS
                               for part in ('--platform', f'{name}_{machine}')),
                f'{one.name}{one.specifier}'], check=True)
    return set(folder.glob('*.whl'))


def main() -> None:
    """Write the list again, with its comments and versions, and with the hashes of today."""
    lines = LIST.read_text(encoding='utf-8').splitlines()
    comments = [line for line in lines if line.startswith('#')]
    blocks = []
    for line in lines:
        if line and not line.startswith(('#', ' ')):
            requirement = line.rstrip(' \\')
            with TemporaryDirectory() as folder:
                found = sorted(wheels(requirement, Path(folder)))
                blocks.append(' \\\n'.join([requirement, *(
                    f'    --hash=sha256:{sha256(path.read_bytes()).hexdigest()}'
                    for path in found)]))
    LIST.write_text('\n'.join([*comments, *blocks]) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
