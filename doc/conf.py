# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
