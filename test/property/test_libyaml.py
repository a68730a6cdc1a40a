# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether PyYAML has been built with libyaml changes the time to read a file, and nothing else."""

from examples import up_to
from fuzz.targets import SHIPPED
from hypothesis import example, given, settings
from hypothesis import strategies as st
import pytest
from safety_scenarios.formats.document import positions
from safety_scenarios.formats.document.positions import Document
from steps import calls

pytestmark = pytest.mark.skipif(positions._QuickLoader is None,
                                reason='PyYAML has been built without libyaml')
PIECES = st.one_of(
    st.sampled_from(list(' \n\r\t:-?[]{}"\'#&*!|>%@`,\\=<~.0') + ['\u0085', '\u2028', '\ufeff']),
    st.sampled_from(['a: ', '- ', '\n  ', '? ', '!a ', '&b ', '*b', '<<: ', '|\n', '{a?b: 1}',
                     '"\\ud800"', '2026-02-31', '0x1f', '1:20', 'é', '😀']))
EDITS = st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 3), PIECES), max_size=6)


def of(text: str) -> tuple[object, ...]:
    document = Document('it.yaml', text.encode())
    return (repr(document.data), document._places, document._keys, document.values,
            [str(problem) for problem in document.problems])


def hold_alike(text: str) -> None:
    quick = positions._QuickLoader
    read = of(text)
    try:
        positions._QuickLoader = None
        assert read == of(text)
    finally:
        positions._QuickLoader = quick


@pytest.mark.parametrize('raw', SHIPPED[::8])
def test_a_shipped_file_reads_the_same(raw: bytes) -> None:
    hold_alike(raw.decode())


@settings(deadline=None, max_examples=up_to(300), derandomize=True)
@given(st.integers(0, len(SHIPPED) - 1), EDITS)
@example(0, [(0, 3000, '!')])
@example(0, [(0, 3000, '{content: what now?}')])
@example(0, [(0, 3000, 'a: b\t')])
@example(0, [(0, 3000, 'a: [\ufeff, b]')])
def test_an_edited_file_reads_the_same(which: int, edits: list[tuple[int, int, str]]) -> None:
    text = SHIPPED[which].decode()[:3000]
    for at, length, piece in edits:
        text = text[:at] + piece + text[at + length:]
    hold_alike(text)


def test_it_is_used_and_takes_fewer_steps() -> None:
    text = SHIPPED[0].decode()
    quick = calls(lambda: of(text))
    assert quick < calls(lambda: of(f'{text}# ?\n')) / 3
