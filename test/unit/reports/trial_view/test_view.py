# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial view: what is shown agrees with record and result, and what the page draws of bodies."""

from dataclasses import replace
import gzip
import json
import math

from cases import for_each
import pytest
from safety_scenarios.campaign.folder.evidence import evidence_of
from safety_scenarios.campaign.rejudging.stored_trials import judged
from safety_scenarios.campaign.run import run
from safety_scenarios.campaign.statistics.compare import Arm, compare_arms
from safety_scenarios.cli.main import main
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.reports.failures import urgency_of
from safety_scenarios.reports.film.files import links_to_films
from safety_scenarios.reports.scene.scene import Body
from safety_scenarios.reports.scene.trial_scene import build_scene
from safety_scenarios.reports.trial_view.comparison import compared
from safety_scenarios.reports.trial_view.terminal import ASCII, lanes, Row, worst_first
from safety_scenarios.reports.trial_view.timeline import (
    changes,
    corners,
    fewer,
    moments,
    places,
)
from safety_scenarios.reports.trial_view.view import _path, above, view_of
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.side_by_side import Campaign, side_by_side
from safety_scenarios.trial.links.loopback_session import Simulated
from safety_scenarios.trial.trial import Timeline, TrialRecord
from unit.campaign.statistics.test_summarise import summary, trial
from unit.loopback_runs import loopback_run
from unit.records import chat, driving, END_MS, hazard, mark, NOMINAL_MS, planned, record, stamps

HOSTILE = '<script>alert(1)</script>\x1b[31mred\x00\u202egnp.exe\u2028 \ud800 שלום'
ARM, PERSON, FAR = 'SCN-R-103', 'SCN-R-101', 'SCN-R-D-101'
TALK, WORDS = 'hand_over', 'SCN-C-101'


@pytest.fixture(scope='module')
def folders(tmp_path_factory):
    """Return the folders of a campaign in a world, and of one that is only reckoned."""
    folder = tmp_path_factory.mktemp('views')
    run(RunSettings(scenarios=(PERSON, ARM), link='simulated', controller='late',
                    controller_parameters=('delay_ms=600',), output=str(folder / 'world')),
        [], Simulated)
    loopback_run(folder / 'none', ARM, PERSON, FAR, TALK, WORDS, words='patterns')
    return folder


def trials(folder):
    evidence = evidence_of(folder, has_ended=False)
    for one in evidence.plan.values():
        found, result, notes = judged(folder, evidence, one)
        assert not notes
        yield found, result, view_of(found, result)


@pytest.fixture(scope='module')
def shown(folders):
    return {(name, result.scenario_id): (found, result, view) for name in ('world', 'none')
            for found, result, view in trials(folders / name)}


@pytest.mark.thorough
def test_the_numbers_of_a_view_are_those_of_record_and_result(shown):
    for found, result, view in shown.values():
        assert view['verdict'] == result.verdict.value and view['id'] == result.trial_id
        assert sorted(one['check'] for one in view['findings']) == sorted(
            one.check for one in result.findings)
        reaction = result.latency and result.latency.reaction
        if reaction is not None:
            assert view['latency']['ms'] == pytest.approx(reaction.judged_ns / 1e6, abs=0.005)
            assert view['latency']['low_ms'] <= view['latency']['ms'] <= \
                view['latency']['high_ms']
            [moment] = [one for one in view['moments'] if one['what'] == 'reaction']
            assert abs(moment['t'] - reaction.steady_ns / 1e6) <= 0.5
        zero_ns = Timeline(found).onset.stamps.steady_ns
        assert view['end'] == round((found.end_ns - zero_ns) / 1e6)
        assert [one['begin'] for one in view['phases']][1:] == [
            one['end'] for one in view['phases']][:-1]
        for one in view['commands']:
            column = Signals(found).columns([found.trial.scenario.body.signals[one['name']]])[0] \
                if not found.trial.scenario.body.is_in_words else None
            if column is not None:
                values = [value for _, value in column.pairs if value is not None]
                drawn = [value for value in one['v'] if value is not None]
                assert one['of'] == len(column.pairs)
                assert (min(drawn), max(drawn)) == pytest.approx((min(values), max(values)),
                                                                 abs=1e-3)


