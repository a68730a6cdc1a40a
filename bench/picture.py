# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Draws ``doc/report.png``: the first screen of the page of a campaign in loopback against ``late``.

It needs the extra ``report``, playwright, Pillow and a Chromium. What the picture says stands in
it as text, too (``Description``), so that a test can tell if the program says something else.
"""

from collections.abc import Mapping
import io
import os
from pathlib import Path
import shutil
from tempfile import TemporaryDirectory

from safety_scenarios.campaign.run import run
from safety_scenarios.reports.outputs.report import source_of
from safety_scenarios.reports.page.first_screen import fixes, headline, tiles
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.session import open_outputs, OutputContext

PICTURE = Path(__file__).resolve().parents[1] / 'doc' / 'report.png'
SCENARIOS = ('SCN-R-101', 'SCN-R-102', 'SCN-R-D-102')
WIDTH, HEIGHT = 1180, 660
FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync',
         '--no-first-run']


def campaign() -> Path:
    """Run the campaign into the folder ``results``, and return its page."""
    settings = RunSettings(scenarios=SCENARIOS, controller='late', link='loopback', seed=0,
                           output='results', outputs=('page',))
    with open_outputs(OutputContext(settings, print, print)) as observers:
        run(settings, observers, Loopback)
    return Path('results/report.html').resolve()


def said(page: Path) -> str:
    """Return what the first screen says, in words."""
    source = source_of(page.parent)
    top: Mapping[str, str] = headline(source)
    return '\n'.join([top['verdict'], top['sentence'], top['bound'], *(
        f'{one["name"]}: {one["value"]} {one["more"]}' for one in tiles(source)), *(
        f'{one["scenario"]}: {one["reason"]}' for one in fixes(source))])


def draw(page: Path, picture: Path) -> None:
    """Take a picture of the first screen, with few colours."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which('chromium'), args=FLAGS)
        screen = browser.new_page(viewport={'width': WIDTH, 'height': HEIGHT})
        screen.goto(page.as_uri())
        screen.wait_for_selector('html[data-ready=yes]')
        taken = screen.screenshot()
        browser.close()
    words = PngInfo()
    words.add_text('Description', said(page).encode('ascii', 'replace').decode())
    Image.open(io.BytesIO(taken)).convert('RGB').quantize(64, dither=Image.Dither.NONE).save(
        picture, optimize=True, pnginfo=words)


if __name__ == '__main__':
    with TemporaryDirectory() as scratch:
        os.chdir(scratch)
        draw(campaign(), PICTURE)
