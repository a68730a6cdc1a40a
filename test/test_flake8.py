# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The code is in the style of ROS, as flake8 and its plug-ins see it."""

from ament import lint
import pytest


@pytest.mark.flake8
@pytest.mark.linter
def test_the_code_is_in_the_style_of_ros():
    lint('ament_flake8')
