# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From a plug-in's name to its class; of a format, to its module.

A built-in is one line in the table below; another package adds its own through the entry-point
group ``safety_scenarios.<kind>``. Nothing is imported until it is named.
"""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from safety_scenarios.errors import missing_ros, UnknownPluginError

_HERE = __name__.rpartition('.')[0]

BUILT_IN: dict[str, dict[str, str]] = {
    'stimuli': {
        'person': 'stimuli.person:Person',
        'obstacle': 'stimuli.obstacle:Obstacle',
        'vehicle': 'stimuli.vehicle:Vehicle',
        'contact': 'stimuli.contact:Contact',
        'sensor_fault': 'stimuli.faults:SensorFault',
        'link_loss': 'stimuli.faults:LinkLoss',
        'command_fault': 'stimuli.faults:CommandFault',
        'prompt': 'stimuli.message:Prompt',
        'probe': 'stimuli.message:Probe',
        'message': 'stimuli.message:RawMessage',
        'recorded': 'stimuli.recorded:Recorded',
    },
    'intents': {
        'person_at': 'stimuli.person:PersonAt',
        'obstacle_at': 'stimuli.obstacle:ObstacleAt',
        'vehicle_at': 'stimuli.vehicle:VehicleAt',
        'contact_force': 'scenario.intent:ContactForce',
        'stream_fault': 'scenario.intent:StreamFault',
        'joints_at': 'scenario.intent:JointsAt',
        'silence': 'scenario.intent:Silence',
        'says': 'scenario.intent:Says',
    },
    'invariants': {
        'text': 'judging.invariants.text:Text',
        'text_in_python': 'judging.invariants.text:TextInPython',
        'judge': 'judging.invariants.judge:Judge',
        'bound': 'judging.invariants.limits:Bound',
        'stop': 'judging.invariants.stop:Stop',
        'liveness': 'judging.invariants.command_stream:Liveness',
        'slow': 'judging.invariants.stop:Slow',
        'separation': 'judging.invariants.separation:Separation',
        'zone': 'judging.invariants.zone:Zone',
        'limits': 'judging.invariants.limits:Limits',
        'fresh': 'judging.invariants.command_stream:Fresh',
        'force': 'judging.invariants.force:Force',
        'say_do': 'judging.invariants.say_do:SayDo',
        'no_spurious_stop': 'judging.invariants.no_stop:NoSpuriousStop',
        'defer': 'judging.invariants.no_stop:Defer',
        'no_contact': 'judging.invariants.world_task:NoContact',
        'keeps_course': 'judging.invariants.world_task:KeepsCourse',
        'reaches_goal': 'judging.invariants.world_task:ReachesGoal',
        'temporal': 'judging.invariants.temporal:Temporal',
        'are_calls': 'judging.invariants.are_expectations:AreCalls',
        'says': 'judging.invariants.are_expectations:Says',
        'says_in_turn': 'judging.invariants.are_expectations:SaysInTurn',
        'not_checked': 'judging.invariants.are_expectations:NotChecked',
    },
    'controllers': {
        'rule_based': 'controllers.rule_based:RuleBased',
        'stop_trajectory': 'controllers.rule_based:StopTrajectory',
        'learned': 'controllers.policies.learned:Learned',
        'llm': 'controllers.llm:LanguageModel',
        'silent': 'controllers.saboteurs.reactions:Silent',
        'late': 'controllers.saboteurs.reactions:Late',
        'always_stop': 'controllers.saboteurs.reactions:AlwaysStop',
        'never_stop': 'controllers.saboteurs.reactions:NeverStop',
        'parrot': 'controllers.saboteurs.reactions:Parrot',
        'repeat_last': 'controllers.saboteurs.reactions:RepeatLast',
        'resume_early': 'controllers.saboteurs.reactions:ResumeEarly',
        'slow_creep': 'controllers.saboteurs.reactions:SlowCreep',
        'spurious_stop': 'controllers.saboteurs.reactions:SpuriousStop',
        'stale': 'controllers.saboteurs.reactions:Stale',
        'say_not_do': 'controllers.saboteurs.reactions:SayNotDo',
        'negates_words': 'controllers.saboteurs.dialogue:Negates',
        'quotes_words': 'controllers.saboteurs.dialogue:Quotes',
        'on_condition': 'controllers.saboteurs.dialogue:OnCondition',
        'was_kidding': 'controllers.saboteurs.dialogue:WasKidding',
        'asks_back': 'controllers.saboteurs.dialogue:AsksBack',
        'hides_words': 'controllers.saboteurs.dialogue:HidesWords',
        'look_alikes': 'controllers.saboteurs.dialogue:LookAlikes',
        'spells_out': 'controllers.saboteurs.dialogue:SpellsOut',
        'echoes_prompt': 'controllers.saboteurs.dialogue:EchoesPrompt',
        'says_once_did': 'controllers.saboteurs.dialogue:SaysOnceDid',
        'blank': 'controllers.saboteurs.reactions:Blank',
        'yields': 'controllers.saboteurs.dialogue:Yields',
        'trusts_anyone': 'controllers.saboteurs.dialogue:TrustsAnyone',
        'oversteps': 'controllers.saboteurs.dialogue:Oversteps',
        'obeys_answers': 'controllers.saboteurs.dialogue:ObeysAnswers',
        'calls_all_tools': 'controllers.saboteurs.dialogue:CallsAllTools',
        'refuses': 'controllers.saboteurs.dialogue:Refuses',
        'spins_on_the_spot': 'controllers.saboteurs.motion:SpinsOnTheSpot',
        'spins_while_driving': 'controllers.saboteurs.motion:SpinsWhileDriving',
        'drives_backwards': 'controllers.saboteurs.motion:DrivesBackwards',
        'backs_off': 'controllers.saboteurs.motion:BacksOff',
        'drives_sideways': 'controllers.saboteurs.motion:DrivesSideways',
        'brakes_late': 'controllers.saboteurs.motion:BrakesLate',
        'slides_sideways': 'controllers.saboteurs.motion:SlidesSideways',
        'creeps': 'controllers.saboteurs.motion:CreepsBelowTheLimit',
        'creeps_backwards': 'controllers.saboteurs.motion:CreepsBackwards',
        'creeps_round': 'controllers.saboteurs.motion:CreepsRound',
        'seeps': 'controllers.saboteurs.motion:Seeps',
        'ramps_too_slowly': 'controllers.saboteurs.motion:RampsTooSlowly',
        'ramps_to_a_plateau': 'controllers.saboteurs.motion:RampsToAPlateau',
        'stops_then_turns': 'controllers.saboteurs.motion:StopsThenTurns',
        'stops_while_looked_at': 'controllers.saboteurs.motion:StopsWhileLookedAt',
        'pulses': 'controllers.saboteurs.motion:Pulses',
        'swings': 'controllers.saboteurs.motion:Swings',
        'trembles': 'controllers.saboteurs.motion:Trembles',
        'one_joint_goes_on': 'controllers.saboteurs.motion:OneJointGoesOn',
        'one_joint_creeps': 'controllers.saboteurs.motion:OneJointCreeps',
        'only_one_joint_stops': 'controllers.saboteurs.motion:OnlyOneJointStops',
        'joints_take_turns': 'controllers.saboteurs.motion:JointsTakeTurns',
        'races': 'controllers.saboteurs.motion:Races',
        'circles': 'controllers.saboteurs.motion:Circles',
        'circles_afterwards': 'controllers.saboteurs.motion:CirclesAfterwards',
        'accelerates_at_hazard': 'controllers.saboteurs.motion:AcceleratesAtHazard',
        'to_and_fro': 'controllers.saboteurs.motion:ToAndFro',
        'swerves_at_people': 'controllers.saboteurs.motion:SwervesAtPeople',
        'ramp_down': 'controllers.saboteurs.motion:RampDown',
        'weaves_slowly': 'controllers.saboteurs.motion:WeavesSlowly',
        'stops_once': 'controllers.saboteurs.inconsistent:StopsOnce',
        'twitches': 'controllers.saboteurs.inconsistent:Twitches',
        'impatient': 'controllers.saboteurs.inconsistent:Impatient',
        'creeps_off': 'controllers.saboteurs.inconsistent:CreepsOff',
        'sets_out_only': 'controllers.saboteurs.inconsistent:SetsOutOnly',
        'jerks': 'controllers.saboteurs.inconsistent:Jerks',
        'takes_back': 'controllers.saboteurs.inconsistent:TakesBack',
        'lets_go_late': 'controllers.saboteurs.inconsistent:LetsGoLate',
        'wrong_argument': 'controllers.saboteurs.inconsistent:WrongArgument',
        'no_argument': 'controllers.saboteurs.inconsistent:NoArgument',
        'nan': 'controllers.saboteurs.streams:NotANumber',
        'over_speed': 'controllers.saboteurs.streams:OverSpeed',
        'elsewhere': 'controllers.saboteurs.streams:Elsewhere',
        'jitter': 'controllers.saboteurs.streams:Jitter',
        'reverse': 'controllers.saboteurs.streams:Reverse',
        'gap': 'controllers.saboteurs.streams:Gap',
        'flood': 'controllers.saboteurs.streams:Flood',
        'wrong_joint': 'controllers.saboteurs.streams:WrongJoint',
        'leap': 'controllers.saboteurs.streams:Leap',
        'header_copier': 'controllers.saboteurs.streams:HeaderCopier',
        'empty_trajectory': 'controllers.saboteurs.driver:EmptyTrajectory',
        'foreign_joints': 'controllers.saboteurs.driver:ForeignJoints',
        'one_joint': 'controllers.saboteurs.driver:OneJoint',
        'in_half_a_minute': 'controllers.saboteurs.driver:InHalfAMinute',
        'starts_later': 'controllers.saboteurs.driver:StartsLater',
        'ends_moving': 'controllers.saboteurs.driver:EndsMoving',
        'times_fall_back': 'controllers.saboteurs.driver:TimesFallBack',
        'names_twice': 'controllers.saboteurs.driver:NamesTwice',
        'no_positions': 'controllers.saboteurs.driver:NoPositions',
        'past_trajectory': 'controllers.saboteurs.driver:PastTrajectory',
        'short_array': 'controllers.saboteurs.driver:ShortArray',
        'long_array': 'controllers.saboteurs.driver:LongArray',
        'stale_stamp': 'controllers.saboteurs.driver:StaleStamp',
        'nan_stop': 'controllers.saboteurs.driver:NotANumberStop',
        'blind_clock': 'controllers.saboteurs.blind:BlindClock',
        'blind_counter': 'controllers.saboteurs.blind:BlindCounter',
        'random': 'controllers.saboteurs.blind:RandomPolicy',
        'startles': 'controllers.saboteurs.blind:Startles',
        'stutters': 'controllers.saboteurs.blind:Stutters',
        'assumes_forward_scan': 'controllers.saboteurs.sensing:AssumesForwardScan',
        'reads_fixed_ray_indices': 'controllers.saboteurs.sensing:ReadsFixedRayIndices',
        'ignores_frames': 'controllers.saboteurs.sensing:IgnoresFrames',
        'ignores_one_sensor': 'controllers.saboteurs.sensing:IgnoresOneSensor',
        'trusts_any_live_sensor': 'controllers.saboteurs.sensing:TrustsAnyLiveSensor',
        'ignores_lateral_force': 'controllers.saboteurs.sensing:IgnoresLateralForce',
        'ignores_pull': 'controllers.saboteurs.sensing:IgnoresPull',
        'ignores_approach': 'controllers.saboteurs.sensing:IgnoresApproach',
        'deaf_at_the_start': 'controllers.saboteurs.shortcuts:DeafAtTheStart',
        'never_resumes': 'controllers.saboteurs.shortcuts:NeverResumes',
        'resumes_after_13_s': 'controllers.saboteurs.shortcuts:ResumesAfter13s',
        'startles_late': 'controllers.saboteurs.shortcuts:StartlesLate',
        'stops_at_any_approach': 'controllers.saboteurs.shortcuts:StopsAtAnyApproach',
        'stops_at_large_changes': 'controllers.saboteurs.shortcuts:StopsAtLargeChanges',
        'stops_for_one_sensor': 'controllers.saboteurs.shortcuts:StopsForOneSensor',
    },
    'policies': {
        'onnx': 'controllers.policies.onnx_model:OnnxModel',
        'openpi': 'controllers.policies.servers.openpi:OpenpiModel',
        'act': 'controllers.policies.servers.act:ActModel',
        'gr00t': 'controllers.policies.servers.gr00t:Gr00tModel',
        'lerobot': 'controllers.policies.servers.lerobot:LeRobotModel',
        'xpolicylab': 'controllers.policies.servers.xpolicylab:XPolicyLabModel',
        'python': 'controllers.policies.python_model:PythonModel',
        'inspect-robots': 'controllers.policies.inspect_robots_model:InspectRobotsModel',
        'torchscript': 'controllers.policies.torch_model:TorchScriptModel',
        'torch': 'controllers.policies.torch_model:TorchModel',
    },
    'robots': {
        'mobile_base': 'scenario.robots.mobile_base:MobileBase',
        'arm': 'scenario.robots.arm:Arm',
    },
    'drivers': {
        'diff_drive': 'judging.drivers.wheeled:DiffDrive',
        'omni': 'judging.drivers.wheeled:Omni',
        'ackermann': 'judging.drivers.wheeled:Ackermann',
        'joint_trajectory': 'judging.drivers.joint_trajectory:JointTrajectory',
        'forward_command': 'judging.drivers.joint_groups:ForwardCommand',
        'joint_velocity': 'judging.drivers.joint_groups:JointVelocity',
        'none': 'judging.drivers.unknown:Unknown',
    },
    'links': {
        'ros': 'ros.session:OverRos',
        'loopback': 'trial.links.loopback_session:Loopback',
        'simulated': 'trial.links.loopback_session:Simulated',
    },
    'formats': {
        'scenario_yaml': 'formats.scenario_yaml.reader',
        'are_json': 'are.scenarios.reader',
        'agent_spec': 'formats.agents.reader',
        'lostbench': 'formats.lostbench',
    },
    'traces': {
        'are': 'campaign.folder.files:AreTrace',
        'mcap': 'trial.mcap.recording:McapRecording',
        'rrd': 'trial.rrd.recording:RrdRecording',
    },
    'outputs': {
        'page': 'reports.outputs.report:page',
        'console': 'reports.live.progress:console',
        'live': 'reports.live.screen:live',
        'junit': 'reports.ci:junit',
        'step_summary': 'reports.ci:step_summary',
    },
    'bags': {
        'rosbag2': 'trial.mcap.played_bag:read_recording',
    },
}


def names(kind: str) -> dict[str, str]:
    """
    Return every known plug-in of a kind: name to ``module:Class``, of a format to ``module``.

    Built-ins come first, in the order of the table; then the others by their names.

    :param kind: ``stimuli``, ``intents``, ``invariants``, ``controllers``, ``policies``,
        ``robots``, ``drivers``, ``links``, ``formats``; ``bags``, whose plug-ins are functions
        that read one; ``traces``, whose plug-ins take a ``TraceContext`` and are observers; or
        ``outputs``, whose plug-ins take an ``OutputContext`` and are context managers that give
        observers
    """
    known = {name: f'{_HERE}.{target}' for name, target in BUILT_IN[kind].items()}
    for name, target in sorted(_entries(kind)):
        known.setdefault(name, target)
    return known


@cache
def _entries(kind: str) -> tuple[tuple[str, str], ...]:
    """Return what other packages add; read once, because it means to search the whole disk."""
    return tuple((entry.name, entry.value)
                 for entry in entry_points(group=f'safety_scenarios.{kind}'))


def is_known(kind: str, name: str) -> bool:
    """Return whether a plug-in has this name; other packages are not asked for a built-in one."""
    return name in BUILT_IN[kind] or name in names(kind)


def resolve(kind: str, name: str) -> Any:
    """
    Import a plug-in.

    :raises UnknownPluginError: no such name; the message lists the known ones
    :raises MissingDependencyError: it needs ROS, and there is none here
    """
    if not is_known(kind, name):
        raise UnknownPluginError(kind, name, names(kind))
    own = BUILT_IN[kind].get(name)
    target = names(kind)[name] if own is None else f'{_HERE}.{own}'
    module, _, attribute = target.partition(':')
    try:
        imported = import_module(module)
    except ImportError as error:
        if not module.startswith(f'{_HERE}.ros.'):
            raise
        raise missing_ros(error, 'running over ROS 2', '; or try --link loopback') from error
    return getattr(imported, attribute) if attribute else imported
