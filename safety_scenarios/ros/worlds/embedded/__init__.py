# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The embedded world as a ROS node: its sensors are topics, its time is /clock."""
