# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What people mistype on the command line is refused with what they meant, and Tab completes."""

from pathlib import Path

from cases import for_each
from click.shell_completion import ShellComplete
import pytest
from safety_scenarios.cli.main import cli, main
from unit.formats.agent_files import agents, dumped

RUN = 'run SCN-R-101 --link loopback '
MIX_UPS = {
    'runn robotic': "Did you mean 'safety-scenarios run'?",
    'validate robotic': "Did you mean 'safety-scenarios scenario validate'?",
    'scenario chek robotic': "No such command 'chek' below safety-scenarios scenario.",
    'campaign veryfy runs/today': "Did you mean 'safety-scenarios campaign verify'?",
    'run SCN-R-1O1': "Did you mean 'SCN-R-101'?",
    'run robotik': "Did you mean 'robotic'?",
    RUN + '--trails 3': "Did you mean '--trials'?",
    RUN + '-trials 3': 'Options of more than one letter have two dashes',
    RUN + '--trials 3 --trials 4': '--trials: got it twice, expected it once',
    'evaluate . --gate target --gate critical': '--gate: got it twice, expected it once',
    'campaign sign . --key a --key b': '--key: got it twice, expected it once',
    RUN + '--trials 3 --set trials=4': '--set trials: got it with --trials, expected one of them',
    RUN + '--set trials=3 --set trials=4': "--set trials: got '3' and '4', expected one value",
    RUN + '--set trials': '--set trials: got no value, expected NAME=VALUE',
    RUN + '--set trials=three': "--set trials: got 'three', expected a whole number",
    RUN + 'trials=3': 'got a setting in the place of a scenario, expected --set trials=3',
    RUN + 'trials:=3': 'got a setting in the place of a scenario, expected --set trials=3',
    RUN + '--judge-model NAME': 'It is a setting: use --set judge.model=VALUE',
    RUN + '--lockstep': 'It is a setting: use --set clock.lockstep=VALUE',
    RUN + '--delay-ms 400': 'use --set controller.delay_ms=VALUE',
    RUN + '--set delay_ms=400': 'expected --set controller.delay_ms=400',
    RUN + '--set action_horizon=8': 'expected --set controller.action_horizon=8',
    RUN + '--controller late --set controller.dealy_ms=4': "Did you mean 'delay_ms'?",
    RUN + '--controller late --set controller.delay_ms=4 --set controller.delay_ms=5':
        'controller.delay_ms',
    RUN + '--set world.kinds=mujoco': "Did you mean 'world.kind'?",
    RUN + '--set judge=NAME': 'got the name of a group, expected that of one value',
    RUN + '--world mujocco': "Did you mean 'mujoco'?",
    RUN + '--gate limits.yaml': 'acceptable, critical. A file of limits is for compare --gate',
    RUN + '--controller rule-based': "Did you mean 'rule_based'?",
    RUN + '--profile turtlebot': "Did you mean 'turtlebot4'?",
    RUN + '--domain-id 500': '500',
    RUN + '--remap cmd_vel=/base/cmd_vel': 'FROM:=TO',
    RUN + '--verbose --quiet': 'expected one of them',
    RUN + '--signers keys': "It is an option of 'campaign verify'",
    'preflight SCN-R-101 --set gate=target': 'got a setting that preflight does not use',
    RUN + '--model NAME': 'the controller rule_based, which asks no model',
    'preflight SCN-R-101 --model NAME': 'Add --controller llm',
    'search SCN-R-101 --link loopback --model NAME': 'Add --controller llm',
    'evaluate . --remap scan:=front': '--remap: got it without --bag',
    'evaluate . --namespace tb4': '--namespace: got it without --bag',
}


@for_each(('line', 'said'), list(MIX_UPS.items()), ids=lambda case: case[0])
def test_each_is_refused_with_what_was_meant(line, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(line.split()) == 2
    out, err = capsys.readouterr()
    assert said in ' '.join(err.split())
    assert not out and not list(tmp_path.iterdir())


def test_a_model_is_asked_by_another_agent_too(tmp_path, capsys):
    file = tmp_path / 'talk.yaml'
    file.write_text(dumped(agents(('Alice said "hello"', 'Bot should say "hi"'))))
    (tmp_path / 'talk.bindings.yaml').write_text(dumped({
        'version': 1, 'participants': {'a1': {'driver': 'model', 'controller': 'llm'}}}))
    assert main(['run', str(file), '--link', 'loopback', '--model', 'NAME']) == 2
    assert 'a1 is driven by llm, for whom simulated time does not wait' in ' '.join(
        capsys.readouterr().err.split())


@for_each('line', [
    ['run', 'SCN-R-101', '--link', 'loopback'], ['campaign', 'merge', '.', '.'], ['evaluate', '.'],
    ['export', '.'], ['report', '.'], ['trial', 'replay', '.', '1']], ids=' '.join)
def test_an_output_that_could_look_like_a_verdict_or_has_no_name_is_refused(
        line, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path, said in (('out\nPASS  rule_based: 9 of 9 trials', 'without control characters'),
                       ('out\x1b[2J', 'without control characters'),
                       ('', 'got an empty text, expected a path')):
        assert main([*line, '--output', path]) == 2
        out, err = capsys.readouterr()
        assert '--output: got' in err and said in ' '.join(err.split())
        assert not out and '\nPASS' not in err and not list(tmp_path.iterdir())


def test_an_output_among_the_settings_is_refused_alike(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(['run', 'SCN-R-101', '--link', 'loopback', '--set', 'output=out\nPASS']) == 2
    assert 'without control characters' in ' '.join(capsys.readouterr().err.split())


@pytest.fixture
def campaigns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go where there is the folder of one campaign, and another folder."""
    (tmp_path / 'runs' / 'today').mkdir(parents=True)
    (tmp_path / 'runs' / 'today' / 'settings.json').write_text('{}')
    (tmp_path / 'runs' / 'notes').mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures('campaigns')
@for_each(('words', 'begun', 'offered'), [
    ('', 'camp', {'campaign'}), ('campaign', 've', {'verify'}),
    ('evaluate', 'r', {'runs/today'}), ('compare runs/today', 'runs/t', {'runs/today'}),
    ('run', 'SCN-R-10', {f'SCN-R-10{last}' for last in range(1, 10)}),
    ('scenario describe', 'clin', {'clinical'}), ('run robotic --profile', 'tu', {'turtlebot4'}),
    ('run robotic --controller', 'rule', {'rule_based'}),
    ('run robotic --trials 3 --trials 4 --set', 'judge.mo', {'judge.model='})])
def test_tab_offers_what_there_is(words, begun, offered):
    complete = ShellComplete(cli, {}, 'safety-scenarios', '_SAFETY_SCENARIOS_COMPLETE')
    assert {one.value for one in complete.get_completions(words.split(), begun)} == offered
