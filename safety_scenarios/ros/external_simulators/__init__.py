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
Worlds of other simulators, behind the same ``WorldControl`` as ours; a new one is added here.

A simulator that is not of a family that is here already needs a ``Mover`` of its own (``mover``;
``gazebo`` and ``simulation_interfaces`` are two), a line in ``choice``, which picks one by what is
on the graph, and one in ``connect``. ``entity_control`` is what all of them do over it.
``arm`` is what a trial with an arm needs beside bodies.
What needs no ROS is pure: ``footprint``, ``poses``, ``course``, ``bodies``, ``truth``, and of what
``scene`` puts there beside the bodies of stimuli ``scenery``, ``glass`` and ``falls``.
"""
