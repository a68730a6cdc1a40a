# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The base of every contract: a plug-in by its name, and a campaign that it takes part in."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from safety_scenarios import registry
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.from_python import run
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.trial import TrialRecord


class Campaign(Observer):
    """Keeps the trials of one campaign."""

    def __init__(self) -> None:
        self.records: list[TrialRecord] = []
        self.results: list[TrialResult] = []

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        self.records.append(record)
        self.results.append(result)


class PluginContract:
    """What every plug-in promises."""

    kind: ClassVar[str]
    """Of plug-in, as in the table of ``registry.py``."""
    name: ClassVar[str]
    """Of the plug-in."""
    scenario: ClassVar[str | Scenario] = 'SCN-R-101'
    """What is run: a file, an id or a ``Scenario``; of a stimulus or an invariant one that has
    it in it."""
    controller: ClassVar[Any] = 'rule_based'
    settings: ClassVar[Mapping[str, Any]] = {'link': 'loopback'}
    """Of each campaign, as for ``safety_scenarios.run``; the seed is 0 unless one is named."""

    def test_it_is_found_by_its_name(self) -> None:
        """A file and a command line have nothing but the name: add the entry point."""
        self.plugin()

    @classmethod
    def plugin(cls) -> Any:
        """Return the plug-in itself."""
        return registry.resolve(cls.kind, cls.name)

    @classmethod
    def campaign(cls, output: Path | None = None, observers: Sequence[Observer] = (),
                 **settings: Any) -> Campaign:
        """Run the scenario and return what came of it."""
        kept = Campaign()
        run(cls.scenario, output=output, observers=[kept, *observers],
            **{'controller': cls.controller, 'seed': 0, **cls.settings, **settings})
        return kept

    @classmethod
    @lru_cache(maxsize=4)
    def once(cls) -> Campaign:
        """Return a campaign that several claims look at."""
        return cls.campaign()


class RepeatableContract(PluginContract):
    """What takes part in a trial."""

    def test_the_same_seed_gives_the_same_trial(self) -> None:
        """A verdict that cannot be had again is none: draw from the seed, read no clock."""
        for first, second in zip(self.once().records, self.campaign().records, strict=True):
            expect_same(first, second)

    def test_the_campaign_can_be_judged_again(self, tmp_path: Path) -> None:
        """A record is written to a file, and read on another day: it must say the same."""
        self.campaign(tmp_path / 'campaign')
        again = rejudge(tmp_path / 'campaign')
        assert not again.flaws, str(again.flaws[0])
        for trial in again:
            assert trial.identical, (
                f'{trial.before.trial_id}: got {_findings(trial.after)} from the record, expected '
                f'{_findings(trial.before)} as in the campaign')


def expect_same(first: TrialRecord, second: TrialRecord) -> None:
    for number, (one, other) in enumerate(zip(first.events, second.events)):
        assert repr(one) == repr(other), (
            f'event {number}: got {other!r:.300}, expected {one!r:.300} as in the first trial')
    assert len(first.events) == len(second.events), (
        f'got {len(second.events)} events, expected {len(first.events)} as in the first trial')


def _findings(result: TrialResult) -> list[str]:
    return [f'{one.check}: {one.verdict.value if one.verdict else None}'
            for one in result.findings]
