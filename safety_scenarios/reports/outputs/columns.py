# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The columns of trials, findings and samples: what each means, and how its cell is read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
import json
from typing import Literal

from safety_scenarios.campaign.statistics.quantiles import confirmed_class
from safety_scenarios.scenario.result import Elapsed, Finding, Obligation, RuleOutcome, TrialResult
from safety_scenarios.scenario.verdict import LABELS, LatencyClass, Part

Cell = str | int | float | bool | None
Type = Literal['text', 'int', 'float', 'bool']
Table = Literal['trials', 'findings', 'samples']
TABLE_NAMES: tuple[Table, ...] = ('trials', 'findings', 'samples')


@dataclass(frozen=True)
class Campaign:
    """What rows are made of."""

    name: str
    """Tells the campaigns of one file apart."""
    link: str
    results: Sequence[TrialResult]


@dataclass(frozen=True)
class Sample:
    """One time that was measured, or whose end never came."""

    quantity: str
    end: Elapsed | None = None
    latency_class: LatencyClass | None = None
    observed_ns: int | None = None
    duty: Obligation | None = None
    rule: RuleOutcome | None = None


@dataclass(frozen=True)
class Row:
    """What the cells of one row are read from."""

    campaign: Campaign
    trial: TrialResult
    number: int = 0
    finding: Finding | None = None
    sample: Sample | None = None


@dataclass(frozen=True)
class Column:
    """One entry of the data dictionary, and how its cell is read."""

    name: str
    """With its unit, where it has one of its own."""
    type: Type  # noqa: A003
    meaning: str
    value: Callable[[Row], Cell]
    unit: str = ''
    clock: str = ''
    absent: str = ''
    """What an empty cell means; empty where there is none."""


def least_margin(findings: Iterable[Finding], unit: str) -> float | None:
    """Return the least margin in one unit of the checks that were evaluated; None without one."""
    return min((finding.margin for finding in findings if finding.margin is not None
                and finding.unit == unit and finding.verdict is not None), default=None)


def _ms(ns: int | None) -> float | None:
    return None if ns is None else ns / 1e6


def _listed(values: Iterable[str]) -> str | None:
    found = list(values)
    return json.dumps(found, ensure_ascii=False) if found else None


def _by_name(values: Mapping[str, object]) -> str | None:
    return json.dumps(dict(values), ensure_ascii=False, sort_keys=True) if values else None


def _censored(row: Row) -> bool | None:
    found = row.trial.latency
    return None if found is None else found.latency_class is LatencyClass.NO_RESPONSE


def _reaction_cell(read: Callable[[Elapsed], Cell]) -> Callable[[Row], Cell]:
    return lambda row: read(row.trial.latency.reaction) \
        if row.trial.latency and row.trial.latency.reaction is not None else None


def _world_cell(name: str) -> Callable[[Row], Cell]:
    return lambda row: getattr(row.trial.world, name) if row.trial.world else None


def _task_cell(name: str) -> Callable[[Row], Cell]:
    return lambda row: getattr(row.trial.world.task, name) \
        if row.trial.world and row.trial.world.task else None


def _separation_cell(name: str) -> Callable[[Row], Cell]:
    return lambda row: getattr(row.trial.separation, name) if row.trial.separation else None


def _split_cell(name: str) -> Callable[[Row], Cell]:
    return lambda row: _ms(getattr(row.trial.latency.split, name)) \
        if row.trial.latency and row.trial.latency.split else None


def _part_cell(name: str) -> Callable[[Row], Cell]:
    return lambda row: _ms(part.ns) if (part := _parts(row).get(name)) else None


def _parts(row: Row) -> Mapping[str, Part]:
    """Return the parts of the reaction that are known, by name."""
    found = row.trial.latency.parts if row.trial.latency else None
    return {} if found is None else {
        name: part for name, part in found.named() if part is not None}


def _implausible(row: Row) -> Cell:
    found = row.trial.latency.parts if row.trial.latency else None
    return None if found is None else _listed(found.implausible)


def _margin_in(unit: str) -> Callable[[Row], Cell]:
    return lambda row: least_margin(row.trial.findings, unit)


def _finding_cell(read: Callable[[Finding], Cell]) -> Callable[[Row], Cell]:
    return lambda row: None if row.finding is None else read(row.finding)


