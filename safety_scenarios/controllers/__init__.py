# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Controllers under test that come with the package: a reference, a language model, and saboteurs.

A new controller is one module with a subclass of ``scenario.controller.ControllerPlugin``, whose
fields are its parameters, and one line in ``registry``. ``host`` runs any of them;
``adapters`` makes one of a class, an instance or a function. Those that are wrong on purpose are
in ``saboteurs``.
"""
