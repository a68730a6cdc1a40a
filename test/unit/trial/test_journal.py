# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The journal gives back what was put in, says when it cannot, and shows what was changed."""

import errno
import gzip
import json
import math
import os
from pathlib import Path
import subprocess
import sys
import time

from cases import for_each
import pytest
from safety_scenarios import registry
from safety_scenarios.errors import TraceError, UnfitPlanError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.trial import journal
from safety_scenarios.trial.journal import FLUSH_S, Journal, read_journal, unfinished
from safety_scenarios.trial.lines import break_in, Chain, head_of, read_gzip
from safety_scenarios.trial.trial import TrialRecord
from unit.records import (
    answered,
    chat,
    command,
    fault,
    hazard,
    mark,
    reacting,
    record,
    stamps,
    ticks,
)
from unzipped import read_text, write_text

RECORDS = {
    'a stop': lambda: record(reacting(150)),
    'nothing': lambda: record([]).model_copy(update={'events': ()}),
    'a text': lambda: answered('Stop.', chat()),
    'ticks and a fault': lambda: record(reacting(150), extra=[*ticks(0.5, 10.0),
                                                              fault('ClockError', 20.0)])}


def written(path: Path, found: TrialRecord) -> Path:
    journal = Journal(path, found.trial)
    for event in found.events:
        journal.add(event)
    journal.close(found)
    return path


@pytest.mark.parametrize('name', RECORDS)
def test_a_record_comes_back_equal_and_is_judged_the_same(tmp_path, name):
    found = RECORDS[name]()
    again = read_journal(written(tmp_path / 'a.events.jsonl.gz', found), registry.resolve)
    assert again == found
    assert evaluate(again).model_dump_json() == evaluate(found).model_dump_json()


def test_how_it_was_measured_comes_back(tmp_path):
    found = record(reacting(150), measuring=Measuring(one_host=True, sim_time=True))
    again = read_journal(written(tmp_path / 'a', found), registry.resolve)
    assert again.measuring == found.measuring


def test_what_no_json_can_say_comes_back(tmp_path):
    odd = Message(type='a/msg/B', data={
        'nan': math.nan, 'all': (math.inf, -math.inf, -0.0, 5e-324, 2**63 - 1, True, 'ä\ud800'),
        'none': (), 'inner': {'x': 1.0}})
    found = record([command(10, odd), command(20, odd), command(30, odd)])
    again = read_journal(written(tmp_path / 'a', found), registry.resolve)
    assert [repr(event.message) for event in again.events] == [
        repr(event.message) for event in found.events]


@pytest.mark.parametrize(('first', 'second'), [(0, 0.0), (0.0, -0.0), (1, True), (0.0, False)])
def test_equal_is_not_the_same(tmp_path, first, second):
    values = [Message(type='a/msg/B', data={'x': value}) for value in (first, second)]
    found = record([command(10, values[0]), command(20, values[1])])
    again = read_journal(written(tmp_path / 'a', found), registry.resolve)
    assert [repr(event.message.data['x']) for event in again.of_kind('command')] == [
        repr(first), repr(second)]


@pytest.mark.parametrize('truth', [{}, {'x': 0.1}])
@pytest.mark.parametrize('kind', ['state', 'stimulus'])
@pytest.mark.parametrize(('name', 'value'), [
    ('text', ''), ('hazard', True), ('scheduled_ns', 0), ('trial_id', 't'), ('agent', 'a'),
    ('symbol', 's'), ('arguments', '{}'), ('depth', 1), ('sequence', 0)])
def test_nothing_that_an_event_may_have_is_left_out(tmp_path, kind, truth, name, value):
    assert {'kind', 'name', 'stamps', 'message', 'truth', 'text', 'hazard', 'scheduled_ns',
            'trial_id', 'agent', 'symbol', 'arguments', 'depth',
            'sequence'} == set(Event.model_fields)
    event = Event(kind=kind, name='scan', stamps=stamps(50), truth=truth, **{name: value})
    again = read_journal(written(tmp_path / 'a', record([event])), registry.resolve)
    assert event in again.events


def test_who_has_truth_and_stamps_in_common_comes_back_with_them_and_nobody_else(tmp_path):
    truth, moment = {'x': 0.1}, stamps(50)
    told = [Event.model_construct(kind=kind, name=name, stamps=when, truth=true)
            for kind, name, true, when in [
                ('state', 'a', truth, moment), ('state', 'b', truth, moment),
                ('sensed', 'a', {}, moment), ('sensed', 'b', {}, stamps(50, header_ns=7)),
                ('state', 'ä"\\', truth, stamps(50)), ('state', 'b', {'x': 0.1}, moment),
                ('state', 'b', {'y': 1e-7}, moment), ('state', 'a', {}, moment)]]
    found = record(told)
    again = read_journal(written(tmp_path / 'a', found), registry.resolve)
    assert [repr(event) for event in again.events] == [repr(event) for event in found.events]


