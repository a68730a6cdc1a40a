# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Policies as controllers: what goes into a model, what comes out, and when it is asked.

``contract`` says how a model is connected to a robot. ``inputs`` makes the model's arrays of an
observation, ``actions`` the command of its output, and ``chunks`` decides when it is asked and
which action of a chunk is due. ``policy`` is the controller. A kind of model is one module here
with a ``PolicyModel``, and one line in ``registry``.
"""
