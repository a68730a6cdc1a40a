# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Lines for a terminal: nothing that a file or a controller says is obeyed there."""

import click
from safety_scenarios.errors import seen


def echo(text: str, *, err: bool = False) -> None:
    """Print a text with a line break, and with escapes for what is not seen in it."""
    click.echo(seen(text), err=err)
