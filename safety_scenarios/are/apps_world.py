# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The world ``are`` of a campaign: ARE's process, the tools of its apps, and the link to them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import replace
import hashlib
import json
import os
from pathlib import Path
import selectors
import subprocess
from tempfile import TemporaryDirectory, TemporaryFile
import time
from typing import Any, IO, NoReturn

from safety_scenarios.errors import MeasurementError, Problem, ScenarioError, SettingsError
from safety_scenarios.formats.document.file_contents import raw_at
from safety_scenarios.scenario.blocks.agents import Agent, Tool
from safety_scenarios.scenario.blocks.nominal_calls import AppTool, AppWorld
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.conversation import Envelope, event_of
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.servers import AreSettings
from safety_scenarios.trial.link import ForwardingLink, Link
from safety_scenarios.trial.session import Session
from safety_scenarios.trial.summary import PreflightRow
from safety_scenarios.trial.trial import ONSET, Trial

SCRIPT = Path(__file__).resolve().parent / 'app' / 'app_server.py'
_LONGEST = 50_000_000
"""Bytes of one answer: more is no answer of a tool."""
_SHOWN = 500
_END_S = 2.0
_INHERITED = ('PATH', 'LANG', 'LC_ALL', 'SYSTEMROOT')
"""All that the apps get to know of our environment: no keys, no paths of ours."""
_INSTALL = 'Install ARE in a virtual environment of its own, as doc/reference/are.md says, and ' \
           'name its ' \
           'interpreter'


