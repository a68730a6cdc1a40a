# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The type of an option that takes a number: neither infinite, nor none at all."""

import math
from typing import Any

import click


class Finite(click.FloatRange):
    """A range of numbers; NaN is in none, though no comparison with it says so."""

    def convert(self, value: Any, param: click.Parameter | None,
                ctx: click.Context | None) -> Any:
        """Return the number, or fail with what is wrong with it."""
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f'got {value!r}, expected a finite number', param, ctx)
        return found
