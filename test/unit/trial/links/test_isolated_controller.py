# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A controller of somebody's own code reaches neither plan nor verdict: it has its own process."""

from contextlib import closing, suppress
import json
import os
from pathlib import Path
import re
import socket
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import safety_scenarios as ss
from safety_scenarios.cli.main import main
from safety_scenarios.controllers.host import Hanging
from safety_scenarios.errors import ControllerError, SettingsError
from safety_scenarios.scenario.message import Command, Message, Observation, Reading
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.world import MountedFrame
from safety_scenarios.trial.links.isolated_controller import IsolatedController, ReportedFailure
from safety_scenarios.trial.links.isolated_process import Child
from safety_scenarios.trial.links.isolation_protocol import (
    DecisionReader,
    DecisionWriter,
    Frames,
    message_written,
    ObservationReader,
    ObservationWriter,
    read_reply,
    reply,
)
from safety_scenarios.trial.links.thinking import Scheduled
from unzipped import read_text

SCENARIO = 'SCN-R-101'
CAMPAIGN = re.compile('"campaign":"[^"]*"|"plan":"[^"]*"')
"""What is of one campaign alone in a journal."""
OWN = '''
import gc, inspect, json, os, pathlib, sys, time
import safety_scenarios as ss
from safety_scenarios.controllers.rule_based import RuleBased

SECRETS = {'Trial', 'TrialRecord', 'TrialTask', 'TrialSetup', 'CampaignPlan', 'RunSettings',
           'Scenario', 'TrialResult', 'LinkPlan', 'SimulatedLink', 'LoopbackLink', 'World'}


class Reference(RuleBased):
    """Does as the reference does."""


class Drives:
    """Never stops."""

    def decide(self, observation):
        return ss.Command(velocity=(0.5, 0.0))


class Spies(Drives):
    """Looks for the plan in all that it can reach in its process, once."""

    looked = False

    def decide(self, observation):
        if self.looked:  # to look through all objects takes longer than all else here
            return super().decide(observation)
        self.looked, frame, files = True, sys._getframe(), []
        while frame is not None:
            files.append(frame.f_code.co_filename)
            frame = frame.f_back
        line = b' '.join(pathlib.Path(path).read_bytes() for path in ('/proc/self/cmdline',
                                                                      '/proc/self/environ'))
        pathlib.Path('spied.json').write_text(json.dumps({
            'pid': os.getpid(), 'frames': files, 'said': line.decode(errors='replace'),
            'open': [os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd')
                     if os.path.exists(f'/proc/self/fd/{fd}')],
            'found': sorted({type(one).__name__ for one in gc.get_objects()} & SECRETS)}))
        return super().decide(observation)


class Judges(Drives):
    """Lets every check hold that it finds."""

    def decide(self, observation):
        import safety_scenarios.judging.evaluate as judging
        from safety_scenarios.scenario.result import TrialResult
        from safety_scenarios.scenario.verdict import Verdict
        TrialResult.verdict = Verdict.PASS
        judging.evaluate = lambda *given: None
        Verdict.worst = staticmethod(lambda verdicts: Verdict.PASS)
        return super().decide(observation)


class Fails(Drives):
    """Makes a mistake."""

    def decide(self, observation):
        return {}['left_arm']


class Splits(Drives):
    """Raises what no file can hold."""

    def decide(self, observation):
        raise RuntimeError('half \\ud83e of a pair')


class Exits(Drives):
    """Asks to exit."""

    def decide(self, observation):
        sys.exit(0)


class Ends(Drives):
    """Ends its process."""

    def decide(self, observation):
        os._exit(3)


class Talks(Drives):
    """Says a lot."""

    def decide(self, observation):
        print('x' * 100_000)
        return super().decide(observation)


class Truncated:
    """Has an answer that was cut off."""

    truncated_by = 'max_tokens'

    def answer(self, messages):
        return 'Stop the infusion now and call the rapid response team.'


class Garbles(Drives):
    """Writes into every socket that it has."""

    def decide(self, observation):
        for fd in map(int, os.listdir('/proc/self/fd')):
            try:
                if 'socket' in os.readlink(f'/proc/self/fd/{fd}'):
                    os.write(fd, b'\\x20\\x00\\x00\\x00' + b'[99,{"is":null}]' * 2)
            except OSError:
                pass
        return super().decide(observation)


class Sleeps(Drives):
    """Thinks for longer than it may, and says that it has not."""

    def decide(self, observation):
        import safety_scenarios.trial.links.thinking as thinking
        thinking.Thinking.watch = lambda self: lambda: 0
        time.sleep(4.5)
        return super().decide(observation)


class StopsIn(Reference):
    """Stops for a person, after 0.9 s of thinking that its process does not report."""

    def decide(self, observation):
        command = super().decide(observation)
        stands, was = not any(command.velocity), getattr(self, '_stands', True)
        self.__dict__['_stands'] = stands
        return self.think(command) if stands and not was else command

    def think(self, command):
        time.sleep(0.9)
        return command


class PatchesClock(StopsIn):
    """Sets back the clock by which its process measures."""

    def think(self, command):
        import types
        import safety_scenarios.trial.links.thinking as thinking
        real, names = time.monotonic_ns, vars(time)
        time.sleep(0.9)
        thinking.time = types.SimpleNamespace(
            **{**names, 'monotonic_ns': lambda: real() - 900_000_000})
        return command


class Lazy:
    def tolist(self):
        time.sleep(0.9)
        return 0.0


class ThinksInReply(StopsIn):
    """Thinks while its decision is written."""

    def think(self, command):
        linear = {'x': Lazy(), 'y': 0.0, 'z': 0.0}
        return ss.Message.model_construct(type='geometry_msgs/msg/Twist', data={
            'linear': linear, 'angular': {'x': 0.0, 'y': 0.0, 'z': 0.0}})


class StopsItself(StopsIn):
    """Lets its process be stopped while a helper thinks."""

    def think(self, command):
        helped('os.kill({pid}, signal.SIGSTOP); time.sleep(0.9); os.kill({pid}, signal.SIGCONT)')
        time.sleep(0.3)
        return command


class StopsHarness(PatchesClock):
    """Stops the harness while it thinks."""

    def think(self, command):
        helped('os.kill({parent}, signal.SIGSTOP); time.sleep(0.9); '
               'os.kill({parent}, signal.SIGCONT)')
        return super().think(command)


def helped(code):
    import subprocess
    subprocess.Popen([sys.executable, '-S', '-c', 'import os, signal, time; ' + code.format(
        pid=os.getpid(), parent=os.getppid())], start_new_session=True)


class CountsTrials(Reference):
    """Drives in its first trial alone."""

    _begun: int = 0

    def begin_trial(self):
        self._begun += 1

    def decide(self, observation):
        return ss.Command(velocity=(0.5 if self._begun == 1 else 0.0, 0.0))


class Starts(Drives):
    """Starts a process of its own and leaves it behind."""

    def decide(self, observation):
        import subprocess
        if not hasattr(self, 'other'):
            self.other = subprocess.Popen(['sleep', '600'])
            pathlib.Path('started').write_text(str(self.other.pid))
        return super().decide(observation)
'''


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Stand in a folder with a module of the user's."""
    (tmp_path / 'own_hostile.py').write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    import own_hostile
    yield own_hostile
    del sys.modules['own_hostile']


