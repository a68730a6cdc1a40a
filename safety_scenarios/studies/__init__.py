# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Questions that many campaigns answer: which controller, under which conditions, how sure."""
