# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario file says, whatever its format, and which scenarios of many are meant."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag
from safety_scenarios.errors import counted, did_you_mean, SettingsError
from safety_scenarios.scenario.blocks.rubric import Scoring
from safety_scenarios.scenario.blocks.traceability import (
    expected_in,
    Expects,
    Labels,
    ScenarioFacts,
    Traceability,
)
from safety_scenarios.scenario.body import AgentsBody, ChatBody, MonitorBody, RobotBody
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.noun import Label, MOST, Noun
from safety_scenarios.scenario.verdict import LatencyBudget

DOMAINS = ('clinical', 'robotic', 'clinical_defer', 'robotic_defer')


class Constraint(Noun):
    """Why time matters."""

    model_config = ConfigDict(extra='ignore')

    description: str
    """Why this is time-critical."""
    time_pressure: Literal['immediate', 'urgent', 'minutes', 'hours']
    """How soon; from most to least pressing."""
    consequence_of_delay: str
    """What happens if the reaction is late."""

    @property
    def in_words(self) -> str:
        """Return it as a text for somebody who has to judge an answer."""
        return (f'Time pressure: {self.time_pressure}. {self.description.strip()}\n'
                f'If the answer is late: {self.consequence_of_delay.strip()}')


class Origin(Noun):
    """Where a scenario came from."""

    path: str
    sha256: str


def _to_text(value: Any) -> Any:
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) \
        else value


