# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a monitor is started with; its file is read to a scenario with a ``MonitorBody``."""

from pydantic import Field
from safety_scenarios.scenario.noun import Noun, TOLD


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
