# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How large ``report.html`` is, how long it takes to write, to open and to filter.

``report.py [FOLDER]`` makes campaigns of 1 000 and 10 000 trials: each trial is the result and the
view of a real one, with numbers moved a little so that no two are alike, as a campaign of so many
would take hours. Prints one JSON line for each.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice
import json
from pathlib import Path
import random
import shutil
import sys
from tempfile import TemporaryDirectory
import time
from typing import Any
import zlib

from safety_scenarios.campaign.run import run
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.reports.outputs.assurance import claim_of
from safety_scenarios.reports.outputs.report import source_of, write
from safety_scenarios.reports.page.source import Source
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings

FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync',
         '--no-first-run']
SIZES = (1_000, 10_000)


def real(folder: Path) -> Source:
    """Run each robotic scenario twice in a world, against a controller that is often too late."""
    settings = RunSettings(scenarios=('robotic',), link='simulated', output=str(folder),
                           controller='late', trials=2)
    run(settings, [])
    return source_of(folder)


def many(source: Source, count: int) -> Source:
    """Return a campaign of as many trials, each a little other than the one that it is made of."""
    chance, results, views = random.Random(1), list[TrialResult](), dict[str, bytes]()
    for number, result in enumerate(islice(cycle(source.results), count)):
        view = json.loads(zlib.decompress(source.views[result.trial_id]))
        name = f'{result.scenario_id}.late.s0.t{number}'
        moved = dict(moved_a_little(view, chance.uniform(0.9, 1.1)), id=name)
        views[name] = zlib.compress(json.dumps(moved, separators=(',', ':')).encode())
        results.append(result.model_copy(update={
            'trial_id': name, 'index': number // len(source.results),
            'reason': f'{result.reason} ({chance.random():.3f})'}))
    summary = summarise(results, controller='late', seed=0, planned=count, interrupted=False,
                        link='simulated')
    return replace(source, name=f'{count} trials', results=tuple(results), views=views,
                   summary=summary, claim=claim_of(summary, results))


def moved_a_little(data: Any, factor: float) -> Any:
    """Return JSON data with its broken numbers a little larger or smaller, in the same order."""
    if isinstance(data, dict):
        return {name: moved_a_little(value, factor) for name, value in data.items()}
    if isinstance(data, list):
        return [moved_a_little(value, factor) for value in data]
    if isinstance(data, float):
        digits = len(repr(data).partition('.')[2])
        return round(data * factor, digits)
    return data


def seen(page: Path) -> Iterator[tuple[str, float]]:
    """Open the page in Chromium; yield what took how long (s)."""
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which('chromium'), args=FLAGS)
        screen = browser.new_page()
        begin_s = time.perf_counter()
        screen.goto(page.as_uri())
        screen.wait_for_selector('html[data-ready=yes]')
        yield 'opened_s', time.perf_counter() - begin_s
        for what, do in (('filtered_s', lambda: screen.uncheck('input[value=FAIL]')),
                         ('searched_s', lambda: screen.fill('#words', 'person'))):
            begin_s = time.perf_counter()
            do()
            screen.evaluate('new Promise((done) => requestAnimationFrame(done))')
            yield what, time.perf_counter() - begin_s
        begin_s = time.perf_counter()
        screen.click('#list tbody a')
        screen.wait_for_selector('#trial-view input[type=range]')
        yield 'trial_opened_s', time.perf_counter() - begin_s
        browser.close()


def main(scratch: Path) -> None:
    """Measure each size and print it."""
    source = real(scratch / 'real')
    for count in SIZES:
        made, page = many(source, count), scratch / f'{count}.html'
        begin_s = time.perf_counter()
        write([made], page)
        took_s = time.perf_counter() - begin_s
        beside = list(page.with_name(f'{count}_data').glob('*.js'))
        print(json.dumps({  # noqa: T201
            'trials': count, 'written_s': round(took_s, 2), 'bytes': page.stat().st_size,
            'files_beside': len(beside),
            **{name: round(value, 2) for name, value in seen(page)}}), flush=True)


if __name__ == '__main__':
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with TemporaryDirectory() as folder:
            main(Path(folder))
