# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The packages of the extra ``train``, imported when they are needed."""

from importlib import import_module
from typing import Any

from safety_scenarios.errors import MissingDependencyError

NEEDED = 'onnx', 'onnxruntime', 'threadpoolctl', 'mujoco'


def package(name: str) -> Any:
    """
    Return a module of one of these packages.

    :raises MissingDependencyError: it is not installed
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError('training a policy', name.partition('.')[0],
                                     "pip install 'safety_scenarios[train]'") from error
