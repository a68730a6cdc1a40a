# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The code is in the style of ROS, as flake8 and its plug-ins see it; in daily work, not tests."""

from ament import CODE, lint
from examples import FEW
import pytest


@pytest.mark.flake8
@pytest.mark.linter
@pytest.mark.thorough
def test_the_code_is_in_the_style_of_ros():
    lint('ament_flake8', [path for path in CODE if not (FEW and path == 'test')])
