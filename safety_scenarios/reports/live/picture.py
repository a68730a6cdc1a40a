# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The trial that runs, as it is now: its scene, and what the campaign says of it."""

from dataclasses import dataclass

from safety_scenarios.reports.scene.builder import SceneBuilder
from safety_scenarios.reports.scene.scene import Frame
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import ALL_CLEAR, END, ONSET, Trial

_PHASES = {ONSET: 'hazard', ALL_CLEAR: 'after the all-clear', END: 'over'}


@dataclass(frozen=True, slots=True)
class Picture:
    """One moment of a trial. It decides nothing: verdicts come from the record alone."""

    trial: Trial
    phase: str
    frame: Frame
    footprint: float
    """Radius of the robot, of an arm that of its foot (m)."""
    reach: float
    """From its origin to where a separation is measured from, by the scenario (m)."""
    verdict: Verdict | None = None
    """Of this trial once it is judged."""
    latency_ms: float | None = None
    before: Verdict | None = None
    """Of the trial before this one."""

    @property
    def distance(self) -> float | None:
        """Return the separation from the nearest body (m)."""
        return self.frame.distance

    @property
    def speed(self) -> float | None:
        """Return that of the robot in a world, else as commanded, in the unit of its signal."""
        speed = self.frame.robot.speed
        return self.frame.commanded if speed is None else speed

    @property
    def required(self) -> float | None:
        """Return the protective separation distance S_p at that speed (m)."""
        return self.frame.required


class LiveTrial:
    """Keeps the scene of the trial that runs, and the verdict of the one before."""

    def __init__(self) -> None:
        self._trial: Trial | None = None
        self._builder: SceneBuilder | None = None
        self._before: Verdict | None = None
        self._phase = 'nominal'

    @property
    def trial(self) -> Trial | None:
        """Return the trial that runs, None between trials."""
        return self._trial

    def begin(self, trial: Trial) -> None:
        """Forget the trial before."""
        self._trial, self._builder, self._phase = trial, SceneBuilder(trial), 'nominal'

    def over(self, verdict: Verdict) -> None:
        """Note the verdict of the trial."""
        self._before, self._trial, self._builder = verdict, None, None

    def take(self, event: Event) -> None:
        """Take one event of the trial that runs."""
        if self._builder is not None:
            self._builder.take(event)
        if event.kind == 'mark':
            self._phase = _PHASES.get(event.name, self._phase)

    def picture(self, verdict: Verdict | None = None,
                latency_ms: float | None = None) -> Picture | None:
        """Return this moment, None between trials."""
        trial, builder = self._trial, self._builder
        if trial is None or builder is None:
            return None
        return Picture(trial, self._phase, builder.frame(), builder.footprint, builder.reach,
                       verdict, latency_ms, self._before)
