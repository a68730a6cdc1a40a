# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Trials, findings and samples as typed rows, which every file of a table is written from.

A number that nobody measured is None, never 0; a reaction that never came is marked as censored
and has no number either. The data dictionary, the files and the data frame for Python are all made
of the same columns.
"""

from collections.abc import Callable, Iterator, Mapping
import math

from safety_scenarios.reports.tables.columns import (
    Campaign,
    Cell,
    Row,
    Sample,
    Table,
    TABLE_NAMES,
    TABLES,
)
from safety_scenarios.scenario.result import LatencyClass, TrialResult


def rows_of(table: Table, campaign: Campaign) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of one table in the order of its columns."""
    columns = TABLES[table]
    for row in _ROWS[table](campaign):
        yield tuple(_finite(column.value(row)) for column in columns)


def dictionary() -> list[dict[str, str]]:
    """Return the data dictionary: an entry for each column of each table."""
    return [{'table': table, 'column': column.name, 'type': column.type, 'unit': column.unit,
             'clock': column.clock, 'meaning': column.meaning, 'absent': column.absent}
            for table in TABLE_NAMES for column in TABLES[table]]


def samples_of(trial: TrialResult) -> Iterator[Sample]:
    """
    Yield what was timed in a trial: from the onset of a hazard, and from each firing of a rule.

    The reaction always has one where a latency was asked for, and the confirmed state where the
    robot was to show it: one that never came is a sample too.
    """
    found = trial.latency
    if found is not None:
        if found.first_command is not None:
            yield Sample('first_command', found.first_command, observed_ns=found.observed_ns)
        yield Sample('reaction', found.reaction, found.latency_class, found.observed_ns)
        if trial.asks_for_confirmation:
            missing = LatencyClass.NO_RESPONSE if trial.is_confirmation_measured else None
            yield Sample('confirmed', found.confirmed,
                         found.confirmed.latency_class if found.confirmed else missing,
                         found.observed_ns)
    for rule in trial.outcome.rules if trial.outcome else ():
        for duty in rule.obligations:
            if duty.latency_class is not None:  # a ban has none, nor what nobody can tell
                yield Sample('obligation', duty=duty, rule=rule, latency_class=duty.latency_class)


def _trials(campaign: Campaign) -> Iterator[Row]:
    for trial in campaign.results:
        yield Row(campaign, trial)


def _findings(campaign: Campaign) -> Iterator[Row]:
    for trial in campaign.results:
        for number, finding in enumerate(trial.findings, 1):
            yield Row(campaign, trial, number, finding)


def _samples(campaign: Campaign) -> Iterator[Row]:
    for trial in campaign.results:
        for number, sample in enumerate(samples_of(trial), 1):
            yield Row(campaign, trial, number, sample=sample)


_ROWS: Mapping[Table, Callable[[Campaign], Iterator[Row]]] = {
    'trials': _trials, 'findings': _findings, 'samples': _samples}


def _finite(cell: Cell) -> Cell:
    """Return no number for what is none."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
