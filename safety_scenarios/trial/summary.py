# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a campaign came to, and what was found on the other end before it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, model_serializer, SerializerFunctionWrapHandler
from pydantic.json_schema import SkipJsonSchema
from safety_scenarios.scenario.blocks.robot import SeparationCost
from safety_scenarios.scenario.blocks.traceability import Traceability
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import Decided, TrialResult
from safety_scenarios.scenario.timing import Calibration
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.trial.identity import Identity
from safety_scenarios.trial.trial import as_in_files

UNDECLARED = (': the controller under test publishes or calls that too. Motion by it makes a '
              'trial INCONCLUSIVE, unless the scenario declares the topic under commands, or '
              'declared_topics names it')
"""Of an output of a type that may move a robot, which is not declared."""
HARMLESS = ': it is not declared, and its type is not known to move a robot'
"""Of any other output that is not declared."""


class PreflightRow(Noun):
    """One question and what was found."""

    check: str
    status: Literal['ok', 'warn', 'error']
    detail: str


class Preflight(Noun):
    """The rows of one scenario."""

    scenario_id: str
    rows: tuple[PreflightRow, ...]


class ScenarioWorld(Noun):
    """The trials of one scenario that were in a world."""

    trials: int
    quadrants: dict[str, int]
    """How many of them each quadrant has."""
    unknown: int
    """Trials of which nobody can tell the quadrant."""
    min_gap_m: float | None
    """Least of all; None where one of them is not known."""
    stopping_distance_m: float | None
    """Longest from onset, of those trials in which it came to rest."""
    contacts_caused: int | None
    """In all trials together; None where one of them is not known."""
    exposure_s: float | None
    """Mean; None where one of them is not known."""
    task_s: Estimate
    """Median time until the goal was reached; a trial in which it never was is longer than any."""


class CampaignWorld(Noun):
    """
    All trials that were in a world.

    A mean is that over scenarios of each one's mean, of the trials in which a figure is known; a
    median that of their medians. Their 95 % intervals are those of scenarios, as the trials of one
    resemble each other. No value of a mean can be longer than the longest trial.
    """

    trials: int
    worlds: tuple[str, ...]
    """What they were in."""
    lockstep: Literal['all', 'some', 'none']
    """In how many of them the world waited for the controller."""
    quadrants: dict[str, int]
    unknown: int
    """Trials of which nobody can tell the quadrant."""
    with_separation: int
    """Trials in which S_p could be held against the truth; in others no exposure tells of it."""
    exposure_s: Estimate
    """Risk exposure time of a trial, mean (s)."""
    safety_cost: Estimate
    """Cumulative safety cost of a trial, mean (s)."""
    time_lost_s: Estimate
    """Time lost by standing where nothing called for it, mean (s)."""
    task_done: Estimate
    """Share of the trials whose task was done, of those where that is known."""
    progress_per_min: Estimate
    """Throughput, median: m of the route, or cycles, in a minute of the world's time."""
    prediction_gap_m: Estimate
    """Predicted less true stopping distance, median (m, of an arm rad)."""
    prediction_gap_worst_m: float | None
    """The lowest of them: by how much a prediction promised too much, if it is below 0."""


class WorldComparison(Noun):
    """
    The second campaign against the first, by the pairs of trials in which both worlds tell.

    Positive differences mean that the second is longer exposed, costs more, loses more time.
    Medians over scenarios of the median difference in each; tests as that of the latencies.
    """

    pairs: int
    quadrants: tuple[dict[str, int], dict[str, int]]
    """Of the first and of the second, in these pairs."""
    exposure_s: Estimate
    exposure_p: float
    safety_cost: Estimate
    safety_cost_p: float
    time_lost_s: Estimate
    time_lost_p: float


class Group(Noun):
    """Trials of the scenarios with one domain, or with one tag."""

    trials: int
    verdicts: dict[str, int]
    severity: float
    """Sum of the severities of their scenarios, a summand for each trial."""
    failed_severity: float
    """That of the trials that FAIL."""


class Weighed(Noun):
    """Verdicts by tag, domain and severity; one trial counts in each of its tags."""

    severity: float
    """Sum of the severities of the scenarios, a summand for each trial."""
    failed_severity: float
    """That of the trials that FAIL."""
    undecided_severity: float
    """That of the trials that ended INCONCLUSIVE or ERROR."""
    domains: Mapping[str, Group]
    tags: Mapping[str, Group]


