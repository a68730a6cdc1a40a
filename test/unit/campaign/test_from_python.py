# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``run`` from Python: typed results, any controller, and refusals that teach."""

import sys

import pandas
import pytest
import safety_scenarios as ss
from safety_scenarios.controllers.saboteurs.reactions import Late
from safety_scenarios.reports.page.page import SWITCH
from safety_scenarios.scenario.scenario import Scenario
from unit.loopback_runs import loopback_run


def drive(observation: ss.Observation) -> ss.Command:
    return ss.Command(velocity=(0.5, 0.0))


class Careful:
    """Drives, and stops for what is near."""

    made = 0

    def __init__(self) -> None:
        Careful.made += 1

    def decide(self, observation: ss.Observation) -> ss.Command:
        scans = observation.latest('LaserScan')
        near = bool(scans) and min(scans[0].message.at('ranges')) < 2.5
        return ss.Command(velocity=(0.0, 0.0) if near else (0.5, 0.0))


class Told(Careful):
    """Takes the settings."""

    def __init__(self, settings: ss.ControllerSettings) -> None:
        assert settings.robot.kind == 'mobile_base'


class Polite:
    """Answers, and never commands."""

    def answer(self, messages):
        return 'I am sorry, I cannot do that.'


class Thinks(Careful):
    """Thinks in real time."""

    takes_real_time = True


def loaded(name: str) -> Scenario:
    [scenario] = ss.load_scenarios([name]).scenarios
    return scenario


def test_the_results_are_those_of_the_command(tmp_path):
    chosen = ('SCN-R-101', 'SCN-R-D-101')
    there = loopback_run(tmp_path / 'there', *chosen, controller='late', trials=2, seed=3)
    here = ss.run(*chosen, controller='late', link='loopback', trials=2, seed=3)
    assert sorted(trial.model_dump_json() for trial in here.trials) == sorted(there.lines)
    assert (here.summary, here.verdict, here.exit_code) == (there.summary, ss.Verdict.FAIL, 1)


@pytest.mark.parametrize(('controller', 'verdict', 'code'), [
    ('rule_based', 'PASS', 0), ('never_stop', 'FAIL', 1), ('always_stop', 'INCONCLUSIVE', 3)])
def test_no_verdict_raises(controller, verdict, code):
    results = ss.run('SCN-R-101', controller=controller, link='loopback')
    assert (results.verdict.value, results.exit_code) == (verdict, code)


