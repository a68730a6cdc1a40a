# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``train``: a small policy that imitates the reference."""

from pathlib import Path
import time

import click
from safety_scenarios.campaign.training.imitation import QUICK
from safety_scenarios.campaign.training.policy_files import (
    CARD,
    MODEL,
    POLICIES,
    QUICK_TEST_TRIALS,
    write_policy,
)
from safety_scenarios.cli.completion import OutputPath
from safety_scenarios.scenario.settings import SEEDS


@click.command(epilog='Exit codes: 0 the policy was written, whatever it can do; 2 wrong input '
                      'or usage; 3 it could not be trained or written.')
@click.argument('policy', type=click.Choice(POLICIES), metavar='base|arm')
@click.option('--seed', type=click.IntRange(0, SEEDS - 1), default=0, show_default=True,
              help='Seed of everything that is random; the same seed gives the same file.')
@click.option('--quick', is_flag=True,
              help='A twentieth of the scenes, no rounds of correction, and a fifth of the trials '
                   'for the card: a worse policy, for comparisons.')
@click.option('--output', type=OutputPath(), required=True, metavar='DIR',
              help='New folder for the model, its contract and its model card.')
def train(policy: str, seed: int, quick: bool, output: Path) -> None:
    r"""
    Train a small policy that imitates the reference, and judge it.

    base drives a mobile base by scanner, tracker and its own speed; arm moves six joints beside a
    person tracker and a wrist sensor. It takes minutes, of which 3 minutes of one core are the
    trials in which the policy is judged for its model card. --quick takes 1.5 minutes in all. It
    needs the extra train.

    \b
    safety-scenarios train base --seed 0 --output my_policy
    safety-scenarios run robotic --controller onnx:my_policy/policy.onnx --link loopback
    """
    begin_s = time.monotonic()

    def tell(line: str) -> None:
        click.echo(f'{time.monotonic() - begin_s:5.0f} s  {line}', err=True)

    digest = write_policy(policy, seed, output, tell=tell) if not quick else \
        write_policy(policy, seed, output, QUICK, tell, QUICK_TEST_TRIALS)
    click.echo(f'{output / MODEL}: SHA-256 {digest}; how it does is in {output / CARD}')