def _sample_cell(read: Callable[[Sample], Cell]) -> Callable[[Row], Cell]:
    return lambda row: None if row.sample is None else read(row.sample)


def _end_cell(read: Callable[[Elapsed], Cell]) -> Callable[[Row], Cell]:
    return _sample_cell(lambda sample: None if sample.end is None else read(sample.end))


def _sample_ms(sample: Sample) -> float | None:
    if sample.duty is not None:
        return _ms(sample.duty.latency_ns)
    return _ms(sample.end.judged_ns) if sample.end else None


def _sample_censored(sample: Sample) -> bool | None:
    """Return whether the end never came while somebody listened; None where nobody can tell."""
    if _sample_ms(sample) is not None:
        return False
    return None if sample.latency_class is None \
        else sample.latency_class is LatencyClass.NO_RESPONSE


_NO_LATENCY = 'the trial asks for no latency, or never came to its hazard'
_NO_REACTION = f'there was no reaction (latency_censored is true), or {_NO_LATENCY}'
_NO_WORLD = 'no world reported it, or its reports had a gap'
_NO_SCORE = 'there is no rubric, or no answer'
_STEADY, _JUDGED = 'steady', 'by the latency clock: steady, ROS, or the worse of both'

_WHO = (
    Column('campaign', 'text', 'Name of the campaign: that of its folder.',
           lambda row: row.campaign.name or None, absent='the campaign wrote no folder'),
    Column('trial_id', 'text', 'Identifies the trial in its campaign and names its files.',
           lambda row: row.trial.trial_id),
    Column('scenario_id', 'text', 'Id of the scenario.', lambda row: row.trial.scenario_id))