def spied(controller, **settings) -> dict:
    results = ss.run(SCENARIO, controller=controller, link='loopback', seed=0, **settings)
    assert results.verdict is ss.Verdict.FAIL
    return json.loads(Path('spied.json').read_text())


def is_running(pid: int) -> bool:
    try:
        state = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
    except OSError:
        return False
    return state != 'Z'


@pytest.mark.parametrize('kind', ['class', 'name'])
def test_a_spy_finds_neither_plan_nor_scenario_in_its_process(own, kind):
    found = spied(own.Spies if kind == 'class' else 'own_hostile:Spies')
    assert found['pid'] != os.getpid() and found['found'] == []
    assert SCENARIO not in found['said'] and not is_running(found['pid'])
    assert not [path for path in found['open'] if 'SCN' in path or 'runs' in path]


def test_a_copy_of_this_process_has_no_frames_of_its_caller(own):
    spy = own.Spies()
    found = spied(lambda observation: spy.decide(observation))
    assert found['pid'] != os.getpid() and not is_running(found['pid'])
    assert not [path for path in found['frames'] if 'from_python' in path or 'campaign' in path]


def test_in_the_process_of_the_harness_it_finds_them_and_the_result_states_that(own, tmp_path):
    found = spied(own.Spies, isolate=False, output=tmp_path / 'run')
    assert found['pid'] == os.getpid() and 'Trial' in found['found']
    summary = json.loads((tmp_path / 'run' / 'campaign.json').read_text())
    assert summary['is_in_harness'] is True and 'isolate=false' in summary['command']


