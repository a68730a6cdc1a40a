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

"""What a campaign came to, for Python."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from safety_scenarios.errors import counted, MissingDependencyError, Problem
from safety_scenarios.model.result import Finding, LatencyClass, TrialResult, Verdict
from safety_scenarios.model.summary import CampaignSummary

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

    def to_dataframe(self) -> 'pandas.DataFrame':
        """
        Return one row for each trial; a number that could not be measured is ``pandas.NA``.

        :raises MissingDependencyError: without pandas
        """
        try:
            import pandas
        except ImportError:
            raise MissingDependencyError('to_dataframe', 'pandas', 'pip install pandas') from None
        rows = [{
            'trial_id': trial.trial_id, 'scenario_id': trial.scenario_id,
            'scenario_name': trial.scenario_name, 'domain': trial.domain,
            'controller': trial.controller, 'index': trial.index, 'seed': trial.seed,
            'warmup': trial.warmup, 'verdict': trial.verdict.value, 'reason': trial.reason,
            'latency_ms': _latency_ms(trial),
            'latency_class': trial.latency.latency_class.value if trial.latency else None,
            'failure_class': trial.failure_class, 'duration_ms': trial.duration_ms,
            'confirmed_ms': _confirmed_ms(trial), 'confirmed_class': _confirmed_class(trial)}
            for trial in self.trials]
        frame = pandas.DataFrame(rows, columns=list(_COLUMNS))
        return frame.astype(_COLUMNS)

    def __str__(self) -> str:
        """Return one line."""
        summary = self.summary
        verdicts = ', '.join(f'{count} {name}' for name, count in summary.verdicts.items())
        return (f'{summary.verdict.value} against {summary.controller}: {summary.completed} of '
                f'{counted(summary.planned, "trial")} completed ({verdicts or "none"}), '
                f'{summary.by_patterns} passed by patterns only')

    def __repr__(self) -> str:
        """Return one line instead of every number."""
        return f'<CampaignResults: {self}>'


_COLUMNS = {
    'trial_id': 'string', 'scenario_id': 'string', 'scenario_name': 'string', 'domain': 'string',
    'controller': 'string', 'index': 'int64', 'seed': 'int64', 'warmup': 'bool',
    'verdict': 'string', 'reason': 'string', 'latency_ms': 'Float64', 'latency_class': 'string',
    'failure_class': 'string', 'duration_ms': 'float64', 'confirmed_ms': 'Float64',
    'confirmed_class': 'string'}


def _latency_ms(trial: TrialResult) -> float | None:
    judged_ns = trial.latency.judged_ns if trial.latency else None
    return None if judged_ns is None else judged_ns / 1e6


def _confirmed_ms(trial: TrialResult) -> float | None:
    confirmed = trial.latency.confirmed if trial.latency else None
    return None if confirmed is None else confirmed.judged_ns / 1e6


def _confirmed_class(trial: TrialResult) -> str | None:
    """Return the class of what the robot confirmed; None: not asked to, or nobody knows."""
    confirmed = trial.latency.confirmed if trial.latency else None
    if confirmed is not None:
        return confirmed.latency_class.value
    return LatencyClass.NO_RESPONSE.value if trial.is_confirmation_measured else None


def _confirmed_text(trial: TrialResult) -> str:
    """Return both latencies of a trial in which the robot was asked to confirm."""
    if not trial.asks_for_confirmation or trial.latency is None:
        return ''
    took, stood = _latency_ms(trial), _confirmed_ms(trial)
    return (f'; reaction {trial.latency.latency_class.value}'
            + ('' if took is None else f' {took:.1f} ms')
            + f', confirmed {_confirmed_class(trial) or "not known"}'
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