def test_repeated_messages_cost_little(tmp_path):
    def size(name: str, speeds: list[float]) -> int:
        found = record([(index, speed) for index, speed in enumerate(speeds)])
        return written(tmp_path / name, found).stat().st_size
    assert size('same', [0.5] * 1000) < 0.75 * size('other', [index / 7 for index in range(1000)])


def test_until_its_trial_has_ended_a_journal_has_another_name(tmp_path):
    path, found = tmp_path / 'a.events.jsonl.gz', record(reacting(150))
    journal = Journal(path, found.trial)
    assert unfinished(path).exists() and not path.exists()
    journal.close(found)
    assert path.exists() and not unfinished(path).exists()


def test_events_are_on_the_disk_a_moment_later(tmp_path):
    path, found = tmp_path / 'a.events.jsonl.gz', record(reacting(150))
    journal = Journal(path, found.trial)
    for event in found.events:
        journal.add(event)
    patience = time.monotonic() + 100 * FLUSH_S
    while len(read_text(unfinished(path)).splitlines()) <= len(found.events):
        assert time.monotonic() < patience
        time.sleep(FLUSH_S / 10)
    journal.abandon()
    again = read_journal(unfinished(path), registry.resolve, partial=True)
    assert again.events == found.events


def test_a_journal_without_its_last_line_is_no_finished_trial(tmp_path):
    path = written(tmp_path / 'a', record(reacting(150)))
    text = read_text(path)
    write_text(path, text[:text.rstrip('\n').rfind('\n') + 1])
    with pytest.raises(TraceError, match='never ended. Run campaign repair'):
        read_journal(path, registry.resolve)


def test_of_a_killed_trial_every_whole_line_counts(tmp_path):
    found = record(reacting(150))
    path = written(tmp_path / 'a', found)
    whole = read_text(path)
    lines = whole.splitlines(keepends=True)
    first = len(lines[0])
    for at in (first, first + 1, first + len(lines[1]), first + len(lines[1]) + 5):
        write_text(path, whole[:at])
        events = read_journal(path, registry.resolve, partial=True).events
        assert events == found.events[:whole[:at].count('\n') - 1]


def test_wherever_a_crash_cut_the_file_all_that_was_written_whole_is_read(tmp_path):
    found = record(reacting(150))
    path = tmp_path / 'a'
    journal = Journal(path, found.trial)
    sizes = []
    for event in found.events[:5]:
        journal.add(event)
        sizes.append(unfinished(path).stat().st_size)
        patience = time.monotonic() + 100 * FLUSH_S
        while unfinished(path).stat().st_size == sizes[-1] and time.monotonic() < patience:
            time.sleep(FLUSH_S / 10)
    journal.abandon()
    data = unfinished(path).read_bytes()
    for at in range(sizes[0], len(data) + 1):
        path.write_bytes(data[:at])
        again = read_journal(path, registry.resolve, partial=True).events
        whole = sum(size <= at for size in sizes[1:])
        assert again[:whole] == found.events[:whole] and len(again) <= 5


def test_a_changed_byte_of_the_file_is_told_and_never_a_whole_record(tmp_path):
    path = written(tmp_path / 'a', record(reacting(150)))
    whole = path.read_bytes()
    for at in range(10, len(whole), 97):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1:])
        with pytest.raises(TraceError):
            read_journal(path, registry.resolve)
    for changed in (whole[:-1], whole[:-8], whole + b'x', whole + whole):
        path.write_bytes(changed)
        with pytest.raises(TraceError):
            read_journal(path, registry.resolve)


@pytest.mark.parametrize(('line', 'text'), [
    (1, b'[]'), (1, b'{"journal":3,"trial":{}}'), (1, b'\xff'), (3, b'{]'), (3, b'["mark"]'),
    (3, b'["dance","x",[1,1,1,null,null,null],{}]'), (3, b'["mark","x",[1,1,1],{}]'),
    (3, b'["mark","x",[1,1,1,null,null,null],{},"same"]'),
    (3, b'["mark","x",["1",1,1,null,null,null],{}]'),
    (3, b'["mark","x",[1,9223372036854775808,1,null,null,null],{}]'),
    (3, b'["mark","x",[1,1,1,null,null,null],{},["a/msg/A",{}],"more"]'),
    *((3, b'["state","x",[1,1,1,null,null,null],' + rest + b']') for rest in (
        b'[]', b'{"truth":[]}', b'{"truth":{"x":"1"}}', b'{"truth":{},"more":1}')),
    (3, b'["state",1,[1,1,1,null,null,null],{}]'),
    (3, b'["mark","x",[1,1,1,null,null,null],{},["a/msg/A",{},"more"]]')])
def test_a_damaged_line_is_told_with_its_number(tmp_path, line, text):
    path = written(tmp_path / 'a', record(reacting(150)))
    lines = read_text(path).encode().splitlines()
    lines[line - 1] = text
    path.write_bytes(gzip.compress(b'\n'.join(lines) + b'\n'))
    with pytest.raises(TraceError, match=rf'a:{line}: ') as told:
        read_journal(path, registry.resolve)
    assert len(str(told.value)) < 1000


