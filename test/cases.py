# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A claim over a table of cases as one test, which names every case that breaks it.

``pytest.mark.parametrize`` makes a test of each case, and each costs some milliseconds around it:
more than the claim itself, where that is a formula. Where a case takes long, or needs a folder or
captured output of its own, it stays a test of its own.
"""

from collections.abc import Callable, Iterable
from functools import wraps
import inspect
import traceback
from typing import Any

import pytest

_SHOWN = 100
"""Characters of a case that has no other name than its values."""


def for_each(names: str | tuple[str, ...], cases: Iterable[Any] | Callable[[], Iterable[Any]],
             ids: Callable[[Any], object] | Iterable[object] | None = None) -> Callable[
                 [Callable[..., None]], Callable[..., None]]:
    """
    Hold a claim for all cases, to the last, and fail with a line for each that breaks it.

    A case that skips breaks it too, and so does a table without a case: neither shows anything.
    Fixtures are made once, for all cases.

    :param names: the arguments that a case gives: one name takes the case as it is, and several
        take it apart
    :param cases: or a function that finds them: that is called when the test runs
    :param ids: case to its name, or all names in order; None: its arguments and their values
    """
    known = None if callable(cases) else list(cases)
    named = None if ids is None or callable(ids) else list(ids)
    assert known is None or named is None or len(known) == len(named), f'{len(named)} names'

    def decorated(claim: Callable[..., None]) -> Callable[..., None]:
        @wraps(claim)
        def holds(**fixtures: Any) -> None:
            table = list(cases()) if callable(cases) else known or []
            broken = []
            for place, case in enumerate(table):
                given = {names: case} if isinstance(names, str) else \
                    dict(zip(names, case, strict=True))
                try:
                    claim(**fixtures, **given)
                except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
                    name = str(named[place]) if named is not None else str(ids(case)) \
                        if callable(ids) else ', '.join(
                            f'{key}={value!r}' for key, value in given.items())
                    broken.append(f'[{name[:_SHOWN]}] {_told(error, claim)}')
            if broken or not table:
                pytest.fail('\n'.join([f'broken by {len(broken)} of {len(table)} cases',
                                       *broken]), pytrace=False)
        signature = inspect.signature(claim)
        taken = {names} if isinstance(names, str) else set(names)
        assert taken <= set(signature.parameters), f'{claim.__name__} takes no {taken}'
        holds.__signature__ = signature.replace(parameters=[  # type: ignore[attr-defined]
            one for name, one in signature.parameters.items() if name not in taken])
        return holds
    return decorated


def _told(error: BaseException, claim: Callable[..., None]) -> str:
    """Return where in the file of the claim it broke, and how."""
    file = inspect.unwrap(claim).__code__.co_filename
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename == file]
    place = f'{file}:{frames[-1].lineno}: {frames[-1].line}\n' if frames else ''
    return f'{place}{type(error).__name__}: {error}'.replace('\n', '\n  ')
