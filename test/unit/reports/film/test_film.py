# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The command ``film``: which trial is meant, what is drawn of a damaged one, what is written."""

import json
from pathlib import Path
import shutil
import sys

import imageio_ffmpeg
from matplotlib import rc_context
from matplotlib.text import Text
import numpy
from PIL import Image
import pytest
from safety_scenarios.campaign.rejudging.stored_trials import named
from safety_scenarios.cli.main import main
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.film import style as words
from safety_scenarios.reports.film.pages import draw_page, draw_strip, Stage, times, wrapped
from safety_scenarios.reports.outputs.stored_trials import scene_in
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import PlannedTrial
from unzipped import chain_anew, read_text, write_text

pytestmark = pytest.mark.slow
NEAR, BESIDE = 'SCN-R-101', 'SCN-R-D-104'
PLAN = [PlannedTrial(trial_id=f'{scenario}.c.s7.t{index}', scenario_id=scenario, index=index,
                     seed=7, controller='c')
        for scenario in (NEAR, BESIDE) for index in (-1, 0, 1)]


@pytest.fixture(autouse=True)
def in_our_style():
    """Draw as the command does, whatever the settings of matplotlib are here."""
    with rc_context(dict(words.STYLE)):
        yield


@pytest.mark.parametrize(('name', 'meant'), [
    (f'{NEAR}.c.s7.t1', f'{NEAR}.c.s7.t1'), (NEAR, f'{NEAR}.c.s7.t0'),
    (f'{BESIDE}:1', f'{BESIDE}.c.s7.t1'), (f'{NEAR}:-1', f'{NEAR}.c.s7.t-1')])
def test_a_trial_is_named_by_id_scenario_or_index(name, meant):
    assert named(PLAN, name).trial_id == meant


@pytest.mark.parametrize(('name', 'told'), [
    ('0', 'got 0, expected a number from 1 to'), ('99', 'got 99, expected a number from 1 to'),
    ('SCN-R-1', 'which are 3 trials'), ('', 'expected a trial of this campaign'),
    ('SCN-R-1O1', f"Did you mean '{NEAR}'"), (f'{NEAR}:9', f'expected {NEAR}:0 to {NEAR}:1'),
    ('9' * 5000, 'expected a trial of this campaign')])
def test_who_names_no_trial_or_several_is_told_which_there_are(name, told):
    with pytest.raises(SettingsError, match=told):
        named(PLAN, name)


def test_a_number_in_the_list_and_the_beginning_of_an_id_are_enough_where_they_are_unique():
    assert named(PLAN, '3') is PLAN[2] and named(PLAN, f'{BESIDE}.c.s7.t0') is PLAN[4]
    assert named(PLAN[:2], f'{NEAR}.c.s7.t0') is PLAN[1] and named([PLAN[0]], 'SCN') is PLAN[0]


def lines(folder: Path) -> tuple[Path, list[str]]:
    [journal] = folder.glob(f'traces/{NEAR}/*.events.jsonl.gz')
    return journal, read_text(journal).splitlines(keepends=True)


@pytest.fixture
def campaign(worlds, tmp_path):
    """Return a copy of a campaign whose trial passes, to be damaged."""
    return shutil.copytree(worlds['rule_based'], tmp_path / 'run')


def damaged(campaign: Path, how: str) -> str:
    """Damage the record of a trial; return what is to be told of it."""
    journal, found = lines(campaign)
    if how == 'a line is no JSON':
        found[300] = '{"nonsense\n'
        write_text(journal, ''.join(found))
        return ':301: the chain of hashes is broken here'
    if how == 'the end is missing':
        write_text(journal, ''.join(found[:300]) + '["comm')
        return ':301: cannot be read'
    if how == 'cut after a whole line':
        write_text(journal, ''.join(found[:300]))
        return 'its trial never ended'
    if how == 'still being written':
        write_text(journal.rename(journal.with_name(journal.name + '.part')),
                   ''.join(found[:300]) + '["comm')
        return 'the trial never ended, this is what there is of it'
    if how.startswith('a gap was changed'):
        place = next(number for number in range(300, len(found)) if '"gap":1.' in found[number])
        found[place] = found[place].replace('"gap":1.', '"gap":2.')
        write_text(journal, ''.join(found))
        if how == 'a gap was changed':
            return f':{place + 1}: the chain of hashes is broken here'
        chain_anew(journal)
        return 'changed, by the manifest'
    results = campaign / 'trials.jsonl'
    results.write_text(results.read_text().replace('reacted in', 'well done in'))
    return 'and not what the record gives'


@pytest.mark.parametrize('how', ['a line is no JSON', 'the end is missing', 'still being written',
                                 'cut after a whole line', 'a gap was changed',
                                 'a gap was changed and the chain made to fit',
                                 'another result'])
