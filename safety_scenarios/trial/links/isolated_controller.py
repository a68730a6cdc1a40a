# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A controller in a process of its own, as the harness sees it.

Nothing that the controller's code can reach there holds the plan, the scenario, the seed or a
verdict. A controller that can be imported, or pickled, runs in a new interpreter. Any other, such
as a lambda or a class of a notebook, runs in a copy of this process (``fork``), which is made
before anything is planned.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
import json
import os
from pathlib import Path
import pickle
import socket
import sys
import time
from types import TracebackType
from typing import Any, cast
import weakref

from pydantic import PrivateAttr
from safety_scenarios.controllers.host import Hanging, Patience
from safety_scenarios.errors import ControllerError, SafetyScenariosError, SettingsError
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.conversation import Turn, Utterance
from safety_scenarios.scenario.message import ChatMessage, Command, Message, Observation
from safety_scenarios.scenario.servers import ModelServer
from safety_scenarios.scenario.settings import ControllerContext, ControllerSettings
from safety_scenarios.trial.link import ControllerFacts
from safety_scenarios.trial.links.hidden_places import REFUSED
from safety_scenarios.trial.links.isolated_process import Child, forked, spawned
from safety_scenarios.trial.links.isolation_protocol import (
    ConnectionLost,
    DecisionReader,
    Frames,
    MAX_REPLY,
    message_read,
    ObservationWriter,
    packed,
    read_reply,
    Request,
    utterances_read,
)
from safety_scenarios.trial.links.thinking import hang_after_ns, Queue, Scheduled

_HANG_S = 90
"""Seconds without a reply; the process itself ends a decision after 60."""
_MARGIN_S = 30
_CLOSE_S = 60
_BEGIN_S = 300.0
"""For importing, describing or making a controller, unless its ``cold_start_s`` is longer."""
_MAIN = b'__main__'
_BEGINNING = {'load': 'imported', 'facts': 'described', 'begin': 'made'}
"""Requests that a new process can answer after one that has ended, and what each does."""


class ReportedFailure(SafetyScenariosError):
    """
    What the controller raised in its own process.

    :param text: the exception in words
    :param trace: its traceback, for a log
    """

    def __init__(self, text: str, trace: str = '') -> None:
        super().__init__(text)
        self.__cause__ = _Trace(trace) if trace else None


class _Trace(Exception):
    """The traceback of an exception in the other process, as its text."""


