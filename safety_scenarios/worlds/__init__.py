# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Simulators in this process, one folder for each: ``mujoco`` is the one that there is.

What worlds share, also those of other simulators in ``ros/worlds``, is beside it: the robot's
task, what sensors misread, what the joints of an arm do next, what is asked of a world without a
trial. What a body is, where it is and how it moves is in ``scenario/world_body.py``.

A new one is a folder here, of which ``trial/links`` makes a link, and a line in ``registry.py``.
``trial/links/simulated.py`` shows what is asked of a world. Simulators that are programs of their
own are moved by an adapter in ``ros/worlds/external``.
"""
