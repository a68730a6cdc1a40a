# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial that an interlock ends: what is taken back then takes its time, and is none of it."""

from safety_scenarios.errors import InterlockError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.command_stream import Liveness
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.run import run_trial
from unit.records import hazard, planned
from unit.scripted import drives, ScriptedLink

ALIVE = Liveness(name='alive', topic='cmd_vel', max_gap_ms=200.0)


def test_the_time_in_which_all_is_taken_back_is_no_silence_of_the_controller():
    class Link(ScriptedLink):
        """Loses an interlock 100 ms after it was armed, and needs two seconds to cancel a goal."""

        armed_ns = None

        def arm(self):
            self.armed_ns = self.now_ns

        def receive_until(self, schedule_ns):
            if self.armed_ns is not None and self.now_ns > self.armed_ns + 100_000_000:
                self.now_ns += 2_000_000_000
                raise InterlockError('battery: got 3 %')
            return super().receive_until(schedule_ns)

    result = evaluate(run_trial(planned(hazard(invariants=[ALIVE])), Link(drives)))
    assert result.verdict is Verdict.INCONCLUSIVE, result.reason
