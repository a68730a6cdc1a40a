# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``report.html`` of a real campaign in a browser; screenshots stay in the run's folder."""

from dataclasses import replace
import os
from pathlib import Path
import shutil
import subprocess
import sys

import pytest
from safety_scenarios.reports.outputs.report import source_of, write
from safety_scenarios.reports.page import page as html_page
from safety_scenarios.reports.trial_view.comparison import compared
from safety_scenarios.studies.side_by_side import side_by_side
from unit.campaign.statistics.test_summarise import trial
from unit.reports.test_first_screen import source

pytestmark = pytest.mark.environment

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).with_name('safety-scenarios')
FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync',
         '--no-first-run']
LOOKS = {'light': {'color_scheme': 'light', 'viewport': {'width': 1280, 'height': 900}},
         'dark': {'color_scheme': 'dark', 'viewport': {'width': 1280, 'height': 900}},
         'phone': {'color_scheme': 'light', 'viewport': {'width': 320, 'height': 700}}}
HOSTILE = ('</script><script>document.title="taken"</script><img src=x onerror=alert(1)>\x1b[31m'
           '\u202egnp.exe\u2028\x00 {{ 7 * 7 }} &lt;b&gt; \ud800 שלום')


@pytest.fixture(scope='module')
def browser():
    """Start Debian's Chromium once; where continuous integration has none, that fails."""
    found = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser',
                                                 'google-chrome'))), None)
    if found is None:
        if os.environ.get('CHROMIUM') == 'required':
            pytest.fail('chromium is not installed. Run: apt install chromium', pytrace=False)
        pytest.skip('no chromium is installed. Run: apt install chromium')
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Run a campaign that fails where there is a hazard, and passes where there is none."""
    folder = tmp_path_factory.mktemp('report') / 'late'
    done = subprocess.run(
        [COMMAND, 'run', 'SCN-R-101', 'SCN-R-D-101', '--link', 'simulated', '--trials', '2',
         '--controller', 'late', '--set', 'controller.delay_ms=700', '--output', str(folder)],
        text=True, capture_output=True, timeout=120, check=False,
        env={**os.environ, html_page.SWITCH: ''})
    assert done.returncode == 1, done.stderr
    assert f'Results: {folder} (report.html' in done.stdout.replace('\n', '')
    return folder


@pytest.fixture
def opened(browser):
    """Return what opens a page, and see in the end that nothing went wrong in any of them."""
    contexts, wrong = [], []

    def open_page(path, look='light', hash=''):  # noqa: A002
        context = browser.new_context(**LOOKS[look])
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on('console', lambda said: wrong.append(said.text))
        page.on('pageerror', lambda error: wrong.append(str(error)))
        page.on('dialog', lambda dialog: (wrong.append('a dialog'), dialog.dismiss()))
        page.on('request', lambda asked: wrong.append(asked.url) if not asked.url.startswith(
            ('file:', 'data:', 'blob:')) else None)
        page.goto(f'{path.as_uri()}{hash}')
        page.wait_for_selector('html[data-ready=yes]')
        return page
    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def rows(page):
    return page.locator('#list tbody tr').count()


def test_the_first_screen_says_what_it_came_to_and_how_sure_that_is(opened, folder):
    page = opened(folder / 'report.html')
    assert page.title().startswith('FAIL: ')
    assert 'failed 2 of 4 trials in 2 scenarios: it missed 2 of 2 hazards' in page.inner_text('h1')
    assert '2 failures in 4 trials: between' in page.inner_text('.bound')
    first = page.inner_text('.fixes li')
    assert 'Person steps near' in first and 'exceeds the critical limit (500 ms)' in first
    assert page.evaluate('document.documentElement.scrollWidth <= innerWidth')
    page.click('#explore')
    page.wait_for_selector('#explored .boxlayer')


def test_trials_are_filtered_sorted_and_searched(opened, folder):
    page = opened(folder / 'report.html')
    assert rows(page) == 4
    page.uncheck('input[value=FAIL]')
    assert rows(page) == 2 and '2 of 4 trials' in page.inner_text('#found')
    page.click('button[type=reset]')
    page.locator('#list tbody tr').nth(3).wait_for()
    page.fill('#words', 'critical STEPS')
    assert rows(page) == 2
    page.click('#list tbody a')  # while the search is still in focus
    page.wait_for_selector('#trial-name .v-fail')
    page.locator('#list tbody .why').nth(1).click()  # anywhere in the row
    page.wait_for_selector('#list tr.chosen:nth-child(2)')
    page.fill('#words', 'nobody says this')
    assert rows(page) == 0
    page.fill('#words', '')
    page.select_option('#of-scenario', 'SCN-R-D-101')
    assert rows(page) == 2
    page.select_option('#of-scenario', '')
    page.click('#list thead button:text("latency ms")')
    page.click('#list thead button:text("latency ms")')
    assert page.get_attribute('#list th:has(button:text("latency ms"))', 'aria-sort') == \
        'descending'
    times = page.locator('#list tbody tr td:nth-of-type(4)').all_inner_texts()
    known = [float(text) for text in times if text[0].isdigit()]
    assert len(known) == 2 and known == sorted(known, reverse=True)


def test_one_click_leads_from_a_failure_to_the_sentence_and_a_link_there_stays(opened, folder):
    page = opened(folder / 'report.html')
    page.click('.fixes a')
    page.wait_for_selector('#trial-view input[type=range]')
    assert 'exceeds the critical limit (500 ms)' in page.inner_text('#trial-why')
    assert 'Where the time went' in page.get_attribute('.ss-parts', 'aria-label')
    assert page.locator('.ss-parts .ss-reaction-part').count() > 2
    assert page.evaluate('document.activeElement.id') == 'trial-name'
    link = page.evaluate('location.hash')
    slider = page.locator('#trial-view input[type=range]').first
    before = slider.input_value()
    slider.focus()
    page.keyboard.press('Home')
    assert slider.input_value() != before
    again = opened(folder / 'report.html', hash=link)
    assert again.inner_text('#trial-name') == page.inner_text('#trial-name')
    again.click('#after')
    again.wait_for_url(lambda url: not url.endswith(link))
    unknown = opened(folder / 'report.html', hash='#trial=nobody')
    assert 'has no trial nobody' in unknown.inner_text('#trial')


def test_everybody_can_read_it_in_light_and_dark_on_a_phone_and_on_paper(opened, folder):
    from axe_playwright_python.sync_playwright import Axe
    for look in LOOKS:
        page = opened(folder / 'report.html', look)
        page.screenshot(path=folder.with_name(f'first.{look}.png'))
        page.click('.fixes a')
        page.wait_for_selector('#trial-view input[type=range]')
        page.screenshot(path=folder.with_name(f'trial.{look}.png'))
        found = Axe().run(page).response['violations']
        assert [(one['id'], one['nodes'][0]['html']) for one in found] == [], look
        assert page.evaluate('document.documentElement.scrollWidth <= innerWidth'), look
    page.pdf(path=folder.with_name('report.pdf'), prefer_css_page_size=True)
    assert folder.with_name('report.pdf').read_bytes().startswith(b'%PDF')
    page.emulate_media(media='print')
    assert page.is_hidden('.filters') and page.is_hidden('.top')
    assert page.evaluate("getComputedStyle(document.querySelector('#signatures')).breakBefore"
                         ) == 'page'
    assert page.inner_text('.sign').count('Signature') == 3


def test_everybody_can_read_a_table_of_cards_on_a_phone(browser, tmp_path):
    from axe_playwright_python.sync_playwright import Axe
    path = tmp_path / 'cards.html'
    subprocess.run([COMMAND, 'suite', 'table', ROOT / 'config' / 'cards', '--output', path],
                   check=True, capture_output=True, timeout=120)
    context = browser.new_context(**LOOKS['phone'])
    page = context.new_page()
    page.goto(path.as_uri())
    found = [one['id'] for one in Axe().run(page).response['violations']]
    is_wide = page.evaluate('document.documentElement.scrollWidth > innerWidth')
    context.close()
    assert found == [] and not is_wide


def test_the_switch_changes_the_colours(opened, folder):
    page = opened(folder / 'report.html')
    colour = 'getComputedStyle(document.body).backgroundColor'
    before = page.evaluate(colour)
    page.click('#theme')
    assert page.evaluate(colour) != before
    assert page.get_attribute('#theme', 'aria-pressed') == 'true'


def test_what_others_wrote_is_text_and_nothing_else(opened, folder, tmp_path):
    source, more = source_of(folder), 'A' * 1_000_000
    odd = tuple(result.model_copy(update={
        'trial_id': f'{HOSTILE}&of=1#{number}', 'scenario_name': HOSTILE,
        'reason': HOSTILE + more}) for number, result in enumerate(source.results))
    summary = source.summary.model_copy(update={
        'controller': HOSTILE, 'scenarios': tuple(row.model_copy(update={
            'scenario_name': HOSTILE, 'reason': HOSTILE + more})
            for row in source.summary.scenarios)})
    views = dict(zip([one.trial_id for one in odd], source.views.values()))
    path = tmp_path / 'report.html'
    write([replace(source, name=HOSTILE, summary=summary, results=odd, views=views,
                   interlocks=({'what': HOSTILE, 'system_ns': HOSTILE},),
                   settings={'started': HOSTILE, 'settings': {'seed': HOSTILE}})], path)
    page = opened(path)
    assert page.title().startswith('FAIL: </script><script>')
    assert page.locator('img, main script').count() == 0
    seen = page.inner_text('h1')
    assert '</script><script>document.title="taken"</script><img src=x' in seen
    assert '␛[31m[U+202E]gnp.exe[U+2028]␀ {{ 7 * 7 }} &lt;b&gt;' in seen and 'שלום' in seen
    page.click('.fixes a')
    page.wait_for_selector('#trial-view input[type=range]')
    assert '␛[31m' in page.inner_text('#trial-name')
    assert '(1000' in page.inner_text('#trial-why')[-80:]
    page.click('#explore')
    page.wait_for_selector('#explored .boxlayer')


def test_a_page_from_a_disk_loads_further_trials_from_beside_it(
        opened, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(html_page, 'MOST_INSIDE', 0)
    write([source_of(folder)], tmp_path / 'all.html')
    assert sorted(path.name for path in (tmp_path / 'all_data').iterdir()) == ['0.js']
    page = opened(tmp_path / 'all.html')
    page.click('.fixes a')
    page.wait_for_selector('#trial-view input[type=range]')
    shutil.move(tmp_path / 'all_data', tmp_path / 'elsewhere')
    (tmp_path / 'all_data').mkdir()
    (tmp_path / 'all_data' / '0.js').write_text('"not what it was"')
    again = opened(tmp_path / 'all.html')
    again.evaluate('SafetyScenarios.loaded(7, "nobody asked")')
    assert again.inner_text('.verdict').endswith('FAIL')


def test_a_comparison_draws_every_pair_and_leads_to_its_trials(opened, folder, tmp_path):
    both = [source_of(folder), replace(source_of(folder), name='other')]
    view = compared(side_by_side([folder, folder]))
    view['answers'][0]['sentence'] = view['campaigns'][1]['name'] = HOSTILE
    first = view['paired'][0]['points'][0]
    view['flips'][0] |= {'of': 1, 'list': [['SCN-R-101', 1, 'PASS', 'FAIL', HOSTILE, *first[5:]]]}
    write(both, tmp_path / 'two.html', view)
    page = opened(tmp_path / 'two.html', 'phone')
    assert page.locator('#comparison .ss-pair').count() == len(view['paired'][0]['points']) == 2
    assert '<script>' in page.inner_text('#comparison .ss-answer') and page.title() != 'taken'
    assert page.evaluate('document.documentElement.scrollWidth <= innerWidth')
    page.locator('#comparison .ss-jump').nth(1).click()
    page.wait_for_selector('#trial-view .ss-findings')
    assert page.url.endswith('&of=1')
    page.locator('#trial-view .ss-findings .ss-jump').first.click()
    moved = page.get_attribute('#trial-view .ss-slider', 'aria-valuetext')
    page.keyboard.press('ArrowLeft')
    assert page.get_attribute('#trial-view .ss-slider', 'aria-valuetext') != moved


def test_passing_and_latency_are_drawn_over_a_number_that_the_reader_chooses(opened, tmp_path):
    results = [trial('PASS' if delay < 200 else 'FAIL', 50.0 + delay + number,
                     drawn={'delay_ms': delay, f'z{HOSTILE}': number})
               for delay in (0, 100, 200) for number in range(8)]
    write([source(*results)], tmp_path / 'varied.html')
    page = opened(tmp_path / 'varied.html', 'phone')
    assert page.locator('#varied-here svg circle.ss-of-0').count() == 2 * 3 + 1
    page.click('#varied-here summary')
    told = page.locator('#varied-here tbody tr').all_inner_texts()
    assert [line.split('\t')[1:5] for line in told] == [
        [delay, '8', '0', '8'] for delay in ('0', '100', '200')]
    assert '100 % [63 %, 100 %]' in told[0] and '0 % [0 %, 37 %]' in told[2]
    page.select_option('#over-what', index=1)
    assert page.locator('#varied-here svg circle.ss-of-0').count() == 2 * 6 + 1
    assert HOSTILE[:8] in page.inner_text('#over-what') and page.title() != 'taken'
    assert page.evaluate('document.documentElement.scrollWidth <= innerWidth')
