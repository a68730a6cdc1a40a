# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L202: formulas that every motion satisfies, or none, seen from what their signals can be."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
import math

from safety_scenarios.lint.codes import FieldPath, Remark
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.blocks.vary import steps_to, with_value
from safety_scenarios.scenario.body import Condition, RobotBody
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.temporal_logic.formula import (
    And,
    Constant,
    Edge,
    Formula,
    Future,
    Iff,
    Implies,
    Name,
    names_in,
    Not,
    Number,
    Or,
    Past,
    Predicate,
    reader,
    Scaled,
    Since,
    Size,
    Sum,
    Term,
    Until,
    walk,
)
from safety_scenarios.temporal_logic.parser import FormulaError, parse

BEYOND = 1.1
"""Times its top speed: limits up to there are rounded, those above it are beyond the robot."""


@dataclass(frozen=True, slots=True)
class Range:
    """From the least to the greatest value, both possible."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """Return the greatest step that a value can take."""
        return self.high - self.low


def is_signed(signal: Signal) -> bool:
    """Return whether a signal is a speed whose sign tells the direction."""
    return signal.unit in ('m/s', 'rad/s') and signal.reduce in ('none', 'min', 'max')


def is_still(signal: Signal, robot: RobotModel) -> bool:
    """Return whether it is along an axis that no robot of this kind moves on."""
    return kind_of(robot).never_moves(signal.field)


def reach(signal: Signal, robot: RobotModel | None) -> Range:
    """Return what a signal can be; without end where the robot's top speed does not tell."""
    low = 0.0 if signal.reduce in ('abs', 'norm', 'max_abs', 'joint_speed') else -math.inf
    if robot is None:
        return Range(low, math.inf)
    if is_still(signal, robot):
        return Range(0.0, 0.0)
    if signal.unit != kind_of(robot).speed_unit:
        return Range(low, math.inf)
    return Range(max(low, -robot.max_speed), robot.max_speed)


def by_name(ros: RobotBody, name: str | None) -> tuple[Signal, Range] | None:
    """Return a signal and what it can be; None when there is no such signal."""
    signal = ros.signals.get(name) if name is not None else None
    return None if signal is None else (signal, reach(signal, ros.robot))


def is_turning(signal: Signal) -> bool:
    """Return whether it tells how fast a base turns; the fastest of its wheels tells both."""
    return signal.unit == 'rad/s' and (
        'angular' in signal.field or signal.reduce in ('none', 'abs'))


def conditions(ros: RobotBody) -> Iterator[tuple[FieldPath, Limit, Sequence[Limit]]]:
    """Yield (field path, limit, all limits beside it) of the reaction and the confirmation."""
    for name, condition in (('reaction', ros.reaction), ('confirmation', ros.confirmation)):
        if isinstance(condition, Condition):
            several = condition.signal is None
            for index, limit in enumerate(condition.limits):
                path: FieldPath = ('ros', name, 'all', index) if several else ('ros', name)
                yield path, limit, condition.limits


def says_at_least(known: Limit, about: Limit, ros: RobotBody) -> Range | None:
    """
    Return what a limit that holds says about the signal of another limit; None: nothing.

    The whole of a vector is at least as large as each of its parts; a part may be anything.
    """
    first, second = ros.signals[known.signal], ros.signals[about.signal]
    low = -math.inf if known.at_least is None else known.at_least
    high = math.inf if known.at_most is None else known.at_most
    if known.signal == about.signal or (first.topic, first.field, first.reduce) == (
            second.topic, second.field, second.reduce):
        return Range(low, high)
    if first.topic != second.topic or low <= 0 or reach(second, ros.robot).low < 0:
        return None
    is_whole = first.field == second.field or first.field.startswith(f'{second.field}.')
    return Range(low, math.inf) if is_whole and second.reduce != 'joint_speed' else None


_FAR = 1e6
"""Stands for a value without end."""
_MOST = 20_000
"""Combinations of values that are tried; of more, none is told constant."""
_USUAL = 0.01, 0.1, 1.0, 10.0
"""Also tried, for predicates that compare two signals."""
_HAZARD = 'hazard'
_TRUTH = 'truth.'


