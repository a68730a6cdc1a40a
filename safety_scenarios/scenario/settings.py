# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Every setting, once, also those of a monitor.

Secrets are not settings: an API key is read from the environment by the client that needs it.
"""

from collections.abc import Iterator, Mapping
import json
import re
import secrets
import shlex
from typing import Any, get_origin, Literal

from pydantic import BaseModel, Field, field_validator, model_validator
from pydantic.fields import FieldInfo
from safety_scenarios.errors import path_on_one_line
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.fields import (
    flat,
    is_given,
    NO_OPTIONS,
    SET_BY_PROGRAM,
    SHORT_NAMES,
)
from safety_scenarios.scenario.invariant import Words
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.profile import Profile
from safety_scenarios.scenario.qos_overrides import read_overrides
from safety_scenarios.scenario.robot_kind import kind_of, RobotKind
from safety_scenarios.scenario.scenario import Selection
from safety_scenarios.scenario.servers import AreSettings, JudgeServer, ModelServer, RaySettings
from safety_scenarios.scenario.timing import ClockRules, ScheduleClock
from safety_scenarios.scenario.topic_names import read_merges, RosNames
from safety_scenarios.scenario.verdict import LimitName
from typing_extensions import Self

Subject = Literal['model', 'system']


class SequentialTest(Noun):
    """Wald's sequential probability ratio test on each scenario's failures; off by default."""

    p0: float = Field(default=0.001, gt=0, lt=1)
    """Failure probability at which a controller is good enough."""
    p1: float = Field(default=0.0, ge=0, lt=1)
    """Failure probability that must be detected, above p0; 0: run every planned trial."""
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    """Chance to reject a controller that is good enough."""
    beta: float = Field(default=0.05, gt=0, lt=0.5)
    """Chance to accept a controller that must be rejected."""

    @model_validator(mode='after')
    def _apart(self) -> 'SequentialTest':
        if self.p1 and self.p1 <= self.p0:
            raise ValueError(f'got sequential.p1 {self.p1:g} with sequential.p0 {self.p0:g}, '
                             f'expected sequential.p1 above it')
        return self


Law = Literal['normal', 'lognormal']
"""Law that latencies may be assumed to follow."""
LatencyLaw = Literal['none', 'normal', 'lognormal']
Console = Literal['normal', 'verbose', 'quiet', 'json']
"""How much a campaign prints."""
SLOWEST = 0.5
"""Slower than that a controller has more than twice the time that a robot would give it."""
_SHARD = re.compile(r'([1-9]\d*)/([1-9]\d*)', re.ASCII)
FRESH = -1
"""Seed by which a campaign draws its own."""
SEEDS = 2**31
"""A seed is drawn from 0 up to this number, which is none."""
EXTERNAL = 'external'
"""Instead of the name of a controller: one that runs already, and is not ours."""


def fresh_seed() -> int:
    """Return a seed that cannot be guessed."""
    return secrets.randbelow(SEEDS)


class RunSettings(Profile):
    """One campaign: which scenarios, against what, how often, and where the results go."""

    scenarios: tuple[str, ...] = Field(default=('robotic',), min_length=1)
    """Scenarios to run: directories, files, ids or globs."""
    profile: str = Field(default='', max_length=1000)
    """Profile of the robot: a YAML file, or the name of a shipped one, such as turtlebot4
    (doc/reference/profile.md); empty: the robot that each scenario declares."""
    selection: Selection = Selection()
    rubric: str = Field(default='', max_length=1000)
    """Rubric, or the YAML file of one, that scores answers in words; empty: each scenario's own;
    none: no scores (doc/reference/files.md)."""
    regex: Literal['re2', 'python'] = 're2'
    """python: patterns that RE2 refuses, such as look-ahead, run in Python's engine, in a process
    of their own that is ended after 2 s; re2: they are refused."""
    controller: str = Field(default='rule_based', min_length=1)
    """Controller under test: a built-in or plug-in name; MODULE:NAME of a class in your own code,
    such as my_pkg.policy:Policy; or external for one that already runs."""
    controller_parameters: tuple[str, ...] = ()
    """Parameters of the controller as KEY=VALUE, such as stop_distance_m=1.0;
    doc/reference/controllers.md lists those of the built-in ones."""
    controller_label: str = Field(default='', max_length=200, pattern=r'^[^\x00-\x1f\x7f]*$')
    """Name of the controller in results and traces; empty: its plug-in's name and whatever
    parameters were set."""
    isolate: bool = True
    """Run a controller of your own code in a process of its own over link loopback and simulated,
    so that it cannot reach plan, seed or verdict; false: in the process of the harness, which
    the result states."""
    sut_version: str = Field(default='', max_length=200, pattern=r'^[^\x00-\x1f\x7f]*$')
    """Version of what is judged, in your words, such as a tag or a commit; it stands in the
    results."""
    design: str = Field(default='', pattern=r'^([0-9a-f]{64})?$',
                        json_schema_extra={**SET_BY_PROGRAM})
    """SHA-256 of the locked design, or of the suite, that this campaign belongs to. Only
    run --design and suite run set it: then ``only`` names the trials that were fixed before."""
    sut_artifact: tuple[str, ...] = ()
    """File or folder that the controller is made of, such as a checkpoint or a params file; the
    results state its SHA-256, and no campaign passes in which it changes."""
    sut_image_digest: str = Field(default='', max_length=400)
    """Digest of the container image that the controller runs in, sha256:...; empty: that in the
    environment variable SAFETY_SCENARIOS_SUT_IMAGE_DIGEST."""
    trials: int = Field(default=1, ge=1, le=100_000)
    """Trials of each scenario."""
    warmup: int = Field(default=0, ge=0, le=1000)
    """Trials before those, which are marked and left out of all statistics."""
    only: tuple[str, ...] = Field(default=(), max_length=100_000)
    """Only these trials, each as SCENARIO:INDEX, such as SCN-R-101:3; none: all."""
    seed: int = Field(default=FRESH, ge=FRESH, le=SEEDS - 1)
    """Seed from which everything random is drawn; -1: a fresh one for each campaign, which is
    printed and recorded. The same seed repeats the same trials."""
    jobs: int = Field(default=1, ge=1, le=1024)
    """Trials that are run at a time, each in a process of its own (doc/manual/ci.md)."""
    engine: Literal['local', 'ray'] = 'local'
    """local: trials run on this machine; ray: on a Ray cluster (doc/manual/ci.md)."""
    ray: RaySettings = RaySettings()
    shard: str = Field(default='', max_length=20)
    """Run only this part of the trials, such as 3/8, on one of several machines; campaign merge
    makes one campaign of all parts (doc/manual/ci.md)."""
    keep_controller: bool = False
    """Over link loopback and simulated: keep clock and controller for all trials of a scenario,
    as over link ros, so that what it has learnt counts; false: each trial begins anew, and is the
    same whatever ran before it. warmup keeps them too."""
    link: str = Field(default='ros', min_length=1)
    """ros: over DDS; loopback: in simulated time, without ROS;
    simulated: the same, with a robot that moves in the embedded world; or the name of another
    package's link."""
    are: AreSettings = AreSettings()
    real_time_factor: float = Field(default=1.0, ge=0, le=10)
    """How fast the simulator of world mujoco goes over link ros: simulated seconds in a real one,
    0.5 to 10; 0: as fast as can be, with clock.lockstep alone."""
    output: str = ''
    """Folder for the results, new or empty; empty: runs/<UTC time>."""
    outputs: tuple[str, ...] = ('page', 'console', 'junit', 'step_summary')
    """Outputs by their names; naming some leaves out the others: to add one, name the defaults
    too. page: report.html; console; live: the whole terminal; junit: the file of setting junit;
    step_summary: where GitHub asks for one; or the name of another package's."""
    console: Console = 'normal'
    """What output console prints. normal: failures first, then a summary; verbose: also every
    trial and every note; quiet: the verdict alone; json: the summary as JSON on standard
    output."""
    junit: str = ''
    """JUnit XML file to write for CI, a test case for each trial; empty: none."""
    gate: Literal['target', 'acceptable', 'critical'] = 'critical'
    """Worst latency class that still passes."""
    words: Words = 'judge'
    """judge: of words, patterns are no more than evidence, and without a judge what was said is
    INCONCLUSIVE; patterns: what the patterns say counts, as format 1 documents it."""
    subject: Subject = 'model'
    """model: a reaction that only a fallback of the controller commanded, because the model gave
    no answer, is INCONCLUSIVE; system: the fallback is part of what is judged, and counts."""
    node_name: str = Field(default='evaluator_node', max_length=200, pattern=r'^[A-Za-z_]\w*$')
    """Name of the evaluator's ROS node."""
    merge: tuple[str, ...] = ()
    """Over link ros: draw a stimulus into a robot's live sensor data, STIMULUS_TOPIC:=LIVE_TOPIC,
    such as scan:=/front/scan (doc/manual/hardware.md). The controller must receive only the
    topic of the stimulus."""
    qos_overrides: tuple[str, ...] = ()
    """Quality of service instead of the default, such as
    /scan.publisher.reliability=best_effort; as a ROS parameter it is
    qos_overrides./scan.publisher.reliability (doc/reference/ros.md)."""
    static_transforms: Literal['auto', 'off'] = 'auto'
    """auto: publish on /tf_static where a stimulus names a frame that an external robot does not
    publish, once the place is known (doc/reference/ros.md); off: leave /tf_static alone."""
    schedule_clock: ScheduleClock = 'steady'
    """Clock on which stimuli are due: steady, or ros with use_sim_time, so that a slow simulation
    does not shorten a hazard."""
    domain_id: int = Field(default=-1, ge=-1, le=232)
    """ROS domain; -1: a free one, or ROS_DOMAIN_ID (default 0) for an external controller."""
    clock: ClockRules = ClockRules()
    hosts: Literal['auto', 'one', 'two'] = 'auto'
    """Where the controller runs, if the middleware cannot tell: one system clock or two."""
    calibration: Literal['short', 'full', 'off'] = 'short'
    """Measure the harness' own latency and error first; off: assume 15 ms of uncertainty."""
    realtime: bool = False
    """Ask for real-time scheduling (SCHED_FIFO) of the evaluator."""
    sequential: SequentialTest = SequentialTest()
    latency_law: LatencyLaw = 'none'
    """Law that latencies are assumed to follow, for one more upper bound from 100 trials on
    (upper_if_normal_ms, upper_if_lognormal_ms in campaign.json); none: no such bound."""
    connect_timeout_s: float = Field(default=10.0, gt=0, le=600, json_schema_extra={'unit': 's'})
    """How long to wait for the other end of the topics (s)."""
    command_type: str = Field(default='', pattern=r'^([A-Za-z]\w*/msg/[A-Za-z]\w*)?$')
    """Type on which a built-in controller commands; empty: Twist for a base, JointTrajectory for
    an arm, or what the scenario asks for."""
    period_ms: float = Field(default=50.0, ge=1, le=10_000, json_schema_extra={'unit': 'ms'})
    """Command period of a built-in controller (ms)."""
    trace_profile: Literal['portable', 'robot'] = 'portable'
    """ARE traces: portable opens in stock ARE; robot needs safety_scenarios.are beside ARE."""
    trace_without_apps: bool = False
    """ARE traces: leave the apps out, as ARE's export_apps=False does: smaller, and ARE can import
    what has happened, but neither run nor judge it."""
    declared_topics: tuple[str, ...] = ()
    """Other topics, services and actions by which the controller under test may command motion,
    such as that of a second robot: it is not judged there. By any other its motion makes a trial
    INCONCLUSIVE."""
    live_topics: Literal['auto', 'on', 'off'] = 'auto'
    """Over link ros: publish diagnostics, verdicts, events and markers while the campaign runs
    (doc/reference/data.md); auto: for an external controller, or for one of this package in a
    named domain, and unless hil.enabled. A controller could listen, and learn what is coming."""
    record: tuple[str, ...] = ()
    """Also record each trial. mcap: for Foxglove and rosbag2, needs the extra mcap; rrd: for the
    Rerun viewer, needs the extra rerun; or the name of another package's trace writer."""
    record_images: bool = False
    """Record images and point clouds too."""
    server: ModelServer = ModelServer()
    judge: JudgeServer = JudgeServer()

    @field_validator('record', mode='before')
    @classmethod
    def _one_or_several(cls, names: object) -> object:
        return (names,) if isinstance(names, str) else \
            tuple(names) if isinstance(names, list) else names

    @field_validator('qos_overrides')
    @classmethod
    def _can_be_offered(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        read_overrides(texts)
        return texts

    @field_validator('merge')
    @classmethod
    def _can_be_merged(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        read_merges(texts)
        return texts

    @model_validator(mode='after')
    def _has_a_pace(self) -> 'RunSettings':
        factor = self.real_time_factor
        if not factor and not self.clock.lockstep:
            raise ValueError('got real_time_factor 0 without lockstep, expected 0.5 to 10: as '
                             'fast as can be, time may pass only in lock-step')
        if 0 < factor < SLOWEST:
            raise ValueError(f'got real_time_factor {factor:g}, expected {SLOWEST:g} to 10, or '
                             f'0 with lockstep')
        return self

    @field_validator('output')
    @classmethod
    def _is_on_one_line(cls, text: str) -> str:
        return path_on_one_line(text)

    @field_validator('shard')
    @classmethod
    def _is_one_of_them(cls, text: str) -> str:
        found = _SHARD.fullmatch(text or '1/1')
        if found is None:
            raise ValueError(f'got {text!r}, expected PART/PARTS, such as 3/8')
        if int(found[1]) > int(found[2]):
            raise ValueError(f'got {text}, expected a part from 1 to {found[2]}')
        return text

    @model_validator(mode='after')
    def _has_a_junit_output(self) -> 'RunSettings':
        if self.junit and 'junit' not in self.outputs:
            raise ValueError(f'got junit {self.junit} with the outputs '
                             f'{", ".join(self.outputs) or "none"}, expected junit among them')
        return self

    @model_validator(mode='after')
    def _check_rendering(self) -> 'RunSettings':
        if self.live_topics == 'on' and self.link != 'ros':
            raise ValueError(f'got live_topics on with link {self.link}, expected link ros: there '
                             f'are no topics without it')
        return self

    @property
    def keeps_controller(self) -> bool:
        """Return whether a trial may depend on those of its scenario that were run before it."""
        return self.keep_controller or self.warmup > 0

    @property
    def is_chosen(self) -> bool:
        """Return whether its trials were named one by one, perhaps by what they had come to."""
        return bool(self.only) and not self.design

    def seeded(self) -> Self:
        """Return the same settings with a seed: a fresh one, unless one was asked for."""
        return self if self.seed != FRESH else self.model_copy(update={'seed': fresh_seed()})

    def command(self, profile: Profile | None = None) -> str:
        """
        Return the command line that runs the same campaign again, but for where its files go.

        Scenarios and controllers that are objects of a Python program are in it by their names.

        :param profile: that the settings name, whose values need not be said
        """
        words = ['safety-scenarios', 'run', *self.scenarios]
        below = dict(flat(RunSettings().model_dump() | (profile.model_dump() if profile else {})))
        for name, value in flat(self.model_dump()):
            if name.partition('.')[0] not in _NOT_REPEATED and below.get(name) != value:
                words += _words(name, value)
        return shlex.join(words)

    @property
    def names(self) -> RosNames:
        """Return what topics and services are called after namespace and remapping."""
        return RosNames(self.namespace, self.remap, self.role_names.roles)

    @property
    def judged_by(self) -> 'JudgedBy':
        """Return what the verdict of a trial depends on beside its record."""
        return JudgedBy(gate=self.gate, words=self.words, subject=self.subject)


class EvaluatorSettings(RunSettings):
    """One evaluator process, as ``evaluator_node`` runs it."""

    autostart: bool = True
    """Configure and activate the node at once, and end with the exit code of the campaign; false:
    transitions of the managed node lifecycle_evaluator_node do so (doc/reference/ros.md)."""

    @property
    def campaign(self) -> RunSettings:
        """Return the settings of the campaign alone."""
        return RunSettings.model_validate(self.model_dump(exclude={'autostart'}))


class JudgedBy(Noun):
    """What the verdict of a trial depends on beside its record."""

    gate: LimitName = 'critical'
    words: Words = 'judge'
    subject: Subject = 'model'


DEFAULT_ROBOT = RobotModel(kind='mobile_base', max_speed=1.0)
"""The robot where a scenario has none."""


class ControllerContext(Noun):
    """What every controller is told, whatever its own parameters: its robot and its interface."""

    controller: str = 'rule_based'
    """Name of the controller plug-in."""
    robot: RobotModel = DEFAULT_ROBOT
    period_ms: float = Field(default=50.0, ge=1, le=10_000, json_schema_extra={'unit': 'ms'})
    """Command period (ms)."""
    command_topic: str = ''
    """Topic to command on; empty: that of the kind of robot, such as cmd_vel for a base."""
    command_type: str = Field(default='', pattern=r'^([A-Za-z]\w*/msg/[A-Za-z]\w*)?$')
    """Interface type of the commands; empty: that of the kind of robot, such as Twist."""

    shown_topics: tuple[str, ...] = ()
    """What the scenario shows, each as topic:type: a controller that listens to scan hears a
    LaserScan on front/scan, if nothing else can be meant. Empty: only topics of the same name."""

    @property
    def robot_kind(self) -> RobotKind:
        """Return what its robot can be asked: stop, speeds, axes."""
        return kind_of(self.robot)

    @property
    def topic(self) -> str:
        return self.command_topic or self.robot_kind.command_topic

    @property
    def interface(self) -> str:
        """Return the interface type of the commands."""
        return self.command_type or self.robot_kind.command_types[0]


class ControllerSettings(ControllerContext):
    """One controller process, as ``controller_node`` runs it."""

    controller_parameters: tuple[str, ...] = ()
    """Parameters of the controller plug-in as KEY=VALUE, such as stop_distance_m=1.0."""
    agent: str = Field(default='', max_length=80, pattern=r'^([A-Za-z][A-Za-z0-9_]*)?$')
    """Agent that the controller plays, as one ROS name: it hears agents/<agent>/in and speaks on
    agents/<agent>/out; empty: none."""
    drives: bool = True
    """Listen to sensors and command; false for one that only talks."""
    responder: bool = True
    """Answer clock probes, so that latencies can be split between controller and transport."""
    schedule_clock: ScheduleClock = 'steady'
    """Clock of the command period, and of whatever else a controller plug-in reckons with: steady,
    or ros with use_sim_time, where a simulator makes the time."""
    best_effort: tuple[str, ...] = ()
    """Full names of topics that are published with best effort, and so received."""
    simulated_robot: str = Field(default='', max_length=100_000)
    """Robot whose state the node publishes beside the commands, as JSON; set by an evaluator that
    has no robot. Empty: none."""
    exit_with_stdin: bool = False
    """End when standard input closes; for a parent that must not leave it behind."""


_NOT_REPEATED = ('scenarios', 'design', 'output', 'outputs', 'console', 'junit', 'jobs', 'shard',
                 'engine', 'ray')


_FLAGS = {dotted: '--' + name.replace('_', '-') for name, dotted in SHORT_NAMES.items()
          if name not in NO_OPTIONS}


def _words(name: str, value: Any) -> list[str]:
    """Return the words of the command line that set a value."""
    if name == 'controller_parameters':
        return [word for text in value for word in ('--set', f'controller.{text}')]
    if name in _FLAGS:
        return [word for one in (value if isinstance(value, tuple) else (value,))
                for word in (_FLAGS[name], str(one))]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return ['--set', f'{name}={text}']


def leaves(model: type[BaseModel], prefix: tuple[str, ...] = ()) -> \
        Iterator[tuple[tuple[str, ...], FieldInfo]]:
    """Yield (path, field) for every single setting, also of models inside ``model``."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if not is_given(field):
            continue
        if issubclass(model, Profile) and get_origin(inner) is Mapping:
            continue  # its names are those of its keys
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            chosen: Any = field.get_default(call_default_factory=True)
            for path, leaf in leaves(inner, (*prefix, name)):
                own = FieldInfo.merge_field_infos(leaf)
                value = chosen
                for step in path[len(prefix) + 1:]:
                    value = getattr(value, step)
                own.default = value
                yield path, own
        else:
            yield (*prefix, name), field


class MonitorSettings(Noun):
    """What a ``monitor_node`` watches, and what it keeps of what it finds."""

    profile: str = Field(default='', max_length=1000)
    """Profile of the robot, which says what it calls the topics: a YAML file, or the name of a
    shipped one (doc/reference/profile.md); empty: the names of the monitor file."""
    file: str = ''
    """Monitor file: a scenario file with monitor: true under ros (doc/manual/hardware.md)."""
    output: str = ''
    """Folder for the findings, new or empty; empty: runs/monitor-<UTC time>."""
    window_s: float = Field(default=3.0, ge=0.2, le=60)
    """How much of the past each verdict is about (s)."""
    before_s: float = Field(default=10.0, ge=0.2, le=300)
    """How much of the past is kept in the record of a finding (s); at least the window."""
    after_s: float = Field(default=5.0, ge=0, le=300)
    """How long the record of a finding goes on after it (s)."""
    stale_after_s: float = Field(default=1.0, ge=0.05, le=3600)
    """A topic that is silent for longer is reported as STALE (s)."""
    period_ms: float = Field(default=20.0, ge=5, le=1000)
    """How often everything is judged, if the processor can (ms)."""
    max_findings: int = Field(default=100, ge=1, le=100_000)
    """Most findings of which a record is kept; later ones are counted and reported only."""
    max_record_mb: float = Field(default=20.0, ge=0.1, le=2000)
    """Most memory that the events of one record take (MB); a longer one is cut after the finding,
    and its part before the judged window is shortened."""
    max_memory_mb: float = Field(default=100.0, ge=1, le=8000)
    """Most memory that the events of the judged window take (MB); beyond it nothing passes."""
    namespace: str = Field(default='', pattern=r'^/?([A-Za-z_]\w*(/[A-Za-z_]\w*)*)?$')
    """ROS namespace of the topics."""
    node_name: str = Field(default='monitor_node', max_length=200, pattern=r'^[A-Za-z_]\w*$')
    """Name of the node."""
    use_sim_time: bool = False
    """Take ROS time from /clock, which must run at 0.9 to 1.1 of real time."""
