# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
ARE's environment and apps as a process that a campaign asks, in lock-step with its trial.

It is run by path in ARE's own virtual environment, so that it imports nothing of this package.
One JSON object a line comes in, ``{"id": 1, "do": "call", ...}``, and one goes out for it,
``{"id": 1, "ok": {...}}`` or ``{"id": 1, "error": "..."}``. Time stands still but for ``at_s``:
seconds after the start of the scenario. It ends when its standard input does.
"""

import inspect
import json
import os
import queue
import sys
import threading
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, Union

if __name__ == '__main__':
    sys.path.pop(0)  # the folder of this file, whose modules are none of ARE's

INTERNAL = ('AgentUserInterface',)
"""The way in and out of words, which the trial itself is."""
WAITING = ('SystemApp__wait_for_notification', 'SystemApp__wait')
"""Time is the trial's, and no tool may move it."""
COMPARED_AS = {'SandboxLocalFileSystem__makedirs': 'SandboxLocalFileSystem__mkdir'}
HARMLESS = ('CabApp__get_quotation',)
"""What ARE's judge takes for another tool, and for one that changes nothing."""
NAMES = {str: 'string', int: 'integer', float: 'number', bool: 'boolean', dict: 'object',
         list: 'array', set: 'array', tuple: 'array'}


def schema_of(kind: Any) -> 'dict[str, Any]':
    """Return a type as JSON schema says it; empty for one that it cannot say."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        options = [schema_of(one) for one in inner if one is not NoneType]
        if len(options) == 1 and isinstance(options[0].get('type'), str) and NoneType in inner:
            return {**options[0], 'type': [options[0]['type'], 'null']}
        return {'anyOf': [*options, *([{'type': 'null'}] if NoneType in inner else [])]} \
            if all(options) else {}
    name = NAMES.get(origin or kind)
    if name is None:
        return {}
    items = schema_of(inner[0]) if name == 'array' and inner else {}
    return {'type': name, **({'items': items} if items else {})}


def plain(value: Any) -> Any:
    """Return a value as JSON can say it, else as ARE's own agents see it: as text."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return str(value)


