# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where trials are run: in this process, in several, or on many machines. See ``engine.py``."""
