# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L108 to L124, L211 to L224: checks, texts and sets that do not fit together."""

from collections.abc import Iterator, Sequence
from functools import cache
import re

from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats.companion_files import load_register
from safety_scenarios.lint.codes import FieldPath, Remark
from safety_scenarios.lint.pairs import check_pairs, hazards_of
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.companion_files import HazardRegister
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import BodyIntent, StimulusContext


def check_structure(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on a scenario's names, topics and times."""
    yield from _names(scenario)
    body = scenario.body
    if isinstance(body, RobotBody):
        yield from _topics(scenario, body)
        yield from _stops(scenario, body)
    elif isinstance(body, AgentsBody):
        yield from _bans(scenario, body)
    yield from _hazards(scenario)


def _bans(scenario: Scenario, body: AgentsBody) -> Iterator[Remark]:
    if any(rule.forbid for rule in body.rules) and not any(rule.expect for rule in body.rules):
        yield Remark('L123', scenario, ('rules',), (
            'got rules that only forbid: a controller that does something else passes, whether it '
            'stands for ever or never stops. Add a rule with expect'))
    yield from _late_bans(scenario, body)


def _late_bans(scenario: Scenario, body: AgentsBody) -> Iterator[Remark]:
    """Warn of tools that are free until a ban of them begins, though nothing asks for a call."""
    known: set[str] = set()
    """Tools that something asks for, or that are banned from the start."""
    for rule in body.rules:
        trigger = rule.trigger
        is_first = trigger is not None and not trigger.wait_ns \
            and any(one.kind == 'start' for one in trigger.any)
        known |= {one.name for one in (
            *(rule.expect.any if rule.expect else ()), *(rule.permit.any if rule.permit else ()),
            *(trigger.any if trigger else ()), *(rule.forbid.any if rule.forbid and is_first
                                                 else ())) if one.kind == 'tool_call'}
    for index, rule in enumerate(body.rules):
        late = [one.name for one in (rule.forbid.any if rule.forbid else ())
                if one.kind == 'tool_call' and one.name and one.name not in known]
        if rule.trigger is not None and late:
            known |= {*late}
            yield Remark('L124', scenario, ('rules', body.entry(index), 'action'), (
                f'got a ban of {late[0]} that begins with {rule.trigger_text!r}, and no rule asks '
                f'for a call: until then each call passes. Begin the ban at start, or say '
                f'permit: tool: {late[0]} at start where it is free until then'))


def _hazards(scenario: Scenario) -> Iterator[Remark]:
    for index, label in enumerate(scenario.traceability.hazards):
        meant = _register().meant_by(label)
        if meant is not None:
            yield Remark('L122', scenario, ('hazards', index), (
                f'got {label!r}, expected an id of the register of hazards: no limit of that '
                f'hazard or of its severity counts the scenario. Did you mean {meant!r}?'))


@cache
def _register() -> HazardRegister:
    """Return the register that comes with the package, read once."""
    return load_register()


def _names(scenario: Scenario) -> Iterator[Remark]:
    blocks = [('safety_invariants', index) for index in range(len(scenario.safety_invariants))]
    rest = [('ros', 'invariants', index)
            for index in range(len(scenario.invariants) - len(blocks))]
    first: dict[str, int] = {}
    for index, (path, invariant) in enumerate(zip([*blocks, *rest], scenario.invariants)):
        if first.setdefault(invariant.name, index) != index:
            yield Remark('L114', scenario, (*path, 'name'), (
                f'got {invariant.name!r} a second time: the report cannot distinguish the two. '
                f'Rename one, or remove it'))


def _topics(scenario: Scenario, body: RobotBody) -> Iterator[Remark]:
    seen: set[str] = set()
    for key, topics in (('commands', body.commands), ('feedback', body.feedback)):
        for index, block in enumerate(topics):
            if block.topic in seen:
                yield Remark('L115', scenario, ('ros', key, index, 'topic'), (
                    f'got {block.topic!r} a second time: each of its messages would count twice, '
                    f'or be taken for the wrong kind. Remove one'))
            seen.add(block.topic)


def _stops(scenario: Scenario, body: RobotBody) -> Iterator[Remark]:
    at_ms = body.all_clear.at_ms
    for index, invariant in enumerate(body.invariants):
        within_ms = getattr(invariant, 'within', None)
        if isinstance(within_ms, float) and within_ms > at_ms:
            yield Remark('L116', scenario, ('ros', 'invariants', index, 'within'), (
                f'got {within_ms:g} ms, which is after ros.all_clear.at_ms {at_ms:g}: by then the '
                f'hazard is gone and the limit never decides. Lower it, or clear later'))


_ROUNDED_M = 0.01
_AGAINST_STOPS = ('no_spurious_stop', 'defer', 'temporal')
_NO_PARAMETER = ('name', 'description', 'severity')


def check_invariants(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on what a scenario checks at all."""
    yield from _twice(scenario)
    yield from _weightless(scenario)
    ros = scenario.body
    if not isinstance(ros, RobotBody):
        return
    if scenario.is_benign and not any(
            getattr(one, 'kind', '') in _AGAINST_STOPS
            or (getattr(one, 'at_least', None) or 0) > 0 for one in ros.invariants):
        yield Remark('L211', scenario, ('ros', 'invariants'), (
            'no check of this benign variant asks the robot to go on: one that stops for nothing '
            'is not detected. Add kind: no_spurious_stop, or a bound with at_least'))
    terms = ros.separation
    if terms is not None and not any((terms.approach_speed, terms.reach, terms.intrusion,
                                      terms.other_uncertainty, terms.robot_uncertainty)):
        yield Remark('L214', scenario, ('ros', 'separation'), (
            'no person approaches, and every margin is 0: distances count as exact, and from '
            'centre to centre. Add reach, intrusion and the uncertainties of the sensor'))
    elif terms is not None and terms.distance is None and kind_of(ros.robot).drives:
        yield from _reach(scenario, ros, terms.reach)
    yield from _zones(scenario, ros)
    yield from _unread(scenario, ros)
    yield from _shared_joints(scenario, ros)


def _reach(scenario: Scenario, ros: RobotBody, reach: float) -> Iterator[Remark]:
    """Warn of a distance between two middles from which not both radii are taken off."""
    context = StimulusContext(scenario.id, scenario.messages, None)
    intents = [plugin.intent(context) for plugin in ros.stimuli]
    sizes = [0.0 if body.to_face else body.radius for intent in intents
             if isinstance(intent, BodyIntent) for body in intent.bodies()]
    least = ros.robot.footprint + max(sizes, default=0.0)
    if sizes and reach < least - _ROUNDED_M:
        yield Remark('L214', scenario, ('ros', 'separation', 'reach'), (
            f'got {reach:g} m, expected at least {least:.3g}: distances are from the origin of '
            f'the robot to the middle of who is there, and the radius of the robot is '
            f'{ros.robot.footprint:g} m, that of the other {max(sizes):.3g} m. Take both off'))


def _zones(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    for index, invariant in enumerate(ros.invariants):
        radius = getattr(invariant, 'radius', None)
        if getattr(invariant, 'kind', '') == 'zone' and ros.robot.radius is not None \
                and radius is not None and radius < ros.robot.radius:
            yield Remark('L214', scenario, ('ros', 'invariants', index, 'radius'), (
                f'got {radius:g} m, expected the {ros.robot.radius:g} m of ros.robot.radius: '
                f'what juts out beyond that may be in the zone. Give the same radius'))


def _unread(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """Warn of a topic on which the robot is commanded, and which no check looks at."""
    names = {limit.signal for condition in (ros.reaction,) if condition is not None
             for limit in condition.limits}
    for invariant in ros.invariants:
        names |= {name for field in invariant.names_signals
                  if isinstance(name := getattr(invariant, field, None), str)}
        names |= set(getattr(invariant, 'signals', ()))
    read = {ros.signals[name].topic for name in names if name in ros.signals}
    read |= {str(getattr(invariant, 'topic', '')) for invariant in ros.invariants
             if getattr(invariant, 'kind', '') == 'limits'}
    read |= {block.topic for block in ros.feedback}  # L115 tells those
    for index, block in enumerate(ros.commands):
        if block.topic not in read:
            yield Remark('L220', scenario, ('ros', 'commands', index, 'topic'), (
                f'got {block.topic!r}, which no reaction and no check of motion reads: a '
                f'controller that drives by it is not seen. Add a signal of it to both'))


def _shared_joints(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """Warn of a joint of two drivers: one of them rejects what the arms are commanded."""
    owners: dict[str, str] = {}
    for index, block in enumerate(ros.commands):
        joints = getattr(block.driver, 'joints', ())
        shared = [joint for joint in joints if joint in owners]
        if shared:
            yield Remark('L224', scenario, ('ros', 'commands', index), (
                f'{block.topic} and {owners[shared[0]]} both drive {", ".join(shared)}: a joint '
                f'has one controller, and a driver that is not declared is taken to have all of '
                f'robot.joints and rejects a trajectory of fewer. Say which joints each has, such '
                f'as driver: {{kind: {getattr(block.driver, "kind", "")}, joints: [...]}}'))
        for joint in joints:
            owners.setdefault(joint, block.topic)


def _places(scenario: Scenario) -> Iterator[FieldPath]:
    yield from (('safety_invariants', index) for index in range(len(scenario.safety_invariants)))
    rest = len(scenario.invariants) - len(scenario.safety_invariants)
    yield from (('ros', 'invariants', index) for index in range(rest))


def _twice(scenario: Scenario) -> Iterator[Remark]:
    first: dict[str, str] = {}
    for path, invariant in zip(_places(scenario), scenario.invariants):
        asks = repr((type(invariant).__name__, sorted(
            (field, value) for field, value in invariant.model_dump().items()
            if field not in _NO_PARAMETER)))
        name = first.setdefault(asks, invariant.name)
        if asks in first and name != invariant.name:
            yield Remark('L216', scenario, path, (
                f'got {invariant.name!r}, which asks the same as {name!r}: it counts one '
                f'check twice. Change or remove it'))


def _weightless(scenario: Scenario) -> Iterator[Remark]:
    checks = scenario.invariants
    if checks and not any(invariant.severity for invariant in checks):
        path = next(_places(scenario))
        yield Remark('L215', scenario, (*path, 'severity'), (
            'got 0 for every check: no violation weighs anything. Say how bad each is, up to 1'))
    elif not scenario.severity and not scenario.is_benign:
        yield Remark('L215', scenario, ('severity',), (
            'got 0 for a hazard: nothing that happens in it weighs anything. Say how bad it is, '
            'up to 1'))


_LOOKS = re.compile(r'\s*scn(?:[-_ ](?=.*\d)|[-_ ]?lb[-_ ]|[-_ ]?[cr][-_ ])', re.IGNORECASE)
_SHAPE = re.compile(
    r'SCN-(?:LB-[A-Z0-9]+(?:[_-][A-Z0-9]+)*|(?P<initial>[A-Z])(?P<benign>-D)?-\d{3})')
_LONGEST_MS = {'immediate': 60e3, 'urgent': 600e3, 'minutes': 3600e3}
"""Longest critical limit that a time pressure can mean, generously; hours can mean a day."""
_MS = {'ms': 1.0, 'milliseconds': 1.0, 's': 1e3, 'sec': 1e3, 'second': 1e3, 'seconds': 1e3,
       'min': 60e3, 'minute': 60e3, 'minutes': 60e3, 'h': 3600e3, 'hour': 3600e3,
       'hours': 3600e3}
_WITHIN = re.compile(
    rf'\bwithin (?P<number>\d+(?:\.\d+)?) ?(?P<unit>{"|".join(sorted(_MS, key=len)[::-1])})\b',
    re.IGNORECASE)
_MS_PER_H = 3600e3
_NOTHING = re.compile(r'\s*(none|nothing|no consequence|no harm)\b', re.IGNORECASE)


def check_context(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on what a scenario says of itself."""
    if isinstance(scenario.body, AgentsBody) and not scenario.body.turns:
        return  # its file has neither an id nor a constraint
    yield from _id(scenario)
    yield from _pressure(scenario)
    yield from _compare_texts_with_limit(scenario)


def _id(scenario: Scenario) -> Iterator[Remark]:
    """Look at ids that begin as those of format 1 do; one of another scheme is nobody's matter."""
    if not _LOOKS.match(scenario.id):
        return
    shape = _SHAPE.fullmatch(scenario.id)
    if shape is None:
        yield Remark('L119', scenario, ('id',), (
            f'got {scenario.id!r:.60}, expected SCN-C-001, SCN-R-001, SCN-R-D-001 of a benign '
            f'one, or SCN-LB-NAME: the initial of the domain and three digits. Rename it'))
        return
    initial = shape['initial']
    own = scenario.domain.removesuffix('_defer')[:1].upper()
    if initial and own != initial:
        yield Remark('L119', scenario, ('id',), (
            f'got {scenario.id} in the domain {scenario.domain}, expected SCN-{own}-...: reports '
            f'are read by the letter. Correct one of the two'))
    elif initial and bool(shape['benign']) != scenario.is_benign:
        yield Remark('L119', scenario, ('id',), (
            f'got {scenario.id} in the domain {scenario.domain}, expected -D- in the id of a '
            f'domain that ends in _defer, and only there. Correct one of the two'))


def _pressure(scenario: Scenario) -> Iterator[Remark]:
    """Compare the critical limit with what the time pressure and the time to harm can mean."""
    budget, constraint = scenario.latency_budget, scenario.constraint
    longest_ms = _LONGEST_MS.get(constraint.time_pressure)
    if longest_ms is not None and budget.critical_ms > longest_ms:
        yield Remark('L120', scenario, ('constraint', 'time_pressure'), (
            f'got {constraint.time_pressure} with critical_ms {budget.critical_ms:g}, expected at '
            f'most {longest_ms:g} ms: an answer that late would pass. Correct one of the two'))
    if constraint.time_pressure == 'immediate' and not scenario.is_benign \
            and _NOTHING.match(constraint.consequence_of_delay):
        yield Remark('L120', scenario, ('constraint', 'consequence_of_delay'), (
            f'got {constraint.consequence_of_delay!r:.60} with time_pressure immediate, expected '
            f'what a delay costs. Correct one of the two'))
    hours = scenario.metadata.get('time_to_harm_hours')
    if isinstance(hours, int | float) and not isinstance(hours, bool) \
            and budget.critical_ms > hours * _MS_PER_H:
        yield Remark('L120', scenario, ('metadata', 'time_to_harm_hours'), (
            f'got {hours:g} h with critical_ms {budget.critical_ms:g}, expected a limit before '
            f'the harm. Correct one of the two'))


def _compare_texts_with_limit(scenario: Scenario) -> Iterator[Remark]:
    """Compare the critical limit with times that the texts name."""
    constraint = scenario.constraint
    texts: tuple[tuple[FieldPath, str], ...] = (
        (('expected_action',), scenario.expected_action),
        (('constraint', 'description'), constraint.description),
        (('constraint', 'consequence_of_delay'), constraint.consequence_of_delay))
    for place, text in texts:
        for match in _WITHIN.finditer(text):
            named_ms = float(match['number']) * _MS[match['unit'].lower()]
            if named_ms < scenario.latency_budget.critical_ms:
                yield Remark('L120', scenario, place, (
                    f'got {match[0]!r}, and critical_ms {scenario.latency_budget.critical_ms:g} '
                    f'lets a later answer pass. Lower the limit, or correct the text'))
                break


def check_sets(scenarios: Sequence[Scenario]) -> Iterator[Remark]:
    """Yield the remarks on a set; a single scenario has no others to be compared with."""
    yield from _unnamed_benign_variants(scenarios)
    if len(scenarios) > 1:
        yield from _equal_texts(scenarios)
        yield from _benign_variants(scenarios)
        yield from check_pairs(scenarios)


def _words(text: str) -> str:
    return ' '.join(re.findall(r'\w+', text.casefold()))


def _equal_texts(scenarios: Sequence[Scenario]) -> Iterator[Remark]:
    """Find equal texts, but for a hazard told again at another level of abstraction."""
    first: dict[tuple[str, str], Scenario] = {}
    for scenario in scenarios:
        said = ' '.join(message.content for message in scenario.messages if message.role == 'user')
        words = _words(said)
        body = scenario.body
        level = body.level if isinstance(body, RobotBody) else 'text'
        other = first.setdefault((words, level), scenario)
        if words and other is not scenario:
            yield Remark('L108', scenario, ('messages',), (
                f'the message of the user is the same as in {other.id}: one of the two adds '
                f'nothing to a campaign. Change or remove it'))


def _unnamed_benign_variants(scenarios: Sequence[Scenario]) -> Iterator[Remark]:
    for scenario in scenarios:
        if not scenario.body.is_in_words and scenario.is_benign and not hazards_of(scenario):
            yield Remark('L111', scenario, ('metadata', 'variant_of'), (
                'a benign variant does not say of which hazard. Name the id of that scenario'))


def _benign_variants(scenarios: Sequence[Scenario]) -> Iterator[Remark]:
    by_id = {scenario.id: scenario for scenario in scenarios}
    ids = [scenario.id for scenario in scenarios]
    benign = {hazard for scenario in scenarios if scenario.is_benign
              for hazard in hazards_of(scenario)}
    for scenario in scenarios:
        if not scenario.is_benign and hazards_of(scenario):
            yield Remark('L112', scenario, ('metadata', 'variant_of'), (
                f'got it in the domain {scenario.domain!r}, in which the robot must react, '
                f'expected a domain that ends in _defer. Rename the domain, or remove variant_of'))
        for hazard in hazards_of(scenario):
            if hazard == scenario.id:
                yield Remark('L112', scenario, ('metadata', 'variant_of'), (
                    f'got {hazard!r}, which is this scenario itself, expected the id of its '
                    f'hazard. Correct it'))
            elif hazard in by_id and _words(by_id[hazard].expected_action) \
                    == _words(scenario.expected_action) != '':
                yield Remark('L121', scenario, ('expected_action',), (
                    f'it is that of its hazard, {hazard}, expected what a controller does where '
                    f'nothing is wrong. Describe that'))
            if hazard not in ids:
                yield Remark('L112', scenario, ('metadata', 'variant_of'), (
                    f'got {hazard!r}, expected the id of a scenario that is loaded too.'
                    f'{did_you_mean(hazard, ids)} Correct it, or load that scenario too'))
        if not (scenario.body.is_in_words or scenario.is_monitor or scenario.is_benign
                or scenario.id in benign):
            yield Remark('L111', scenario, (), (
                'no benign variant of it is loaded: a controller that always stops passes, and '
                'nothing counts its false stops. Add a scenario of a domain that ends in _defer '
                'with metadata.variant_of, or load it too'))
