# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Only campaigns that are judged alike are compared; what is not known to be harmless counts."""

import json
from pathlib import Path
import shutil
from types import SimpleNamespace

import pytest
from safety_scenarios.campaign.rejudging.rejudge import results_of
from safety_scenarios.campaign.run import run
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.studies.side_by_side import campaign_names, refuse_incomparable

SCENARIO = 'SCN-R-101'


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    settings = RunSettings(scenarios=(SCENARIO,), link='loopback',
                           output=str(tmp_path_factory.mktemp('run') / 'a'))
    run(settings, [])
    return settings.output


def differing(whole, tmp_path, change):
    """Refuse a campaign and a copy of it whose settings were others."""
    folder = tmp_path / 'b'
    shutil.copytree(whole, folder)
    data = json.loads((folder / 'settings.json').read_text())
    change(data)
    (folder / 'settings.json').write_text(json.dumps(data))
    results = results_of(Path(whole))
    refuse_incomparable(Path(whole), folder, results, results)


@pytest.mark.parametrize(('why', 'change'), [
    ("gate is 'critical' in the first, 'target' in the second",
     lambda data: data['settings'].update(gate='target')),
    ("clock.latency_clock is 'auto' in the first, 'ros' in the second",
     lambda data: data['settings']['clock'].update(latency_clock='ros')),
    ("link is 'loopback' in the first, 'ros' in the second",
     lambda data: data['settings'].update(link='ros')),
    ("judge.model is '' in the first, 'm' in the second",
     lambda data: data['settings']['judge'].update(model='m')),
    ("calibration is 'short' in the first, 'off' in the second",
     lambda data: data['settings'].update(calibration='off')),
    ('sequential.p1 is 0.0 in the first, 0.5 in the second',
     lambda data: data['settings']['sequential'].update(p1=0.5)),
    ('SCN-R-101 is not the same scenario in both: its budgets, limits or checks may differ',
     lambda data: data['scenarios'][0].update(sha256='0' * 64)),
    ('SCN-R-101: it is unknown whether it is the same scenario in both',
     lambda data: data['scenarios'].clear())])
def test_what_was_judged_otherwise_is_not_comparable(whole, tmp_path, why, change):
    with pytest.raises(SettingsError) as raised:
        differing(whole, tmp_path, change)
    assert 'are not comparable: ' in str(raised.value) and why in str(raised.value)


def test_every_difference_is_named_at_once(whole, tmp_path):
    def change(data):
        data['settings'].update(gate='acceptable', hosts='two')
        data['scenarios'][0].update(sha256='f' * 64)
    with pytest.raises(SettingsError) as raised:
        differing(whole, tmp_path, change)
    assert all(text in str(raised.value) for text in ("'acceptable'", "hosts is 'auto'", SCENARIO))


@pytest.mark.parametrize('change', [
    lambda data: data['settings'].update(controller='late', period_ms=20.0, calibration='full'),
    lambda data: data['settings'].update(output='elsewhere', trials=9, latency_law='normal'),
    lambda data: data['settings']['judge'].update(timeout_s=3.0)])
def test_what_leaves_judging_alone_is_comparable(whole, tmp_path, change):
    differing(whole, tmp_path, change)


def test_scenarios_from_no_file_are_told_apart_by_their_journals(tmp_path):
    [scenario] = load_scenarios((SCENARIO,)).scenarios
    scenario = scenario.model_copy(update={'origin': None})
    slower = scenario.model_copy(update={'latency_budget': scenario.latency_budget.model_copy(
        update={'critical_ms': scenario.latency_budget.critical_ms - 1.0})})
    results = {}
    for name, given in (('a', scenario), ('b', scenario), ('slower', slower)):
        settings = RunSettings(link='loopback', output=str(tmp_path / name))
        run(settings, [], scenarios=[given])
        results[name] = results_of(tmp_path / name)
    refuse_incomparable(tmp_path / 'a', tmp_path / 'b', results['a'], results['b'])
    with pytest.raises(SettingsError, match='is not the same scenario in both'):
        refuse_incomparable(tmp_path / 'a', tmp_path / 'slower', results['a'], results['slower'])
    shutil.rmtree(tmp_path / 'b' / 'traces')
    with pytest.raises(SettingsError, match='it is unknown whether it is the same scenario'):
        refuse_incomparable(tmp_path / 'a', tmp_path / 'b', results['a'], results['b'])


def test_a_campaign_is_named_by_its_controller_once(tmp_path):
    sides = [[SimpleNamespace(controller=name)] for name in ('onnx:a.onnx', 'onnx:b.onnx')]
    arms = [tmp_path / 'onnx_a.onnx', tmp_path / 'after']
    assert campaign_names(arms, sides) == ['onnx_a.onnx', 'after: onnx:b.onnx']
