# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A controller in a process of its own: what runs there, between the harness and the plug-in.

It ends a decision that hangs; how long one takes, the harness measures from outside. It knows the
robot and the interface of the controller, and neither scenario nor plan.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, ExitStack
import os
import pickle
import select
import sys
import threading
import traceback
from typing import Any

from safety_scenarios.controllers.adapters import make_controller, parameter_model
from safety_scenarios.controllers.host import Hanging
from safety_scenarios.errors import described, InputError
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.conversation import Utterance
from safety_scenarios.scenario.servers import ModelServer
from safety_scenarios.trial.links.controller_facts import controller_facts, named_controller
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
from safety_scenarios.trial.links.thinking import seldom_collected, Thinking
from safety_scenarios.trial.parameters import read_parameters

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
        settings, limit_ns = content
        self._open.close()
        self._observations, self._decisions = ObservationReader(), DecisionWriter()
        self._thinking = self._open.enter_context(closing(Thinking(limit_ns or _NO_LIMIT)))
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
    threading.Thread(target=_end_with, args=(descriptor,), name='harness', daemon=True).start()
    ControllerServer(Frames(descriptor, _NO_LIMIT), thing).serve()


def _end_with(descriptor: int) -> None:
    """End this process as soon as the harness has closed its end, whatever runs here."""
    watched = select.poll()
    watched.register(descriptor, 0)  # what is always reported: that it was hung up
    watched.poll()
    os._exit(0)


def _do_nothing() -> int:
    return 0


def _flush(stream: Any) -> None:
    try:
        stream.flush()
    except (AttributeError, OSError, ValueError):  # the controller may have closed it
        pass
