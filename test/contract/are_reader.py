# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Runs inside ARE's own virtual environment: what the stock importer thinks of scenario files.

``python are_reader.py FOLDER FILE...`` writes ARE's own examples into the folder, and prints one
JSON object a line for each of them and of the files: the error that ARE raises for it, null
without one, and what it logged as a warning or worse. The last line says which apps it has, and
what can be called on them.
"""

import importlib
import inspect
import json
import logging
from pathlib import Path
import sys

from are.simulation import apps
from are.simulation.data_handler.exporter import JsonScenarioExporter
from are.simulation.data_handler.importer import JsonScenarioImporter
from are.simulation.environment import Environment, EnvironmentConfig
from are.simulation.scenarios.scenario import Scenario
from are.simulation.validation.constants import TOOL_ARG_CHECKER_TYPE_REGISTRY

records = []
EXAMPLES = ('scenario_apps_tutorial', 'scenario_events_tutorial', 'scenario_find_image_file',
            'scenario_tutorial', 'scenario_validation_tutorial')
"""Its other two need a library for servers of tools."""


class Collector(logging.Handler):
    """Keeps what ARE complains about."""

    def emit(self, record):
        records.append(f'{record.name}: {record.getMessage()}')


def main():
    """Import every file, and initialise its scenario."""
    logging.getLogger().addHandler(Collector(level=logging.WARNING))
    folder, *paths = sys.argv[1:]
    for path in [*exported(Path(folder)), *paths]:
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
    sys.stdout.write(json.dumps({
        'listed': sorted(app.__name__ for app in apps.ALL_APPS), 'functions': dict(known()),
        'checks': {tool: {name: check.value for name, check in checks.items()}
                   for tool, checks in TOOL_ARG_CHECKER_TYPE_REGISTRY.items()},
        'defaults': dict(defaults()), 'operations': dict(operations())}) + '\n')


def defaults():
    """Yield each tool that is compared, and what its compared arguments are when left out."""
    for tool, checks in TOOL_ARG_CHECKER_TYPE_REGISTRY.items():
        class_name, _, function = tool.partition('__')
        found = getattr(getattr(apps, class_name, None), function, None)
        if found is not None:
            yield tool, {name: one.default
                         for name, one in inspect.signature(found).parameters.items()
                         if name in checks and one.default is not inspect.Parameter.empty}


def exported(folder):
    """Yield the file of each of ARE's own scenarios that it can export, when it has run it."""
    for name in EXAMPLES:
        module = importlib.import_module(f'are.simulation.scenarios.{name}.scenario')
        made, = [one for one in vars(module).values() if isinstance(one, type)
                 and issubclass(one, Scenario) and one.__module__ == module.__name__]
        scenario = made()
        scenario.initialize()
        environment = Environment(EnvironmentConfig(
            oracle_mode=True, queue_based_loop=True, start_time=scenario.start_time))
        environment.run(scenario)
        environment.stop()
        path = folder / f'{name}.json'
        path.write_text(JsonScenarioExporter().export_to_json(
            environment, scenario, scenario.scenario_id))
        yield str(path)


def known():
    """Yield each class of apps with what can be called on it."""
    for name in sorted(vars(apps)):
        made = getattr(apps, name)
        if isinstance(made, type):
            yield name, [one for one in dir(made()) if not one.startswith('_')]


def operations():
    """Yield each tool that ARE records, and as what."""
    for name in sorted(vars(apps)):
        made = getattr(apps, name)
        for function in dir(made) if isinstance(made, type) else ():
            operation = getattr(getattr(made, function), '__operation_type__', None)
            if operation is not None:
                yield f'{name}__{function}', operation.value


if __name__ == '__main__':
    main()
