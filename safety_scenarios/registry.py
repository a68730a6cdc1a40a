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
        'sensor_fault': 'stimuli.sensor_fault:SensorFault',
        'link_loss': 'stimuli.link_loss:LinkLoss',
        'command_fault': 'stimuli.command_fault:CommandFault',
        'prompt': 'stimuli.prompt:Prompt',
        'probe': 'stimuli.probe:Probe',
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
        'text_in_python': 'judging.invariants.text_in_python:TextInPython',
        'judge': 'judging.invariants.judge:Judge',
        'bound': 'judging.invariants.bound:Bound',
        'stop': 'judging.invariants.stop:Stop',
        'liveness': 'judging.invariants.liveness:Liveness',
        'slow': 'judging.invariants.slow:Slow',
        'separation': 'judging.invariants.separation:Separation',
        'zone': 'judging.invariants.zone:Zone',
        'limits': 'judging.invariants.limits:Limits',
        'fresh': 'judging.invariants.fresh:Fresh',
        'force': 'judging.invariants.force:Force',
        'say_do': 'judging.invariants.say_do:SayDo',
        'no_spurious_stop': 'judging.invariants.no_spurious_stop:NoSpuriousStop',
        'defer': 'judging.invariants.defer:Defer',
        'no_contact': 'judging.invariants.no_contact:NoContact',
        'keeps_course': 'judging.invariants.keeps_course:KeepsCourse',
        'reaches_goal': 'judging.invariants.reaches_goal:ReachesGoal',
        'temporal': 'judging.invariants.temporal:Temporal',
        'are_calls': 'judging.invariants.are_calls:AreCalls',
        'says': 'judging.invariants.says:Says',
        'says_in_turn': 'judging.invariants.says:SaysInTurn',
        'not_checked': 'judging.invariants.not_checked:NotChecked',
    },
    'controllers': {
        'rule_based': 'controllers.rule_based:RuleBased',
        'stop_trajectory': 'controllers.stop_trajectory:StopTrajectory',
        'llm': 'controllers.llm:LanguageModel',
        'silent': 'controllers.saboteurs:Silent',
        'late': 'controllers.saboteurs:Late',
        'always_stop': 'controllers.saboteurs:AlwaysStop',
        'never_stop': 'controllers.saboteurs:NeverStop',
        'parrot': 'controllers.saboteurs:Parrot',
        'repeat_last': 'controllers.saboteurs:RepeatLast',
        'resume_early': 'controllers.saboteurs:ResumeEarly',
        'slow_creep': 'controllers.saboteurs:SlowCreep',
        'spurious_stop': 'controllers.saboteurs:SpuriousStop',
        'stale': 'controllers.saboteurs:Stale',
        'say_not_do': 'controllers.saboteurs:SayNotDo',
        'negates_words': 'controllers.word_saboteurs:Negates',
        'quotes_words': 'controllers.word_saboteurs:Quotes',
        'on_condition': 'controllers.word_saboteurs:OnCondition',
        'was_kidding': 'controllers.word_saboteurs:WasKidding',
        'asks_back': 'controllers.word_saboteurs:AsksBack',
        'hides_words': 'controllers.word_saboteurs:HidesWords',
        'look_alikes': 'controllers.word_saboteurs:LookAlikes',
        'spells_out': 'controllers.word_saboteurs:SpellsOut',
        'echoes_prompt': 'controllers.word_saboteurs:EchoesPrompt',
        'says_once_did': 'controllers.word_saboteurs:SaysOnceDid',
        'blank': 'controllers.saboteurs:Blank',
        'yields': 'controllers.agents_saboteurs:Yields',
        'trusts_anyone': 'controllers.agents_saboteurs:TrustsAnyone',
        'oversteps': 'controllers.agents_saboteurs:Oversteps',
        'refuses': 'controllers.agents_saboteurs:Refuses',
        'spins_on_the_spot': 'controllers.motion_saboteurs:SpinsOnTheSpot',
        'spins_while_driving': 'controllers.motion_saboteurs:SpinsWhileDriving',
        'drives_backwards': 'controllers.motion_saboteurs:DrivesBackwards',
        'backs_off': 'controllers.motion_saboteurs:BacksOff',
        'drives_sideways': 'controllers.motion_saboteurs:DrivesSideways',
        'brakes_late': 'controllers.motion_saboteurs:BrakesLate',
        'slides_sideways': 'controllers.motion_saboteurs:SlidesSideways',
        'creeps': 'controllers.motion_saboteurs:CreepsBelowTheLimit',
        'creeps_backwards': 'controllers.motion_saboteurs:CreepsBackwards',
        'creeps_round': 'controllers.motion_saboteurs:CreepsRound',
        'seeps': 'controllers.motion_saboteurs:Seeps',
        'ramps_too_slowly': 'controllers.motion_saboteurs:RampsTooSlowly',
        'ramps_to_a_plateau': 'controllers.motion_saboteurs:RampsToAPlateau',
        'stops_then_turns': 'controllers.motion_saboteurs:StopsThenTurns',
        'stops_while_looked_at': 'controllers.motion_saboteurs:StopsWhileLookedAt',
        'pulses': 'controllers.motion_saboteurs:Pulses',
        'swings': 'controllers.motion_saboteurs:Swings',
        'trembles': 'controllers.motion_saboteurs:Trembles',
        'one_joint_goes_on': 'controllers.motion_saboteurs:OneJointGoesOn',
        'one_joint_creeps': 'controllers.motion_saboteurs:OneJointCreeps',
        'only_one_joint_stops': 'controllers.motion_saboteurs:OnlyOneJointStops',
        'joints_take_turns': 'controllers.motion_saboteurs:JointsTakeTurns',
        'races': 'controllers.motion_saboteurs:Races',
        'circles': 'controllers.motion_saboteurs:Circles',
        'to_and_fro': 'controllers.motion_saboteurs:ToAndFro',
        'ramp_down': 'controllers.motion_saboteurs:RampDown',
        'weaves_slowly': 'controllers.motion_saboteurs:WeavesSlowly',
        'stops_once': 'controllers.inconsistent:StopsOnce',
        'twitches': 'controllers.inconsistent:Twitches',
        'impatient': 'controllers.inconsistent:Impatient',
        'creeps_off': 'controllers.inconsistent:CreepsOff',
        'sets_out_only': 'controllers.inconsistent:SetsOutOnly',
        'jerks': 'controllers.inconsistent:Jerks',
        'takes_back': 'controllers.inconsistent:TakesBack',
        'lets_go_late': 'controllers.inconsistent:LetsGoLate',
        'wrong_argument': 'controllers.inconsistent:WrongArgument',
        'no_argument': 'controllers.inconsistent:NoArgument',
        'nan': 'controllers.faulty_streams:NotANumber',
        'over_speed': 'controllers.faulty_streams:OverSpeed',
        'elsewhere': 'controllers.wiring_saboteurs:Elsewhere',
        'jitter': 'controllers.faulty_streams:Jitter',
        'reverse': 'controllers.faulty_streams:Reverse',
        'gap': 'controllers.faulty_streams:Gap',
        'flood': 'controllers.faulty_streams:Flood',
        'wrong_joint': 'controllers.faulty_streams:WrongJoint',
        'leap': 'controllers.faulty_streams:Leap',
        'header_copier': 'controllers.faulty_streams:HeaderCopier',
        'empty_trajectory': 'controllers.driver_saboteurs:EmptyTrajectory',
        'foreign_joints': 'controllers.driver_saboteurs:ForeignJoints',
        'one_joint': 'controllers.driver_saboteurs:OneJoint',
        'in_half_a_minute': 'controllers.driver_saboteurs:InHalfAMinute',
        'starts_later': 'controllers.driver_saboteurs:StartsLater',
        'ends_moving': 'controllers.driver_saboteurs:EndsMoving',
        'times_fall_back': 'controllers.driver_saboteurs:TimesFallBack',
        'names_twice': 'controllers.driver_saboteurs:NamesTwice',
        'no_positions': 'controllers.driver_saboteurs:NoPositions',
        'past_trajectory': 'controllers.driver_saboteurs:PastTrajectory',
        'short_array': 'controllers.driver_saboteurs:ShortArray',
        'long_array': 'controllers.driver_saboteurs:LongArray',
        'stale_stamp': 'controllers.driver_saboteurs:StaleStamp',
        'nan_stop': 'controllers.driver_saboteurs:NotANumberStop',
        'blind_clock': 'controllers.blind:BlindClock',
        'blind_counter': 'controllers.blind:BlindCounter',
        'startles': 'controllers.blind:Startles',
        'stutters': 'controllers.blind:Stutters',
    },
    'robots': {
        'mobile_base': 'scenario.robots.mobile_base:MobileBase',
        'arm': 'scenario.robots.arm:Arm',
    },
    'drivers': {
        'diff_drive': 'judging.drivers.diff_drive:DiffDrive',
        'omni': 'judging.drivers.omni:Omni',
        'ackermann': 'judging.drivers.ackermann:Ackermann',
        'joint_trajectory': 'judging.drivers.joint_trajectory:JointTrajectory',
        'forward_command': 'judging.drivers.forward_command:ForwardCommand',
        'joint_velocity': 'judging.drivers.joint_velocity:JointVelocity',
        'none': 'judging.drivers.unknown:Unknown',
    },
    'links': {
        'ros': 'ros.session:OverRos',
        'loopback': 'trial.links.loopback_session:Loopback',
        'simulated': 'trial.links.simulated_session:Simulated',
    },
    'formats': {
        'scenario_yaml': 'formats.scenario_yaml.reader',
        'are_json': 'are.scenarios.reader',
        'agent_spec': 'formats.agents.reader',
        'lostbench': 'formats.lostbench.reader',
    },
    'traces': {
        'are': 'campaign.folder.files:AreTrace',
        'mcap': 'trial.mcap.recording:McapRecording',
    },
    'outputs': {
        'page': 'reports.outputs.report:page',
        'console': 'reports.live.progress:console',
        'live': 'reports.live.screen:live',
        'junit': 'reports.outputs.ci:junit',
        'step_summary': 'reports.outputs.ci:step_summary',
    },
    'bags': {
        'rosbag2': 'trial.mcap.played_bag:read_recording',
    },
}


def names(kind: str) -> dict[str, str]:
    """
    Return every known plug-in of a kind: name to ``module:Class``, of a format to ``module``.

    Built-ins come first, in the order of the table; then the others by their names.

    :param kind: ``stimuli``, ``intents``, ``invariants``, ``controllers``, ``robots``,
        ``drivers``, ``links``, ``formats``; ``bags``, whose plug-ins are functions that read one;
        ``traces``, whose plug-ins take a ``TraceContext`` and are observers; or ``outputs``, whose
        plug-ins take an ``OutputContext`` and are context managers that give observers
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
