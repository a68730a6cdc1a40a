# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A file as plain data that knows its places, and what every reader of a format needs of it."""
