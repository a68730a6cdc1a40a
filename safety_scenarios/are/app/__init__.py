# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Our plug-ins inside Meta ARE: the robot's app, and the commands in which ARE knows it.

Needs the extra ``are``; the only folder that imports ``are``. Nothing here imports it.
"""
