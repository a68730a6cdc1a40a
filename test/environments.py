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

"""Build what several tests share, before they begin: ``python test/environments.py``."""

from concurrent.futures import ThreadPoolExecutor

from contract.are_environment import are_python
from contract.noble_environment import noble_python
from interfaces_built import interfaces_folder

if __name__ == '__main__':
    with ThreadPoolExecutor() as pool:
        for built in [pool.submit(build) for build in (
                interfaces_folder, are_python, noble_python)]:
            built.result()
