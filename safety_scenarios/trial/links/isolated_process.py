# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The process of an isolated controller: how it is begun and ended, and what runs there.

What runs there ends a decision that hangs; how long one takes, the harness measures from outside.
It knows the robot and the interface of the controller, and neither scenario nor plan.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, ExitStack
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from typing import Any

from safety_scenarios.controllers.adapters import make_controller, parameter_model
from safety_scenarios.controllers.host import Hanging
from safety_scenarios.errors import ControllerError, described, InputError, place_of
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.conversation import Utterance
from safety_scenarios.scenario.servers import ModelServer
from safety_scenarios.scenario.timing import TOLD_NS
from safety_scenarios.trial.links.hidden_places import BEGIN, hide
from safety_scenarios.trial.links.isolation_protocol import (
    ConnectionLost,
    DecisionWriter,
    Frames,
    message_written,
    ObservationReader,
    reply,
    Request,
    unpacked,
)
from safety_scenarios.trial.links.thinking import Scheduled, seldom_collected, Thinking
from safety_scenarios.trial.parameters import controller_facts, named_controller, read_parameters

_NO_LIMIT = 1 << 62
_THINKS = 'decide', 'side', 'answer', 'converse'
"""Requests in which the controller thinks."""
_WRONG_INPUT = 'input'
_HANGS = 'hangs'


class ControllerServer:
    """
    Answers the requests of the harness about one controller, one after the other.

    :param frames: to the harness
    :param thing: the controller, if this process has it already
    """

    def __init__(self, frames: Frames, thing: Any = None) -> None:
        self._frames, self._thing = frames, thing
        self._plugin: ControllerPlugin | None = None
        self._open = ExitStack()
        self._thinking = Thinking()
        self._observations, self._decisions = ObservationReader(), DecisionWriter()
        self._observation: Any = None

    def serve(self) -> None:
        """Answer until the harness ends the process, or has ended itself."""
        answers: Mapping[str, Callable[[Any], Any]] = {
            'load': self._load, 'facts': self._facts, 'begin': self._begin,
            'begin_trial': lambda _: self._controller.begin_trial(), 'decide': self._decide,
            'side': self._side, 'answer': self._answer, 'converse': self._converse,
            'close': self._close}
        with seldom_collected():
            while True:
                try:
                    request = unpacked(self._frames.receive())
                    self._frames.send(self._replied(request, answers[request.kind]))
                except ConnectionLost:
                    return

    def _replied(self, request: Request, answer: Callable[[Any], Any]) -> bytes:
        try:
            end = self._thinking.watch() if request.kind in _THINKS else _do_nothing
            try:
                found = answer(request.content)
            finally:
                end()
            return reply(request.number, {'is': found})
        except Hanging as error:
            return self._failed(request, error, {'kind': _HANGS, 'after_ns': error.after_ns})
        except BaseException as error:  # also what would end this process
            kind = _WRONG_INPUT if isinstance(error, InputError) else ''
            return self._failed(request, error, {'kind': kind})
        finally:
            for stream in (sys.stdout, sys.stderr):
                _flush(stream)

    @staticmethod
    def _failed(request: Request, error: BaseException, how: Mapping[str, Any]) -> bytes:
        try:
            text, trace = described(error), ''.join(traceback.format_exception(error))
            if not isinstance(error, InputError):
                text += place_of(error)
        except Exception as worse:  # an exception that cannot be written
            text = trace = f'{type(error).__name__}, and its text cannot be had: {worse!r}'
        return reply(request.number, {'error': text[:100_000], 'trace': trace[:1_000_000], **how})

    def _load(self, content: Any) -> None:
        """Import or unpickle the controller."""
        name, pickled = content
        if pickled is not None:
            self._thing = pickle.loads(pickled)
        elif name:
            self._thing = named_controller(name)

    def _facts(self, content: Any) -> Any:
        texts, server = content
        return controller_facts(self._thing, texts, ModelServer(**server))._asdict()

    def _begin(self, content: Any) -> Any:
        """Make the controller anew, for a scenario."""
        settings, hang_ns = content
        self._open.close()
        self._observations, self._decisions = ObservationReader(), DecisionWriter()
        self._thinking = self._open.enter_context(closing(
            Thinking(TOLD_NS, hang_ns or _NO_LIMIT)))
        parameters = read_parameters(settings.controller_parameters, parameter_model(self._thing))
        plugin = self._plugin = make_controller(self._thing, settings, parameters)
        period = plugin.period_ns
        return {'inputs': dict(plugin.inputs), 'outputs': dict(plugin.outputs),
                'period_ns': period if isinstance(period, (int, float)) else repr(period)}

    @property
    def _controller(self) -> ControllerPlugin:
        if self._plugin is None:
            raise RuntimeError('the controller was asked before it was begun')
        return self._plugin

    def _decide(self, content: Any) -> Any:
        self._observation = self._observations.read(content)
        return self._decisions.write(self._controller.decide(self._observation))

    def _side(self, content: Any) -> Any:
        observation = self._observation if content is None else self._observations.read(content)
        return {topic: message_written(message) for topic, message
                in self._controller.side_messages(observation).items()}

    def _answer(self, content: Any) -> Any:
        text = self._controller.answer(content)
        if text is not None and not isinstance(text, str):
            raise TypeError(f'answer: got {text!r:.100}, expected a text or None')
        return [text, self._controller.answer_delay_ns, self._controller.truncated_by]

    def _converse(self, content: Any) -> Any:
        done: Sequence[Any] = self._controller.converse(content)
        for one in done:
            if not isinstance(one, Utterance):
                raise TypeError(f'converse: got {one!r:.100}, expected an Utterance')
        return [[one.model_dump() for one in done], self._controller.answer_delay_ns]

    def _close(self, content: Any) -> None:
        plugin, self._plugin = self._plugin, None
        if plugin is not None:
            plugin.close()


