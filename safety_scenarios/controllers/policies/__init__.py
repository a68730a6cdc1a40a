# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Policies as controllers: what goes into a model, what comes out, and when it is asked.

``contract`` says how a model is connected to a robot. ``inputs`` makes the model's arrays of an
observation; ``actions`` decides when it is asked and which action of a chunk is due, and makes the
command of it. ``policy`` is the controller. A kind of model is a ``PolicyModel`` here, in
``model_files`` or ``python_models``, and one line in ``registry``.
"""
