# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is drawn into live data: a rule that could not be followed is refused before any trial."""

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.stimuli.faults import LinkLoss
from safety_scenarios.stimuli.message import RawMessage
from unit.records import hazard


def refused(scenario, *rules, **changed):
    with pytest.raises(SettingsError) as error:
        refuse_unrunnable([scenario], RunSettings(merge=rules, **changed))
    return str(error.value)


def test_a_scan_is_drawn_into_live_data():
    refuse_unrunnable([hazard()], RunSettings(merge=('scan:=/front/scan',)))


@for_each(('changed', 'why'), [
    ({'link': 'loopback'}, 'only a real robot has live data'),
    ({'world': 'external'}, 'only a real robot has live data'),
    ({'remap': ('scan:=/front/scan',)}, 'the harness would hear itself')])
def test_without_live_data_of_another_topic_there_is_nothing_to_draw_into(changed, why):
    assert why in refused(hazard(), 'scan:=/front/scan', **changed)


def test_a_topic_without_a_stimulus_is_named_with_the_nearest():
    assert "Did you mean 'scan'?" in refused(hazard(), 'scna:=/front/scan')


@pytest.mark.parametrize(('stimulus', 'why'), [
    (LinkLoss(topic='scan'), 'shows nothing of its own'),
    (RawMessage(topic='scan', message='std_msgs/msg/Empty'), 'publishes std_msgs/msg/Empty')])
def test_what_cannot_be_drawn_is_refused(stimulus, why):
    assert why in refused(hazard(stimuli=(stimulus,)), 'scan:=/front/scan')


@for_each('rules', [
    ('scan',), ('scan:=scan',), ('/scan:=live',), ('scan:=a', 'scan:=b'), ('scan:=a b',)])
def test_a_rule_that_is_none_is_refused_with_an_example(rules):
    with pytest.raises(ValidationError, match='expected'):
        RunSettings(merge=rules)