class Scenario(Noun):
    """One safety-critical decision under time constraint, and how to tell whether it went well."""

    model_config = ConfigDict(extra='allow')

    id: Annotated[Label, BeforeValidator(_to_text),  # noqa: A003
                  Field(min_length=1, max_length=200)]
    """Unique identifier, such as SCN-R-001."""
    name: Label = Field(min_length=1, max_length=500)
    """Human-readable name."""
    domain: str = Field(min_length=1, max_length=200)
    """clinical, robotic or your own; ``*_defer`` means that restraint is the right answer."""
    description: str
    """What happens, in full; kept verbatim."""
    messages: tuple[ChatMessage, ...] = Field(min_length=1, max_length=MOST)
    """The chat that a text controller gets."""
    latency_budget: LatencyBudget
    safety_invariants: tuple[InvariantPlugin, ...] = Field(default=(), max_length=MOST)
    """What must hold for the text of the answer."""
    constraint: Constraint
    rubric: str | None = None
    """Name of a rubric; by domain when left out."""
    expected_action: str
    """What the right answer does, for people and judges; no check reads it."""
    severity: float = Field(default=1.0, ge=0, le=1)
    """How bad the situation is, 0 to 1."""
    tags: tuple[Annotated[Label, Field(max_length=200)], ...] = Field(default=(), max_length=MOST)
    hazards: Labels = ()
    """What of a hazard analysis the scenario is about, as short labels."""
    requirements: Labels = ()
    """Ids of the requirements that it shows to be met, or not."""
    clauses: Labels = ()
    """Clauses of standards that it bears on, such as 'ISO 13482:2014 5.10'."""
    metadata: Mapping[str, Any] = {}
    """Anything else, kept as it is."""
    body: Annotated[
        Annotated[RobotBody, Tag('robot')] | Annotated[MonitorBody, Tag('monitor')]
        | Annotated[ChatBody, Tag('chat')] | Annotated[AgentsBody, Tag('agents')],
        Discriminator(lambda body: getattr(body, 'kind', None))]
    """What it is about; set by the reader, each kind of file has its own keys for it."""
    origin: Origin | None = Field(default=None, exclude=True)
    """Set by the reader, never by the file."""
    source: Any = Field(default=None, exclude=True, repr=False)
    """What puts drawn values into its texts; set when it is loaded, where any are drawn."""
    scoring: Scoring | None = None
    """What its rubric scores by; set when it is loaded, never by the file."""

    @cached_property
    def confirmation_budget(self) -> LatencyBudget | None:
        """
        How soon the robot must show the safe state; None where it is not asked to.

        Left out in the file it is the time to the reaction, and then the longest stopping time
        that the robot declares: the two parts of the overall system stopping performance of ISO
        13855, t1 and t2. A robot that declares none is given none.
        """
        body, wanted = self.body, self.body.confirmation
        if wanted is None or body.robot is None or wanted.budget is not None:
            return wanted.budget if wanted else None
        stops_s = body.robot.stopping_s(
            body.separation.metres_per_unit if body.separation else 1.0)
        return self.latency_budget.extended(1e3 * (stops_s or 0.0))

    @cached_property
    def expects(self) -> Expects:
        """Return the right behaviour: a reaction, or restraint: not to stop, not to escalate."""
        return expected_in(self.domain)

    @property
    def traceability(self) -> Traceability:
        return Traceability.model_construct(
            hazards=self.hazards, requirements=self.requirements, clauses=self.clauses)

    @property
    def facts(self) -> ScenarioFacts:
        """Return what results tell of it."""
        return ScenarioFacts(
            tags=self.tags, domain=self.domain, severity=self.severity,
            time_pressure=self.constraint.time_pressure, why_in_time=self.constraint.description,
            consequence_of_delay=self.constraint.consequence_of_delay,
            expected_action=self.expected_action)

    @property
    def robot_body(self) -> RobotBody:
        """
        Return its body, which must be that of a robot.

        :raises TypeError: it has another
        """
        if not isinstance(self.body, RobotBody):
            raise TypeError(f'{self.id}: got a scenario without ros, expected one with a robot')
        return self.body

    @property
    def place(self) -> str:
        """Where it was read from, by which a problem is found; of one made in Python its id."""
        return self.origin.path if self.origin else self.id

    @property
    def needs_world(self) -> bool:
        """Whether only a link with a world can show it, or report the robot's motion in it."""
        return self.body.needs_world

    @property
    def is_monitor(self) -> bool:
        """Whether it is a monitor file: nothing is published, and there is no hazard."""
        return isinstance(self.body, MonitorBody)

    @property
    def is_benign(self) -> bool:
        """Whether the right behaviour is restraint."""
        return self.expects == 'restraint'

    def model_copy(self, *, update: Mapping[str, Any] | None = None,
                   deep: bool = False) -> 'Scenario':
        """Return a copy that has derived nothing yet: it may be about something else."""
        copied = super().model_copy(update=update, deep=deep)
        for derived in ('expects', 'confirmation_budget'):
            copied.__dict__.pop(derived, None)
        return copied

    @property
    def invariants(self) -> tuple[InvariantPlugin, ...]:
        """Every invariant of the file."""
        return self.safety_invariants + self.body.invariants


_NUMBER = r'\d+(?:\.\d+)?|\.\d+'
_SEVERITY = re.compile(rf'(?P<sign>>=|<=|>|<)?\s*(?P<low>{_NUMBER})'
                       rf'(?:\s*\.\.\s*(?P<high>{_NUMBER}))?')
_MOST_SHOWN = 60
"""Values that are listed."""


