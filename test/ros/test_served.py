# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The embedded simulator, moved as any simulator with the standard services is."""

from collections.abc import Iterator
import os
from pathlib import Path
import subprocess
import sys
import threading

from interfaces_built import interfaces_folder
import pytest
from ros.campaigns import campaign, environment, QUICK, SOON, until
import safety_scenarios
from safety_scenarios.judging.findings.harness import UNEVEN
from safety_scenarios.ros.spinning import ros_context
from safety_scenarios.ros.worlds.embedded import simulation_services as services
from safety_scenarios.ros.worlds.embedded.persistent_world import fill, SERVED
from safety_scenarios.ros.worlds.embedded.simulation_services import Call, Reply
from safety_scenarios.ros.worlds.embedded.simulator import Simulator, SimulatorNode
from safety_scenarios.ros.worlds.simulator_link.protocol import Request, reset
from unit.records import hazard, planned
from unit.ros.simulation_services.test_simulation_services import Fields, state

pytestmark = pytest.mark.dds
_CLOCK = 'not judged because of the clock; it would be '


@pytest.fixture
def simulator(request, domain) -> Iterator[Simulator]:
    """Yield one whose node nobody spins: what arrives is put where callbacks put it."""
    given = [part for one in getattr(request, 'param', ()) for part in ('-p', one)]
    with ros_context(['--ros-args', '-p', f'scenario:={QUICK}', *given], domain) as context:
        node = SimulatorNode(context=context)
        found = Simulator(node)
        yield found
        found.close()
        node.destroy_node()


def served(simulator, service, **fields) -> list[Reply]:
    """Put a request; return where its answer will be."""
    got: list[Reply] = []
    simulator._put(SERVED, Call(service, Fields(**fields), got.append))
    return got


def take(simulator) -> None:
    while (arrived := simulator._arrivals.take()) is not None:
        simulator._take(*arrived)


def begin_trial(simulator):
    trial = planned(hazard())
    for number, asked in enumerate((reset('a', trial, turns=True), Request(
            id='b', what='begin', trial=trial.trial_id))):
        answer = simulator._answer(asked)
        assert not answer.error, (number, answer)
    return trial


@pytest.mark.parametrize('simulator', [
    ['lockstep:=true', 'patience_s:=0.05', 'real_time_factor:=0.0']], indirect=True)
def test_requests_that_come_while_a_decision_is_awaited_hold_nobody_up(simulator):
    """They are answered after it, and are no commands."""
    trial = begin_trial(simulator)
    asked = [served(simulator, 'step_simulation', steps=10),
             served(simulator, 'set_simulation_state', **state(2))]
    answer = simulator._answer(Request(id='c', what='step', trial=trial.trial_id,
                                       step_ns=100_000_000))
    assert (answer.error, answer.effects) == ('', ())
    assert simulator._world.now_ns == 100_000_000
    take(simulator)
    assert [one[0].code for one in asked] == [services.INCORRECT_STATE] * 2
    assert simulator._world.now_ns == 100_000_000


@pytest.mark.parametrize('simulator', [
    ['lockstep:=true', 'patience_s:=0.05', 'real_time_factor:=0.0']], indirect=True)
def test_in_lock_step_neither_a_dead_controller_nor_a_dead_evaluator_holds_it_up(simulator):
    """For the one time goes on, and the trial that the other never ended makes way."""
    def step(trial):
        return simulator._answer(Request(id=f'{trial.trial_id} {simulator._now_ns}', what='step',
                                         trial=trial.trial_id, step_ns=50_000_000))
    trial = begin_trial(simulator)
    assert not step(trial).error and simulator._world.now_ns == 50_000_000
    again = begin_trial(simulator)
    assert not step(again).error and simulator._world.now_ns == 50_000_000


@pytest.mark.parametrize('simulator', [['lockstep:=true', 'real_time_factor:=0.0']], indirect=True)
def test_for_a_controller_that_takes_no_turns_time_passes_as_it_really_does(simulator):
    trial = planned(hazard())
    answer = simulator._answer(reset('a', trial, turns=False))
    assert (answer.error, answer.lockstep, answer.factor) == ('', False, 1.0)
    assert simulator.is_paused
    simulator._answer(Request(id='b', what='begin', trial=trial.trial_id))
    assert not simulator.is_paused
    simulator._answer(Request(id='c', what='end', trial=trial.trial_id))
    assert simulator.is_paused


