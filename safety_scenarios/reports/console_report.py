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

"""Progress while trials run, and the table at the end."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from safety_scenarios.model.result import Latency, TrialResult, Verdict
from safety_scenarios.model.summary import CampaignSummary, ScenarioSummary
from safety_scenarios.model.trial import TrialRecord

_COLOURS = {Verdict.PASS: 'green', Verdict.INCONCLUSIVE: 'yellow', Verdict.ERROR: 'magenta',
            Verdict.FAIL: 'red'}


_WIDTH_OF_A_LOG = 120


def console() -> Console:
    """Return a console as wide as the terminal, or wide enough for the table in a log."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=_WIDTH_OF_A_LOG)


class Progress:
    """One line for each trial as it ends."""

    def __init__(self, console: Console, planned: int) -> None:
        self._console = console
        self._planned = planned
        self._ended = 0

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Show the verdict, the latency and the reason."""
        self._ended += 1
        width = len(str(self._planned))
        self._console.print(
            f'[dim]{self._ended:{width}}/{self._planned}[/] {verdict_text(result.verdict)} '
            f'{escape(result.scenario_name)} [dim]trial {result.index + 1}[/]  '
            f'{latency_text(result.latency)}'
            + ('' if result.verdict is Verdict.PASS else f'  {escape(result.reason)}'),
            soft_wrap=True, highlight=False)


def table(summary: CampaignSummary) -> Table:
    """Return one row for each scenario."""
    rows = Table(title=f'{summary.controller}: {summary.verdict.value}', title_justify='left',
                 title_style=f'bold {_COLOURS[summary.verdict]}')
    for name in ('scenario', 'expects', 'verdict', 'passed', 'median ms', 'worst ms', 'class'):
        rows.add_column(name, justify='right' if name.endswith('ms') else 'left')
    for row in summary.scenarios:
        rows.add_row(
            escape(row.scenario_name),
            'restraint' if row.domain.endswith('_defer') else 'reaction',
            verdict_text(row.verdict), f'{row.verdicts.get("PASS", 0)}/{row.trials}',
            _number(row, row.median_ms), _number(row, row.worst_ms),
            ' '.join(row.latency_classes) or '-')
    return rows


def totals(summary: CampaignSummary) -> str:
    """Return the line below the table; the two error rates are a pair, never an average."""
    verdicts = ', '.join(f'{count} {name}' for name, count in summary.verdicts.items())
    text = (f'{summary.completed} of {summary.planned} trials: {verdicts or "none"}. '
            f'Hazards missed: {summary.missed.count} of {summary.missed.of}. '
            f'False stops: {summary.false_stops.count} of {summary.false_stops.of}.')
    return text + (' Interrupted.' if summary.interrupted else '')


def verdict_text(verdict: Verdict) -> str:
    """Return a verdict in its colour, padded."""
    return f'[{_COLOURS[verdict]}]{verdict.value:<12}[/]'


def latency_text(latency: Latency | None) -> str:
    """Return a latency with its class; never a number where there was no reaction."""
    if latency is None:
        return '-'
    if latency.judged_ns is None:
        return latency.latency_class.value
    return f'{latency.judged_ns / 1e6:.1f} ms {latency.latency_class.value}'


def _number(row: ScenarioSummary, value: float | None) -> str:
    if not row.latency_ms:
        return '-'
    return 'none' if value is None else f'{value:.1f}'
