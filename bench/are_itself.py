# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Runs inside ARE's own virtual environment: what a trace costs its importer and its exporter.

``python are_itself.py TRACE WRITTEN`` prints MEASURED and JSON: events, reading, writing.
"""

import json
import logging
from pathlib import Path
import sys

from are.simulation.data_handler.exporter import JsonScenarioExporter
from are.simulation.data_handler.importer import JsonScenarioImporter
from are.simulation.environment import Environment, EnvironmentConfig
from are.simulation.types import EventLog
from step import measured


def main() -> None:
    """Read the trace, then write the same events."""
    logging.disable()
    path, written = (Path(name) for name in sys.argv[1:])
    (scenario, events, _), *reading = measured(
        lambda: JsonScenarioImporter().import_from_json(path.read_text(encoding='utf-8'),
                                                        load_completed_events=True))
    scenario.initialize()
    environment = Environment(EnvironmentConfig(oracle_mode=True))
    environment.event_log = EventLog.from_list_view(events)
    _, *writing = measured(lambda: written.write_text(
        JsonScenarioExporter().export_to_json(environment, scenario, scenario.scenario_id),
        encoding='utf-8'))
    sys.stdout.write(f'MEASURED {json.dumps([len(events), reading, writing])}\n')


if __name__ == '__main__':
    main()
