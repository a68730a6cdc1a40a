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

"""Draws ``doc/eval.svg``: what a campaign in loopback against ``late`` prints in a terminal."""

import io
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text
from safety_scenarios.campaign.run import run
from safety_scenarios.links.loopback_session import Loopback
from safety_scenarios.model.settings import RunSettings
from safety_scenarios.reports.console_report import ConsoleReport

PICTURE = Path(__file__).resolve().parents[1] / 'doc' / 'eval.svg'
SCENARIOS = ('SCN-R-101', 'SCN-R-102', 'SCN-R-D-102')
COMMAND = f'safety-scenarios run {" ".join(SCENARIOS)} --controller late --link loopback'
WIDTH = 120
"""Columns of the terminal, as many as the program takes where there is none."""


def screen() -> Console:
    """Run the campaign into the folder ``results``, and return what a terminal shows of it."""
    printed = io.StringIO()
    colours = {'force_terminal': True, 'color_system': 'truecolor', 'highlight': False}
    run(RunSettings(scenarios=SCENARIOS, controller='late', link='loopback', output='results'),
        [ConsoleReport(Console(**colours, width=WIDTH, file=printed))], Loopback)
    shown = Console(**colours, width=WIDTH, file=io.StringIO(), record=True)
    shown.print(Text.from_ansi(printed.getvalue()))  # long lines go on in the next one
    return shown


if __name__ == '__main__':
    with TemporaryDirectory() as scratch:
        os.chdir(scratch)
        screen().save_svg(str(PICTURE), title=f'$ {COMMAND}')
