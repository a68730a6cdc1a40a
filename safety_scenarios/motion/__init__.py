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
From what a robot's drivers execute to how it moves: its axes, its fastest point, how it brakes.

``track`` reads the motion of a record, ``standing`` says when that is a standstill, ``braking``
where it begins, ``course`` where the robot would be; ``feedback`` is what the robot itself
reports, ``told`` what the world of a link tells, ``contacts`` what it touched there. All of it is
pure.
"""
