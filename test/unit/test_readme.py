# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""README shows what the program prints, and the manual leads to every page."""

from importlib import util
from pathlib import Path
import re

from PIL import Image
from safety_scenarios.studies.selftest.kill_matrix import SABOTEURS

ROOT = Path(__file__).parents[2]


def script(path):
    spec = util.spec_from_file_location(path.stem, path)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_and_the_numbers_of_the_readme_are_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv('SAFETY_SCENARIOS_REPORT')
    picture = script(ROOT / 'bench' / 'picture.py')
    page = picture.campaign()
    with Image.open(picture.PICTURE) as drawn:
        assert drawn.text['Description'] == picture.said(page).encode('ascii', 'replace').decode(
        ), 'doc/report.png is out of date: python bench/picture.py makes it again'
    assert picture.PICTURE.stat().st_size < 150_000
    _, _, below = (ROOT / 'README.md').read_text(encoding='utf-8').partition('(doc/report.png)')
    told = re.findall(r'\d+\.\d+', below.partition('\n## ')[0])
    written = page.read_text(encoding='utf-8').partition('<script')[0]
    assert len(told) >= 6 and set(told) <= set(re.findall(r'\d+\.\d+', written))


def test_the_readme_leads_to_the_manual_and_that_to_every_page():
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    assert '(doc/index.md)' in readme and '(doc/reference/index.md)' in readme
    manual = (ROOT / 'doc' / 'index.md').read_text(encoding='utf-8')
    pages = sorted(path.name for path in (ROOT / 'doc' / 'manual').glob('*.md'))
    assert len(pages) > 10
    assert [name for name in pages if f'(manual/{name})' not in manual] == []
    assert [name for name in pages if f'manual/{name.removesuffix(".md")}\n' not in manual] == []


def test_the_readme_is_read_in_five_minutes():
    assert len((ROOT / 'README.md').read_text(encoding='utf-8').split()) <= 900


def test_the_number_of_saboteurs_is_that_of_the_self_test():
    readme = ' '.join((ROOT / 'README.md').read_text(encoding='utf-8').split())
    assert f'wrong on purpose, {len(SABOTEURS)} of them' in readme
