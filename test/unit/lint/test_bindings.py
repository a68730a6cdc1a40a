# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is odd about bindings is told of them, at its line, and not of the file beside them."""

from pathlib import Path
import shutil

from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.lint.review import review

DATA = Path(__file__).resolve().parents[2] / 'data' / 'agents_odd'


def told(folder, old='', new=''):
    for path in DATA.iterdir():
        shutil.copy(path, folder)
    bindings = folder / 'talk.bindings.yaml'
    text = bindings.read_text(encoding='utf-8')
    assert old in text
    bindings.write_text(text.replace(old, new), encoding='utf-8')
    loaded = load_scenarios([folder / 'talk.yaml'])
    return [str(loaded.problem(one.scenario, one.field, one.message, one.code)).removeprefix(
        f'{folder}/') for one in review(loaded.scenarios).remarks]


def test_a_hazard_on_a_topic_that_no_controller_hears_is_told(tmp_path):
    [line] = told(tmp_path)
    assert line.startswith("talk.bindings.yaml:7:3: L206 topics: got 'scam', expected one of scan")
    assert "Did you mean 'scan'?" in line and 'metadata.lint' not in line


def test_a_topic_that_is_heard_is_not_odd(tmp_path):
    assert told(tmp_path, 'name: scam', 'name: scan') == []


def test_a_topic_of_a_type_that_no_controller_here_takes_may_have_a_listener_of_its_own(tmp_path):
    assert told(tmp_path, """sensor_msgs/msg/LaserScan, use: stimulus,
         stimulus: {kind: person, distance: 1.5, rate_hz: 10}}""",
                'std_msgs/msg/Int32, use: stimulus, data: {data: 1}}') == []


def test_a_unit_in_the_bindings_is_told_at_its_line(tmp_path):
    assert any(line.startswith('talk.bindings.yaml:11:58: L217 signals.speed.unit: got rad/s')
               for line in told(tmp_path, 'unit: m/s', 'unit: rad/s'))