class IsolatedController:
    """
    The process of one controller: begun by the first request, ended by ``close``.

    :param name: of a plug-in, or ``MODULE:NAME``; empty: ``thing``
    :param starts_within_s: how long it may take to be made, such as to load a model
    :param hidden: folders of campaigns, which are hidden from the process; one that is not there
        is made before, as only what exists can be hidden, also from what the process starts
    :param is_demanded: refuse to run it where they cannot be hidden
    :ivar readable: why it could read the files of the campaign, known when it has begun; empty:
        it cannot
    """

    def __init__(self, name: str = '', thing: Any = None, starts_within_s: float = 0.0,
                 hidden: Sequence[Path] = (), *, is_demanded: bool = False) -> None:
        self._name, self._thing = name, thing
        self._hidden = [folder.absolute() for folder in hidden]
        self._is_demanded, self.readable = is_demanded, ''
        self._begin_s = max(_BEGIN_S, starts_within_s)
        self._pickled = None if name else _pickled(thing)
        self._is_fork = not name and self._pickled is None
        self._is_loaded = False
        self._number = 0
        self._frames: Frames | None = None
        self._child: Child | None = None
        self._end: Callable[[], object] = lambda: None
        self._ended = ''
        if not name:
            self._begin_early()

    def __enter__(self) -> 'IsolatedController':
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def facts(self, texts: Sequence[str], server: ModelServer) -> ControllerFacts:
        """
        Return what planning has to know of the controller.

        :param texts: its parameters as ``KEY=VALUE``
        :raises SettingsError: it cannot be imported or made, or a parameter does not fit
        """
        found = self.beginning('facts', (tuple(texts), server.model_dump()))
        try:
            facts = ControllerFacts.read(found)
            self._begin_s = max(self._begin_s, facts.starts_within_s)
            return facts
        except (TypeError, ValueError, AttributeError) as error:
            raise SettingsError(f'controller: {self._label}: got {error} from its process, '
                                f'expected what its parameters are') from None

    def begin(self, settings: ControllerSettings, limit_ns: int | None) -> 'RemoteController':
        """
        Make the controller anew, and return it as a plug-in.

        :param limit_ns: how long a decision may take; None: for ever
        :raises SafetyScenariosError: it cannot be made
        """
        made = RemoteController()
        made.connect(self, settings, limit_ns)
        return made

    def beginning(self, kind: str, content: Any) -> Any:
        """
        Ask the process for something that it needs before it can think, and return its reply.

        :raises ControllerError: it takes too long
        """
        try:
            return self.request(kind, content, within_s=self._begin_s)
        except Hanging as error:
            raise ControllerError(
                f'the controller {self._label} hangs: it was not {_BEGINNING[kind]} within '
                f'{error.after_ns / 1e9:g} s, and its process was ended. If it needs longer, give '
                f'its class cold_start_s') from None

    def request(self, kind: str, content: Any = None, *, within_s: float | None = None) -> Any:
        """
        Ask the process, and return what it replies.

        :param within_s: after so many seconds in which this process ran, it counts as hanging
        :raises SettingsError: wrong input, such as a parameter that does not fit
        :raises ReportedFailure: what the controller raised
        :raises ControllerError: the process has ended
        :raises Hanging: no reply came
        """
        if self._ended and kind not in _BEGINNING:
            raise ControllerError(self._ended)
        frames = self._begun()
        if not self._is_loaded and kind != 'load':
            self._is_loaded = True
            self.beginning('load', (self._name, self._pickled))
        self._number += 1
        try:
            look = self._watched(within_s)
            frames.send(packed(Request(self._number, kind, content)), look)
            number, replied = 0, dict[str, Any]()
            while number != self._number:  # an earlier request may have been interrupted
                number, replied = read_reply(frames.receive(look))
        except ConnectionLost:
            self._kill()
            raise ControllerError(self._ended) from None
        except ValueError as error:
            self._kill('its process sent something that is no reply')
            raise ControllerError(f'{self._ended}: {error}') from None
        return self._checked(replied)

    def close(self) -> None:
        """End the process and what it has started; calling it again does nothing."""
        self._kill('its process was ended')

    @property
    def is_running(self) -> bool:
        """Whether there is a process that has not been ended."""
        return self._child is not None

    @property
    def scheduled(self) -> Scheduled:
        """How long its main thread has run, and waited for a processor."""
        return Scheduled() if self._child is None else self._child.scheduled

    @property
    def _label(self) -> str:
        return self._name or repr(self._thing)[:100]

    def _checked(self, replied: Mapping[str, Any]) -> Any:
        if 'is' in replied:
            return replied['is']
        text, kind = str(replied.get('error')), replied.get('kind')
        if kind == 'input':
            raise SettingsError(text)
        if kind == 'hangs':
            raise Hanging(replied.get('after_ns', 0))
        raise ReportedFailure(text, str(replied.get('trace', '')))

    def _watched(self, within_s: float | None) -> Callable[[], None]:
        """Return what is called after each second without a reply."""
        seconds = 0

        def look() -> None:
            nonlocal seconds
            seconds += 1
            if within_s is not None and seconds >= within_s:
                self._kill('its process did not reply, and was ended')
                raise Hanging(round(seconds * 1e9))
        return look

    def _begin_early(self) -> None:
        """Begin before anything is planned; what a new interpreter cannot import is forked."""
        if not self._is_fork:
            try:
                self.beginning('load', ('', self._pickled))
                self._is_loaded = True
                return
            except SafetyScenariosError:  # as of a module that only this process can import
                self.close()
                self._is_fork, self._pickled, self._ended = True, None, ''
        self._begun()

    def _begun(self) -> Frames:
        if self._frames is not None:
            return self._frames
        if self._is_fork and self._ended:
            raise ControllerError(f'{self._ended}. It cannot be started again, because it is '
                                  f'nothing that can be imported by name. Put it into a module, '
                                  f'or use isolate=False')
        for folder in self._hidden:
            with suppress(OSError):  # the campaign will refuse it
                folder.mkdir(parents=True, exist_ok=True)
        folders = [str(folder) for folder in self._hidden]
        ours, theirs = socket.socketpair()
        with theirs:
            child = forked(ours, theirs, self._thing, folders) if self._is_fork \
                else spawned(theirs)
        self._frames = Frames(ours.detach(), MAX_REPLY, child.ended)
        self._child, self._is_loaded, self._ended = child, self._is_fork, ''
        self._end = weakref.finalize(self, _end, self._frames, child, os.getpid())
        frames = self._frames
        try:
            if not self._is_fork:
                frames.send(json.dumps([folders, [
                    place or os.getcwd() for place in sys.path]]).encode())
            self.readable = json.loads(frames.receive(self._watched(_HANG_S)))
        except ConnectionLost:
            self._kill()
            raise ControllerError(self._ended) from None
        except Hanging:
            raise ControllerError(f'the controller {self._label}: its process did not begin '
                                  f'within {_HANG_S} s, and was ended') from None
        if self.readable and self._is_demanded:
            self._kill(REFUSED.format(self.readable))
            raise ControllerError(self._ended)
        return frames

    def _kill(self, because: str = '') -> None:
        """End the process, and keep why."""
        if self._child is None:
            return
        child, self._child, self._frames = self._child, None, None
        self._end()
        self._ended = because or f'its process ended with {child.ending}'


@contextmanager
def removed_if_refused(folder: Path | None) -> Iterator[None]:
    """
    Take a folder away again that was made only to be hidden, if no campaign comes of it.

    :param folder: of the campaign; None: it has none
    """
    is_new = folder is not None and not folder.exists()
    try:
        yield
    except BaseException:
        if folder is not None and is_new:
            with suppress(OSError):  # it was not made, or holds results by now
                folder.rmdir()
        raise


