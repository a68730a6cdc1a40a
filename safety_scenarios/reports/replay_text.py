# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial and its replay side by side, in the terminal."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text
from safety_scenarios.reports.failures import COLOURS
from safety_scenarios.reports.trial_view.timeline import on_one_line
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.conditions.replay import choice_text, Replay

_SENTENCE = 300


def replay_of(found: Replay) -> Iterator[RenderableType]:
    """Yield what is printed of a replay, part by part."""
    before = found.before.result
    yield Text(f'{on_one_line(before.scenario_name)} ({before.trial_id}), run again with the same '
               f'seed, controller and settings'
               + ''.join(f'; {one.name} {_value(one.before, one.unit)} -> '
                         f'{_value(one.after, one.unit)}' for one in found.moved))
    rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    rows.add_column('')
    rows.add_column('then', ratio=1, overflow='fold')
    rows.add_column('now', ratio=1, overflow='fold')
    for name, texts in _rows(found):
        rows.add_row(name, *texts)
    yield rows
    yield Text(_outcome(found))
    for text in (*found.notes, *found.before.notes, *found.after.notes):
        yield Text(f'note: {on_one_line(text, _SENTENCE)}', style='yellow')


def _rows(found: Replay) -> Iterator[tuple[str, Sequence[Text]]]:
    """Yield what is compared, with both values."""
    sides = found.before.result, found.after.result
    yield 'verdict', [Text(side.verdict.value, style=COLOURS[side.verdict]) for side in sides]
    yield 'why', [Text('' if side.verdict is Verdict.PASS else
                       on_one_line(side.reason, _SENTENCE)) for side in sides]
    for one in found.moved:
        yield f'{one.name} (moved)', [Text(_value(value, one.unit))
                                      for value in (one.before, one.after)]
    yield 'reaction', [Text(_reaction(side)) for side in sides]
    for check in dict.fromkeys(finding.check for side in sides for finding in side.findings):
        texts = [_margin(side, check) for side in sides]
        if any(texts):
            yield on_one_line(check, 200), [Text(text or '-') for text in texts]
    for name, key in (('nearest to anybody', 'min_gap_m'),
                      ('stopping distance', 'stopping_distance_m')):
        values = [None if side.world is None else getattr(side.world, key) for side in sides]
        if any(value is not None for value in values):
            yield name, [Text('-' if value is None else f'{value:.3f} m') for value in values]


def _reaction(result: TrialResult) -> str:
    if result.latency is None:
        return 'none measured'
    if result.latency.judged_ns is None:
        return f'none within {result.latency.observed_ns / 1e6:.0f} ms'
    return f'{result.latency.judged_ns / 1e6:.1f} ms, {result.latency.latency_class.value}'


def _margin(result: TrialResult, check: str) -> str:
    """Return what a check came to; empty where it passed without a number."""
    for finding in result.findings:
        if finding.check != check:
            continue
        verdict = 'not evaluated' if finding.verdict is None else finding.verdict.value
        if finding.margin is not None:
            return f'{verdict}, margin {finding.margin:+.4g} {finding.unit or ""}'.rstrip()
        return '' if finding.verdict is Verdict.PASS else verdict
    return ''


def _outcome(found: Replay) -> str:
    """Return whether both came out alike, and where their commands part."""
    difference = found.difference
    if difference is None:
        where = 'All commands are the same.'
    else:
        at = f'{abs(difference.after_s):.3f} s ' \
             f'{"before" if difference.after_s < 0 else "after"} {difference.since}'
        where = (f'First difference: {at}, {on_one_line(difference.topic, 80)}: '
                 f'{on_one_line(difference.first, 80)} then, '
                 f'{on_one_line(difference.second, 80)} now.')
    if found.moved:
        return where
    if found.is_same:
        return f'The trial came out the same, to the last digit. {where}'
    verdicts = 'the same verdict' if found.before.result.verdict is found.after.result.verdict \
        else 'another verdict'
    if not found.is_repeatable:
        return (f'The trial has {verdicts}. Its times were measured, so that no two trials are '
                f'alike. {where}')
    return (f'The trial did not come out the same, though its times are simulated: it has '
            f'{verdicts}. Does the controller store something between trials, or use random '
            f'numbers or its own clock? {where}')


def _value(value: Any, unit: str | None) -> str:
    text = f'{value:.6g}' if isinstance(value, float) else choice_text(value)
    return on_one_line(f'{text} {unit}' if unit else text, 80)
