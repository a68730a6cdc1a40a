# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A standard output that is lost ends no campaign, and is never exit code 1: some FAIL."""

import json
import os
import subprocess
import sys

import pytest

MAIN = 'import sys; from safety_scenarios.cli.main import main; sys.exit(main())'
RUN = 'run', 'SCN-R-101', '--link', 'loopback', '--trials', '2', '-v', '--output'


def code_of(how, *arguments):
    """Return the exit code and standard error of a command with a lost standard output."""
    if how == 'closed pipe':
        reader, writer = os.pipe()
        os.close(reader)
    else:
        writer = os.open('/dev/full', os.O_WRONLY)
    try:
        done = subprocess.run(
            [sys.executable, '-c', MAIN, *map(str, arguments)], stdout=writer, text=True,
            stderr=subprocess.PIPE, preexec_fn=(lambda: os.close(1)) if how == 'closed' else None)
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.parametrize('how, controller, ends', [
    ('closed pipe', 'rule_based', 0), ('full', 'late', 1), ('closed', 'rule_based', 0)])
def test_a_campaign_without_a_console_ends_with_its_own_code(how, controller, ends, tmp_path):
    folder = tmp_path / 'campaign'
    code, _ = code_of(how, *RUN, folder, '--controller', controller)
    summary = json.loads((folder / 'campaign.json').read_text())
    assert (summary['completed'], code) == (2, ends)


@pytest.mark.parametrize('how, code, said', [
    ('closed pipe', 0, ''), ('full', 3, 'No space left on device'),
    ('closed', 3, 'Bad file descriptor')])
@pytest.mark.parametrize('command', ['--help', 'scenario schema'])
def test_a_command_whose_output_did_not_arrive_has_failed(how, code, said, command):
    found, errors = code_of(how, *command.split())
    assert found == code
    assert said in errors and (said or not errors)


def test_what_follows_a_campaign_ends_with_its_reader(tmp_path):
    folder = tmp_path / 'campaign'
    subprocess.run([sys.executable, '-c', MAIN, *RUN, folder], check=True,
                   stdout=subprocess.DEVNULL)
    assert code_of('closed pipe', 'campaign', 'tail', folder)[0] == 3
