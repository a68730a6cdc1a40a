# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a link is to do in a campaign: the settings that concern it, with everything worked out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Any, NamedTuple

from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.hil import HilSettings
from safety_scenarios.scenario.measuring import ClockRules, ScheduleClock
from safety_scenarios.scenario.servers import ModelServer
from safety_scenarios.scenario.settings import EXTERNAL, RunSettings
from safety_scenarios.scenario.topic_rules import QosOverride, RosNames
from safety_scenarios.scenario.world.block import World
from safety_scenarios.scenario.world.external import WorldSettings

_LONGEST_START_S = 3600.0


class ControllerFacts(NamedTuple):
    """What planning has to know of a controller, as values that can travel."""

    parameters: Mapping[str, Any]
    """Dotted names to values as JSON has them, of those that differ from their defaults."""
    known: Sequence[str]
    """Every parameter that it has, by its dotted name."""
    server: Sequence[str]
    """What the settings say of its language model, as ``KEY=VALUE``."""
    critical_shares: Mapping[str, float]
    """Parameters (ms) that nobody has set, and are so many times a scenario's critical limit."""
    model: str
    """The language model that it asks; empty if nothing says which."""
    takes_real_time: bool
    declared_topics: Sequence[str]
    """Topics that it says it reads and writes."""
    brake_lag: float
    """How much too late its simulated robot brakes."""
    has_threads: bool = False
    """Whether it is one of ours that decides by several threads."""
    needed_topics: Sequence[str] = ()
    """Topics without which it commands no motion, each as topic:type."""
    files: Sequence[str] = ()
    """Paths of files that it is made of, beside its source."""
    starts_within_s: float = 0.0
    """How long its process may take until it is found, such as to load a model; 0: as any."""

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> 'ControllerFacts':
        """
        Return what another process says of a controller.

        :raises ValueError: it says something else
        :raises TypeError: the same
        """
        facts = cls(**data)
        lag = float(facts.brake_lag)
        if not 0 <= lag < math.inf:
            raise ValueError(f'simulated_brake_lag {lag:g}, expected a number from 0 on')
        return cls(dict(facts.parameters), tuple(map(str, facts.known)),
                   tuple(map(str, facts.server)),
                   {str(name): float(share) for name, share in facts.critical_shares.items()},
                   str(facts.model), bool(facts.takes_real_time),
                   tuple(map(str, facts.declared_topics)), lag,
                   needed_topics=tuple(map(str, facts.needed_topics)),
                   files=tuple(map(str, facts.files)),
                   starts_within_s=min(_LONGEST_START_S, max(0.0, float(facts.starts_within_s))))


NO_FACTS = ControllerFacts({}, (), (), {}, '', False, (), 0.0)
"""Of a controller that runs already."""


@dataclass(frozen=True)
class ControllerPlan:
    """The controller under test, and what every controller of the campaign gets."""

    spec: ControllerSpec
    parameters: tuple[str, ...] = ()
    """Of the controller under test, as ``KEY=VALUE``."""
    server: ModelServer = ModelServer()
    """For each controller that asks a language model."""
    model: str = ''
    """The language model that the controller under test asks; empty if that is unknown."""
    period_ms: float = 50.0
    command_type: str = ''
    """Interface type on which to command; empty: the usual one of the robot."""
    facts: ControllerFacts = NO_FACTS
    is_isolated: bool = False
    """Whether it is no controller of the harness, and runs in a process of its own."""
    is_in_harness: bool = False
    """Whether it is none, and a link in this process runs it there all the same."""
    given: Any = None
    """The controller itself, or its process, if no plug-in has its name."""

    @property
    def name(self) -> str:
        """Return the name of its plug-in."""
        return self.spec.name

    @property
    def is_external(self) -> bool:
        """Whether it runs already, and is not started by the campaign."""
        return self.spec.name == EXTERNAL


@dataclass(frozen=True)
class RosPlan:
    """What only a link over ROS needs."""

    parameters: RunSettings
    """The settings of the campaign, which the measuring node declares as its parameters."""
    node_name: str
    domain_id: int
    """-1: a free one, or that of the environment."""
    connect_timeout_s: float
    hosts: str
    """Where the controller runs: auto, one or two."""
    use_sim_time: bool
    schedule_clock: ScheduleClock
    calibration: str
    realtime: bool
    has_live_topics: bool
    publishes_frames: bool
    """Whether a frame that an external robot does not publish may be published for it."""
    overrides: Sequence[QosOverride]
    """Of the quality of service."""
    merges: Mapping[str, str]
    """Topic of a stimulus to the live topic into whose data it is drawn."""
    real_time_factor: float
    """Of the embedded simulator; 0: as fast as can be."""
    external: WorldSettings
    """How a simulator that runs already is reached."""
    hil: HilSettings


@dataclass(frozen=True)
class LinkPlan:
    """
    What a link plug-in is to do; every value can be pickled, if no controller object is given.

    ``controller_settings`` and ``plugin_of`` take its ``controller``.
    """

    name: str
    """Of the plug-in."""
    world: World
    """The world that answers behind the link."""
    controller: ControllerPlan
    names: RosNames
    clock: ClockRules
    declared_topics: tuple[str, ...]
    """Other topics on which the controller may command motion."""
    ros: RosPlan