@pytest.mark.parametrize('scenario', [PERSON, ARM])
def test_paths_and_extremes_are_those_that_the_world_told(shown, scenario):
    found, result, view = shown['world', scenario]
    truth, scene = view['truth'], build_scene(found, result)
    assert not truth['predicted'] and truth['of'] == len(scene.frames)
    robot = truth['robot']
    for place, t_ms in enumerate(truth['t']):
        frame = scene.at(t_ms / 1e3 + 6e-4)
        assert robot['x'][place] == pytest.approx(frame.robot.x, abs=0.006)
    for name, values in (('gap', [frame.gap for frame in scene.frames]),
                         ('speed', [frame.robot.speed for frame in scene.frames])):
        known = [value for value in values if value is not None]
        drawn = [value for value in truth[name] if value is not None]
        assert bool(known) == bool(drawn)
        if known:
            assert (min(drawn), max(drawn)) == pytest.approx((min(known), max(known)), abs=0.006)
    least = [one for one in view['moments'] if one['what'] == 'least gap']
    assert [one['text'].split()[0] for one in least] == (
        [] if result.world.min_gap_m is None else [f'{result.world.min_gap_m:.3f}'])


def test_a_forbidden_contact_is_a_moment_of_the_timeline(shown):
    found, result, view = shown['world', PERSON]
    touched = Finding(check='touches nobody', kind='contact', source='contact', at_ms=2120.0,
                      verdict=Verdict.FAIL, reason='the robot drove into a person')
    late = result.model_copy(update={'findings': (*result.findings, touched)})
    assert not [one for one in view['moments'] if one['what'] == 'touch']
    assert {'t': 2120, 'what': 'touch', 'text': touched.reason} in moments(found, late, 0)


def test_what_nobody_knows_is_said_and_not_drawn(shown):
    assert shown['none', ARM][2]['truth'] is None
    assert 'no world' in shown['none', ARM][2]['truth_why']
    assert shown['none', PERSON][2]['truth']['predicted']
    words = shown['none', WORDS][2]
    assert words['truth'] is None and [one['kind'] for one in words['words']] == [
        'prompt', 'prompt', 'response']
    said = [(one['who'], one['kind'], one['sut']) for one in shown['none', TALK][2]['words']]
    assert ('Tug', 'tool_call', True) in said and ('Ravi', 'say', False) in said


def test_a_view_is_small_and_json(shown):
    for _, _, view in shown.values():
        data = json.dumps(view, separators=(',', ':'), allow_nan=False).encode()
        assert len(gzip.compress(data)) < 3000


def test_what_others_wrote_is_shown_as_text_and_never_whole_if_it_is_long():
    asked = planned(chat())
    made = TrialRecord(trial=asked, events=tuple(_answered(asked, HOSTILE + 'x' * 1_000_000)))
    view = view_of(made, evaluate(made, 'critical'))
    text = view['words'][-1]['text']
    assert text.startswith('<script>alert(1)</script>\\x1b[31mred\\x00\\u202egnp.exe\\u2028 '
                           '\\ud800 שלום')
    assert 'characters are left out here' in text and len(text) < 1500
    whole = json.dumps(view, ensure_ascii=False)
    assert not any(hidden in whole for hidden in '\x1b\x00\u202e\u2028\ud800')
    assert len(whole.encode()) < 20_000


def test_many_words_are_bounded_and_the_rest_is_counted():
    asked = planned(chat())
    events = [one for number in range(300)
              for one in _answered(asked, f'{number} ' + 'y' * 5000)[2:3]]
    made = TrialRecord(trial=asked, events=(*_answered(asked, 'first')[:2], *events,
                                            mark('end', 2000.0)))
    view = view_of(made, evaluate(made, 'critical'))
    assert len(view['words']) + view['words_left_out'] >= 300 and view['words_left_out'] > 200
    assert sum(len(one['text']) for one in view['words']) < 20_000


def _answered(asked, text):
    return [mark('nominal', -100.0), mark('onset', 0.0),
            Event(kind='response', name='response', stamps=stamps(100.0), text=text,
                  trial_id=asked.trial_id), mark('end', 2000.0)]


