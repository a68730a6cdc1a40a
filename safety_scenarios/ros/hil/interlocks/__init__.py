# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What has to hold before and while a stimulus leaves for a robot that is really there.

Each is without ROS: it is given what was received, and says why it does not hold. ``guard`` asks
them all; ``ros/hil/hardware`` listens for them.
"""
