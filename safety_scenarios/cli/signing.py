# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
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
