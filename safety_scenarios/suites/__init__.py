# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A frozen suite: its file, its run, and the card of a controller. Drawings are in reports."""
