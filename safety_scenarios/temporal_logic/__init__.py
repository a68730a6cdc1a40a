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
Signal temporal logic: what must hold of signals over time, and by how much.

``parser`` turns text into a ``formula``; ``offline`` judges a whole ``trace`` of samples,
``online`` one sample at a time with the same answer; ``deciding`` names the predicate and the
sample that decided. Semantics are in ``formula`` and ``interval``. A new operator is a node in
``formula``, a name in ``parser``, and a rule in each of the other three.
"""
