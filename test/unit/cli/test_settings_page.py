# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The page of settings is written from their model."""

from pathlib import Path

from safety_scenarios.cli.main import main

PAGE = Path(__file__).parents[3] / 'doc' / 'reference' / 'settings.md'


def test_the_page_in_the_manual_is_what_the_command_prints(capsys):
    assert main(['scenario', 'schema', 'settings', '--markdown']) == 0
    assert PAGE.read_text(encoding='utf-8') == capsys.readouterr().out
