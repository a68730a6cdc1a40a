# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Worlds behind ROS topics: the embedded simulator as a node, and simulators of others."""