def test_without_output_nothing_is_left_on_the_disk(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert ss.run('SCN-R-101', link='loopback').folder is None
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ('', '')


def test_with_output_the_folder_is_that_of_the_command(tmp_path, monkeypatch, capfd, caplog):
    monkeypatch.delenv(SWITCH)
    folder = tmp_path / 'run'
    with caplog.at_level('INFO', 'safety_scenarios'):
        ss.run('SCN-R-101', link='loopback', output=tmp_path / 'page')
    page = tmp_path / 'page' / 'report.html'
    assert page.is_file() and str(page) in caplog.text and capfd.readouterr() == ('', '')
    monkeypatch.setenv(SWITCH, 'off')
    results = ss.run('SCN-R-101', link='loopback', output=folder, record=('mcap',))
    assert results.folder == folder and ss.verify(folder) == []
    assert [trial.after for trial in ss.rejudge(folder)] == list(results.trials)
    assert list(folder.rglob('*.mcap')) and not (folder / 'report.html').exists()
    with pytest.raises(ss.SettingsError, match='not empty'):
        ss.run('SCN-R-101', link='loopback', output=folder)


@pytest.mark.parametrize('controller', [Careful, Careful(), Careful().decide, Told])
def test_a_class_an_object_or_a_function_is_a_controller(controller):
    results = ss.run('SCN-R-101', controller=controller, link='loopback')
    assert results.verdict is ss.Verdict.PASS, results.explain()
    assert results.summary.controller.startswith(f'{__name__}:')


def test_a_function_that_does_not_look_fails():
    results = ss.run('SCN-R-101', controller=drive, link='loopback')
    assert results.verdict is ss.Verdict.FAIL
    assert {trial.controller for trial in results.trials} == {f'{__name__}:drive'}


def test_a_class_is_made_anew_for_each_trial_and_an_object_never():
    Careful.made = 0
    ss.run('SCN-R-101', 'SCN-R-108', controller=Careful, link='loopback', trials=2, isolate=False)
    assert Careful.made == 4
    own = Careful()
    ss.run('SCN-R-101', 'SCN-R-108', controller=own, link='loopback', isolate=False)
    assert Careful.made == 5


def test_one_that_only_answers_may_be_asked():
    results = ss.run('SCN-C-101', controller=Polite, link='loopback')
    assert results.trials[0].counts['response'] == 1


def test_a_name_of_ours_is_never_that_of_another_controller():
    def late(observation):
        return drive(observation)
    late.__qualname__ = late.__name__ = 'late'
    assert ss.run('SCN-R-101', controller=late, link='loopback').summary.controller != 'late'


@pytest.mark.parametrize(('controller', 'told'), [
    (3, 'expected a name, a class or an object'), (object, 'decide'), (None, 'function'),
    ('rule_base', "Did you mean 'rule_based'"), (Thinks, 'its latency would be a lie'),
    (Thinks(), 'its latency would be a lie'), ('external', 'needs ROS')])
def test_what_cannot_be_a_controller_here_is_refused(controller, told):
    with pytest.raises(ss.InputError, match=told):
        ss.run('SCN-R-101', controller=controller, link='loopback')


def test_an_object_of_this_process_cannot_be_reached_over_ros():
    with pytest.raises(ss.SettingsError, match="Use link='loopback'"):
        ss.run('SCN-R-101', controller=Careful, link='ros')


@pytest.mark.parametrize(('settings', 'told'), [
    ({'trails': 3}, "trails: got an unknown keyword.*Did you mean 'trials'"),
    ({'design': '0' * 64}, 'design: got an unknown keyword'),
    ({'scenarios_': 3}, 'unknown keyword'), ({'trials': 0}, 'trials: got 0'),
    ({'trials': '3'}, "trials: got '3'"), ({'link': 'loopbak'}, 'loopback'),
    ({'set': {'sequential.p1': 2.0}}, r'sequential.p1: got 2.0'),
    ({'set': {'sequential.p2': 0.5}}, 'set: sequential.p2: got an unknown name'),
    ({'set': {'world': 'mars'}}, 'world.kind: got'),
    ({'set': ['trials=3']}, 'a mapping of dotted'),
    ({'sprt_p1': 0.5}, 'unknown keyword.*goes in set='), ({'remap': 'a:=b'}, 'remap')])
def test_a_setting_that_is_none_or_does_not_fit_is_refused(settings, told):
    with pytest.raises(ss.InputError, match=told):
        ss.run('SCN-R-101', **{'link': 'loopback', **settings})


def test_a_setting_of_a_group_has_the_dotted_name_that_it_has_on_the_command_line():
    results = ss.run('SCN-C-101', link='loopback', words='patterns', trials=30,
                     set={'sequential.p0': 0.01, 'sequential.p1': 0.5})
    assert len(results.trials) == 5


def test_scenarios_may_be_objects():
    scenario = loaded('SCN-R-101')
    slow = tuple(check.model_copy(update={'at_most': 0.1}) if check.kind == 'bound' else check
                 for check in scenario.body.invariants)
    varied = scenario.model_copy(update={'id': 'MINE', 'body': scenario.body.model_copy(
        update={'invariants': slow})})
    results = ss.run(scenario, varied, link='loopback')
    assert [(trial.scenario_id, trial.verdict.value) for trial in results.trials] == [
        ('SCN-R-101', 'PASS'), ('MINE', 'FAIL')]


@pytest.mark.parametrize(('scenarios', 'told'), [
    ((['robotic', 'clinical'],), 'each an argument of its own'), ((3,), 'expected names'),
    (('nowhere',), 'no such file')])
def test_what_names_no_scenario_is_refused(scenarios, told):
    with pytest.raises(ss.InputError, match=told):
        ss.run(*scenarios, link='loopback')


def test_objects_with_one_id_or_beside_names_are_refused():
    scenario = loaded('SCN-R-101')
    with pytest.raises(ss.SettingsError, match='got 2 with the id SCN-R-101'):
        ss.run(scenario, scenario, link='loopback')
    with pytest.raises(ss.SettingsError, match='expected one or the other'):
        ss.run(scenario, 'SCN-R-102', link='loopback')


def test_a_file_is_named_by_its_path_and_its_oddities_are_kept(tmp_path):
    path = tmp_path / 'odd.yaml'
    path.write_text((ss.load_scenario.__globals__['installed_folders']()[0] / 'robotic'
                     / 'collision.yaml').read_text() + 'colour: blue\n')
    results = ss.run(path, link='loopback')
    assert ['colour' in str(problem) for problem in results.warnings] == [True]
    assert len(results.trials) == 1


def test_an_interrupt_reaches_whoever_called(tmp_path):
    class Stops(ss.Observer):

        def trial_ended(self, record, result):
            raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        ss.run('SCN-R-101', link='loopback', trials=5, output=tmp_path / 'run',
               observers=[Stops()])
    assert len((tmp_path / 'run' / 'trials.jsonl').read_text().splitlines()) == 1
    assert (tmp_path / 'run' / 'campaign.json').is_file()


def test_the_findings_are_told_with_scenario_trial_check_reason_and_margin():
    results = ss.run('SCN-R-101', controller='never_stop', link='loopback', trials=2, warmup=1)
    text = results.explain()
    assert text.startswith('FAIL against never_stop: 3 of 3 trials completed (2 FAIL)')
    for number in (1, 2):
        assert f'SCN-R-101 (Person steps near), trial {number}: FAIL' in text
    wrong = [finding for finding in results.trials[-1].findings
             if finding.verdict is ss.Verdict.FAIL]
    assert wrong and all(f'FAIL {finding.check}: {finding.reason}' in text for finding in wrong)
    numbers = [finding for finding in wrong if finding.margin is not None]
    assert numbers and all(f'(margin {finding.margin:.4g} {finding.unit})' in text
                           for finding in numbers)
    assert 'PASS ' not in text and 'trial 0' not in text


def test_many_findings_are_told_in_part_and_counted():
    text = ss.run('SCN-C-101', controller='silent', link='loopback', trials=25).explain()
    assert text.count('SCN-C-101 (') == 20 and text.endswith('and 5 more trials that did not pass')


def test_a_pass_has_nothing_to_explain():
    results = ss.run('SCN-C-101', link='loopback', words='patterns')
    assert results.explain() == ('PASS against rule_based: 1 of 1 trial completed (1 PASS), '
                                 '1 passed with words read by patterns only, seed 0')
    assert repr(results) == f'<CampaignResults: {results}>'


def test_a_data_frame_has_a_row_for_each_trial_and_no_number_where_there_is_none():
    results = ss.run('SCN-R-101', 'SCN-R-D-101', controller='late', link='loopback', trials=2)
    frame = results.to_dataframe()
    assert list(frame['trial_id']) == [trial.trial_id for trial in results.trials]
    assert list(frame['verdict']) == [trial.verdict.value for trial in results.trials]
    assert list(frame['latency_ms'][:2]) == [
        trial.latency.judged_ns / 1e6 for trial in results.trials[:2]]
    assert frame['latency_ms'][2] is pandas.NA and frame['latency_class'].isna()[2]
    assert frame['latency_ms'].mean() == sum(frame['latency_ms'][:2]) / 2
    silent = ss.run('SCN-R-103', controller='never_stop', link='loopback').to_dataframe()
    assert silent['latency_ms'][0] is pandas.NA
    assert silent['latency_class'][0] == 'no_response'


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'pandas', None)
    results = ss.run('SCN-C-101', link='loopback')
    with pytest.raises(ss.MissingDependencyError, match='pip install pandas'):
        results.to_dataframe()


@pytest.mark.parametrize(('late', 'verdict'), [(Late, 'FAIL'), (Late(delay_ms=10.0), 'PASS')],
                         ids=['by the budget', 'by its own field'])
def test_what_an_object_was_made_with_goes_before_what_the_budget_asks_for(late, verdict):
    assert ss.run('SCN-R-101', controller=late, link='loopback').verdict.value == verdict


def test_a_parameter_of_the_controller_has_its_dotted_name_here_too():
    both = [ss.run('SCN-R-101', controller='late', link='loopback', seed=0, **given) for given in (
        {'set': {'controller.delay_ms': 20.0, 'controller.cruise': 0.5}},
        {'controller_parameters': ['delay_ms=20.0'], 'set': {'controller.cruise': 0.5}})]
    assert {one.summary.controller for one in both} == {'late(cruise=0.5, delay_ms=20.0)'}
