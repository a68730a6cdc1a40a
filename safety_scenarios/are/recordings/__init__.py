# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of ARE, judged: our own traces, and what ARE recorded itself."""
