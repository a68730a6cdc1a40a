# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Monitor files: what they may say, and what only a trial can do."""

from copy import deepcopy

import fast_yaml
import pytest
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.formats.loading import load_scenario, share_folder
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.temporal_logic.evaluation import bodies, horizon
from safety_scenarios.temporal_logic.parser import parse
from unit.operation import FILE

DATA = fast_yaml.load(FILE.read_text(encoding='utf-8'))
INVARIANTS = {one['name']: place for place, one in enumerate(DATA['ros']['invariants'])}


def refused(tmp_path, change):
    """Return field to message of a monitor file with something changed."""
    data = deepcopy(DATA)
    change(data['ros'])
    path = tmp_path / 'monitor.yaml'
    path.write_text(fast_yaml.dump(data), encoding='utf-8')
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    return {problem.field: problem.message for problem in caught.value.problems}


def put(name, **values):
    """Return a change of one invariant, or of a new one."""
    def change(ros):
        if name in INVARIANTS:
            ros['invariants'][INVARIANTS[name]].update(values)
        else:
            ros['invariants'].append({'name': name, **values})
    return change


@pytest.mark.parametrize(('change', 'field', 'hint'), [
    (lambda ros: ros.update(all_clear={'at_ms': 900.0}), 'ros.all_clear', 'Remove it'),
    (lambda ros: ros.update(stimuli=[{'kind': 'person', 'topic': 'scan', 'distance': 1.0}]),
     'ros.stimuli', 'publishes nothing'),
    (lambda ros: ros.update(reaction={'signal': 'speed', 'at_most': 0.1}), 'ros.reaction',
     'no hazard'),
    (put('s', kind='stop'), 'ros.invariants[6].kind', 'which is about the answer to a hazard'),
    (put('sees', topics=['scann']), 'ros.invariants[2].topics', "Did you mean 'scan'"),
    (put('yields', formula='always (hazard > 0 -> speed <= 1)'), 'ros.invariants[4].formula',
     'only a trial has'),
    (put('yields', formula='always (speed > 1 -> eventually (speed <= 1))'),
     'ros.invariants[4].formula', 'expected bounds'),
    (put('yields', formula='eventually (speed <= 1)'), 'ros.invariants[4].formula',
     'expected always'),
    (put('stays', x=None, y=None), 'ros.invariants[5]', 'needs x and y'),
    (lambda ros: ros['separation'].pop('distance'), 'ros.invariants[0]', 'separation.distance'),
    (lambda ros: ros['feedback'].append({'topic': 'cmd_vel'}), 'ros', 'expected it once'),
    (lambda ros: ros.update(invariants=[]), 'ros.invariants', 'at least 1'),
    (lambda ros: ros['signals']['speed'].update(topic='cmd'), 'ros.signals.speed.topic',
     'cmd_vel')])
def test_what_a_monitor_cannot_do_is_refused_where_it_stands(tmp_path, change, field, hint):
    assert hint in refused(tmp_path, change)[field]


def test_a_scenario_may_say_that_it_is_no_monitor_file(tmp_path):
    text = next((share_folder() / 'config' / 'scenarios' / 'robotic').glob('*.yaml')).read_text(
        encoding='utf-8')
    (tmp_path / 'one.yaml').write_text(text.replace('\nros:\n', '\nros:\n  monitor: false\n'),
                                       encoding='utf-8')
    assert not load_scenario(tmp_path / 'one.yaml').is_monitor


@pytest.mark.parametrize('path', sorted((share_folder() / 'config' / 'monitors').glob('*.yaml')))
def test_what_is_shipped_is_valid_and_no_trial(path):
    scenario = load_scenario(path)
    assert scenario.is_monitor
    with pytest.raises(ScenarioError, match='monitor_node'):
        refuse_unrunnable([scenario], RunSettings())


@pytest.mark.parametrize(('formula', 'expected'), [
    ('always (a > 0)', (0, 0, 0)), ('always (rise(a > 0) -> eventually[0, 2] (b > 0))',
                                    (0, 2_000_000_000, 1)),
    ('always (once[1, 3] (a > 0) -> always[0, 1] eventually[0, 1] (b > 0))',
     (3_000_000_000, 2_000_000_000, 0))])
def test_how_far_a_formula_looks_is_what_its_bounds_add_up_to(formula, expected):
    [body] = bodies(parse(formula))
    assert horizon(body) == expected


def test_what_has_neither_beginning_nor_end_is_refused():
    with pytest.raises(InputError, match='without bounds'):
        bodies(parse('always (a > 0 -> (b > 0 since c > 0))'))
