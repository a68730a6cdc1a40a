# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
An acceptance protocol: limits by hazard class, trials and claims, named before the first trial.

Accepted is only what is shown: a limit that cannot be decided, too few trials, or a protocol that
was not named beforehand leave the decision open.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import hashlib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator
from safety_scenarios.campaign.statistics.quantiles import is_due
from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.formats.document.file_contents import raise_problems, read_noun
from safety_scenarios.scenario.companion_files import HazardRegister
from safety_scenarios.scenario.noun import Label, Noun
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.studies.designs.claim import read_claim
from safety_scenarios.studies.designs.limits import (
    Gate,
    GateOutcome,
    held,
    is_about,
    Limit,
    LimitFigure,
    LimitOutcome,
)
from safety_scenarios.studies.side_by_side import Campaign
from safety_scenarios.trial.summary import CampaignSummary

Outcome = Literal['ACCEPTED', 'NOT ACCEPTED', 'UNDECIDED']
Figure = Literal['hazards_missed', 'false_stops', 'failures', 'reaction_ms']
_FIGURES: Mapping[str, LimitFigure] = {
    'miss rate': 'hazards_missed', 'false stop rate': 'false_stops', 'failure rate': 'failures',
    'pass rate': 'failures', 'reaction': 'reaction_ms'}


class ClassLimit(Noun):
    """One limit of acceptance for a class of hazards."""

    severity: Literal['S1', 'S2'] | None = None
    """Only scenarios about hazards of this severity, by the register; left out: all."""
    hazards: tuple[Annotated[Label, Field(max_length=20)], ...] = Field(
        default=(), max_length=1000)
    """Only scenarios about one of these hazards; none: all."""
    figure: Figure
    """hazards_missed, false_stops, failures: share of the decided trials; reaction_ms: a quantile
    of the reaction."""
    at_most: float = Field(gt=0.0)
    """Greatest value that is accepted: a share, or ms."""
    quantile: float = Field(default=0.99, ge=0.5, lt=1.0)
    """Of reaction_ms: which quantile."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1.0)
    """One-sided: the upper bound at this confidence is at most the limit."""

    @model_validator(mode='after')
    def _fits(self) -> 'ClassLimit':
        if self.figure != 'reaction_ms' and self.at_most >= 1.0:
            raise ValueError(f'got at_most {self.at_most:g}, expected a share below 1, such as '
                             f'0.01 for 1 %')
        return self

    @property
    def about(self) -> str:
        """Return the class in words."""
        return ' '.join(filter(None, (
            f'severity {self.severity}' if self.severity else '',
            f'hazards {" ".join(self.hazards)}' if self.hazards else ''))) or 'all hazards'


class Protocol(Noun):
    """What a release has to show, named before the first trial."""

    name: Annotated[Label, Field(min_length=1, max_length=200)]
    """For people."""
    trials: int = Field(ge=1, le=1_000_000)
    """Least number of trials of each scenario, on all levels together."""
    limits: tuple[ClassLimit, ...] = Field(default=(), max_length=100)
    """All of them must hold."""
    claims: tuple[Annotated[str, Field(max_length=200)], ...] = Field(default=(), max_length=100)
    """In words, such as miss rate <= 5 % at 95 %; all of them must be shown."""

    @model_validator(mode='after')
    def _decides(self) -> 'Protocol':
        if not self.limits and not self.claims:
            raise ValueError('got neither limits nor claims, expected one of them at least')
        return self


class Line(Noun):
    """One limit or claim, and what it came to."""

    about: str
    limit: str
    outcome: Outcome
    found: str
    why: str = ''


class Decision(Noun):
    """What a protocol decides about one controller."""

    protocol: str
    sha256: str
    controller: str
    lines: tuple[Line, ...]
    open: tuple[str, ...]  # noqa: A003
    """Why nothing can be accepted, whatever the lines are."""
    notes: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        """Return NOT ACCEPTED if a limit is broken, ACCEPTED if all hold and nothing is open."""
        found = {line.outcome for line in self.lines}
        if 'NOT ACCEPTED' in found:
            return 'NOT ACCEPTED'
        return 'ACCEPTED' if found == {'ACCEPTED'} and not self.open else 'UNDECIDED'

    @property
    def exit_code(self) -> int:
        """Return 0 for ACCEPTED, 1 for NOT ACCEPTED, 3 for UNDECIDED."""
        return {'ACCEPTED': 0, 'NOT ACCEPTED': 1}.get(self.outcome, 3)


def read_protocol(path: Path, register: HazardRegister) -> tuple[Protocol, str]:
    """
    Return a protocol, and the SHA-256 of its file.

    :raises InputError: every problem of the file with its line, a claim that states nothing, or a
        hazard that it names is not in the register
    """
    found, document = read_noun(path, Protocol, 'name, trials and limits')
    known = {one.id for one in register.hazards}
    raise_problems([
        document.problem(('limits', number, 'hazards'), (
            f'got {name}, expected ids of the register of hazards. List them by scenario '
            f'coverage'))
        for number, limit in enumerate(found.limits) for name in limit.hazards
        if name not in known])
    for text in found.claims:
        _limit_of(text)
    return found, hashlib.sha256(path.read_bytes()).hexdigest()


def _limit_of(claim: str) -> Limit:
    read = read_claim(claim, 'claims')
    figure = _FIGURES.get(read.subject)
    if figure is None:
        raise SettingsError(f'claims: got {claim}, expected a claim about one controller')
    if read.subject == 'reaction':
        return Limit(figure=figure, at_most=read.limit, quantile=read.quantile,
                     confidence=read.confidence)
    return Limit(figure=figure, at_most=read.failure_rate, confidence=read.confidence)


def decide(protocol: tuple[Protocol, str], register: HazardRegister,
           results: Sequence[TrialResult], summary: CampaignSummary, *,
           named_sha256: str, doubts: Iterable[str] = ()) -> Decision:
    """
    Return what a protocol decides about one campaign.

    :param doubts: why the campaign must not be read as a pass, such as trials that are missing
    :param named_sha256: of the protocol that was named before the first trial; empty: none was
    """
    known, sha256 = protocol
    counts: dict[str, int] = {}
    for one in results:
        counts[one.scenario_id] = counts.get(one.scenario_id, 0) + 1
    few = sorted(name for name, count in counts.items() if count < known.trials)
    open_ = list(doubts)
    if sha256 != named_sha256:
        open_.append('it is not the protocol that was named before the first trial'
                     if named_sha256 else 'no protocol was named before the first trial')
    if few:
        open_.append(f'{counted(len(few), "scenario")} with fewer than '
                     f'{counted(known.trials, "trial")}, such as {few[0]} with {counts[few[0]]}')
    asked = [*(_bind_class_limit(limit, register, results) for limit in known.limits),
             *(_BoundLimit('all hazards', _limit_of(text)) for text in known.claims)]
    probed = tuple(one.limit for one in asked if not one.unprobed)
    found = held(Gate(limits=probed), [Campaign(summary.controller, results, summary)]) \
        if probed else GateOutcome(name='', outcomes=())
    open_ += [*_unlisted(known, register, results), *found.uncounted.values()]
    return Decision(protocol=known.name, sha256=sha256, controller=summary.controller,
                    lines=tuple(_lines(asked, found.outcomes)), open=tuple(open_),
                    notes=(*_unprobed(known, register, results), *_unclassed(known, results)))


@dataclass(frozen=True)
class _BoundLimit:
    about: str
    limit: Limit
    unprobed: str = ''
    """What no trial is about that the figure counts: the class, or a hazard that the limit names;
    empty: nothing."""


def _bind_class_limit(limit: ClassLimit, register: HazardRegister,
                      results: Sequence[TrialResult]) -> _BoundLimit:
    wanted = set(_hazards(limit, register))
    is_all = limit.severity is None and not limit.hazards
    probed = {name for one in results for name in one.traceability.hazards
              if is_about(limit.figure, one) and (limit.figure != 'reaction_ms' or is_due(one))}
    ids = sorted({one.scenario_id for one in results
                  if is_all or wanted & set(one.traceability.hazards)})
    return _BoundLimit(limit.about, Limit(
        figure=limit.figure, at_most=limit.at_most, quantile=limit.quantile,
        confidence=limit.confidence, scenarios=tuple(ids)),
        ' '.join(sorted(set(limit.hazards) & wanted - probed)) if ids else 'such a hazard')


def _lines(asked: Sequence[_BoundLimit], outcomes: Iterable[LimitOutcome]) -> Iterator[Line]:
    """Yield each limit with its outcome."""
    found = iter(outcomes)
    named: Mapping[str, Outcome] = {'holds': 'ACCEPTED', 'broken': 'NOT ACCEPTED'}
    for one in asked:
        if one.unprobed:
            yield Line(about=one.about, limit=str(one.limit), outcome='UNDECIDED', found='',
                       why=f'no trial probes {one.unprobed}')
            continue
        held_to = next(found)
        yield Line(about=one.about, limit=str(one.limit), found=held_to.found, why=held_to.why,
                   outcome=named.get(held_to.answer, 'UNDECIDED'))


def _hazards(limit: ClassLimit, register: HazardRegister) -> Iterator[str]:
    for hazard in register.hazards:
        if limit.severity in (None, hazard.severity) and (
                not limit.hazards or hazard.id in limit.hazards):
            yield hazard.id


def _unprobed(protocol: Protocol, register: HazardRegister,
              results: Sequence[TrialResult]) -> Iterator[str]:
    """Yield the hazards of the protocol's classes that no trial probes: nothing is shown there."""
    probed = {name for one in results for name in one.traceability.hazards}
    for limit in protocol.limits:
        missing = [name for name in _hazards(limit, register) if name not in probed]
        if missing:
            yield f'{limit.about}: nothing is shown about {" ".join(missing)}: no trial probes it'


