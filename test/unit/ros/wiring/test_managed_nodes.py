# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a managed node does in its transitions, with threads that take longer than they do."""

from contextlib import contextmanager
import threading
import time
from types import SimpleNamespace

from cases import for_each
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from safety_scenarios.errors import InputError
from safety_scenarios.ros.link.stopped_link import Stop
from safety_scenarios.ros.nodes import evaluator_node, policy_node
from safety_scenarios.ros.nodes.evaluator_node import Evaluator
from safety_scenarios.ros.nodes.policy_node import PolicyNode
from safety_scenarios.scenario.verdict import Verdict

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
PERIOD_S = 0.002


class Model:
    """What the node ticks: a decision takes until it may end."""

    def __init__(self):
        self.settings = SimpleNamespace(schedule_clock='steady')
        self.period_ns = round(PERIOD_S * 1e9)
        self.may_end, self.is_deciding = threading.Event(), threading.Event()
        self.at_a_time = self.most = self.decisions = 0
        self.is_open = self.begins_chunk = False
        self.on_open = lambda: None

    def open(self):  # noqa: A003
        self.on_open()
        self.is_open = True

    def shut(self):
        self.is_open = False

    def tick(self):
        self.at_a_time += 1
        self.decisions += 1
        self.most = max(self.most, self.at_a_time)
        self.is_deciding.set()
        self.may_end.wait(20)
        self.at_a_time -= 1


class Policy:
    """A policy node without ROS."""

    for _name in ('on_activate', 'on_deactivate', 'on_cleanup', 'on_error', 'halt', 'close',
                  '_tick', '_fail', '_end', '_rest'):
        locals()[_name] = getattr(PolicyNode, _name)

    def __init__(self):
        self._control = self.model = Model()
        self._executor = self._ticking = self._latest = None
        self._paused, self._error = threading.Event(), ''
        self.said = []
        self.closed_while_used = []

    def get_logger(self):
        return SimpleNamespace(error=self.said.append)

    def _close(self):
        self.closed_while_used.append(bool(self.model.at_a_time))


@pytest.fixture
def policy(monkeypatch):
    """Give a node whose model is in the middle of a decision, and which was deactivated."""
    monkeypatch.setattr(policy_node, '_REST_S', 0.2)
    node = Policy()
    assert node.on_activate(None) == SUCCESS
    assert node.model.is_deciding.wait(5)
    asked_s = time.monotonic()
    assert node.on_deactivate(None) == SUCCESS
    assert time.monotonic() - asked_s < 0.1, 'whoever asks for it waits for no decision'
    yield node
    node.model.may_end.set()
    node.close()


def test_one_thread_at_a_time_uses_a_model(policy):
    assert policy.on_activate(None) == FAILURE
    assert 'got no end within 0.2 s' in policy.said[0] and not policy.model.is_open
    threading.Timer(0.05, policy.model.may_end.set).start()
    assert policy.on_activate(None) == SUCCESS
    time.sleep(10 * PERIOD_S)
    assert policy.model.is_open and policy.model.most == 1 and policy.model.decisions > 1


@pytest.mark.parametrize('transition', ['on_cleanup', 'on_error'])
def test_a_model_in_use_is_not_closed(policy, transition):
    assert getattr(policy, transition)(None) == FAILURE
    assert not policy.closed_while_used and 'got no end within 0.2 s' in policy.said[0]
    policy.model.may_end.set()
    assert getattr(policy, transition)(None) == SUCCESS
    assert policy.closed_while_used == [False]


def test_what_is_stopped_while_it_is_being_activated_decides_nothing(policy):
    policy.model.may_end.set()
    policy.model.on_open = policy.halt
    before = policy.model.decisions
    assert policy.on_activate(None) == SUCCESS
    time.sleep(10 * PERIOD_S)
    assert policy.model.decisions <= before + 1, 'the one that was being made'


@for_each(('error', 'code'), [(OSError(28, 'No space left on device'), 3),
                              (InputError('report: got a folder'), 2)])
def test_a_campaign_whose_output_failed_does_not_end_with_success(monkeypatch, error, code):
    @contextmanager
    def outputs(context):
        yield []
        raise error

    def campaign(*arguments, **named):
        return SimpleNamespace(exit_code=0, verdict=Verdict.PASS, completed=1, planned=1,
                               interrupted=False)
    for name, value in (('open_outputs', outputs), ('run_campaign', campaign)):
        monkeypatch.setattr(evaluator_node, name, value)
    node = SimpleNamespace(
        _settings=SimpleNamespace(console='none', link='ros'), _activated=1, _stop=Stop(),
        _loaded=SimpleNamespace(warnings=(), notes=(), scenarios=()), _codes=set(), _error='',
        _folder=None, _idle=threading.Event(), _is_refused=False,
        get_logger=lambda: SimpleNamespace(info=lambda told: None))
    node._note = lambda code: Evaluator._note(node, code)
    for name in ('OutputContext', 'teller', 'connection', 'stoppable'):
        monkeypatch.setattr(evaluator_node, name, lambda *arguments: None)
    Evaluator._run(node)
    assert node._error and node._idle.is_set()
    assert Evaluator.exit_code.fget(node) == code
