# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Why a policy does not fit the scenarios of a campaign, found before anything moves."""

from collections.abc import Iterator, Mapping, Sequence
import math

from safety_scenarios.controllers.policies.contract import ROLE_TYPES
from safety_scenarios.controllers.policies.policy import PolicyController
from safety_scenarios.errors import (
    did_you_mean,
    InputError,
    is_misspelt,
    Problem,
    SafetyScenariosError,
    ScenarioError,
    SettingsError,
)
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.interfaces import command_message
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.topic_names import input_names, published_topics
from safety_scenarios.trial.link import ControllerPlan, LinkPlan, NO_FACTS
from safety_scenarios.trial.links.controller_settings import controller_settings
from safety_scenarios.trial.parameters import is_policy, policy_of
from safety_scenarios.trial.robot_fit import placed
from safety_scenarios.trial.session import LinkPlugin
from safety_scenarios.trial.summary import Preflight, PreflightRow

_SPOKEN = {True: ('JointTrajectory', 'JointState', 'Float64MultiArray', 'String'),
           False: ('Twist', 'TwistStamped', 'Float64MultiArray', 'String')}
"""Whether a robot has joints to the interface types that carry its speeds."""


def policy_refusals(scenarios: Sequence[Scenario], link: LinkPlan,
                    plugin: type[LinkPlugin]) -> Iterator[InputError]:
    """
    Yield why the policy under test cannot be judged in scenarios; nothing for other controllers.

    :param scenarios: as they are on the robot of the settings
    """
    controller = link.controller
    if controller.facts is NO_FACTS or not is_policy(controller.name):
        return
    fit = _PolicyFit(policy_of(controller.name, controller.parameters), link, plugin)
    problems = [problem for scenario in scenarios for problem in fit.scenario_problems(scenario)]
    if problems:
        yield ScenarioError(problems)
    try:
        found = [*fit.robot_problems(scenarios)]
    except InputError as error:
        yield error
        return
    if found:
        yield SettingsError('\n'.join(found))


def with_policy(found: Sequence[Preflight], scenarios: Sequence[Scenario],
                link: LinkPlan) -> list[Preflight]:
    """Return what a preflight found, and what of the policy under test needs attention there."""
    rows = [*_unseen_roles(scenarios, link)]
    return [one.model_copy(update={'rows': (*one.rows, *rows)})
            for one in _with_chunks(found, scenarios, link.controller)]


def _unseen_roles(scenarios: Sequence[Scenario], link: LinkPlan) -> Iterator[PreflightRow]:
    """Yield which roles no scenario shows, so that the policy reads ``missing`` all the time."""
    controller, known = link.controller, {*link.ros.parameters.topics}
    if controller.facts is NO_FACTS or not is_policy(controller.name):
        return
    try:
        policy = policy_of(controller.name, controller.parameters)
        inputs, needed = policy.inputs, policy.needed
    except InputError:  # its files have changed; the campaign reports that
        return
    unseen = {*inputs} - {*needed}
    for scenario in scenarios:
        shown = _published_topics(scenario)
        known |= {*shown}
        names = input_names(inputs, [f'{topic}:{kind}' for topic, kind in shown.items()])
        unseen -= {role for role in unseen if names[role] in known}
    if unseen:
        usual = {*known, *ROLE_TYPES}
        hints = (did_you_mean(role, usual) for role in sorted(unseen - {*ROLE_TYPES})
                 if any(is_misspelt(role, name) for name in usual))  # a goal has a name of its own
        yield PreflightRow(check='inputs', status='warn', detail=(
            f'no scenario shows {", ".join(sorted(unseen))}: the policy reads the value of '
            f'missing there in all trials.{"".join(hints)}'))


def _with_chunks(found: Sequence[Preflight], scenarios: Sequence[Scenario],
                 controller: ControllerPlan) -> list[Preflight]:
    """
    Return what a preflight found, and whether chunks of a policy can be longer than a budget.

    Whether a trial passes then depends on the moment of the hazard, and a few may pass by luck.
    """
    longest_ns = _longest_wait_ns(controller)
    critical_ms = {one.id: one.latency_budget.critical_ms for one in scenarios}
    return [one if longest_ns <= critical_ms.get(one.scenario_id, math.inf) * 1e6 else
            one.model_copy(update={'rows': (*one.rows, PreflightRow(
                check='chunks', status='warn', detail=(
                    f'by horizon and rate a reaction may take {longest_ns / 1e6:.0f} ms, longer '
                    f'than critical ({critical_ms[one.scenario_id]:g} ms). A trial then passes '
                    f'or fails by the moment of the hazard: run many (--trials 50), or let the '
                    f'policy plan sooner')))}) for one in found]


def _longest_wait_ns(controller: ControllerPlan) -> int:
    """Return that of the policy under test; 0: it is none, or it is unknown."""
    if controller.facts is NO_FACTS or not is_policy(controller.name):
        return 0
    try:
        return policy_of(controller.name, controller.parameters).longest_wait_ns or 0
    except InputError:  # its files have changed; the campaign reports that
        return 0


