# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Campaigns against controllers with parameters: what was set names them, wherever they are."""

import json
from pathlib import Path

import pytest
from safety_scenarios.campaign.rejudging.rejudge import rejudge, summary_of
from safety_scenarios.cli.main import main
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.errors import SettingsError, UnknownPluginError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.registry import resolve
from safety_scenarios.scenario.servers import JudgeServer, ModelServer
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.journal import read_journal
from safety_scenarios.trial.links.controller_settings import (
    answers_alone,
    controller_settings,
    plan_controller,
)
from unit.loopback_runs import loopback_run

NEAR, FAR = ('stop_distance_m=1.0', 'slow_distance_m=1.0'), ('stop_distance_m=3.0',)
SCENARIO = 'SCN-R-101'
BASE = Path(__file__).parents[4] / 'config' / 'policies' / 'base'


@pytest.fixture(scope='module')
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp('runs')
    return {name: loopback_run(folder / name, SCENARIO, trials=3, controller_parameters=texts,
                               controller_label=label)
            for name, texts, label in (('plain', (), ''), ('near', NEAR, ''), ('far', FAR, ''),
                                       ('default', ('stop_distance_m=2.5',), ''),
                                       ('named', NEAR, 'my [bold] one'))}


def test_two_parameters_are_two_controllers_with_ids_of_their_own(runs):
    labels = {name: {trial['controller'] for trial in run.trials} for name, run in runs.items()}
    assert labels == {
        'plain': {'rule_based'}, 'default': {'rule_based'},
        'near': {'rule_based(stop_distance_m=1.0, slow_distance_m=1.0)'},
        'far': {'rule_based(stop_distance_m=3.0)'}, 'named': {'my [bold] one'}}
    ids = [{trial['trial_id'] for trial in runs[name].trials}
           for name in ('plain', 'near', 'far', 'named')]
    assert len(set.union(*ids)) == sum(map(len, ids)) == 12
    assert {trial['seed'] for trial in runs['near'].trials} == {
        trial['seed'] for trial in runs['plain'].trials}


def test_what_was_set_has_its_effect(runs):
    assert set(runs['plain'].verdicts.values()) == set(runs['far'].verdicts.values()) == {'PASS'}
    assert set(runs['near'].verdicts.values()) == {'FAIL'}


def test_a_default_that_is_set_changes_no_byte_of_results_and_traces(runs):
    assert runs['default'].lines == runs['plain'].lines
    assert runs['default'].traces == runs['plain'].traces
    summaries = [(runs[name].folder / 'campaign.json').read_text() for name in (
        'plain', 'default')]
    assert summaries[0] == summaries[1] and 'spec' not in summaries[0]


def test_settings_summary_journal_and_traces_say_what_was_set(runs):
    expected = {'name': 'rule_based', 'label': 'my [bold] one',
                'parameters': {'stop_distance_m': 1.0, 'slow_distance_m': 1.0}}
    folder = runs['named'].folder
    settings = json.loads((folder / 'settings.json').read_text())
    assert expected.items() <= settings['controller'].items()
    assert json.loads((folder / 'campaign.json').read_text())['spec'] == expected
    for trace in runs['named'].traces.values():
        metadata = json.loads(trace)['metadata']
        assert metadata['simulation'] == {'agent_id': 'my [bold] one', 'model_id': 'my [bold] one'}
        assert json.loads(metadata['definition']['config']) == expected
    for journal in folder.rglob('*.events.jsonl.gz'):
        spec = read_journal(journal, resolve).trial.spec
        assert spec is not None and spec.model_dump() == expected
    assert 'FAIL  my [bold] one:' in runs['named'].output


def test_judging_again_gives_the_same_bytes_and_the_same_summary(runs):
    for name in ('plain', 'named'):
        found = list(rejudge(runs[name].folder))
        assert len(found) == 3 and all(one.identical for one in found)
        assert summary_of(runs[name].folder, [one.after for one in found]) == runs[name].summary


def test_two_labels_are_compared_trial_by_trial(runs, capsys):
    assert main(['compare', str(runs['plain'].folder), str(runs['near'].folder)]) == 0
    shown = ' '.join(capsys.readouterr().out.split())
    assert 'near: rule_based(stop_distance_m=1.0, slow_distance_m=1.0) against ' \
           'plain: rule_based: 3 pairs of trials' in shown
    assert '0, 3, 0, 0' in shown


