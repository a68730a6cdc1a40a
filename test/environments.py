# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Build what several tests share, before they begin: ``python test/environments.py are noble``.

``are`` and ``noble`` need nothing but Python; ``interfaces`` needs the environment of the tests.
"""

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
import sys

BUILDERS = {'are': ('contract.environments', 'are_python'),
            'noble': ('contract.environments', 'noble_python'),
            'interfaces': ('interfaces_built', 'interfaces_folder')}

if __name__ == '__main__':
    with ThreadPoolExecutor() as pool:
        for built in [pool.submit(getattr(import_module(module), name))
                      for module, name in (BUILDERS[which] for which in sys.argv[1:])]:
            built.result()
