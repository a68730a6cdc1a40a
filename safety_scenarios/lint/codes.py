# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a check says, and what each code of a warning means, why it matters, and what to do."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from safety_scenarios.scenario.scenario import Scenario

FieldPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that is odd about a scenario, and what to do."""

    code: str
    """Such as ``L101``; what it means is in ``doc/reference/lint.md``."""
    scenario: Scenario
    field: FieldPath
    """Where in the file, such as ``('safety_invariants', 0, 'pattern')``."""
    message: str


@runtime_checkable
class TextCheck(Protocol):
    """An invariant that holds or not for the text of an answer, such as ``invariants.text``."""

    name: str
    description: str
    severity: float
    check_type: str
    pattern: str | None
    case_sensitive: bool

    def holds(self, answer: str) -> bool | None:
        """Return whether an answer satisfies it; None when it is never evaluated."""


def text_checks(scenario: Scenario) -> Iterator[tuple[FieldPath, TextCheck, str]]:
    """Yield (field path, check, pattern) of every text check that is evaluated."""
    for index, check in enumerate(scenario.safety_invariants):
        if isinstance(check, TextCheck) and check.pattern:
            yield ('safety_invariants', index), check, check.pattern


class Code(NamedTuple):
    """One code of a warning."""

    found: str
    """What the file has."""
    reason: str
    """Why that matters."""
    remedy: str
    """What to do about it."""


CODES: Mapping[str, Code] = {
    'L101': Code(
        'an alternative of a regular expression that no text, or no usual text, can match: a '
        'stem before `\\b` (`emergenc\\b`), `\\b` beside a sign or an accented letter (`90 '
        '%\\b`), '
        'capitals where the answer is lower-cased (`(?-i:STOP)`)',
        'right answers fail, and the dead words are not visible',
        '`emergenc\\w*`; leave `\\b` out beside a sign; write small letters'),
    'L102': Code(
        'a repeated dot between two parts, without `(?s)`',
        'it does not cross lines, and models answer in lines',
        'begin with `(?s)`, or write `[^\\n]*` if a single line is meant'),
    'L103': Code(
        'a `not_contains` phrase that a negation can precede: `continue` is part of "do not '
        'continue"',
        'a right answer fails',
        'words that a negation splits: `can wait` (cannot wait), `is normal` (is not normal)'),
    'L104': Code(
        'a check, or every check of a scenario, that repeating the prompt satisfies',
        'a parrot passes',
        'ask for words that the prompt does not use'),
    'L105': Code(
        'a check that the empty answer satisfies, as every `not_contains`',
        'an empty answer passes it',
        'check elsewhere for words that must be there; then waive it'),
    'L106': Code(
        "a check that the scenario's own `expected_action` violates",
        'the right answer fails',
        'correct one of the two'),
    'L107': Code(
        'a description with "must not" and a severity below 0.9',
        'the violation counts as a minor one',
        'raise the severity'),
    'L108': Code(
        'two scenarios of one level whose users say the same',
        'the campaign counts one case twice',
        'change or remove one'),
    'L109': Code(
        'a limit of the latency budget below what the harness itself needs: the 99th percentile '
        'of its floor and its uncertainty (only with `--calibration`)',
        'it would judge the harness',
        'a faster host, or a longer limit'),
    'L110': Code(
        'a regular expression that any answer matches, or none can',
        'it checks nothing, or fails everything',
        'look for an empty alternative, or for a `\\b` between two letters'),
    'L111': Code(
        'a robot hazard without a benign variant among the files, or a benign variant that does '
        'not say whose',
        'a controller that always stops passes',
        'add a scenario of a domain that ends in `_defer`, whose `metadata.variant_of` is the '
        'id, or a list of ids'),
    'L112': Code(
        '`metadata.variant_of` names an id that is not among the files, or its own, or the domain '
        'does not end in `_defer`',
        'the pair is not one',
        'correct the id or the domain, or load both'),
    'L113': Code(
        'no invariant and no reaction',
        'no trial can pass',
        'add one (cannot be waived)'),
    'L114': Code(
        'two invariants of one name',
        'the report cannot distinguish them',
        'rename one'),
    'L115': Code(
        'a topic listed twice under commands and feedback',
        'its messages count twice, or as the wrong kind',
        'remove one'),
    'L116': Code(
        'a stop whose numeric `within` lies after the all-clear',
        'the limit never decides',
        'lower it, or clear later'),
    'L117': Code(
        'a robot scenario that does not say where its budget comes from, or a critical limit '
        'above what `metadata.budget.inputs` leave',
        'the deadline is a guess, or too late',
        'give `basis` and `inputs` (or `why`); lower the limit'),
    'L118': Code(
        'an entry of `metadata.lint` without effect: unknown code, no reason, nothing to waive',
        'the next reader believes it',
        'remove it, or give the reason'),
    'L119': Code(
        'an id that begins with `SCN` and is none of `SCN-C-001`, `SCN-R-D-001`, `SCN-LB-NAME`, '
        'or whose letters contradict the domain; ids of another scheme are as good',
        'reports are read by the letters',
        'rename it, or correct the domain'),
    'L120': Code(
        'a critical limit later than what `time_pressure`, `metadata.time_to_harm_hours` or a '
        '"within ..." in `expected_action` and `constraint` mean, or a delay without a '
        'consequence under `immediate`',
        'an answer that comes too late for the situation passes',
        'lower the limit, or correct the words'),
    'L121': Code(
        'a benign variant whose `expected_action` is that of its hazard',
        'readers and judges of words expect it to stop',
        'describe what a controller does where nothing is wrong'),
    'L122': Code(
        'a label under `hazards` that differs from an id of `config/hazards.yaml` by its case, '
        'signs or zeros: `M8` for `M08`',
        'the scenario is not counted where a limit names that hazard or its severity',
        'write the id; waive it where the label is of another register'),
    'L123': Code(
        'rules among agents that only forbid',
        'a controller that does nothing of the kind passes, whether it stands for ever or never '
        'stops',
        'add a rule with `expect`'),
    'L124': Code(
        'a ban among agents, of a tool that nothing asks for, which does not begin at the start',
        'a call before it passes',
        'begin it at `start`, or say `permit` at `start` where the tool is free until then'),
    'L201': Code(
        'a limit that every motion keeps, or none: above what `robot.max_speed` allows (a bound '
        'may be up to a tenth above it), below what the signal can be, a rate that no step has '
        'on its grid; so too the conditions of rules among agents',
        'the check says PASS whatever the robot does',
        'tighten it'),
    'L202': Code(
        'a formula that every motion satisfies, or none, or whose left side never comes true, '
        'as of a true distance that no stimulus has',
        'it never asks for anything',
        'compare with values that the robot can reach on both sides'),
    'L203': Code(
        'a zone, or a hazard with a separation, that the robot does not reach until the '
        'all-clear, even if it never stops: too far ahead, beside its way, or behind a robot that '
        'only drives straight ahead',
        'nothing breaks it',
        'nearer, in the way, or clear later'),
    'L204': Code(
        'a time as long as the hazard or the trial: the gap of `liveness`, the age of `fresh`, '
        'the timeout of the driver, the spell of `no_spurious_stop`, a window of a formula; an '
        'all-clear before the robot can have confirmed its stop; or an observation after the '
        'all-clear of less than 100 ms',
        'the limit is never reached',
        'lower it'),
    'L205': Code(
        'a hazard that is published as it was before, at whatever rate',
        'there is nothing to react to',
        'show something else'),
    'L206': Code(
        'a hazard on a topic, or of a type, that no controller receives that declares no inputs '
        'of its own',
        'no controller can react',
        'use a known name and remap it'),
    'L207': Code(
        'a reaction that can hold while `nominal.require` holds, or that is hardly less (80 %), '
        'or is about another signal; a confirmation of a base without a speed along the way',
        'what was done before the hazard counts as the reaction',
        'ask for less, of the same signal'),
    'L208': Code(
        'a `nominal.require` that a robot at rest meets, or one below 5 % of the top speed',
        'who stands from the beginning passes the hazard',
        '`at_least` a speed'),
    'L209': Code(
        'an upper limit on a speed with a sign, and none on the other side; a zone whose '
        '`forward`, or a stop whose `signed` has no sign',
        'full speed in reverse meets it',
        '`reduce: abs` or `norm`, or `at_least`; a signal without `reduce`'),
    'L210': Code(
        'a number that looks like another unit: mm for m, s for ms, a radius of a millimetre, a '
        'rate of a gigahertz',
        'limits are off by a thousand',
        'the unit that the message names'),
    'L211': Code(
        'a benign variant without a check that asks the robot to go on',
        'who always stops passes it',
        '`no_spurious_stop`, or a bound with `at_least`'),
    'L212': Code(
        'more than 0.1 m/s or rad/s that counts as standing, or less than 5 % of the top speed '
        'that counts as going on',
        'driving counts as stopped, or creeping as working',
        'lower it; raise it'),
    'L213': Code(
        'a reaction or a stop that need hold for less than 50 ms',
        'a single command counts',
        'hold for 200 ms, say'),
    'L214': Code(
        'a separation without any margin and without a person who approaches, or whose `reach` '
        'is less '
        'than both radii, or `approach_speed` less than that of who walks nearer; a zone for a '
        'robot narrower than `robot.radius`',
        'distances count as exact, and from centre to centre',
        'the margins of the sensor; the radius'),
    'L215': Code(
        'severity 0 for every check, or for the hazard',
        'no violation weighs anything',
        'say how bad it is'),
    'L216': Code(
        'a check that asks the same as another',
        'it counts one thing twice',
        'remove it'),
    'L217': Code(
        'a signal along an axis on which no base moves, of a field that the command does not '
        'have, or in the unit of another; a base that is `fresh` by its rate of turn alone; '
        '`limits` on a topic without trajectories',
        'it is zero, or unknown, whatever the robot does',
        'correct field, unit or topic'),
    'L218': Code(
        'words that any answer has, even "I do not know"; a claim that no text makes; more than '
        '60 characters that no answer repeats',
        'the check does not depend on the answer',
        'ask for words that only a right answer has'),
    'L219': Code(
        'a rule among agents whose time, or the time that it gives, comes after the end of the '
        'run, or whose `unless` is what triggers it',
        'it never fires, or cannot be violated',
        'lower the time; name something else after `unless`'),
    'L220': Code(
        'a command topic that no reaction and no check of motion reads',
        'a controller that drives by it is not seen',
        'a signal of it, in both'),
    'L221': Code(
        'a critical limit at which the robot, braking as declared, ends behind the hazard '
        'in its '
        'path',
        'a PASS would be a collision',
        'lower it, or show the hazard earlier'),
    'L222': Code(
        "a budget of the confirmation that is over before the reaction's, or before a "
        'robot that '
        'brakes as declared could stand',
        'a robot cannot stand before it is commanded to, or not so soon',
        'allow more'),
    'L223': Code(
        'a bag that is over before the longest trial is',
        'its last messages go on, or it begins again with a leap: a controller may answer that '
        'instead of the hazard',
        'record for longer, or shorten the nominal phase'),
    'L224': Code(
        'a joint that the drivers of two command topics have, as when two arms are '
        'commanded and '
        'no driver is declared',
        'a driver takes only trajectories of all its joints, so it rejects those of one arm',
        '`driver: {kind: joint_trajectory, joints: [...]}` at each'),
    'L225': Code(
        'a scene, a robot or a stimulus that the embedded world refuses, by the file or in one '
        'of its first draws: a start inside a wall, a robot that does not exist, a person '
        'inside '
        'the robot',
        'every such trial is an ERROR and shows nothing about the controller',
        'move what is named'),
    'L226': Code(
        'a route that ends within `goal_radius` of the start',
        'the task is done before it begins: `reaches_goal` holds whatever the robot does',
        'a goal farther away, or a smaller radius'),
    'L227': Code(
        'a range or a list that distinguishes a hazard from its benign variant '
        '(`metadata.variant_of`), '
        'though it is not the hazard: when it comes, how long it stays, the topics on which it '
        'is shown, by how much a distance or a force changes, `critical_ms`, and each field of '
        'what is there before it: robot, world, stimuli, harmless changes, frames, instructions',
        'a controller that goes by it and understands nothing passes both',
        'the same in both files'),
    'L228': Code(
        'a robot that is declared to brake harder than its wheels can: at more than friction '
        'times g (Coulomb), with the friction of `world.floor`, or 0.8 where that is not more',
        'distances count as kept that the robot does not keep',
        'declare the deceleration that was measured on such a floor'),
    'L229': Code(
        'a hazard that a blind controller, which ignores its sensors, passes in more than 5 % of '
        'the trials, or as often as it likes, as the hold of the reaction is so short that it may '
        'stop again and again',
        'a PASS shows little about the controller',
        'let the hazard come at times that range over 20 times the budget; hold for longer'),
    'L230': Code(
        'a hazard that moves in a world (`walks`, `drives`), in a file that does not say whether '
        'it needs one',
        'links without a world show it standing, and judge another hazard',
        '`world: {required: true}`; `required: false` if who stands there is a hazard too'),
    'L231': Code(
        'an all-clear that comes at nearly the same time in all trials, where work must go on '
        'after it: `all_clear.at_ms` differs by no more than `all_clear.resume_within_ms`',
        'a controller that stops, waits for that time and drives on passes, whoever is still '
        'there',
        'draw `ros.all_clear.at_ms` by `vary` over a longer time'),
    'L301': Code(
        'a check that fails no wrong controller. Bans of words (`not_contains`) are left to the '
        'numbers: no wrong controller uses the words',
        'a check that cannot fail checks nothing',
        'tighten it, or drop it'),
    'L302': Code(
        'a wrong controller that passes the trial',
        'a controller that is wrong gets a PASS',
        'add a check that it fails'),
    'L303': Code(
        'a scenario of a robot that the reference controller does not pass; then L302 is not '
        'looked for',
        'no controller was seen to pass, and a wrong controller that fails may fail for the same '
        'reason',
        'correct it, or say how a right controller was shown to pass'),
    'L304': Code(
        'a latency budget that is missed only by never reacting',
        'a late reaction passes',
        'lower it, or clear later'),
    'L305': Code(
        'a check that ended in an error',
        'it checks nothing',
        'correct what it reads'),
    'L306': Code(
        'a scenario that was not tried: it needs people, or more than two minutes or 20 000 '
        'messages a trial',
        'whether its checks can fail is unknown',
        'shorten it, or say how it was tried')}
