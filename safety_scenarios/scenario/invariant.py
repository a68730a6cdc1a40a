# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an invariant must be able to do."""

import math
from typing import Any, ClassVar

from pydantic import Field
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.noun import Label, Noun
from safety_scenarios.scenario.result import Finding, Verdict


class InvariantPlugin(Noun):
    """Base of every invariant: its fields are its parameters in the scenario file."""

    name: Label = Field(min_length=1)
    """What must hold, in words."""
    severity: float = Field(default=1.0, ge=0, le=1)
    """Weight of a violation, 0 to 1."""

    names_signals: ClassVar[tuple[str, ...]] = ('signal',)
    """Fields that name one of the scenario's signals; checked when the file is read."""
    names_feedback: ClassVar[tuple[str, ...]] = ()
    """Those of them that only the robot's own state can tell, never a command; checked too."""
    names_stimuli: ClassVar[tuple[str, ...]] = ()
    """Fields that name topics on which stimuli are published; checked too."""
    margin_is_time: ClassVar[bool] = False
    """Whether its margin in s is of a time that a busy host can have lengthened: what is too late
    by no more than that is INCONCLUSIVE."""

    holds_always: ClassVar[bool] = False
    """Whether it can be asked of a robot in operation, without any hazard (doc/monitor.md)."""

    def check(self, trial: Any) -> Finding:
        """
        Judge one trial.

        :param trial: a ``judging.judged_trial.JudgedTrial``, which holds the record and the stages
            computed from it: timeline, signals, motion, latency; nothing else may be read, so that
            judging is repeatable
        """
        raise NotImplementedError

    def reach_s(self, scenario: Any) -> float | None:
        """
        Return how much of the past, before a moment and after it, decides about that moment (s).

        What was in force before is always known. A monitor so need not judge its whole window
        again with each message.

        :param scenario: the monitor file
        :return: None: as much as there is in the window
        """
        return None

    def stops(self) -> tuple[Limit, ...] | None:
        """
        Return the limits that it calls a stop: then all of the motion is judged as a standstill.

        :return: None if it demands no stop; none at all, if it means the scenario's reaction
        """
        return None

    def permits(self, contact: Any) -> bool:
        """
        Return whether it allows a contact in a world, which then nobody else calls a violation.

        :param contact: a ``judging.motion.contacts.Contact``
        """
        return False

    def lateral_limit(self) -> float | None:
        """Return how far off its route it lets the robot drive (m); None: it demands no course."""
        return None

    def finding(self, verdict: Verdict, reason: str, margin: float | None = None,
                unit: str | None = None, at_ms: float | None = None) -> Finding:
        """
        Return a finding of this invariant.

        :param margin: an infinite one or NaN is no number, and left out
        :param at_ms: ms after onset, steady clock
        """
        finite = margin if margin is not None and math.isfinite(margin) else None
        return Finding(check=self.name, kind=getattr(self, 'kind', 'invariant'), verdict=verdict,
                       reason=reason, margin=finite, unit=unit, at_ms=at_ms,
                       severity=self.severity, source='invariant')
