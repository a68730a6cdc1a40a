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

"""All trials of one command, one scenario after the other; no trial can spoil another."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from typing import Protocol

from safety_scenarios.engine.evaluate import evaluate, not_run
from safety_scenarios.engine.run import INTERRUPTED, run_trial
from safety_scenarios.errors import ControllerError
from safety_scenarios.model.contracts import Link
from safety_scenarios.model.result import TrialResult
from safety_scenarios.model.scenario import LimitName, Scenario
from safety_scenarios.model.trial import Trial, TrialRecord

OpenLink = Callable[[Scenario], AbstractContextManager[Link]]


class Observer(Protocol):
    """Is told about each trial: a writer, a progress display."""

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """The trial has been judged."""


def run_campaign(trials: Iterable[Trial], open_link: OpenLink, observers: Sequence[Observer],
                 gate: LimitName = 'critical') -> tuple[list[TrialResult], bool]:
    """
    Run trials in order and judge each as it ends.

    What an observer raises (a full disk) ends the campaign; anything else costs its scenario.

    :param open_link: scenario to a link, opened for all trials of that scenario
    :return: the results, and whether the user interrupted
    """
    results: list[TrialResult] = []
    try:
        for record, result in _judged(trials, open_link, gate):
            results.append(result)
            for observer in observers:
                observer.trial_ended(record, result)
            if any(event.name == INTERRUPTED for event in record.of_kind('fault')):
                return results, True
    except KeyboardInterrupt:
        return results, True
    return results, False


def _judged(trials: Iterable[Trial], open_link: OpenLink,
            gate: LimitName) -> Iterator[tuple[TrialRecord, TrialResult]]:
    for _, group in groupby(trials, key=lambda trial: trial.scenario.id):
        waiting = list(group)
        try:
            with open_link(waiting[0].scenario) as link:
                while waiting:
                    record = run_trial(waiting[0], link)
                    result = evaluate(record, gate)
                    del waiting[0]
                    yield record, result
        except (Exception, SystemExit) as error:  # whatever it is, the other scenarios go on
            if not waiting:
                raise ControllerError(f'the link could not be closed: {error}') from error
            for trial in waiting:
                yield TrialRecord(trial=trial, events=()), not_run(trial, error)
