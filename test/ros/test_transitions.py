# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whatever is asked of the managed node in whatever state: it answers, and it stops at once."""

from contextlib import contextmanager
from pathlib import Path
import threading
import time

from cases import for_each
from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState
import pytest
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.lifecycle import LifecycleNode
from rclpy.parameter import Parameter
from ros.campaigns import QUICK
from ros.test_ros_tools import change, evaluator, looker, put, state, until  # noqa: F401
from safety_scenarios.ros.nodes.transition_requests import STOPPING, TransitionRequests
from safety_scenarios.ros.spinning import ros_context

pytestmark = pytest.mark.dds
NAME = '/lifecycle_evaluator_node'
UNCONFIGURED, INACTIVE, ACTIVE = (
    State.PRIMARY_STATE_UNCONFIGURED, State.PRIMARY_STATE_INACTIVE, State.PRIMARY_STATE_ACTIVE)
VALID = {
    UNCONFIGURED: {Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_UNCONFIGURED_SHUTDOWN},
    INACTIVE: {Transition.TRANSITION_CLEANUP, Transition.TRANSITION_ACTIVATE,
               Transition.TRANSITION_INACTIVE_SHUTDOWN},
    ACTIVE: {*STOPPING, Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVE_SHUTDOWN}}
BOUND_S = 0.25
"""100 ms on a machine that has nothing else to do."""


def request(number=0, label=''):
    return ChangeState.Request(transition=Transition(id=number, label=label))


def answers(client, requests):
    """Send requests one right after the other, and return whether each had success."""
    futures = []
    for asked in requests:  # a service keeps ten requests and drops what comes beyond
        futures.append(client.call_async(asked))
        if len(futures) % 8 == 0:
            until(futures[-1].done)
    for future in futures:
        until(future.done)
    return [future.result().success for future in futures]


def wrong_in(known):
    """Return each request that is not valid in a state, twice."""
    found = [request(number) for number in range(256) if number not in VALID[known]]
    found += [request(label=label) for label in ('no_such', 'transition_success', '0', ' ')]
    return [asked for one in found for asked in (one, one)]


def refuses_all(node, client, known):
    assert state(node, NAME) == known
    wrong = wrong_in(known)
    assert answers(client, wrong) == [False] * len(wrong)
    assert state(node, NAME) == known


@pytest.mark.thorough
def test_what_is_not_valid_in_a_state_is_answered_and_changes_nothing(
        looker, domain, tmp_path):  # noqa: F811
    log = tmp_path / 'log'
    with evaluator(domain, log, '-p', f'scenarios:=[{QUICK}]', '-p', 'link:=loopback', '-p',
                   'trials:=5000', '-p', f'output:={tmp_path / "run"}', '-p',
                   'autostart:=false') as running:
        client = looker.create_client(ChangeState, f'{NAME}/change_state')
        assert client.wait_for_service(60)
        refuses_all(looker, client, UNCONFIGURED)
        assert answers(client, [request(Transition.TRANSITION_CONFIGURE)] * 2) == [True, False]
        refuses_all(looker, client, INACTIVE)
        assert answers(client, [request(Transition.TRANSITION_ACTIVATE)] * 2) == [True, False]
        refuses_all(looker, client, ACTIVE)
        assert answers(client, [request(Transition.TRANSITION_DEACTIVATE)] * 2) == [True, False]
        assert state(looker, NAME) == INACTIVE
        assert answers(client, [request(label='shutdown')] * 2) == [True, False]
        assert running.wait(20) == 3, log.read_text()


def test_the_last_stimulus_leaves_with_the_request_to_stop_after_every_wrong_one(
        looker, domain, tmp_path):  # noqa: F811
    scenario, seen = tmp_path / 'long.yaml', []
    scenario.write_text(Path(QUICK).read_text(encoding='utf-8').replace(
        'at_ms: 500', 'at_ms: 60000'), encoding='utf-8')
    looker.create_subscription(PoseStamped, 'human_pose',
                               lambda message: seen.append(time.monotonic()), 10)
    with evaluator(domain, tmp_path / 'log', '-p', f'scenarios:=[{scenario}]', '-p',
                   f'domain_id:={domain}', '-p', 'calibration:="off"', '-p', f'output:='
                   f'{tmp_path / "deactivate"}', '-p', 'autostart:=false') as running:
        client = looker.create_client(ChangeState, f'{NAME}/change_state')

        def stopped_by(asked):
            """Return the answers to a request that is sent twice while a trial runs."""
            assert change(looker, NAME, 'configure')
            assert change(looker, NAME, 'activate')
            seen.clear()
            until(lambda: len(seen) > 10, 60)
            refuses_all(looker, client, ACTIVE)
            until(lambda: time.monotonic() - seen[-1] < 0.1, 2)
            asked_s = time.monotonic()
            found = answers(client, [asked] * 2)
            time.sleep(0.5)
            assert seen[-1] - asked_s < BOUND_S
            return found

        assert stopped_by(request(Transition.TRANSITION_DEACTIVATE)) == [True, False]
        assert state(looker, NAME) == INACTIVE
        assert change(looker, NAME, 'cleanup')
        assert put(looker, NAME, output=str(tmp_path / 'cleanup'))
        assert not stopped_by(request(Transition.TRANSITION_CLEANUP))[0], 'not valid while active'
        until(lambda: state(looker, NAME) != ACTIVE)
        if state(looker, NAME) == INACTIVE:
            assert change(looker, NAME, 'cleanup')
        assert put(looker, NAME, output=str(tmp_path / 'shutdown'))
        assert stopped_by(request(label='shutdown'))[0]
        assert running.wait(20) == 3
    printed = (tmp_path / 'log').read_text()
    assert 6 in (printed.count('transition 255 is refused'),
                 printed.count('No transition matching 255')), printed  # since Kilted