def test_what_is_left_of_a_record_is_drawn_and_never_as_a_pass(campaign, tmp_path, capsys, how):
    whole = scene_in(campaign, NEAR)
    assert whole.verdict is Verdict.PASS and not whole.notes
    told = damaged(campaign, how)
    scene = scene_in(campaign, NEAR)
    assert scene.verdict in (Verdict.INCONCLUSIVE, Verdict.ERROR)
    assert len(scene.frames) > 30 and any(told in note for note in scene.notes)
    if 'the chain' in told:  # what comes after it is no record of what was measured
        *before, _ = scene.frames  # the last one lacks what the next line would tell of it
        assert tuple(before) == whole.frames[:len(before)] and len(before) < len(whole.frames) - 1
    if how == 'still being written':
        picture = tmp_path / 'left.png'
        assert main(['campaign', 'film', str(campaign), NEAR, '--output', str(picture)]) == 0
        assert told in capsys.readouterr().err and picture.exists()


def test_without_any_record_nothing_is_drawn(campaign, tmp_path, capsys):
    journal, _ = lines(campaign)
    journal.unlink()
    assert main(['campaign', 'film', str(campaign), NEAR, '--output',
                 str(tmp_path / 'a.png')]) == 2
    assert 'got no record' in capsys.readouterr().err
    journal.write_text('something else\n')
    assert main(['campaign', 'film', str(campaign), NEAR, '--output',
                 str(tmp_path / 'a.png')]) == 3
    assert 'is no journal' in capsys.readouterr().err
    assert not (tmp_path / 'a.png').exists()


@pytest.mark.parametrize(('arguments', 'told'), [
    (['--output', 'a.avi'], 'a file that ends in .mp4, .gif, .strip.png, .png'),
    (['--output', 'a.mp4', '--format', 'gif'], 'expected a file that ends in .gif'),
    (['--output', 'a.png', '--format', 'png', '--format', 'strip'], 'expected a folder'),
    (['--speed', 'nan'], "'--speed': got 'nan', expected a finite number"),
    (['--fps', '0'], '--fps'),
    (['runs/other'], 'got 1 word after the first trial'),
    (['runs/other', NEAR], 'which is no folder'), (['--output', 'RUN/a.png'], 'own folder')])
def test_a_wrong_use_is_told_and_writes_nothing(worlds, tmp_path, monkeypatch, capsys, arguments,
                                                told):
    monkeypatch.chdir(tmp_path)
    given = [one.replace('RUN', str(worlds['late'])) for one in arguments]
    assert main(['campaign', 'film', str(worlds['late']), NEAR, *given]) == 2
    assert told in capsys.readouterr().err and not list(tmp_path.iterdir())
    assert not (worlds['late'] / 'a.png').exists()


def test_a_text_of_any_length_is_cut_to_the_lines_that_fit():
    endless = wrapped('a fault ' * 5_000_000, 2.0, 3)
    assert len(endless) == 3 and endless[-1].endswith(' ...')
    assert endless == wrapped('a fault ' * 50, 2.0, 3)
    assert wrapped('a fault ' * 5, 2.0, 3) == ['a fault a fault a fault a', 'fault a fault']