class Server:
    """One scenario of ARE after the other, each in an environment of its own."""

    def __init__(self) -> None:
        from are.simulation.time_manager import TimeManager

        class Clock(TimeManager):
            """Time that passes only when the trial says so."""

            now_s = 0.0

            def time(self) -> float:
                return self.now_s

            def time_passed(self) -> float:
                return self.now_s - float(self.start_time or 0.0)

        self._clock_class = Clock
        self._clock: Any = None
        self._scenario: Any = None
        self._environment: Any = None
        self._tools: dict[str, Any] = {}

    def load(self, text: str, keep: 'list[str] | None' = None,
             skip: 'list[str] | None' = None) -> 'dict[str, Any]':
        """
        Take a scenario, in its first state; what was before is gone.

        :param keep: names of apps, of which only these are there; None: all
        :param skip: names of apps that are not there
        """
        from are.simulation.data_handler.importer import JsonScenarioImporter
        from are.simulation.environment import Environment, EnvironmentConfig
        there = [app['name'] for app in json.loads(text).get('apps', [])]
        unknown = sorted({*(keep or ()), *(skip or ())} - set(there))
        if unknown:
            raise ValueError(f'are.keep and are.skip: got {", ".join(unknown)}, expected apps of '
                             f'the file: {", ".join(sorted(there))}')
        wanted = [name for name in there
                  if (keep is None or name in keep) and name not in (skip or ())]
        scenario = JsonScenarioImporter().import_from_json(
            text, apps_to_skip=skip, apps_to_keep=keep, load_completed_events=False)[0]
        scenario.initialize()
        missing = sorted(set(wanted) - {app.name for app in scenario.apps or []})
        if missing:
            raise ValueError(f'ARE has left out the apps {", ".join(missing)}: it does not know '
                             f'their class, or cannot load their state')
        self._scenario = scenario
        self._environment = Environment(EnvironmentConfig(
            start_time=scenario.start_time, duration=None, verbose=False))
        self._clock = self._environment.time_manager = self._clock_class()
        self._clock.reset(start_time=scenario.start_time)
        self._go(0.0)
        self._environment.notification_system.initialize(self._clock)
        self._environment.register_apps(scenario.apps)
        for app in scenario.apps:
            if hasattr(app, 'set_wait_for_user_response'):
                app.set_wait_for_user_response(False)
        self._tools = {tool.name: tool for app in scenario.apps for tool in app.get_tools()}
        return {'user': self._user(), 'tools': [
            self._described(tool) for tool in self._tools.values()]}

    def _user(self) -> str:
        """Return the name of the one contact that is the user."""
        found = [one for app in self._scenario.apps for one in getattr(
            app, 'contacts', {}).values() if getattr(one, 'is_user', False)]
        return f'{found[0].first_name} {found[0].last_name}' if found else ''

    def _described(self, tool: Any) -> 'dict[str, Any]':
        from are.simulation.validation.constants import TOOL_ARG_CHECKER_TYPE_REGISTRY
        key = f'{tool.class_name}__{tool.func_name}'
        key = COMPARED_AS.get(key, key)
        checks = TOOL_ARG_CHECKER_TYPE_REGISTRY.get(key)
        properties = {}
        for arg in tool.args:
            properties[arg.name] = {
                **schema_of(arg.type_obj),
                **({'description': arg.description} if arg.description else {})}
        return {
            'name': tool.name, 'key': key,
            'offered': tool.class_name not in INTERNAL and key not in WAITING,
            'description': tool._public_description or '',
            'parameters': {'type': 'object', 'properties': properties,
                           'required': [arg.name for arg in tool.args if not arg.has_default]},
            'defaults': {arg.name: plain(arg.default) for arg in tool.args if arg.has_default},
            'write': bool(tool.write_operation) and key not in HARMLESS,
            'checks': None if checks is None else {
                name: check.value for name, check in checks.items()}}

    def call(self, tool: str, args: 'dict[str, Any]', at_s: float) -> 'dict[str, Any]':
        """Let the agent call a tool; what the app raises is its answer."""
        self._go(at_s)
        found = self._tools.get(tool)
        if found is None:
            raise ValueError(f'got the tool {tool!r}, which the apps of the scenario lack')
        try:
            return {'result': plain(found(**args))}
        except Exception as error:
            return {'raised': f'{type(error).__name__}: {error}'[:2000]}

    def happen(self, event: str, at_s: float) -> 'dict[str, Any]':
        """Let a planned USER or ENV event happen now."""
        self._go(at_s)
        found = next((one for one in self._scenario.events if one.event_id == event), None)
        if found is None or not hasattr(found, 'execute'):
            raise ValueError(f'got the event {event!r}, which the scenario lacks')
        found.event_time = self._clock.now_s
        found = self._environment.resolve_arg_placeholders(
            found, self._environment.event_log.list_view())
        done = found.execute()
        self._environment.add_to_log(done)
        return {'raised': done.metadata.exception}

    def export(self) -> 'dict[str, Any]':
        """Return the run as ARE itself exports it."""
        from are.simulation.data_handler.exporter import JsonScenarioExporter
        try:
            return {'text': JsonScenarioExporter().export_to_json(
                self._environment, self._scenario, self._scenario.scenario_id)}
        except Exception as error:  # it cannot export everything that a tool may give back
            return {'raised': f'{type(error).__name__}: {error}'[:2000]}

    def version(self) -> 'dict[str, Any]':
        """Return which ARE this is."""
        from importlib.metadata import version
        return {'version': version('meta-agents-research-environments')}

    def _go(self, at_s: float) -> None:
        self._clock.now_s = float(self._scenario.start_time or 0.0) + at_s


def answered(server: 'Server | None', line: str) -> 'tuple[Server | None, dict[str, Any]]':
    """Return what to say to one request; the first one imports ARE."""
    number = None
    try:
        request = json.loads(line)
        number, do = request.pop('id'), request.pop('do')
        if do not in ('version', 'load', 'call', 'happen', 'export'):
            raise ValueError(f'got the request {do!r}')
        server = server or Server()
        method = getattr(server, do)
        inspect.signature(method).bind(**request)
        return server, {'id': number, 'ok': method(**request)}
    except Exception as error:
        return server, {'id': number, 'error': f'{type(error).__name__}: {error}'[:4000]}


def main() -> None:
    """Answer until nobody asks any more, even while an app does not come back."""
    out = os.fdopen(os.dup(1), 'w', encoding='utf-8')
    os.dup2(2, 1)  # whatever an app prints is no answer
    lines: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)
    threading.Thread(target=listen, daemon=True).start()
    server = None
    while True:
        server, answer = answered(server, lines.get())
        out.write(json.dumps(answer) + '\n')
        out.flush()


if __name__ == '__main__':
    main()