def test_a_plan_of_another_model_is_refused(tmp_path):
    path = written(tmp_path / 'a', record(reacting(150)))
    write_text(path, read_text(path).replace('"critical_ms":500.0', '"critical_ms":5.0', 1))
    with pytest.raises(UnfitPlanError, match='target_ms <= acceptable_ms'):
        read_journal(path, registry.resolve)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(TraceError, match='cannot be read'):
        read_journal(tmp_path / 'none', registry.resolve)


def test_a_full_disk_is_told_when_the_trial_has_ended(tmp_path, monkeypatch):
    found = record(reacting(150))
    journal = Journal(tmp_path / 'a', found.trial)
    full = open('/dev/full', 'wb', buffering=0)
    journal._file.close()
    monkeypatch.setattr(journal, '_file', full)
    for event in found.events:
        journal.add(event)
    with pytest.raises(TraceError, match='No space left'):
        journal.close(found)
    assert full.closed
    assert not (tmp_path / 'a').exists()


def test_a_journal_gets_its_name_when_the_disk_has_it_and_not_if_it_has_not(tmp_path, monkeypatch):
    path, found = tmp_path / 'a', record(reacting(150))
    names: list[bool] = []
    monkeypatch.setattr(os, 'fsync', lambda descriptor: names.append(path.exists()))
    written(path, found)
    assert names == [False] and path.exists()

    def full(descriptor):
        raise OSError(errno.ENOSPC, 'No space left on device')
    monkeypatch.setattr(os, 'fsync', full)
    with pytest.raises(TraceError, match='No space left'):
        written(tmp_path / 'b', found)
    assert not (tmp_path / 'b').exists()


def test_an_event_that_cannot_be_written_is_told(tmp_path):
    found = record(reacting(150), hazard())
    journal = Journal(tmp_path / 'a', found.trial)
    journal.add(mark('x', 0.0).model_copy(update={'text': object()}))
    with pytest.raises(TraceError, match='cannot be written'):
        journal.close(found)


def test_a_line_that_unpacks_to_more_than_any_event_ends_the_reading(tmp_path, monkeypatch):
    monkeypatch.setattr('safety_scenarios.trial.lines._LONGEST', 1 << 20)
    path = tmp_path / 'bomb.gz'
    path.write_bytes(gzip.compress(b'{}\n' + bytes(1 << 27)))
    found, problem = read_gzip(path)
    assert found.startswith(b'{}\n') and len(found) < 1 << 26
    assert problem == 'it holds a line of more than 1048576 bytes'
    path.write_bytes(gzip.compress((bytes(1 << 19) + b'\n') * 8))
    assert read_gzip(path) == ((bytes(1 << 19) + b'\n') * 8, '')


def test_more_events_than_a_trial_can_have_are_refused(tmp_path, monkeypatch):
    found = RECORDS['a stop']()
    path = written(tmp_path / 'a.events.jsonl.gz', found)
    size = sum(event.size for event in found.events)
    monkeypatch.setattr(journal, 'MAX_RECORD', size // 2 + 1)
    assert read_journal(path, registry.resolve) == found
    monkeypatch.setattr(journal, 'MAX_RECORD', size // 4)
    with pytest.raises(TraceError, match='MB of events, expected at most that'):
        read_journal(path, registry.resolve, damage=[])


def test_a_time_of_another_type_is_told_in_our_words(tmp_path):
    path = written(tmp_path / 'a.events.jsonl.gz', RECORDS['a stop']())
    head, first, *_ = read_text(path).splitlines(keepends=True)
    write_text(path, head + first + '["mark","x",[1,null,null,null,null,null],{}]\n')
    damage: list[str] = []
    read_journal(path, registry.resolve, partial=True, damage=damage)
    [told] = damage
    assert ':3: cannot be read: ' in told and 'expected' in told
    assert 'pydantic' not in told and 'type=' not in told


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


def test_a_file_that_is_missing_leaves_nothing_that_cannot_be_closed(tmp_path):
    """From Python 3.13 on each user is told of that, before it with -X dev alone."""
    done = subprocess.run(
        [sys.executable, '-X', 'dev', '-c', 'import pathlib, safety_scenarios.trial.lines as lines'
         '\ntry:\n    lines.read_gzip(pathlib.Path("missing"))\nexcept OSError:\n    pass'],
        cwd=tmp_path, env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, '')


def test_to_chain_anew_what_was_changed_gives_another_head(path):
    """Which the manifest, the trace and the recording do not name."""
    *lines, last = lines_of(path)
    chain = Chain()
    for line in [*lines[:2], *lines[3:]]:
        chain.add(line)
    forged, head = chain.end(last.rpartition(b',"chain":')[0] + b'}\n')
    assert break_in([*lines[:2], *lines[3:], forged]) is None
    assert head != head_of(path)
