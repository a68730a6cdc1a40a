# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns as they are compared: the first, and each other one against it."""

from collections.abc import Sequence
from pathlib import Path

from safety_scenarios.campaign.rejudging.rejudge import results_of, summary_of
from safety_scenarios.campaign.statistics.compare import compare, paired
from safety_scenarios.reports.outputs.comparable import refuse_incomparable
from safety_scenarios.reports.trial_view.comparison import Campaign
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.trial.summary import CampaignSummary


def side_by_side(folders: Sequence[Path]) -> Sequence[Campaign]:
    """
    Return the first campaign, and each other one against it, judged again from their records.

    :raises SettingsError: a folder is none of a campaign, or cannot be compared with the first
    :raises TraceError: a folder cannot be relied on
    """
    results = [results_of(folder) for folder in folders]
    return beside_each_other(folders, results, [
        summary_of(folder, mine) for folder, mine in zip(folders, results, strict=True)])


def beside_each_other(folders: Sequence[Path], results: Sequence[Sequence[TrialResult]],
                      summaries: Sequence[CampaignSummary]) -> Sequence[Campaign]:
    """
    Return the same of campaigns whose results and summaries are known already.

    :raises SettingsError: one cannot be compared with the first
    """
    names = campaign_names(folders, results)
    found = [Campaign(names[0], results[0], summaries[0])]
    for folder, name, mine, summary in list(zip(folders, names, results, summaries,
                                                strict=True))[1:]:
        refuse_incomparable(folders[0], folder, results[0], mine)
        pairs, _ = paired(results[0], mine)
        stopped = {row.scenario_id for one in (summaries[0], summary) for row in one.scenarios
                   if row.stopped_early is not None}
        found.append(Campaign(name, mine, summary, compare(
            results[0], mine, summary.link, stopped), pairs))
    return found


def campaign_names(folders: Sequence[Path],
                   results: Sequence[Sequence[TrialResult]]) -> Sequence[str]:
    """Return the folders' names, with the controllers where these are not the same."""
    labels = [' '.join(sorted({result.controller for result in side})) for side in results]
    names = [folder.resolve().name for folder in folders]
    if len(set(names)) < len(names):
        names = [str(folder) for folder in folders]
    return [name if len(set(labels)) == 1 else f'{name}: {label}'
            for name, label in zip(names, labels, strict=True)]