class Busy(LifecycleNode):
    """A node one of whose other services is busy, or fails."""

    def __init__(self, context, happens):
        super().__init__('busy', context=context)
        self.declare_parameter('anything', 0)
        self.add_on_set_parameters_callback(happens)
        self.activated = 0

    def on_activate(self, state):
        self.activated += 1
        return super().on_activate(state)


@contextmanager
def busy(looker, domain):  # noqa: F811
    """
    Yield a node that is about to be busy, what asks it, and what makes and keeps it so.

    :return: the node, the client of its transitions, a call that makes it busy, and the events
        that end this and that say that it was stopped
    """
    is_busy, may_end, stopped = (threading.Event() for _ in range(3))

    def sleep(parameters):
        is_busy.set()
        may_end.wait(30)
        return SetParametersResult(successful=True)

    with ros_context([], domain) as context:
        node = Busy(context, sleep)
        with TransitionRequests(node, stopped.set).answered():
            client = looker.create_client(ChangeState, '/busy/change_state')
            other = looker.create_client(SetParametersAtomically,
                                         '/busy/set_parameters_atomically')
            assert client.wait_for_service(30) and other.wait_for_service(30)

            def occupy():
                asked = other.call_async(SetParametersAtomically.Request(
                    parameters=[Parameter('anything', value=1).to_parameter_msg()]))
                assert is_busy.wait(10)
                return asked
            yield node, client, occupy, may_end, stopped


@for_each('label', ['deactivate', 'cleanup', 'shutdown'])
def test_a_request_to_stop_waits_for_no_other_request(label, looker, domain):  # noqa: F811
    with busy(looker, domain) as (_, client, occupy, may_end, stopped):
        asked = occupy()
        answer = client.call_async(request(label=label))
        assert stopped.wait(2), 'stopped while the other request is still being answered'
        assert not asked.done() and not answer.done()
        may_end.set()
        until(lambda: asked.done() and answer.done())
        assert answer.result().success == (label == 'shutdown')


def test_what_was_asked_to_activate_before_a_request_to_stop_is_refused(
        looker, domain):  # noqa: F811
    with busy(looker, domain) as (node, client, occupy, may_end, stopped):
        assert change(looker, '/busy', 'configure')
        occupy()
        first = client.call_async(request(Transition.TRANSITION_ACTIVATE))
        by_label = client.call_async(request(label='activate'))
        stop = client.call_async(request(Transition.TRANSITION_DEACTIVATE))
        assert stopped.wait(5)
        may_end.set()
        until(lambda: first.done() and by_label.done() and stop.done())
        assert not first.result().success and not by_label.result().success
        assert not node.activated and state(looker, '/busy') == INACTIVE
        assert change(looker, '/busy', 'activate') and node.activated == 1
        assert change(looker, '/busy', 'deactivate')


def test_a_callback_that_fails_costs_its_own_answer_and_no_other(looker, domain):  # noqa: F811
    def fail(parameters):
        raise ValueError('no such thing')

    with ros_context([], domain) as context:
        node = Busy(context, fail)
        with TransitionRequests(node, lambda: None).answered():
            assert state(looker, '/busy') == UNCONFIGURED
            client = looker.create_client(SetParametersAtomically,
                                          '/busy/set_parameters_atomically')
            assert client.wait_for_service(30)
            asked = client.call_async(SetParametersAtomically.Request(
                parameters=[Parameter('anything', value=1).to_parameter_msg()]))
            assert change(looker, '/busy', 'configure')
            assert state(looker, '/busy') == INACTIVE
            assert not asked.done()