class AppProcess:
    """
    ARE, as far as it is asked; it is started with the first question.

    After a crash, an answer that is none or one that does not come, the process is ended, and the
    next question starts another one, in which no scenario is loaded.
    """

    def __init__(self, settings: AreSettings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: TemporaryDirectory[str] | None = None
        self._errors: IO[bytes] | None = None
        self._asked = 0
        self._unread = b''

    def check(self) -> str:
        """
        Return the version of ARE that answers.

        :raises SettingsError: there is none
        """
        where = 'are.python'
        python = self._settings.python
        if not python:
            raise SettingsError(f'{where}: got nothing with world are, expected the Python '
                                f'interpreter of an environment with ARE. {_INSTALL}')
        try:
            return str(self.ask('version')['version'])
        except MeasurementError as error:
            raise SettingsError(f'{where}: got {python}, expected the Python interpreter of an '
                                f'environment with ARE: {str(error).rstrip(".")}. '
                                f'{_INSTALL}') from None

    def ask(self, do: str, **arguments: Any) -> Mapping[str, Any]:
        """
        Ask, and return the answer.

        :raises MeasurementError: there is none, or ARE refuses
        """
        process = self._process or self._started()
        self._asked += 1
        line = json.dumps({'id': self._asked, 'do': do, **arguments}) + '\n'
        assert process.stdin is not None
        try:
            process.stdin.write(line.encode())
            process.stdin.flush()
        except OSError:
            self._fail(f'ARE: {do}: the process ended before it was asked')
        found = self._read(do)
        if 'error' in found:
            raise MeasurementError(f'ARE: {do}: {found["error"]}')
        answer = found['ok']
        if isinstance(answer, dict):
            return answer
        self._fail(f'ARE: {do}: got {str(found)[:_SHOWN]}, expected an answer')

    def load(self, text: str) -> Mapping[str, Any]:
        """
        Let ARE take a scenario with the apps that the settings want; return its tools.

        :raises MeasurementError: it does not, or has no app of such a name
        """
        return self.ask('load', text=text, keep=list(self._settings.keep) or None,
                        skip=list(self._settings.skip) or None)

    def close(self) -> None:
        """End the process, and remove what it has left; calling it again does nothing."""
        process, self._process, self._unread = self._process, None, b''
        if process is not None:
            with suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
        if self._errors is not None:
            self._errors.close()
            self._errors = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _started(self) -> 'subprocess.Popen[bytes]':
        self._folder = TemporaryDirectory(prefix='safety_scenarios_are_')
        self._errors = TemporaryFile()
        place = self._folder.name
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        environment |= {'HOME': place, 'TMPDIR': place, 'HF_HUB_OFFLINE': '1',
                        'LITELLM_LOCAL_MODEL_COST_MAP': 'True', 'PYTHONHASHSEED': '0',
                        'PYTHONIOENCODING': 'utf-8'}
        python = self._settings.python
        try:
            self._process = subprocess.Popen(
                [os.path.abspath(python) if os.sep in python else python, '-s', str(SCRIPT)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, cwd=place,
                env=environment, start_new_session=True)
        except (OSError, ValueError) as error:
            self.close()
            raise MeasurementError(f'it cannot be run: {error}') from None
        return self._process

    def _read(self, do: str) -> Mapping[str, Any]:
        """Return the answer to the last question, as soon as its line is whole."""
        line = self._line(do)
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.get('id') != self._asked \
                or not {'ok', 'error'} & set(found):
            self._fail(f'ARE: {do}: got {line[:_SHOWN]!r}, expected an answer in JSON')
        return found

    def _line(self, do: str) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        until_s = time.monotonic() + self._settings.timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b'\n' not in self._unread:
                left_s = until_s - time.monotonic()
                if left_s <= 0 or not selector.select(left_s):
                    self._fail(f'ARE: {do}: got no answer within '
                               f'{self._settings.timeout_s:g} s. Set are.timeout_s')
                more = os.read(self._process.stdout.fileno(), 1 << 16)
                self._unread += more
                if not more:
                    self._fail(f'ARE: {do}: the process ended without an answer')
                if len(self._unread) > _LONGEST:
                    self._fail(f'ARE: {do}: got an answer of more than {_LONGEST} bytes')
        line, _, self._unread = self._unread.partition(b'\n')
        return line

    def _fail(self, reason: str) -> NoReturn:
        """End the process, which cannot be trusted any more."""
        process, said = self._process, ''
        if process is not None:
            process.kill()
            code = process.wait()
            reason += '' if code < 0 and code == -9 else f' (exit code {code})'
        if self._errors is not None:
            self._errors.seek(0)
            said = self._errors.read()[-_SHOWN:].decode(errors='replace').strip()
        self.close()
        raise MeasurementError(reason + (f'; its last output: {" ".join(said.split())}'
                                         if said else ''))


_TO_USER = 'AgentUserInterface__send_message_to_user'


class AppLink(ForwardingLink):
    """
    Lets ARE's apps answer the calls of the controller under test, at the time of each.

    The apps begin anew with each trial. What the harness tells happens there first; what the
    controller says is a message to the user there.

    :param inner: reaches the controller, and answers no tool of the apps itself
    :param folder: takes each run as ARE exports it; None: nobody wants it
    """

    def __init__(self, inner: Link, process: AppProcess, folder: Path | None = None) -> None:
        super().__init__(inner)
        self._process, self._folder = process, folder
        self._apps, self._offered = AppWorld(), frozenset[str]()
        self._agent_id = self._trial_id = ''
        self._agent = Agent(id='', name='', role='')
        self._begin_ns: int | None = None
        self._is_loaded = False

    def open(self, trial: Trial) -> None:  # noqa: A003
        """
        Load the scenario into ARE anew, then get the inner link ready.

        :raises MeasurementError: the file is not there any more, or ARE refuses it
        """
        block = trial.scenario.body
        if not isinstance(block, AgentsBody) or block.apps is None:
            raise MeasurementError(f'{trial.scenario.id}: got a scenario without apps, expected '
                                   f'one of ARE. Leave --world are out')
        self._apps, self._agent_id, self._trial_id = block.apps, block.sut, trial.trial_id
        self._agent = block.agent(block.sut) or self._agent
        self._offered = frozenset(tool.name for tool in block.tools if tool.returns is None)
        self._begin_ns, self._is_loaded = None, False
        self._process.load(text_of(trial.scenario))
        self._is_loaded = True
        self._inner.open(trial)

    def preflight(self) -> Sequence[PreflightRow]:
        """Return what the inner link found, and who answers tools."""
        return (*self._inner.preflight(), PreflightRow(
            check='apps', status='ok', detail=f'{len(self._offered)} tools, answered by ARE'))

    def disarm(self) -> None:
        """Take back what reached somebody, and keep the run as ARE exports it."""
        self._inner.disarm()
        is_loaded, self._is_loaded = self._is_loaded, False
        if is_loaded and self._begin_ns is not None and self._folder is not None:
            found = self._process.ask('export')
            name, text = ('json', found['text']) if 'text' in found \
                else ('txt', f'ARE cannot export this run: {found.get("raised")}\n')
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / f'{self._trial_id}.{name}').write_text(text, encoding='utf-8')

    def mark(self, name: str) -> Event:
        """Return a mark; that of the onset is where the time of the run begins."""
        event = self._inner.mark(name)
        if name == ONSET:
            self._begin_ns = event.stamps.steady_ns
        return event

    def happen(self, symbol: str) -> None:
        """
        Let the events that a saying stands for happen in ARE.

        :raises MeasurementError: ARE cannot let one happen
        """
        for event_id in self._apps.told.get(symbol, ()):
            now_ns = self._inner.mark(symbol).stamps.steady_ns
            done = self._process.ask('happen', event=event_id, at_s=self._at_s(now_ns))
            if done.get('raised') is not None:
                raise MeasurementError(f'ARE: event {event_id!r} failed: {done["raised"]}. '
                                       f'Correct its arguments in the file')

    def receive_until(self, schedule_ns: int) -> Sequence[Event]:
        """
        Wait, and let ARE answer each call that has come meanwhile.

        :raises MeasurementError: ARE does not answer
        """
        found: list[Event] = []
        for event in self._inner.receive_until(schedule_ns):
            found.append(event)
            if event.agent == self._agent_id and event.trial_id == self._trial_id:
                found += self._answered(event)
        return found

    def _answered(self, event: Event) -> Sequence[Event]:
        if event.kind == 'say' and event.symbol is None:
            self._process.ask('call', tool=_TO_USER, args={'content': event.text or ''},
                              at_s=self._at_s(event.stamps.steady_ns))
        if event.kind != 'tool_call' or event.name not in self._offered:
            return ()
        done = self._process.ask('call', tool=event.name, args=json.loads(event.arguments or '{}'),
                                 at_s=self._at_s(event.stamps.steady_ns))
        result = {'error': done['raised']} if 'raised' in done else {'result': done.get('result')}
        envelope = Envelope.model_validate({
            'trial_id': self._trial_id, 'to': (self._agent_id,), 'kind': 'tool_result',
            'name': event.name, 'args': result})
        stamps = self._inner.deliver(envelope, [self._agent_id])
        answer = event_of(envelope, self._agent, stamps)
        assert answer is not None
        return [answer]

    def _at_s(self, steady_ns: int) -> float:
        """Return a time as ARE counts it: after the start of the scenario (s)."""
        begin_ns = steady_ns if self._begin_ns is None else self._begin_ns
        return self._apps.begins_s + max(0, steady_ns - begin_ns) / 1e9


def text_of(scenario: Scenario) -> str:
    """
    Return the file of a scenario, or its line of a file of lines, which ARE has to read itself.

    :raises MeasurementError: it cannot be read, or is another one by now
    """
    origin = scenario.origin
    if origin is None:
        raise MeasurementError(f'{scenario.id}: got a scenario of no file, expected one of ARE')
    raw = raw_at(origin.path)
    if isinstance(raw, Problem):
        raise MeasurementError(f'{raw}; expected the file of the scenario, which ARE has to read '
                               f'too')
    if hashlib.sha256(raw).hexdigest() != origin.sha256:
        raise MeasurementError(f'{origin.path}: got another content than when the scenario was '
                               f'read. Leave the file alone while it runs')
    return raw.decode('utf-8', 'replace')


FOLDER = 'are'
"""Of a campaign: each run as ARE itself exports it."""


def with_app_tools(scenarios: Sequence[Scenario], are: AreSettings) -> tuple[Scenario, ...]:
    """
    Return scenarios with the tools that ARE's own apps have.

    :raises SettingsError: ARE is not where the settings say
    :raises ScenarioError: with every file that ARE refuses
    """
    found: list[Scenario] = []
    problems: list[Problem] = []
    with closing(AppProcess(are)) as process:
        process.check()
        for scenario in scenarios:
            try:
                found.append(scenario_with_tools(scenario, process))
            except MeasurementError as error:
                problems.append(Problem(scenario.place, None, None, 'apps', (
                    f'{error}. Fix the file: safety-scenarios scenario validate lists what ARE '
                    f'refuses')))
    if problems:
        raise ScenarioError(problems)
    return tuple(found)


@contextmanager
def with_apps(session: Session, are: AreSettings, folder: Path) -> Iterator[Session]:
    """Put ARE behind a session, and end it with the campaign; it starts with the first trial."""
    with closing(AppProcess(are)) as process:
        def opened(scenario: Scenario) -> AbstractContextManager[Link]:
            return _around(session.open_link(scenario), process, folder, scenario)
        yield replace(session, open_link=opened, where=f'{session.where}, with the apps of ARE')


@contextmanager
def _around(inner: AbstractContextManager[Link], process: AppProcess, folder: Path,
            scenario: Scenario) -> Iterator[Link]:
    with inner as link:
        yield AppLink(link, process, None if folder == Path() else folder / FOLDER / scenario.id)


def scenario_with_tools(scenario: Scenario, process: AppProcess) -> Scenario:
    """
    Return a scenario with the tools that the apps of its file have.

    :raises MeasurementError: ARE refuses the file
    """
    block = scenario.body
    assert isinstance(block, AgentsBody) and block.apps is not None  # others are refused before
    loaded = process.load(text_of(scenario))
    tools, known = [], []
    for one in loaded['tools']:
        known.append(_tool(one))
        if one['offered']:
            tools.append(Tool(name=str(one['name']), description=str(one['description']),
                              returns=None))
    missing = sorted({tool.name for tool in block.tools} - {tool.name for tool in known})
    if missing:
        raise MeasurementError(f'got calls of {", ".join(missing)}, expected tools that the apps '
                               f'of the file have')
    apps = AppWorld(tools=tuple(known), told=block.apps.told, begins_s=block.apps.begins_s,
                    user=str(loaded['user']), answered_by='are', tool_turns=block.apps.tool_turns)
    return scenario.model_copy(update={
        'body': block.model_copy(update={'tools': tuple(tools), 'apps': apps})})


def _tool(data: Any) -> AppTool:
    return AppTool(name=data['name'], key=data['key'], parameters=data['parameters'],
                   defaults=data['defaults'], writes=bool(data['write']), checks=data['checks'])
