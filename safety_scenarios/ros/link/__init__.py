# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The link to a controller over ROS topics: what it publishes, hears and asks."""
