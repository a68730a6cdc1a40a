# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Asking a language model about answers, between trials: client, prompt, cache, labelled items.

What it says goes into the record as ``Judgement``; the verdict is made of that in ``invariants``.
"""
