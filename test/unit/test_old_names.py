# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Files that say clearance, twin and seat load with a note and mean the same as with new names."""

import json
from pathlib import Path
import shutil

import pytest
from safety_scenarios import registry
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.campaign.rejudging.repair import repair
from safety_scenarios.cli.main import main
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenario, load_scenarios
from safety_scenarios.trial.journal import read_journal
from safety_scenarios.trial.mcap.recording import read_mcap
from safety_scenarios.trial.timeline import Timeline
from safety_scenarios.trial.trial import ALL_CLEAR

OLD = Path(__file__).parents[1] / 'data' / 'old_names'
FILE, CAMPAIGN = OLD / 'quick_person.yaml', OLD / 'campaign'
TRIAL = 'OLD.resume_early.s0.t0'
JOURNAL = CAMPAIGN / 'traces' / 'OLD' / f'{TRIAL}.events.jsonl'
RECORDING = CAMPAIGN / 'recordings' / TRIAL
TRACE = JOURNAL.with_name(f'{TRIAL}.json')


@pytest.fixture
def written(tmp_path):
    """Return a function that writes the old file with one text replaced."""
    def write(before, after):
        text = FILE.read_text()
        assert before in text
        path = tmp_path / 'changed.yaml'
        path.write_text(text.replace(before, after))
        return path
    return write


@pytest.fixture
def campaign(tmp_path):
    """Return a copy of the campaign that the old version has run."""
    return Path(shutil.copytree(CAMPAIGN, tmp_path / 'campaign'))


def place(path, word):
    """Return line and column of the only place of a word."""
    [(number, line)] = [(number, line) for number, line in
                        enumerate(path.read_text().splitlines(), 1) if word in line]
    return number, line.index(word) + 1


def test_old_keys_load_as_the_new_ones():
    found = load_scenarios([str(FILE)])
    [scenario] = found.scenarios
    assert scenario.ros.all_clear.at_ms == 500
    assert dict(scenario.metadata) == {'variant_of': 'QUICK'}
    assert found.warnings == ()


def test_each_old_key_gives_a_note_with_its_place():
    notes = load_scenarios([str(FILE)]).notes
    assert {(note.code, note.field, (note.line, note.column)) for note in notes} == {
        ('N001', 'ros.clearance', place(FILE, 'clearance:')),
        ('N001', 'metadata.twin_of', place(FILE, 'twin_of'))}
    assert 'the key clearance is now called all_clear and means the same' in str(notes)


def test_new_keys_give_no_note(written):
    new = written('twin_of', 'variant_of')
    new.write_text(new.read_text().replace('clearance:', 'all_clear:'))
    assert load_scenarios([str(new)]).notes == ()
    unlike = {'origin': None}
    assert load_scenario(new).model_copy(update=unlike) == \
        load_scenario(FILE).model_copy(update=unlike)


def test_a_note_is_no_error_even_when_warnings_are(capsys):
    assert main(['validate', str(FILE)]) == 0
    told = capsys.readouterr()
    assert f'note: {FILE}:' in told.err and ': N001 ros.clearance: ' in told.err
    main(['validate', '--strict', str(FILE)])
    note, _, error = capsys.readouterr().err.partition('error: ')
    assert 'N001' in note
    assert 'N001' not in error


def test_a_problem_below_an_old_key_points_into_the_file(written):
    path = written('clearance: {at_ms: 500,', 'clearance: {at_ms: -500,')
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    [problem] = caught.value.problems
    assert problem.field == 'ros.all_clear.at_ms'
    assert (problem.line, problem.column) == place(path, '-500')


@pytest.mark.parametrize(('before', 'after', 'field'), [
    ('  clearance:', '  all_clear: {at_ms: 600}\n  clearance:', 'ros.clearance'),
    ('{twin_of: QUICK}', '{twin_of: QUICK, variant_of: QUICK}', 'metadata.twin_of')])
def test_both_names_of_a_key_at_once_are_an_error(written, before, after, field):
    path = written(before, after)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    problem = caught.value.problems[0]
    assert problem.field == field
    assert (problem.line, problem.column) == place(path, f'{field.partition(".")[2]}:')


@pytest.mark.parametrize('read', [
    lambda: read_journal(JOURNAL, registry.resolve),
    lambda: read_mcap(RECORDING, registry.resolve)], ids=['journal', 'recording'])
def test_an_old_record_is_read_with_the_names_of_today(read):
    assert b'clearance' in JOURNAL.read_bytes()
    record = read()
    assert record.trial.all_clear_ns == 500_000_000
    assert record.trial.scenario.ros.all_clear.at_ms == 500
    assert record.trial.scenario.metadata == {'variant_of': 'QUICK'}
    assert Timeline(record).mark(ALL_CLEAR) is not None
    assert all(event.name != 'clearance' for event in record.events)


