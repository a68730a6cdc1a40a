# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What ``simulator_node`` offers to whoever moves its world: services of ``simulation_interfaces``.

``answering`` says what each of them does to a ``Host``, ``poses`` reads what is to be spawned, and
where: all of it is pure.
``services`` has them as endpoints, where the interfaces are installed.
"""
