# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whatever stands in a field of an invariant, the file is refused or read: nothing is raised."""

from cases import for_each
import pytest
from safety_scenarios import registry
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import load_scenarios

ODD = ('null', '5', '-1', '.nan', 'text', '[]', '[5, null]', '{}', '{a: 1}', '[[0, 0], [1, 0]]')
KINDS = sorted(set(registry.names('invariants')) - {'text', 'judge'})
FIELDS = [(kind, field) for kind in KINDS
          for field in registry.resolve('invariants', kind).model_fields if field != 'kind']
HEAD = """id: ODD-1
name: odd
domain: robotic
description: d
messages: [{role: user, content: c}]
latency_budget: {target_ms: 100, acceptable_ms: 200, critical_ms: 400}
constraint: {description: d, time_pressure: immediate, consequence_of_delay: d}
expected_action: e
ros:
  robot: {kind: mobile_base, max_speed: 1.0}
  nominal:
    require: {signal: speed, at_least: 0.2}
    stimuli: [{kind: obstacle, topic: scan, distance: 6.0}]
  stimuli: [{kind: obstacle, topic: scan, distance: 1.0}]
  all_clear: {at_ms: 2000}
  commands: [{topic: cmd_vel}]
  signals: {speed: {topic: cmd_vel, field: linear.x, reduce: abs, unit: m/s}}
  reaction: {signal: speed, at_most: 0.02}
  invariants:
"""


@pytest.mark.slow
@for_each(('kind', 'field'), FIELDS)
@pytest.mark.thorough
def test_an_odd_value_in_any_field_is_refused_or_read(tmp_path, kind, field):
    refused = 0
    for number, odd in enumerate(ODD):
        path = tmp_path / f'{number}.yaml'
        path.write_text(f'{HEAD}    - {{kind: {kind}, {field}: {odd}}}\n')
        try:
            load_scenarios([str(path)])
        except InputError as error:
            refused += 1
            assert len(str(error)) < 5000
    assert refused >= 5