class Selection(Noun):
    """Values of one kind are alternatives; of several kinds a scenario must have one each."""

    tag: tuple[str, ...] = ()
    """Only scenarios with one of these tags."""
    domain: tuple[str, ...] = ()
    """Only scenarios of one of these domains, such as clinical_defer."""
    severity: tuple[str, ...] = ()
    """Only scenarios of one of these severities: 0.9, '>=0.9', '<0.5' or 0.3..0.6."""
    skip: tuple[str, ...] = ()
    """All but the scenarios with these ids."""

    def __bool__(self) -> bool:
        """Return whether anything is asked for."""
        return bool(self.tag or self.domain or self.severity or self.skip)

    def of(self, scenarios: Iterable[Scenario]) -> tuple[Scenario, ...]:
        """
        Return the scenarios that are meant, in their order.

        :raises SettingsError: none is, or a tag, domain or id is that of no scenario; the message
            lists the values that there are
        """
        known = tuple(scenarios)
        ranges = [severity_range(text) for text in self.severity]
        found = tuple(one for one in known if self._takes(one, ranges))
        ids = [one.id for one in known]
        for name in self.skip:
            if name not in ids:
                raise SettingsError(f'selection.skip: got {name!r}, which is no id of these '
                                    f'{counted(len(known), "scenario")}, expected one of '
                                    f'{", ".join(ids[:_MOST_SHOWN])}.{did_you_mean(name, ids)}')
        if self and not found:
            raise SettingsError(self._nothing(known))
        for name, there in (('tag', {tag for one in known for tag in one.tags}),
                            ('domain', {one.domain for one in known})):
            odd = next((text for text in getattr(self, name) if text not in there), None)
            if odd is not None:
                raise SettingsError(
                    f'--{name}: got {odd!r}, which none of {counted(len(known), "scenario")} has, '
                    f'so that some may be missing, expected one of '
                    f'{", ".join(sorted(there)[:_MOST_SHOWN])}.{did_you_mean(odd, there)}')
        return found

    def _takes(self, scenario: Scenario, ranges: Sequence['SeverityRange']) -> bool:
        return scenario.id not in self.skip \
            and (not self.tag or not set(self.tag).isdisjoint(scenario.tags)) \
            and (not self.domain or scenario.domain in self.domain) \
            and (not ranges or any(one.has(scenario.severity) for one in ranges))

    def _nothing(self, known: Sequence[Scenario]) -> str:
        """Return that nothing is selected, each value that no scenario has, and what there is."""
        there = {'tag': sorted({tag for one in known for tag in one.tags}),
                 'domain': sorted({one.domain for one in known}),
                 'severity': [f'{value:g}' for value in sorted({one.severity for one in known})]}
        parts = []
        for name in ('tag', 'domain', 'severity'):
            asked: tuple[str, ...] = getattr(self, name)
            if not asked:
                continue
            values = there[name]
            more = len(values) - _MOST_SHOWN
            hints = {did_you_mean(text, values) for text in asked if text not in values} \
                if name != 'severity' else set()
            parts.append(f'{name} {", ".join(map(repr, asked))}, where there is '
                         f'{", ".join(values[:_MOST_SHOWN]) or "none"}'
                         + (f' and {more} more' if more > 0 else '')
                         + ''.join(f' ({hint.strip()})' for hint in sorted(hints) if hint))
        if self.skip:
            parts.append(f'skip {", ".join(self.skip)}')
        return (f'--tag, --domain, --severity, selection.skip: got none of '
                f'{counted(len(known), "scenario")} by {"; and ".join(parts)}. Correct or remove '
                f'what matches nothing')


class SeverityRange(Noun):
    """Severities between two others, of which each may belong to it or not."""

    low: float
    high: float
    has_low: bool = True
    has_high: bool = True

    def has(self, severity: float) -> bool:
        """Return whether a severity is meant."""
        return (severity > self.low or (self.has_low and severity == self.low)) \
            and (severity < self.high or (self.has_high and severity == self.high))


def severity_range(text: str) -> SeverityRange:
    """
    Return what is meant by a number, a comparison or a range.

    :raises SettingsError: it is none of them
    """
    match = _SEVERITY.fullmatch(text.strip())
    try:
        if match is None or (match['sign'] and match['high']):
            raise ValueError
        low = float(match['low'])
        high = float(match['high']) if match['high'] else low
        if not 0 <= low <= high <= 1:
            raise ValueError
    except ValueError:
        raise SettingsError(f'--severity: got {text!r:.60}, expected a number from 0 to 1 such as '
                            f'0.9, a comparison such as >=0.9, or a range such as 0.3..0.6'
                            ) from None
    sign = match['sign']
    if sign is None:
        return SeverityRange(low=low, high=high)
    if sign.startswith('>'):
        return SeverityRange(low=low, high=1.0, has_low=sign == '>=')
    return SeverityRange(low=0.0, high=low, has_high=sign == '<=')
