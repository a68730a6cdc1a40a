# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
One trial in detail, and two campaigns side by side, as plain data and in a terminal.

``view`` makes of a record and its result what a page and a terminal show, ``comparison`` of
campaigns; both are JSON and nothing else. ``terminal`` draws a view with characters;
``reports/page/trial.js`` and ``comparison.js`` draw it in a browser.
"""