def serve(descriptor: int, thing: Any = None) -> None:
    """
    Serve a controller until the harness ends the process, and end it with the harness.

    :param descriptor: of the socket to the harness
    :param thing: the controller, if this process has it already
    """
    threading.Thread(target=end_with, args=(descriptor, 0), name='harness', daemon=True).start()
    ControllerServer(Frames(descriptor, _NO_LIMIT), thing).serve()


def end_with(descriptor: int, code: int) -> None:
    """End this process as soon as the harness has closed its end, whatever runs here."""
    watched = select.poll()
    watched.register(descriptor, 0)  # what is always reported: that it was hung up
    watched.poll()
    os._exit(code)


def _do_nothing() -> int:
    return 0


def _flush(stream: Any) -> None:
    try:
        stream.flush()
    except (AttributeError, OSError, ValueError):  # the controller may have closed it
        pass


_STDERR = 2
_ALL_THREADS = 2
"""In a clock of Linux, beside the id of a process: the processor time of its threads."""


def error_output() -> int:
    """
    Return the standard error, as the standard output of a new process.

    What a controller prints is a remark: standard output holds what was asked for, such as JSON.
    """
    try:
        os.fstat(_STDERR)
    except OSError:  # it was closed
        return subprocess.DEVNULL
    return _STDERR


def end_of(pid: int) -> int:
    """
    Return a descriptor that can be read as soon as a child has ended; -1: this kernel has none.

    The child's socket does not show that: a process that the child has started may hold it.
    """
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


_BOOT = BEGIN + """
descriptor = int(sys.argv[1])
length = int.from_bytes(os.read(descriptor, 4), 'little')
text = b''
while len(text) < length:
    text += os.read(descriptor, length - len(text))
folders, sys.path[:] = json.loads(text)
from safety_scenarios.trial.links.hidden_places import hide
text = json.dumps(hide(folders)).encode()
os.write(descriptor, len(text).to_bytes(4, 'little') + text)
from safety_scenarios.trial.links.isolated_process import serve
serve(descriptor)
"""
"""Python code of the new process: it looks for modules where this process does. First it hides
what the controller must not see, and replies why it could not."""


class Child:
    """
    A process that was started here, and leads a group of its own.

    :ivar ending: how it has ended, in words
    :ivar ended: descriptor that can be read when it has ended; -1: there is none
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.ending = 'an unknown status'
        self.ended = end_of(pid)
        try:
            self._waits = os.open(f'/proc/{pid}/schedstat', os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # a kernel that does not say
            self._waits = -1

    @property
    def scheduled(self) -> Scheduled:
        """
        How long its main thread has run, and waited for a processor.

        As long as other threads of the process ran, the thread waited for its own process.
        """
        found = Scheduled.read(self._waits)
        try:
            all_ns = time.clock_gettime_ns(~self.pid << 3 | _ALL_THREADS)
        except OSError:  # it has ended
            return Scheduled()
        return found._replace(waited_ns=found.waited_ns - (all_ns - found.ran_ns))

    def end(self) -> None:
        """End it with its group, and keep how it has ended."""
        for kill in (os.killpg, os.kill):  # it may not lead its group yet
            try:
                kill(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        try:
            self._keep(os.waitpid(self.pid, 0)[1])
        except ChildProcessError:  # somebody else has waited for it
            pass
        for descriptor in (self._waits, self.ended):
            if descriptor >= 0:
                os.close(descriptor)
        self._waits = self.ended = -1

    def _keep(self, status: int) -> None:
        code = os.waitstatus_to_exitcode(status)
        if code >= 0:
            self.ending = f'exit status {code}'
            return
        try:
            self.ending = f'signal {signal.Signals(-code).name}'
        except ValueError:  # a real-time signal has no name
            self.ending = f'signal {-code}'


def spawned(theirs: socket.socket) -> Child:
    """Begin a new interpreter, which serves a controller over a socket."""
    started = subprocess.Popen(
        [sys.executable, '-c', _BOOT, str(theirs.fileno())],
        pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, stdout=error_output(),
        start_new_session=True)
    started.returncode = 0  # it is waited for by its id
    return Child(started.pid)


def forked(ours: socket.socket, theirs: socket.socket, thing: Any,
           folders: Sequence[str]) -> Child:
    """
    Copy this process, in a thread, so that the copy has no frames of whoever calls.

    :param folders: of campaigns, to be hidden
    :raises ControllerError: it cannot be copied
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    pids: list[int] = []

    def fork() -> None:
        pid = os.fork()
        if pid:
            pids.append(pid)
            return
        try:
            _become_child(ours, theirs, thing, folders)
        finally:
            os._exit(0)

    thread = threading.Thread(target=fork, name='fork')
    thread.start()
    thread.join()
    if not pids:
        raise ControllerError('the controller: its process could not be started. Put it into a '
                              'module, or use isolate=False')
    return Child(pids[0])


def _become_child(ours: socket.socket, theirs: socket.socket, thing: Any,
                  folders: Sequence[str]) -> None:
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    said = error_output()
    os.dup2(said if said >= 0 else os.open(os.devnull, os.O_WRONLY), 1)
    ours.close()
    Frames(theirs.fileno(), _NO_LIMIT).send(json.dumps(hide(folders)).encode())
    serve(theirs.fileno(), thing)
