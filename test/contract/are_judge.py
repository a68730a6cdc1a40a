# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Runs inside ARE's own virtual environment: what its judge says of runs that ARE has exported.

``python are_judge.py TRACE...`` prints one JSON object a line: whether every turn is right, and
what the judge gave as its reasons. Its language model must not be asked, which is an exception.
"""

import json
from pathlib import Path
import sys

from are.simulation.data_handler.importer import JsonScenarioImporter
from are.simulation.environment import Environment, EnvironmentConfig
from are.simulation.types import EventLog
from are.simulation.validation.configs import GraphPerEventJudgeConfig
from are.simulation.validation.judge import GraphPerEventJudge
from are.simulation.validation.utils.scenario_utils import run_oracle_mode


def nobody(*_, **__):
    """Stand in for the judge's language model."""
    raise AssertionError('the judge asked its language model')


def main():
    """Judge every trace."""
    judge = GraphPerEventJudge(GraphPerEventJudgeConfig(engine=nobody))
    for path in sys.argv[1:]:
        scenario, events, _ = JsonScenarioImporter().import_from_json_to_benchmark(
            Path(path).read_text(encoding='utf-8'), load_completed_events=True)
        scenario.initialize()
        run_oracle_mode(scenario)
        environment = Environment(EnvironmentConfig(oracle_mode=True))
        environment.event_log = EventLog.from_list_view(events)
        judge.initialize_state(scenario)
        said = []
        while len(said) < scenario.nb_turns and all(one.success for one in said):
            said.append(judge.validate_current_turn(environment))
        sys.stdout.write(json.dumps({
            'path': path, 'right': all(one.success for one in said),
            'asked': [repr(one.exception) for one in said if one.exception],
            'events': [[event.event_id, event.event_time - scenario.start_time, event.failed()]
                       for event in events],
            'why': [str(one.rationale) for one in said]}) + '\n')


if __name__ == '__main__':
    main()