def test_an_evaluator_gets_its_time_back_from_whoever_has_paused_it(simulator):
    """And a reset by somebody else ends its trial, which is told why."""
    asked = served(simulator, 'set_simulation_state', **state(2))
    take(simulator)
    assert asked[0].code == services.OK and simulator.is_paused
    steps = served(simulator, 'step_simulation', steps=10**6)
    take(simulator)
    trial = begin_trial(simulator)
    assert not simulator.is_paused
    assert 'an evaluator has begun a trial' in steps[0].text
    told: list[str] = []
    simulator._publish_truth = lambda **said: told.append(said.get('fault', ''))
    done = served(simulator, 'reset_simulation', scope=0)
    take(simulator)
    assert done[0].code == services.OK and 'while a trial ran' in told[-1]
    late = simulator._answer(Request(id='d', what='step', trial=trial.trial_id, step_ns=1))
    assert 'another client has reset the simulation' in late.error
    end = simulator._answer(Request(id='e', what='end', trial=trial.trial_id))
    assert not end.error and simulator.standing is not None


def test_steps_are_made_by_the_thread_that_owns_the_world(simulator):
    """Which serves others in between, and answers when they are made."""
    ended = threading.Event()
    thread = threading.Thread(target=simulator.run, args=(ended,))
    thread.start()
    try:
        paused = served(simulator, 'set_simulation_state', **state(2))
        steps = served(simulator, 'step_simulation', steps=200)
        features = served(simulator, 'get_simulator_features')
        until(lambda: steps)
        assert [paused[0].code, steps[0].code, features[0].code] == [services.OK] * 3
        assert simulator.standing.now_ns % 5_000_000 == 0
        assert simulator.stamp_ns - simulator._now_ns == 0
    finally:
        ended.set()
        thread.join()


def test_an_answer_is_written_where_its_response_has_room_for_it():
    reply = Reply(services.NOT_FOUND, 'nobody', 'p', [('robot', (1.0, 2.0, 0.0), (0.0,) * 3)],
                  state=services.PAUSED)
    spawned, found, now, known = (Fields(result=Fields(), **more) for more in (
        {'entity_name': ''}, {'entities': []}, {'state': Fields(state=0)}, {}))
    for response in (spawned, found, now, known):
        fill(response, reply)
        assert response.result == Fields(result=services.NOT_FOUND, error_message='nobody')
    assert (spawned.entity_name, found.entities, now.state.state) == (
        'p', ['robot'], services.PAUSED)
    told = Fields(features=Fields())
    fill(told, Reply(text='about'))
    assert told.features.spawn_formats == ['sdf'] and 9 in told.features.features


@pytest.mark.exact
def test_the_standard_adapter_comes_to_what_our_own_control_comes_to(tmp_path, domain):
    """By the services alone, as it moves Gazebo; a busy host may leave the clock open."""
    path = {'PYTHONPATH': os.pathsep.join(filter(None, [
        str(interfaces_folder()), os.environ.get('PYTHONPATH')])), **SOON}
    file = tmp_path / 'person.yaml'
    text = Path(QUICK).read_text(encoding='utf-8').replace('human_pose', 'scan')
    file.write_text(text.replace('at_ms: 500', 'at_ms: 1500'), encoding='utf-8')
    alone, = safety_scenarios.run(str(file), link='simulated', controller='rule_based').trials
    with subprocess.Popen(
            [sys.executable, '-m', 'safety_scenarios.ros.nodes.simulator_node', '--ros-args', '-p',
             f'scenario:={file}'], env=environment(domain) | path) as node:
        try:
            for number in range(3):
                run = campaign(
                    tmp_path / f'run_{number}', str(file), '--world', 'external', '--set',
                    'world.services=/simulator_node', '--domain-id', str(domain), '--set',
                    'connect_timeout_s=60', again=False, **path)
                trial, = run.trials
                if not any(one['verdict'] == 'INCONCLUSIVE' and one['check'] in UNEVEN
                           for one in trial['findings']):
                    break  # else the host held simulated time up, as the product itself says
        finally:
            node.terminate()
            node.wait(10)
    assert node.returncode == 0
    assert trial['world']['world'] == 'simulation_interfaces', run.output
    judged = {one['check']: one['reason'].startswith(f'{_CLOCK}PASS') or one['verdict'] == 'PASS'
              for one in trial['findings'] if one['verdict'] or one['reason'].startswith(_CLOCK)
              if 'time' not in one['check'] and 'clock' not in one['check']}
    assert judged and all(judged.values()), run.output
    assert alone.verdict.name == 'PASS'
    assert trial['world']['min_gap_m'] == pytest.approx(alone.world.min_gap_m, abs=0.2)
