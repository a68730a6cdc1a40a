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


"""Whether the robot may have been moved over a topic that nobody judges."""

from collections.abc import Iterator

from safety_scenarios.engine.findings.harness import harness
from safety_scenarios.model.event import Event
from safety_scenarios.model.motion_interfaces import motion_in
from safety_scenarios.model.result import Finding, Verdict
from safety_scenarios.model.trial import TrialRecord

ELSEWHERE = 'motion is commanded on declared topics only'


def motion_elsewhere(record: TrialRecord) -> Iterator[Finding]:
    """Find the first motion on each topic of a motion type that is not declared."""
    for topic, events in record.by_topic('undeclared').items():
        for event in events:
            motion = _motion(event)
            if motion is not None:
                yield harness('wiring', ELSEWHERE, Verdict.INCONCLUSIVE,
                              f'{topic}: {motion}, {_when(record, event)}, so that the robot may '
                              f'have moved by what nobody judged. Declare the topic under '
                              f'commands in the scenario, name it by --declared-topics if it '
                              f'moves something else, or let the controller not publish there',
                              record.since_onset_ms(event.stamps.steady_ns))
                break


def _motion(event: Event) -> str | None:
    if event.message is None:
        return event.text or 'nobody heard what was published'
    moves = motion_in(event.message)
    return None if moves is None else \
        f'the controller under test commanded {moves} there ({event.message.type})'


def _when(record: TrialRecord, event: Event) -> str:
    onset = record.since_onset_ms(event.stamps.steady_ns)
    if onset is not None:
        return f'{onset:.0f} ms after onset' if onset >= 0 else f'{-onset:.0f} ms before onset'
    passed_ns = event.stamps.steady_ns - record.events[0].stamps.steady_ns
    return f'{passed_ns / 1e6:.0f} ms after the trial began'
