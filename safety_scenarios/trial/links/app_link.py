# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A link around a link whose tools are those of ARE's apps, in lock-step with the trial."""

from collections.abc import Sequence
import hashlib
import json
from pathlib import Path

from safety_scenarios.errors import MeasurementError, Problem
from safety_scenarios.formats.document.json_lines import raw_at
from safety_scenarios.scenario.blocks.agents import Agent
from safety_scenarios.scenario.blocks.apps import AppWorld
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.conversation import event_of
from safety_scenarios.scenario.envelope import Envelope
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.link import ForwardingLink, Link
from safety_scenarios.trial.links.app_process import AppProcess
from safety_scenarios.trial.preflight import PreflightRow
from safety_scenarios.trial.trial import ONSET, Trial

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
                                       f'Mend its arguments in the file')

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
        stamps = self._inner.tell(envelope, [self._agent_id])
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
