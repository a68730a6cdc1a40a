# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a campaign came to, for Python."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from safety_scenarios.campaign.statistics.quantiles import confirmed_class, confirmed_ms, judged_ms
from safety_scenarios.errors import counted, MissingDependencyError, Problem, seen, SettingsError
from safety_scenarios.reports.outputs.columns import Campaign, Table, TABLES
from safety_scenarios.reports.outputs.rows import rows_of
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.summary import CampaignSummary

if TYPE_CHECKING:
    import pandas

_MOST_TRIALS = 20


@dataclass(frozen=True, repr=False)
class CampaignResults:
    """All trials of one ``run``, and what they come to."""

    summary: CampaignSummary
    """Verdict, rates and latencies, each number with its interval."""
    trials: tuple[TrialResult, ...]
    """In the order in which they were run, warm-up included."""
    folder: Path | None
    """Where traces and results are; None: nothing was written."""
    warnings: tuple[Problem, ...] = ()
    """What is odd about the scenario files."""

    @property
    def verdict(self) -> Verdict:
        """Return the worst of all trials; INCONCLUSIVE when a planned trial was not completed."""
        return self.summary.verdict

    @property
    def exit_code(self) -> int:
        """0 every trial PASS; 1 some FAIL; 3 some INCONCLUSIVE or ERROR and no FAIL."""
        return self.summary.exit_code

    def explain(self) -> str:
        """Return every finding that kept a trial from PASS, as the text of an assertion."""
        wrong = [trial for trial in self.trials
                 if trial.verdict is not Verdict.PASS and not trial.warmup]
        lines = [str(self)]
        for trial in wrong[:_MOST_TRIALS]:
            lines.append(f'{trial.scenario_id} ({trial.scenario_name}), trial {trial.index + 1}: '
                         f'{trial.verdict.value}{_confirmed_text(trial)}')
            lines += [f'  {_line(finding)}' for finding in _bad(trial)]
            lines += [f'  {line}' for line in trial.scenario.lines] if trial.scenario else []
        if len(wrong) > _MOST_TRIALS:
            lines.append(f'and {len(wrong) - _MOST_TRIALS} more trials that did not pass')
        return '\n'.join(lines)

    def to_dataframe(self, table: Table = 'trials') -> 'pandas.DataFrame':
        """
        Return a table as ``safety-scenarios export`` writes it, by default a row for each trial.

        What an empty cell is there is ``pandas.NA`` here, such as a number that nobody measured.

        :param table: trials, findings or samples
        :raises SettingsError: there is no such table
        :raises MissingDependencyError: without pandas
        """
        if table not in TABLES:
            raise SettingsError(f'table: got {table!r}, expected one of {", ".join(TABLES)}')
        try:
            import pandas
        except ImportError:
            raise MissingDependencyError('to_dataframe', 'pandas', 'pip install pandas') from None
        columns = TABLES[table]
        frame = pandas.DataFrame(list(rows_of(table, self.as_tables())), dtype='object',
                                 columns=[column.name for column in columns])
        return frame.astype({column.name: _DTYPES[column.type] for column in columns})

    def as_tables(self) -> Campaign:
        """Return what the rows of the tables are made of."""
        return Campaign('' if self.folder is None else seen(self.folder.resolve().name),
                        self.summary.link, self.trials)

    def __str__(self) -> str:
        """Return one line."""
        summary = self.summary
        verdicts = ', '.join(f'{count} {name}' for name, count in summary.verdicts.items())
        return (f'{summary.verdict.value} against {summary.controller}: {summary.completed} of '
                f'{counted(summary.planned, "trial")} completed ({verdicts or "none"}), '
                f'{summary.by_patterns} passed with words read by patterns only, '
                f'seed {summary.seed}'
                f'{", in the process of the harness" if summary.is_in_harness else ""}'
                f'{", its files in reach of the controller" if summary.readable else ""}')

    def __repr__(self) -> str:
        """Return one line instead of every number."""
        return f'<CampaignResults: {self}>'


_DTYPES = {'text': 'string', 'int': 'Int64', 'float': 'Float64', 'bool': 'boolean'}


def _confirmed_text(trial: TrialResult) -> str:
    """Return both latencies of a trial in which the robot was asked to confirm."""
    if not trial.asks_for_confirmation or trial.latency is None:
        return ''
    took, stood = judged_ms(trial), confirmed_ms(trial)
    return (f'; reaction {trial.latency.latency_class.value}'
            + ('' if took is None else f' {took:.1f} ms')
            + f', confirmed {confirmed_class(trial) or "not known"}'
            + ('' if stood is None else f' {stood:.1f} ms'))


def _bad(trial: TrialResult) -> Iterator[Finding]:
    for finding in trial.findings:
        if finding.verdict not in (None, Verdict.PASS):
            yield finding


def _line(finding: Finding) -> str:
    margin = '' if finding.margin is None else \
        f' (margin {finding.margin:.4g} {finding.unit or ""})'.replace(' )', ')')
    verdict = finding.verdict.value if finding.verdict else ''
    return f'{verdict} {finding.check}: {finding.reason}{margin}'
