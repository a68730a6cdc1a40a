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
A campaign while it runs: what is seen of it, apart from where that is shown.

``feed`` takes events and results out of the campaign's way, ``stage`` and ``shapes`` make a
picture of them, ``words`` make JSON; an ``Output`` shows it. To add one, write another ``Output``.
"""