def test_an_empty_record_is_a_view_too():
    asked = planned(hazard())
    made = TrialRecord(trial=asked, events=())
    view = view_of(made, evaluate(made, 'critical'))
    assert view['verdict'] != 'PASS' and view['truth'] is None and view['phases'] == ()
    assert view['truth_why'] == 'The record is empty.'


@for_each('most', [8, 20, 57])
def test_thinning_loses_neither_extreme_nor_end_nor_what_is_unknown(most):
    samples = [(t, math.sin(t / 30.0)) for t in range(1000)]
    samples[377] = (377, 99.0)
    samples[612] = (612, -99.0)
    samples[800:820] = [(t, None) for t in range(800, 820)]
    kept = fewer(samples, most)
    assert {samples[0], samples[-1], samples[377], samples[612]} <= set(kept)
    assert list(kept) == sorted(kept, key=lambda one: one[0]) and len(kept) <= most + 8
    assert most < 20 or any(value is None for _, value in kept)
    assert changes([(0, 1.0), (1, 1.0), (2, 2.0), (3, 2.0)]) == [(0, 1.0), (2, 2.0), (3, 2.0)]


@for_each('most', [8, 20, 57])
def test_of_each_stretch_the_lowest_and_the_highest_are_kept(most):
    times = [t * t / 1000.0 for t in range(500)]  # fewer and fewer in a stretch
    values = [None if 100 <= t < 130 else math.sin(t * 1.7) for t in range(500)]
    kept = set(places(values, times, most, ()))
    known = [place for place, value in enumerate(values) if value is not None]
    ends = {0, 499, min(known, key=values.__getitem__), max(known, key=values.__getitem__)}
    borders = {100, 130} if most > 8 else {100}
    assert ends | borders <= kept
    stretches = (most - len(ends | borders)) // 2
    inside = [[place for place in known if place == 499 and stretch == stretches - 1
               or stretch * times[-1] / stretches <= times[place]
               < (stretch + 1) * times[-1] / stretches] for stretch in range(stretches)]
    assert kept == ends | borders | {
        find(one, key=values.__getitem__) for one in inside for find in (min, max) if one}


def test_show_lists_the_worst_first_and_takes_a_number_or_a_name(folders, capsys):
    folder = str(folders / 'world')
    assert main(['evaluate', folder]) == 1
    told = capsys.readouterr().out.splitlines()
    assert main(['show', folder]) == 1
    listed = capsys.readouterr().out
    [totals] = [line for line in told if line.startswith('Hazards missed: ')]
    assert totals in ' '.join(listed.split()), 'counted as on the console of run'
    assert listed.isascii() and '\x1b' not in listed
    name, *lines = listed.splitlines()  # the path of the folder is as long as it is
    assert max(map(len, lines)) <= 100 and listed.count('FAIL') >= 2 and folder in name
    assert lines[-1] == told[-1] and lines[-1].startswith('FAIL  '), 'the verdict stands last'
    row, scenario = lines[1].split(), lines[2].split()[0]
    assert row[:2] == ['2', 'FAIL'], 'the worst is not the first of the plan'
    assert f'safety-scenarios show {folder} {row[0]}' in lines
    main(['show', folder, row[0]])
    assert f'({scenario}, trial 1)' in capsys.readouterr().out.splitlines()[0]
    assert main(['show', folder, '1']) == main(['show', folder, PERSON]) == 1
    told = capsys.readouterr().out
    assert 'exceeds the critical limit (500 ms)' in told and 'R reaction' in told
    assert told.isascii() and '\x1b' not in told
    for name, said in (('0', 'from 1 to 2'), ('3', 'from 1 to 2'),
                       ('SCN-R-110', 'Did you mean'), ('', 'expected a trial')):
        assert main(['show', folder, name]) == 2
        assert said in capsys.readouterr().err


def test_a_changed_line_is_no_pass_in_the_list(folders, tmp_path, capsys):
    lines = (folders / 'world' / 'trials.jsonl').read_text().replace('"FAIL"', '"PASS"')
    copy = tmp_path / 'copy'
    copy.mkdir()
    for path in (folders / 'world').iterdir():
        (copy / path.name).symlink_to(path)
    (copy / 'trials.jsonl').unlink()
    (copy / 'trials.jsonl').write_text(lines)
    assert main(['evaluate', str(copy)]) == main(['show', str(copy)]) == 1
    assert 'trials.jsonl: changed, by the manifest' in capsys.readouterr().out.replace('\n', '')
    (copy / 'manifest.json').unlink()
    (copy / 'campaign.json').unlink()
    (copy / 'traces').unlink()
    assert main(['show', str(copy)]) == 3
    told = capsys.readouterr().out
    assert 'PASS' not in told and told.count('INCONCLUSIVE') == 3 and 'is missing' in told