class RubricSummary(Noun):
    """What one rubric made of the answers."""

    answers: int
    """Trials with scores; one without an answer has none, and is in no mean."""
    overall: float
    """Mean over the answers."""
    lowest: float
    dimensions: Mapping[str, float]
    """Dimension to its mean."""
    failure_classes: Mapping[str, int]
    """In the format's order; the verdicts stand beside them."""
    passed: Mapping[str, str] = {}
    """Id to class, the worst, of the scenarios of which a trial passed that has a class."""


class Rate(Noun):
    """A count out of a count over scenarios; never averaged with another rate."""

    count: int
    of: int
    share: Estimate
    """Trials of one scenario resemble each other: the interval is that of clusters."""
    worst: str | None
    """Id of the scenario with the largest share, which the pooled share would hide."""
    tied: SkipJsonSchema[int] = Field(default=0, exclude=True)
    """Further scenarios with the same share; in no file, where the rows of scenarios show it."""
    undecided: int = 0
    """Trials beside them that ended INCONCLUSIVE or ERROR: neither in the count nor in ``of``."""

    @property
    def also(self) -> str:
        """Return in words how many scenarios are as bad as the one that is named."""
        return f' and {self.tied} more' if self.tied else ''


class Claimable(Noun):
    """
    The greatest rate of one kind of bad trials that these trials do not exclude.

    INCONCLUSIVE and ERROR count as bad. Where trials came out alike, the bound is the wider one of
    all trials and of those that differ.
    """

    what: Literal['missed hazards', 'false stops']
    scenario_id: str | None
    """None: all scenarios of the kind together, each as often as it was run."""
    scenarios: int
    bad: int
    """Of all trials, undecided ones included."""
    trials: int
    """All of them; ``n`` of the bound counts those that differ."""
    undecided: int
    """Of these, INCONCLUSIVE and ERROR."""
    bound: Estimate
    """One-sided upper bound of the rate in draws like these."""


class OtherFailures(Noun):
    """Benign variants that failed, and not by a stop or a refusal."""

    count: int
    of: int
    """Benign variants that PASS or FAIL."""
    checks: dict[str, int]
    """Failed check to the number of these trials in which it failed."""

    def __str__(self) -> str:
        named = ', '.join(f'{check}: {count}' for check, count in self.checks.items())
        return f'{self.count} of {self.of} ({named})'


BOUNDS = frozenset({'upper_ms'})
"""Fields that are nothing but the upper end of an interval: without that they are no number."""


class ConfirmedSummary(Noun):
    """When the robot itself showed the safe state, of a scenario that asks it to."""

    verdicts: dict[str, int]
    """Of the check that it did so in time."""
    latency_classes: dict[str, int]
    """By the confirmation's own budget."""
    not_measured: int
    """Trials in which nobody knows, such as those whose reports paused."""
    latency_ms: tuple[float | None, ...]
    """From onset, in each trial; None where it never came while the robot went on reporting."""
    median_ms: Estimate
    worst_ms: float | None
    """Largest; None when one never came."""
    upper_ms: Estimate
    """As that of the reaction, of these latencies."""


