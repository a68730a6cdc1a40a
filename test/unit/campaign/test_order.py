# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Trials are run in an order that is drawn, so that a controller learns nothing by counting."""

import json
from typing import Any

from safety_scenarios.campaign.folder.folder import ended, read_trials
from safety_scenarios.campaign.merging import merge
from safety_scenarios.campaign.plan import CampaignPlan, plan_campaign
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.campaign.run import preflight
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.from_python import run
from safety_scenarios.scenario.settings import RunSettings

PAIR = 'SCN-R-104', 'SCN-R-D-104'


def planned(*names: str, **settings: Any) -> CampaignPlan:
    return plan_campaign(RunSettings(link='loopback', **settings),
                         load_scenarios(names or ['robotic']).scenarios)


def kinds(seed: int) -> list[bool]:
    return [task.trial.scenario.is_benign for task in planned(seed=seed, trials=20).tasks]


def test_the_order_of_one_campaign_tells_nothing_of_that_of_another():
    one, other = kinds(1), kinds(2)
    alike = sum(mine is yours for mine, yours in zip(one, other, strict=True)) / len(one)
    assert 0.4 < alike < 0.6 and kinds(1) == one


def test_what_is_next_does_not_follow_from_what_came_last():
    found = kinds(3)
    alike = sum(mine is yours for mine, yours in zip(found, found[1:])) / len(found)
    assert 0.4 < alike < 0.6


def test_the_trials_of_a_scenario_keep_their_order_and_their_draws():
    plan = planned(seed=1, trials=5)
    for scenario in plan.scenarios:
        mine = [task.trial for task in plan.tasks if task.trial.scenario.id == scenario.id]
        assert [trial.index for trial in mine] == [0, 1, 2, 3, 4]
        alone = planned(scenario.id, seed=1, trials=5).trials
        assert [one.model_dump() for one in mine] == [one.model_dump() for one in alone]


def test_a_look_at_the_wiring_is_shown_in_the_order_of_the_files(tmp_path):
    ids = 'SCN-R-104', 'SCN-R-D-104', 'SCN-R-105', 'SCN-R-D-105'
    settings = RunSettings(link='loopback', scenarios=ids, seed=1)
    assert [trial.scenario.id for trial in planned(*ids, seed=1, trials=1).trials] != [*ids]
    assert [one.scenario_id for one in preflight(settings, tmp_path).found] == [*ids]


def test_trials_that_share_a_link_are_run_one_after_the_other():
    ids = [task.trial.scenario.id for task in planned(seed=1, trials=3, warmup=1).tasks]
    blocks = [name for name, before in zip(ids, [None, *ids], strict=False) if name != before]
    scenarios = [scenario.id for scenario in load_scenarios(['robotic']).scenarios]
    assert len(blocks) == len(scenarios) and blocks != scenarios


COUNTED: list[int] = []


class Counts(RuleBased):
    """Stops for whatever is there, but only in trials that were hazards in another campaign."""

    known: str = ''

    def begin_trial(self):
        super().begin_trial()
        COUNTED.append(1)

    def command(self, observation):
        is_hazard = self.known[(len(COUNTED) - 1) % len(self.known)] == 'h'
        scan = observation.readings.get('scan')
        stops = scan is None or (is_hazard and min(scan.message.data['ranges']) < 3.5)
        return self.at_share(0.0 if stops else self.cruise)


def test_who_has_learned_the_order_of_a_campaign_fails_the_next():
    settings = {'link': 'loopback', 'trials': 6, 'isolate': False}
    earlier = ''.join('d' if task.trial.scenario.is_benign else 'h'
                      for task in planned(*PAIR, seed=1, trials=6).tasks)

    def passed(seed: int) -> int:
        COUNTED.clear()
        return run(*PAIR, controller=Counts, set={'controller_parameters': (f'known={earlier}',)},
                   seed=seed, **settings).summary.verdicts.get('PASS', 0)
    assert passed(1) == 12 and passed(2) <= 8


def test_results_are_shown_in_the_order_of_the_files_and_stored_as_they_were_run(tmp_path):
    ids = 'SCN-R-104', 'SCN-R-D-104', 'SCN-R-105', 'SCN-R-D-105'
    found = run(*ids, controller='rule_based', link='loopback', trials=3, seed=1,
                output=tmp_path / 'run')
    shown = [(scenario, index) for scenario in ids for index in range(3)]
    assert [(one.scenario_id, one.index) for one in found.trials] == shown
    assert [row.scenario_id for row in found.summary.scenarios] == list(ids)
    again = rejudge(tmp_path / 'run')
    assert [(one.after.scenario_id, one.after.index) for one in again] == shown
    assert again.flaws == () and again.summary == found.summary
    ran = [json.loads(line)['trial_id']
           for line in (tmp_path / 'run' / 'trials.jsonl').read_text().splitlines()]
    plan = json.loads((tmp_path / 'run' / 'settings.json').read_text())['plan']
    assert ran == [one['trial_id'] for one in plan]
    assert ran != [one.trial_id for one in found.trials]


def test_shards_together_leave_what_one_machine_leaves(tmp_path):
    ids = {'controller': 'rule_based', 'link': 'loopback', 'trials': 3, 'seed': 1}
    run(*PAIR, 'SCN-R-105', output=tmp_path / 'whole', **ids)
    for shard in (1, 2):
        run(*PAIR, 'SCN-R-105', output=tmp_path / str(shard), shard=f'{shard}/2', **ids)
    merge([tmp_path / '2', tmp_path / '1'], tmp_path / 'merged')
    whole, merged = read_trials(tmp_path / 'whole'), read_trials(tmp_path / 'merged')
    assert [one.trial_id for one in merged] == [one.trial_id for one in whole]
    for mine, theirs in zip(merged, whole, strict=True):  # a busy machine adds events of timing
        assert mine.model_copy(update={'counts': theirs.counts}) == theirs
    assert [row.scenario_id for row in ended(tmp_path / 'merged').scenarios] == [
        *PAIR, 'SCN-R-105']
