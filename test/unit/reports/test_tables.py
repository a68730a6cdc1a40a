# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Trials, findings and samples as rows: typed, never a wrong number, and text in every file."""

import csv
import io
import json
import math
from pathlib import Path

from examples import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
import pytest
from safety_scenarios import run
from safety_scenarios.from_python import CampaignResults
from safety_scenarios.reports.outputs.columns import Campaign, TABLE_NAMES, TABLES
from safety_scenarios.reports.outputs.parquet import write_parquet
from safety_scenarios.reports.outputs.rows import (
    csv_lines,
    dictionary,
    guarded,
    rows_of,
    samples_of,
    unguarded,
)
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from unit.reports import data_page

QUICK = str(Path(__file__).parents[2] / 'data' / 'quick_person.yaml')
TYPES = {'text': str, 'int': int, 'float': float, 'bool': bool}
HOSTILE = ['=HYPERLINK("http://x")', '@SUM(1)', '-2+3', '+1', ';=1', '\t=1', '\n"=1', "'=1",
           '<script>alert(1)</script>', '\x1b[2J\x9b31m', '\x00', 'turned \u202e round',
           '\u0645\u0631\u062d\u0628\u0627', '\\u001b', 'a,"b"\r\nc', '\U0001f916', '',
           '=' * 10**6]
FORMULA = tuple('=+-@\uff1d\uff0b\uff0d\uff20')


@pytest.fixture(scope='module')
def passed() -> CampaignResults:
    return run(QUICK, 'SCN-R-D-101', link='loopback')


@pytest.fixture(scope='module')
def failed() -> CampaignResults:
    return run(QUICK, link='loopback', controller='never_stop')


def cells(table, campaign):
    names = [column.name for column in TABLES[table]]
    return [dict(zip(names, row)) for row in rows_of(table, campaign)]


def of(*results):
    return Campaign('mine', 'loopback', results)


def with_text(result, text):
    finding = Finding(check=text, kind='bound', verdict=Verdict.FAIL, reason=text, margin=-0.5,
                      unit='m')
    return result.model_copy(update={'reason': text, 'scenario_name': text, 'controller': text,
                                     'findings': (finding,)})


@pytest.mark.parametrize('table', TABLE_NAMES)
def test_every_cell_has_the_type_of_its_column_and_is_absent_only_where_that_is_explained(
        table, passed, failed):
    seen = 0
    for results in (passed, failed):
        for row in rows_of(table, results.as_tables()):
            for column, cell in zip(TABLES[table], row, strict=True):
                if cell is None:
                    assert column.absent, column.name
                    continue
                seen += 1
                assert type(cell) is TYPES[column.type], column.name
                assert not isinstance(cell, float) or math.isfinite(cell)
    assert seen > 10


def test_a_unit_stands_in_the_name_of_its_column():
    ends = {'ms': '_ms', 'ns': '_ns', 's': '_s', 'm': '_m', 'N': '_n', 'm/s': '_m_per_s',
            'rad/s': '_rad_per_s', '1': '', 'in margin_unit': '', '': ''}
    for one in dictionary():
        assert one['column'].endswith(ends[one['unit']]), one
        assert one['meaning'].endswith('.')


def test_a_missing_reaction_is_censored_and_no_number(failed):
    [row] = cells('trials', failed.as_tables())
    assert (row['latency_ms'], row['latency_censored'], row['latency_class']) == (
        None, True, 'no_response')
    assert row['latency_observed_ms'] > 0
    [reaction] = [one for one in cells('samples', failed.as_tables())
                  if one['quantity'] == 'reaction']
    assert (reaction['value_ms'], reaction['censored'], reaction['steady_ms']) == (
        None, True, None)


def test_a_trial_without_a_hazard_is_neither_censored_nor_measured(passed):
    row = cells('trials', passed.as_tables())[1]
    assert row['benign'] and row['latency_censored'] is None and row['latency_measured'] is None


def test_what_reacted_before_the_hazard_is_not_censored(passed):
    result = passed.trials[0]
    early = result.model_copy(update={'latency': result.latency.model_copy(update={
        'reaction': None, 'latency_class': LatencyClass.ANTICIPATORY})})
    [row] = cells('trials', of(early))
    assert (row['latency_ms'], row['latency_censored'], row['latency_measured']) == (
        None, False, False)


