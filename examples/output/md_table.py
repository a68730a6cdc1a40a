# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

from contextlib import contextmanager

import safety_scenarios as ss


class Table(ss.Observer):
    """Writes a line for each trial into table.md of the campaign's folder."""

    def campaign_began(self, beginning: ss.Beginning) -> None:
        self.folder = beginning.folder       # None: nothing is written
        self.lines = ['| trial | verdict |', '|---|---|']

    def trial_ended(self, record: ss.TrialRecord, result: ss.TrialResult) -> None:
        self.lines.append(f'| {result.trial_id} | {result.verdict.value} |')

    def campaign_ended(self, summary: ss.CampaignSummary) -> None:
        if self.folder is not None:
            (self.folder / 'table.md').write_text('\n'.join(self.lines) + '\n')


@contextmanager
def markdown_table(context: ss.OutputContext):
    """Give the observers; context has settings, and tell and warn for lines on the screen."""
    yield [Table()]