_TRIALS = (
    *_WHO,
    Column('scenario_name', 'text', 'Name of the scenario, for people.',
           lambda row: row.trial.scenario_name),
    Column('domain', 'text', 'What the scenario is about; a domain that ends in _defer, or is '
           'otherwise benign, asks for restraint (see benign).', lambda row: row.trial.domain),
    Column('controller', 'text', 'Label of the controller that was judged.',
           lambda row: row.trial.controller),
    Column('index', 'int', 'Number of the trial in its scenario, from 0; below 0: warm-up.',
           lambda row: row.trial.index),
    Column('seed', 'int', 'Seed of the trial: the same seed gives the same plan.',
           lambda row: row.trial.seed),
    Column('warmup', 'bool', 'The trial is in no number of the campaign.',
           lambda row: row.trial.warmup),
    Column('verdict', 'text', 'PASS, INCONCLUSIVE, ERROR or FAIL. Only PASS and FAIL are results '
           'about the controller.', lambda row: row.trial.verdict.value),
    Column('reason', 'text', 'The worst finding in one line.', lambda row: row.trial.reason),
    Column('latency_ms', 'float', 'Judged latency, from the onset of the hazard to the reaction.',
           _reaction_cell(lambda end: end.judged_ns / 1e6), 'ms', _JUDGED, _NO_REACTION),
    Column('latency_class', 'text', 'Where it falls in the budget: target, acceptable, critical, '
           'violation; no_response; anticipatory (it reacted before the hazard).',
           lambda row: row.trial.latency.latency_class.value if row.trial.latency else None,
           absent=_NO_LATENCY),
    Column('failure_class', 'text', 'A: a severe violation; E: made up; B: another violation; D: '
           'too late; none.',
           lambda row: row.trial.failure_class),
    Column('duration_ms', 'float', 'From the first event to the last.',
           lambda row: row.trial.duration_ms if row.trial.started_system_ns else None,
           'ms', _STEADY, 'the trial has no record'),
    Column('confirmed_ms', 'float', 'From onset until the robot itself showed the safe state.',
           lambda row: _ms(row.trial.latency.confirmed.judged_ns)
           if row.trial.latency and row.trial.latency.confirmed else None, 'ms', _JUDGED,
           'it was not asked to, never did, or it is unknown (see confirmed_class)'),
    Column('confirmed_class', 'text', 'Class of that by its own budget; no_response: it never '
           'came while the robot went on reporting.', lambda row: confirmed_class(row.trial),
           absent='the robot was not asked to show it, or it is unknown'),
    Column('link', 'text', 'ros: over DDS. loopback, simulated: in simulated time, in which '
           'neither messages nor thinking take any.', lambda row: row.campaign.link),
    Column('started_ns', 'int', 'When the trial began, since the epoch.',
           lambda row: row.trial.started_system_ns or None, 'ns',
           'system; of links loopback and simulated that of the simulation, which begins in 2020',
           'the trial has no record'),
    Column('benign', 'bool', 'The right behaviour was restraint: a stop is a false stop.',
           lambda row: row.trial.is_benign),
    Column('false_stop', 'bool', 'A benign variant that failed by a check about stopping or '
           'refusing.', lambda row: row.trial.is_false_stop),
    Column('latency_censored', 'bool', 'No reaction came while the harness listened '
           '(latency_observed_ms): the latency is longer than that, and no number.', _censored,
           absent=_NO_LATENCY),
    Column('latency_measured', 'bool', 'The latency, or that there was none, may go into numbers '
           'of the campaign: it was judged and nothing kept the harness from observing well.',
           lambda row: row.trial.is_measured if row.trial.latency else None,
           absent=_NO_LATENCY),
    Column('latency_observed_ms', 'float', 'How long after onset the harness listened.',
           lambda row: _ms(row.trial.latency.observed_ns) if row.trial.latency else None, 'ms',
           _STEADY, _NO_LATENCY),
    Column('latency_uncertainty_ms', 'float', 'Expanded uncertainty of latency_ms (k = 2).',
           _reaction_cell(lambda end: end.uncertainty_ns / 1e6), 'ms', '', _NO_REACTION),
    Column('latency_method', 'text', 'source: middleware stamps of both publishes; received: of '
           "the other's arrival; callback: the harness' own callbacks.",
           _reaction_cell(lambda end: end.method), absent=_NO_REACTION),
    Column('controller_ms', 'float', "The controller's part of the latency, from its receive to "
           'its publish.', _split_cell('controller_ns'), 'ms', 'system, offset corrected',
           'there is no responder beside the controller, or its measurement is too coarse'),
    Column('stands_ms', 'float', 'From onset until the robot stood, as its world reports, or '
           'would by its declared stopping.',
           lambda row: _ms(row.trial.latency.stop.stands_ns)
           if row.trial.latency and row.trial.latency.stop else None, 'ms', _STEADY,
           'the reaction is no stop, or there was none'),
    *(Column(f'part_{name}_ms', 'float', f'Part of the reaction: {label}.', _part_cell(name), 'ms',
             "the controller's own stamps", 'unknown, such as where the controller did not stamp '
             'its commands') for name, label in LABELS.items()),
    Column('parts_way', 'text', 'How far the robot moved in each of these parts (m, of an arm '
           'rad), as JSON by name.',
           lambda row: _by_name({name: part.way for name, part in _parts(row).items()
                                 if part.way is not None}), absent='unknown'),
    Column('implausible_stamps', 'text', 'Stamps of the controller that cannot be true, as JSON; '
           'no part was computed from them.', _implausible, absent='there are none'),
    *(Column(f'least_margin_{name}', 'float', f'Least margin in {unit} of the checks that were '
             'evaluated; > 0 holds.', _margin_in(unit), unit, '',
             'no check of the trial has a margin in this unit: that is no sign that one holds')
      for name, unit in (('m', 'm'), ('s', 's'), ('m_per_s', 'm/s'), ('rad_per_s', 'rad/s'))),
    Column('separation_required_m', 'float', 'Protective separation distance S_p that the '
           'latency, with its uncertainty, asks for.', _separation_cell('required'), 'm', '',
           'the scenario does not say how to compute it, or there was no reaction'),
    Column('separation_available_m', 'float', 'Distance at onset.', _separation_cell('available'),
           'm', '', 'the same, or the distance is unknown'),
    Column('min_gap_m', 'float', 'Least distance to anybody to keep away from; below 0 they '
           'overlap.', _world_cell('min_gap_m'), 'm', '', _NO_WORLD),
    Column('stopping_distance_m', 'float', 'Way from onset to standstill.',
           _world_cell('stopping_distance_m'), 'm', '', f'{_NO_WORLD}; or it did not come to '
           'stand by itself'),
    Column('contacts', 'int', 'How often something touched the robot.', _world_cell('contacts'),
           '1', '', _NO_WORLD),
    Column('contacts_caused', 'int', 'Those into which it moved, or in which it moved on.',
           _world_cell('contacts_caused'), '1', '', _NO_WORLD),
    Column('peak_force_n', 'float', 'Largest contact force, as the simulator estimates it.',
           _world_cell('peak_force_n'), 'N', '', f'{_NO_WORLD}; or there was no contact'),
    Column('exposure_s', 'float', 'How long at least one limit of risk was violated.',
           _world_cell('exposure_s'), 's', "the world's own", _NO_WORLD),
    Column('safety_cost_s', 'float', 'Integral of how far limits of risk were violated.',
           _world_cell('safety_cost'), 's', "the world's own", _NO_WORLD),
    Column('time_lost_s', 'float', 'How long it stood although nothing called for a stop.',
           _task_cell('time_lost_s'), 's', "the world's own", f'{_NO_WORLD}; or there is no task'),
    Column('task_done', 'bool', 'The goal was reached.', _task_cell('done'),
           absent=f'{_NO_WORLD}; or there is no task'),
    Column('task_s', 'float', 'From the beginning of the trial until the goal was reached.',
           _task_cell('done_after_s'), 's', "the world's own",
           f'{_NO_WORLD}; or the goal was not reached'),
    Column('quadrant', 'text', 'Safe or unsafe, and done or not done.', _world_cell('quadrant'),
           absent=f'{_NO_WORLD}; or one of the two is unknown'),
    Column('rtf', 'float', 'Real-time factor of /clock.', lambda row: row.trial.rtf, '1', '',
           'there is no simulated time on a topic'),
    Column('chance', 'float', 'Most of such trials that a controller could pass without looking.',
           lambda row: row.trial.chance, '1', '', 'no such level is stated'),
    Column('drawn', 'text', 'What differed in this trial, as a JSON object.',
           lambda row: _by_name(row.trial.drawn), absent='nothing varies'),
    *(Column(name, 'text', f'{name.capitalize()} that the scenario names, as a JSON list.',
             lambda row, name=name: _listed(  # type: ignore[misc]
                 getattr(row.trial.traceability, name)), absent='it names none')
      for name in ('hazards', 'requirements', 'clauses')),
    Column('tags', 'text', 'Tags of the scenario, as a JSON list.',
           lambda row: _listed(row.trial.scenario.tags) if row.trial.scenario else None,
           absent='it has none'),
    Column('scenario_severity', 'float', 'How bad the situation is, 0 to 1.',
           lambda row: row.trial.scenario.severity if row.trial.scenario else None, '1', '',
           'an earlier version wrote the result'),
    Column('rubric', 'text', 'Rubric that graded the answer, beside the verdict.',
           lambda row: row.trial.scores.rubric if row.trial.scores else None, absent=_NO_SCORE),
    Column('score', 'float', 'Overall score by the rubric, 0 to 1: never instead of the verdict.',
           lambda row: row.trial.scores.overall if row.trial.scores else None, '1', '',
           _NO_SCORE),
    Column('scores', 'text', 'Score of each dimension of the rubric, as a JSON object.',
           lambda row: _by_name({one.name: one.score for one in row.trial.scores.dimensions})
           if row.trial.scores else None, absent=_NO_SCORE),
    Column('notes', 'text', 'What is worth knowing and decides nothing, as a JSON object of code '
           'to text.', lambda row: _by_name({note.code: note.text for note in row.trial.notes}),
           absent='there is nothing'))

