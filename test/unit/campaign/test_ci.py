# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What CI is told while a campaign runs, ends, is interrupted, or never begins."""

from datetime import datetime, timedelta, timezone
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time
from xml.etree import ElementTree

import pytest
from safety_scenarios import run
from safety_scenarios.cli.main import main
from safety_scenarios.reports.ci import WHOLE

QUICK = str(Path(__file__).parents[2] / 'data' / 'quick_person.yaml')


def cases(path):
    """Return name to tag of what is wrong with each case, None for green."""
    return {case.get('name'): case[0].tag if len(case) else None
            for case in ElementTree.parse(path).iter('testcase')}


def loopback(tmp_path, *arguments, junit='j.xml'):
    return main(['run', QUICK, '--link', 'loopback', '--output', str(tmp_path / 'run'),
                 '--junit', str(tmp_path / junit), *arguments])


def test_the_file_is_there_at_the_end(tmp_path):
    assert loopback(tmp_path, '--trials', '2') == 0
    assert cases(tmp_path / 'j.xml') == {
        'Quick person trial 1': None, 'Quick person trial 2': None, WHOLE: None}


def test_it_began_by_the_clock_of_the_computer_and_not_by_the_simulated_one(tmp_path):
    before = datetime.now(timezone.utc).replace(microsecond=0)
    loopback(tmp_path)
    [suite] = ElementTree.parse(tmp_path / 'j.xml').getroot()
    began = datetime.fromisoformat(suite.get('timestamp') + '+00:00')
    assert before <= began <= datetime.now(timezone.utc)


def test_judging_again_writes_it_too(tmp_path):
    loopback(tmp_path)
    again = tmp_path / 'again.xml'
    assert main(['evaluate', str(tmp_path / 'run'), '--junit', str(again), '--set',
                 'latency_budget.critical_ms=1', '--set', 'latency_budget.acceptable_ms=1',
                 '--set', 'latency_budget.target_ms=1']) == 1
    assert cases(again) == {'Quick person trial 1': 'failure', WHOLE: None}
    [first], [second] = (ElementTree.parse(path).getroot() for path in (tmp_path / 'j.xml', again))
    assert second.get('name') == first.get('name') == 'rule_based'
    began, later = (datetime.fromisoformat(one.get('timestamp')) for one in (first, second))
    assert abs(later - began) < timedelta(minutes=1)


def test_a_campaign_that_never_began_leaves_no_green_file_of_an_earlier_one(tmp_path):
    assert loopback(tmp_path) == 0
    assert loopback(tmp_path, '--controller', 'rule_base') == 2
    assert cases(tmp_path / 'j.xml') == {WHOLE: 'error'}


@pytest.mark.parametrize('line', [
    ('run', QUICK, '--junit', 'j.xml', '--set', 'nothing=1'),
    ('run', QUICK, '--lnk', 'loopback', '--junit=j.xml'),
    ('run', QUICK, '--link', 'loopback', '--set', 'junit=j.xml', '--profile', 'none.yaml'),
    ('run', 'none.yaml', '--controller', 'late', '--controller', 'rule_based', '--junit', 'j.xml'),
    ('run', '--design', 'none.yaml', '--junit', 'j.xml'),
    ('run', '--matrix', 'matrix.yaml'),
    ('evaluate', 'none', '--junit', 'j.xml')])
def test_no_error_leaves_the_green_file_of_an_earlier_command(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'real.xml').write_text(
        '<?xml version="1.0"?>\n<testsuites><testcase name="old"/></testsuites>', encoding='utf-8')
    (tmp_path / 'j.xml').symlink_to('real.xml')
    (tmp_path / 'matrix.yaml').write_text(
        f'scenarios: [{QUICK}]\nset: {{junit: j.xml}}\narms: {{a: {{controller: late}}, b: '
        '{controller: laet}}\n', encoding='utf-8')
    assert main(line) == 2
    assert cases(tmp_path / 'real.xml') == {WHOLE: 'error'}


def test_a_file_that_is_no_junit_file_is_not_touched_by_an_error(tmp_path):
    (tmp_path / 'mine.yaml').write_text('mine', encoding='utf-8')
    assert main(('run', 'none.yaml', '--junit', str(tmp_path / 'mine.yaml'), '--lnk')) == 2
    assert (tmp_path / 'mine.yaml').read_text(encoding='utf-8') == 'mine'


def has_begun(folder):
    """Wait for the first result of a campaign; return whether there is one."""
    lines, deadline = folder / 'trials.jsonl', time.monotonic() + 60
    while not (lines.exists() and lines.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.02)
    return lines.exists()


def test_the_file_of_a_campaign_that_is_interrupted_is_red(tmp_path):
    is_over = threading.Event()

    def interrupt():
        if has_begun(tmp_path / 'run') and not is_over.is_set():
            os.kill(os.getpid(), signal.SIGINT)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    user = threading.Thread(target=interrupt)
    user.start()
    try:
        assert loopback(tmp_path, '--trials', '500') == 3
    finally:
        is_over.set()
        user.join()
        signal.signal(signal.SIGINT, before)
    assert cases(tmp_path / 'j.xml')[WHOLE] == 'error'


def test_the_file_of_a_campaign_that_is_killed_is_red(tmp_path):
    code = 'import sys; from safety_scenarios.cli.main import main; sys.exit(main())'
    with subprocess.Popen([sys.executable, '-c', code, 'run', QUICK, '--link', 'loopback',
                           '--trials', '500', '--output', str(tmp_path / 'run'),
                           '--junit', str(tmp_path / 'j.xml')],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        assert has_begun(tmp_path / 'run')
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert cases(tmp_path / 'j.xml')[WHOLE] == 'error'


@pytest.mark.parametrize('name, message', [
    ('run/j.xml', "campaign's own folder"), ('.', 'a folder'), ('/proc/no/j.xml', 'junit')])
def test_a_place_where_it_cannot_be_is_told_before_anything_is_run(tmp_path, capsys, name,
                                                                   message):
    assert loopback(tmp_path, junit=name) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / 'run').exists()


def test_from_python_too(tmp_path):
    run(QUICK, link='loopback', controller='never_stop', junit=str(tmp_path / 'j.xml'))
    assert cases(tmp_path / 'j.xml') == {'Quick person trial 1': 'failure', WHOLE: None}


def test_the_page_of_a_run_gets_a_summary_of_each_command(tmp_path, monkeypatch):
    page = tmp_path / 'summary.md'
    page.write_text('before\n')
    monkeypatch.setenv('GITHUB_STEP_SUMMARY', str(page))
    loopback(tmp_path)
    main(['evaluate', str(tmp_path / 'run')])
    loopback(tmp_path, '--controller', 'nobody')
    text = page.read_text()
    assert text.startswith('before\n') and text.count('## safety_scenarios: PASS') == 2
    assert text.count('## safety_scenarios: no result') == 1


def test_a_page_that_cannot_be_written_changes_no_verdict(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv('GITHUB_STEP_SUMMARY', str(tmp_path))
    assert loopback(tmp_path) == 0
    assert 'GITHUB_STEP_SUMMARY' in capsys.readouterr().err
