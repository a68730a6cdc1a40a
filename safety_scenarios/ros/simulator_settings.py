# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The parameters of ``simulator_node``, apart from the node, which needs MuJoCo."""

from pydantic import Field
from safety_scenarios.scenario.noun import Noun


class SimulatorSettings(Noun):
    """One simulator process."""

    real_time_factor: float = Field(default=1.0, ge=0, le=10)
    """Simulated seconds in a real one, 0.5 to 10; 0: as fast as can be, in lock-step alone."""
    lockstep: bool = False
    """Let time pass only when the evaluator asks for it, and give the controller turns."""
    step_ms: float = Field(default=50.0, ge=1, le=10_000, json_schema_extra={'unit': 'ms'})
    """In lock-step: simulated time after which the controller has its first turn (ms); its
    period."""
    patience_s: float = Field(default=5.0, gt=0, le=600, json_schema_extra={'unit': 's'})
    """In lock-step: how long a decision is waited for, in real time, before time goes on (s)."""
    scenario: str = Field(default='', max_length=1000)
    """Scenario (file or id) whose robot and scene are there for those who use the services of
    simulation_interfaces, while no evaluator has a trial; empty: SCN-R-101."""
    sealed: bool = False
    """Read a key from the first line of standard input, by which what is said to the evaluator and
    by it is encrypted; for an evaluator that starts this node itself."""
    exit_with_stdin: bool = False
    """End when standard input closes; for a parent that must not leave it behind."""