class RemoteController(ControllerPlugin):
    """Asks the controller in its own process, for a ``ControllerHost`` in this one."""

    _process: IsolatedController = PrivateAttr()
    _facts: Mapping[str, Any] = PrivateAttr()
    _within_s: float = PrivateAttr()
    _delay_ns: int = PrivateAttr(default=0)
    _truncated_by: str = PrivateAttr(default='')
    _trials: dict[str, int] = PrivateAttr(default_factory=dict)
    _queue: Queue = PrivateAttr(default_factory=Queue)
    _observations: ObservationWriter = PrivateAttr(default_factory=ObservationWriter)
    _decisions: DecisionReader = PrivateAttr(default_factory=DecisionReader)

    def connect(self, process: IsolatedController, settings: ControllerSettings,
                limit_ns: int | None) -> None:
        """
        Let the process make the controller.

        :raises SafetyScenariosError: it cannot be made
        """
        self._process = process
        self._within_s = max(_HANG_S, 2 * (limit_ns or 0) / 1e9 + _MARGIN_S)
        hang_ns = None if limit_ns is None else hang_after_ns(limit_ns)  # limits tell scenarios
        self._facts = process.beginning('begin', (settings, hang_ns))
        self.begin(ControllerContext(**{name: getattr(settings, name)
                                        for name in ControllerContext.model_fields}))

    def patience(self, limit_ns: int) -> Patience:
        """
        Return how long it may think, by what this process alone measures.

        Its own process could report anything. What both processes waited for a processor is left
        out, as far as a busy host explains that: a controller may also starve one of them while a
        helper thinks. A standstill of either counts, as the controller may have caused it.
        """
        def watch() -> Callable[[], int]:
            began_ns, before = time.monotonic_ns(), self._scheduled()

            return lambda: time.monotonic_ns() - began_ns - self._scheduled().excused_ns(before)
        return Patience(watch, limit_ns)

    def _scheduled(self) -> Scheduled:
        return Scheduled(*map(sum, zip(self._queue.scheduled(), self._process.scheduled,
                                       strict=True)))

    @property
    def inputs(self) -> Mapping[str, str]:
        """Return what it listens to."""
        return cast(Mapping[str, str], self._facts['inputs'])

    @property
    def outputs(self) -> Mapping[str, str]:
        """Return what it publishes beside its commands."""
        return cast(Mapping[str, str], self._facts['outputs'])

    @property
    def period_ns(self) -> int:
        """Its own wish, or the settings'."""
        return cast(int, self._facts['period_ns'])

    @property
    def answer_delay_ns(self) -> int:
        """Return how long its last answer has to wait."""
        return self._delay_ns

    @property
    def truncated_by(self) -> str:
        """Return by what its last answer was cut off."""
        return self._truncated_by

    def begin_trial(self) -> None:
        """Let it drop what was asked in the trial before."""
        self._request('begin_trial', None)

    def decide(self, observation: Observation) -> Command | Message | None:
        """Return its decision."""
        written = self._observations.write(observation)
        return self._decisions.read(self._request('decide', written))

    def side_messages(self, observation: Observation) -> Mapping[str, Message]:
        """Return what it publishes beside its command."""
        written = self._request('side', self._observations.write(observation))
        return {topic: message_read(one) for topic, one in written.items()}

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        """Return its answer to a chat."""
        text, self._delay_ns, self._truncated_by = self._request('answer', tuple(messages))
        if text is not None and not isinstance(text, str):
            raise ValueError('expected a text or nothing')
        return text

    def converse(self, turn: Turn) -> Sequence[Utterance]:
        """Return what it does in its turn; trials are numbered there, as an id names the plan."""
        number = self._trials.setdefault(turn.heard.trial_id, len(self._trials) + 1)
        heard = turn.heard.model_copy(update={'trial_id': f'trial {number}'})
        written, self._delay_ns = self._request('converse',
                                                turn.model_copy(update={'heard': heard}))
        return utterances_read(written)

    def close(self) -> None:
        """
        Let it hang up what it has opened; the process goes on for the next scenario.

        A process that has ended since has nothing open: what its trial came to is known.

        :raises ControllerError: it hangs
        :raises ReportedFailure: what the controller raised
        """
        self._queue.close()
        if not self._process.is_running:
            return
        try:
            with suppress(ControllerError):
                self._process.request('close', within_s=_CLOSE_S)
        except Hanging as error:
            raise ControllerError(f'the controller did not close within '
                                  f'{error.after_ns / 1e9:g} s') from None

    def _request(self, kind: str, content: Any) -> Any:
        return self._process.request(kind, content, within_s=self._within_s)


def _end(frames: Frames, child: Child, owner: int) -> None:
    if os.getpid() == owner:  # and not a copy of it
        frames.close()
        child.end()


def _pickled(thing: Any) -> bytes | None:
    """Return a controller as a new interpreter can have it; None if it cannot."""
    try:
        pickled = pickle.dumps(thing)
    except Exception:  # whatever its own methods raise
        return None
    return None if _MAIN in pickled else pickled
