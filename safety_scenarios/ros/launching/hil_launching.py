# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ``hil.launch.py`` does while launch runs: it starts the managed node, and leads it up."""

from collections.abc import Sequence

from launch import LaunchContext, LaunchDescriptionEntity
from launch.actions import EmitEvent, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessStart
from launch.events import matches_action, Shutdown
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition
from safety_scenarios.ros.launching.eval_launching import ending_with
from safety_scenarios.ros.launching.hil_arguments import given_parameters, profile_of

_NAME = 'lifecycle_evaluator_node'


def guarded_evaluator(context: LaunchContext) -> Sequence[LaunchDescriptionEntity]:
    """Return the actions that start the node, lead it up, and end launch with it."""
    values = context.launch_configurations
    node = LifecycleNode(
        package='safety_scenarios', executable='evaluator_node', name=_NAME, output='screen',
        namespace=values.get('namespace', ''),
        parameters=[profile_of(values), {'hil.enabled': True, 'autostart': False,
                                         **given_parameters(values)}])

    def change(transition: int) -> EmitEvent:
        return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node),
                                           transition_id=transition))
    handlers = []
    if values['start'] != 'nothing':
        handlers.append(_ending_unless_configured(node))
        handlers.append(OnProcessStart(target_action=node, on_start=[
            change(Transition.TRANSITION_CONFIGURE)]))
    if values['start'] == 'activate':
        handlers.append(OnStateTransition(
            target_lifecycle_node=node, start_state='configuring', goal_state='inactive',
            entities=[change(Transition.TRANSITION_ACTIVATE)]))
    return [*ending_with(node), *map(RegisterEventHandler, handlers), node]


def _ending_unless_configured(node: LifecycleNode) -> OnStateTransition:
    """
    Return what ends launch if the node that it leads up cannot be configured.

    Nobody would notice otherwise, and launch would wait for ever. What somebody configures later,
    by hand, is up to them.
    """
    tried: list[str] = []

    def look(context: LaunchContext) -> Sequence[LaunchDescriptionEntity]:
        is_first, state = not tried, context.locals.event.goal_state
        tried.append(state)
        return [EmitEvent(event=Shutdown(reason=(
            'the evaluator could not be configured; its log says why')))] \
            if is_first and state != 'inactive' else []

    return OnStateTransition(target_lifecycle_node=node, start_state='configuring',
                             entities=[OpaqueFunction(function=look)])