class ScenarioSummary(Noun):
    """One row of the table: all trials of one scenario that count."""

    scenario_id: str
    scenario_name: str
    domain: str
    trials: int
    warmup: int
    """Trials before them, left out of every number by rule."""
    verdict: Verdict
    """The worst of its trials."""
    verdicts: dict[str, int]
    latency_classes: dict[str, int]
    not_measured: int
    """Trials whose latency is in no number: anticipatory, or not to be trusted for a reason."""
    latency_ms: tuple[float | None, ...]
    """Judged latency of each trial, None where there was no reaction (censored)."""
    median_ms: Estimate
    p99_ms: Estimate
    worst_ms: float | None
    """Largest; None when a reaction is missing."""
    upper_ms: Estimate
    """Upper 95 % bound of the 99th percentile for any law, plus the harness' uncertainty; no
    number where these trials cannot carry one. One that was not measured counts as no reaction,
    and so does a trial that ended before the hazard and could not be judged."""
    failed: Estimate
    """Share of trials that did not pass, INCONCLUSIVE and ERROR too; valid at any stop where
    ``stopped_early`` says why."""
    stopped_early: str | None
    """Why the number of trials was not fixed beforehand, such as what a sequential test decided:
    the intervals are those that hold at any stop. None: it was fixed."""
    claims: tuple[str, ...]
    """What this sample is too small to claim."""
    notes: dict[str, str]
    """Code to text of what was odd in some trial."""
    rtf: tuple[float, float] | None
    """Slowest and fastest real-time factor of /clock, None without simulated time."""
    reason: str
    """Reason of the worst trial."""
    separation: SeparationCost | None = None
    """What ``upper_ms`` costs in metres, in the trial that it leaves least; None without one."""
    chance: float | None = None
    """Most of such trials that a controller could pass without looking, by reckoning; None: not
    stated, as of benign variants and words."""
    separation_seen: SeparationCost | None = None
    """What its own latency, with its uncertainty, costs in the trial that it leaves least: this is
    no claim about others."""
    upper_if_normal_ms: Estimate | None = None
    """The bound if latencies follow a normal law; None unless ``latency_law`` asks for it."""
    upper_if_lognormal_ms: Estimate | None = None
    """The bound if latencies follow a lognormal law; None unless ``latency_law`` asks for it."""
    confirmed: ConfirmedSummary | None = None
    """When the robot itself stood; left out where the scenario does not ask it to show that."""
    traceability: Traceability = Traceability()
    """Hazards, requirements and clauses that the scenario names."""
    world: ScenarioWorld | None = None
    """What a world told of its trials; left out where there was none."""

    @model_serializer(mode='wrap')
    def _serialize(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        if self.confirmed is None:
            data.pop('confirmed', None)
        if self.world is None:
            data.pop('world', None)
        return data


class CampaignSummary(Noun):
    """All trials of one command."""

    controller: str
    """Label of the controller under test."""
    link: str
    """ros, or loopback: simulated time, in which neither messages nor thinking take any."""
    seed: int
    planned: int
    """Trials that were to be run, warm-up included, those that a sequential test saved not."""
    completed: int
    interrupted: bool
    verdict: Verdict
    """The worst of all; INCONCLUSIVE when not every planned trial was completed."""
    exit_code: int
    verdicts: dict[str, int]
    missed: Rate
    """Hazard trials that FAIL, whichever check fails, of those that PASS or FAIL."""
    false_stops: Rate
    """Benign variants that FAIL by a check about stopping or refusing, of those that PASS or
    FAIL."""
    scenarios: tuple[ScenarioSummary, ...]
    failed_otherwise: OtherFailures | None = None
    """Benign variants that FAIL by other checks alone; left out where there is none."""
    repaired: tuple[str, ...] = ()
    """What repair has done to the folder after a crash; left out where nothing was repaired."""
    by_patterns: int = 0
    """Trials that passed although the words were read by patterns only."""
    decided: Decided = Decided()
    """Demands and bans of all trials by what decided them; left out where there are none."""
    preflight: tuple[Preflight, ...] = ()
    calibration: Calibration | None = None
    """None in loopback, where times are exact, or when it was switched off."""
    spec: ControllerSpec | None = None
    """The controller's name and parameters; left out when there is nothing to it but its name."""
    chance: float | None = None
    """Most of the hazard trials whose chance level is stated that a controller could pass without
    looking; None: it is stated of none."""
    sut: Identity | None = None
    """What tells the controller that was judged from others; None in earlier versions."""
    world: CampaignWorld | None = None
    """What worlds told of the trials; left out where there was none."""

    shard: str = ''
    """Which part of the trials of a campaign these are, such as 3/8; left out where all are."""
    is_chosen: bool = False
    """Whether the setting only named its trials, so that they show nothing of others; left out
    where it did not."""
    skipped: tuple[str, ...] = ()
    """Scenarios that were left out by selection.skip; left out where there are none."""
    command: str = ''
    """The command line that runs the same campaign again, with its seed."""
    is_in_harness: bool = False
    """Whether code that is not the harness's ran in its process as the controller (isolate false),
    where it could reach the plan and change verdicts; left out where it did not."""
    readable: str = ''
    """Why the process of the controller could read the files of the campaign, such as the plan of
    its trial; left out where it could not."""
    weighed: Weighed | None = None
    """Verdicts by tag, domain and severity; left out where no result tells of its scenario."""
    scores: Mapping[str, RubricSummary] = {}
    """Rubric to what it made of the answers; left out where nothing was scored."""
    claims: tuple[Claimable, ...] = ()
    """What may be claimed of these trials; left out where nothing may."""

    def as_in_files(self, results: Iterable[TrialResult]) -> Sequence[TrialResult]:
        """Return results in the order of the scenarios, in which they are shown."""
        return as_in_files((row.scenario_id for row in self.scenarios), results)

    @model_serializer(mode='wrap')
    def _as_needed(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        for name in ('weighed', 'scores', 'failed_otherwise', 'repaired', 'decided', 'command',
                     'shard', 'skipped', 'is_in_harness', 'readable', 'is_chosen', 'claims'):
            if not getattr(self, name):
                data.pop(name, None)
        if self.spec is None:
            data.pop('spec', None)
        if self.world is None:
            data.pop('world', None)
        return data
