# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Runs inside ARE's own virtual environment: what ARE makes of our traces.

``python are_import.py [--robot FOLDER...] TRACE...`` prints one JSON object a line: what came in,
what a run of the scenario and an export gave, what the judge said, and every warning meanwhile.
``--robot``: register RobotApp first; the folders hold what our package needs besides ARE.
"""

import json
import logging
import sys

sys.path += sys.argv[2:sys.argv.index('--')] if '--robot' in sys.argv else []

from are.simulation.data_handler.exporter import JsonScenarioExporter  # noqa: E402
from are.simulation.data_handler.importer import JsonScenarioImporter  # noqa: E402
from are.simulation.environment import Environment, EnvironmentConfig  # noqa: E402
from are.simulation.types import EventLog  # noqa: E402
from are.simulation.validation.configs import GraphPerEventJudgeConfig  # noqa: E402
from are.simulation.validation.judge import GraphPerEventJudge  # noqa: E402
from are.simulation.validation.utils.scenario_utils import run_oracle_mode  # noqa: E402

records = []
MS = 0.001


class Collector(logging.Handler):
    """Keeps what ARE complains about."""

    def emit(self, record):
        records.append(f'{record.name}: {record.getMessage()}')


def nobody(*_, **__):
    """Stand in for the judge's language model, which is never to be asked."""
    raise AssertionError('the judge asked its language model')


def judges():
    """Return ARE's judge without any tolerance, and with its own."""
    return [GraphPerEventJudge(GraphPerEventJudgeConfig(engine=nobody, **tolerance))
            for tolerance in ({'pre_event_tolerance_seconds': 0,
                               'post_event_tolerance_seconds': 0}, {})]


def facts(events):
    """Return everything of events that ARE keeps."""
    return [[event.event_id, event.event_type.name, event.event_time,
             event.action.app.name, event.action.function.__name__,
             event.action.operation_type.name,
             {name: value for name, value in event.action.args.items() if name != 'self'},
             event.metadata.return_value, event.metadata.exception] for event in events]


def chain(scenario):
    """Return what each planned event waits for, for how long, and within which limit."""
    return sorted([event.event_id, event.event_type.name, event.event_relative_time,
                   [one.event_id for one in event.dependencies],
                   str(getattr(event, 'event_time_comparator', None)),
                   {name: value for name, value in event.action.args.items() if name != 'self'}
                   if getattr(event, 'action', None) else None] for event in scenario.events)


def filled(events):
    """Return an environment in which these events have happened."""
    environment = Environment(EnvironmentConfig(oracle_mode=True))
    environment.event_log = EventLog.from_list_view(events)
    return environment


def score(judge, scenario, events):
    """Return 1.0 or 0.0, as ``are-benchmark judge`` scores."""
    judge.initialize_state(scenario)
    scores = [judge.validate_current_turn(filled(events)) for _ in range(scenario.nb_turns)]
    asked = [str(one.exception) for one in scores if one.exception]
    return asked or float(all(one.success for one in scores))


def moved(text, limit_s):
    """Return the events with the reaction at a time after the hazard."""
    _, events, _ = JsonScenarioImporter().import_from_json_to_benchmark(
        text, load_completed_events=True)
    at_s = {event.event_id: event.event_time for event in events}
    for event in events:
        if event.event_id == 'reaction':
            event.event_time = at_s['hazard'] + limit_s
    return events


def completed(text):
    """Return the completed events of a trace as data."""
    return json.loads(text)['completed_events']


def planned(text):
    """Return the planned events of a trace as data, without the ids that ARE makes up."""
    return [{**event, 'action': {key: value for key, value in event['action'].items()
                                 if key != 'action_id'}}
            for event in sorted(json.loads(text)['events'], key=lambda one: one['event_id'])]


def told(path, found_judges):
    """Return what ARE makes of one trace."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    records.clear()
    importer = JsonScenarioImporter()
    benchmark, benchmark_events, _ = importer.import_from_json_to_benchmark(
        text, load_completed_events=True)
    scenario, events, logs = importer.import_from_json(text, load_completed_events=True)
    scenario.initialize()
    benchmark.initialize()
    exported = JsonScenarioExporter().export_to_json(filled(events), scenario,
                                                     scenario.scenario_id)
    again, events_again, logs_again = importer.import_from_json(exported,
                                                                load_completed_events=True)
    again.initialize()
    chains = [chain(scenario), chain(again)]
    warnings = list(records)
    run_oracle_mode(benchmark)
    scheduled = {event.event_id: event for event in benchmark.events}
    limit_s = scheduled['reaction'].event_relative_time if 'reaction' in scheduled else None
    judged, shifted = [], []
    for judge in found_judges:
        judged.append(score(judge, benchmark, benchmark_events))
    if found_judges and limit_s is not None:
        shifted = [score(found_judges[0], benchmark, moved(text, at_s))
                   for at_s in (limit_s, limit_s + MS)]
    return {
        'path': path, 'scenario_id': scenario.scenario_id, 'benchmark_id': benchmark.scenario_id,
        'benchmark_events': len(benchmark_events), 'logs': len(logs),
        'events': [[event.event_id, event.event_type.name, event.event_time]
                   for event in events],
        'chain': [one[:5] for one in chains[0]], 'chain_kept': chains[0] == chains[1],
        'kept': facts(events) == facts(events_again) and len(logs) == len(logs_again),
        'fixpoint': completed(text) == completed(exported),
        'planned_kept': planned(text) == planned(exported),
        'scheduled': sorted(scheduled), 'limit_s': limit_s,
        'ran': [[event.event_id, event.event_time - benchmark.start_time]
                for event in benchmark.oracle_run_event_log],
        'judged': judged, 'shifted': shifted,
        'tags': sorted(tag.name for tag in scenario.tags), 'status': scenario.status.name,
        'warnings': warnings}


def main():
    """Import, run, export and judge every trace."""
    paths = sys.argv[1:]
    if paths[0] == '--robot':
        from safety_scenarios.are.app.robot_app import register
        register()
        register()
        paths = paths[paths.index('--') + 1:]
    logging.getLogger().addHandler(Collector(level=logging.WARNING))
    found_judges = judges() if len(paths) > 1 else []
    for path in paths:
        print(json.dumps(told(path, found_judges)))


if __name__ == '__main__':
    main()