def test_a_trial_that_never_began_has_no_times(passed):
    never = passed.trials[0].model_copy(update={
        'started_system_ns': 0, 'duration_ms': 0.0, 'latency': None})
    [row] = cells('trials', of(never))
    assert row['started_ns'] is None and row['duration_ms'] is None


def test_a_check_that_was_not_evaluated_has_no_verdict_and_its_margin_is_in_no_least_one(passed):
    finding = Finding(check='c', kind='bound', verdict=None, reason='r', margin=-9.0, unit='m')
    result = passed.trials[0].model_copy(update={'findings': (finding,)})
    assert cells('findings', of(result))[0]['verdict'] is None
    assert cells('trials', of(result))[0]['least_margin_m'] is None


def test_a_demand_of_a_rule_is_a_sample_and_a_ban_is_none():
    trial = run('hand_over', link='loopback').trials[0]
    rules = {sample.rule.rule for sample in samples_of(trial) if sample.rule}
    assert rules and all('expect' in rule for rule in rules)
    assert any('forbid' in rule.rule for rule in trial.outcome.rules)


@pytest.mark.parametrize('table', TABLE_NAMES)
def test_data_frame_csv_and_parquet_agree(table, passed, tmp_path):
    frame = passed.to_dataframe(table)
    rows = list(rows_of(table, passed.as_tables()))
    write_parquet(tmp_path / 't.parquet', TABLES[table], rows)
    read = parquet.read_table(tmp_path / 't.parquet')
    lines = list(csv.reader(io.StringIO(''.join(csv_lines(TABLES[table], rows)), newline='')))
    assert list(frame.columns) == read.column_names == lines[0]
    for number, row in enumerate(rows):
        assert tuple(read.slice(number, 1).to_pylist()[0].values()) == row
        for column, cell, text in zip(TABLES[table], row, lines[number + 1]):
            framed = frame[column.name][number]
            if cell is None:
                assert frame[column.name].isna()[number] and text == ''
            else:
                assert framed == cell and unguarded(text) == (
                    str(cell).lower() if column.type == 'bool' else str(cell))
    assert read.schema.field('trial_id').metadata[b'meaning']


def test_a_table_that_is_none_is_refused(passed):
    with pytest.raises(Exception, match="got 'trial', expected one of trials"):
        passed.to_dataframe('trial')


@pytest.mark.parametrize('text', HOSTILE, ids=range(len(HOSTILE)))
def test_what_a_controller_said_is_text_and_whole(text, passed, tmp_path):
    campaign = of(with_text(passed.trials[0], text))
    for table in ('trials', 'findings'):
        rows = list(rows_of(table, campaign))
        written = ''.join(csv_lines(TABLES[table], rows))
        assert not {'\x00', '\x1b', '\x9b', '\u202e'} & set(written)
        csv.field_size_limit(10**8)
        [_, cells_] = csv.reader(io.StringIO(written, newline=''), strict=True)
        at = [column.name for column in TABLES[table]].index('reason')
        assert not cells_[at].lstrip().startswith(FORMULA)
        assert unguarded(cells_[at]) == text
        write_parquet(tmp_path / 'x.parquet', TABLES[table], rows)
        assert parquet.read_table(tmp_path / 'x.parquet')['reason'].to_pylist() == [text]


LETTERS = st.sampled_from('=+-@\'"\\;,\t\n\r|u0 \x1b\u202e')


@settings(max_examples=up_to(150), deadline=None)
@given(st.text(alphabet=st.one_of(LETTERS, st.characters()), max_size=30))
def test_every_text_comes_back_and_begins_no_formula_wherever_it_is_split(text):
    cell = guarded(text)
    assert unguarded(cell) == text
    for separator in ';,|\t\n':
        assert not any(part.lstrip(' \t\r\n"').startswith(FORMULA)
                       for part in cell.split(separator))


def test_an_absent_text_and_an_empty_one_differ_in_the_file(passed):
    written = ''.join(csv_lines(TABLES['trials'], rows_of(
        'trials', of(passed.trials[0].model_copy(update={'reason': ''})))))
    assert ',"",' in written and ',,' in written


def test_the_page_has_the_dictionary_as_it_is():
    assert data_page.PAGE.read_text(encoding='utf-8') == data_page.page(), \
        'run python test/unit/reports/data_page.py'
    assert json.dumps(dictionary())
