# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Which command answers the hazard, and how long that took on each clock."""

from safety_scenarios.model.event import Event
from safety_scenarios.model.result import Latency
from safety_scenarios.model.trial import CLEARANCE, TrialRecord


def measure(record: TrialRecord) -> Latency | None:
    """
    Return the latency from onset to the reaction.

    The reaction is the first command at or after onset from which the scenario's condition holds
    for ``hold_ms``; for a text scenario the first response with this trial's id. Both ends are
    read on the evaluator's own clocks; the larger of steady and ROS time is judged, because a
    simulator's time may run slower than the controller's. Commands before onset never count.

    :return: None without an onset, or where the scenario asks for no reaction (a twin)
    :raises LookupError: the commands lack the field that the reaction reads
    """
    scenario = record.trial.scenario
    onset = record.onset
    if onset is None or (scenario.ros is not None and scenario.ros.reaction is None):
        return None
    clearance = record.mark(CLEARANCE)
    until_ns = clearance.stamps.steady_ns if clearance else record.end_ns
    reaction = _reaction(record, onset.stamps.steady_ns, until_ns)
    observed_ns = max(0, until_ns - onset.stamps.steady_ns)
    budget = scenario.latency_budget
    if reaction is None:
        return Latency(onset_steady_ns=onset.stamps.steady_ns, steady_ns=None, ros_ns=None,
                       judged_ns=None, source_ns=None, observed_ns=observed_ns,
                       latency_class=budget.classify(None))
    steady_ns = reaction.stamps.steady_ns - onset.stamps.steady_ns
    ros_ns = reaction.stamps.ros_ns - onset.stamps.ros_ns
    source = reaction.stamps.source_ns
    judged_ns = max(steady_ns, ros_ns)
    return Latency(
        onset_steady_ns=onset.stamps.steady_ns, steady_ns=steady_ns, ros_ns=ros_ns,
        judged_ns=judged_ns, observed_ns=observed_ns,
        source_ns=None if source is None else source - onset.stamps.system_ns,
        latency_class=budget.classify(judged_ns))


def _reaction(record: TrialRecord, onset_ns: int, until_ns: int) -> Event | None:
    ros = record.trial.scenario.ros
    if ros is None:
        answer = record.answer
        return answer if answer and answer.stamps.steady_ns >= onset_ns else None
    assert ros.reaction is not None
    held = record.course(ros.reaction.limits).first_held(
        onset_ns, round(ros.reaction.hold_ms * 1e6), until_ns)
    if held is None:
        return None
    return next(event for event in record.events
                if event.kind == 'command' and event.stamps.steady_ns == held.t_ns)
