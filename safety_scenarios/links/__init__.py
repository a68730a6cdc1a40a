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
Where stimuli go and commands come from, for links that need no ROS; a simulator is a link.

A new link is a ``Link``, which owns the clocks of a trial, a ``LinkPlugin``, which opens it, and
one line in ``registry.py``, or an entry point ``safety_scenarios.links`` of another package. The
link over ROS topics is ``ros/link/link.py``, opened by ``ros/session.py``.
"""
