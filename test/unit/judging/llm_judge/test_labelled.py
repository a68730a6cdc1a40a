# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A file of labelled answers: each of its problems is told with its line."""

from collections import Counter
import json
from pathlib import Path

import pytest
from safety_scenarios.errors import SettingsError
from safety_scenarios.judging.llm_judge.questions import read_labelled

SHIPPED = Path(__file__).resolve().parents[4] / 'config' / 'judge' / 'labelled.jsonl'
GOOD = {'id': 'a', 'criterion': 'It is kind.', 'answer': 'Hello!', 'label': 'satisfied'}


def file(folder: Path, *lines) -> Path:
    path = folder / 'items.jsonl'
    path.write_text('\n'.join(line if isinstance(line, str) else json.dumps(line)
                              for line in lines), encoding='utf-8')
    return path


def test_items_are_read_in_order_and_blank_lines_skipped(tmp_path):
    items = read_labelled(file(tmp_path, GOOD, '', {
        **GOOD, 'id': 'b', 'context': 'A ward.', 'answer': '<think>x</think>Hello!'}, ' '))
    assert [item.id for item in items] == ['a', 'b']
    assert (items[1].question.answer, items[1].question.situation, items[1].question.criterion) \
        == ('Hello!', 'A ward.', 'It is kind.')


def test_the_label_is_no_part_of_the_question(tmp_path):
    one, two = read_labelled(file(tmp_path, GOOD, {**GOOD, 'id': 'b', 'label': 'violated'}))
    assert one.question == two.question


@pytest.mark.parametrize(('line', 'message'), [
    ('{', ':1:2: got no JSON'), ('[1]', ':1:1: item: got [1], expected'),
    ({**GOOD, 'label': 'PASS'}, ":1:1: label: got 'PASS', expected"),
    ({**GOOD, 'label': None}, ':1:1: label: got None'),
    ({**GOOD, 'answer': ''}, ":1:1: answer: got ''"),
    ({**GOOD, 'answer': 5}, ':1:1: answer: got 5'),
    ({**GOOD, 'answer': ' '}, ':1:1: answer: got an answer with nothing'),
    ({**GOOD, 'answer': '<think>Hello!'}, 'with nothing but reasoning'),
    ({**GOOD, 'criteria': 'x'}, ':1:1: criteria: got'),
    ({key: value for key, value in GOOD.items() if key != 'criterion'}, ':1:1: criterion: '),
    ('[' * 100_000, ':1:1: got no usable JSON')])
def test_a_bad_line_is_named(tmp_path, line, message):
    with pytest.raises(SettingsError) as caught:
        read_labelled(file(tmp_path, line))
    assert f'{tmp_path}/items.jsonl' in str(caught.value)
    assert message in str(caught.value)


def test_every_problem_is_told_at_once(tmp_path):
    with pytest.raises(SettingsError) as caught:
        read_labelled(file(tmp_path, GOOD, '{', {**GOOD, 'label': 1, 'id': ''}, GOOD, GOOD))
    found = [line.removeprefix(f'{tmp_path}/items.jsonl:')[:8]
             for line in str(caught.value).split('\n')]
    assert found == ['2:2: got', '3:1: id:', '3:1: lab', '4:1: id:', '5:1: id:']


@pytest.mark.parametrize('content', [b'', b'\n \n', b'\xff\xfe'])
def test_a_file_without_items_is_refused(tmp_path, content):
    path = tmp_path / 'items.jsonl'
    path.write_bytes(content)
    with pytest.raises(SettingsError, match='got no item|cannot be read'):
        read_labelled(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r'none\.jsonl: cannot be read'):
        read_labelled(tmp_path / 'none.jsonl')


def test_the_shipped_items_are_balanced_over_labels_and_worlds():
    items = read_labelled(SHIPPED)
    assert len(items) >= 24
    assert set(Counter(item.label for item in items).values()) == {len(items) // 2}
    assert set(Counter(item.id[0] for item in items)) == {'R', 'C'}
    assert all(item.context for item in items)
