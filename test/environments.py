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

"""
Build what several tests share, before they begin: ``python test/environments.py are noble``.

``are`` and ``noble`` need nothing but Python; ``interfaces`` needs the environment of the tests.
"""

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
import sys

BUILDERS = {'are': ('contract.are_environment', 'are_python'),
            'noble': ('contract.noble_environment', 'noble_python'),
            'interfaces': ('interfaces_built', 'interfaces_folder')}

if __name__ == '__main__':
    with ThreadPoolExecutor() as pool:
        for built in [pool.submit(getattr(import_module(module), name))
                      for module, name in (BUILDERS[which] for which in sys.argv[1:])]:
            built.result()
