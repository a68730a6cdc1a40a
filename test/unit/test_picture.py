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

"""The picture at the top of README is what the program prints, and so are the numbers under it."""

import html
from importlib import util
from pathlib import Path
import re

ROOT = Path(__file__).parents[2]


def script(path):
    spec = util.spec_from_file_location(path.stem, path)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(drawing):
    return [html.unescape(text) for text in re.findall(r'<text[^>]*>(.*?)</text>', drawing)]


def test_the_picture_and_the_numbers_of_the_readme_are_what_is_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picture = script(ROOT / 'bench' / 'picture.py')
    shown = picture.screen()
    printed = shown.export_text(clear=False)
    drawn = shown.export_svg(title=f'$ {picture.COMMAND}')
    assert words(picture.PICTURE.read_text(encoding='utf-8')) == words(drawn), (
        'doc/eval.svg is out of date: python bench/picture.py makes it again')
    _, _, below = (ROOT / 'README.md').read_text(encoding='utf-8').partition('(doc/eval.svg)')
    told = re.findall(r'\d+\.\d+', below.partition('\n## ')[0])
    assert len(told) >= 6 and set(told) <= set(re.findall(r'\d+\.\d+', printed))
