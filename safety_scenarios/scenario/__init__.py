# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a scenario file says, and the protocols of plug-ins: frozen values without I/O or ROS.

Blocks of a file are in ``blocks``, what a world needs in ``world``, types of ROS in
``interfaces``, kinds of robots in ``robots``.
"""
