# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The chain of hashes of a journal: whatever is changed in it is told by its first broken line."""

import json

from cases import for_each
import pytest
from safety_scenarios import registry
from safety_scenarios.errors import TraceError
from safety_scenarios.trial.journal import read_journal
from safety_scenarios.trial.lines import break_in, Chain, head_of
from unit.records import reacting, record
from unit.trial.test_journal import written
from unzipped import read_text, write_text


@pytest.fixture
def path(tmp_path):
    return written(tmp_path / 'a', record(reacting(150)))


def lines_of(path):
    return read_text(path).encode().splitlines(keepends=True)


def test_a_journal_that_nobody_has_changed_has_a_chain_that_holds_and_a_record_with_its_head(path):
    assert break_in(lines_of(path)) is None
    found = read_journal(path, registry.resolve)
    assert found.chain == head_of(path) == json.loads(lines_of(path)[-1])['chain']['head']
    assert len(found.chain) == 64
    assert found.model_copy().chain == '', 'it may have other events'


def test_the_chain_is_that_of_the_trial_and_not_of_its_campaign(path):
    whole = read_text(path)
    write_text(path, whole.replace('{"journal":2,', '{"journal":2,"campaign":"other",', 1))
    assert read_text(path) != whole
    assert read_journal(path, registry.resolve).chain == head_of(path)


@for_each(('change', 'number', 'told'), [
    (lambda lines: [lines[0].replace(b'500', b'501', 1), *lines[1:]], 1, 'the plan is not as'),
    (lambda lines: [*lines[:1], *lines[2:]], 2, 'event 1 is not as it was written'),
    (lambda lines: [*lines[:2], lines[1], *lines[2:]], 3, 'event 2 is not as it was written'),
    (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], 3, 'event 2 is not as it was'),
    (lambda lines: [*lines[:3], lines[3].replace(b',', b', ', 1), *lines[4:]], 4, 'event 3 is'),
    (lambda lines: [*lines[:-2], lines[-1]], -1, 'was taken out'),
    (lambda lines: [*lines[:-1], lines[-1].replace(b'"judgements":[]', b'"judgements": []')], -1,
     'the last line is not as it was written'),
    (lambda lines: [*lines[:-1], lines[-1].replace(b'"head":"', b'"head":"0')], -1,
     'the last line has no chain of hashes'),
    (lambda lines: [*lines[:-1], lines[-1].rpartition(b',"chain"')[0] + b'}\n'], -1,
     'the last line has no chain of hashes')])
def test_the_first_broken_line_is_named(change, number, told, path):
    whole = lines_of(path)
    changed = change(whole)
    write_text(path, b''.join(changed).decode())
    place, why = break_in(changed)
    assert (place if number > 0 else place - len(changed) - 1) == number and told in why
    with pytest.raises(TraceError, match=rf'a:{place}: the chain of hashes is broken here: '):
        read_journal(path, registry.resolve)
    damage = []
    rest = read_journal(path, registry.resolve, damage=damage)
    assert len(damage) == 1 and len(rest.events) == max(0, place - 2) and not rest.chain
    write_text(path, b''.join(whole).decode())


def test_to_chain_anew_what_was_changed_gives_another_head(path):
    """Which the manifest, the trace and the recording do not name."""
    *lines, last = lines_of(path)
    chain = Chain()
    for line in [*lines[:2], *lines[3:]]:
        chain.add(line)
    forged, head = chain.end(last.rpartition(b',"chain":')[0] + b'}\n')
    assert break_in([*lines[:2], *lines[3:], forged]) is None
    assert head != head_of(path)
