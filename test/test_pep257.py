# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Docstrings are in the form that ROS asks for."""

from ament import lint
import pytest


@pytest.mark.pep257
@pytest.mark.linter
@pytest.mark.thorough
def test_docstrings_have_the_form_of_ros():
    lint('ament_pep257')