@pytest.mark.parametrize('source', ['journal', 'recording'])
def test_an_old_campaign_is_judged_again_as_it_was(source):
    found = rejudge(CAMPAIGN, source=source, without_plan=True)
    [trial] = found
    assert found.flaws == ()
    assert trial.judged
    assert trial.identical
    assert trial.after.verdict is trial.before.verdict
    assert trial.after.latency.stop is not None  # the old version did not tell it
    assert trial.after.latency.model_copy(update={'stop': None}) == trial.before.latency
    assert [(found.check, found.verdict, found.margin, found.at_ms)
            for found in trial.after.findings if found.source != 'motion'] == [
        (found.check, found.verdict, found.margin, found.at_ms)
        for found in trial.before.findings]


def test_evaluate_tells_of_the_old_names_and_finds_every_result_as_it_was(capsys):
    assert main(['evaluate', str(CAMPAIGN)]) == 3
    assert 'settings.json: holds no plan' in capsys.readouterr().err
    assert main(['evaluate', str(CAMPAIGN), '--without-plan']) == 0
    told = capsys.readouterr()
    assert 'clearance_ns (now all_clear_ns)' in told.err
    assert '1 of 1 result is unchanged, apart from the wording' in told.out


def test_an_old_result_that_was_changed_is_found(campaign):
    lines = campaign / 'trials.jsonl'
    lines.write_text(lines.read_text().replace('"verdict":"PASS"', '"verdict":"FAIL"', 1))
    [trial] = rejudge(campaign)
    assert not trial.identical


@pytest.mark.parametrize(('before', 'after'), [
    ('"margin":0.19999999999999996', '"margin":0.3'), ('"at_ms":20.305877', '"at_ms":10.305877'),
    ('"late_ns":0', '"late_ns":5'), ('"check":"stops and stays"', '"check":"stops"'),
    ('"verdict":"PASS","reason":"20.3', '"verdict":"FAIL","reason":"20.3'),
    (',{"check":"stops and stays"', ',{"check":"moving before onset","kind":"harness","verdict":'
     '"PASS","reason":"","margin":null,"unit":null,"at_ms":null,"severity":1.0},'
     '{"check":"stops and stays"')])
def test_every_value_of_an_old_result_is_compared(campaign, before, after):
    lines = campaign / 'trials.jsonl'
    text = lines.read_text()
    assert before in text
    lines.write_text(text.replace(before, after, 1))
    [trial] = rejudge(campaign, without_plan=True, has_ended=False)
    assert not trial.identical
    assert trial.after.verdict.value == 'INCONCLUSIVE'


def test_a_check_that_an_old_result_leaves_out_is_missed(campaign):
    lines = campaign / 'trials.jsonl'
    result = json.loads(lines.read_text())
    result['findings'].pop()
    lines.write_text(json.dumps(result) + '\n')
    [trial] = rejudge(campaign, without_plan=True, has_ended=False)
    assert not trial.identical
    assert trial.after.verdict.value == 'INCONCLUSIVE'


def test_an_old_campaign_can_be_judged_by_changed_values():
    [trial] = rejudge(CAMPAIGN, ['ros.all_clear.at_ms=450'])
    assert trial.judged


def test_an_old_campaign_is_as_it_was_written(campaign, capsys):
    assert main(['verify', str(campaign)]) == 0, capsys.readouterr().err


def test_an_old_campaign_compares_with_itself(campaign, capsys):
    assert main(['compare', str(campaign), str(CAMPAIGN)]) == 3
    assert 'settings.json: holds no plan' in capsys.readouterr().err
    assert main(['compare', str(campaign), str(CAMPAIGN), '--without-plan']) == 0, \
        capsys.readouterr().err


def test_what_a_crash_has_left_of_an_old_campaign_is_repaired(campaign):
    journal = campaign / JOURNAL.relative_to(CAMPAIGN)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.unlink()
    journal.with_name(f'{journal.name}.part').write_bytes(b''.join(lines[:-5]))
    (campaign / 'trials.jsonl').write_text('')
    for name in ('campaign.json', 'manifest.json'):
        (campaign / name).unlink()
    _, done = repair(campaign)
    assert any(f'{TRIAL}: was killed' in text for text in done)
    assert read_journal(journal, registry.resolve).trial.all_clear_ns == 500_000_000


def test_an_old_are_trace_becomes_a_scenario():
    scenario = load_scenario(TRACE)
    assert scenario.name == 'Quick person'
    assert scenario.expected_action == 'Stop.'


@pytest.mark.parametrize('old', [True, False])
def test_seats_in_a_bindings_file_are_participants(tmp_path, old):
    agents = OLD.parent / 'agents' / 'stop_for_human.yaml'
    shutil.copy(agents, tmp_path)
    bindings = tmp_path / 'stop_for_human.bindings.yaml'
    text = agents.with_name(bindings.name).read_text()
    bindings.write_text(text.replace('participants:', 'seats:') if old else text)
    found = load_scenarios([str(tmp_path)])
    assert found.scenarios[0].agents == load_scenario(agents).agents
    assert [(note.path, note.field, note.line, note.column) for note in found.notes] == (
        [(str(bindings), 'seats', *place(bindings, 'seats:'))] if old else [])


def test_the_command_seat_is_participate_and_is_not_listed(capsys):
    assert main(['seat', '--help']) == 0
    assert 'Take part as an agent' in capsys.readouterr().out
    assert main(['--help']) == 0
    listed = capsys.readouterr().out
    assert 'participate' in listed
    assert 'seat' not in listed