def _unclassed(protocol: Protocol, results: Sequence[TrialResult]) -> Iterator[str]:
    """Yield the scenarios without a hazard, if each limit is by a class: none counts them."""
    asked = [limit for limit in protocol.limits if not (limit.severity or limit.hazards)]
    without = sorted({one.scenario_id for one in results if not one.traceability.hazards})
    if without and not asked and not protocol.claims:
        yield (f'no limit counts {counted(len(without), "scenario")} without hazards, such as '
               f'{without[0]}: name what they are about under hazards, or add a limit of all')


def _unlisted(protocol: Protocol, register: HazardRegister,
              results: Sequence[TrialResult]) -> Iterator[str]:
    """
    Yield the scenarios whose hazards a limit by class may leave out: nobody knows the class.

    A label of one's own beside an id of the register leaves nothing open: the id has the class.
    """
    if not any(limit.severity or limit.hazards for limit in protocol.limits):
        return
    ids = {hazard.id for hazard in register.hazards}
    named = {one.scenario_id: one.traceability.hazards for one in results}
    for name, labels in sorted(named.items()):
        unknown = [label for label in labels if label not in ids]
        meant = [one for one in map(register.meant_by, unknown) if one is not None]
        if unknown and (meant or len(unknown) == len(labels)):
            yield (f'{name} is about {" ".join(unknown)}, which the register of hazards does not '
                   f'have, so that its class is unknown.'
                   + (f' Did you mean {" ".join(meant)}?' if meant else ' Correct its hazards'))