_FINDINGS = (
    *_WHO,
    Column('number', 'int', 'Place among the findings of the trial, from 1.',
           lambda row: row.number),
    Column('check', 'text', "Name of the invariant, or of the harness' own check.",
           _finding_cell(lambda found: found.check)),
    Column('kind', 'text', 'Kind of the check: its plug-in, or harness.',
           _finding_cell(lambda found: found.kind)),
    Column('source', 'text', 'The part that found it.', _finding_cell(lambda found: found.source),
           absent='an earlier version wrote the result, which did not say'),
    Column('verdict', 'text', 'PASS, INCONCLUSIVE, ERROR or FAIL.',
           _finding_cell(lambda found: found.verdict.value if found.verdict else None),
           absent='the check was not evaluated, which is no PASS'),
    Column('reason', 'text', 'Why, with the numbers.', _finding_cell(lambda found: found.reason)),
    Column('margin', 'float', 'Signed distance to the limit, in the unit of the column '
           'margin_unit; > 0 holds.', _finding_cell(lambda found: found.margin),
           'in margin_unit', '', 'there is no number, which is no sign that the check holds'),
    Column('margin_unit', 'text', 'Unit of margin: it differs from check to check.',
           _finding_cell(lambda found: found.unit if found.margin is not None else None),
           absent='there is no margin, or it has no unit'),
    Column('at_ms', 'float', 'When, after onset; below 0: before it.',
           _finding_cell(lambda found: found.at_ms), 'ms', _STEADY,
           'it is about no moment, or there was no onset'),
    Column('severity', 'float', 'How much a violation weighs, 0 to 1.',
           _finding_cell(lambda found: found.severity), '1'))

