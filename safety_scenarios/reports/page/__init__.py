# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
``report.html``: one file that anybody opens, with everything about a campaign and no network.

``source`` is what goes in, ``first_screen`` and ``tables`` are what the page says, and ``page``
writes the file. Numbers with an interval come in as estimates: no claim is computed here.
``report.html.j2``, ``report.css`` and ``report.js`` are the page itself.
"""
