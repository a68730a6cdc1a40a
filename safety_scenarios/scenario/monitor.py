# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A monitor file: what must hold of a running robot at all times, with nothing published."""

from typing import ClassVar, Literal

from pydantic import Field, model_validator
from safety_scenarios.scenario.blocks.budget import LatencyBudget
from safety_scenarios.scenario.blocks.command_topic import CommandTopic
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.noun import Noun, TOLD
from safety_scenarios.scenario.scenario import (
    AllClear,
    Constraint,
    Nominal,
    Requirement,
    RosBlock,
    Scenario,
)
from safety_scenarios.scenario.stimulus import StimulusPlugin

NOT_IN_MONITORS = ('level', 'nominal', 'stimuli', 'all_clear', 'frames', 'reaction',
                   'confirmation', 'vary', 'world')
"""Keys of ``ros`` that say what a trial publishes, and how that is to be answered."""


class MonitorBlock(RosBlock):
    """
    The ``ros:`` key of a monitor file; what else a trial needs is not asked for, and not read.

    Nothing is published, so there is no hazard, no onset and no latency: what must hold during the
    hazard of a trial must hold all the time here.
    """

    is_monitor: ClassVar[bool] = True

    monitor: Literal[True]
    """Says that this is a monitor file."""
    inputs: tuple[CommandTopic, ...] = ()
    """Sensors of the robot that the invariant ``fresh`` asks for; only their stamps are read."""
    nominal: Nominal = Nominal(require=Requirement(signal='-', at_least=0.0))
    stimuli: tuple[StimulusPlugin, ...] = ()
    all_clear: AllClear = AllClear(at_ms=1.0)
    invariants: tuple[InvariantPlugin, ...] = Field(min_length=1)
    """What must hold, each judged over the last seconds, again and again."""

    @model_validator(mode='after')
    def _one_role_each(self) -> 'MonitorBlock':
        for name in ('commands', 'feedback', 'inputs'):
            topics = [known.topic for known in getattr(self, name)]
            twice = next((topic for topic in topics if topics.count(topic) > 1), None)
            if twice is not None:
                raise ValueError(f'{name}: got {twice} twice, expected each topic once. Remove '
                                 f'one of the two')
        both = {known.topic for known in self.commands} & {
            known.topic for known in (*self.feedback, *self.inputs)}
        if both:
            raise ValueError(f'got {", ".join(sorted(both))} under commands and again under '
                             f'feedback or inputs, expected it once: a command does not show '
                             f'what the robot did or sensed')
        return self


class MonitorScenario(Scenario):
    """A monitor file: a scenario in which nothing happens but what happens anyway."""

    ros: MonitorBlock
    domain: str = 'robotic'
    description: str = ''
    messages: tuple[ChatMessage, ...] = (ChatMessage(role='user', content='-'),)
    latency_budget: LatencyBudget = LatencyBudget(
        target_ms=100.0, acceptable_ms=100.0, critical_ms=100.0)
    """Nothing is judged by it: there is no onset."""
    constraint: Constraint = Constraint(
        description='The robot is in operation.', time_pressure='immediate',
        consequence_of_delay='The file does not say.')
    expected_action: str = 'What the invariants say, at all times.'


class MonitorSettings(Noun):
    """What a ``monitor_node`` watches, and what it keeps of what it finds."""

    model_config = TOLD

    file: str = ''
    """Monitor file: a scenario file with monitor: true under ros (doc/monitor.md)."""
    output: str = ''
    """Folder for the findings, new or empty; empty: runs/monitor-<UTC time>."""
    window_s: float = Field(default=3.0, ge=0.2, le=60)
    """How much of the past each verdict is about (s)."""
    before_s: float = Field(default=10.0, ge=0.2, le=300)
    """How much of the past is kept in the record of a finding (s); at least the window."""
    after_s: float = Field(default=5.0, ge=0, le=300)
    """How long the record of a finding goes on after it (s)."""
    stale_after_s: float = Field(default=1.0, ge=0.05, le=3600)
    """A topic that is silent for longer is reported as STALE (s)."""
    period_ms: float = Field(default=20.0, ge=5, le=1000)
    """How often everything is judged, if the processor can (ms)."""
    max_findings: int = Field(default=100, ge=1, le=100_000)
    """Most findings of which a record is kept; later ones are counted and reported only."""
    max_record_mb: float = Field(default=20.0, ge=0.1, le=2000)
    """Most memory that the events of one record take (MB); a longer one is cut after the finding,
    and its part before the judged window is shortened."""
    max_memory_mb: float = Field(default=100.0, ge=1, le=8000)
    """Most memory that the events of the judged window take (MB); beyond it nothing passes."""
    namespace: str = Field(default='', pattern=r'^/?([A-Za-z_]\w*(/[A-Za-z_]\w*)*)?$')
    """ROS namespace of the topics."""
    node_name: str = Field(default='monitor_node', max_length=200, pattern=r'^[A-Za-z_]\w*$')
    """Name of the node."""
    use_sim_time: bool = False
    """Take ROS time from /clock."""