_NOT_OF_THE_ONSET = 'the end never came, or the sample is an obligation, which is timed by the ' \
                    'steady clock alone'
_SAMPLES = (
    *_WHO,
    Column('number', 'int', 'Place among the samples of the trial, from 1.',
           lambda row: row.number),
    Column('quantity', 'text', 'What was timed: first_command, reaction and confirmed from the '
           'onset of the hazard; obligation from the firing of a rule to the demanded event.',
           _sample_cell(lambda sample: sample.quantity)),
    Column('value_ms', 'float', 'The time that was judged.', _sample_cell(_sample_ms), 'ms',
           _JUDGED, 'the end never came (censored is true), or it cannot be determined'),
    Column('censored', 'bool', 'The end never came while the harness listened: the time is '
           'longer than that, and no number.', _sample_cell(_sample_censored),
           absent='it is unknown whether it came'),
    Column('latency_class', 'text', 'Where it falls in its budget.',
           _sample_cell(lambda sample: sample.latency_class.value if sample.latency_class
                        else None), absent='it has no budget, or it cannot be determined'),
    Column('measured', 'bool', 'It may go into numbers: nothing kept the harness from observing '
           'well.', lambda row: {'reaction': row.trial.is_measured,
                                 'confirmed': row.trial.is_confirmation_measured}.get(
                                     row.sample.quantity) if row.sample else None,
           absent='first_command and obligation are in no number of the campaign'),
    Column('observed_ms', 'float', 'How long after onset the harness listened.',
           _sample_cell(lambda sample: _ms(sample.observed_ns)), 'ms', _STEADY,
           'the sample is an obligation'),
    Column('steady_ms', 'float', 'Real time by the method, checked against the steady clock.',
           _end_cell(lambda end: end.steady_ns / 1e6), 'ms', _STEADY, _NOT_OF_THE_ONSET),
    Column('ros_ms', 'float', 'ROS time between the same instants.',
           _end_cell(lambda end: _ms(end.ros_ns)), 'ms', 'ROS',
           f'{_NOT_OF_THE_ONSET}; or system time stepped'),
    Column('callback_ms', 'float', "Real time in the evaluator's own callbacks.",
           _end_cell(lambda end: end.callback_ns / 1e6), 'ms', _STEADY, _NOT_OF_THE_ONSET),
    Column('header_ms', 'float', 'By the header stamps that the senders wrote: never judged.',
           _end_cell(lambda end: _ms(end.header_ns)), 'ms', "the senders' own",
           f'{_NOT_OF_THE_ONSET}; or a message has no header'),
    Column('uncertainty_ms', 'float', 'Expanded uncertainty (k = 2).',
           _end_cell(lambda end: end.uncertainty_ns / 1e6), 'ms', '', _NOT_OF_THE_ONSET),
    Column('method', 'text', 'source, received or callback.', _end_cell(lambda end: end.method),
           absent=_NOT_OF_THE_ONSET),
    Column('rule', 'text', 'The rule that demands it, in the words of the file.',
           _sample_cell(lambda sample: sample.rule.rule if sample.rule else None),
           absent='the sample is no obligation'),
    Column('late_by_ms', 'float', 'How long after its deadline the demanded event came.',
           _sample_cell(lambda sample: _ms(sample.duty.late_by_ns) if sample.duty else None), 'ms',
           _STEADY, 'it came in time or never, or the sample is no obligation'))

TABLES: Mapping[Table, tuple[Column, ...]] = {
    'trials': _TRIALS, 'findings': _FINDINGS, 'samples': _SAMPLES}
"""Columns of each table, in their order."""
