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
        'person': 'stimuli.bodies:Person',
        'obstacle': 'stimuli.bodies:Obstacle',
        'vehicle': 'stimuli.bodies:Vehicle',
        'contact': 'stimuli.bodies:Contact',
        'sensor_fault': 'stimuli.faults:SensorFault',
        'link_loss': 'stimuli.faults:LinkLoss',
        'command_fault': 'stimuli.faults:CommandFault',
        'prompt': 'stimuli.messages:Prompt',
        'probe': 'stimuli.messages:Probe',
        'message': 'stimuli.messages:RawMessage',
        'recorded': 'stimuli.messages:Recorded',
    },
    'intents': {
        'person_at': 'stimuli.bodies:PersonAt',
        'obstacle_at': 'stimuli.bodies:ObstacleAt',
        'vehicle_at': 'stimuli.bodies:VehicleAt',
        'contact_force': 'scenario.stimulus:ContactForce',
        'stream_fault': 'scenario.stimulus:StreamFault',
        'joints_at': 'scenario.stimulus:JointsAt',
        'silence': 'scenario.stimulus:Silence',
        'says': 'scenario.stimulus:Says',
    },
    'invariants': {
        'text': 'judging.invariants.text:Text',
        'text_in_python': 'judging.invariants.text:TextInPython',
        'judge': 'judging.invariants.statements:Judge',
        'bound': 'judging.invariants.limits:Bound',
        'stop': 'judging.invariants.stop:Stop',
        'liveness': 'judging.invariants.command_stream:Liveness',
        'slow': 'judging.invariants.stop:Slow',
        'separation': 'judging.invariants.collaboration:Separation',
        'zone': 'judging.invariants.zone:Zone',
        'limits': 'judging.invariants.limits:Limits',
        'fresh': 'judging.invariants.command_stream:Fresh',
        'force': 'judging.invariants.collaboration:Force',
        'say_do': 'judging.invariants.statements:SayDo',
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
        'creeps_below_threshold': 'controllers.saboteurs.motion:CreepsBelowThreshold',
        'ramps_too_slowly': 'controllers.saboteurs.motion:RampsTooSlowly',
        'ramps_to_a_plateau': 'controllers.saboteurs.motion:RampsToAPlateau',
        'stops_then_turns': 'controllers.saboteurs.motion:StopsThenTurns',
        'stops_while_looked_at': 'controllers.saboteurs.motion:StopsWhileLookedAt',
        'pulses': 'controllers.saboteurs.motion:Pulses',
        'swings': 'controllers.saboteurs.motion:Swings',
        'trembles': 'controllers.saboteurs.motion:Trembles',
        'one_joint_goes_on': 'controllers.saboteurs.motion:OneJointContinues',
        'one_joint_creeps': 'controllers.saboteurs.motion:OneJointCreeps',
        'only_one_joint_stops': 'controllers.saboteurs.motion:OnlyOneJointStops',
        'joints_take_turns': 'controllers.saboteurs.motion:JointsTakeTurns',
        'races': 'controllers.saboteurs.motion:Races',
        'circles': 'controllers.saboteurs.motion:Circles',
        'circles_afterwards': 'controllers.saboteurs.motion:CirclesAfterwards',
        'accelerates_at_hazard': 'controllers.saboteurs.motion:AcceleratesAtHazard',
        'oscillates': 'controllers.saboteurs.motion:ToAndFro',
        'swerves_at_people': 'controllers.saboteurs.motion:SwervesAtPeople',
        'ramp_down': 'controllers.saboteurs.motion:RampDown',
        'weaves_slowly': 'controllers.saboteurs.motion:WeavesSlowly',
        'stops_once': 'controllers.saboteurs.dialogue:StopsOnce',
        'twitches': 'controllers.saboteurs.dialogue:Twitches',
        'impatient': 'controllers.saboteurs.dialogue:Impatient',
        'creeps_off': 'controllers.saboteurs.dialogue:CreepsOff',
        'sets_out_only': 'controllers.saboteurs.dialogue:SetsOutOnly',
        'jerks': 'controllers.saboteurs.dialogue:Jerks',
        'takes_back': 'controllers.saboteurs.dialogue:TakesBack',
        'lets_go_late': 'controllers.saboteurs.dialogue:LetsGoLate',
        'wrong_argument': 'controllers.saboteurs.dialogue:WrongArgument',
        'no_argument': 'controllers.saboteurs.dialogue:NoArgument',
        'nan': 'controllers.saboteurs.command_streams:NotANumber',
        'over_speed': 'controllers.saboteurs.command_streams:OverSpeed',
        'elsewhere': 'controllers.saboteurs.command_streams:Elsewhere',
        'jitter': 'controllers.saboteurs.command_streams:Jitter',
        'reverse': 'controllers.saboteurs.command_streams:Reverse',
        'gap': 'controllers.saboteurs.command_streams:Gap',
        'flood': 'controllers.saboteurs.command_streams:Flood',
        'wrong_joint': 'controllers.saboteurs.command_streams:WrongJoint',
        'leap': 'controllers.saboteurs.command_streams:Leap',
        'header_copier': 'controllers.saboteurs.command_streams:HeaderCopier',
        'empty_trajectory': 'controllers.saboteurs.command_streams:EmptyTrajectory',
        'foreign_joints': 'controllers.saboteurs.command_streams:ForeignJoints',
        'one_joint': 'controllers.saboteurs.command_streams:OneJoint',
        'in_half_a_minute': 'controllers.saboteurs.command_streams:InHalfAMinute',
        'starts_later': 'controllers.saboteurs.command_streams:StartsLater',
        'ends_moving': 'controllers.saboteurs.command_streams:EndsMoving',
        'times_fall_back': 'controllers.saboteurs.command_streams:TimesFallBack',
        'names_twice': 'controllers.saboteurs.command_streams:NamesTwice',
        'no_positions': 'controllers.saboteurs.command_streams:NoPositions',
        'past_trajectory': 'controllers.saboteurs.command_streams:PastTrajectory',
        'short_array': 'controllers.saboteurs.command_streams:ShortArray',
        'long_array': 'controllers.saboteurs.command_streams:LongArray',
        'stale_stamp': 'controllers.saboteurs.command_streams:StaleStamp',
        'nan_stop': 'controllers.saboteurs.command_streams:NotANumberStop',
        'blind_clock': 'controllers.saboteurs.perception:BlindClock',
        'blind_counter': 'controllers.saboteurs.perception:BlindCounter',
        'random': 'controllers.saboteurs.perception:RandomPolicy',
        'startles': 'controllers.saboteurs.perception:Startles',
        'stutters': 'controllers.saboteurs.perception:Stutters',
        'assumes_forward_scan': 'controllers.saboteurs.perception:AssumesForwardScan',
        'reads_fixed_ray_indices': 'controllers.saboteurs.perception:ReadsFixedRayIndices',
        'ignores_frames': 'controllers.saboteurs.perception:IgnoresFrames',
        'ignores_one_sensor': 'controllers.saboteurs.perception:IgnoresOneSensor',
        'trusts_any_live_sensor': 'controllers.saboteurs.perception:TrustsAnyLiveSensor',
        'ignores_lateral_force': 'controllers.saboteurs.perception:IgnoresLateralForce',
        'ignores_pull': 'controllers.saboteurs.perception:IgnoresPull',
        'ignores_approach': 'controllers.saboteurs.perception:IgnoresApproach',
        'deaf_at_the_start': 'controllers.saboteurs.perception:DeafAtTheStart',
        'never_resumes': 'controllers.saboteurs.perception:NeverResumes',
        'resumes_after_13_s': 'controllers.saboteurs.perception:ResumesAfter13s',
        'startles_late': 'controllers.saboteurs.perception:StartlesLate',
        'stops_at_any_approach': 'controllers.saboteurs.perception:StopsAtAnyApproach',
        'stops_at_large_changes': 'controllers.saboteurs.perception:StopsAtLargeChanges',
        'stops_for_anything_near': 'controllers.saboteurs.perception:StopsForAnythingNear',
        'stops_for_one_sensor': 'controllers.saboteurs.perception:StopsForOneSensor',
    },
    'policies': {
        'onnx': 'controllers.policies.model_files:OnnxModel',
        'openpi': 'controllers.policies.servers.websocket:OpenpiModel',
        'act': 'controllers.policies.servers.request_reply:ActModel',
        'gr00t': 'controllers.policies.servers.request_reply:Gr00tModel',
        'lerobot': 'controllers.policies.servers.lerobot:LeRobotModel',
        'xpolicylab': 'controllers.policies.servers.websocket:XPolicyLabModel',
        'python': 'controllers.policies.python_models:PythonModel',
        'inspect-robots': 'controllers.policies.python_models:InspectRobotsModel',
        'torchscript': 'controllers.policies.model_files:TorchScriptModel',
        'torch': 'controllers.policies.model_files:TorchModel',
    },
    'robots': {
        'mobile_base': 'scenario.robot_kind:MobileBase',
        'arm': 'scenario.robot_kind:Arm',
    },
    'drivers': {
        'diff_drive': 'judging.drivers.wheeled:DiffDrive',
        'omni': 'judging.drivers.wheeled:Omni',
        'ackermann': 'judging.drivers.wheeled:Ackermann',
        'joint_trajectory': 'judging.drivers.joint_trajectory:JointTrajectory',
        'forward_command': 'judging.drivers.forwarding:ForwardCommand',
        'joint_velocity': 'judging.drivers.forwarding:JointVelocity',
        'none': 'judging.drivers.forwarding:Unknown',
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
        'rrd': 'trial.rrd:RrdRecording',
    },
    'outputs': {
        'page': 'reports.outputs.report:page',
        'console': 'reports.live.screen:console',
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
