# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
A trial as pictures: its record becomes a ``Scene``, and a scene is drawn.

``scene`` has the nouns, ``of_record`` and ``reckoned`` make them of a record. The others draw and
need matplotlib: ``top_view`` what is seen from above, ``over_time`` the axes below it, ``pages``
and ``strip`` whole pictures, ``moving`` the frames of a film; ``encoding`` makes a file of each.
"""
