# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The controller under test by what the user calls it: a plug-in's name, or MODULE:NAME.

``my_pkg.policy:Policy`` is a class, an object or a function in the user's own repository, which
need not be packaged: the current folder counts as importable, after everything that is installed.
Only who runs a campaign names a controller so. A scenario file cannot: it would run any code.
"""

from importlib import import_module
from importlib.util import find_spec
import os
from pathlib import Path
import re
import sys
import traceback
from typing import Any

from safety_scenarios import registry
from safety_scenarios.controllers.making import parameter_model
from safety_scenarios.errors import described, did_you_mean, SettingsError, UnknownPluginError

_FORM = re.compile(r'[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*')
_EXPECTED = 'MODULE:NAME as Python imports it, such as my_pkg.policy:Policy'


def is_own(name: str) -> bool:
    """Return whether a controller's name says where in the user's own code it is."""
    return ':' in name


def named_controller(name: str) -> Any:
    """
    Import a controller.

    :raises UnknownPluginError: no controller has this name
    :raises SettingsError: there is no such module, it cannot be imported, or nothing in it has
        the name or can be a controller
    """
    if not is_own(name):
        try:
            return registry.resolve('controllers', name)
        except UnknownPluginError as error:
            raise UnknownPluginError('controllers', name, registry.names('controllers'), (
                f' One in code of your own is named {_EXPECTED}')) from error
    if not _FORM.fullmatch(name):
        raise SettingsError(f'controller: got {name!r}, expected {_EXPECTED}: dots for slashes, '
                            f'and no .py')
    module, _, attribute = name.partition(':')
    found: Any = _imported(module, name)
    for step in attribute.split('.'):
        try:
            found = getattr(found, step)
        except AttributeError:
            raise SettingsError(_missing(name, module, attribute)) from None
    try:
        parameter_model(found)
    except SettingsError as error:
        raise SettingsError(f'controller: {name}: {str(error).removeprefix("controller: ")}') \
            from None
    return found


def source_of(name: str) -> tuple[str | None, Path | None]:
    """Return ``module:Class`` of a controller and the file it is in; None for what is unknown."""
    target = name if is_own(name) else registry.names('controllers').get(name)
    if target is None:
        return None, None
    module = target.partition(':')[0]
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):  # a class that was given from Python, in __main__
        return target, None
    return target, Path(spec.origin) if spec and spec.origin else None


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