class _PolicyFit:
    """
    Compares one policy with scenarios.

    :param policy: with its parameters, not begun
    """

    def __init__(self, policy: PolicyController, link: LinkPlan, plugin: type[LinkPlugin]) -> None:
        self._policy, self._link = policy, link
        self._is_closed = plugin.in_this_process
        """Whether only the scenario can publish what the policy reads."""
        self._who = f'{link.controller.name} ({policy.contract_file.name})'

    def scenario_problems(self, scenario: Scenario) -> Iterator[Problem]:
        """Yield why the policy does not fit a scenario, each at its place there."""
        robot, wanted = scenario.body.robot, self._policy.terms.robot
        if robot is None:
            yield placed(scenario, (), (
                f'got a scenario without a robot, and the policy {self._who} is for the kind '
                f'{wanted}, expected one with ros.robot. Leave it out'))
        elif robot.kind != wanted:
            yield placed(scenario, ('ros', 'robot', 'kind'), (
                f'got {robot.kind}, and the policy {self._who} is for the kind {wanted}, expected '
                f'the same kind. Choose a scenario or a policy of the other kind'))
        else:
            yield from self._command(scenario, robot)
            yield from self._roles(scenario, robot)

    def robot_problems(self, scenarios: Sequence[Scenario]) -> Iterator[str]:
        """Yield once for all scenarios why contract, robot and model do not fit together."""
        seen: list[RobotModel] = []
        told: set[str] = set()
        for scenario in scenarios:
            robot = scenario.body.robot
            if robot is None or robot.kind != self._policy.terms.robot or robot in seen:
                continue
            seen.append(robot)
            for problem in self._policy.problems(robot):
                if problem not in told:
                    told.add(problem)
                    yield f'controller: {self._who}, {scenario.id}: {problem}'

    def _command(self, scenario: Scenario, robot: RobotModel) -> Iterator[Problem]:
        told = controller_settings(self._link.controller, scenario)
        kind, joints, interface = kind_of(robot), robot.joints, told.interface
        name = interface.rpartition('/')[2]
        why = '' if name in _SPOKEN[kind.has_joints] else \
            f'expected one of {", ".join(_SPOKEN[kind.has_joints])}'
        if not why:
            try:
                command_message(interface, kind.stop, joints, dict.fromkeys(joints, 0.0))
            except SafetyScenariosError as error:
                why = str(error)
        if why:
            quantity = self._policy.terms.action.quantity
            yield placed(scenario, ('ros', 'commands'), (
                f'got commands of {interface} on {told.topic}, which cannot carry the {quantity} '
                f'of the policy {self._who}: {why}. Set command_type'))

    def _roles(self, scenario: Scenario, robot: RobotModel) -> Iterator[Problem]:
        """Yield each role of the contract that the scenario does not show, or not like this."""
        policy, shown = self._policy, _published_topics(scenario)
        names = input_names(policy.inputs, [f'{topic}:{kind}' for topic, kind in shown.items()])
        of_robot = self._link.ros.parameters.topics
        for role, interface in policy.inputs.items():
            topic = names[role]
            where = ', '.join(f'inputs.{name}' for name in dict.fromkeys(
                name for name, part in policy.terms.parts() if part.role == role))
            known = shown.get(topic)
            if known is None and topic in of_robot:
                known = of_robot[topic].type
            if known and known != interface:
                yield placed(scenario, (), (
                    f'got {known} on {topic}, and the policy {self._who} reads it as '
                    f'{interface} for {where}, expected one type. Set type there'))
            elif topic not in shown and self._is_closed and role in policy.needed:
                yield placed(scenario, (), (
                    f'got nothing on {role}, which the policy {self._who} reads for {where} '
                    f'({interface}), expected it among what the scenario shows: '
                    f'{", ".join(sorted(shown)) or "nothing"}. '
                    f'{self._advice(role, interface in kind_of(robot).feedback_types)}'))

    def _advice(self, role: str, is_reported: bool) -> str:
        """
        Return what to do about a role that nothing shows.

        :param is_reported: whether a robot can report what is of its type
        """
        settings = self._link.ros.parameters
        if role in settings.absent:
            return (f'absent in {settings.profile or "the settings"} names it: this policy needs '
                    f'a robot that has it')
        robot = ' or a robot whose profile names it under reference (--profile),' \
            if is_reported else ''
        return (f'Choose another scenario,{robot} or say under missing there what the model reads '
                f'without it')


def _published_topics(scenario: Scenario) -> Mapping[str, str]:
    """Return topic to interface type of what a scenario shows; empty type: left open."""
    body = scenario.body
    reported = [(one.topic, one.message) for one in body.feedback]
    if body.onset is not None:
        reported.append((body.onset.topic, body.onset.message))
    return {**{topic: '' if message == 'auto' else message for topic, message in reported},
            **dict(entry.partition(':')[::2] for entry in published_topics(scenario))}
