# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Where stimuli go and commands come from, for links that need no ROS; a simulator is a link.

A new link is a ``Link``, which owns the clocks of a trial, a ``LinkPlugin``, which opens it, and
one line in ``registry.py``, or an entry point ``safety_scenarios.links`` of another package. The
link over ROS topics is ``ros/link/link.py``, opened by ``ros/session.py``.
"""
