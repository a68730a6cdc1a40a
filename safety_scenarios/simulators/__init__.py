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
Simulators in this process, one folder for each: ``mujoco`` is the one that there is.

A new one is a folder here, of which ``links`` makes a link (``links/simulated.py`` shows what is
asked of a world), and a line in ``registry.py``. Simulators that are programs of their own are
moved by an adapter in ``ros/external_simulators``.
"""
