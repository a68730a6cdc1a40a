# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Worlds of other simulators, behind the same ``WorldControl`` as ours; a new one is added here.

A simulator that is not of a family that is here already needs a ``Mover`` of its own (``mover``;
``gazebo`` and ``simulation_interfaces`` are two), a line in ``choice``, which picks one by what is
on the graph, and one in ``connect``. ``entity_control`` is what all of them do over it.
``arm`` is what a trial with an arm needs beside bodies.
What needs no ROS is pure: ``bodies``, ``truth``, and ``scenery``, which is what stands there
beside the bodies of stimuli.
"""
