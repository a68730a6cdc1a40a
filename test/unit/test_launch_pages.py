# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The examples that the pages show are the files that ``test/ros/test_launch.py`` runs."""

from pathlib import Path
import re

from cases import for_each

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / 'examples' / 'launch_testing'


@for_each(('page', 'language', 'names'), [
    ('ros.md', 'xml', ['robot_test.launch.xml']),
    ('ros.md', 'yaml', ['robot_test.launch.yaml'])])
def test_an_example_on_the_page_is_its_file(page, language, names):
    text = (ROOT / 'doc' / 'reference' / page).read_text(encoding='utf-8')
    shown = re.findall(rf'^```{language}\n(.*?)^```$', text, re.M | re.S)
    files = [(EXAMPLES / name).read_text(encoding='utf-8') for name in names]
    for name, file in zip(names, files, strict=True):
        without_licence = re.sub(r'\A(#.*\n)+\n', '', file)
        assert without_licence in shown, f'{name} differs from doc/reference/{page}'


def test_every_example_is_shown():
    shown = (ROOT / 'doc' / 'reference' / 'ros.md').read_text(encoding='utf-8')
    assert all(path.name in shown for path in EXAMPLES.iterdir()
               if path.is_file() and path.name != 'README.md')
