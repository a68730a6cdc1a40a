# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The blocks of a scenario file: what each may say, whatever the format of the file is.

``scenario`` beside this folder puts them together. A new block is one module here.
"""
