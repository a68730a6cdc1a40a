# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The command ``sign``: a signature of the folder of a campaign."""

from pathlib import Path

import click
from safety_scenarios.campaign.folder.signing import sign, SIGNATURE


@click.command('sign')
@click.argument('folder', type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option('--key', required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar='FILE', help='SSH key: a private one, or a public one whose private half '
                                   'ssh-agent has.')
def sign_folder(folder: Path, key: Path) -> None:
    r"""
    Sign the campaign in FOLDER with an SSH key.

    Its files must be those that the campaign wrote. Who checks the signature names who may sign
    by verify --signers. A key with a passphrase has to be in ssh-agent: nobody is asked for one.

    \b
    safety-scenarios sign runs/today --key ~/.ssh/id_ed25519
    """
    when = sign(folder, key)
    click.echo(f'signed at {when}: {folder / SIGNATURE}')