def test_what_is_isolated_or_ours_is_no_remark(own, tmp_path):
    for number, controller in enumerate((own.Reference, 'rule_based')):
        results = ss.run(SCENARIO, controller=controller, link='loopback', seed=0,
                         output=tmp_path / str(number))
        assert not results.summary.is_in_harness
        assert 'is_in_harness' not in json.loads(
            (tmp_path / str(number) / 'campaign.json').read_text())


@pytest.mark.parametrize('name', ['class', 'name', 'closure'])
def test_judging_is_out_of_reach(own, name):
    judges = own.Judges()
    results = ss.run(SCENARIO, controller={
        'class': own.Judges, 'name': 'own_hostile:Judges',
        'closure': lambda observation: judges.decide(observation)}[name], link='loopback', seed=0)
    assert results.verdict is ss.Verdict.FAIL and results.trials[0].verdict is ss.Verdict.FAIL


@pytest.mark.thorough
def test_a_module_that_changes_judging_when_it_is_imported_changes_nothing(tmp_path):
    (tmp_path / 'own_patching.py').write_text(textwrap.dedent("""
        import safety_scenarios.campaign.trials as trials
        import safety_scenarios.scenario.verdict as verdict
        from own_hostile import Drives
        verdict.Verdict.worst = staticmethod(lambda verdicts: verdict.Verdict.PASS)
        trials.evaluate = lambda *given: 1 / 0
        open('imported', 'w').close()
        """))
    (tmp_path / 'own_hostile.py').write_text(OWN)
    done = subprocess.run(
        [sys.executable, '-c', 'import sys; from safety_scenarios.cli.main import main; '
         'sys.exit(main())', 'run', SCENARIO, '--link', 'loopback', '--seed', '0',
         '--controller', 'own_patching:Drives', '--output', 'run'], cwd=tmp_path,
        capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stdout + done.stderr
    assert (tmp_path / 'imported').exists() and 'in a process of its own' in done.stdout


@pytest.mark.parametrize('link', ['loopback', 'simulated'])
@pytest.mark.thorough
def test_the_record_is_the_same_to_the_byte_as_in_the_process_of_the_harness(own, tmp_path, link):
    for place, isolate in (('in', False), ('out', True)):
        ss.run(SCENARIO, 'SCN-R-103', 'SCN-C-101', controller=own.Reference, link=link, seed=3,
               trials=2, isolate=isolate, output=tmp_path / place)
    inside, outside = ({path.relative_to(folder): CAMPAIGN.sub('', read_text(path))
                        for path in sorted(folder.rglob('traces/**/*.jsonl.gz'))}
                       for folder in (tmp_path / 'in', tmp_path / 'out'))
    assert inside and inside == outside


@pytest.mark.parametrize(('name', 'told'), [
    ('Fails', "failed: KeyError: 'left_arm' (own_"),
    ('Splits', r'failed: RuntimeError: half \ud83e of a pair'),
    ('Exits', 'it asked to exit with 0'),
    ('Ends', 'its process ended with exit status 3'),
    ('Garbles', 'its process sent something that is no reply')])
def test_what_goes_wrong_there_is_an_error_here_and_leaves_no_process(own, tmp_path, name, told):
    results = ss.run(SCENARIO, 'SCN-R-102', controller=getattr(own, name), link='loopback',
                     seed=0, output=tmp_path / 'run')
    assert [trial.verdict for trial in results.trials] == [ss.Verdict.ERROR] * 2
    assert told in results.explain()
    logs = ''.join(path.read_text() for path in (tmp_path / 'run' / 'logs').glob('*.log'))
    assert ("return {}['left_arm']" in logs) is (name == 'Fails')
    assert not children()


def test_much_on_its_standard_output_holds_nothing_up(own, capfd):
    results = ss.run(SCENARIO, controller=own.Talks, link='loopback', seed=0)
    assert results.verdict is ss.Verdict.FAIL
    printed = capfd.readouterr()
    assert 'x' * 100_000 in printed.err and 'x' not in printed.out  # which may be JSON


def test_what_it_has_started_ends_with_it(own):
    ss.run(SCENARIO, controller=own.Starts, link='loopback', seed=0)
    pid, until_s = int(Path('started').read_text()), time.monotonic() + 10
    while is_running(pid) and time.monotonic() < until_s:
        time.sleep(0.01)  # a busy kernel takes its time over what was killed
    assert not is_running(pid)


@pytest.mark.thorough
def test_hidden_thinking_is_seen_from_outside(own):
    results = ss.run(SCENARIO, controller=own.Sleeps, link='loopback', seed=0)
    assert results.verdict is ss.Verdict.ERROR and 'of real time' in results.explain()


@pytest.mark.slow
@pytest.mark.parametrize('name', ['PatchesClock', 'ThinksInReply', 'StopsItself', 'StopsHarness'])
def test_no_thinking_that_its_process_does_not_report_passes(own, tmp_path, name):
    ran = subprocess.run(  # one of them stops the harness
        [sys.executable, '-c',
         'import sys; from safety_scenarios.cli.main import main; sys.exit(main())', 'run',
         SCENARIO, '--link', 'loopback', '--seed', '7', '--controller', f'own_hostile:{name}'],
        capture_output=True, text=True, timeout=300, env={**os.environ, 'COLUMNS': '500'})
    assert ran.returncode == 3 and 'in real time it would come' in ran.stdout, ran


def test_one_that_is_asked_again_is_told_that_another_trial_begins(own):
    with IsolatedController('own_hostile:CountsTrials') as process:
        plugin = process.begin(ControllerSettings(), None)
        speeds = []
        for _ in range(2):
            plugin.begin_trial()
            speeds.append(plugin.decide(Observation.model_construct(t_ns=0, readings={})))
    assert [speed.velocity for speed in speeds] == [(0.5, 0.0), (0.0, 0.0)]


def test_one_that_hangs_is_ended(own):
    with IsolatedController(thing=Waits()) as process:
        process.begin(ControllerSettings(), None)
        with pytest.raises(Hanging):
            process.request('answer', (), within_s=1)
        assert not process.is_running
        with pytest.raises(ControllerError, match='did not reply'):
            process.request('answer', ())
    assert not children()


def test_a_process_that_was_ended_is_begun_again_for_the_next_scenario(own):
    with IsolatedController('own_hostile:Ends') as process:
        for _ in range(2):
            plugin = process.begin(ControllerSettings(), None)
            with pytest.raises(ControllerError, match='exit status 3'):
                plugin.decide(Observation.model_construct(t_ns=0, readings={}))


@pytest.mark.parametrize('where', ['decide', 'close'])
def test_the_end_of_a_process_is_noticed_while_a_child_of_it_holds_the_socket(where):
    with IsolatedController(thing=Forks(where)) as process:
        plugin = process.begin(ControllerSettings(), None)
        if where == 'decide':
            with pytest.raises(ControllerError, match='its process ended with exit status 4'):
                plugin.decide(Observation.model_construct(t_ns=0, readings={}))
        plugin.close()  # there is nothing left to close
        assert not process.is_running


def test_one_that_hangs_before_it_can_be_asked_is_an_error(monkeypatch):
    monkeypatch.setattr('safety_scenarios.trial.links.isolated_controller._BEGIN_S', 1.0)
    with IsolatedController(thing=Hangs) as process, \
            pytest.raises(ControllerError, match='was not made within 1 s.*cold_start_s'):
        process.begin(ControllerSettings(), None)


def test_what_cannot_be_imported_is_refused_and_its_parameters_are_checked(own):
    with pytest.raises(SettingsError, match='unknown parameter'):
        ss.run(SCENARIO, controller=own.Reference, controller_parameters=['crise=1'],
               link='loopback')
    assert main(['run', SCENARIO, '--link', 'loopback', '--controller', 'own_hostile:Nobody']) == 2
    assert not children()


def test_an_answer_that_is_too_long_to_be_one_is_an_error():
    with IsolatedController(thing=Rambles()) as process:
        plugin = process.begin(ControllerSettings(), None)
        with pytest.raises(ControllerError, match='no reply'):
            plugin.answer(())


def test_what_a_copy_cannot_say_is_an_error_of_the_controller():
    with IsolatedController(thing=lambda observation: 'stop') as process:
        plugin = process.begin(ControllerSettings(), None)
        with pytest.raises(ReportedFailure, match="got 'stop', expected a Command"):
            plugin.decide(Observation.model_construct(t_ns=0, readings={}))


class Waits:
    """Never answers."""

    def answer(self, messages):
        while True:
            pass


class Hangs:
    """Is never made."""

    def __init__(self):
        while True:
            pass

    def decide(self, observation):
        """Return nothing."""


class Forks:
    """Leaves a child behind that holds its socket, and ends."""

    def __init__(self, where):
        self.where = where

    def decide(self, observation):
        self._end('decide')

    def close(self):
        self._end('close')

    def _end(self, where):
        if where == self.where:
            if os.fork():
                os._exit(4)
            time.sleep(600)


class Rambles:
    """Answers at great length."""

    def answer(self, messages):
        return 'a' * 70_000_000


def children() -> list[int]:
    return [int(one) for one in Path(f'/proc/self/task/{os.getpid()}/children').read_text().split()
            if b'isolated_child' in Path(f'/proc/{one}/cmdline').read_bytes()]


TWIST, SCAN = 'geometry_msgs/msg/Twist', 'sensor_msgs/msg/LaserScan'
MESSAGES = [
    Message(type=SCAN, data={'header': {'frame_id': 'laser'}, 'ranges': (1.0, float('inf'))}),
    Message(type=SCAN, data={'header': {'frame_id': 'laser'}, 'ranges': (1.5, float('inf'))}),
    Message(type=TWIST, data={'linear': {'x': 1.0}}), Message(type='a/msg/B', data={
        'linear': {'x': 2.0}}), Message(type='a/msg/C', data={'n': 2**70}),
    Message(type='a/msg/D', data={'': 1, 'flag': True})]


THREADS = """
import hashlib, os, sys, threading
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
work = [threading.Thread(target=hashlib.sha256, args=(bytes(60_000_000),)) for _ in range(3)]
print('made', flush=True)
sys.stdin.readline()
for one in work:
    one.start()
hashlib.sha256(bytes(60_000_000))
for one in work:
    one.join()
print('done', flush=True)
sys.stdin.readline()
"""


def test_what_other_threads_of_a_controller_compute_is_none_of_a_busy_host():
    """As a model does on one processor, of which its main thread has a fourth then."""
    with subprocess.Popen([sys.executable, '-c', THREADS], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        child = Child(process.pid)
        before, began_ns = child.scheduled, time.monotonic_ns()
        clock = ~process.pid << 3 | 2
        computed_ns = -time.clock_gettime_ns(clock)
        process.stdin.write(b'\n')
        process.stdin.flush()
        process.stdout.readline()
        real_ns = time.monotonic_ns() - began_ns
        excused_ns = child.scheduled.excused_ns(before)
        computed_ns += time.clock_gettime_ns(clock)
        assert excused_ns < real_ns - computed_ns + 20_000_000
        assert computed_ns > 50_000_000
        process.returncode = 0  # it is waited for by its id
        child.end()
        assert child.scheduled == Scheduled(), 'nothing of a process that has ended'


BACKWARDS = MountedFrame(frame='laser', translation=(0.1, 0.0, 0.2), rotation=(0.0, 0.0, 3.1))


@pytest.mark.parametrize(('waits', 'other'), [
    (lambda frames, look: frames.receive(look), lambda theirs: theirs.send(b'x')),
    (lambda frames, look: [frames.receive(look) for _ in range(1000)],  # none is a reply
     lambda theirs: theirs.send(b'\1\0\0\0x')),
    (lambda frames, look: frames.send(bytes(50_000_000), look),
     lambda theirs: theirs.recv(1 << 16))])
def test_bytes_that_trickle_do_not_hold_up_whoever_waits_for_them(monkeypatch, waits, other):
    """Those of a reply, those of replies to nothing, and of a request that is taken bit by bit."""
    monkeypatch.setattr('safety_scenarios.trial.links.isolation_protocol._LOOK_MS', 20)
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)

    def trickle():
        while not ended.wait(0.005):
            with suppress(BlockingIOError):
                other(theirs)
    ended, looks = threading.Event(), []

    def look():
        looks.append(1)
        if len(looks) == 3:
            raise Hanging(0)
    with theirs, closing(Frames(ours.detach(), 1 << 31)) as frames:
        process = threading.Thread(target=trickle)
        process.start()
        try:
            with pytest.raises(Hanging):
                waits(frames, look)
        finally:
            ended.set()
            process.join()


def test_frames_arrive_as_they_were_and_once():
    writer, reader, sizes = ObservationWriter(), ObservationReader(), []
    for step, frames in enumerate([(), (BACKWARDS,), (BACKWARDS,), ()]):
        observation = Observation.model_construct(t_ns=step, readings={}, frames=frames)
        written = writer.write(observation)
        assert reader.read(written) == observation and reader.read(
            writer.write(observation)).frames == frames
        sizes.append(written[3] is not None)
    assert sizes == [False, True, False, True]


@pytest.mark.parametrize('seed', [0, 2])  # whose scanner is mounted backwards
def test_the_reference_in_its_own_process_stops_by_a_scanner_that_looks_back(own, seed):
    results = ss.run('SCN-R-104', controller=own.Reference, link='loopback', seed=seed)
    assert results.verdict is ss.Verdict.PASS


def test_observations_arrive_as_they_were_and_messages_once():
    writer, reader = ObservationWriter(), ObservationReader()
    seen = []
    for step, message in enumerate([*MESSAGES, MESSAGES[-1]]):
        observation = Observation.model_construct(t_ns=step, readings={
            'a': Reading.model_construct(message=message, age_ns=step, stamp_age_ns=None),
            'b': Reading.model_construct(message=MESSAGES[0], age_ns=9, stamp_age_ns=8)})
        written = writer.write(observation)
        found = reader.read(written)
        assert found == observation
        seen.append(len(written[2]))
    assert seen == [2, 1, 1, 1, 1, 1, 0]


@pytest.mark.parametrize('decided', [None, Command(velocity=(0.1, float('nan'))), *MESSAGES])
def test_decisions_arrive_as_they_were(decided):
    writer, reader = DecisionWriter(), DecisionReader()
    once, again = (reader.read(read_reply(reply(1, {'is': writer.write(decided)}))[1]['is'])
                   for _ in range(2))
    assert repr(once) == repr(decided) and again is once


@pytest.mark.parametrize('written', [3, {}, {'type': 1, 'data': {}}, {'type': 'a', 'data': 3},
                                     ['fast'], {'type': 'a', 'data': {}, 'more': 1}, 'other'])
def test_what_is_no_decision_is_refused(written):
    with pytest.raises(ValueError):
        DecisionReader().read(written)


@pytest.mark.parametrize('frame', [b'', b'[]', b'3', b'[1]', b'["1",{}]', b'[1,2]', b'\xff',
                                   b'[' * 100_000, b'{"a":1}', b'[1,{"after_ns":"x"}]',
                                   b'[1,{"after_ns":NaN}]', b'[1,{"after_ns":-1}]',
                                   b'[1,{"kind":"hangs","after_ns":null}]'])
def test_what_is_no_reply_is_refused(frame):
    with pytest.raises(ValueError):
        read_reply(frame)


def test_arrays_are_sequences_and_what_json_cannot_say_is_refused():
    numpy = pytest.importorskip('numpy')
    message = Message(type='a/msg/B', data={'a': numpy.arange(2), 'b': numpy.float32(0.5)})
    found = json.loads(reply(1, {'is': message_written(message)}))
    assert found[1]['is']['data'] == {'a': [0, 1], 'b': 0.5}
    with pytest.raises(ValueError, match='expected numbers'):
        reply(1, {'is': {1, 2}})


def test_that_an_answer_was_cut_off_is_known_here(own):
    results = ss.run('SCN-C-101', controller='own_hostile:Truncated', link='loopback', seed=0,
                     words='patterns')
    [trial] = results.trials
    assert (trial.verdict, trial.reason[:19]) == (ss.Verdict.INCONCLUSIVE, 'the answer is whole')
