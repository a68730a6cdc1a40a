# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Runs inside ARE's own virtual environment: imports traces with the stock importer.

``python are_import.py TRACE...`` prints one JSON object a line: what ARE made of each trace, and
every warning it logged.
"""

import json
import logging
import sys

from are.simulation.data_handler.importer import JsonScenarioImporter

records = []


class Collector(logging.Handler):
    """Keeps what ARE complains about."""

    def emit(self, record):
        """Keep one record."""
        records.append(f'{record.name}: {record.getMessage()}')


def main():
    """Import every trace both ways, and initialise its scenario."""
    logging.getLogger().addHandler(Collector(level=logging.WARNING))
    importer = JsonScenarioImporter()
    for path in sys.argv[1:]:
        with open(path, encoding='utf-8') as file:
            text = file.read()
        records.clear()
        benchmark, benchmark_events, _ = importer.import_from_json_to_benchmark(
            text, load_completed_events=True)
        scenario, events, logs = importer.import_from_json(text, load_completed_events=True)
        scenario.initialize()
        print(json.dumps({
            'path': path, 'scenario_id': scenario.scenario_id,
            'benchmark_id': benchmark.scenario_id, 'benchmark_events': len(benchmark_events),
            'events': [[event.event_id, event.event_type.name, event.event_time]
                       for event in events],
            'scheduled': sorted(event.event_id for event in scenario.events),
            'tags': sorted(tag.name for tag in scenario.tags), 'status': scenario.status.name,
            'logs': len(logs), 'warnings': list(records)}))


if __name__ == '__main__':
    main()