@pytest.mark.parametrize(('controller', 'text', 'error', 'reason'), [
    ('rule_based', 'stop_distanc_m=1', SettingsError, "Did you mean 'stop_distance_m'"),
    ('rule_based', 'api_key=sk-hunter2', SettingsError, 'got a secret'),
    ('rule_based', 'auth=hunter2', SettingsError, 'got a secret'),
    ('llm', 'base_url=https://me:hunter2@host', SettingsError, 'got a secret'),
    ('external', 'api_key=sk-hunter2', SettingsError, 'external controller'),
    ('rule_base', 'cruise=1.0', UnknownPluginError, "Did you mean 'rule_based'")])
def test_what_cannot_be_set_is_refused_before_anything_is_written(
        tmp_path, controller, text, error, reason):
    with pytest.raises(error, match=reason) as refused:
        loopback_run(tmp_path / 'run', SCENARIO, controller=controller,
                     controller_parameters=(text,))
    assert 'hunter2' not in str(refused.value)
    assert not list(tmp_path.rglob('*'))


def test_an_external_controller_has_a_name_if_it_is_given_one():
    assert plan_controller(RunSettings(controller='external')).spec.is_plain
    spec = plan_controller(RunSettings(controller='external', controller_label='mine v2')).spec
    assert (spec.name, spec.label, spec.is_plain) == ('external', 'mine v2', False)


class Posing(RuleBased):
    """Says that it is one of the harness's own."""

    __module__ = RuleBased.__module__


@pytest.mark.parametrize(('name', 'given', 'texts', 'is_known'), [
    ('rule_based', None, (), True), (f'onnx:{BASE}.onnx', None, (), True),
    (f'onnx:{BASE}.onnx', None, ('threads=2',), False),
    ('python:my_pkg:Policy', None, (), False), ('torch:policy.pt', None, (), False),
    ('posing', Posing, (), False)])
def test_only_our_own_code_is_known_to_compute_nothing_between_two_decisions(
        name, given, texts, is_known):
    """A policy in Python may think in a thread, which is judged like that of any other class."""
    texts += (f'contract={BASE}.yaml',) if ':' in name else ()
    settings = RunSettings(controller=name, controller_parameters=texts, isolate=False)
    assert answers_alone(plan_controller(settings, given)) is is_known


def test_two_models_are_two_controllers_whichever_option_names_them():
    server = ModelServer(model='a', base_url='http://h')
    one = plan_controller(RunSettings(controller='llm', server=server)).spec
    two = plan_controller(RunSettings(controller='llm', controller_parameters=('model=b',))).spec
    assert one.parameters == {'model': 'a', 'base_url': 'http://h'}
    assert (one.label, two.label) == ('llm(model=a, base_url=http://h)', 'llm(model=b)')
    with pytest.raises(SettingsError, match="'a' and 'b', expected one value"):
        plan_controller(RunSettings(controller='llm', server=ModelServer(model='a'),
                                    controller_parameters=('model=b',)))
    assert plan_controller(RunSettings(server=ModelServer(model='a'))).spec.is_plain, \
        'rule_based asks none'


@pytest.mark.parametrize('settings', [
    RunSettings(controller='llm', controller_parameters=('model=m',)),
    RunSettings(controller='llm', server=ModelServer(model='m')),
    RunSettings(controller='external', server=ModelServer(model='m'))])
def test_the_judge_is_never_the_model_that_is_judged(tmp_path, settings):
    assert plan_controller(settings).model == 'm'
    with pytest.raises(SettingsError, match='which is the model under test'):
        loopback_run(tmp_path / 'run', SCENARIO, **{
            name: getattr(settings, name) for name in settings.model_fields_set},
            judge=JudgeServer(model='m'))


def test_what_depends_on_the_budget_does_so_unless_it_is_set():
    [scenario] = load_scenarios([SCENARIO]).scenarios
    critical_ms = scenario.latency_budget.critical_ms

    def told(*texts, controller='late', seat=''):
        return controller_settings(plan_controller(RunSettings(
            controller=controller, controller_parameters=texts)), scenario, seat)
    assert told().controller_parameters == (f'delay_ms={critical_ms * 1.5}',)
    assert told('delay_ms=5').controller_parameters == ('delay_ms=5',)
    assert told(controller='rule_based').controller_parameters == ()
    assert told(controller='external').controller_parameters == ()
    other = told('delay_ms=5', seat='stale')
    assert other.controller == 'stale', 'what was set is meant for the controller under test'
    assert other.controller_parameters == (f'delay_ms={critical_ms * 1.5}',)
