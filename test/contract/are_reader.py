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
Runs inside ARE's own virtual environment: what the stock importer thinks of scenario files.

``python are_reader.py FILE...`` prints one JSON object a line: the error that ARE raises for a
file, null without one, and what it logged as a warning or worse. The last line says which apps it
has, and what can be called on them.
"""

import json
import logging
from pathlib import Path
import sys

from are.simulation import apps
from are.simulation.data_handler.importer import JsonScenarioImporter

records = []


class Collector(logging.Handler):
    """Keeps what ARE complains about."""

    def emit(self, record):
        """Keep one record."""
        records.append(f'{record.name}: {record.getMessage()}')


def main():
    """Import every file, and initialise its scenario."""
    logging.getLogger().addHandler(Collector(level=logging.WARNING))
    for path in sys.argv[1:]:
        records.clear()
        error, scheduled = None, []
        try:
            scenario, _, _ = JsonScenarioImporter().import_from_json(
                Path(path).read_bytes(), load_completed_events=True)
            scenario.initialize()
            scheduled = sorted(event.event_id for event in scenario.events)
        except Exception as raised:  # whatever it is, ARE does not take the file
            error = f'{type(raised).__name__}: {raised}'
        sys.stdout.write(json.dumps({'path': path, 'error': error, 'logged': list(records),
                                     'scheduled': scheduled}) + '\n')
    sys.stdout.write(json.dumps({'listed': sorted(app.__name__ for app in apps.ALL_APPS),
                                 'functions': dict(known())}) + '\n')


def known():
    """Yield each class of apps with what can be called on it."""
    for name in sorted(vars(apps)):
        made = getattr(apps, name)
        if isinstance(made, type):
            yield name, [one for one in dir(made()) if not one.startswith('_')]


if __name__ == '__main__':
    main()
