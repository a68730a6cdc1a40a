# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The measuring process as a campaign sets it up, and the processes that it measures."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, ExitStack
import json
import os
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import Any

from flood import INTERFACE, TOPIC, TOPICS
from rclpy.node import Node
from safety_scenarios import registry
from safety_scenarios.campaign.calibration import calibration_trial, RATE_HZ
from safety_scenarios.campaign.plugin_roles import EventSink
from safety_scenarios.errors import MeasurementError
from safety_scenarios.judging.latency.network import ProbeSample, samples
from safety_scenarios.ros.controller_process import ChildProcess
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.link.link import RosLink
from safety_scenarios.ros.middleware import chosen_domain
from safety_scenarios.ros.spinning import ros_context, Spin, spinning, undisturbed
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.timing import ANSWER, ClockRules, Measuring, METHODS
from safety_scenarios.trial.run import INTERRUPTED, run_trial
from safety_scenarios.trial.trial import Trial, TrialRecord

HERE = Path(__file__).parent
_CONNECT_S = 20.0
_STOP_S = 5.0
_SETTLE_S = 2.0
_FIRST_BEFORE = 1_000_000
FLOOD = {TOPIC.format(index) for index in range(TOPICS)}


class Script:
    """A script of this folder in a process of its own, which ends with its standard input."""

    def __init__(self, domain_id: int, name: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, HERE / name, *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, 'ROS_DOMAIN_ID': str(domain_id)})

    def tell(self, line: str) -> None:
        """Write one line to it."""
        assert self._process.stdin is not None
        self._process.stdin.write(f'{line}\n')
        self._process.stdin.flush()

    def ask(self, line: str) -> Any:
        """Write one line to it and return its answer."""
        assert self._process.stdout is not None
        self.tell(line)
        answer = self._process.stdout.readline()
        if not answer:
            raise MeasurementError(f'{self._process.args!r} has ended')
        return json.loads(answer)

    def end(self) -> None:
        """End it, by force if that is needed."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.close()
            process.wait(_STOP_S)
        except (OSError, subprocess.TimeoutExpired):
            process.kill()
            process.wait()
        finally:
            process.stdout.close()


class Evaluator:
    """One node with its spin thread, as in a campaign, and the other ends in one domain."""

    def __init__(self, node: Node, spin: Spin, responder: ChildProcess, ping: Script,
                 flood: Script) -> None:
        self.node = node
        self.ping = ping
        self.flood = flood
        self._spin = spin
        self._responder = responder

    @contextmanager
    def link(self) -> Iterator[RosLink]:
        """Give the product's own link to its own responder, judging by the steady clock."""
        measuring = Measuring(rules=ClockRules(latency_clock='steady'))
        with closing(RosLink(self.node, self._spin, RosClock(), _CONNECT_S, measuring,
                             children=(self._responder,))) as link:
            yield link


@contextmanager
def evaluator() -> Iterator[Evaluator]:
    """
    Start everything in a free domain, end it all again, and leave no shared memory.

    What is measured begins two seconds later: Fast DDS checks each shared-memory port when it
    first sends to it, and may hold up a whole process for a multiple of 333 ms (its issue 6535).
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        stack.enter_context(undisturbed(realtime=False))
        domain_id = stack.enter_context(chosen_domain(-1, external=False))
        context = stack.enter_context(ros_context([], domain_id))
        node = Node('bench', context=context)
        spin = stack.enter_context(spinning(node))
        responder = ChildProcess('the responder', 'responder_node', domain_id, [],
                                 folder / 'responder.log')
        stack.callback(responder.stop)
        scripts = []
        for arguments in (('pingpong.py', 'pong'), ('pingpong.py', 'ping'), ('flood.py',)):
            script = Script(domain_id, *arguments)
            stack.callback(script.end)
            scripts.append(script)
        found = Evaluator(node, spin, responder, scripts[1], scripts[2])
        with found.link() as link:
            run(probing((0.0,), round(_SETTLE_S * RATE_HZ)), link)
        yield found


def probing(delays_ms: Sequence[float], count: int, topics: int = 0) -> Trial:
    """
    Return a calibration's trial: ``count`` probes of these delays in turn, at its rate.

    :param topics: how many topics of ``flood.py`` are command topics beside the answers
    """
    probe = registry.resolve('stimuli', 'probe')
    trial: Trial = calibration_trial(
        probe(rate_hz=RATE_HZ, first=_FIRST_BEFORE),
        probe(rate_hz=RATE_HZ, delays_ms=tuple(delays_ms)), ANSWER, count, max(delays_ms))
    ros = trial.scenario.body
    assert ros is not None
    commands = (*ros.commands, *(CommandTopic(topic=TOPIC.format(index), message=INTERFACE)
                                 for index in range(topics)))
    scenario = trial.scenario.model_copy(update={'body': ros.model_copy(
        update={'commands': commands})})
    return trial.model_copy(update={'scenario': scenario})


def run(trial: Trial, link: RosLink, sinks: Sequence[EventSink] = ()) -> TrialRecord:
    """
    Return the record of a trial, as the product makes it.

    :raises MeasurementError: the harness could not observe
    """
    record = run_trial(trial, link, sinks)
    for fault in record.of_kind('fault'):
        if fault.name == INTERRUPTED:
            raise KeyboardInterrupt
        raise MeasurementError(f'bench: {fault.text}')
    return record


def probes(record: TrialRecord) -> list[ProbeSample]:
    """Return the probes of a record, in which other commands may have come meanwhile."""
    events = tuple(event for event in record.events if event.name not in FLOOD)
    return list(samples(record.model_copy(update={'events': events})))


def latencies(record: TrialRecord) -> dict[str, list[tuple[float, float | None]]]:
    """
    Return (delay asked for, latency) in ms of each probe, by method; None: no answer.

    ``reported`` is the method that the product judges by here: the best of all.
    """
    found = probes(record)
    known = [method for method in METHODS
             if all(method in sample.elapsed_ns for sample in found if sample.answer)]
    by_method = {method: [(sample.delay_ns / 1e6,
                           sample.elapsed_ns[method] / 1e6 if sample.answer else None)
                          for sample in found] for method in known}
    return {**by_method, 'reported': by_method[known[0]]}