def check_formulas(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """Yield the remarks on every temporal formula of a scenario."""
    for index, invariant in enumerate(ros.invariants):
        text = getattr(invariant, 'formula', None)
        if not isinstance(text, str):
            continue
        try:
            formula = parse(text)
        except FormulaError:
            continue  # told when the file was read
        path = ('ros', 'invariants', index, 'formula')
        values = _values(formula, ros)
        found = next(_constants(formula, values), None)
        if found is not None:
            yield Remark('L202', scenario, path, _words(formula, *found))
        elif not _asks_the_robot(formula, ros.signals, values):
            yield Remark('L202', scenario, path, (
                'got a formula in which nothing depends on what the robot does: only the harness '
                'can break it. Compare a signal with values that it can reach on both sides'))


def _asks_the_robot(formula: Formula, signals: Mapping[str, Signal],
                    values: Mapping[str, Sequence[float]]) -> bool:
    """Return whether a predicate on a signal of the robot may be true and may be not."""
    return any(isinstance(node, Predicate) and not signals.keys().isdisjoint(names_in(node))
               and _by_trying(node, values) is None for node, _ in walk(formula))


def _words(formula: Formula, part: Formula, always: bool) -> str:
    if part is formula:
        return ('got a formula that every motion satisfies, whatever its signals are: it cannot '
                'fail. Compare with values that the robot can reach on both sides'
                if always else
                'got a formula that no motion satisfies, whatever its signals are: nothing '
                'passes. Compare with values that the robot can reach')
    return ('got a formula in which the left side of an implication is never true, whatever its '
            'signals are: it never asks for anything. Correct the condition')


def _constants(formula: Formula, values: Mapping[str, Sequence[float]]) -> \
        Iterator[tuple[Formula, bool]]:
    """Yield each left side that never comes true, and the formula if it is constant."""
    for node, _ in walk(formula):
        if isinstance(node, Implies) and _constant_truth(node.left, values) is False:
            yield node.left, False
    known = _constant_truth(formula, values)
    if known is not None:
        yield formula, known


def _constant_truth(formula: Formula, values: Mapping[str, Sequence[float]]) -> bool | None:
    """Return what a formula is whatever its signals do; None: that depends."""
    if _is_now(formula):
        return _by_trying(formula, values)
    match formula:
        case Not(part):
            known = _constant_truth(part, values)
            return None if known is None else not known
        case And(parts):
            return _all([_constant_truth(part, values) for part in parts], parts, values)
        case Or(parts):
            known = _all([_opposite(_constant_truth(part, values)) for part in parts],
                         [_negated(part) for part in parts], values)
            return _opposite(known)
        case Implies(left, right):
            return _constant_truth(Or((_negated(left), right)), values)
        case Iff(left, right):
            first, second = _constant_truth(left, values), _constant_truth(right, values)
            if left == right:
                return True
            return None if first is None or second is None else first == second
        case Future(part, _, _):
            return _constant_truth(part, values)
        case Past(part, every, bounds):
            known = _constant_truth(part, values)
            return known if known is every or bounds is None or not bounds.first_ns else None
        case Until(left, right, weak, _):
            first, second = _constant_truth(left, values), _constant_truth(right, values)
            if second is not False:
                return True if second or (weak and first) else None
            return first if weak else False
        case Since(_, right, _):
            return False if _constant_truth(right, values) is False else None
        case Edge(part, rising):
            return False if _constant_truth(part, values) is (not rising) else None
    return None


def _all(known: Sequence[bool | None], parts: Sequence[Formula],
         values: Mapping[str, Sequence[float]]) -> bool | None:
    """Return what the parts are together; a part and its opposite never are."""
    now = [part for part in parts if _is_now(part)]
    together = _by_trying(And(tuple(now)), values) if len(now) > 1 else None
    if False in known or together is False or any(_negated(part) in parts for part in parts):
        return False
    return True if all(known) else None


def _opposite(known: bool | None) -> bool | None:
    return None if known is None else not known


def _negated(formula: Formula) -> Formula:
    return formula.part if isinstance(formula, Not) else Not(formula)


def _is_now(formula: Formula) -> bool:
    """Return whether a formula is about one moment only."""
    return not any(isinstance(node, (Future, Past, Until, Since, Edge))
                   for node, _ in walk(formula))


def _by_trying(formula: Formula, values: Mapping[str, Sequence[float]]) -> bool | None:
    """
    Return what a formula about one moment is for every combination of telling values.

    Between two neighbouring values of each signal no predicate changes, where predicates compare
    one signal with numbers; where they compare signals with each other it is a sample.
    """
    names = names_in(formula)
    count = math.prod(len(values[name]) for name in names)
    if count > _MOST:
        return None
    found = {_holds(formula, dict(zip(names, chosen)))
             for chosen in islice(product(*(values[name] for name in names)), _MOST)}
    return found.pop() if len(found) == 1 else None


def _holds(formula: Formula, values: Mapping[str, float]) -> bool:
    match formula:
        case Constant(value):
            return value
        case Predicate(larger, smaller):
            return bool(reader(larger)(values) - reader(smaller)(values) > 0)
        case Not(part):
            return not _holds(part, values)
        case And(parts):
            return all(_holds(part, values) for part in parts)
        case Or(parts):
            return any(_holds(part, values) for part in parts)
        case Implies(left, right):
            return not _holds(left, values) or _holds(right, values)
        case Iff(left, right):
            return _holds(left, values) == _holds(right, values)
    raise AssertionError(f'{formula!r} is about more than one moment')


def _values(formula: Formula, ros: RobotBody) -> dict[str, list[float]]:
    """Return for each signal its ends, and a value between each two of its thresholds."""
    found: dict[str, list[float]] = {}
    for name in names_in(formula):
        if name == _HAZARD:
            found[name] = [-_FAR, _FAR]
            continue
        low, high = 0.0, math.inf
        if name in ros.signals:
            can = reach(ros.signals[name], ros.robot)
            low, high = can.low, can.high * BEYOND if can.high else 0.0
        elif name.startswith(_TRUTH):
            high = _most_true(name.removeprefix(_TRUTH), ros)
        else:
            low = -math.inf
        low, high = max(low, -_FAR), min(high, _FAR)
        points = {low, high, *(point for point in _USUAL if low < point < high)}
        for node, _ in walk(formula):
            if isinstance(node, Predicate):
                points |= {point for point in _thresholds(node, name) if low < point < high}
        ordered = sorted(points)
        between = [(first + second) / 2 for first, second in zip(ordered, ordered[1:])]
        found[name] = sorted({low, *between, high})
    return found


def _most_true(name: str, ros: RobotBody) -> float:
    """Return the most that a stimulus means: at its place, and while the robot drives away."""
    topic, _, key = name.rpartition('.')
    context = StimulusContext('', (), None)
    bodies = [*_bodies(ros)]
    values = [value for body in bodies for plugin in body.published
              if plugin.topic.replace('/', '.') == topic and plugin.interface() is not None
              for at_ns in (0, round(body.all_clear.at_ms * 1e6))
              if (shown := plugin.at(at_ns, 0, context)) is not None
              for told, value in shown.truth if told == key]
    nominal = ros.nominal
    away_ms = nominal.require.within_ms + nominal.duration_ms[1] + ros.all_clear.observe_ms \
        + max(body.all_clear.at_ms for body in bodies)
    away = ros.robot.max_speed * away_ms / 1e3 if key == 'distance' else 0.0
    return max(values, default=math.inf) + away


def _bodies(ros: RobotBody) -> Iterator[RobotBody]:
    """Yield what a file says, and the same with each value of a draw that is looked at."""
    yield ros
    for draw in ros.vary.values():
        for value in draw.probes:
            try:
                yield with_value(ros, [steps_to(path)[1:] for path in draw.sets], value)
            except (LookupError, ValueError):  # refused where it is read
                continue


def _thresholds(predicate: Predicate, name: str) -> Iterator[float]:
    """Yield where a predicate on a signal changes, all other signals being zero."""
    names = names_in(predicate)
    if name not in names:
        return

    def margin(value: float) -> float:
        at = {other: value if other == name else 0.0 for other in names}
        return float(reader(predicate.larger)(at) - reader(predicate.smaller)(at))
    numbers = [0.0, *_corners(predicate.larger, name), *_corners(predicate.smaller, name)]
    corners = sorted({-_FAR, *numbers, _FAR})
    for first, second in zip(corners, corners[1:]):
        before, after = margin(first), margin(second)
        if before == 0:
            yield first
        if (before < 0) != (after < 0) and before != after:
            yield first - before * (second - first) / (after - before)


def _corners(term: Term, name: str) -> Iterator[float]:
    """Yield where the absolute values in a term change their direction."""
    for node, _ in walk(term):
        if isinstance(node, Size) and isinstance(node.part, (Name, Sum, Scaled)) \
                and name in names_in(node.part):
            read, names = reader(node.part), names_in(node.part)
            at_zero = float(read(dict.fromkeys(names, 0.0)))
            slope = float(read({**dict.fromkeys(names, 0.0), name: 1.0})) - at_zero
            if slope and not any(isinstance(inner, Size) for inner, _ in walk(node.part)):
                yield -at_zero / slope
        elif isinstance(node, Number):
            yield node.value
