# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What a controller finds out that looks round in its process, on the disk and in its domain."""

import json
import os
from pathlib import Path

import pytest
from ros.campaigns import brief, campaign

SCENARIO, SEED = 'SCN-R-101', 1234567891
SPY = '''
"""A controller that looks for the plan of its trial wherever it can."""

from contextlib import suppress
from importlib import import_module
import json
import os
from pathlib import Path
import sys
import tempfile
import threading

import rclpy
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.executors import SingleThreadedExecutor
from safety_scenarios.controllers.rule_based import RuleBased

NOT_SHOWN = ('/scan', '/tf')


class Spy(RuleBased):
    """Drives as the reference does, and writes down all that it finds."""

    def start(self):
        super().start()
        self.__dict__['found'] = found = {
            'process': [], 'topics': [], 'parameters': [],
            'files': [str(one) for one in Path('run').rglob('*')]}
        for pid, place in ((os.getpid(), 'self'), (os.getppid(), 'evaluator')):
            with suppress(OSError):
                found['process'] += [place, Path(f'/proc/{pid}/cmdline').read_text()]
        found['process'] += [Path('/proc/self/environ').read_text(), os.getcwd(), *sys.argv]
        found['process'] += [os.readlink(f'/proc/self/fd/{one}')
                             for one in os.listdir('/proc/self/fd')
                             if os.path.exists(f'/proc/self/fd/{one}')]
        for file in Path(tempfile.gettempdir()).glob('launch_params_*'):
            found['process'].append(file.read_text())
        context = rclpy.Context()
        rclpy.init(context=context)
        self.__dict__['node'] = node = rclpy.create_node('innocent', context=context)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        threading.Thread(target=executor.spin, daemon=True).start()
        threading.Thread(target=self.look, daemon=True).start()

    def look(self):
        node, heard, asked = self.node, set(), set()
        while True:
            for topic, types in node.get_topic_names_and_types():
                if topic not in heard and not topic.startswith(NOT_SHOWN):
                    heard.add(topic)
                    package, _, kind = types[0].partition('/msg/')
                    node.create_subscription(
                        getattr(import_module(f'{package}.msg'), kind), topic,
                        lambda said, topic=topic: self.found['topics'].append(
                            [topic, str(said)]), 10)
            for name in node.get_node_names():
                if name not in asked and name != 'innocent':
                    asked.add(name)
                    self.found['parameters'].append(name)
                    self.ask(name)
            threading.Event().wait(0.2)
            Path('spied.part').write_text(json.dumps(self.found))
            os.replace('spied.part', 'spied.json')  # its process may end at any time

    def ask(self, name):
        node = self.node
        names = node.create_client(ListParameters, f'/{name}/list_parameters')
        values = node.create_client(GetParameters, f'/{name}/get_parameters')
        if names.wait_for_service(1.0):
            names.call_async(ListParameters.Request()).add_done_callback(
                lambda done: values.call_async(GetParameters.Request(
                    names=done.result().result.names)).add_done_callback(
                    lambda more: self.found['parameters'].append(str(more.result().values))))
'''


@pytest.fixture(scope='module', params=['none', 'mujoco'])
def found(request, tmp_path_factory) -> dict[str, str]:
    """Return what a spy found, by where it looked."""
    folder = tmp_path_factory.mktemp(f'spied_{request.param}')
    (folder / 'own_spy.py').write_text(SPY)
    before = Path.cwd()
    os.chdir(folder)
    try:
        world = () if request.param == 'none' else (
            '--world', 'mujoco', '--set', 'clock.lockstep=true')
        run = campaign(folder / 'run', *brief(folder / 'soon', SCENARIO),
                       '--controller', 'own_spy:Spy', '--seed', str(SEED), '--trials', '2',
                       *world, again=False, TMPDIR=str(folder))
        assert run.trials, run.output
        spied = json.loads((folder / 'spied.json').read_text())
        if json.loads((folder / 'run' / 'campaign.json').read_text()).get('readable'):
            spied['files'] = []  # this kernel refuses to hide them, which the result states
    finally:
        os.chdir(before)
    # the verdicts leave when the last trial is over; the process may live to hear them
    spied['topics'] = [one for one in spied['topics']
                       if one[0] != '/rosout' or 'trial' not in one[1]]
    assert len(spied['topics']) > 10 and len(spied['parameters']) > 2, spied
    return {place: json.dumps(text) for place, text in spied.items()}


def told(found: dict[str, str], words: tuple[str, ...]) -> list[str]:
    return [f'{place}: {text[max(0, at - 100):at + 100]}' for place, text in found.items()
            for word in words if (at := text.find(word)) >= 0]


def test_it_learns_neither_scenario_nor_seed(found):
    assert not told(found, (SCENARIO, str(SEED), 'SCN-'))


def test_it_learns_nothing_of_the_plan(found):
    assert not told(found, ('onset', 'hazard', 'all_clear'))
