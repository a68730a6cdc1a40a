# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Code of the user's own by its name, MODULE:NAME: found and imported, or refused with its place.

The current folder counts as importable, after everything that is installed.
"""

from importlib import import_module
import os
from pathlib import Path
import re
import sys
import traceback
from typing import Any

from safety_scenarios.errors import described, did_you_mean, SettingsError

_FORM = re.compile(r'[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*')
FORM_EXPECTED = 'MODULE:NAME as Python imports it, such as my_pkg.policy:Policy'


def imported_object(name: str) -> Any:
    """
    Return what ``MODULE:NAME`` is.

    :raises SettingsError: there is no such module, it cannot be imported, or nothing in it has
        the name
    """
    if not _FORM.fullmatch(name):
        raise SettingsError(f'controller: got {name!r}, expected {FORM_EXPECTED}: dots for '
                            f'slashes, and no .py')
    module, _, attribute = name.partition(':')
    if module.endswith('.py') and os.path.isfile(module):
        raise SettingsError(f'controller: got {name}, expected {FORM_EXPECTED}, without .py. '
                            f'Write {module[:-3]}:{attribute}')
    found: Any = _imported(module, name)
    for step in attribute.split('.'):
        try:
            found = getattr(found, step)
        except AttributeError:
            raise SettingsError(_missing(name, module, attribute)) from None
    return found


def _imported(module: str, name: str) -> Any:
    here = os.getcwd()
    if not {here, ''} & set(sys.path):
        sys.path.append(here)  # last: nothing of the user's hides what is installed
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or ''
        if module == missing or module.startswith(f'{missing}.'):
            known = sorted({path.stem for path in Path().glob('*.py')} | {
                path.parent.name for path in Path().glob('*/__init__.py')})
            raise SettingsError(
                f'controller: got {name}, expected a module that can be imported: there is no '
                f'{missing} in {here}, on PYTHONPATH or installed. Run this in the folder that '
                f'holds it, or set PYTHONPATH.{did_you_mean(missing, known)}') from error
        raise SettingsError(f'controller: {name}: {_place(error)}: needs the module {missing}, '
                            f'which is not installed. Install it in {sys.prefix}') from error
    except (Exception, SystemExit) as error:  # whatever the user's code raises
        raise SettingsError(f'controller: {name}: {_place(error)}: cannot be imported: '
                            f'{described(error)}. Correct it there') from error


def _place(error: BaseException) -> str:
    """Return the line of the user's code that went wrong."""
    if isinstance(error, SyntaxError) and error.filename:
        return f'{error.filename}:{error.lineno}'
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if 'importlib' not in frame.filename]
    return f'{frames[-1].filename}:{frames[-1].lineno}'


def _missing(name: str, module: str, attribute: str) -> str:
    imported = sys.modules[module]
    own = sorted(key for key, value in vars(imported).items() if not key.startswith('_')
                 and getattr(value, '__module__', None) == module and callable(value))
    return (f'controller: got {name}, expected a name in {getattr(imported, "__file__", module)}, '
            f'which has {", ".join(own) or "none of its own"}.{did_you_mean(attribute, own)}')
