# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The package manifest fits its schema."""

from ament import lint
import pytest


@pytest.mark.xmllint
@pytest.mark.linter
def test_the_manifest_fits_its_schema():
    lint('ament_xmllint', ('package.xml',))
