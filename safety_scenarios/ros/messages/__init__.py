# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Messages on their way in and out: type, quality of service, stamps, decoding."""
