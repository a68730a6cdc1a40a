# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the ROS graph shows: who publishes, who listens, and whether both fit."""
