# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ``eval.launch.py`` does while launch runs: it looks at the arguments, and ends launch."""

from collections.abc import Callable, Iterator, Sequence
import inspect

from launch import (
    Action,
    Event,
    EventHandler,
    LaunchContext,
    LaunchDescription,
    LaunchDescriptionEntity,
    LaunchDescriptionSource,
)
from launch.actions import (
    EmitEvent,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    TimerAction,
)
from launch.event_handlers import OnProcessExit, OnShutdown
from launch.events import Shutdown
from launch.events.process import ProcessExited
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from safety_scenarios.ros.launching.eval_arguments import (
    refuse_unheard_launch,
    refuse_unknown_arguments,
    why_failed,
)

_PATIENCE_S = 2.0
"""A launch test that waits for the exit of the evaluator has this long to go on from there before
launch ends: launch_testing calls a test failed that was not done by then."""


class _Failed(Event):
    """The evaluator has failed, and everybody has been told of its exit."""

    name = 'safety_scenarios.ros.launching.eval_launching.Failed'

    def __init__(self, code: int) -> None:
        self.code = code


def checked_arguments(controller: LaunchDescriptionSource,
                      look: Callable[..., None] = refuse_unknown_arguments) -> Action:
    """
    Return an action that refuses arguments which nobody knows, before anything is started.

    :param controller: the launch file that starts the controller, if there is one
    :param look: as ``refuse_unknown_arguments``, for the arguments of this launch file
    """
    def check(context: LaunchContext) -> None:
        around = list(_around())

        def started() -> Iterator[str]:
            if context.launch_configurations.get('controller_launch'):
                yield from _declared(controller.get_launch_description(context))

        look(_given(context, around), context.launch_configurations, started,
             lambda: _declared_around(around))
        refuse_unheard_launch(context.launch_configurations)
    return OpaqueFunction(function=check)


def checked_names(own: Sequence[str], file: str) -> Action:
    """
    Return an action that refuses arguments which nobody knows, of a launch file of one node.

    :param own: names of the file's arguments
    :param file: its name
    """
    def check(context: LaunchContext) -> None:
        around = list(_around())
        refuse_unknown_arguments(_given(context, around), context.launch_configurations, tuple,
                                 lambda: _declared_around(around), own, file)
    return OpaqueFunction(function=check)


def _given(context: LaunchContext, around: Sequence[LaunchDescriptionEntity]) -> Sequence[str]:
    """Return the names that the include of this file passes on."""
    include = next((entity for entity in around
                    if isinstance(entity, IncludeLaunchDescription)), None)
    return [] if include is None else [
        perform_substitutions(context, normalize_to_list_of_substitutions(name))
        for name, _ in include.launch_arguments]


def _declared_around(around: Sequence[LaunchDescriptionEntity]) -> Iterator[str]:
    """Yield the names that the files around this one declare."""
    descriptions = [entity for entity in around if isinstance(entity, LaunchDescription)]
    for description in descriptions[1:]:  # the first one is that of this file itself
        yield from _declared(description)


def _declared(description: LaunchDescription) -> Iterator[str]:
    yield from (argument.name for argument in description.get_launch_arguments())


def _around() -> Iterator[LaunchDescriptionEntity]:
    """
    Yield what launch is visiting now, from the inside out.

    Launch visits what is inside an entity while it visits that entity, and keeps no other record
    of which file includes which.
    """
    frame = inspect.currentframe()
    while frame is not None:
        entity = frame.f_locals.get('entity')
        if isinstance(entity, LaunchDescriptionEntity):
            yield entity
        frame = frame.f_back


def ending_with(evaluator: Action,
                why: Callable[[int], str] = why_failed) -> Sequence[Action]:
    """
    Return actions that end launch when the evaluator ends, with an error unless it returned 0.

    Only an exception lets launch end with an error. It keeps whoever comes later in the list of
    handlers from hearing of an event, so it is raised at an event of our own, never at the exit
    of the process or at the shutdown.

    :param why: exit code to what launch says then
    """
    codes: list[int] = []

    def failed() -> Sequence[Action]:
        return [EmitEvent(event=_Failed(codes.pop()))] if any(codes) else []

    def on_exit(event: ProcessExited, context: LaunchContext) -> Sequence[Action]:
        codes.append(event.returncode)
        if context.is_shutdown:
            return failed()
        return [TimerAction(period=_PATIENCE_S, actions=[OpaqueFunction(function=end)])]

    def end(context: LaunchContext) -> Sequence[Action]:
        return failed() or [EmitEvent(event=Shutdown(reason='the evaluation has ended'))]

    def on_shutdown(event: Shutdown, context: LaunchContext) -> Sequence[Action]:
        return failed()

    def raise_it(context: LaunchContext) -> None:
        raise RuntimeError(why(context.locals.event.code))

    return [RegisterEventHandler(handler) for handler in (
        OnProcessExit(target_action=evaluator, on_exit=on_exit),
        OnShutdown(on_shutdown=on_shutdown),
        EventHandler(matcher=lambda event: isinstance(event, _Failed),
                     entities=[OpaqueFunction(function=raise_it)]))]