@pytest.mark.thorough
def test_the_same_record_gives_the_same_bytes_in_every_format(worlds, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in 'ab':
        formats = [text for how in ('png', 'strip', 'gif', 'mp4') for text in ('--format', how)]
        assert main(['campaign', 'film', str(worlds['late']), NEAR, '--output', name, '--fps', '2',
                     '--speed', '2', *formats]) == 0
    first, again = (sorted(path for path in Path(name).iterdir()) for name in 'ab')
    stem = f'{NEAR}.late.s0.t0'
    assert [path.name for path in first] == sorted(
        f'{stem}{ending}' for ending in ('.png', '.strip.png', '.gif', '.mp4'))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    begin, end = scene_in(worlds['late'], NEAR).window
    frames, _ = imageio_ffmpeg.count_frames_and_secs(f'a/{stem}.mp4')
    assert frames == int(end - begin) + 1 + 2
    with Image.open(f'a/{stem}.gif') as gif:
        assert gif.size[0] == 800 and gif.n_frames >= int(end - begin) + 1


def test_two_trials_are_drawn_side_by_side_by_the_same_scales(worlds, tmp_path):
    picture = tmp_path / 'two.png'
    assert main(['campaign', 'film', str(worlds['rule_based']), NEAR, str(worlds['late']), NEAR,
                 '--output', str(picture)]) == 0
    scenes = [scene_in(worlds[name], NEAR) for name in ('rule_based', 'late')]
    tops, speeds, gaps = ([axes for axes in draw_page(scenes).figure.axes
                           if axes.get_ylabel() == label] for label in (
                               'y (m)', 'speed (m/s)', 'gap (m)'))
    for one, other in (tops, speeds, gaps):
        assert one.get_xlim() == other.get_xlim() and one.get_ylim() == other.get_ylim()
    with Image.open(picture) as image:
        assert image.size[0] > 1200


def words_of(figure):
    """Return every text of a figure."""
    return [text.get_text() for text in figure.findobj(Text)]


@pytest.mark.parametrize(('controller', 'draw'), [
    ('rule_based', draw_page), ('late', draw_strip), ('never_stop', draw_page)])
def test_what_is_written_into_a_picture_is_the_result(worlds, controller, draw):
    scene = scene_in(worlds[controller], NEAR)
    found = words_of(draw([scene]).figure)
    result = next(json.loads(line) for line in (
        worlds[controller] / 'trials.jsonl').read_text().splitlines() if NEAR in line)
    assert result['verdict'] in found
    assert ' '.join(' '.join(found).split()).count(' '.join(result['reason'].split())) == 1
    world = result['world']
    assert f'least {world["min_gap_m"]:.2f} m at +{world["min_gap_at_ms"] / 1e3:.2f} s' in found
    if world['stopping_distance_m'] is not None:
        assert f'stopping distance {world["stopping_distance_m"]:.2f} m' in ' '.join(found)
    reaction = result['latency']['reaction']
    text = 'no response' if reaction is None else \
        f'reaction {reaction["judged_ns"] / 1e6:.1f} ms {reaction["latency_class"]}'
    assert any(one.strip() == text for one in found)
    assert {'speed (m/s)', 'gap (m)', 'time after the onset (s)'} <= set(found)


def boxes_of(sheet):
    """Return the text that has a place of its own, with where it stands (pixels)."""
    sheet.figure.draw_without_rendering()
    renderer = sheet.canvas.get_renderer()
    shown = {id(text): text for text in sheet.figure.findobj(Text)
             if text.get_visible() and text.get_text().strip()}
    return [(text.get_text(), text.get_window_extent(renderer)) for text in shown.values()]


@pytest.mark.parametrize(('draw', 'scenario', 'names'), [
    (draw_page, NEAR, ('never_stop',)), (draw_strip, NEAR, ('late',)),
    (draw_page, BESIDE, ('rule_based', 'late')), (draw_strip, NEAR, ('rule_based', 'late'))])
def test_no_text_runs_into_another_or_out_of_the_picture(worlds, names, draw, scenario):
    sheet = draw([scene_in(worlds[name], scenario) for name in names])
    width, height = sheet.canvas.get_width_height()
    found = boxes_of(sheet)
    edges = [(text, box) for text, box in found if not (
        -1 <= box.x0 and box.x1 <= width + 1 and -1 <= box.y0 and box.y1 <= height + 1)]
    ticks = {text for text, _ in edges if text.lstrip('-').replace('.', '').isdigit()}
    assert {text for text, _ in edges} <= ticks  # those beyond the limits, which are not drawn
    long = [(text, box) for text, box in found if len(text) > 5]
    for place, (text, box) in enumerate(long):
        for other, another in long[place + 1:]:
            apart = box.x1 <= another.x0 + 1 or another.x1 <= box.x0 + 1 \
                or box.y1 <= another.y0 + 1 or another.y1 <= box.y0 + 1
            assert apart, f'{text!r} runs into {other!r}'


def test_a_film_shows_each_moment_by_its_own_numbers(worlds):
    scene = scene_in(worlds['late'], NEAR)
    stage = Stage([scene])
    moments = times([scene], fps=10, speed=0.5)
    assert moments[0] == scene.window[0] and moments[-1] == scene.window[1]
    assert moments[1] - moments[0] == pytest.approx(0.05)
    early, late, again = (stage.show(t_s) for t_s in (0.2, 1.6, 0.2))
    assert early.shape == (stage.size[1], stage.size[0], 3)
    assert (early == again).all() and not (early == late).all()
    blue = numpy.array([0, 114, 178])
    columns = [numpy.flatnonzero((picture[:500] == blue).all(axis=2).any(axis=0)).max()
               for picture in (early, late)]
    assert columns[1] > columns[0] + 100, 'the robot has driven to the right'


def test_without_matplotlib_the_command_says_what_to_install(worlds, tmp_path, monkeypatch,
                                                             capsys):
    monkeypatch.setitem(sys.modules, 'imageio_ffmpeg', None)
    monkeypatch.delitem(sys.modules, 'safety_scenarios.reports.film.encoding', raising=False)
    assert main(['campaign', 'film', str(worlds['late']), NEAR, '--output',
                 str(tmp_path / 'a.mp4')]) == 2
    assert "pip install 'safety_scenarios[film]'" in capsys.readouterr().err
