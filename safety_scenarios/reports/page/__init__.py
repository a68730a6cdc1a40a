# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
``report.html``: one file that anybody opens, with everything about a campaign and no network.

``source`` is what goes in, ``first_screen`` and ``tables`` what each section says, ``page`` the
file. Numbers with an interval come in as estimates: nothing is computed here that is claimed.
``report.html.j2``, ``report.css`` and ``report.js`` are the page itself.
"""
