# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Worlds of other simulators, behind the same ``WorldControl`` as ours; a new one is added here.

A simulator that is not of a family that is here already needs a ``Mover`` of its own in
``adapters``, where two are and where ``choose`` picks one by what is on the graph, and a line in
``connection``. ``entity_control`` is what all of them do over it.
``arm`` is what a trial with an arm needs beside bodies.
What needs no ROS is pure: ``bodies``, ``truth``, and ``scenery``, which is what stands there
beside the bodies of stimuli.
"""