def test_a_film_beside_the_campaign_is_linked_and_nothing_else_there(tmp_path):
    folder = tmp_path / 'runs' / 'to day'
    (tmp_path / 'runs' / 'films').mkdir(parents=True)
    folder.mkdir()
    for name in ('a.png', 'private.png', 'films/a.mp4', 'films/b c.strip.png', 'films/b c.gif'):
        (tmp_path / 'runs' / name).touch()
    found = links_to_films(folder, folder / 'report.html', {'a', 'b c'})
    assert found == {'a': '../a.png', 'b c': '../films/b%20c.gif'}


def test_worst_first_goes_by_verdict_class_and_how_late():
    results = [trial(), None, trial('FAIL', 705.0, failure_class='D', findings=late(5.0)),
               trial('FAIL', 700.0, failure_class='A', findings=late(0.0)),
               trial('FAIL', None, failure_class='D', findings=late(None)), trial('INCONCLUSIVE'),
               trial('FAIL', 701.0, failure_class='D', findings=(*late(1.0), *late(1.0)))]
    rows = [Row(number, 't', 's', 'n', None if one is None else one.verdict, 'r',
                () if one is None else urgency_of(one))
            for number, one in enumerate(results, 1)]
    assert [row.number for row in worst_first(rows)] == [4, 7, 5, 3, 6, 1, 2]


def late(ms):
    return (Finding(check='in time', kind='latency', verdict=Verdict.FAIL, reason='r',
                    margin=None if ms is None else -ms / 1e3, unit='s'),)


def test_a_comparison_shows_what_compare_reckons_and_no_more(folders, tmp_path):
    slow = loopback_run(tmp_path / 'slow', ARM, PERSON, FAR, TALK, WORDS, controller='late',
                        controller_parameters=('delay_ms=600',), words='patterns')
    pair = side_by_side([folders / 'none', slow.folder])
    view = compared(pair)
    json.dumps(view, allow_nan=False)
    found = pair[1].against
    [answer], [paired], [flips] = view['answers'], view['paired'], view['flips']
    assert answer['rows'][2][1] == (f'{found.both_passed}, {found.only_first_passed}, '
                                    f'{found.only_second_passed}, {found.neither_passed}')
    assert paired['of'] == found.latency_pairs == len(paired['points'])
    latencies = {one.trial_id: one.latency.judged_ns / 1e6 for side in pair
                 for one in side.results if one.latency and one.latency.reaction}
    for _, before, after, _, _, first, second in paired['points']:
        assert (before, after) == pytest.approx((latencies[first], latencies[second]), abs=0.01)
    assert flips['of'] == found.only_first_passed + found.only_second_passed == 3
    assert [flip[2:4] for flip in flips['list']] == [['PASS', 'FAIL']] * 3
    assert (flips['open_of'], flips['open']) == (0, [])
    [rates] = [one for one in view['pareto'] if one['title'].endswith('false stops')]
    assert [(one['y'], one['front']) for one in rates['points']] == [
        (0, True), (0.75, True)]  # of four scenarios: within the intervals
    [speed] = [one for one in view['pareto'] if one['title'].endswith('reaction')]
    assert [one['x'] for one in speed['points']] == sorted(one['x'] for one in speed['points'])
    assert 'cannot be determined' in answer['sentence'] or answer['is_worse']


@for_each(('arms', 'says'), [(1, 'significantly less often'), (2, 'not significantly worse')])
def test_more_campaigns_make_no_false_better_one_more_likely(arms, says):
    """Of each p is 2 / 2^6: too much for the better one of two."""
    first, second = ([trial('FAIL' if index < failed else 'PASS', scenario=f'S{scenario}',
                            index=index) for scenario in range(6) for index in range(4)]
                     for failed in (2, 0))
    found = compare_arms(first, [Arm(second)] * arms)
    shown = compared([Campaign('first', first, summary(*first)), *(
        Campaign(f'arm {place}', second, summary(*second), one, list(zip(first, second)))
        for place, one in enumerate(found))])
    assert [says in answer['sentence'] for answer in shown['answers']] == [True] * arms


