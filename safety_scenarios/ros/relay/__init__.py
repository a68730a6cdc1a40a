# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``relay_node`` from inside: topic to topic, with what may be wrong on the way."""
