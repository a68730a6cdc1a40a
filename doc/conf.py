# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The pages of ``doc/`` as a site: rosdoc2 wraps it, and adds the version."""

project = 'safety_scenarios'
author = copyright = 'The safety_scenarios authors'  # noqa: A001
extensions = ['myst_parser']
myst_heading_anchors = 4
# rosdoc2 adds pages of every module, where python.md has what users build on, and of the README,
# whose links are those of the repository.
exclude_patterns = ['_build', 'modules.rst', 'safety_scenarios.rst', 'safety_scenarios.*.rst',
                    'standard_docs/**']
html_theme = 'sphinx_rtd_theme'
suppress_warnings = ['misc.highlighting_failure']  # a diagram in a language of which none is known