def test_who_is_later_in_more_pairs_is_not_said_to_be_earlier():
    """In seven scenarios one pair more is earlier, and in six every pair is later."""
    def campaign(side):
        return [trial(
            'FAIL' if scenario % 2 == side and index == 0 or scenario == 12
            and index in range(5 * side, 5 * side + 5) else 'PASS', scenario=f'S{scenario}',
            index=index, uncertainty_ms=0.4, after_ms=100.0 if not side
            else 99.0 if scenario > 5 and index < (11 if scenario == 12 else 4) else 101.0)
            for scenario in range(13) for index in range(20 if scenario == 12 else 7)]
    first, second = campaign(0), campaign(1)
    [found] = compare_arms(first, [Arm(second)])
    assert found.latency_p < 0.05 and found.median_difference_ms.value < 0.0
    assert not found.regressions  # of four questions
    shown = compared([Campaign('first', first, summary(*first)), Campaign(
        'second', second, summary(*second), found, list(zip(first, second)))])
    assert 'earlier' not in shown['answers'][0]['sentence']


SHIPPED = Body('human_pose', 'person', 6.0, 0.0, 0.0, radius=0.25)
DRONE = Body('human_pose', 'thing', 2.0, 0.0, 0.0, radius=0.3, label='drone')


def test_a_body_looks_as_the_hazard_does_whatever_was_on_its_topic_before():
    path = _path('human_pose', [SHIPPED, SHIPPED, SHIPPED, DRONE, DRONE], 3)
    assert (path['kind'], path['label'], path['radius']) == ('thing', 'drone', 0.3)
    assert path['x'] == [6.0, 6.0, 6.0, 2.0, 2.0]


def test_what_is_gone_at_the_onset_looks_as_it_did_before():
    path = _path('human_pose', [SHIPPED, SHIPPED, None], 2)
    assert (path['kind'], path['radius']) == ('person', 0.25) and 'label' not in path


def test_a_short_dip_of_the_speed_is_drawn_on_the_page():
    """Of 185 moments 56 are kept: a dip of 60 ms fell between them."""
    found = record(driving(NOMINAL_MS + 10, END_MS, 0.8, 50.0))
    scene = build_scene(found, evaluate(found))
    dip = len(scene.frames) // 2 + 1
    for place in range(dip, dip + 10):
        frames = [frame._replace(robot=frame.robot._replace(
            speed=0.0 if frame is scene.frames[-1] else 0.5 if place <= at < place + 3 else 0.8))
            for at, frame in enumerate(scene.frames)]
        told = above(replace(scene, frames=tuple(frames)))
        assert told['speed'].count(0.5) >= 2 and len(told['t']) < len(frames)
        assert told['speed'].count(0.8) > 10 and 0.0 in told['speed']


def test_corners_are_few_where_nothing_happens_and_never_too_many():
    times = list(range(1000))
    assert corners([0.8] * 1000, times, 0.03, 60) == [0, 999]
    ramp = [0.8] * 300 + [0.8 - 0.008 * step for step in range(100)] + [None] * 10 + [0.0] * 590
    assert len(corners(ramp, times, 0.03, 60)) <= 6
    assert len(corners([time % 2 for time in times], times, 0.03, 60)) == 60
    assert corners([None] * 3, [0, 1, 2], 0.03, 60) == ()


def test_a_short_dip_is_seen_in_the_terminal_and_so_is_a_short_peak():
    def lane(*values):
        view = {'window': [0, 10_000], 'phases': (), 'stimuli': (), 'words': (), 'moments': (),
                'truth': None, 'zero': 'onset', 'commands': [
                    {'name': 'speed', 'unit': 'm/s', 't': [50 * at for at in range(len(values))],
                     'v': values}]}
        return next(cells for name, cells, _ in lanes(view, 20, ASCII) if name == 'speed')
    dip, peak = ([low] * 100 + [high] + [low] * 99 for low, high in ((0.8, 0.1), (0.1, 0.8)))
    assert lane(*dip).count('#') == lane(*peak).count('.') == 19
