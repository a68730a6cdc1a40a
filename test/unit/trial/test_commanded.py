# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a controller put out, as one hash: the same for the same commands, and for nothing else."""

from pathlib import Path

import pytest
from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.trial.lines import commanded
from unit.loopback_runs import loopback_run

DATA = Path(__file__).parents[2] / 'data'
QUICK = str(DATA / 'quick_person.yaml')


def hashes(folder, *scenarios, timed=True, **more):
    run = loopback_run(folder, *(scenarios or (QUICK,)), seed=4, **more)
    return [commanded(run.folder / journal_path(trial['trial_id']), timed=timed)
            for trial in run.trials]


@pytest.fixture(scope='module')
def two(tmp_path_factory):
    return hashes(tmp_path_factory.mktemp('two') / 'run', trials=2)


def test_the_same_controller_puts_out_the_same_and_another_trial_another(two, tmp_path):
    assert hashes(tmp_path / 'again', trials=2) == two and all(two)
    varied = hashes(tmp_path / 'varied', 'SCN-R-110', trials=2)
    assert len({*varied, *two}) == 3 and two[0] == two[1]  # nothing varies in the quick one


def test_who_it_was_does_not_count_and_when_it_commanded_does(two, tmp_path):
    named = hashes(tmp_path / 'named', trials=2, controller_label='someone else')
    late = hashes(tmp_path / 'late', trials=2, controller='late',
                  controller_parameters=('delay_ms=150',))
    assert named == two and not set(late) & set(two)


def test_stamps_in_headers_do_not_count(tmp_path):
    plain = hashes(tmp_path / 'a', command_type='geometry_msgs/msg/TwistStamped')
    assert plain == hashes(tmp_path / 'b', command_type='geometry_msgs/msg/TwistStamped') \
        and all(plain)


def test_of_words_the_answers_count(tmp_path):
    [kind] = hashes(tmp_path / 'a', 'SCN-C-101', words='patterns')
    [parrot] = hashes(tmp_path / 'b', 'SCN-C-101', words='patterns', controller='parrot')
    assert kind and parrot and kind != parrot


def test_no_journal_is_equal_to_nothing(tmp_path):
    assert commanded(tmp_path / 'none.events.jsonl.gz', timed=True) is None


def test_a_journal_without_its_end_tells_nothing(tmp_path):
    run = loopback_run(tmp_path / 'run', QUICK, seed=4)
    path = run.folder / journal_path(run.trials[0]['trial_id'])
    data = path.read_bytes()
    path.write_bytes(data[:len(data) // 2])
    assert commanded(path, timed=True) is None
