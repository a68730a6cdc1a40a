# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

import csv

import safety_scenarios as ss


class CommandCsv(ss.Observer):
    """Writes the commands of each trial: seconds since its beginning, topic, speed."""

    def __init__(self, context: ss.TraceContext) -> None:
        self.place = context.place

    def trial_ended(self, record: ss.TrialRecord, result: ss.TrialResult) -> None:
        folder = self.place(result.trial_id)
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / 'commands.csv', 'w', newline='') as file:
            for event in record.of_kind('command'):
                after_ns = event.stamps.steady_ns - record.events[0].stamps.steady_ns
                csv.writer(file).writerow([after_ns / 1e9, event.name, speed(event.message)])


def speed(message: ss.Message | None) -> float | None:
    """Return the linear x of a Twist, and None of any other message."""
    try:
        return None if message is None else message.at('linear.x')
    except LookupError:
        return None
