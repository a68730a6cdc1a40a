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
"""
One trial in detail, and two campaigns side by side, as plain data and in a terminal.

``view`` makes of a record and its result what a page and a terminal show, ``comparison`` of
campaigns; both are JSON and nothing else. ``terminal`` draws a view with characters;
``reports/html/trial.js`` and ``comparison.js`` draw it in a browser.
"""
