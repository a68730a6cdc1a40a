# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Simulators in this process, one folder for each: ``mujoco`` is the one that there is.

A new one is a folder here, of which ``trial/links`` makes a link, and a line in ``registry.py``.
``trial/links/simulated.py`` shows what is asked of a world. Simulators that are programs of their
own are moved by an adapter in ``ros/worlds/external``.
"""
